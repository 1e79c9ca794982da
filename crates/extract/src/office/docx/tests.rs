use super::*;
use crate::archive::tests::packed;

fn read(body: &str) -> Content {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    let styles = r#"<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>"#;
    let parts = [("word/document.xml", document.as_bytes()), ("word/styles.xml", styles.as_bytes())];
    let mut content = Content::default();
    super::document(&packed(&parts), &mut content).expect("a document");
    content
}

#[test]
fn paragraphs_headings_lists_and_tables() {
    let content = read(
        r#"<w:p><w:pPr><w:pStyle w:val="H1"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>Leave</w:t></w:r></w:p>
        <w:p><w:r><w:t xml:space="preserve">Everyone </w:t></w:r><w:r><w:t>has 28</w:t><w:tab/><w:t>days.</w:t></w:r></w:p>
        <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>One</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Two</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>A</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>In</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr>
        <w:tr><w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>C</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"#,
    );
    assert_eq!(content.text, "Leave\n\nEveryone has 28\tdays.\n\n- One\n- Two\n\n| A b | In |\nC");
    assert_eq!((content.headings.len(), content.headings[0].level), (1, 1));
}

#[test]
fn entries_of_lists_have_their_numbers() {
    let item = |list: u8, level: u8, text: &str| {
        format!(
            r#"<w:p><w:pPr><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list}"/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#
        )
    };
    let rest = r#"<w:p><w:pPr><w:pStyle w:val="LN"/></w:pPr><w:r><w:t>Rest</w:t></w:r></w:p>"#;
    let plain = "<w:p><w:r><w:t>Then:</w:t></w:r></w:p>";
    let body = [item(1, 0, "Stir"), item(1, 1, "Well"), item(1, 0, "Paint"), plain.to_owned(), rest.to_owned()];
    let left = rest.replace("<w:pStyle", r#"<w:numPr><w:numId w:val="0"/></w:numPr><w:pStyle"#);
    let document = format!("<w:document><w:body>{}{}{left}</w:body></w:document>", body.concat(), item(2, 0, "Dry"));
    let lists = r#"<w:numbering><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
        <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num></w:numbering>"#;
    let styles = r#"<w:styles><w:style w:styleId="LN"><w:name w:val="List Number"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style></w:styles>"#;
    let parts = [
        ("word/document.xml", document.as_bytes()),
        ("word/numbering.xml", lists.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ];
    let mut content = Content::default();
    super::document(&packed(&parts), &mut content).expect("a document");
    assert_eq!(content.text, "1. Stir\n   - Well\n2. Paint\n\nThen:\n\n1. Rest\n2. Dry\n\nRest");
}

#[test]
fn rows_that_are_repeated_on_each_page_are_headers() {
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let wide = cell("Days").replace("<w:tc>", r#"<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>"#);
    let content = read(&format!(
        "<w:tbl><w:tr><w:trPr><w:tblHeader/></w:trPr>{}{wide}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
        cell("Kind"),
        cell("Annual"),
        cell(""),
        cell("28"),
    ));
    assert_eq!(content.text, "| Kind | Days |  |\n|---|---|---|\n| Annual |  | 28 |");
    let marked = "<w:trPr><w:tblHeader/></w:trPr>";
    let content = read(&format!(
        "<w:tbl><w:tr>{marked}{}{wide}</w:tr><w:tr>{marked}{}{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
        cell("Kind"),
        cell(""),
        cell("paid"),
        cell("unpaid"),
        cell("Annual"),
        cell("28"),
        cell("5"),
    ));
    assert_eq!(content.text, "| Kind | Days – paid | Days – unpaid |\n|---|---|---|\n| Annual | 28 | 5 |");
}

#[test]
fn a_first_row_in_bold_is_a_header() {
    let cell = |text: &str, property: &str| {
        format!("<w:tc><w:p><w:r><w:rPr>{property}</w:rPr><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let table = |property: &str| {
        let first = cell("Name", property) + &cell("Desk", property);
        let second = cell("Ada", "") + &cell("front", "");
        read(&format!("<w:tbl><w:tr>{first}</w:tr><w:tr>{second}</w:tr></w:tbl>")).text
    };
    assert_eq!(table("<w:b/>"), "| Name | Desk |\n|---|---|\n| Ada | front |");
    assert_eq!(table(r#"<w:b w:val="0"/>"#), "| Name | Desk |\n| Ada | front |");
}

#[test]
fn each_text_is_taken_once() {
    let content = read(
        r"<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>Box</w:t></w:r></w:p></w:txbxContent></mc:Choice>
        <mc:Fallback><w:p><w:r><w:t>Box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent><w:t>Around</w:t></w:r></w:p>
        <w:p><w:del><w:r><w:delText>Old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>Moved</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>New</w:t></w:r></w:ins></w:p>",
    );
    assert_eq!(content.text, "Box\n\nAround\n\nNew");
}

#[test]
fn paragraphs_in_bold_head_text_where_no_style_does() {
    let plain = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let bold = |text: &str| format!("<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r></w:p>");
    let headings = |body: &[String]| -> Vec<(u8, String)> {
        let found = read(&body.concat()).headings;
        found.into_iter().map(|heading| (heading.level, heading.text)).collect()
    };
    let partly = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>Paint</w:t></w:r><w:r><w:t> is wet</w:t></w:r></w:p>".to_owned();
    let parts = [
        bold("Rules for paint"),
        bold("Example Ltd"),
        plain("Of May."),
        bold("Storing"),
        plain("In the shed."),
        bold("Never pour it into the sink."),
        partly.clone(),
        bold("Drying"),
        plain("A day."),
        bold("The board"),
    ];
    let expected = [(1, "Rules for paint"), (2, "Example Ltd"), (2, "Storing"), (2, "Drying")];
    assert_eq!(headings(&parts), expected.map(|(level, text)| (level, text.to_owned())));
    let styled = r#"<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Scope</w:t></w:r></w:p>"#.to_owned();
    assert_eq!(headings(&[styled, bold("Storing"), plain("In the shed.")]), [(1, "Scope".to_owned())]);
    assert_eq!(headings(&[partly, plain("Wait.")]), []);
}

fn run(properties: &str, text: &str) -> String {
    format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

#[test]
fn hidden_text_is_left_out() {
    let styles = r#"<w:styles><w:style w:styleId="P"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="C"><w:basedOn w:val="P"/></w:style></w:styles>"#;
    let runs = [
        run("", "95 kronor."),
        run("<w:vanish/>", " Code 77."),
        run(r#"<w:rStyle w:val="C"/>"#, " Ask Maja."),
        run(r#"<w:vanish w:val="0"/>"#, " Children free."),
    ];
    let hidden = r#"<w:pPr><w:pStyle w:val="P"/></w:pPr>"#;
    let document = format!(
        "<w:document><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{}</w:p><w:p>{hidden}{}</w:p><w:p>{hidden}{}</w:p></w:document>",
        runs.concat(),
        run("", "Draft"),
        run(r#"<w:vanish w:val="false"/>"#, "Final"),
    );
    let parts = [("word/document.xml", document.as_bytes()), ("word/styles.xml", styles.as_bytes())];
    let mut content = Content::default();
    super::document(&packed(&parts), &mut content).expect("a document");
    assert_eq!(content.text, "95 kronor. Children free.\n\nFinal");
}

#[test]
fn raised_text_and_signs_of_other_fonts_are_written_as_such() {
    let raised = |text: &str| run(r#"<w:vertAlign w:val="superscript"/>"#, text);
    let lowered = run(r#"<w:vertAlign w:val="subscript"/>"#, "2");
    let sign = |font: &str, place: &str| format!(r#"<w:r><w:sym w:font="{font}" w:char="{place}"/></w:r>"#);
    let body = [
        run("", "10"),
        raised("-3"),
        run("", " CO"),
        lowered,
        run("", " 21"),
        raised("st"),
        run("", " "),
        sign("Symbol", "F0B3"),
        run("", " 95 "),
        sign("Wingdings", "F0E0"),
    ];
    assert_eq!(read(&format!("<w:p>{}</w:p>", body.concat())).text, "10⁻³ CO2 21st ≥ 95 →");
}

#[test]
fn cells_over_several_rows_are_repeated() {
    let cell = |merge: &str, text: &str| {
        format!("<w:tc><w:tcPr>{merge}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let begins = r#"<w:vMerge w:val="restart"/>"#;
    let rows = [
        cell(begins, "Van") + &cell("", "to 6 m") + &cell("", "84"),
        cell("<w:vMerge/>", "") + &cell("", "to 8 m") + &cell("", "103"),
        cell("", "") + &cell("", "longer") + &cell("", "120"),
    ];
    let rows: String = rows.iter().map(|row| format!("<w:tr>{row}</w:tr>")).collect();
    let table = format!("<w:tbl>{rows}</w:tbl>");
    assert_eq!(read(&table).text, "| Van | to 6 m | 84 |\n| Van | to 8 m | 103 |\n| longer | 120 |");
}

#[test]
fn notes_have_numbers_and_stand_below_their_section() {
    let reference = |id: u8| format!(r#"<w:r><w:footnoteReference w:id="{id}"/></w:r>"#);
    let text = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let heading = |text: &str, rest: &str| {
        format!(r#"<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>{text}</w:t></w:r>{rest}</w:p>"#)
    };
    let document = format!(
        "<w:document>{}<w:p>{}{}{}</w:p><w:p><w:del>{}</w:del></w:p>{}<w:p>{}</w:p></w:document>",
        heading("Flights", ""),
        text("In economy"),
        reference(5),
        text("."),
        reference(7),
        heading("Hotels", &reference(6)),
        text("At 145."),
    );
    let note = |id: u8, words: &str| format!(r#"<w:footnote w:id="{id}"><w:p>{}</w:p></w:footnote>"#, text(words));
    let notes =
        format!("<w:footnotes>{}{}{}</w:footnotes>", note(5, " Or better."), note(6, "By night."), note(7, "Old."));
    let styles = r#"<w:styles><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>"#;
    let parts = [
        ("word/document.xml", document.as_bytes()),
        ("word/footnotes.xml", notes.as_bytes()),
        ("word/styles.xml", styles.as_bytes()),
    ];
    let mut content = Content::default();
    super::document(&packed(&parts), &mut content).expect("a document");
    assert_eq!(content.text, "Flights\n\nIn economy[1].\n\n[1] Or better.\n\nHotels\n\nAt 145.\n\n[2] By night.");
}
