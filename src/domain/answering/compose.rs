//! Second step: the best one to three sentences, with their markers.

use std::fmt::Write as _;
use std::ops::Range;

use super::candidate::SentenceCandidate;
use super::{ExtractiveAnswer, QuotedSentence};
use crate::domain::evidence::Inquiry;
use crate::domain::evidence::kind::AnswerKind;
use crate::domain::sentence::sentences;

/// Most sentences chosen for themselves; each may bring one more as context.
const MOST_SENTENCES: usize = 3;

/// Share of the best sentence's score from which another one is worth its place.
const WORTH_ADDING: f32 = 0.7;

/// Share of words in common, of the shorter sentence's, from which two say the same.
const REDUNDANT: f32 = 0.7;

/// What holding the kind of thing asked for is worth, beside scores of 0 to 1.
const KIND_BONUS: f32 = 0.15;

/// What the source's probability is worth, beside scores of 0 to 1.
const SOURCE_WEIGHT: f32 = 0.45;

/// Cosine below which a sentence without a word of the question is no answer to it.
const LEAST_COSINE: f32 = 0.35;

/// Writes the answer, or `None` when no candidate has to do with the question.
///
/// `cosines` runs parallel to `candidates`: question against [`SentenceCandidate::text`]. Without it,
/// or with another length, words alone decide.
#[must_use]
pub fn compose(
    inquiry: &Inquiry,
    candidates: &[SentenceCandidate],
    cosines: Option<&[f32]>,
) -> Option<ExtractiveAnswer> {
    let cosines = cosines.filter(|cosines| cosines.len() == candidates.len());
    let ranked = rank(inquiry, candidates, cosines);
    let (_, best) = *ranked.first()?;
    let mut chosen: Vec<(&SentenceCandidate, f32)> = Vec::new();
    for (candidate, score) in ranked {
        let is_worth_adding = chosen.is_empty() || score >= best * WORTH_ADDING;
        if chosen.len() == MOST_SENTENCES || !is_worth_adding {
            break;
        }
        if chosen.iter().all(|(other, _)| !says_the_same(&other.text, &candidate.text)) {
            chosen.push((candidate, score));
        }
    }
    Some(write(&in_reading_order(chosen)))
}

/// Candidates that have to do with the question, best first.
fn rank<'c>(
    inquiry: &Inquiry,
    candidates: &'c [SentenceCandidate],
    cosines: Option<&[f32]>,
) -> Vec<(&'c SentenceCandidate, f32)> {
    let top = candidates.iter().map(|candidate| candidate.lexical).fold(0.0, f32::max);
    let mut ranked: Vec<(&SentenceCandidate, f32)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(index, candidate)| {
            let cosine = cosines.map(|cosines| cosines.get(index).copied().unwrap_or(0.0));
            if candidate.mask == 0 && cosine.unwrap_or(0.0) < LEAST_COSINE {
                return None;
            }
            let lexical = if top > 0.0 { candidate.lexical / top } else { 0.0 };
            let base = cosine.map_or(lexical, |cosine| f32::midpoint(lexical, cosine.max(0.0)));
            let has_kind = inquiry.kind != AnswerKind::Other && candidate.holds_kind;
            let bonus = if has_kind { KIND_BONUS } else { 0.0 };
            Some((candidate, base + bonus + SOURCE_WEIGHT * candidate.probability))
        })
        .collect();
    ranked.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    ranked
}

/// Best first, but sentences of one source stand in that source's order.
fn in_reading_order(mut chosen: Vec<(&SentenceCandidate, f32)>) -> Vec<(&SentenceCandidate, f32)> {
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

fn write(chosen: &[(&SentenceCandidate, f32)]) -> ExtractiveAnswer {
    let mut answer = ExtractiveAnswer { text: String::new(), sentences: Vec::new() };
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
    fn push(&mut self, text: &str, source: usize, range: Range<usize>, score: f32, is_context: bool) {
        let ends_plainly = text.ends_with(['.', '!', '"', '”', '。', ')']);
        if !self.text.is_empty() {
            // What does not end like a sentence would run into the next one.
            let breaks = !ends_plainly || self.text.ends_with('\n');
            self.text.push_str(if breaks { "\n\n" } else { " " });
        }
        // What was one sentence in the source may read as two on one line: each gets its marker.
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

/// Whether most words of the shorter text occur in the longer one.
fn says_the_same(one: &str, two: &str) -> bool {
    let (one, two) = (distinct_words(one), distinct_words(two));
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    let common = short.iter().filter(|word| long.contains(*word)).count();
    #[expect(clippy::cast_precision_loss, reason = "sentences are short")]
    let share = common as f32 / short.len().max(1) as f32;
    share >= REDUNDANT
}

fn distinct_words(text: &str) -> std::collections::BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
