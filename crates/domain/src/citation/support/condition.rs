//! Conditions that a claim puts in place of those of its source: "if the water is soft" where the source says so of hard water.

use super::nearest::nearest;
use super::polarity::Claim;
use super::word::{End, Word, claimed, said};
use crate::citation::contrary::contraries;
use crate::citation::source::SourceParts;
use crate::wording::differ_by_ending;

/// Words that begin a condition.
const BEGINNINGS: [&str; 10] =
    ["falls", "if", "lorsque", "provided", "quand", "si", "sofern", "unless", "when", "wenn"];
/// Least number of words that a sentence holds of what the condition is for.
const LEAST_HELD: usize = 2;
/// Sentences on either side of it where the other condition stands.
const NEAR: usize = 4;
/// Letters by which words that differ by an ending are the same.
const LEAST_LETTERS: usize = 4;

/// A condition, and what is said for it.
struct Conditional<'w> {
    condition: Vec<&'w Word<'w>>,
    rest: Vec<&'w Word<'w>>,
}

/// Whether a source says under another condition what the claim says under its own, and has the words of this one beside it.
pub(super) fn has_another_condition(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let words = claimed(claim.text, &claim.terms);
    let Some(own) = Conditional::of(&words) else { return false };
    let told: Vec<bool> = sources.iter().filter_map(|source| own.differs(source)).collect();
    !told.is_empty() && told.iter().all(|differs| *differs)
}

impl<'w> Conditional<'w> {
    fn of(words: &'w [Word<'w>]) -> Option<Self> {
        let at = words.iter().position(|word| BEGINNINGS.contains(&word.text.as_str()))?;
        let from = words.get(at..)?;
        let is_first = at == 0 || words.get(at - 1).is_some_and(|word| word.end != End::None);
        let ends =
            |word: &Word<'_>| word.end == End::Clause || word.text == "then" || is_first && word.end == End::Comma;
        let length = from.iter().position(ends).map_or(from.len(), |last| last + 1);
        let has_content = |word: &&Word<'_>| word.has_content() && !BEGINNINGS.contains(&word.text.as_str());
        let condition = from.get(..length)?.iter().filter(has_content).collect();
        let sentence = words.get(..at)?.iter().rposition(|word| word.end == End::Clause).map_or(0, |last| last + 1);
        let after = words.get(at + length..)?;
        let rest = words.get(sentence..at)?.iter().chain(after).filter(has_content).collect();
        Some(Self { condition, rest })
    }

    /// Whether the sentences that hold most of what is said have another condition; `None` where a source does not say it.
    fn differs(&self, source: &SourceParts) -> Option<bool> {
        let all = nearest(self.rest.iter().map(|word| word.stem), source);
        let most = all.first().filter(|near| near.held >= LEAST_HELD)?.held;
        let mut best = all.iter().take_while(|near| near.held == most).map(|near| near.sentence);
        Some(best.all(|sentence| self.differs_in(sentence, source)))
    }

    fn differs_in(&self, number: usize, source: &SourceParts) -> bool {
        let Some(sentence) = source.sentences.get(number) else { return false };
        let words = said(source, source.tokens_of(sentence));
        let Some(there) = Conditional::of(&words) else { return false };
        let holds = |words: &[&Word<'_>], word: &Word<'_>| words.iter().any(|other| is_same(word, other));
        let new: Vec<&&Word<'_>> = self
            .condition
            .iter()
            .filter(|word| !holds(&there.condition, word) && !words.iter().any(|other| is_same(word, other)))
            .collect();
        let others: Vec<&&Word<'_>> =
            there.condition.iter().filter(|word| !holds(&self.condition, word) && !holds(&self.rest, word)).collect();
        let around = number.saturating_sub(NEAR)..number + NEAR + 1;
        let stands_beside = |word: &&&Word<'_>| {
            let term = source.term(word.stem);
            term.is_some_and(|term| source.postings(term).iter().any(|sentence| around.contains(sentence)))
        };
        let is_contrary =
            || new.iter().any(|own| contraries(own.stem).any(|stem| others.iter().any(|word| word.stem == stem)));
        let is_another = || {
            let beside = new.iter().filter(|word| stands_beside(word)).count();
            let is_whole = beside == new.len() || beside >= LEAST_HELD && beside + 1 == new.len();
            is_whole && (new.len() == self.condition.len() || new.len() <= others.len())
        };
        !new.is_empty() && !others.is_empty() && (is_contrary() || is_another())
    }
}

fn is_same(one: &Word<'_>, other: &Word<'_>) -> bool {
    one.stem == other.stem || differ_by_ending(one.stem, other.stem, LEAST_LETTERS)
}
