//! Where the sections of a source begin.

use super::AnswerSource;
use super::candidate::below_heading;
use super::form::ends_like_sentence;
use crate::evidence::passage::SentenceEvidence;
use crate::markdown::BlockKind;

/// The section that is being read.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// Whether its heading was read and no sentence since.
    is_new: bool,
}

impl Section {
    /// Whether the next sentence is the first one below the heading of its section; labels are none.
    pub(super) fn is_opened_by(&mut self, source: &AnswerSource<'_>, next: &SentenceEvidence) -> bool {
        let words = source.text.get(next.range.clone()).unwrap_or_default();
        let is_heading = source.heading.last().is_some_and(|heading| heading == words.trim());
        if next.kind == BlockKind::Heading || is_heading {
            self.is_new = true;
            return false;
        }
        let is_below = self.is_new || below_heading(source, next.range.clone()) != next.range;
        let opens = is_below && next.kind == BlockKind::Paragraph && ends_like_sentence(words);
        self.is_new &= !opens;
        opens
    }
}
