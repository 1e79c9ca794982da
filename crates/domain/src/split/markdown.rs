//! The headings of Markdown text, found line by line.
//!
//! ATX (`## Leave`) and setext (underlined) headings as `CommonMark` 0.31 defines them, outside code,
//! lists and quotations. A full parser was rejected: only headings and fences matter here, each is a
//! matter of lines, and a scan can neither fail nor be made slow by its input.
//!
//! Deviations, each for texts as they are written: a setext paragraph of over three lines or two
//! hundred bytes is a paragraph before a forgotten blank line and a rule; a single `-` underlines
//! nothing; YAML front matter holds no headings.

use std::ops::Range;

use super::outline::Heading;

const LONGEST_SETEXT_LINES: usize = 3;
const LONGEST_SETEXT_BYTES: usize = 200;

/// Lines in which front matter has to end to be taken for that.
const LONGEST_FRONT_MATTER_LINES: usize = 200;

/// Headings of `text`, and the byte ranges of its fenced code and front matter, both in order.
pub(super) fn scan(text: &str) -> (Vec<Heading>, Vec<Range<usize>>) {
    let mut scanner = Scanner { text, ..Scanner::default() };
    let body = front_matter_end(text);
    if body > 0 {
        scanner.code.push(0..body);
    }
    let mut start = body;
    for line in text.get(body..).unwrap_or_default().split_inclusive('\n') {
        let end = start + line.len();
        scanner.read(line.trim_end(), start..end);
        start = end;
    }
    if let Some(fence) = scanner.fence {
        scanner.code.push(fence.start..text.len());
    }
    (scanner.headings, scanner.code)
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

/// An open code fence.
#[derive(Debug, Clone, Copy)]
struct Fence {
    start: usize,
    mark: char,
    length: usize,
}

#[derive(Debug, Default)]
struct Scanner<'text> {
    text: &'text str,
    headings: Vec<Heading>,
    code: Vec<Range<usize>>,
    fence: Option<Fence>,
    /// Where the paragraph that a setext underline would make a heading begins, and its lines.
    paragraph: Option<(usize, usize)>,
    /// Inside a list or a quotation, whose lines are neither headings nor paragraphs here.
    in_container: bool,
    after_blank: bool,
}

impl Scanner<'_> {
    /// Takes in one line: `line` without its end, `bytes` with it.
    fn read(&mut self, line: &str, bytes: Range<usize>) {
        let content = line.trim_start();
        let indent: usize = line
            .bytes()
            .map_while(|byte| match byte {
                b' ' => Some(1),
                b'\t' => Some(4),
                _ => None,
            })
            .sum();
        if let Some(fence) = self.fence {
            if closes(content, fence) {
                self.code.push(fence.start..bytes.end);
                self.fence = None;
            }
        } else if content.is_empty() {
            self.paragraph = None;
        } else if let Some((mark, length)) = opening_fence(content).filter(|_| indent < 4 || self.in_container) {
            self.fence = Some(Fence { start: bytes.start, mark, length });
            self.paragraph = None;
        } else {
            self.read_text(content, indent, bytes);
        }
        self.after_blank = content.is_empty();
    }

    fn read_text(&mut self, content: &str, indent: usize, bytes: Range<usize>) {
        if indent >= 4 {
            // Indented code, or a paragraph that goes on.
        } else if let Some(level) = self.underlined(content, bytes.start) {
            let (start, _) = self.paragraph.take().unwrap_or((bytes.start, 0));
            let title = self.text.get(start..bytes.start).unwrap_or_default();
            self.headings.push(Heading { bytes: start..bytes.end, level, text: plain(title) });
        } else if let Some((level, title)) = atx(content) {
            self.headings.push(Heading { bytes, level, text: plain(title) });
            (self.paragraph, self.in_container) = (None, false);
        } else if opens_container(content) {
            (self.paragraph, self.in_container) = (None, true);
        } else if self.in_container && (indent > 0 || !self.after_blank) {
            // Goes on with the list item or quotation.
        } else {
            self.in_container = false;
            let (start, lines) = self.paragraph.unwrap_or((bytes.start, 0));
            // Tables and HTML are no paragraphs, whatever stands below them.
            self.paragraph = (!content.starts_with(['|', '<'])).then_some((start, lines + 1));
        }
    }

    /// The level that `content`, as a setext underline at byte `at`, gives to the paragraph above.
    fn underlined(&self, content: &str, at: usize) -> Option<u8> {
        let (start, lines) = self.paragraph?;
        let is_short = lines <= LONGEST_SETEXT_LINES && at - start <= LONGEST_SETEXT_BYTES;
        let level = if content.bytes().all(|byte| byte == b'=') {
            1
        } else if content.len() > 1 && content.bytes().all(|byte| byte == b'-') {
            2
        } else {
            return None;
        };
        is_short.then_some(level)
    }
}

/// Mark and length of the fence that `content` opens.
fn opening_fence(content: &str) -> Option<(char, usize)> {
    let mark = content.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let information = content.trim_start_matches(mark);
    let length = content.len() - information.len();
    // Three backticks with more of them behind are inline code.
    (length >= 3 && (mark == '~' || !information.contains('`'))).then_some((mark, length))
}

fn closes(content: &str, fence: Fence) -> bool {
    content.len() >= fence.length && content.chars().all(|character| character == fence.mark)
}

/// Level and raw text of an ATX heading.
fn atx(content: &str) -> Option<(u8, &str)> {
    let title = content.trim_start_matches('#');
    let level = u8::try_from(content.len() - title.len()).ok().filter(|level| (1..=6).contains(level))?;
    if !title.is_empty() && !title.starts_with([' ', '\t']) {
        return None;
    }
    let title = title.trim();
    let unclosed = title.trim_end_matches('#');
    let title = if unclosed.is_empty() || unclosed.ends_with([' ', '\t']) { unclosed.trim_end() } else { title };
    Some((level, title))
}

/// Whether a line begins a list item or a quotation.
fn opens_container(content: &str) -> bool {
    let after_marker = content.strip_prefix(['-', '*', '+', '>']).or_else(|| {
        let rest = content.trim_start_matches(|character: char| character.is_ascii_digit());
        rest.strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&(content.len() - rest.len())))
    });
    content.starts_with('>') || after_marker.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// The text of a heading without emphasis, code marks and link targets, white space collapsed.
fn plain(title: &str) -> String {
    let mut text = String::with_capacity(title.len());
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        let (_, behind) = after.split_once(')').unwrap_or(("", ""));
        match before.rsplit_once('[') {
            Some((lead, label)) => text.extend([lead.strip_suffix('!').unwrap_or(lead), label]),
            None => text.push_str(before),
        }
        rest = behind;
    }
    text.push_str(rest);
    text.retain(|character| !matches!(character, '*' | '`'));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headings(text: &str) -> Vec<(u8, String)> {
        scan(text).0.into_iter().map(|heading| (heading.level, heading.text)).collect()
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
        assert_eq!(headings("- item\n\n    ```\n# comment\n    ```\n\n# A"), only(1, "A"));
        assert_eq!(headings("---\ntitle: x\n---\n# A"), only(1, "A"));
        assert_eq!(headings("---\nnot front matter\n"), []);
    }

    #[test]
    fn ranges_cover_whole_lines() {
        let text = "intro\n\nSick\nleave\n---\n```\ncode\n```\n";
        let (headings, code) = scan(text);
        assert_eq!(&text[headings[0].bytes.clone()], "Sick\nleave\n---\n");
        assert_eq!(&text[code[0].clone()], "```\ncode\n```\n");
    }

    proptest! {
        #[test]
        fn any_text_scans(text in "([#=`~>*+-]{1,4}|[ \\t]{1,5}|\\r?\\n|[a-zé漢\\[\\]()!|<.1]{1,3}){0,40}") {
            let (headings, code) = scan(&text);
            prop_assert!(headings.is_sorted_by(|left, right| left.bytes.end <= right.bytes.start));
            for range in headings.iter().map(|heading| &heading.bytes).chain(&code) {
                prop_assert!(text.get(range.clone()).is_some());
            }
        }
    }
}
