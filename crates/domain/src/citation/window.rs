//! The best words to quote: one sentence, two neighbours, or a cut from an overlong one.

use std::collections::HashMap;
use std::ops::Range;

use super::source::SourceParts;

/// Longest quote in bytes; a longer sentence is cut at word boundaries around its best part.
const LONGEST_QUOTE: usize = 480;

/// Share of the claim's weight that a second sentence must add to be quoted too.
const WORTH_A_SENTENCE: f32 = 0.1;

/// Weight of the claim's words that a sentence beside a question holds at least if it answers it: that of one with
/// content.
const LEAST_WORD: f32 = 1.0;

/// A stretch of a source.
pub(super) struct Window {
    pub(super) bytes: Range<usize>,
    /// Sum of the weights of the claim's terms in it.
    pub(super) weight: f32,
    /// Which of the claim's terms it holds.
    pub(super) found: Vec<bool>,
}

/// The stretch of the source that holds most of the claim's terms; the first among equals.
///
/// `terms` holds, for each term of the claim, its number in this source, if any, and its weight. A question counts only
/// beside a sentence that states some of them.
/// Costs the occurrences of those terms, not the length of the source.
pub(super) fn best_window(source: &SourceParts, terms: &[Option<(u32, f32)>]) -> Option<Window> {
    let mut single: HashMap<usize, f32> = HashMap::new();
    let mut pairs: HashMap<usize, f32> = HashMap::new();
    let mut total = 0.0;
    for (term, weight) in terms.iter().flatten() {
        total += weight;
        let mut last_pair = None;
        for sentence in source.postings(*term) {
            *single.entry(*sentence).or_default() += weight;
            for first in [sentence.checked_sub(1), Some(*sentence)].into_iter().flatten() {
                if last_pair.is_none_or(|last| last < first) {
                    *pairs.entry(first).or_default() += weight;
                    last_pair = Some(first);
                }
            }
        }
    }
    add_headers(source, terms, &mut single, &mut pairs);
    let asks = |sentence: usize| source.sentences.get(sentence).is_none_or(|sentence| sentence.is_question);
    let adds = |sentence: usize| single.get(&sentence).is_some_and(|weight| *weight >= LEAST_WORD) && !asks(sentence);
    pairs.retain(|first, _| adds(*first) || adds(*first + 1));
    single.retain(|sentence, _| !asks(*sentence) && !source.is_repeated(*sentence));
    pairs.retain(|first, _| !source.is_repeated(*first));
    let (sentence, alone) = heaviest(single)?;
    let joined = heaviest(pairs.into_iter().filter(|(first, _)| pair(source, *first).is_some()));
    let worth = |weight: f32| weight >= alone + WORTH_A_SENTENCE * total;
    let (row, bytes) = match joined.filter(|(_, weight)| worth(*weight)) {
        Some((first, _)) => (first, pair(source, first)?),
        None => (sentence, cut(source, sentence, terms)?),
    };
    Some(fill(source, row, bytes, terms))
}

/// Adds to rows what the headers of their columns hold of the claim.
fn add_headers(
    source: &SourceParts,
    terms: &[Option<(u32, f32)>],
    single: &mut HashMap<usize, f32>,
    pairs: &mut HashMap<usize, f32>,
) {
    for (term, weight) in terms.iter().flatten() {
        for (row, sum) in single.iter_mut() {
            *sum += if source.heads_row(*term, *row) { *weight } else { 0.0 };
        }
        for (first, sum) in pairs.iter_mut() {
            let heads_both = source.heads_row(*term, *first) && source.heads_row(*term, *first + 1);
            *sum += if heads_both { *weight } else { 0.0 };
        }
    }
}

fn heaviest(weights: impl IntoIterator<Item = (usize, f32)>) -> Option<(usize, f32)> {
    weights.into_iter().reduce(|best, next| {
        let order = next.1.total_cmp(&best.1).then(best.0.cmp(&next.0));
        if order.is_gt() { next } else { best }
    })
}

/// Bytes of a sentence and the next one, if they make a quote.
fn pair(source: &SourceParts, first: usize) -> Option<Range<usize>> {
    let [one, two] = source.sentences.get(first..first + 2)? else {
        return None;
    };
    let bytes = one.bytes.start..two.bytes.end;
    (!one.is_rule() && !two.is_rule() && bytes.len() <= LONGEST_QUOTE).then_some(bytes)
}

/// Bytes of a sentence, or of its heaviest stretch that is short enough.
fn cut(source: &SourceParts, sentence: usize, terms: &[Option<(u32, f32)>]) -> Option<Range<usize>> {
    let sentence = source.sentences.get(sentence)?;
    if sentence.bytes.len() <= LONGEST_QUOTE {
        return Some(sentence.bytes.clone());
    }
    let weights: HashMap<u32, f32> = terms.iter().flatten().copied().collect();
    let tokens = source.tokens.get(sentence.tokens.clone())?;
    let mut counts: HashMap<u32, usize> = HashMap::new();
    let (mut first, mut weight) = (0, 0.0);
    let mut best: Option<(f32, Range<usize>)> = None;
    for token in tokens {
        if let Some(gain) = weights.get(&token.term) {
            let count = counts.entry(token.term).or_insert(0);
            *count += 1;
            weight += if *count == 1 { *gain } else { 0.0 };
        }
        while let Some(oldest) = tokens.get(first).filter(|oldest| token.bytes.end - oldest.bytes.start > LONGEST_QUOTE)
        {
            if oldest.bytes.start >= token.bytes.start {
                break;
            }
            if let (Some(loss), Some(count)) = (weights.get(&oldest.term), counts.get_mut(&oldest.term)) {
                *count -= 1;
                weight -= if *count == 0 { *loss } else { 0.0 };
            }
            first += 1;
        }
        let start = tokens.get(first).map_or(token.bytes.start, |oldest| oldest.bytes.start);
        if best.as_ref().is_none_or(|(heaviest, _)| weight > *heaviest) {
            best = Some((weight, start..token.bytes.end));
        }
    }
    best.map(|(_, bytes)| bytes)
}

/// Which of the claim's terms the stretch holds, which begins in this sentence; a row holds those of its header.
fn fill(source: &SourceParts, sentence: usize, bytes: Range<usize>, terms: &[Option<(u32, f32)>]) -> Window {
    let mut present: Vec<u32> = source.tokens_in(&bytes).iter().map(|token| token.term).collect();
    present.sort_unstable();
    let found: Vec<bool> = terms
        .iter()
        .map(|term| {
            term.is_some_and(|(term, _)| present.binary_search(&term).is_ok() || source.heads_row(term, sentence))
        })
        .collect();
    let weight = terms
        .iter()
        .zip(&found)
        .filter(|(_, found)| **found)
        .filter_map(|(term, _)| *term)
        .map(|(_, weight)| weight)
        .sum();
    Window { bytes, weight, found }
}
