//! The headings and the code of Markdown text.
//!
//! Headings are those of `CommonMark` outside of lists and quotations, with deviations for texts as they are
//! written: a setext heading of over three lines or two hundred bytes is a paragraph before a forgotten blank
//! line and a rule; a row of a table is none; a single `-` underlines nothing, for a list may begin there; YAML
//! front matter holds no headings.

use std::{collections::HashSet, ops::Range};

use super::outline::Heading;
use super::run_in::RunIn;
use super::{questions, titles};
use crate::markdown::{Leaf, LeafKind, leaves, link_definitions};
use crate::wording::start_of_line;

const LONGEST_SETEXT_LINES: usize = 3;
const LONGEST_SETEXT_BYTES: usize = 200;

/// Lines in which front matter has to end to be taken for that.
const LONGEST_FRONT_MATTER_LINES: usize = 200;

/// The headings of Markdown text, in order.
#[must_use]
pub fn headings(text: &str) -> Vec<Heading> {
    let body = front_matter_end(text);
    in_syntax(text, body, &leaves_from(text, body)).0
}

/// The byte ranges of the fenced code of `text`, in order.
pub(super) fn fenced_code(text: &str) -> Vec<Range<usize>> {
    // Most texts have none, and need not be parsed.
    if !text.contains("```") && !text.contains("~~~") {
        return Vec::new();
    }
    let fences = leaves(text).into_iter().filter(|leaf| leaf.kind == LeafKind::Fence);
    fences.map(|leaf| whole_lines(text, leaf.bytes)).collect()
}

/// The parts of a Markdown text that the splitter goes by, each in order.
pub(super) struct Scan {
    /// The headings, and the questions that head their answers.
    pub(super) headings: Vec<Heading>,
    /// The byte ranges of fenced code and front matter.
    pub(super) code: Vec<Range<usize>>,
    /// The byte ranges of the lines that have no words for a reader: definitions of links, badges, HTML without text.
    pub(super) unread: Vec<Range<usize>>,
}

/// Reads the structure of a Markdown text.
pub(super) fn scan(text: &str) -> Scan {
    let body = front_matter_end(text);
    let leaves = leaves_from(text, body);
    let (mut headings, code) = in_syntax(text, body, &leaves);
    // In order: a text may have as many blocks of code as questions.
    let is_code = |byte: usize| {
        let next = code.partition_point(|range| range.end <= byte);
        code.get(next).is_some_and(|range| range.contains(&byte))
    };
    let marked = questions::marked_questions(text).into_iter().filter(|question| !is_code(question.bytes.start));
    let questions: Vec<Heading> = questions::of_markdown(text, &leaves, &headings).into_iter().chain(marked).collect();
    let mut titles = titles::in_bold(text, &leaves);
    let asked: HashSet<usize> = questions.iter().map(|question| question.bytes.start).collect();
    titles.retain(|title| !title.text.ends_with(['?', '？']) || !asked.contains(&title.bytes.start));
    let heads = RunIn::of(text, &leaves, &headings, &titles);
    for title in &mut titles {
        title.level = heads.level_of(title, title.level);
    }
    headings.extend(titles.into_iter().chain(heads.headings).chain(questions));
    // A heading goes before a question in it.
    headings.sort_by_key(|heading| (heading.bytes.start, heading.level));
    let mut end = 0;
    headings.retain(|heading| {
        let is_apart = heading.bytes.start >= end;
        end = if is_apart { heading.bytes.end } else { end };
        is_apart
    });
    Scan { headings, code, unread: unread(text, body, &leaves) }
}

/// The lines after the byte `body` that have no words for a reader.
fn unread(text: &str, body: usize, leaves: &[Leaf]) -> Vec<Range<usize>> {
    let mut unread: Vec<Range<usize>> = Vec::new();
    let mut end = body;
    for leaf in leaves {
        let lines = whole_lines(text, leaf.bytes.clone());
        unread.extend(link_definitions(text, end..lines.start));
        end = end.max(lines.end);
        if !leaf.has_words && !leaf.is_nested {
            unread.push(lines);
        }
    }
    unread.extend(link_definitions(text, end..text.len()));
    unread
}

/// The leaves of the text after the byte `body`, at their places in the whole text.
fn leaves_from(text: &str, body: usize) -> Vec<Leaf> {
    leaves(text.get(body..).unwrap_or_default()).into_iter().map(|leaf| leaf.moved(body)).collect()
}

/// The headings that the syntax marks, and the byte ranges of fenced code and front matter, which ends at `body`.
fn in_syntax(text: &str, body: usize, leaves: &[Leaf]) -> (Vec<Heading>, Vec<Range<usize>>) {
    let (mut headings, mut code) = (Vec::new(), Vec::new());
    if body > 0 {
        code.push(0..body);
    }
    for leaf in leaves {
        let bytes = whole_lines(text, leaf.bytes.clone());
        match &leaf.kind {
            LeafKind::Heading(level, title) if !leaf.is_nested && is_heading(text.get(bytes.clone())) => {
                let text = title.split_whitespace().collect::<Vec<_>>().join(" ");
                headings.push(Heading { bytes, level: *level, text });
            }
            LeafKind::Fence => code.push(bytes),
            LeafKind::Heading(..) | LeafKind::Text | LeafKind::Html | LeafKind::Table | LeafKind::Break => {}
        }
    }
    (headings, code)
}

/// The lines that `bytes` lies in, with their ends.
fn whole_lines(text: &str, bytes: Range<usize>) -> Range<usize> {
    let start = start_of_line(text, bytes.start);
    let is_whole = text.get(..bytes.end).is_some_and(|before| before.ends_with(['\n', '\r']));
    let after = text.get(bytes.end..).filter(|_| !is_whole).unwrap_or_default();
    start..bytes.end + after.find('\n').map_or(after.len(), |end| end + 1)
}

/// Whether these lines, which `CommonMark` parses as a heading, were meant as one.
fn is_heading(lines: Option<&str>) -> bool {
    let lines = lines.unwrap_or_default().trim_end();
    lines.rsplit_once(['\n', '\r']).is_none_or(|(title, underline)| {
        let is_short = title.lines().count() <= LONGEST_SETEXT_LINES && title.len() <= LONGEST_SETEXT_BYTES;
        is_short && underline.trim() != "-" && !title.trim_start().starts_with('|')
    })
}

/// Byte offset after YAML front matter; 0 if there is none.
fn front_matter_end(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return 0;
    };
    let mut end = first.len();
    for line in lines.take(LONGEST_FRONT_MATTER_LINES) {
        end += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return end;
        }
    }
    0
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headings(text: &str) -> Vec<(u8, String)> {
        super::headings(text).into_iter().map(|heading| (heading.level, heading.text)).collect()
    }

    fn only(level: u8, text: &str) -> Vec<(u8, String)> {
        vec![(level, text.to_owned())]
    }

    #[test]
    fn atx_headings() {
        assert_eq!(headings("## Sick *leave* ##"), only(2, "Sick leave"));
        assert_eq!(headings("text\n   # A\r\n"), only(1, "A"));
        assert_eq!(headings("# C# notes#"), only(1, "C# notes#"));
        assert_eq!(headings("#"), only(1, ""));
        assert_eq!(headings("### See [the `API`](https://host.example/a) now"), only(3, "See the API now"));
        assert_eq!(headings("#no\n####### seven\n    # indented\n\\# escaped"), []);
    }

    #[test]
    fn setext_headings() {
        assert_eq!(headings("Leave\n====="), only(1, "Leave"));
        assert_eq!(headings("Sick\nleave\n---\ntext"), only(2, "Sick leave"));
        assert_eq!(headings("text\n\n---\n"), []);
        assert_eq!(headings("- item\n---\n"), []);
        assert_eq!(headings("> quoted\n---\n"), []);
        assert_eq!(headings("| a | b |\n---\n"), []);
        assert_eq!(headings(&format!("{}\n---\n", "long ".repeat(60))), []);
    }

    #[test]
    fn code_and_front_matter_hold_no_headings() {
        assert_eq!(headings("```sh\n# comment\n```\n# A"), only(1, "A"));
        assert_eq!(headings("~~~\n# comment\n```\n# comment"), []);
        assert_eq!(headings("````\n```\n# comment\n````\n# A"), only(1, "A"));
        assert_eq!(headings("- item\n\n    ```\n    # comment\n    ```\n\n# A"), only(1, "A"));
        assert_eq!(headings("---\ntitle: x\n---\n# A"), only(1, "A"));
        assert_eq!(headings("---\nnot front matter\n"), []);
    }

    #[test]
    fn titles_are_words_without_markup() {
        let text = "# [0.2] of _May_ <a name=\"x\"></a>&amp; \\*nix **![logo](a.png)**\n\n[0.2]: https://host.example";
        assert_eq!(headings(text), only(1, "0.2 of May & *nix"));
        assert_eq!(headings("# [![Logo of Paint](a.png)](https://host.example)"), only(1, "Logo of Paint"));
    }

    #[test]
    fn lists_and_quotations_hold_none() {
        assert_eq!(headings("- item\n\n  # inside\n\n> # quoted\n\n# A"), only(1, "A"));
        assert_eq!(headings("* ```\n  a\n  ```\n* b\n\n# A"), only(1, "A"));
    }

    #[test]
    fn ranges_cover_whole_lines() {
        let text = "intro\n\nSick\nleave\n---\n```\ncode\n```\n";
        let Scan { headings, code, .. } = scan(text);
        assert_eq!(&text[headings[0].bytes.clone()], "Sick\nleave\n---\n");
        assert_eq!(&text[code[0].clone()], "```\ncode\n```\n");
    }

    proptest! {
        #[test]
        fn any_text_scans(text in "([#=`~>*+-]{1,4}|Q: |A: |[ \\t]{1,5}|\\r?\\n|[a-zé漢\\[\\]()!|<.1]{1,3}){0,40}") {
            let Scan { headings, code, unread } = scan(&text);
            prop_assert!(headings.is_sorted_by(|left, right| left.bytes.end <= right.bytes.start));
            for range in headings.iter().map(|heading| &heading.bytes).chain(&code).chain(&unread) {
                prop_assert!(text.get(range.clone()).is_some());
            }
        }
    }
}
