//! Settings of a reference: a section that is headed by the name of a setting, lists its fields ("Default: 15", "Type: Number"), and
//! tells what it is for. English only.

use std::ops::Range;

use super::AnswerSource;
use super::candidate::SentenceCandidate;
use super::quote::plain_line;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::markdown::BlockKind;
use crate::wording::bare;

/// Bonus of the default of the setting that a question for one is about; the other scores range from 0 to about 1.
const OF_ASKED: f32 = 0.8;

/// Share of a question's weight in the setting that it is about.
const MOSTLY_ABOUT: f32 = 0.5;

/// Signs of a list and of emphasis around a field.
const AROUND: [char; 5] = ['*', '_', '`', '-', ' '];

/// The default of a setting.
struct Setting<'t> {
    source: usize,
    /// The field that tells it.
    default: Range<usize>,
    text: &'t str,
    /// The heading over it, if it is part of the source.
    heading: Option<Heading<'t>>,
    /// Question terms in its heading, its fields and what it is for.
    mask: TermMask,
}

/// The name of a setting.
struct Heading<'t> {
    range: Range<usize>,
    text: &'t str,
    mask: TermMask,
}

/// Whether a text is the field of a setting that tells its default.
pub(super) fn is_default_field(text: &str) -> bool {
    let field = text.trim_start_matches(AROUND).split_once(':');
    field.is_some_and(|(label, value)| {
        let label = label.trim_matches(AROUND);
        let is_default = label.eq_ignore_ascii_case("default") || label.eq_ignore_ascii_case("default value");
        is_default && !value.trim_matches(AROUND).is_empty()
    })
}

/// Prefers the default of the setting that a question for one is about to those of the settings around it, and begins it with
/// its name.
pub(super) fn prefer_asked(
    question: &Question,
    sources: &[AnswerSource<'_>],
    evidence: &[PassageEvidence],
    found: &mut [SentenceCandidate],
) {
    let read = sources.iter().zip(evidence).enumerate();
    let settings: Vec<Setting<'_>> =
        read.flat_map(|(index, (source, evidence))| settings(index, source.text, &evidence.sentences)).collect();
    let asked = asked_for(question, &settings);
    for candidate in found {
        let is_of = |setting: &&Setting<'_>| {
            candidate.source == setting.source && candidate.range.start == setting.default.start
        };
        if let Some(asked) = asked.filter(is_of) {
            (candidate.is_fragment, candidate.holds_kind) = (false, true);
            candidate.bonus += OF_ASKED;
            let name = asked.heading.as_ref();
            candidate.context = name.and_then(|name| Some((name.range.clone(), plain_line(name.text)?)));
        } else if settings.iter().any(|setting| is_of(&setting)) {
            // Without its name it is anything's.
            candidate.is_fragment = true;
        }
    }
}

/// The setting that holds most of a question, of several the one that is named, or else whose name holds most; `None` if two
/// different ones do.
fn asked_for<'s, 't>(question: &Question, settings: &'s [Setting<'t>]) -> Option<&'s Setting<'t>> {
    let weight = |mask: TermMask| question.terms.weight_of(mask);
    let words: Vec<&str> = question.asked.split_whitespace().map(bare).collect();
    let held = |setting: &Setting<'_>| {
        let heading = setting.heading.as_ref();
        let is_named = heading.is_some_and(|heading| words.contains(&bare(heading.text)));
        let by_name = if is_named { f32::INFINITY } else { heading.map_or(0.0, |heading| weight(heading.mask)) };
        [weight(setting.mask), by_name]
    };
    let is_more = |one: &Setting<'_>, other: &Setting<'_>| held(one) > held(other);
    // Of equals the one of the better source.
    let best = settings.iter().reduce(|best, next| if is_more(next, best) { next } else { best })?;
    let is_rival = |other: &Setting<'_>| !is_more(best, other) && other.text != best.text;
    let is_sure = question.terms.share(best.mask) >= MOSTLY_ABOUT && !settings.iter().any(is_rival);
    is_sure.then_some(best)
}

fn settings<'t>(source: usize, text: &'t str, sentences: &[SentenceEvidence]) -> Vec<Setting<'t>> {
    let words = |sentence: &SentenceEvidence| text.get(sentence.range.clone()).unwrap_or_default();
    let begins = |_: &SentenceEvidence, next: &SentenceEvidence| next.kind != BlockKind::Heading;
    let sections = sentences.chunk_by(begins);
    let setting = |section: &[SentenceEvidence]| {
        let default = section.iter().find(|sentence| is_default_field(words(sentence)))?;
        let heading = section.first().filter(|first| first.kind == BlockKind::Heading);
        let named = |heading: &SentenceEvidence| Heading {
            range: heading.range.clone(),
            text: words(heading),
            mask: heading.mask,
        };
        Some(Setting {
            source,
            default: default.range.clone(),
            text: words(default),
            heading: heading.map(named),
            mask: section.iter().fold(0, |mask, sentence| mask | sentence.mask),
        })
    };
    sections.filter_map(setting).collect()
}

#[cfg(test)]
mod tests {
    use crate::answering::tests::text;

    const SETTINGS: &str = "## Settings\n\n#### `maxjars`\n\n* Default: 15\n* Type: Number\n\nThe maximum number of jars to fill per shelf (left/right/both).\n\n#### `jar-retries`\n\n* Default: 2\n* Type: Number\n\nThe \"retries\" config for the `pump` module to use when filling jars.\n\n#### `jar-retry-wait`\n\n* Default: 60000 (1 minute)\n* Type: Number\n\nThe \"wait\" config for the `pump` module to use when filling jars.\n\n#### `registry`\n\n* Default: \"https://jars.example.org/\"\n* Type: URL\n\nThe base URL of the jar registry.\n";

    #[test]
    fn a_default_is_that_of_the_setting_that_is_asked_for() {
        for (question, expected) in [
            ("What is the default value of maxjars?", "`maxjars` [^1]\n\nDefault: 15 [^1]"),
            ("What is the maximum number of jars per shelf by default?", "`maxjars` [^1]\n\nDefault: 15 [^1]"),
            ("What is the default of jar-retries?", "`jar-retries` [^1]\n\nDefault: 2 [^1]"),
            ("What is the default registry?", "`registry` [^1]\n\nDefault: \"https://jars.example.org/\" [^1]"),
        ] {
            assert_eq!(text(question, &[SETTINGS]), expected, "{question}");
        }
    }

    #[test]
    fn nothing_else_is_given_its_default() {
        for question in ["What is the default of lid-color?", "What is the type of the registry?"] {
            let said = text(question, &[SETTINGS]);
            assert!(!said.contains("Default"), "{question} {said}");
        }
    }
}
