//! Words that qualify what a sentence says: that something must or may be, the limit that a number or a time is, what a
//! number is counted by, by whom something is done, that it is planned, and that it holds even where a condition is not met.
//!
//! Claim and source are compared where both qualify the same verb, number, time or deed. English, and the plainest German.

use std::collections::HashMap;

use crate::citation::source::{SourceParts, Token};
use crate::citation::term::{Term, TermKind};
use crate::wording::{is_negation, lower_case};

/// Most qualified words of a text: no honest sentence has more.
const MOST: usize = 32;
/// Most words of the name of whoever does something.
const LONGEST_NAME: usize = 4;

/// Words between a qualifier and what it qualifies.
const ARTICLES: [&str; 15] =
    ["a", "all", "an", "any", "each", "every", "her", "his", "its", "our", "that", "the", "their", "this", "your"];

/// Words that limit a statement to cases.
const CONDITIONS: [&str; 9] = ["except", "if", "only", "provided", "unless", "ausgenommen", "nur", "sofern", "wenn"];

/// A word of a text.
#[derive(Debug, Clone)]
pub(super) struct Word<'w> {
    stem: &'w str,
    /// In lower case.
    text: String,
    kind: TermKind,
    /// Whether a sign that ends a clause follows.
    ends_clause: bool,
}

/// The way in which a claim qualifies otherwise than its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Requalified {
    /// One tells what must be, the other what may be.
    Modality,
    /// One tells the least or the earliest, the other the most or the latest.
    Limit,
    /// A number is counted by something else.
    Measure,
    /// Somebody else does it.
    Agent,
    /// It is only planned, proposed or considered.
    Plan,
    /// It is said to hold even where a condition of the source is not met.
    Condition,
}

impl Requalified {
    /// Whether the source says something else, and not merely less.
    pub(super) const fn is_contrary(self) -> bool {
        !matches!(self, Self::Plan)
    }
}

/// How a claim qualifies otherwise than the words of its source that hold most of it, if it does.
pub(super) fn requalified(claim: &[Word<'_>], source: &[Word<'_>]) -> Option<Requalified> {
    let differs = [
        (Requalified::Modality, differs(&modalities(claim), &modalities(source), |one, two| one == two)),
        (Requalified::Limit, differs(&limits(claim), &limits(source), |one, two| one == two)),
        (Requalified::Measure, is_measured_otherwise(claim, source)),
        (
            Requalified::Agent,
            differs(&agents(claim), &agents(source), |one, two| one.iter().any(|name| two.contains(name))),
        ),
        (Requalified::Plan, !is_tentative(claim) && is_planned(claim, source)),
        (Requalified::Condition, concedes(claim) && !concedes(source) && has_condition(source)),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map(|(way, _)| way)
}

/// The words of a claim.
pub(super) fn claimed<'w>(text: &'w str, terms: &'w [Term]) -> Vec<Word<'w>> {
    let ends = terms.iter().skip(1).map(|term| term.range.start).chain([text.len()]);
    let words = terms.iter().zip(ends).filter_map(|(term, end)| {
        let word = text.get(term.range.clone())?;
        Some(Word::new(&term.stem, word, term.kind, text.get(term.range.end..end)?))
    });
    words.collect()
}

/// The words of a source that these tokens are.
pub(super) fn said<'w>(source: &'w SourceParts, tokens: &[Token]) -> Vec<Word<'w>> {
    let last = tokens.last().map_or(0, |token| token.bytes.end);
    let ends = tokens.iter().skip(1).map(|token| token.bytes.start).chain([last]);
    let words = tokens.iter().zip(ends).filter_map(|(token, end)| {
        let word = source.word(&token.bytes)?;
        let gap = source.word(&(token.bytes.end..end)).unwrap_or_default();
        Some(Word::new(source.stem(token.term)?, word, token.kind, gap))
    });
    words.collect()
}

impl<'w> Word<'w> {
    fn new(stem: &'w str, word: &str, kind: TermKind, gap: &str) -> Self {
        let is_abbreviated = word.contains('.') && gap.starts_with('.');
        let ends_clause =
            !is_abbreviated && gap.contains([',', ';', ':', '.', '(', ')', '—', '–', '\n', '|', '?', '!']);
        Self { stem, text: lower_case(word).into_owned(), kind, ends_clause }
    }

    const fn has_content(&self) -> bool {
        !matches!(self.kind, TermKind::Stop)
    }

    const fn is_number(&self) -> bool {
        matches!(self.kind, TermKind::Number | TermKind::Spelled)
    }
}

/// Words that are qualified, with their qualifications.
type Qualified<'w, Q> = HashMap<&'w str, Vec<Q>>;

/// Whether both qualify one thing, and never alike.
fn differs<Q>(claim: &Qualified<'_, Q>, source: &Qualified<'_, Q>, is_same: impl Fn(&Q, &Q) -> bool) -> bool {
    claim.iter().any(|(qualified, own)| {
        let there = source.get(qualified).map(Vec::as_slice).unwrap_or_default();
        !there.is_empty() && !own.iter().any(|one| there.iter().any(|two| is_same(one, two)))
    })
}

/// The first two words there.
fn pair<'p>(words: &'p [Word<'_>]) -> [&'p str; 2] {
    [0, 1].map(|at| words.get(at).map_or("", |word| word.text.as_str()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Modality {
    Must,
    May,
}

/// The verbs that tell an obligation or a permission. Denials are compared elsewhere, and "may only" is neither.
fn modalities<'w>(words: &[Word<'w>]) -> Qualified<'w, Modality> {
    let is_plain = |word: &Word<'_>| word.text != "only" && !is_negation(&word.text);
    let is_verb = |word: &Word<'_>| word.has_content() && is_plain(word) && !word.text.ends_with("ly");
    let mut found: Qualified<'_, Modality> = HashMap::new();
    for at in 0..words.len() {
        let here = words.get(at..).unwrap_or_default();
        let (modality, length) = match pair(here) {
            ["must" | "shall", _] => (Modality::Must, 1),
            ["may" | "can" | "could" | "might", _] => (Modality::May, 1),
            ["has" | "have" | "need" | "needs" | "required" | "obliged", "to"] => (Modality::Must, 2),
            ["allowed" | "permitted" | "entitled" | "able" | "free", "to"] => (Modality::May, 2),
            _ => continue,
        };
        let after = here.get(length..).unwrap_or_default();
        let Some(verb) = after.iter().position(is_verb) else { break };
        let before = words.get(at.saturating_sub(1)..at).unwrap_or_default();
        let between = after.get(..verb).unwrap_or_default();
        if let Some(verb) = after.get(verb)
            && before.iter().chain(between).all(is_plain)
            && found.len() < MOST
        {
            found.entry(verb.stem).or_default().push(modality);
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// At least, from, after.
    Least,
    /// At most, until, before.
    Most,
}

impl Limit {
    const fn turned(self) -> Self {
        match self {
            Self::Least => Self::Most,
            Self::Most => Self::Least,
        }
    }
}

/// The numbers and times that are limits.
fn limits<'w>(words: &[Word<'w>]) -> Qualified<'w, Limit> {
    let mut found: Qualified<'_, Limit> = HashMap::new();
    for at in 0..words.len() {
        let here = words.get(at..).unwrap_or_default();
        let (limit, length) = match pair(here) {
            ["more" | "longer" | "later" | "greater" | "higher" | "larger", "than"]
            | ["at", "least"]
            | ["minimum", "of"] => (Limit::Least, 2),
            ["less" | "fewer" | "earlier" | "sooner" | "lower" | "smaller" | "shorter", "than"]
            | ["at", "most"]
            | ["up", "to"]
            | ["maximum", "of"]
            | ["bis", "zu"] => (Limit::Most, 2),
            ["over" | "above" | "after" | "since" | "from" | "mindestens", _] => (Limit::Least, 1),
            ["under" | "below" | "within" | "before" | "until" | "till" | "höchstens", _] => (Limit::Most, 1),
            _ => continue,
        };
        let is_turned =
            words.get(at.saturating_sub(1)..at).is_some_and(|before| matches!(pair(before), ["no" | "not", _]));
        let is_of_time = ["after", "since", "before", "until", "till"].contains(&pair(here)[0]);
        let after = here.get(length..).unwrap_or_default();
        let limited = after.iter().find(|word| !ARTICLES.contains(&word.text.as_str()));
        if let Some(word) = limited.filter(|word| word.is_number() || is_of_time && word.has_content())
            && found.len() < MOST
        {
            found.entry(word.stem).or_default().push(if is_turned { limit.turned() } else { limit });
        }
    }
    found
}

/// Whether both tell what something is counted by, and the claim names a measure that the source does not hold.
fn is_measured_otherwise(claim: &[Word<'_>], source: &[Word<'_>]) -> bool {
    let measures = |words: &[Word<'_>]| -> Vec<String> {
        let after =
            words.iter().zip(words.iter().skip(1)).filter(|(per, _)| ["per", "pro", "je"].contains(&per.text.as_str()));
        after.map(|(_, measure)| measure.stem.to_owned()).collect()
    };
    let is_there = |stem: &String| source.iter().any(|word| word.stem == stem);
    let own = measures(claim);
    !own.is_empty() && !own.iter().any(is_there) && !measures(source).is_empty()
}

/// Those by whom something is done ("approved by the line manager"), by the verb.
fn agents<'w>(words: &[Word<'w>]) -> Qualified<'w, Vec<&'w str>> {
    let mut found: Qualified<'_, Vec<&str>> = HashMap::new();
    for at in 0..words.len() {
        let Some([verb, by, article, name @ ..]) = words.get(at..) else { break };
        let is_participle = verb.has_content() && ["ed", "en"].iter().any(|ending| verb.text.ends_with(ending));
        if !is_participle || by.text != "by" || !ARTICLES.contains(&article.text.as_str()) || found.len() == MOST {
            continue;
        }
        let length = name.iter().take_while(|word| word.has_content()).count();
        let end = name.iter().position(|word| word.ends_clause).map_or(length, |end| length.min(end + 1));
        let name: Vec<&str> = name.iter().take(end.min(LONGEST_NAME)).map(|word| word.stem).collect();
        if !name.is_empty() {
            found.entry(verb.stem).or_default().push(name);
        }
    }
    found
}

/// Whether the source tells something that is planned, or that somebody plans to do what the claim tells.
fn is_planned(claim: &[Word<'_>], source: &[Word<'_>]) -> bool {
    (0..source.len()).any(|at| {
        let here = source.get(at..).unwrap_or_default();
        match pair(here) {
            ["is" | "are" | "been" | "being", "planned" | "proposed" | "suggested"]
            | ["being" | "is" | "are", "considering" | "discussed"]
            | ["being", "considered"]
            | ["under", "consideration" | "discussion" | "review"]
            | ["unreleased", _] => true,
            // "(planned Q3 2027)", "Planned for autumn", "PLANNED: a second desk".
            ["planned", next] => here.first().is_some_and(|word| word.ends_clause) || is_time_or_place(next),
            ["plan" | "plans" | "propose" | "proposes" | "intend" | "intends" | "hope" | "hopes", "to"] => {
                here.get(2).is_some_and(|verb| claim.iter().any(|word| word.stem == verb.stem))
            }
            _ => false,
        }
    })
}

/// Whether a word after "planned" begins the time for which something is.
fn is_time_or_place(word: &str) -> bool {
    let is_quarter = word.len() == 2 && word.starts_with('q');
    is_quarter || matches!(word, "by" | "for" | "in" | "not" | "on" | "until")
}

/// Whether a text leaves open whether something is so.
fn is_tentative(words: &[Word<'_>]) -> bool {
    const STEMS: [&str; 10] =
        ["aim", "consid", "consider", "discuss", "hope", "intend", "plan", "propos", "review", "suggest"];
    const WORDS: [&str; 7] = ["could", "if", "may", "might", "perhaps", "should", "would"];
    words.iter().any(|word| STEMS.contains(&word.stem) || WORDS.contains(&word.text.as_str()))
}

/// Whether a text says that something holds in a case where one would doubt it.
fn concedes(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| {
        matches!(
            pair(words.get(at..).unwrap_or_default()),
            ["even", "if" | "when"]
                | ["regardless" | "irrespective", _]
                | ["however", "much" | "many" | "long" | "often"]
                | ["whether", "or"]
                | ["auch", "wenn" | "dann"]
        )
    })
}

fn has_condition(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| CONDITIONS.contains(&word.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::term::terms;

    fn way(claim: &str, source: &str) -> Option<Requalified> {
        let (own, there) = (terms(claim), terms(source));
        requalified(&claimed(claim, &own), &claimed(source, &there))
    }

    #[test]
    fn qualifiers_of_the_same_are_compared() {
        let cases = [
            ("The buyer has to withdraw.", "The buyer may withdraw from the order.", Requalified::Modality),
            (
                "Visitors may wear a badge.",
                "A badge must be worn, and visitors must wear shoes.",
                Requalified::Modality,
            ),
            ("You are allowed to encrypt backups.", "Backups: you need to encrypt them.", Requalified::Modality),
            ("Cancel free of charge from 18:00.", "Free of charge until 18:00.", Requalified::Limit),
            ("The fee is at least 20 euros.", "The fee is up to 20 euros.", Requalified::Limit),
            ("Report it after the journey.", "It is reported before the journey.", Requalified::Limit),
            ("It takes more than 30 days.", "It takes no more than 30 days.", Requalified::Limit),
            ("390 euros per group.", "Fees per person: 390 euros.", Requalified::Measure),
            (
                "It is approved by the human resources officer.",
                "It is approved by the line manager, normally.",
                Requalified::Agent,
            ),
            ("There will be a course in autumn.", "A course is planned for autumn.", Requalified::Plan),
            ("They banned bottles.", "The country plans to ban bottles.", Requalified::Plan),
            ("A certificate however much they attend.", "A certificate if they attend.", Requalified::Condition),
        ];
        for (claim, source, expected) in cases {
            assert_eq!(way(claim, source), Some(expected), "{claim} {source}");
        }
    }

    #[test]
    fn others_are_not() {
        let cases = [
            ("The buyer can withdraw.", "The buyer may withdraw."),
            ("The car may only be driven by members.", "The car must be driven carefully."),
            ("Loads may only be driven slowly.", "Loads must be driven slowly."),
            ("You must not smoke.", "You may not smoke."),
            ("It must be kept cold.", "It may be opened."),
            ("No later than 9 o'clock.", "Before 9 o'clock."),
            ("Not before 9 o'clock.", "From 9 o'clock."),
            ("It lasts more than 30 days.", "It lasts at least 30 days."),
            ("From 8 to 17.", "Until 17, from 8."),
            ("10 euros per person and night.", "10 euros per person."),
            ("It is approved by the manager.", "It is approved by the line manager."),
            ("It is approved by the manager.", "It is checked by the clerk."),
            ("It is covered even if it was lost.", "It is covered."),
            ("A course may come.", "A course is planned."),
            ("Guests need no visa.", "Guests who plan to travel need no visa."),
        ];
        for (claim, source) in cases {
            assert_eq!(way(claim, source), None, "{claim} {source}");
        }
    }
}
