//! First step: selects the sentences worth ranking, by their words alone.

use super::AnswerSource;
use super::asked::Asked;
use super::candidate::SentenceCandidate;
use super::named_entry::{EntryNames, prefer_about, prefer_asked_for, prefer_codes, prefer_named};
use super::sentence_reader::SentenceReader;
use super::setting::{self, Field};
use super::superlative::{Superlative, prefer_extremes};
use crate::currency;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::PassageEvidence;
use crate::subject::AskedSubjects;

/// Most candidates: embedding them is the costly part of an extractive answer.
pub const MAX_CANDIDATES: usize = 32;

/// The sentences of `sources` that share most with the question, at most [`MAX_CANDIDATES`], best
/// first. `evidence` runs parallel to `sources` and is made of the same texts.
#[must_use]
pub fn candidates(
    question: &Question,
    sources: &[AnswerSource<'_>],
    evidence: &[PassageEvidence],
) -> Vec<SentenceCandidate> {
    let asked = Asked::of(question, sources);
    let mut found: Vec<SentenceCandidate> = Vec::new();
    for (index, (source, evidence)) in sources.iter().zip(evidence).enumerate() {
        if !is_of_another_year(source, question) {
            found.extend(SentenceReader::of(&asked, index, source, evidence).candidates());
        }
    }
    let names: Vec<EntryNames<'_>> =
        sources.iter().zip(evidence).map(|(source, evidence)| EntryNames::of(source, evidence)).collect();
    let subjects = AskedSubjects::of(question, sources.iter().map(AnswerSource::label));
    for candidate in &mut found {
        candidate.said = subjects.said_of_it(candidate.held);
        candidate.entry = names.get(candidate.source).and_then(|names| names.begun_over(candidate.block));
    }
    if asked.form.is_for_default {
        prefer_named(&question.asked, &mut found, &names);
        prefer_about(question, &mut found);
        setting::prefer_headed(question, &mut found);
    } else if !question.terms.codes().is_empty() {
        prefer_codes(question.terms.codes(), &mut found, &names);
    } else if question.kind == AnswerKind::Definition {
        prefer_asked_for(&question.asked, &mut found, &names);
    }
    if let Some(field) = Field::asked_for(&asked.form) {
        setting::prefer_asked(field, question, sources, evidence, &mut found);
    }
    if let Some(superlative) = Superlative::asked_for(&question.asked) {
        prefer_extremes(&superlative, question, sources, &mut found);
    }
    let is_of_other = |candidate: &SentenceCandidate| {
        let source = sources.get(candidate.source);
        source.is_some_and(|source| subjects.is_of_other(source.label(), source.heading, &candidate.text))
    };
    if found.iter().any(|candidate| !candidate.is_fragment && !is_of_other(candidate)) {
        found.retain(|candidate| !is_of_other(candidate));
    }
    // Sorting is stable: of equals the one from the better source, and the earlier one, comes first.
    found.sort_by(|one, two| prior(two).total_cmp(&prior(one)));
    found.truncate(MAX_CANDIDATES);
    found
}

/// Whether what a source says is of another year than the question names.
pub(super) fn is_of_another_year(source: &AnswerSource<'_>, question: &Question) -> bool {
    let titles = std::iter::once(source.title).chain(source.heading.iter().map(String::as_str));
    let texts = source.table_header.into_iter().chain([source.text]);
    currency::is_of_another_year(&question.text, titles, texts)
}

/// Lexical score plus a small share of the source's own probability, so that a good passage contributes sentences even
/// if they share no word with the question, the bonus of the form that is asked for, and what its heading says of the question.
fn prior(candidate: &SentenceCandidate) -> f32 {
    candidate.lexical + 0.2 * candidate.probability + candidate.bonus + candidate.opens + candidate.headed
}
