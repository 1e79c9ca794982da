#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use proptest::prelude::*;

use super::*;

fn kinds(text: &str) -> Vec<(BlockKind, &str)> {
    blocks(text).into_iter().map(|block| (block.kind, &text[block.content..block.range.end])).collect()
}

#[test]
fn tells_blocks_apart() {
    use BlockKind::{Code, Heading, Paragraph, Rule, TableHeader, TableRow};
    let text = "# Leave\nIt is\n25 days.\n\n- one\n  more\n- two\n\nTitle\n===\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n```rust\nlet x;\n\n```\n***\n1) three";
    let expected = [
        (Heading, "Leave"),
        (Paragraph, "It is\n25 days."),
        (Paragraph, "one\n  more"),
        (Paragraph, "two"),
        (Heading, "Title"),
        (Rule, "==="),
        (TableHeader, "| a | b |"),
        (Rule, "|---|---|"),
        (TableRow, "| 1 | 2 |"),
        (Paragraph, "said"),
        (Code, "```rust\nlet x;\n\n```"),
        (Rule, "***"),
        (Paragraph, "three"),
    ];
    assert_eq!(kinds(text), expected);
}

#[test]
fn drawn_tables_have_a_header() {
    use BlockKind::{Paragraph, Rule, TableHeader, TableRow};
    let text = "Colours:\n+---+-----+\n| N | Tin |\n+===+=====+\n| 1 | red |\n| 2 | old |\n+---+-----+\nText.";
    let kinds: Vec<BlockKind> = kinds(text).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [Paragraph, Rule, TableHeader, Rule, TableRow, TableRow, Rule, Paragraph]);
}

#[test]
fn definitions_badges_and_empty_html_have_no_words() {
    let text = "# Paint\n\n[![build](b.svg)](https://host.example) [![docs][d]][e]\n\n<p align=\"center\">\n<img alt=\"a jar\" src=\"a.png\">\n</p>\n\n<!-- It is\nwet. -->\n\n![The jar opened](b.png)\n\nIt is [dry][d].\n\n<b>It is red.</b>\n\n- [site](https://host.example)\n- [![ci](c.svg)](d)\n\n[d]: https://host.example/docs\n[e]: https://host.example\n\n[^1]: A note.\n";
    let seen = |has_words| -> Vec<&str> {
        let of = blocks(text).into_iter().filter(move |block| block.has_words == has_words);
        of.map(|block| &text[block.content..block.range.end]).collect()
    };
    assert_eq!(
        seen(true),
        [
            "Paint",
            "![The jar opened](b.png)",
            "It is [dry][d].",
            "<b>It is red.</b>",
            "[site](https://host.example)",
            "[^1]: A note.",
        ]
    );
    assert_eq!(seen(false).len(), 5, "{:?}", seen(false));
}

#[test]
fn an_underlined_sentence_stays_a_sentence() {
    assert_eq!(kinds("It is 25 days.\n---")[0].0, BlockKind::Paragraph);
}

#[test]
fn a_year_at_the_start_of_a_line_is_no_list() {
    assert_eq!(kinds("It began in\n1999. It ended.").len(), 1);
    assert_eq!(kinds("1. one\n2. two").len(), 2);
}

#[test]
fn code_fences_follow_commonmark() {
    // (text, the parts that are code)
    let cases: [(&str, &[&str]); 13] = [
        ("```\na\n```\nb", &["```\na\n```"]),
        ("   ~~~\na\n~~~~  \nb", &["~~~\na\n~~~~  "]),
        ("    ```\na", &[]),
        ("````\n```\n````\nb", &["````\n```\n````"]),
        ("```\na", &["```\na"]),
        ("``` a`b\nc", &[]),
        ("~~~ a`b\nc", &["~~~ a`b\nc"]),
        ("Title\n~~~~~\nText.\n\n~~~~~\nx\n~~~~~", &["~~~~~\nx\n~~~~~"]),
        ("```\n~~~\n```\nb", &["```\n~~~\n```"]),
        ("- ```\n  a\n  ```\nb", &["```\n  a\n  ```"]),
        ("- item\n  ```\nb", &["```"]),
        ("> ```\n> a\nb", &["```\n> a"]),
        ("- item\nlazy\n  ```\nb", &["```"]),
    ];
    for (text, expected) in cases {
        let code: Vec<_> =
            kinds(text).into_iter().filter(|(kind, _)| *kind == BlockKind::Code).map(|(_, code)| code).collect();
        assert_eq!(code, expected, "{text:?}");
    }
}

/// A text and its blocks, as the scanner wrote them that was used before `pulldown-cmark`.
const MIXED: (&str, &str) = (include_str!("golden/mixed.md"), include_str!("golden/mixed.blocks"));

#[test]
fn reads_what_the_scanner_before_read() {
    let (text, expected) = MIXED;
    let found = blocks(text).into_iter().map(|block| format!("{:?} {:?} {}", block.kind, block.range, block.content));
    assert_eq!(found.collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>());
}

#[test]
fn lines_may_end_in_any_way() {
    let text = "Windows line\r\nand another\r\n\r\n- item\r\n\r\nOld Mac\rline\r\r# Title\rText\r";
    let expected = ["Windows line\r\nand another", "item", "Old Mac\rline", "Title", "Text"];
    assert_eq!(kinds(text).into_iter().map(|(_, words)| words).collect::<Vec<_>>(), expected);
}

#[test]
fn differs_from_the_scanner_before_where_it_was_wrong_or_lax() {
    use BlockKind::{Code, Heading, Paragraph, Rule, TableHeader, TableRow};
    let cases: &[(&str, &[(BlockKind, &str)])] = &[
        // HTML goes on to the next blank line, and a fence in it opens nothing.
        ("<div>\n```\nLeave is 25 days.\n", &[(Paragraph, "<div>"), (Rule, "```"), (Paragraph, "Leave is 25 days.")]),
        ("so\n<div>\n# so", &[(Paragraph, "so"), (Paragraph, "<div>\n# so")]),
        ("<p>\n- a\n- 25 days\n</p>", &[(Paragraph, "<p>"), (Paragraph, "a"), (Paragraph, "25 days\n</p>")]),
        // Link definitions are apart from the text after them.
        ("[a]: /url \"25 days\"\nb", &[(Paragraph, "[a]: /url \"25 days\""), (Paragraph, "b")]),
        // A list may begin with any number where no paragraph is open, as after indented code.
        ("    a\n7) # b", &[(Paragraph, "a"), (Heading, "b")]),
        // A tab goes to the next multiple of four columns.
        ("> \t```\n> a", &[(Code, "```\n> a")]),
        // A heading before a single sign that may be the beginning of a list stays a paragraph.
        ("Leave is 25 days\n-", &[(Paragraph, "Leave is 25 days"), (Rule, "-")]),
        // A list only to the eye, not to the parser, holds no headings and no code.
        ("• # a", &[(Paragraph, "# a")]),
        // A delimiter row makes the row right above it a header, not one of another block.
        ("|a|b|\n\n|-|-|", &[(TableRow, "|a|b|"), (Rule, "|-|-|")]),
        // The columns of header and delimiter row count only without outer bars.
        ("|a|b|c|\n|-|-|\n|1|2|3|", &[(TableHeader, "|a|b|c|"), (Rule, "|-|-|"), (TableRow, "|1|2|3|")]),
    ];
    for (text, expected) in cases {
        assert_eq!(kinds(text), *expected, "{text:?}");
    }
}

#[test]
fn white_space_that_is_no_markup_hides_nothing() {
    use BlockKind::{Code, Paragraph};
    // No closing fence to `pulldown-cmark`, but to `CommonMark`.
    assert_eq!(kinds("```\na\n```\t\nb"), [(Code, "```\na\n```\t"), (Paragraph, "b")]);
    assert_eq!(kinds("a\n\u{a0}\nb"), [(Paragraph, "a"), (Paragraph, "b")]);
    assert_eq!(kinds("a\n \u{3000}\t\nb"), [(Paragraph, "a"), (Paragraph, "b")]);
}

#[test]
fn rows_have_cells() {
    let cases: [(&str, &[(usize, &str)]); 6] = [
        ("| a | b |", &[(0, "a"), (4, "b")]),
        ("|  | 2019 |  |", &[(0, ""), (3, "2019"), (10, "")]),
        ("a | b\\|c", &[(0, "a"), (2, "b\\|c")]),
        ("|a|", &[(0, "a")]),
        ("|", &[(0, "")]),
        ("", &[(0, "")]),
    ];
    for (row, expected) in cases {
        assert_eq!(cells(row).collect::<Vec<_>>(), expected, "{row:?}");
    }
}

/// Pieces of Markdown, put together at random.
const MARKDOWN: &str = "(#{1,7} |={1,4}|-{1,4}|[*]{1,3}|_{3}|`{3,4}|~{3}|> ?|[-*+] |[0-9]{1,3}[.)] |• |\\||\\|-|:-:|\
    \\[a\\]: /u|<div>|</div>|<!--|-->|<b>|<pre>|[ \t]{1,5}|\u{a0}|\r?\n|\n\n|[a-c]{1,3}|25|[.?]|\\[\\^1\\]){0,24}";

/// Whether words in a line are no claim because of the markup in it or in the next line.
fn is_marked_as_no_claim(kind: BlockKind, line: &str, next: &str) -> bool {
    let markup = line.trim_start_matches(|sign: char| sign.is_ascii_digit() || " \t>-*+.)".contains(sign));
    let below = next.trim_matches(|sign: char| " \t>".contains(sign));
    let is_made_of = |signs: &str| !below.is_empty() && below.chars().all(|sign| signs.contains(sign));
    match kind {
        BlockKind::Code => markup.starts_with("```") || markup.starts_with("~~~"),
        BlockKind::Heading => markup.starts_with('#') || is_made_of("-") || is_made_of("="),
        BlockKind::TableHeader => line.contains('|') && is_made_of("|-: \t.)*+0123456789"),
        BlockKind::Rule => !markup.chars().any(char::is_alphanumeric),
        BlockKind::Paragraph | BlockKind::TableRow => true,
    }
}

fn is_mark(sign: char) -> bool {
    sign.is_whitespace() || sign.is_ascii_digit() || ">-*+.)#•".contains(sign)
}

proptest! {
    #[test]
    fn cover_every_word_in_order(text in "[-*+>#`~|=_.a1 \t\r\n]{0,120}|\\PC*", pieces in MARKDOWN) {
        for text in [text, pieces] {
            let mut end = 0;
            for block in blocks(&text) {
                prop_assert!(text[end..block.range.start].trim().is_empty());
                prop_assert!(block.range.start <= block.content && block.content <= block.range.end);
                end = block.range.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }

    #[test]
    fn nothing_is_exempt_without_its_markup(text in MARKDOWN) {
        for block in blocks(&text) {
            let mut lines = text[block.range.start..].split(['\n', '\r']).filter(|line| !line.is_empty());
            let (line, next) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
            prop_assert!(is_marked_as_no_claim(block.kind, line, next), "{:?} {line:?} {next:?}", block.kind);
            let marks = &text[block.range.start..block.content];
            prop_assert!(marks.chars().all(is_mark), "{marks:?}");
        }
    }

    #[test]
    fn a_long_text_reads_as_it_does_in_pieces(text in MARKDOWN, size in 1..20usize) {
        // Text after a link definition may look like a list once it is read without it.
        let text = text.replace("[a]:", "");
        prop_assert_eq!(leaf::parsed(size, &text), leaves(&text));
    }

    #[test]
    fn prose_is_read_as_the_parser_reads_it(
        pieces in MARKDOWN,
        text in "((Leave|é|a\\. b|ß [a]: x|x <b>|Ab  |x `|y\t|z\u{a0}|\u{2028}| |\0)(\n| |\r|~~~~~|--|\\||  \n){0,2}){0,12}",
    ) {
        for text in [text, pieces] {
            prop_assert_eq!(leaves(&text), leaf::parsed(text.len(), &text));
        }
    }

    #[test]
    fn a_beginning_is_read_as_it_is_in_the_whole(text in MARKDOWN, more in MARKDOWN) {
        // Blocks before the last but one do not depend on what follows a blank line. Whether HTML has words is asked of whole
        // texts alone.
        let read = |text: &str| -> Vec<(BlockKind, std::ops::Range<usize>, usize)> {
            blocks(text).into_iter().map(|block| (block.kind, block.range, block.content)).collect()
        };
        let whole = read(&format!("{text}\n\n{more}"));
        let alone = read(&text);
        let settled = alone.len().saturating_sub(1);
        prop_assert_eq!(whole.get(..settled), alone.get(..settled));
    }
}
