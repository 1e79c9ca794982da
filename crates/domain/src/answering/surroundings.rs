//! The text around a sentence, which tells what it is about.

use std::ops::Range;

use super::AnswerSource;
use super::asked::{Asked, Heading};
use super::candidate::below_heading;
use super::entry::Entry;
use super::form::tells_default;
use super::fragment::is_fragment;
use super::quote::{plain_line, quotable};
use super::row::tells_scale;
use super::section::is_own_heading;
use super::sentence_reader::SentenceReader;
use crate::entry_label::{entry_label, is_field, is_written_as_name};
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, QuestionTerms, TermMask};
use crate::markdown::BlockKind;
use crate::release_notes::{names_release, names_version};
use crate::wording::{answers_yes_or_no, denies, has_digit, is_version, lower_case_words};

/// Longest sentence, in bytes, that is brought as context.
const LONGEST_CONTEXT: usize = 400;

/// Longest sentence, in bytes, that is brought because it names the entry.
const LONGEST_NAMING: usize = 200;

/// Longest entry or section, in bytes, of which another sentence tells the number or the date.
const LONGEST_UNIT: usize = 420;

/// Words that point back at several things when a sentence starts with them.
const AT_SEVERAL: [&str; 6] = ["both", "these", "they", "those", "their", "such"];

/// Other words that point back.
const POINTING_BACK: [&str; 20] = [
    "he",
    "she",
    "it",
    "this",
    "that",
    "his",
    "her",
    "its",
    "him",
    "them",
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
const OPENINGS_BACK: [&str; 8] = [
    "if omitted",
    "if unset",
    "if not set",
    "if not given",
    "for this reason",
    "for that reason",
    "because of this",
    "as a result",
];

/// The same of one that tells the default of what the paragraph before is about.
const OPENINGS_OF_DEFAULT: [&str; 4] =
    ["the default is", "the default value is", "by default, this is", "by default it is"];

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
    pub(super) heading: &'e Heading<'e>,
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
        kind => kind.is_held_by(&question.known, words(before)),
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

/// The sentence that begins the entry of an option or a setting, whose last sentence here goes on with it: without the name it
/// says what happens, and not by what.
pub(super) fn entry_begun(source: &AnswerSource<'_>, paragraph: &[SentenceEvidence]) -> Option<(Range<usize>, String)> {
    let [first, .., _] = paragraph else { return None };
    let words = source.text.get(first.range.clone())?;
    let name = entry_label(words)?.split_whitespace().next()?;
    let text = plain_line(words).filter(|_| name.starts_with('-') || is_written_as_name(name) && !is_field(name))?;
    (text.len() <= LONGEST_NAMING).then(|| (first.range.clone(), text))
}

/// The line above the table of a row that tells the scale of its figures, where the row, as it is quoted, does not.
pub(super) fn scale_over(
    source: &AnswerSource<'_>,
    above: &[SentenceEvidence],
    row: &SentenceEvidence,
    quoted: &str,
) -> Option<(Range<usize>, String)> {
    let header = row.header.as_ref().filter(|_| has_digit(quoted) && !tells_scale(quoted))?;
    let caption = above.iter().rfind(|sentence| sentence.range.end <= header.start)?;
    let words = source.text.get(caption.range.clone()).filter(|words| tells_scale(words))?;
    let text = plain_line(words).filter(|text| text.len() <= LONGEST_NAMING)?;
    Some((caption.range.clone(), text))
}

/// A heading that is the name of what is asked for, and the bonus of a sentence below it, which tells what that does and not how
/// it is called.
pub(super) fn name_over(
    asked: &Asked<'_>,
    source: &AnswerSource<'_>,
    heading: &SentenceEvidence,
    sentence: &str,
) -> Option<((Range<usize>, String), f32)> {
    let words = source.text.get(heading.range.clone())?;
    let bonus = asked.form.bonus_below(words, sentence)?;
    Some(((heading.range.clone(), plain_line(words)?), bonus))
}

/// The nearest heading above a sentence that names a version, where the question is for one and the sentence has none, or the
/// heading begins with it: release notes tell it once for all that is new, whose sentences name other versions. There it also tells
/// the date that is asked for.
pub(super) fn version_over(
    reader: &SentenceReader<'_>,
    above: &[SentenceEvidence],
    sentence: &SentenceEvidence,
) -> Option<(Range<usize>, String)> {
    let SentenceReader { asked, source, is_release_notes, .. } = reader;
    let tells_date = *is_release_notes && asked.question.kind == AnswerKind::Date;
    if !asked.is_for_version && !tells_date {
        return None;
    }
    let words = |sentence: &SentenceEvidence| source.text.get(sentence.range.clone()).unwrap_or_default();
    // "Fixed" stands below the version.
    let is_over = |heading: &&SentenceEvidence| !is_release_notes || names_release(words(heading));
    let heading = above.iter().filter(|above| above.kind == BlockKind::Heading).rfind(is_over)?;
    if tells_date && names_another(&asked.question.terms, heading, sentence) {
        return None;
    }
    let is_release = *is_release_notes && names_version(words(heading));
    let begins_with_it = is_release || words(heading).split_whitespace().next().is_some_and(names_version);
    (begins_with_it || names_version(words(heading)) && !names_version(words(sentence))).then_some(())?;
    Some((heading.range.clone(), plain_line(words(heading))?))
}

/// Whether a question names another version than the one that a line stands under, which the line may be about, or something that
/// neither of them does.
fn names_another(terms: &QuestionTerms, heading: &SentenceEvidence, line: &SentenceEvidence) -> bool {
    let versions = terms.mask_where(|term| is_version(&term.word));
    versions & !heading.mask != 0 || terms.all_identifiers() & !heading.mask & !line.mask != 0
}

/// The next sentence of the paragraph, if it takes back a part of what the one before denies.
pub(super) fn taken_back(
    source: &AnswerSource<'_>,
    sentence: &SentenceEvidence,
    next: Option<&SentenceEvidence>,
) -> Option<(Range<usize>, String)> {
    let next = next.filter(|next| next.block == sentence.block)?;
    let words = |sentence: &SentenceEvidence| source.text.get(sentence.range.clone()).unwrap_or_default();
    let first = lower_case_words(words(next)).next()?;
    let turns = matches!(first.as_str(), "however" | "but" | "instead");
    let text = (turns && denies(words(sentence))).then(|| plain_line(words(next)))??;
    (text.len() <= LONGEST_CONTEXT).then(|| (next.range.clone(), text))
}

/// The sentence below one, in the same paragraph or brief section, that tells the number or the date asked for: "-c number: is
/// the number of blocks tested at a time. The default is 64." Within an entry or below its heading that is any; in running
/// text one that tells a default.
pub(super) fn told_below(
    asked: &Asked<'_>,
    source: &AnswerSource<'_>,
    evidence: &PassageEvidence,
    (place, is_entry): (usize, bool),
) -> Option<(Range<usize>, String)> {
    let (question, is_for_default) = (asked.question, asked.form.is_for_default);
    let is_for_value = matches!(question.kind, AnswerKind::Number | AnswerKind::Date);
    if !is_for_value && !is_for_default {
        return None;
    }
    let words = |sentence: &SentenceEvidence| source.text.get(sentence.range.clone()).unwrap_or_default();
    let (first, below) = evidence.sentences.get(place..)?.split_first()?;
    let is_below = |next: &&SentenceEvidence| next.kind == BlockKind::Paragraph && !is_own_heading(source, words(next));
    let section: Vec<&SentenceEvidence> = below.iter().take_while(is_below).collect();
    let ends_near = |last: &SentenceEvidence| last.range.end <= first.range.start + LONGEST_UNIT;
    let is_brief = section.last().is_some_and(|last| ends_near(last));
    let unit = section.into_iter().filter(|next| is_brief || next.block == first.block && ends_near(next));
    let measure = question.measure.filter(|_| question.kind == AnswerKind::Number);
    let is_asked = |text: &str| {
        let is_measured = || measure.is_none_or(|measure| measure.is_told_by(text) || tells_default(text));
        let is_value = || question.kind.is_held_by(&question.known, text) && is_measured();
        (!is_for_default || tells_default(text)) && (!is_for_value || is_value())
    };
    let told: Vec<&SentenceEvidence> = unit.filter(|next| is_asked(words(next))).collect();
    let default = told.iter().find(|next| tells_default(words(next)));
    let best = default.or_else(|| told.first().filter(|_| is_entry))?;
    Some((best.range.clone(), plain_line(words(best))?))
}

/// Whether a sentence tells what holds in some cases only.
fn is_exception(sentence: &str) -> bool {
    lower_case_words(sentence).next().is_some_and(|word| EXCEPTIONS.contains(&word.as_str()))
}

fn is_exception_asked(question: &Question) -> bool {
    lower_case_words(&question.text).any(|word| EXCEPTIONS.contains(&word.as_str()))
}

/// Whether a sentence stands in brackets as a whole, so that it only adds to the one before.
fn is_in_brackets(sentence: &str) -> bool {
    let inner = sentence.strip_prefix('(').and_then(|rest| rest.trim_end_matches('.').strip_suffix(')'));
    inner.is_some_and(|inner| !inner.contains(['(', ')']))
}

/// Whether a sentence begins with a word for several things that were named before it.
pub(super) fn points_at_several(sentence: &str) -> bool {
    lower_case_words(sentence).next().is_some_and(|word| AT_SEVERAL.contains(&word.as_str()))
}

/// Whether a sentence begins with a default, and does not say of what.
pub(super) fn opens_with_default(sentence: &str) -> bool {
    let first = lower_case_words(sentence).next();
    first.is_some_and(|word| word == "default" || word == "defaults") || opens_with(sentence, &OPENINGS_OF_DEFAULT)
}

/// Whether a sentence begins with one of these words.
fn opens_with(sentence: &str, openings: &[&str]) -> bool {
    let opens = |opening: &&str| sentence.get(..opening.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(opening));
    openings.iter().any(opens)
}

/// The beginning of the entry or the sentence before, if `sentence` points back and it can stand in an answer.
pub(super) fn context(
    source: &AnswerSource<'_>,
    above: Above<'_>,
    sentence: &SentenceEvidence,
) -> Option<(Range<usize>, String)> {
    let words = source.text.get(sentence.range.clone())?;
    let first = words.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?.to_lowercase();
    let tells_default = opens_with(words, &OPENINGS_OF_DEFAULT);
    let points_back = tells_default
        || is_in_brackets(words)
        || AT_SEVERAL.contains(&first.as_str())
        || POINTING_BACK.contains(&first.as_str())
        || opens_with(words, &OPENINGS_BACK);
    if !points_back {
        return None;
    }
    let is_about_it = |before: &&SentenceEvidence| {
        before.block == sentence.block || tells_default && before.kind == BlockKind::Paragraph
    };
    let before = above.before.filter(is_about_it).map(|before| &before.range);
    let said = above.entry.map(|entry| &entry.range).or(before).filter(|said| said.len() <= LONGEST_CONTEXT)?;
    let said = below_heading(source, said.clone());
    let words = source.text.get(said.clone())?;
    // "Yes." is short and says all.
    let text = quotable(words).or_else(|| plain_line(words).filter(|_| answers_yes_or_no(words)));
    Some((said, text.filter(|text| !is_fragment(text))?))
}

#[cfg(test)]
mod tests {
    use crate::answering::tests::answer_below;

    const NOTES: &str = "## Release v2.4.15\n* Add jar 3.12.2 and 3.11.9 by @ada in #12\n* Fix jar 3.12.3 by @bob in #13\n\n## 2.4.14 (2024-01-31)\n* pump: fix lids of glass\n* Add a mark to jar rings\n* Add jar rings of brass by @bob\n* Add lids of tin by @ada in #10\n* Add a list of versions of Jar\n* Corks of wood fit the jar";

    #[test]
    fn a_line_of_release_notes_is_told_with_its_version() {
        for (question, version, line) in [
            ("Which version added jar 3.12.2?", "Release v2.4.15 [^1]", "Add jar 3.12.2"),
            ("Which version fixed lids of glass?", "2.4.14 (2024-01-31) [^1]", "pump: fix lids of glass"),
            ("In which version were lids of tin added?", "2.4.14 (2024-01-31) [^1]", "Add lids of tin"),
            ("Which version added jar rings?", "2.4.14 (2024-01-31) [^1]", "Add jar rings of brass"),
            ("Which Jar version added corks of wood?", "2.4.14 (2024-01-31) [^1]", "Corks of wood"),
            ("Which version added lids?", "2.4.14 (2024-01-31) [^1]", "Add lids of tin"),
        ] {
            let said = answer_below(question, &["Jar Changelog"], NOTES);
            assert!(said.starts_with(version) && said.contains(line), "{question} {said}");
        }
        let said = answer_below("Which version added lids?", &["Jar Changelog"], NOTES);
        assert!(!said.contains("fix"), "{said}");
    }
}
