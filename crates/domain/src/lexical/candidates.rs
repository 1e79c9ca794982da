//! Selects the chunks that a lexical query scores.
//!
//! Scoring every chunk that holds any word of a question costs as much as its commonest word is common. A chunk that
//! belongs at the top holds a rare word, or several of the commoner ones together; so those are looked up in the index,
//! and every chunk found is scored by all words.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    bm25::{Holder, QueryProfile},
    term_id::TermId,
};

/// Chunks that [`select_candidates`] should have scored in a collection of usual size.
const BUDGET: u64 = 1_000;

/// Number of chunks up to which a collection is small: all chunks that hold any word of a question are scored, which
/// takes some milliseconds at most.
const SMALL_CHUNKS: u64 = 3_000;

/// Number of chunks in a collection of usual size.
const USUAL_CHUNKS: u64 = 100_000;

/// Chunks added to the budget for each doubling beyond that.
const MORE_PER_DOUBLING: u64 = 150;

/// Number of chunks that [`select_candidates`] should have scored in a collection of `chunks`. docs/performance.md
/// shows the curve it is chosen from: at 100,000 chunks it finds .999 of the ten best that scoring everything finds. A
/// small collection has no limit.
#[must_use]
pub fn candidate_budget(chunks: u64) -> u64 {
    if chunks <= SMALL_CHUNKS {
        return u64::MAX;
    }
    BUDGET + MORE_PER_DOUBLING * u64::from((chunks / USUAL_CHUNKS).max(1).ilog2())
}

/// Fewer chunks than this are too few to choose the best from, and to judge the scale of their scores by.
const LEAST_EXPECTED: u64 = 100;

/// The rarest terms, which are paired with each other.
const PAIRED_TERMS: usize = 12;

/// Each pair is looked up in the index by itself, which costs as much as scoring a hundred chunks and more.
const MOST_PAIRS: usize = 10;

/// A pair whose rarer term stands in no more chunks, of all collections or of one, is not looked up there: all chunks
/// with that term are scored, which costs less.
const LOOKED_UP_WHOLE: u64 = 100;

/// The chunks to score; see [`select_candidates`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Terms whose chunks are all scored, rarest first.
    pub rare: Vec<TermId>,
    /// Pairs of terms, rarest pair first; chunks that hold both terms of a pair are scored as well.
    pub pairs: Vec<(TermId, TermId)>,
    /// The rarest term, unless all its chunks are scored anyway: looked up if the pairs find too few chunks.
    pub spare: Vec<TermId>,
}

/// A term, or two that are wanted together; terms by their position in the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Finder {
    /// Number of chunks it is expected to find; for a pair, assuming that its terms are distributed independently.
    expected: u64,
    other: Option<usize>,
    term: usize,
}

impl Finder {
    /// Whether this finder finds every chunk that `pair` finds.
    fn covers(&self, pair: &Self) -> bool {
        self.other.is_none() && (pair.term == self.term || pair.other == Some(self.term))
    }
}

/// Chooses the terms and pairs that find the chunks to be scored, in all collections as if they were one.
///
/// Single terms and pairs of the rarest are taken in ascending order of the number of chunks that they are expected to
/// find, as long as the sum does not exceed `budget`; while the sum is too small to choose from, the next is taken
/// regardless. A term with more chunks than the budget is thus replaced by its pairs: in a collection of that size the
/// ten best chunks hold more than one word of the question. All known terms score every chunk found: the result is
/// exact while the frequencies fit the budget, and the number of chunks scored grows with the budget and not with the
/// collection. Terms that occur together more often than by chance find more chunks than expected; those chunks hold
/// both. Terms that occur together less often find fewer, for which there is the spare term.
#[must_use]
pub fn select_candidates(query: &QueryProfile, budget: u64) -> Candidates {
    let known = rarest_first(query);
    // Many pairs of common terms may add up to more than the terms themselves.
    if known.iter().fold(0, |sum: u64, (frequency, _)| sum.saturating_add(*frequency)) <= budget {
        let all: Vec<usize> = known.into_iter().map(|(_, term)| term).collect();
        return Candidates { rare: ids(query, &all), ..Candidates::default() };
    }
    let mut chosen: Vec<Finder> = Vec::new();
    let mut found = 0;
    for finder in finders(&known, query.chunks()) {
        if chosen.iter().any(|taken| taken.covers(&finder)) {
            continue;
        }
        let kept = chosen.iter().filter(|taken| !finder.covers(taken)).chain([&finder]).copied();
        let with_it: Vec<Finder> = kept.collect();
        let expected = with_it.iter().fold(0, |sum: u64, taken| sum.saturating_add(taken.expected));
        if expected > budget && found >= LEAST_EXPECTED.min(budget) && !chosen.is_empty() {
            break;
        }
        (chosen, found) = (with_it, expected);
    }
    let rare: Vec<usize> = chosen.iter().filter(|finder| finder.other.is_none()).map(|finder| finder.term).collect();
    let pairs: Vec<(usize, usize)> =
        chosen.iter().filter_map(|finder| Some((finder.term, finder.other?))).take(MOST_PAIRS).collect();
    let spare: Vec<usize> =
        known.first().map(|(_, term)| *term).filter(|term| !rare.contains(term)).into_iter().collect();
    let (rare, pairs) = in_each_collection(query, &rare, &pairs);
    Candidates { spare: ids(query, &spare), rare, pairs }
}

/// The ids of these terms in all collections that hold them, rarest first.
fn ids(query: &QueryProfile, terms: &[usize]) -> Vec<TermId> {
    rarest_ids(holders(query, terms).collect())
}

fn rarest_ids(mut holders: Vec<&Holder>) -> Vec<TermId> {
    holders.sort_by_key(|holder| holder.document_frequency);
    holders.into_iter().map(|holder| holder.id).collect()
}

fn holders<'q>(query: &'q QueryProfile, terms: &'q [usize]) -> impl Iterator<Item = &'q Holder> {
    terms.iter().filter_map(|term| query.terms.get(*term)).flat_map(|term| &term.holders)
}

/// Terms and pairs of terms under their ids in each collection, without pairs that find nothing new there.
fn in_each_collection<'q>(
    query: &'q QueryProfile,
    rare: &'q [usize],
    pairs: &'q [(usize, usize)],
) -> (Vec<TermId>, Vec<(TermId, TermId)>) {
    let mut single: Vec<&Holder> = holders(query, rare).collect();
    let mut taken: BTreeSet<TermId> = single.iter().map(|holder| holder.id).collect();
    let mut together: Vec<(TermId, TermId)> = Vec::new();
    // Over all collections, so that the same term is taken in each.
    let frequency = |place: &usize| query.terms.get(*place).map(|term| term.document_frequency);
    for (first, second) in pairs {
        let rarer = if frequency(second) < frequency(first) { second } else { first };
        let mut take = |holder: &'q Holder| {
            if taken.insert(holder.id) {
                single.push(holder);
            }
        };
        if frequency(rarer) <= Some(LOOKED_UP_WHOLE) {
            holders(query, std::slice::from_ref(rarer)).for_each(take);
            continue;
        }
        let others: BTreeMap<usize, &Holder> =
            holders(query, std::slice::from_ref(second)).map(|holder| (holder.collection, holder)).collect();
        for one in holders(query, std::slice::from_ref(first)) {
            let Some(other) = others.get(&one.collection) else { continue };
            let local = if rarer == second { other } else { one };
            if local.document_frequency > LOOKED_UP_WHOLE {
                together.push((one.id, other.id));
            } else {
                take(local);
            }
        }
    }
    together.retain(|(one, other)| !taken.contains(one) && !taken.contains(other));
    (rarest_ids(single), together)
}

/// Groups of pairs that one statement of the database's `lexical_search` looks up.
pub const GROUPS_AT_ONCE: usize = 10;

/// Terms of a group in addition to the one that they are paired with.
const OTHERS: usize = 10;

/// Pairs in the form that the database's `lexical_search` takes: grouped by the term that they share, because the index
/// then reads its entries once for all of them. Returns the shared terms, and ten others for each, repeated to fill the
/// group.
#[must_use]
pub fn grouped_pairs(pairs: &[(TermId, TermId)]) -> (Vec<TermId>, Vec<TermId>) {
    let mut by_head: BTreeMap<TermId, Vec<TermId>> = BTreeMap::new();
    for (head, other) in pairs {
        by_head.entry(*head).or_default().push(*other);
    }
    let (mut heads, mut others) = (Vec::new(), Vec::new());
    for (head, all) in &by_head {
        for group in all.chunks(OTHERS) {
            heads.push(*head);
            others.extend(group.iter().copied().cycle().take(OTHERS));
        }
    }
    (heads, others)
}

/// The terms that a collection knows, each with the number of chunks of all collections that hold it.
fn rarest_first(query: &QueryProfile) -> Vec<(u64, usize)> {
    let all = query.terms.iter().enumerate().map(|(place, term)| (term.document_frequency, place));
    let mut known: Vec<(u64, usize)> = all.filter(|(frequency, _)| *frequency > 0).collect();
    known.sort_unstable();
    known
}

/// All finders for a query with these terms, by the number of chunks expected; single terms before pairs.
fn finders(known: &[(u64, usize)], chunks: u64) -> Vec<Finder> {
    let mut finders: Vec<Finder> =
        known.iter().map(|(expected, term)| Finder { expected: *expected, other: None, term: *term }).collect();
    let paired = known.get(..PAIRED_TERMS).unwrap_or(known);
    for (place, (frequency, term)) in paired.iter().enumerate() {
        for (other_frequency, other) in paired.iter().skip(place + 1) {
            let expected = together(*frequency, *other_frequency, chunks);
            finders.push(Finder { expected, other: Some(*other), term: *term });
        }
    }
    finders.sort_unstable();
    finders
}

/// Expected number of `chunks` that hold both terms, if the terms are independent.
fn together(frequency: u64, other: u64, chunks: u64) -> u64 {
    let product = u128::from(frequency) * u128::from(other) / u128::from(chunks.max(1));
    u64::try_from(product).unwrap_or(u64::MAX).min(frequency)
}

#[cfg(test)]
#[path = "candidates_tests.rs"]
mod tests;
