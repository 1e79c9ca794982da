use super::*;

const STYLES: &str = "<style:style style:name='H' style:family='text'><style:text-properties text:display='none'/></style:style>
    <style:style style:name='U' style:family='text'><style:text-properties style:text-position='super 58%'/></style:style>
    <style:style style:name='V' style:family='text' style:parent-style-name='U'/>
    <style:style style:name='D' style:family='text'><style:text-properties style:text-position='-33% 58%'/></style:style>
    <style:style style:name='H' style:family='paragraph'/>
    <style:style style:name='P' style:family='paragraph'><style:text-properties text:display='none'/></style:style>
    <number:number-style style:name='N'><number:number number:min-integer-digits='6'/></number:number-style>
    <style:style style:name='C' style:family='table-cell' style:data-style-name='N'/>";

fn rewritten_of(body: &str) -> String {
    let content = format!("<c><office:automatic-styles>{STYLES}</office:automatic-styles>{body}</c>");
    let mut styles = Styles::default();
    styles.read(&content, "automatic-styles").expect("styles");
    let written = String::from_utf8(rewritten(&content, &styles).expect("readable")).expect("text");
    let (_, body) = written.split_once("</office:automatic-styles>").expect("styles");
    body.strip_suffix("</c>").expect("an end").to_owned()
}

#[test]
fn hidden_text_and_comments_are_left_out() {
    let cases = [
        ("<text:p>a<office:annotation><text:p>b</text:p></office:annotation>c</text:p>", "<text:p>ac</text:p>"),
        ("<text:p>a<text:span text:style-name='H'>b<x>c</x></text:span>d</text:p>", "<text:p>ad</text:p>"),
        (
            "<text:p text:style-name='P'>a</text:p><text:p text:style-name='H'>b</text:p>",
            "<text:p text:style-name='H'>b</text:p>",
        ),
        ("<text:section text:display='none'><text:p>a</text:p></text:section><x/>", "<x/>"),
        ("<text:section text:display='condition' text:is-hidden='true'><x/></text:section>", ""),
        ("<text:p><text:hidden-text text:is-hidden='true'>a</text:hidden-text></text:p>", "<text:p></text:p>"),
        ("<text:p>&amp;<text:s/><![CDATA[x]]></text:p>", "<text:p>&amp;<text:s/><![CDATA[x]]></text:p>"),
    ];
    for (body, expected) in cases {
        assert_eq!(rewritten_of(body), expected, "{body}");
    }
}

#[test]
fn raised_text_is_written_as_such() {
    let span = |style: &str, text: &str| format!("<text:span text:style-name='{style}'>{text}</text:span>");
    assert_eq!(rewritten_of(&span("U", "-3")), span("U", "⁻³"));
    assert_eq!(rewritten_of(&span("V", "x &lt; y")), span("V", "^(x) &lt; ^(y)"));
    assert_eq!(rewritten_of(&span("D", "2")), span("D", "2"));
}

#[test]
fn cells_keep_their_formats() {
    let cell = |attributes: &str| format!("<table:table-cell {attributes}><text:p>x</text:p></table:table-cell>");
    let text = cell("table:style-name=\"A\" office:value-type=\"string\"");
    for kind in ["percentage' office:value='.2'", "currency' office:value='2'", "time' office:time-value='PT1H'"] {
        assert_eq!(rewritten_of(&cell(&format!("table:style-name='A' office:value-type='{kind}"))), text);
    }
    let zeros = cell("office:value-type='float' office:value='417' table:style-name='C'");
    assert_eq!(rewritten_of(&zeros), text.replace("\"A\"", "\"C\""));
    for kept in
        ["office:value-type='float' office:value='2'", "office:value-type='date' office:date-value='2021-03-01'"]
    {
        assert_eq!(rewritten_of(&cell(kept)), cell(kept));
    }
    let empty = "<table:table-cell office:value-type='percentage' office:value='.2'/>";
    assert_eq!(rewritten_of(empty), empty);
}

#[test]
fn styles_that_cannot_be_read_hide_nothing() {
    let content: &[u8] = b"<c><text:p text:style-name='P'>a</text:p></c>";
    let parts: [(&str, &[u8]); 2] = [("styles.xml", b"<s><styles>"), (CONTENT, content)];
    let shown = shown(&crate::archive::tests::packed(&parts)).expect("a document");
    let mut archive = Archive::open(&shown).expect("an archive");
    assert_eq!(archive.text(CONTENT).expect("a part").as_deref(), std::str::from_utf8(content).ok());
    assert!(archive.has("styles.xml"));
}
