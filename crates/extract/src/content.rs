//! The text of a document as it is built up, with its headings and pages.

use std::borrow::Cow;

use super::{Cause, ExtractError, attachments::Attachments, repair::Control};
use domain::{
    job::ReadingNotes,
    split::{Heading, PageMap},
};

/// Longest text of a document, in bytes: about ten thousand pages.
pub const MAX_TEXT_BYTES: usize = 32 * 1024 * 1024;

/// Deepest level of a heading.
const MAX_LEVEL: u8 = 9;

/// The level below this one.
pub(super) const fn deeper(level: u8) -> u8 {
    if level < MAX_LEVEL { level + 1 } else { MAX_LEVEL }
}

/// The text, headings and pages extracted from a document.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) headings: Vec<Heading>,
    pub(super) pages: PageMap,
    pub(super) title: Option<String>,
    /// Characters that were restored or dropped, and parts without text.
    pub(super) notes: ReadingNotes,
    /// Documents that are attached to it.
    pub(super) attachments: Attachments,
}

impl Content {
    /// Makes this text, as it is, the content.
    pub(super) fn set_text(&mut self, text: String) -> Result<(), ExtractError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(too_long());
        }
        self.text = text;
        Ok(())
    }

    /// Adds a paragraph, set off by a blank line.
    pub(super) fn block(&mut self, text: &str) -> Result<(), ExtractError> {
        self.add(text, "\n\n")
    }

    /// Adds a line that continues the block above it: a table's row, an entry of a list.
    pub(super) fn line(&mut self, text: &str) -> Result<(), ExtractError> {
        self.add(text, "\n")
    }

    /// Goes on with the paragraph above, which the end of a page or of a column has cut; `is_word_cut` drops the hyphen at
    /// its end.
    pub(super) fn go_on(&mut self, text: &str, is_word_cut: bool) -> Result<(), ExtractError> {
        if is_word_cut {
            self.text.pop();
        }
        self.add(text, if is_word_cut { "" } else { "\n" })
    }

    /// The last line of the paragraph that text added now would follow; none below a heading.
    pub(super) fn last_line(&self) -> Option<&str> {
        let is_heading = self.headings.last().is_some_and(|heading| heading.bytes.end == self.text.len());
        self.text.lines().next_back().filter(|_| !is_heading)
    }

    /// Takes back the last paragraph if it is one line, no heading, and `is_wanted`.
    pub(super) fn take_last_line(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        let last = self.last_line().filter(|line| is_wanted(line))?.to_owned();
        let before = self.text.len() - last.len();
        if !self.text.get(..before)?.ends_with("\n\n") {
            return None;
        }
        self.text.truncate(before - 2);
        Some(last)
    }

    /// Adds a heading; white space in it is collapsed, and an empty one is left out.
    pub(super) fn heading(&mut self, level: u8, text: &str) -> Result<(), ExtractError> {
        let text = self.cleaned(text).split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return Ok(());
        }
        self.block(&text)?;
        let end = self.text.len();
        self.headings.push(Heading { bytes: end - text.len()..end, level: level.clamp(1, MAX_LEVEL), text });
        Ok(())
    }

    /// Starts the next page; text added from now on belongs to it.
    pub(super) fn page(&mut self) {
        self.pages.begin(self.text.len());
    }

    /// Keeps the first title that is not empty.
    pub(super) fn name(&mut self, title: &str) {
        let title = self.cleaned(title).split_whitespace().collect::<Vec<_>>().join(" ");
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    fn add(&mut self, text: &str, gap: &str) -> Result<(), ExtractError> {
        let text = self.cleaned(text);
        let text = text.trim_end().trim_start_matches('\n');
        if text.trim().is_empty() {
            return Ok(());
        }
        if !self.text.is_empty() {
            self.text.push_str(gap);
        }
        self.text.push_str(text);
        if self.text.len() > MAX_TEXT_BYTES { Err(too_long()) } else { Ok(()) }
    }

    /// Text without the control characters, such as NUL, that formats leave in it.
    fn cleaned<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let is_clean = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
        if text.chars().all(is_clean) {
            return Cow::Borrowed(text);
        }
        let cleaned = text.chars().filter_map(|character| match Control::of(character) {
            _ if is_clean(character) => Some(character),
            None => None,
            Some(Control::Windows(meant)) => {
                self.notes.repaired_characters += 1;
                Some(meant)
            }
            Some(Control::Foreign) => {
                self.notes.dropped_characters += 1;
                None
            }
        });
        Cow::Owned(cleaned.collect())
    }
}

fn too_long() -> ExtractError {
    ExtractError::new(
        Cause::TooLarge,
        format!("the document has more than {} MiB of text; split it into several", MAX_TEXT_BYTES / 1024 / 1024),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_pages_know_their_place() {
        let mut content = Content::default();
        content.page();
        content.heading(1, " Annual \n leave ").expect("fits");
        content.block("  Indented.\u{0}\r\n").expect("fits");
        content.block(" \n ").expect("fits");
        content.page();
        content.heading(12, "\u{0}").expect("fits");
        content.line("Second page.").expect("fits");
        content.name(" ");
        content.name("A\ntitle");
        assert_eq!(content.text, "Annual leave\n\n  Indented.\nSecond page.");
        assert_eq!(content.headings, [Heading { bytes: 0..12, level: 1, text: "Annual leave".to_owned() }]);
        assert_eq!((content.pages.page_at(0), content.pages.page_at(content.text.len() - 1)), (Some(1), Some(2)));
        assert_eq!(content.title.as_deref(), Some("A title"));
        assert_eq!(content.notes, ReadingNotes { dropped_characters: 2, ..ReadingNotes::default() });
    }

    #[test]
    fn there_is_an_end_to_it() {
        let mut content = Content::default();
        let block = "x".repeat(MAX_TEXT_BYTES / 2);
        content.block(&block).expect("half");
        assert_eq!(content.block(&block).expect_err("the gap is too much").cause, Cause::TooLarge);
        assert!(Content::default().set_text("x".repeat(MAX_TEXT_BYTES)).is_ok());
        assert!(Content::default().set_text("x".repeat(MAX_TEXT_BYTES + 1)).is_err());
    }
}
