use super::*;
use crate::archive::tests::packed;

#[test]
fn paragraphs_of_a_body_are_a_list() {
    let shape = |kind: &str, paragraphs: &[(&str, &str)]| {
        let paragraph = |(properties, text): &(&str, &str)| {
            format!("<a:p><a:pPr {properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
        };
        let paragraphs: String = paragraphs.iter().map(paragraph).collect();
        format!("<p:sp><p:nvPr>{kind}</p:nvPr><p:txBody><a:lstStyle/>{paragraphs}</p:txBody></p:sp>")
    };
    let read = |xml: &str| {
        Shapes::read(xml).expect("shapes").iter().map(|shape| shape.text(shape.is_body)).collect::<Vec<_>>()
    };
    let body = "<p:ph idx='1'/>";
    assert_eq!(read(&shape(body, &[(">", "Alone.")])), ["Alone."]);
    let many = [(">", "Ask"), ("lvl='1'>", "early"), (">", "Wait"), ("><a:buNone/>", "No entry")];
    assert_eq!(read(&shape(body, &many)), ["- Ask\n  - early\n- Wait\nNo entry"]);
    assert_eq!(read(&shape("", &many)), ["Ask\nearly\nWait\nNo entry"]);
    let steps = [
        ("><a:buAutoNum type='arabicPeriod'/>", "Ask"),
        ("lvl='1'><a:buChar char='•'/>", "early"),
        ("><a:buAutoNum type='arabicPeriod'/>", "Wait"),
        (">", "Then"),
        ("><a:buAutoNum type='arabicPeriod'/>", "Go"),
    ];
    assert_eq!(read(&shape("", &steps)), ["1. Ask\n  - early\n2. Wait\nThen\n1. Go"]);
}

#[test]
fn slides_are_pages_in_the_order_of_the_show() {
    let text = |words: &str| format!("<a:p><a:r><a:t>{words}</a:t></a:r></a:p>");
    let slide = |shapes: &str| format!("<p:sld><p:spTree>{shapes}</p:spTree></p:sld>");
    let first = slide(&format!(
        "<p:sp>{}</p:sp><p:sp><p:nvPr><p:ph type='title'/></p:nvPr>{}</p:sp>",
        text("Body &amp; more"),
        text("Opening")
    ));
    let second = slide(&format!(
        "<p:graphicFrame><a:tbl><a:tr><a:tc>{}</a:tc><a:tc>{}</a:tc></a:tr></a:tbl></p:graphicFrame>",
        text("A"),
        text("1")
    ));
    let notes = format!(
        "<p:notes><p:sp><p:ph type='sldNum'/>{}</p:sp><p:sp><p:ph type='body'/>{}</p:sp></p:notes>",
        text("7"),
        text("Say hello.")
    );
    let parts: [(&str, &str); 6] = [
        (
            PRESENTATION,
            "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='b'/><p:sldId id='257' r:id='a'/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            "<R><R Id='a' Target='slides/s1.xml'/><R Id='b' Target='/ppt/slides/s2.xml'/></R>",
        ),
        ("ppt/slides/s1.xml", &second),
        ("ppt/slides/s2.xml", &first),
        ("ppt/slides/_rels/s2.xml.rels", "<R><R Id='n' Type='http://x/notesSlide' Target='../notes/n.xml'/></R>"),
        ("ppt/notes/n.xml", &notes),
    ];
    let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let mut content = Content::default();
    presentation(&packed(&parts), &mut content).expect("a presentation");
    assert_eq!(content.text, "Opening\n\nBody & more\n\nSay hello.\n\n| A | 1 |");
    assert_eq!(content.pages.count(), 2);
    assert_eq!(content.pages.page_at(content.text.len() - 1), Some(2));
    assert_eq!(content.headings[0].text, "Opening");
}

fn slide(shapes: &str) -> Content {
    let mut content = Content::default();
    write_slide(Shapes::read(&format!("<p:sld>{shapes}</p:sld>")).expect("shapes"), &mut content).expect("fits");
    content
}

fn paragraph(text: &str) -> String {
    format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")
}

#[test]
fn names_in_several_rows_of_a_table_are_joined() {
    let cell = |attributes: &str, text: &str| format!("<a:tc {attributes}>{}</a:tc>", paragraph(text));
    let rows = [
        cell("rowSpan='2'", "Hall") + &cell("gridSpan='2'", "Pallets in") + &cell("hMerge='1'", ""),
        cell("vMerge='1'", "") + &cell("", "Q4") + &cell("", "Q1"),
        cell("", "A") + &cell("", "12") + &cell("", "14"),
    ];
    let rows: String = rows.iter().map(|row| format!("<a:tr>{row}</a:tr>")).collect();
    let table = |properties: &str| {
        slide(&format!("<p:graphicFrame><a:tbl><a:tblPr {properties}/>{rows}</a:tbl></p:graphicFrame>")).text
    };
    assert_eq!(table("firstRow='1'"), "| Hall | Pallets in – Q4 | Pallets in – Q1 |\n|---|---|---|\n| A | 12 | 14 |");
}

#[test]
fn shapes_stand_from_top_to_bottom_where_their_places_say_so() {
    let shape = |[left, top]: [u32; 2], text: &str| {
        format!("<p:sp><a:xfrm><a:off x='{left}' y='{top}'/><a:ext cx='4' cy='1'/></a:xfrm>{}</p:sp>", paragraph(text))
    };
    let body = [shape([5, 4], "Step 2"), shape([5, 2], "Step 1"), shape([9, 0], "Beside"), shape([4, 0], "Receiving")];
    let content = slide(&body.concat());
    assert_eq!(content.text, "Beside\n\nReceiving\n\nStep 1\n\nStep 2");
    // Inside of a group other units hold.
    let group = format!("{}<p:grpSp>{}</p:grpSp>", shape([5, 4], "Below"), shape([5, 2], "In a group"));
    assert_eq!(slide(&group).text, "Below\n\nIn a group");
    let long = [shape([0, 0], "Receiving goods at night"), shape([0, 2], "Open dock 6."), shape([0, 4], "Go.")];
    let content = slide(&long.concat());
    assert_eq!(content.headings.len(), 1, "the first line heads a slide without title");
    assert_eq!(content.headings[0].text, "Receiving goods at night");
    assert_eq!(slide(&long[1..].concat()).headings, []);
    assert_eq!(slide(&long[..1].concat()).headings, []);
}

#[test]
fn raised_text_is_written_as_such() {
    let run = |baseline: &str, text: &str| format!("<a:r><a:rPr baseline='{baseline}'/><a:t>{text}</a:t></a:r>");
    let shape = format!("<p:sp><a:p>{}{}{}</a:p></p:sp>", run("0", "10"), run("30000", "6"), run("-25000", "2"));
    assert_eq!(slide(&shape).text, "10⁶2");
}
