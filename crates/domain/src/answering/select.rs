//! First step: selects the sentences worth ranking, by their words alone.

use super::AnswerSource;
use super::candidate::{Asked, SentenceCandidate, candidate};
use super::entry::Entry;
use super::form::{asks_for_default, tells_default};
use super::fragment::is_title_line;
use super::listed::Lists;
use super::manual_page::NamedPages;
use super::named_entry::{EntryNames, prefer_about, prefer_asked_for, prefer_codes, prefer_named};
use super::pointer::Pointers;
use super::role::Roles;
use super::section::{RunIn, Section, is_question};
use super::superlative::{Superlative, prefer_extremes};
use super::surroundings::{
    Above, beside, context, entry_begun, opens_with_default, ruling, taken_back, told_below, version_over,
};
use crate::currency;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::markdown::BlockKind;
use crate::wording::named_value;

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
    let asked = Asked {
        question,
        roles: Roles::of(question),
        is_for_default: asks_for_default(&question.asked),
        nearest: sources.iter().filter_map(|source| source.similarity).fold(-1.0, f32::max),
        pointers: Pointers::of(question),
        is_defined: sources.iter().any(|source| question.terms.is_defined_in(source.text)),
        titles: sources.iter().map(|source| source.title).collect(),
    };
    let of_source = |(index, (source, evidence))| of_source(&asked, index, source, evidence);
    let mut found: Vec<SentenceCandidate> = sources.iter().zip(evidence).enumerate().flat_map(of_source).collect();
    let names: Vec<EntryNames<'_>> =
        sources.iter().zip(evidence).map(|(source, evidence)| EntryNames::of(source, evidence)).collect();
    for candidate in &mut found {
        candidate.entry = names.get(candidate.source).and_then(|names| names.begun_over(candidate.block));
    }
    if asked.is_for_default {
        prefer_named(&question.asked, &mut found, &names);
        prefer_about(question, &mut found);
    } else if !question.terms.codes().is_empty() {
        prefer_codes(question.terms.codes(), &mut found, &names);
    } else if question.kind == AnswerKind::Definition {
        prefer_asked_for(&question.asked, &mut found, &names);
    }
    if let Some(superlative) = Superlative::asked_for(&question.asked) {
        prefer_extremes(&superlative, question, sources, &mut found);
    }
    let pages = NamedPages::of(question, asked.titles.iter().copied());
    let title_of = |candidate: &SentenceCandidate| sources.get(candidate.source).map_or("", |source| source.title);
    let is_of_other = |candidate: &SentenceCandidate| pages.are_not(title_of(candidate), &candidate.text);
    if found.iter().any(|candidate| !candidate.is_fragment && !is_of_other(candidate)) {
        found.retain(|candidate| !is_of_other(candidate));
    }
    // Sorting is stable: of equals the one from the better source, and the earlier one, comes first.
    found.sort_by(|one, two| prior(two).total_cmp(&prior(one)));
    found.truncate(MAX_CANDIDATES);
    found
}

fn of_source(
    asked: &Asked<'_>,
    index: usize,
    source: &AnswerSource<'_>,
    evidence: &PassageEvidence,
) -> Vec<SentenceCandidate> {
    let question = asked.question;
    if is_of_another_year(source, question) {
        return Vec::new();
    }
    let lists = Lists::of(source, evidence);
    let mut found = Vec::new();
    let mut before: Option<&SentenceEvidence> = None;
    let mut entry: Option<Entry> = None;
    let mut section = Section::default();
    let mut run_in = RunIn::default();
    let mut block_start = 0;
    for (place, sentence) in evidence.sentences.iter().enumerate() {
        if before.is_none_or(|before| before.block != sentence.block) {
            entry = Entry::begun_by(source.text, sentence);
            block_start = place;
        }
        run_in.read(source.text, sentence);
        let above = Above {
            before,
            entry: entry.as_ref().filter(|entry| entry.range.end <= sentence.range.start),
            heading: run_in.over(source.heading),
        };
        let opens_section = section.is_opened_by(source, sentence);
        let list = lists.led_in_by(&sentence.range);
        if let Some(mut candidate) = candidate(asked, source, evidence, above, (sentence, list)) {
            candidate.behind = source.similarity.map_or(0.0, |own| asked.nearest - own);
            candidate.source = index;
            candidate.place = place;
            candidate.block = sentence.block;
            candidate.beside = question.terms.share(beside(evidence, place));
            let paragraph = evidence.sentences.get(block_start..=place).unwrap_or_default();
            candidate.context = context(source, above, sentence)
                .or_else(|| ruling(question, source, paragraph))
                .or_else(|| entry_begun(source, paragraph))
                .or_else(|| {
                    version_over(question, source, evidence.sentences.get(..place).unwrap_or_default(), sentence)
                });
            if asked.is_for_default && opens_with_default(&candidate.text) {
                candidate.belong_to(source, above, &question.terms);
            }
            if !candidate.holds_kind || asked.is_for_default && !tells_default(&candidate.text) {
                let is_entry = entry.is_some() || opens_section || named_value(&candidate.text).is_some();
                candidate.told_below = told_below(question, source, evidence, (place, is_entry));
            }
            let words_before = before.and_then(|before| source.text.get(before.range.clone())).unwrap_or_default();
            if is_question(words_before) || opens_section && is_question(above.heading) {
                candidate.embed_below(source, above.heading);
            }
            let next = evidence.sentences.get(place + 1);
            candidate.taken_back = taken_back(source, sentence, next);
            let is_last = next.is_none_or(|next| next.block != sentence.block);
            let is_name = |entry: &Entry| entry.range == sentence.range && entry.is_bare(source.text) && !is_last;
            candidate.is_fragment |= entry.as_ref().is_some_and(is_name);
            let is_title = sentence.kind == BlockKind::Paragraph && is_title_line(&candidate.text);
            candidate.is_fragment |= place == 0 && is_last && next.is_some() && source.key.ordinal == 0 && is_title;
            let opened = entry.as_ref().filter(|entry| entry.is_opened_by(source.text, sentence));
            if let Some(entry) = opened {
                candidate.open(asked, source, entry);
            }
            // An entry may say no more than where it is told.
            candidate.is_fragment |= asked.pointers.rule_out(&candidate.text);
            if opens_section && (!asked.is_defined || question.terms.is_defined_by(&candidate.text)) {
                candidate.open_section(asked, source.heading.last().map_or("", String::as_str));
            }
            if let Some(list) = list {
                candidate.go_on_with(source, list, &question.terms);
            }
            found.push(candidate);
        }
        if let Some(entry) = entry.as_mut().filter(|entry| entry.is_bare(source.text)) {
            entry.range.end = sentence.range.end;
        }
        before = Some(sentence);
    }
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
