//! Reasons that a claim gives and no source does: "because" between two things that stand beside each other there.

use super::nearest::{LEAST_SHARED, content, nearest};
use super::polarity::Claim;
use super::word::{End, Word, claimed, said};
use crate::citation::source::SourceParts;

/// Words of a claim before a reason. Those that have other meanings as well are not among them.
const BECAUSE: [&str; 5] = ["because", "weil", "wegen", "aufgrund", "parce"];
/// The same before "to".
const DUE: [&str; 3] = ["due", "owing", "thanks"];

/// Beginnings of words by which a source may give a reason.
const REASONS: [&str; 50] = [
    "accordingly",
    "ainsi",
    "attribut",
    "aufgrund",
    "because",
    "begründ",
    "blame",
    "car",
    "caus",
    "consequen",
    "contribut",
    "dadurch",
    "daher",
    "damit",
    "darum",
    "denn",
    "deshalb",
    "deswegen",
    "donc",
    "due",
    "erklär",
    "explain",
    "explan",
    "forc",
    "grace",
    "grund",
    "grâce",
    "hence",
    "infolge",
    "lead",
    "led",
    "owing",
    "parce",
    "prompt",
    "provok",
    "puisque",
    "raison",
    "reason",
    "reflect",
    "result",
    "since",
    "somit",
    "stem",
    "suite",
    "thanks",
    "thereby",
    "therefore",
    "thus",
    "ursache",
    "weil",
];

/// Sentences between a thing and its reason, at most.
const NEAR: usize = 1;

/// Whether the claim gives a reason for something where the sources tell both, in sentences beside each other or apart, and none of
/// the sentences gives one.
pub(super) fn invents_reason(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let words = claimed(claim.text, &claim.terms);
    let is = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.text.as_str()));
    let begins = |at: &usize| is(*at, &BECAUSE) || is(*at, &DUE) && is(*at + 1, &["to"]);
    let Some(at) = (0..words.len()).find(begins) else { return false };
    let is_last = |word: &Word<'_>| word.end == End::Clause;
    let start = words.get(..at).unwrap_or_default().iter().rposition(is_last).map_or(0, |last| last + 1);
    let end = words.iter().skip(at).position(is_last).map_or(words.len(), |last| at + last + 1);
    let (effect, reason) = (words.get(start..at).unwrap_or_default(), words.get(at + 1..end).unwrap_or_default());
    let told: Vec<bool> = sources.iter().filter_map(|source| gives_reason(effect, reason, source)).collect();
    !told.is_empty() && told.iter().all(|gives| !gives)
}

/// Whether a source gives one as the reason of the other; `None` where it tells too little of what is said to have a reason.
fn gives_reason(effect: &[Word<'_>], reason: &[Word<'_>], source: &SourceParts) -> Option<bool> {
    let best = |words: &[Word<'_>]| {
        let all = nearest(content(words), source);
        let most = all.first().map_or(0, |near| near.held);
        let sentences: Vec<usize> = all.iter().take_while(|near| near.held == most).map(|near| near.sentence).collect();
        (most, content(words).count(), sentences)
    };
    let ((told, all, effects), (given, words, reasons)) = (best(effect), best(reason));
    if told < all.min(LEAST_SHARED) {
        return None;
    }
    if given * 3 < words {
        return Some(false);
    }
    if given < words.min(LEAST_SHARED) {
        return None;
    }
    if effects.iter().any(|sentence| reasons.contains(sentence)) {
        return Some(true);
    }
    let around = |sentence: &usize| sentence.saturating_sub(NEAR)..=sentence + NEAR;
    Some(effects.iter().chain(&reasons).flat_map(around).any(|sentence| has_reason(source, sentence)))
}

fn has_reason(source: &SourceParts, sentence: usize) -> bool {
    let Some(sentence) = source.sentences.get(sentence) else { return false };
    let words = said(source, source.tokens_of(sentence));
    words.iter().any(|word| {
        REASONS.binary_search(&word.text.as_str()).is_ok()
            || REASONS.iter().any(|reason| reason.len() > 3 && word.text.starts_with(reason))
    })
}
