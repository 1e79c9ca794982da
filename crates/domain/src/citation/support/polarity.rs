//! Detects claims that deny a statement of their sources, or state something that their sources deny.

use std::borrow::Cow;
use std::ops::Range;

use super::place::Place;
use crate::citation::contrary::contraries;
use crate::citation::negation::{Denial, DenialKind, Denials, clauses, denies, words};
use crate::citation::source::{SourceParts, SourceSentence};
use crate::citation::term::{Term, TermKind, terms};

/// Least share of the words of the claim's clause that a sentence must hold to be about the same subject.
const SAME_SUBJECT: f32 = 0.4;

/// Most mentions of a word that are looked at, and most words of a claim that its sources deny: enough for any
/// honest claim, and a bound for others.
const MOST_MENTIONS: usize = 8;
const MOST_DENIED: usize = 64;

/// Words on either side of a word that distinguish one mention of it from another.
const NEXT: usize = 4;

/// How a claim's denials stand to those of its sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    /// One denies a statement of the other.
    Turned,
    /// Both deny, and the same.
    Shared,
    /// No difference in denials.
    Plain,
}

/// A claim, ready to be compared with sources.
pub(super) struct Claim<'c> {
    pub(super) text: &'c str,
    pub(super) terms: Vec<Term>,
    /// The words of its terms, in lower case.
    pub(super) words: Vec<Cow<'c, str>>,
    pub(super) denials: Denials,
    clauses: Vec<Range<usize>>,
}

impl<'c> Claim<'c> {
    pub(super) fn of(text: &'c str) -> Self {
        let terms = terms(text);
        let words = words(text, &terms);
        let clauses = clauses(text, &terms, &words);
        Self { text, denials: Denials::of(text, &terms, 0), clauses, words, terms }
    }

    /// The claim with these terms in place of its own, one for each.
    pub(super) fn with_terms(&self, terms: Vec<Term>) -> Self {
        Self { terms, ..Self::of(self.text) }
    }

    /// Compares the denials of the claim with those of the sentences that hold most of its words: whether they deny a
    /// word that the claim does not deny, or the other way round.
    ///
    /// If several mentions have equally many words of the claim around them, one that agrees is enough. Two reversals
    /// of which one is an exception cancel out: "not without approval" is "with approval".
    pub(super) fn polarity(&self, sources: &[&SourceParts]) -> Polarity {
        let (mut plain, mut exception) = (false, false);
        for kind in self.denies(sources).chain(self.is_denied(sources)) {
            plain |= kind == DenialKind::Plain;
            exception |= kind != DenialKind::Plain;
        }
        // The sources explicitly deny everything that the claim denies.
        let own = &self.denials.all;
        let is_shared = || !own.is_empty() && own.iter().all(|denial| self.shares(denial, sources));
        if plain != exception {
            Polarity::Turned
        } else if plain || is_shared() {
            Polarity::Shared
        } else {
            Polarity::Plain
        }
    }

    /// Whether all neighbouring words with content of the claim are neighbours in one of the sources.
    pub(super) fn has_same_order(&self, sources: &[&SourceParts]) -> bool {
        let content = self.terms.iter().filter(|term| term.kind != TermKind::Stop);
        let stems: Vec<&str> = content.map(|term| term.stem.as_str()).collect();
        stems.windows(2).all(|pair| {
            let [first, second] = pair else { return false };
            sources.iter().any(|source| source.has_pair(first, second))
        })
    }

    /// The words before and after each place where the claim has a word.
    pub(super) fn beside(&self, stem: &str) -> Vec<&str> {
        let places = self.terms.iter().enumerate().filter(|(_, term)| term.stem == stem).map(|(at, _)| at);
        let beside = places.flat_map(|at| [at.checked_sub(1), Some(at + 1)]).flatten();
        beside.filter_map(|at| self.terms.get(at)).map(|term| term.stem.as_str()).collect()
    }

    fn stem(&self, place: usize) -> &str {
        self.terms.get(place).map_or("", |term| &term.stem)
    }

    /// The denials of the claim that its sources do not share.
    fn denies<'s>(&'s self, sources: &'s [&SourceParts]) -> impl Iterator<Item = DenialKind> + 's {
        self.denials.all.iter().filter(|denial| self.is_alone(denial, sources)).map(|denial| denial.kind)
    }

    /// The first word that a denial of the claim reaches and a source holds.
    fn held(&self, denial: &Denial, sources: &[&SourceParts]) -> Option<usize> {
        let is_held = |place: &usize| sources.iter().any(|source| is_said(source, self.stem(*place)));
        denial.scope.iter().copied().find(is_held)
    }

    fn is_alone(&self, denial: &Denial, sources: &[&SourceParts]) -> bool {
        let Some(place) = self.held(denial, sources) else { return false };
        let nearest = self.nearest(place, sources);
        let agrees = |here: &Place<'_>| {
            here.sentence.denials.puts_otherwise(&self.denials)
                || self.has_same(denial, *here)
                || contraries(self.stem(place)).any(|contrary| here.holds(contrary))
                || self.puts_contrary(denial, *here)
        };
        !nearest.is_empty() && !nearest.iter().any(agrees)
    }

    /// Whether a source has the same denial as the claim, in a sentence that denies no more of the claim's words than
    /// the claim has denials.
    fn shares(&self, denial: &Denial, sources: &[&SourceParts]) -> bool {
        let Some(place) = self.held(denial, sources) else { return false };
        let nearest = self.nearest(place, sources);
        nearest.iter().any(|here| {
            self.has_same(denial, *here) && self.count_denied(*here) <= self.denials.all.len()
                || self.puts_contrary(denial, *here)
        })
    }

    /// Whether a sentence that denies nothing has the contrary of what is denied in its place: "removes" for "does not
    /// keep".
    fn puts_contrary(&self, denial: &Denial, here: Place<'_>) -> bool {
        let is_put = |at: &usize| {
            let stem = self.stem(*at);
            !here.holds(stem) && contraries(stem).any(|contrary| here.holds(contrary))
        };
        here.sentence.denials.all.is_empty() && denial.denied().iter().any(is_put)
    }

    /// Number of denials in a sentence that are about words of the claim.
    fn count_denied(&self, Place { source, sentence, .. }: Place<'_>) -> usize {
        let is_claimed = |place: &usize| {
            let term = source.tokens.get(*place).map(|token| token.term);
            term.is_some() && self.terms.iter().any(|own| source.term(&own.stem) == term)
        };
        sentence.denials.all.iter().filter(|denial| denial.denied().iter().any(is_claimed)).count()
    }

    /// Whether a sentence has the same denial, or what heads it as a row: "(in thousands, except per share amounts)".
    fn has_same(&self, denial: &Denial, Place { source, sentence, .. }: Place<'_>) -> bool {
        let header = source.sentences.get(sentence.header.clone()).unwrap_or_default();
        let mut denials = header.iter().flat_map(|row| &row.denials.all).chain(&sentence.denials.all);
        denials.any(|other| self.agree(denial, other, source))
    }

    /// The denials of the sources that the claim does not share.
    fn is_denied<'s>(&'s self, sources: &'s [&SourceParts]) -> impl Iterator<Item = DenialKind> + 's {
        let is_denied = |place: &usize| sources.iter().any(|source| source.denies(self.stem(*place)));
        let places = (0..self.terms.len()).filter(is_denied).take(MOST_DENIED);
        places.filter_map(|place| {
            let nearest = self.nearest(place, sources);
            let mut kinds = nearest.iter().map(|here| self.denial_of(*here));
            // It counts only if all nearest mentions deny the word.
            let first = kinds.next()??;
            kinds.all(|kind| kind.is_some()).then_some(first)
        })
    }

    /// The denial of the word at this position, unless the claim has it too or expresses it differently.
    fn denial_of(&self, Place { source, sentence, at, .. }: Place<'_>) -> Option<DenialKind> {
        let denial = sentence.denials.all.iter().find(|denial| denial.denied().contains(&at))?;
        if denial.kind == DenialKind::Exception && !self.is_against(denial, source, sentence) {
            return None;
        }
        let is_shared = self.denials.all.iter().any(|own| self.agree(own, denial, source));
        (!is_shared && !self.denials.puts_otherwise(&sentence.denials)).then_some(denial.kind)
    }

    /// Whether the claim states what an exception limits, and not the exception: of "closed unless it rains" it says something
    /// of being closed, and nothing of what is "if it rains".
    fn is_against(&self, exception: &Denial, source: &SourceParts, sentence: &SourceSentence) -> bool {
        let claimed = |at: usize| {
            let token = source.tokens.get(at).filter(|token| token.kind != TermKind::Stop);
            token.is_some_and(|token| self.terms.iter().any(|own| source.term(&own.stem) == Some(token.term)))
        };
        let states_rest = sentence.tokens.clone().any(|at| !exception.clause.contains(&at) && claimed(at));
        states_rest && !self.tells_case()
    }

    /// Whether the claim tells what holds in a case of its own: "… or by May if they are ill", "otherwise …".
    pub(super) fn tells_case(&self) -> bool {
        let begins = |clause: &Range<usize>| {
            let first = self.terms.get(clause.start).and_then(|term| self.text.get(term.range.clone()));
            matches!(first, Some("if" | "when" | "If" | "When"))
        };
        let joins = [" or ", " but ", "; "].iter().any(|joint| self.text.contains(joint));
        self.text.contains("otherwise")
            || self.clauses.first().is_some_and(begins)
            || joins && self.clauses.iter().any(begins)
    }

    /// Whether a denial of the claim and one of a source are about the same.
    fn agree(&self, own: &Denial, other: &Denial, source: &SourceParts) -> bool {
        let same = |own: usize, other: usize| {
            let term = source.term(self.stem(own));
            term.is_some() && term == source.tokens.get(other).map(|token| token.term)
        };
        if own.scope.iter().any(|own| other.scope.iter().any(|other| same(*own, *other))) {
            return true;
        }
        if own.kind == DenialKind::Without || other.kind == DenialKind::Without {
            return false;
        }
        let is_other_here = other.denied().iter().any(|other| own.clause.clone().any(|own| same(own, *other)));
        let is_own_there = own.denied().iter().any(|own| other.clause.clone().any(|other| same(*own, other)));
        is_other_here || is_own_there
    }

    /// Where the sources have this word among most words of its clause, then of the claim, then of those next to
    /// it; nowhere if that is too few to be about the same.
    fn nearest<'s>(&self, place: usize, sources: &[&'s SourceParts]) -> Vec<Place<'s>> {
        let clause = self.clauses.iter().find(|clause| clause.contains(&place)).cloned().unwrap_or_default();
        let next = self.content(place.saturating_sub(NEXT)..(place + NEXT + 1).min(self.terms.len()));
        let (clause, all) = (self.content(clause), self.content(0..self.terms.len()));
        let mut best = (0, 0, 0);
        let mut nearest = Vec::new();
        for (index, source) in sources.iter().enumerate() {
            let Some(term) = source.term(self.stem(place)) else { continue };
            let known = |stems: &[&str]| -> Vec<u32> { stems.iter().filter_map(|stem| source.term(stem)).collect() };
            let (clause, all, next) = (known(&clause), known(&all), known(&next));
            for (number, at) in source.mentions(term) {
                let Some(sentence) = source.sentences.get(number) else { continue };
                let count = |terms: &[u32]| terms.iter().filter(|term| source.tells(number, **term)).count();
                let range =
                    at.saturating_sub(NEXT).max(sentence.tokens.start)..(at + NEXT + 1).min(sentence.tokens.end);
                let around = source.tokens.get(range).unwrap_or_default();
                let beside = next.iter().filter(|term| around.iter().any(|token| token.term == **term)).count();
                let held = (count(&clause), count(&all), beside);
                if held > best {
                    nearest.clear();
                    best = held;
                }
                if held == best && nearest.len() < MOST_MENTIONS {
                    nearest.push(Place { index, source, sentence, at });
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a claim has few words")]
        let is_same = best.0 as f32 >= SAME_SUBJECT * clause.len() as f32;
        if is_same { nearest } else { Vec::new() }
    }

    /// The distinct stems with content there, but for those that deny.
    fn content(&self, places: Range<usize>) -> Vec<&str> {
        let terms = self.terms.get(places).unwrap_or_default();
        let content = terms.iter().filter(|term| term.kind != TermKind::Stop && !denies(&term.stem));
        let mut stems: Vec<&str> = content.map(|term| term.stem.as_str()).collect();
        stems.sort_unstable();
        stems.dedup();
        stems
    }
}

fn is_said(source: &SourceParts, stem: &str) -> bool {
    source.term(stem).is_some_and(|term| !source.postings(term).is_empty())
}
