use proptest::prelude::*;

use super::*;
use crate::{Extracted, extract, needs_isolation};

fn read(source: &str) -> Extracted {
    extract(source.as_bytes(), "text/asciidoc", None).expect("readable")
}

fn text(source: &str) -> String {
    read(source).text
}

fn headings(source: &str) -> Vec<(u8, String)> {
    read(source).headings.into_iter().map(|heading| (heading.level, heading.text)).collect()
}

#[test]
fn a_document_is_read_as_it_is_shown() {
    let page = read(
        "= Harbour pumps: *guide*\nMira Novak <mira@example.org>\nv2.1, 2026-05-01\n:toc:\n:limit: 500\n\nOne page for all basins.\n\n\
         == Limits\n\nA pump stops after {limit} litres footnote:[In winter after 400.] unless told otherwise. See <<_limits>>.\n\n\
         // Not for readers.\n\n== Order\n\n.Before you start\n. Open the gate.\n+\nIt creaks.\n. Start it:\n.. north\n.. south\n* a bullet\n",
    );
    assert_eq!(page.title.as_deref(), Some("Harbour pumps: guide"));
    assert_eq!(page.media_type, "text/asciidoc");
    let expected = "Harbour pumps: guide\n\nMira Novak, version 2.1, 2026-05-01\n\nOne page for all basins.\n\nLimits\n\n\
        A pump stops after 500 litres [1] unless told otherwise. See Limits.\n\n[1] In winter after 400.\n\nOrder\n\n\
        Before you start:\n\n1. Open the gate.\n\nIt creaks.\n\n2. Start it:\n- a. north\n- b. south\n- a bullet";
    assert_eq!(page.text, expected);
    let headings: Vec<_> = page.headings.iter().map(|heading| (heading.level, &*heading.text)).collect();
    assert_eq!(headings, [(1, "Harbour pumps: guide"), (2, "Limits"), (2, "Order")]);
}

#[test]
fn blocks_keep_what_they_are() {
    let cases = [
        (
            "-q, --quiet::\n  Be *quiet*.\n-v::\nTell more.\n+\nEven so.\n",
            "-q, --quiet: Be quiet.\n\n-v: Tell more.\n\nEven so.",
        ),
        ("NOTE: Mind the gap.\n", "Note: Mind the gap."),
        ("[WARNING]\n.Depth\n====\nIt is deep.\n\nVery.\n====\n", "Warning: Depth\n\nIt is deep.\n\nVery."),
        ("[TIP]\n====\n* One\n====\n", "Tip:\n- One"),
        (
            "[source,sh]\n----\npump -q <1>\n  --all # <2>\n----\n<1> Quietly.\n<2> All.\n",
            "```\npump -q (1)\n  --all (2)\n```\n\n1. Quietly.\n2. All.",
        ),
        ("Seen so:\n\n      .-W\n     /\n  --H\n\nMore.\n", "Seen so:\n\n```\n    .-W\n   /\n--H\n```\n\nMore."),
        ("[synopsis]\ngit stash [-q]\ngit stash drop\n", "```\ngit stash [-q]\ngit stash drop\n```"),
        ("....\n +--+\n |  |\n....\n", "```\n +--+\n |  |\n```"),
        ("[quote,Ann,Letters]\nIt is wet.\n", "It is wet.\n\n— Ann, Letters"),
        ("[verse]\n____\nOne\ntwo\n____\n", "One\ntwo"),
        (
            ".Tides\n|===\n|Port |High\n\n|Nord |06:10\n|Süd |07:25\n|===\n",
            "Table 1: Tides\n\n| Port | High |\n|---|---|\n| Nord | 06:10 |\n| Süd | 07:25 |",
        ),
        ("[cols=\"1,a\"]\n|===\n|Gate\n|\n* open\n* shut\n|===\n", "| Gate | open; shut |"),
        (".The gate\nimage::gate.png[A red gate]\n", "A red gate\n\nFigure 1: The gate"),
        (
            "image::gate.png[]\n\nClick image:ok.png[the button] btn:[OK], kbd:[Ctrl+S] or menu:File[Save].\n",
            "Click the button OK, Ctrl+S or File > Save.",
        ),
        ("* [x] done\n* [ ] open\n", "- [x] done\n- [ ] open"),
        ("[qanda]\nIs it dry?:: Yes.\n", "Is it dry?\n\nYes."),
        ("[start=4]\n. four\n. five\n", "4. four\n5. five"),
        (
            "A `pump --all` and `+{x}+`: 10^6^ l, H~2~O -- \"`fine`\" it's...\n",
            "A pump --all and {x}: 10^6 l, H2O — “fine” it's…",
        ),
        (
            "https://example.org[the page^] and https://example.org/a, xref:b/tides.adoc#x[] and xref:c.adoc[C].\n",
            "the page and https://example.org/a, tides and C.",
        ),
        (
            "{url-docs}/a[the docs^], {url}/{v}/b[more], {none} and `{url}[x]`.\n",
            "the docs, more, {none} and {url}[x].",
        ),
        (
            "See linkgit:git{litdd}log[1], man:tar.x[5] and `linkgit:a[1]` (see: b[1]).\n",
            "See git--log(1), tar.x(5) and linkgit:a[1] (see: b[1]).",
        ),
        ("ifdef::env-github[]\nHidden.\nendif::[]\nifndef::env-github[]\nShown.\nendif::[]\n", "Shown."),
        ("Made on {docdate}{localtime}.\n", "Made on ."),
        ("[stem]\n++++\nx = y^2\n++++\n", "```\nx = y^2\n```"),
    ];
    for (source, expected) in cases {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn parts_stand_below_the_title_of_their_book() {
    let book = "= Book\n:doctype: book\n\n= Part\n\n== Chapter\n\nText.\n\n=== Section\n\nText.\n";
    let expected = [(1, "Book"), (2, "Part"), (3, "Chapter"), (4, "Section")];
    assert_eq!(headings(book), expected.map(|(level, text)| (level, text.to_owned())));
    let numbered = "= Book\n:sectnums:\n\n== One\n\n=== Two\n\nText.\n\n[appendix]\n== More\n\nText.\n";
    let expected = [(1, "Book"), (2, "1. One"), (3, "1.1. Two"), (2, "Appendix A: More")];
    assert_eq!(headings(numbered), expected.map(|(level, text)| (level, text.to_owned())));
}

#[test]
fn titles_of_two_lines_are_titles() {
    let page = "pump(8)\n=======\n\nNAME\n----\npump - move water\n\nOPTIONS\n-------\n-q::\n\tBe quiet.\n";
    assert_eq!(headings(page), [(1, "pump(8)".to_owned()), (2, "NAME".to_owned()), (2, "OPTIONS".to_owned())]);
    assert_eq!(text(page), "pump(8)\n\nNAME\n\npump - move water\n\nOPTIONS\n\n-q: Be quiet.");
}

#[test]
fn nothing_runs_hides_or_is_fetched() {
    let source = "= Title\n\ninclude::/etc/hostname[]\n\nA pass:[<script>alert(1)</script>] b.\n\n++++\n<!-- <p>in</p>\n++++\n\n\
        +++<textarea>+++ c\n\n++++\n</main></body><table><tr><td>d\n++++\n\n:x: pass:[<plaintext>]\n\n{x}e\n\nimage::https://example.org/x.png[]\n\n// Not this.\nEnd.\n";
    assert_eq!(text(source), "Title\n\nA b.\n\nd\n\ne\n\nEnd.");
    for source in ["include::a.adoc[]\n", "// Nothing.\n\ninclude::https://example.org/a.adoc[]\n"] {
        let error = extract(source.as_bytes(), "text/asciidoc", None).expect_err("nothing in it");
        assert!(error.cause == Cause::Empty && error.message.contains("send those"), "{error:?}");
    }
    assert!(needs_isolation(b"= Title", "text/asciidoc") && !needs_isolation(b"= Title", "text/plain"));
}

#[test]
fn what_is_too_long_is_refused() {
    let error = document(&"x".repeat(MAX_TEXT_BYTES + 1), &mut Content::default()).expect_err("too long");
    assert_eq!(error.cause, Cause::TooLarge);
}

proptest! {
    #[test]
    fn any_text_is_read(
        source in "(= T\n|== S\n|\n|\n\n|[a-c *_`#+^~{}|<>\\[\\],.:=-]|\\* |\\. |::\n|----\n|====\n|\\|===\n|\\+\n|a\\||!===\n|NOTE: |<1>|\\[source\\]\n|\\.Title\n|____\n|\\+\\+\\+|pass:\\[|footnote:\\[|image::|xref:|:x: |\\{x\\}|é漢){0,60}",
    ) {
        if let Ok(extracted) = extract(source.as_bytes(), "text/asciidoc", None) {
            prop_assert!(!extracted.text.trim().is_empty());
            for heading in &extracted.headings {
                prop_assert_eq!(extracted.text.get(heading.bytes.clone()), Some(heading.text.as_str()));
            }
        }
    }
}
