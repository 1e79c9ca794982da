//! Second step: the best one to three sentences, with their markers.

use std::fmt::Write as _;
use std::ops::Range;

use super::candidate::SentenceCandidate;
use super::choose::{Scored, answer_by_part, one_answer};
use super::confidence::Features;
use super::form::names_option;
use super::parts::parts;
use super::{ExtractiveAnswer, QuotedSentence};
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::grading::question::is_named;
use crate::sentence::sentences;

/// Score bonus for holding the kind of thing asked for; the other scores range from 0 to 1.
const KIND_BONUS: f32 = 0.15;

/// Weight of question terms that stay neighbours; the other scores range from 0 to 1.
const PAIRS_WEIGHT: f32 = 0.1;

/// Weight of question terms in the first cell of a row; the other scores range from 0 to 1.
const NAMED_WEIGHT: f32 = 0.3;

/// Weight of a title that the question names; the other scores range from 0 to 1.
const ABOUT_WEIGHT: f32 = 0.2;

/// Weight of a heading that is nearly the question, as in a list of questions; the other scores range from 0 to 1.
const HEADED_WEIGHT: f32 = 0.3;

/// Share of the best score from which a sentence that names a person answers a question for one before others.
const NAMES_PERSON: f32 = 0.8;

/// Weight of the source's probability; the other scores range from 0 to 1.
const SOURCE_WEIGHT: f32 = 0.45;

/// Cosine below which a sentence without a word of the question is no answer to it.
const LEAST_COSINE: f32 = 0.35;

/// Writes the answer, or returns `None` when no candidate is related to the question.
///
/// `cosines` runs parallel to `candidates`: question against [`SentenceCandidate::text`]. Without it,
/// or with another length, words alone decide.
#[must_use]
pub fn compose(
    question: &Question,
    candidates: &[SentenceCandidate],
    cosines: Option<&[f32]>,
) -> Option<ExtractiveAnswer> {
    let cosines = cosines.filter(|cosines| cosines.len() == candidates.len());
    let mut ranked = rank(candidates, cosines);
    let options = question.terms.options();
    ranked.retain(|(candidate, _)| !candidate.is_fragment && names_option(&candidate.text, &options));
    let parts = parts(question);
    if parts.is_empty() {
        begin_with_an_answer(question, &mut ranked);
    }
    let choice =
        if parts.is_empty() { one_answer(question, &ranked) } else { answer_by_part(question, &ranked, &parts) };
    let cosine = |candidate: &SentenceCandidate| {
        let place = candidates.iter().position(|other| std::ptr::eq(other, candidate));
        place.and_then(|place| cosines?.get(place)).copied().unwrap_or(0.0)
    };
    let features = Features::of(question, *choice.sentences.first()?, &ranked, cosine);
    let mut answer = write(&in_reading_order(choice.sentences), features);
    answer.name_missing(&choice.missing);
    Some(answer)
}

/// Leaves out what ranks above the first sentence that can answer: sentences about something else than the weightiest name
/// of the question, for "how many" and "when" those without a number or a date, for "who" those without a person if one follows closely, for a
/// definition those that neither hold the weightiest word of the question nor have the form of an entry or a definition.
fn begin_with_an_answer(question: &Question, ranked: &mut Vec<Scored<'_>>) {
    let terms = question.terms.terms().iter().enumerate();
    let heaviest = terms.max_by(|(_, one), (_, two)| one.weight.total_cmp(&two.weight));
    let weightiest = heaviest.map_or(0, |(position, _)| 1 << position);
    let name = heaviest.filter(|(_, term)| is_named(&question.text, &term.word)).map_or(0, |_| weightiest);
    let may_answer = |candidate: &SentenceCandidate| match question.kind {
        AnswerKind::Number | AnswerKind::Date => candidate.holds_kind,
        AnswerKind::Definition => candidate.mask & weightiest != 0 || candidate.bonus > 0.0,
        _ => true,
    };
    let first = |may: &dyn Fn(&Scored<'_>) -> bool| ranked.iter().position(may);
    let is_named = |(candidate, _): &Scored<'_>| candidate.held & name == name;
    let answers = first(&|scored| may_answer(scored.0) && is_named(scored)).or_else(|| first(&is_named)).unwrap_or(0);
    ranked.drain(..answers);
    let highest = ranked.first().map_or(0.0, |(_, score)| *score);
    let names_person = |(candidate, score): &Scored<'_>| candidate.fit >= 1.0 && *score >= NAMES_PERSON * highest;
    if question.kind == AnswerKind::Person
        && let Some(person) = ranked.iter().position(names_person)
    {
        ranked.drain(..person);
    }
}

/// Candidates that are related to the question, best first.
pub(super) fn rank<'c>(candidates: &'c [SentenceCandidate], cosines: Option<&[f32]>) -> Vec<Scored<'c>> {
    let top = candidates.iter().map(|candidate| candidate.lexical).fold(0.0, f32::max);
    let mut ranked: Vec<Scored<'_>> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let cosine = cosines.map(|cosines| cosines.get(index).copied().unwrap_or(0.0));
            let is_related = candidate.mask != 0 || candidate.bonus > 0.0;
            if !is_related && cosine.unwrap_or(0.0) < LEAST_COSINE {
                return None;
            }
            let lexical = if top > 0.0 { candidate.lexical / top } else { 0.0 };
            let base = cosine.map_or(lexical, |cosine| f32::midpoint(lexical, cosine.max(0.0)));
            Some((
                candidate,
                base + KIND_BONUS * candidate.fit
                    + PAIRS_WEIGHT * candidate.pairs
                    + NAMED_WEIGHT * candidate.named
                    + ABOUT_WEIGHT * candidate.about
                    + HEADED_WEIGHT * candidate.headed
                    + candidate.bonus
                    + SOURCE_WEIGHT * candidate.probability,
            ))
        })
        .collect();
    ranked.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    ranked
}

/// Best first, but sentences of one source stand in that source's order.
fn in_reading_order(mut chosen: Vec<Scored<'_>>) -> Vec<Scored<'_>> {
    let mut sources: Vec<usize> = Vec::new();
    for (candidate, _) in &chosen {
        if !sources.contains(&candidate.source) {
            sources.push(candidate.source);
        }
    }
    let turn = |source: usize| sources.iter().position(|known| *known == source);
    chosen.sort_by_key(|(candidate, _)| (turn(candidate.source), candidate.place));
    chosen
}

fn write(chosen: &[Scored<'_>], features: Features) -> ExtractiveAnswer {
    let mut answer = ExtractiveAnswer { text: String::new(), sentences: Vec::new(), features };
    for (candidate, score) in chosen {
        let is_there = |range: &Range<usize>| {
            let stands = |s: &QuotedSentence| s.source == candidate.source && s.range == *range;
            answer.sentences.iter().any(stands)
                || chosen.iter().any(|(other, _)| other.source == candidate.source && other.range == *range)
        };
        if let Some((range, text)) = candidate.context.as_ref().filter(|(range, _)| !is_there(range)) {
            answer.push(text, candidate.source, range.clone(), *score, true);
        }
        answer.push(&candidate.text, candidate.source, candidate.range.clone(), *score, false);
    }
    answer
}

impl ExtractiveAnswer {
    /// Ends with what the sources lack, each in a paragraph of its own.
    fn name_missing(&mut self, missing: &[String]) {
        for sentence in missing {
            self.text.push_str("\n\n");
            self.text.push_str(sentence);
        }
    }

    fn push(&mut self, text: &str, source: usize, range: Range<usize>, score: f32, is_context: bool) {
        let ends_plainly = text.ends_with(['.', '!', '"', '”', '。', ')']);
        if !self.text.is_empty() {
            // Text that does not end like a sentence would run into the next one.
            let breaks = !ends_plainly || self.text.ends_with('\n');
            self.text.push_str(if breaks { "\n\n" } else { " " });
        }
        // One sentence of the source may read as two once it is on one line: each gets its marker.
        let mut written = 0;
        for sentence in sentences(text) {
            let words = text.get(written..sentence.range.end).unwrap_or_default();
            written = sentence.range.end;
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{words} [^{}]", source + 1);
        }
        self.sentences.push(QuotedSentence { source, range, score, is_context });
    }
}
