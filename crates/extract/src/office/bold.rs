//! Paragraphs in bold that head the text below them, in documents whose headings have no style of their own.

use std::ops::Range;

use domain::split::Heading;

use super::super::content::Content;

/// Longest such paragraph, in characters and in words: an emphasised sentence is longer.
const LONGEST: usize = 80;
const MOST_WORDS: usize = 12;

/// Level of such a heading: below the title.
const LEVEL: u8 = 2;

/// The paragraphs of a document that may be headings, by their place in its text.
#[derive(Debug, Default)]
pub(super) struct BoldParagraphs(Vec<Range<usize>>);

impl BoldParagraphs {
    /// Adds the paragraph in bold that was written last, if it reads like a heading.
    pub(super) fn add(&mut self, content: &Content, paragraph: &str) {
        let text = paragraph.trim();
        let is_title = text.contains(char::is_alphanumeric)
            && text.chars().count() <= LONGEST
            && text.split_whitespace().count() <= MOST_WORDS
            && !text.contains(['\n', '\t'])
            && !text.ends_with(['.', ',', ';', '!', '…', '。']);
        let end = content.text.len();
        if is_title && content.text.ends_with(text) {
            self.0.push(end - text.len()..end);
        }
    }

    /// Makes headings of those that stand directly above text that is none of them. Of several, one after the other, the
    /// last heads the text, and the first of a document is its title.
    pub(super) fn head(&self, content: &mut Content) {
        let starts = self.0.iter().map(|other| other.start).skip(1).chain([content.text.len()]);
        for (own, next) in self.0.iter().zip(starts) {
            let below = content.text.get(own.end..next).unwrap_or_default();
            let is_over_text = below.contains(char::is_alphanumeric);
            let text = content.text.get(own.clone()).unwrap_or_default();
            if is_over_text || own.start == 0 && next < content.text.len() {
                let level = if is_over_text { LEVEL } else { LEVEL - 1 };
                content.headings.push(Heading { bytes: own.clone(), level, text: text.to_owned() });
            }
        }
        content.headings.sort_by_key(|heading| heading.bytes.start);
    }
}
