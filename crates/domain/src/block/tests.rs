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
    // (text, what is code)
    let cases: [(&str, &[&str]); 12] = [
        ("```\na\n```\nb", &["```\na\n```"]),
        ("   ~~~\na\n~~~~  \nb", &["~~~\na\n~~~~  "]),
        ("    ```\na", &[]),
        ("````\n```\n````\nb", &["````\n```\n````"]),
        ("```\na", &["```\na"]),
        ("``` a`b\nc", &[]),
        ("~~~ a`b\nc", &["~~~ a`b\nc"]),
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

proptest! {
    #[test]
    fn cover_every_word_in_order(text in "[-*+>#`~|=_.a1 \t\r\n]{0,120}|\\PC*") {
        let mut end = 0;
        for block in blocks(&text) {
            prop_assert!(text[end..block.range.start].trim().is_empty());
            prop_assert!(block.range.start <= block.content && block.content <= block.range.end);
            end = block.range.end;
        }
        prop_assert!(text[end..].trim().is_empty());
    }
}
