//! Deeds of a claim that its sources tell of somebody else: roles that are exchanged.

use std::rc::Rc;

use super::deed::{Deed, Nouns, Part, deeds};
use super::fact::is_name;
use super::nearest::{LEAST_SHARED, nearest_to};
use super::polarity::Claim;
use super::word::{End, Word, claimed, said};
use crate::citation::source::SourceParts;
use crate::citation::term::TermKind;
use crate::lexical::other_forms;
use crate::wording::differ_by_ending;

/// Least number of words that a claim tells of a name at its beginning.
const LEAST_TOLD: usize = 3;
/// Letters by which words that differ by an ending are the same.
const LEAST_LETTERS: usize = 4;
/// Sentences on either side of a deed where somebody must stand who does not do it.
const NEAR: usize = 1;

/// Sentences before a pronoun that may tell for whom it stands.
const MOST_BEFORE: usize = 3;
/// Words by which two of the same name are told apart.
const ORDER: [&str; 14] = [
    "first", "former", "fourth", "junior", "last", "latter", "left", "lower", "new", "old", "right", "second", "third",
    "upper",
];

/// A deed of a source.
struct Told<'s> {
    deed: Deed,
    words: Rc<Vec<Word<'s>>>,
    sentence: usize,
}

/// Whether the sources tell of somebody else what the claim tells.
pub(super) fn is_of_others(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    is_done_by_others(claim, sources) || is_said_by_others(claim, sources)
}

/// Whether the sources tell a deed of the claim of somebody else.
///
/// Of the deeds with the same verb those count of which most else is the same; one that agrees is enough. Those who do it by the
/// claim must stand nearby: else they may be the same by another name.
fn is_done_by_others(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let own = claimed(claim.text, &claim.terms);
    let own_deeds = deeds(&own);
    !own_deeds.is_empty()
        && sources.iter().any(|source| {
            let told = told(claim, source);
            own_deeds.iter().any(|deed| is_of_other(deed, &own, &told, source))
        })
}

/// The deeds in the sentences that hold most of the claim.
fn told<'s>(claim: &Claim<'_>, source: &'s SourceParts) -> Vec<Told<'s>> {
    let sentences =
        nearest_to(claim, source).into_iter().filter_map(|number| Some((number, source.sentences.get(number)?)));
    sentences
        .flat_map(|(number, sentence)| {
            let words = Rc::new(said(source, source.tokens_of(sentence)));
            let deeds = deeds(&words);
            deeds.into_iter().map(move |deed| Told { deed, words: Rc::clone(&words), sentence: number })
        })
        .collect()
}

/// Whether all that a source tells of a deed tells it of somebody else.
fn is_of_other(deed: &Deed, own: &[Word<'_>], told: &[Told<'_>], source: &SourceParts) -> bool {
    let part = deed.part();
    let (Some(verb), Some(holder)) = (own.get(deed.at), deed.holder(part)) else { return false };
    let agent = Side { words: own, nouns: holder };
    let same = told.iter().filter(|told| told.words.get(told.deed.at).is_some_and(|there| is_form(verb, there)));
    let same: Vec<&Told<'_>> = same.collect();
    let object = Side { words: own, nouns: deed.rest(part) };
    let likeness = |told: &Told<'_>| object.shared(told.rest(part)).count();
    let most = same.iter().map(|told| likeness(told)).max().unwrap_or_default();
    let claimed = object.content().count();
    let differs = |there: &&&Told<'_>| {
        let Some(other) = there.holder(part) else {
            return there.deed.is_of_pronoun(&there.words)
                && most * 2 > claimed
                && agent.is_name()
                && is_not_meant(agent, there, source);
        };
        if deed.has_no_object() && agent.shared(there.rest(part)).next().is_some() {
            return false;
        }
        if agent.shared(other).next().is_some() {
            return agent.is_distinct_from(other) && agent.stands_in(source, |_| true);
        }
        if there.is_enumerated(agent) {
            return false;
        }
        if agent.is_short_for(other) || other.is_short_for(agent) {
            return false;
        }
        let is_near = |sentence: usize| sentence.abs_diff(there.sentence) <= NEAR;
        let is_actor = || told.iter().any(|told| told.holder(Part::Agent).is_some_and(|actor| agent.is_within(actor)));
        let is_whole = most >= LEAST_SHARED && most == claimed;
        let is_of_kind = agent.is_name() == other.is_name();
        agent.stands_in(source, |sentence| sentence == there.sentence)
            || part == Part::Agent
                && agent.is_name()
                && is_of_kind
                && most * 2 >= claimed
                && agent.stands_in(source, is_near)
            || is_whole && is_of_kind && is_actor()
    };
    let mut nearest = same.iter().filter(|told| likeness(told) == most);
    !same.is_empty() && nearest.all(|told| differs(&told))
}

/// Whether the sentence that holds nearly all of the claim begins with another name than the claim, and lacks those of the claim,
/// which stand elsewhere.
fn is_said_by_others(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let own = claimed(claim.text, &claim.terms);
    let first =
        own.iter().enumerate().position(|(at, word)| word.has_content() && !is_name(claim.text, &claim.terms, at));
    let Some(rest) = first.and_then(|first| own.get(first..)) else { return false };
    let before = own.get(..own.len() - rest.len()).unwrap_or_default();
    let named: Vec<&Word<'_>> = before.iter().filter(|word| word.has_content()).collect();
    let told: Vec<&Word<'_>> = rest.iter().filter(|word| word.has_content()).collect();
    if named.is_empty() || told.len() < LEAST_TOLD {
        return false;
    }
    sources.iter().any(|source| {
        let nearest = nearest_to(claim, source);
        let Some(sentence) = nearest.first().and_then(|number| source.sentences.get(*number)) else { return false };
        let words = said(source, source.tokens_of(sentence));
        let holds = |own: &Word<'_>| words.iter().any(|word| is_same(own, word));
        let Some(start) = words.iter().position(|word| told.iter().any(|own| is_same(own, word))) else { return false };
        let mut leading = words.get(..start).unwrap_or_default().iter();
        let names_other = leading.any(|word| word.has_capital && word.kind == TermKind::Word);
        let held = told.iter().filter(|own| holds(own)).count();
        names_other
            && held * 10 >= told.len() * 9
            && !named.iter().any(|name| holds(name))
            && named.iter().all(|name| source.term(name.stem).is_some())
    })
}

/// Whether a pronoun stands for somebody else than this name: the last sentence before it that names anybody does not name this
/// one.
fn is_not_meant(agent: Side<'_>, told: &Told<'_>, source: &SourceParts) -> bool {
    let names_anybody = |number: &usize| {
        let Some(sentence) = source.sentences.get(*number) else { return false };
        let words = said(source, source.tokens_of(sentence));
        words.iter().skip(1).any(|word| word.has_capital && word.kind == TermKind::Word)
    };
    let before = told.sentence.saturating_sub(MOST_BEFORE)..told.sentence;
    let Some(named) = before.rev().find(names_anybody) else { return false };
    let is_named = |word: &Word<'_>| {
        source
            .term(word.stem)
            .is_some_and(|term| source.postings(term).iter().any(|sentence| (named..=told.sentence).contains(sentence)))
    };
    agent.stands_in(source, |_| true) && !agent.heads().any(is_named)
}

impl Told<'_> {
    fn holder(&self, part: Part) -> Option<Side<'_>> {
        self.deed.holder(part).map(|nouns| Side { words: &self.words, nouns })
    }

    /// Whether somebody follows in an enumeration of which the first has the verb: "Ann pays 3 euros, Ben 4".
    fn is_enumerated(&self, agent: Side<'_>) -> bool {
        let begins = |at: usize| {
            let before = self.words.get(..at).unwrap_or_default().iter().rev().find(|word| word.text != "the");
            before.is_some_and(|word| word.end == End::Comma || matches!(word.text.as_str(), "and" | "or"))
        };
        let is_meant = |at: usize| {
            self.words.get(at).is_some_and(|word| word.has_content() && agent.heads().any(|own| is_same(own, word)))
        };
        (self.deed.at + 1..self.words.len()).any(|at| is_meant(at) && begins(at))
    }

    fn rest(&self, part: Part) -> Side<'_> {
        Side { words: &self.words, nouns: self.deed.rest(part) }
    }
}

/// The nouns on one side of a verb, with the words of their sentence.
#[derive(Clone, Copy)]
struct Side<'d> {
    words: &'d [Word<'d>],
    nouns: &'d Nouns,
}

impl<'d> Side<'d> {
    fn heads(self) -> impl Iterator<Item = &'d Word<'d>> {
        self.nouns.heads.iter().filter_map(move |at| self.words.get(*at))
    }

    fn content(self) -> impl Iterator<Item = &'d Word<'d>> {
        self.words.get(self.nouns.all.clone()).unwrap_or_default().iter().filter(|word| word.has_content())
    }

    /// The words that stand on the other side too.
    fn shared(self, other: Side<'d>) -> impl Iterator<Item = &'d Word<'d>> {
        self.content().filter(move |word| other.content().any(|there| is_same(word, there)))
    }

    fn is_name(self) -> bool {
        self.heads().any(|word| word.has_capital)
    }

    /// Whether they differ in the last name, or in their place in an order: "Councillor Byrne" and "Councillor Haddad", "the first
    /// defendant" and "the second".
    fn is_distinct_from(self, other: Side<'d>) -> bool {
        let lacks = |one: Side<'d>, two: Side<'d>, word: &Word<'_>| {
            one.content().any(|own| own.stem == word.stem) && !two.content().any(|there| is_same(word, there))
        };
        let both = |find: &dyn Fn(Side<'d>) -> Option<&'d Word<'d>>| {
            find(self).is_some_and(|word| lacks(self, other, word))
                && find(other).is_some_and(|word| lacks(other, self, word))
        };
        let is_name = |word: &&Word<'_>| word.has_capital && word.kind == TermKind::Word;
        both(&|side| side.heads().last().filter(is_name))
            || both(&|side| side.heads().find(|word| ORDER.contains(&word.text.as_str())))
    }

    /// Whether one is a short form of the other: "MJ" of "Michael Jordan".
    fn is_short_for(self, other: Side<'_>) -> bool {
        let initials: String = other.heads().filter_map(|word| word.text.chars().next()).collect();
        self.heads().any(|word| word.text == initials)
    }

    /// Whether all its heads stand in sentences of a source that are meant.
    fn stands_in(self, source: &SourceParts, is_meant: impl Fn(usize) -> bool) -> bool {
        let stands = |word: &Word<'_>| {
            let term = source.term(word.stem);
            term.is_some_and(|term| source.postings(term).iter().any(|sentence| is_meant(*sentence)))
        };
        self.heads().all(stands)
    }

    /// Whether the other side holds all its heads.
    fn is_within(self, other: Side<'_>) -> bool {
        self.heads().all(|word| other.content().any(|there| is_same(word, there)))
    }
}

/// Whether two words are forms of one verb.
fn is_form(one: &Word<'_>, other: &Word<'_>) -> bool {
    one.stem == other.stem || other_forms(&one.text).iter().any(|form| *form == other.text)
}

fn is_same(one: &Word<'_>, other: &Word<'_>) -> bool {
    is_form(one, other) || differ_by_ending(one.stem, other.stem, LEAST_LETTERS)
}
