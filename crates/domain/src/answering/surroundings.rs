//! The text around a sentence, which tells what it is about.

use std::ops::Range;

use super::AnswerSource;
use super::candidate::below_heading;
use super::entry::Entry;
use super::fragment::is_fragment;
use super::quote::{plain_line, quotable};
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::wording::{answers_yes_or_no, lower_case_words};

/// Longest sentence, in bytes, that is brought as context.
const LONGEST_CONTEXT: usize = 400;

/// Words that point back when a sentence starts with them.
const POINTING_BACK: [&str; 26] = [
    "he",
    "she",
    "it",
    "they",
    "this",
    "that",
    "these",
    "those",
    "his",
    "her",
    "its",
    "their",
    "him",
    "them",
    "such",
    "both",
    "however",
    "therefore",
    "thus",
    "hence",
    "instead",
    "otherwise",
    "consequently",
    "moreover",
    "default",
    "defaults",
];

/// Openings of a sentence about what the one before tells, or leaves out.
const OPENINGS_BACK: [&str; 10] = [
    "if omitted",
    "if unset",
    "if not set",
    "if not given",
    "for this reason",
    "for that reason",
    "because of this",
    "as a result",
    "the default is",
    "the default value is",
];

/// Words that begin an exception.
const EXCEPTIONS: [&str; 4] = ["if", "except", "unless", "otherwise"];

/// The text above a sentence that tells what it is about.
#[derive(Clone, Copy)]
pub(super) struct Above<'e> {
    /// The sentence before.
    pub(super) before: Option<&'e SentenceEvidence>,
    /// The entry that it is a part of.
    pub(super) entry: Option<&'e Entry>,
    /// The question or the label that it stands under, else the innermost heading.
    pub(super) heading: &'e str,
}

impl Above<'_> {
    /// Question terms in it.
    pub(super) fn mask(self) -> TermMask {
        self.before.map_or(0, |before| before.mask) | self.entry.map_or(0, |entry| entry.mask)
    }
}

/// Question terms in the sentence before one, and those in the one after it that it does not hold itself.
pub(super) fn beside(evidence: &PassageEvidence, place: usize) -> TermMask {
    let mask = |place: Option<usize>| place.and_then(|place| evidence.sentences.get(place)).map_or(0, |held| held.mask);
    mask(place.checked_sub(1)) | mask(place.checked_add(1)) & !mask(Some(place))
}

/// The text that stands before a sentence of the same paragraph and without which the sentence would mislead: the yes or no
/// that it explains, or the rule of which it tells the exception.
pub(super) fn ruling(
    question: &Question,
    source: &AnswerSource<'_>,
    paragraph: &[SentenceEvidence],
) -> Option<(Range<usize>, String)> {
    let (sentence, before) = paragraph.split_last()?;
    let words = |sentence: &SentenceEvidence| source.text.get(sentence.range.clone()).unwrap_or_default();
    let rules = |before: &&SentenceEvidence| match question.kind {
        AnswerKind::YesNo => answers_yes_or_no(words(before)),
        kind => kind.is_held_by(&question.text, words(before)),
    };
    let rule = match question.kind {
        AnswerKind::YesNo if !answers_yes_or_no(words(sentence)) => before.iter().rfind(rules),
        AnswerKind::Number | AnswerKind::Date if is_exception(words(sentence)) && !is_exception_asked(question) => {
            before.last().filter(rules)
        }
        _ => None,
    }?;
    let text = plain_line(words(rule))?;
    (text.len() <= LONGEST_CONTEXT).then(|| (rule.range.clone(), text))
}

/// Whether a sentence tells what holds in some cases only.
fn is_exception(sentence: &str) -> bool {
    lower_case_words(sentence).next().is_some_and(|word| EXCEPTIONS.contains(&word.as_str()))
}

fn is_exception_asked(question: &Question) -> bool {
    lower_case_words(&question.text).any(|word| EXCEPTIONS.contains(&word.as_str()))
}

/// The beginning of the entry or the sentence before, if `sentence` points back, or the name of its entry is asked for, and
/// it can stand in an answer.
pub(super) fn context(
    source: &AnswerSource<'_>,
    above: Above<'_>,
    sentence: &SentenceEvidence,
    is_for_entry: bool,
) -> Option<(Range<usize>, String)> {
    let words = source.text.get(sentence.range.clone())?;
    let first = words.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?.to_lowercase();
    let opens = |opening: &&str| words.get(..opening.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(opening));
    let points_back = POINTING_BACK.contains(&first.as_str()) || OPENINGS_BACK.iter().any(opens);
    if !(points_back || is_for_entry && above.entry.is_some()) {
        return None;
    }
    let before = above.before.filter(|before| before.block == sentence.block).map(|before| &before.range);
    let said = above.entry.map(|entry| &entry.range).or(before).filter(|said| said.len() <= LONGEST_CONTEXT)?;
    let said = below_heading(source, said.clone());
    let words = source.text.get(said.clone())?;
    // "Yes." is short and says all.
    let text = quotable(words).or_else(|| plain_line(words).filter(|_| answers_yes_or_no(words)));
    Some((said, text.filter(|text| !is_fragment(text))?))
}
