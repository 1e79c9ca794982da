//! Where the sections of a source begin, and what stands above a sentence instead of a heading.

use super::AnswerSource;
use super::candidate::below_heading;
use super::fragment::ends_like_sentence;
use crate::evidence::passage::SentenceEvidence;
use crate::markdown::{BlockKind, is_bold};

/// Most words of a bold sentence that is a label.
const MOST_OF_LABEL: usize = 5;

/// The same of one that does not end like a sentence.
const MOST_OF_TITLE: usize = 9;

/// Longest sign before a question, as in `Question 12:`.
const LONGEST_SIGN: usize = 10;

/// Signs of emphasis and of quotation around a sentence.
const AROUND: [char; 8] = ['*', '_', '`', '"', '“', '”', ' ', '\n'];

/// Whether a sentence asks, emphasis around it aside: in an answer it would ask back.
pub(super) fn is_question(words: &str) -> bool {
    words.trim_end_matches(AROUND).ends_with(['?', '？'])
}

/// Whether words of a source are one of the headings above it. Those of formats without Markdown signs stand as plain
/// lines; a question may be in bold or behind `Q:`, and be of several sentences.
pub(super) fn is_own_heading(source: &AnswerSource<'_>, words: &str) -> bool {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_matches(['*', '_', ' ']);
    let is_part = |heading: &String| is_question(heading) && is_question(line) && heading.contains(unmarked(line));
    !line.is_empty() && source.heading.iter().any(|heading| heading == line || is_part(heading))
}

/// A question without the sign before it.
fn unmarked(line: &str) -> &str {
    let sign = line.split_once(':').filter(|(sign, _)| sign.len() <= LONGEST_SIGN && !sign.contains(' '));
    sign.map_or(line, |(_, words)| words.trim_start_matches(['*', '_', ' ']))
}

/// A sentence that stands above others instead of a heading: the question of a list of questions, a label in bold
/// ("**Cause.**").
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunIn<'t> {
    words: &'t str,
    block: usize,
    /// The last heading within the passage.
    heading: &'t str,
}

impl<'t> RunIn<'t> {
    /// Reads the next sentence; what it stands under is then [`Self::over`].
    pub(super) fn read(&mut self, text: &'t str, next: &SentenceEvidence) {
        let words = text.get(next.range.clone()).unwrap_or_default().trim();
        if next.kind == BlockKind::Heading {
            *self = Self { heading: words, ..Self::default() };
        } else if is_question(words) || is_label(words) {
            (self.words, self.block) = (words, next.block);
        } else if next.block > self.block + 1 {
            self.words = "";
        }
    }

    /// The line over a sentence that was read: the question or the label, else the innermost heading.
    pub(super) fn over(self, heading: &'t [String]) -> &'t str {
        let above = [self.words, self.heading].into_iter().find(|line| !line.is_empty());
        above.unwrap_or_else(|| heading.last().map_or("", String::as_str))
    }
}

/// Whether a sentence is a label in bold: brief, or not written as a sentence.
pub(super) fn is_label(words: &str) -> bool {
    if !is_bold(words) {
        return false;
    }
    let most = if ends_like_sentence(words.trim_end_matches(AROUND)) { MOST_OF_LABEL } else { MOST_OF_TITLE };
    words.split_whitespace().count() <= most
}

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
        if next.kind == BlockKind::Heading || is_own_heading(source, words) {
            self.is_new = true;
            return false;
        }
        let is_below = self.is_new || below_heading(source, next.range.clone()) != next.range;
        let opens = is_below && next.kind == BlockKind::Paragraph && ends_like_sentence(words);
        self.is_new &= !opens;
        opens
    }
}
