//! Figures that a claim gives in another unit than its source, or inexactly: "three days" of 72 hours, "about 12,000" of 12,400.

use super::bound::Bound;
use super::figures::is_date;
use super::polarity::Claim;
use crate::citation::source::{SourceParts, Token};
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::{Unit, unit_named, units_in};
use crate::wording::lower_case;

/// Most numbers of a source that a figure is compared with.
const MOST_NUMBERS: usize = 4096;

/// Factor by which a value may be above or below a number that is told as its bound.
const FARTHEST: f64 = 1.5;

/// Verbs before a bound of what is so. Others tell a condition: "orders over 40 EUR".
const TELLING: [&str; 36] = [
    "are",
    "attracted",
    "contains",
    "cost",
    "costs",
    "covered",
    "covers",
    "earned",
    "employed",
    "employs",
    "had",
    "has",
    "hat",
    "hatte",
    "have",
    "held",
    "holds",
    "houses",
    "is",
    "ist",
    "kostet",
    "lasted",
    "lasts",
    "made",
    "raised",
    "reached",
    "sold",
    "spans",
    "spent",
    "takes",
    "took",
    "totaled",
    "totalled",
    "was",
    "weighs",
    "were",
];

/// Words before a number of a source that is a limit itself.
const LIMITS: [&str; 56] = [
    "ab",
    "above",
    "after",
    "als",
    "as",
    "at",
    "before",
    "below",
    "between",
    "beyond",
    "bis",
    "de",
    "depuis",
    "dès",
    "dépassant",
    "dépasse",
    "dépassent",
    "every",
    "exceed",
    "exceeded",
    "exceeding",
    "exceeds",
    "excess",
    "fewer",
    "from",
    "greater",
    "higher",
    "höchstens",
    "jusqu'à",
    "larger",
    "least",
    "less",
    "limit",
    "longer",
    "max",
    "maximum",
    "mehr",
    "min",
    "mindestens",
    "minimum",
    "moins",
    "more",
    "most",
    "nearly",
    "over",
    "per",
    "plus",
    "than",
    "to",
    "under",
    "unter",
    "until",
    "up",
    "weniger",
    "within",
    "über",
];

/// Whether a word in lower case stands before a limit.
pub(super) fn is_limit(word: &str) -> bool {
    LIMITS.contains(&word)
}

/// Most words before a number of a source in which one of a limit is looked for.
const MOST_BEFORE: usize = 3;

/// Most words behind a number of a source among which is what it counts.
const MOST_AFTER: usize = 3;

/// A figure as a source has it.
pub(super) struct Restated {
    pub(super) stem: String,
    pub(super) unit: Option<Unit>,
    /// The place in the claim of the word for its unit, which the source has in another form.
    pub(super) unit_word: Option<usize>,
}

/// The figure at a place of a claim as its sources have it, where they have it in another unit, or the claim inexactly; `None`
/// where they have it as it is, or several in its stead.
pub(super) fn restated(claim: &Claim<'_>, place: usize, sources: &[&SourceParts]) -> Option<Restated> {
    let term = claim.terms.get(place).filter(|term| term.is_number() && !is_date(claim.text, term))?;
    let numbers = || sources.iter().flat_map(|source| numbers(source));
    if numbers().any(|number| number.stem == term.stem && number.unit == term.unit) {
        return None;
    }
    converted(claim, place, term, numbers()).or_else(|| inexact(claim, place, term, numbers()))
}

/// Whether a claim puts "more than" or "less than" before a number that its sources tell exactly, and nowhere as a limit.
pub(super) fn oversteps(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let is_strict = |place: usize| matches!(Bound::before(claim, place), Some((Bound::Above | Bound::Below, _)));
    let quantities = claim.terms.iter().enumerate().filter(|(_, term)| term.is_number() && !is_date(claim.text, term));
    let mut strict = quantities.filter(|(place, _)| is_strict(*place));
    strict.any(|(_, term)| {
        let same = sources.iter().flat_map(|source| numbers(source));
        let mut same = same.filter(|number| number.stem == term.stem && number.unit == term.unit).peekable();
        same.peek().is_some() && same.all(|number| !number.is_limit())
    })
}

/// A number of a source.
struct Number<'s> {
    source: &'s SourceParts,
    /// Its position among the words of the source.
    at: usize,
    stem: &'s str,
    value: f64,
    unit: Option<Unit>,
}

fn numbers(source: &SourceParts) -> impl Iterator<Item = Number<'_>> {
    let is_number = |token: &Token| matches!(token.kind, TermKind::Number | TermKind::Spelled);
    let tokens = source.tokens.iter().enumerate().filter(move |(_, token)| is_number(token)).take(MOST_NUMBERS);
    tokens.filter_map(|(at, token)| {
        let stem = source.stem(token.term)?;
        Some(Number { source, at, stem, value: stem.parse().ok()?, unit: token.unit })
    })
}

/// The same quantity in another unit.
fn converted<'s>(
    claim: &Claim<'_>,
    place: usize,
    term: &Term,
    mut numbers: impl Iterator<Item = Number<'s>>,
) -> Option<Restated> {
    let (unit, value) = (term.unit?, term.stem.parse::<f64>().ok()?);
    let is_same = |number: &Number<'_>| {
        let factors = number.unit.filter(|other| *other != unit).map(|other| units_in(unit, other)).unwrap_or_default();
        factors
            .iter()
            .any(|factor| (value * factor - number.value).abs() <= f64::EPSILON * number.value.abs().max(1.0) * 8.0)
    };
    let found = numbers.find(is_same)?;
    let is_unit =
        |place: &usize| claim.words.get(*place).is_some_and(|word| unit_named(&lower_case(word)) == Some(unit));
    Some(Restated { stem: found.stem.to_owned(), unit: found.unit, unit_word: Some(place + 1).filter(is_unit) })
}

/// The only value that a bound or a rounded number is told of.
fn inexact<'s>(
    claim: &Claim<'_>,
    place: usize,
    term: &Term,
    numbers: impl Iterator<Item = Number<'s>>,
) -> Option<Restated> {
    let (bound, start) = Bound::before(claim, place)?;
    let is_told = match bound {
        Bound::About | Bound::Almost => true,
        Bound::Above | Bound::Below => {
            let is_verb = claim.words.get(start).is_some_and(|word| word.starts_with("exceed"));
            is_verb || start == 0 || claim.words.get(start - 1).is_some_and(|word| TELLING.contains(&word.as_ref()))
        }
    };
    if !is_told || claim.tells_case() {
        return None;
    }
    let told: f64 = term.stem.parse().ok()?;
    let is_near = |value: f64| value <= told * FARTHEST && told <= value * FARTHEST;
    let counted = counted_behind(claim, place);
    let counts_same = |number: &Number<'_>| term.unit.is_some() || counted.is_none_or(|stem| number.counts(stem));
    let mut found = numbers.filter(|number| {
        number.unit == term.unit
            && counts_same(number)
            && is_near(number.value)
            && bound.holds(number.value, told)
            && !number.is_limit()
    });
    let only = found.next()?;
    let is_other = |other: Number<'_>| other.stem != only.stem;
    (!found.any(is_other)).then(|| Restated { stem: only.stem.to_owned(), unit: only.unit, unit_word: None })
}

/// The stem of the word that a number of a claim counts: the next one, if it has content.
fn counted_behind<'c>(claim: &'c Claim<'_>, place: usize) -> Option<&'c str> {
    let term = claim.terms.get(place + 1).filter(|term| term.kind == TermKind::Word)?;
    let between = claim.text.get(claim.terms.get(place)?.range.end..term.range.start)?;
    between.trim().is_empty().then_some(term.stem.as_str())
}

impl Number<'_> {
    /// Whether a word with this stem follows closely.
    fn counts(&self, stem: &str) -> bool {
        let after = self.source.tokens.get(self.at + 1..).unwrap_or_default().iter().take(MOST_AFTER);
        let term = self.source.term(stem);
        let after: Vec<u32> = after.map(|token| token.term).collect();
        term.is_some_and(|term| after.contains(&term))
    }

    /// Whether it is a limit, or part of a range.
    fn is_limit(&self) -> bool {
        let before = self.source.tokens.get(self.at.saturating_sub(MOST_BEFORE)..self.at).unwrap_or_default();
        let mut words = before.iter().filter_map(|token| self.source.word(&token.bytes)).map(lower_case);
        words.any(|word| is_limit(&word))
    }
}

#[cfg(test)]
mod tests {
    use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

    #[test]
    fn figures_may_have_another_unit_or_be_inexact() {
        let sources = [PreparedSource::new(
            "The contract can be cancelled with 24 months' notice. Delivery takes 72 hours. The timeout is 1500 ms. \
             The bag weighs 2 kg. The town has 12,400 residents. Orders over 50 EUR ship free.",
        )];
        let rows = [
            ("The contract can be cancelled with two years' notice.", true),
            ("The contract can be cancelled with three years' notice.", false),
            ("Delivery takes three days.", true),
            ("Delivery takes 4 days.", false),
            ("The timeout is 1.5 seconds.", true),
            ("The timeout is 15 seconds.", false),
            ("The bag weighs 2,000 g.", true),
            ("The bag weighs 200 g.", false),
            ("The town has about 12,000 residents.", true),
            ("The town has about 15,000 residents.", false),
            ("The town has more than 12,000 residents.", true),
            ("The town has more than 13,000 residents.", false),
            // A limit of the source is no value.
            ("Orders over 40 EUR ship free.", false),
        ];
        for (claim, expected) in rows {
            let support = LexicalScorer::new(&sources).support(claim, &[0]);
            assert_eq!(support.is_enough(), expected, "{claim}: {support:?}");
        }
    }
}
