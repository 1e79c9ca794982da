//! The sentences of a source that hold most of some words.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::polarity::Claim;
use super::word::Word;
use crate::citation::source::SourceParts;
use crate::citation::term::TermKind;

/// Most sentences of a source that are read for a claim.
const MOST_SENTENCES: usize = 6;
/// Least number of words of the claim that such a sentence holds.
pub(super) const LEAST_SHARED: usize = 2;

/// A sentence of a source with the number of words that it holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearest {
    pub(super) sentence: usize,
    pub(super) held: usize,
}

/// The sentences of prose that hold some of these words, those with most of them first.
pub(super) fn nearest<'s>(stems: impl Iterator<Item = &'s str>, source: &SourceParts) -> Vec<Nearest> {
    let terms: BTreeSet<u32> = stems.filter_map(|stem| source.term(stem)).collect();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for sentence in terms.iter().flat_map(|term| source.postings(*term)) {
        *counts.entry(*sentence).or_default() += 1;
    }
    let is_prose = |number: &usize| {
        source.sentences.get(*number).is_some_and(|sentence| !sentence.is_question && sentence.header.is_empty())
    };
    let mut nearest: Vec<Nearest> = counts
        .into_iter()
        .filter(|(number, _)| is_prose(number))
        .map(|(sentence, held)| Nearest { sentence, held })
        .collect();
    nearest.sort_by_key(|near| (Reverse(near.held), near.sentence));
    nearest
}

/// The sentences of prose that hold most of a claim, several of its words each.
pub(super) fn nearest_to(claim: &Claim<'_>, source: &SourceParts) -> Vec<usize> {
    let content = claim.terms.iter().filter(|term| term.kind != TermKind::Stop).map(|term| term.stem.as_str());
    let nearest = nearest(content, source).into_iter().take_while(|near| near.held >= LEAST_SHARED);
    nearest.map(|near| near.sentence).take(MOST_SENTENCES).collect()
}

/// The stems of the words with content.
pub(super) fn content<'w>(words: &'w [Word<'w>]) -> impl Iterator<Item = &'w str> {
    words.iter().filter(|word| word.has_content()).map(|word| word.stem)
}
