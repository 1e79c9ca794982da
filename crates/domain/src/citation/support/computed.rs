//! Differences and sums of two figures that prose tells: "15 euros more than in Germany" of 45 and 60 euros.

use super::nearest::{content, nearest};
use super::polarity::Claim;
use super::word::{Word, claimed, said};
use crate::citation::source::SourceParts;
use crate::citation::support::contradiction::is_year;
use crate::citation::term::TermKind;
use crate::citation::unit::{Unit, is_unit};

/// Most figures of a sentence that others are calculated from.
const MOST_FIGURES: usize = 8;
/// Most sentences of a source in which they are looked for.
const MOST_SENTENCES: usize = 4;
/// Words between a figure of the claim and the word that tells how it is calculated.
const FAR: usize = 4;
/// Words with content on either side of a figure of a source that tell what it is of.
const AROUND: usize = 4;

/// Words for the larger of two.
const MORE: [&str; 26] = [
    "above",
    "additional",
    "after",
    "ahead",
    "bigger",
    "dearer",
    "expensive",
    "extra",
    "faster",
    "grew",
    "heavier",
    "higher",
    "increase",
    "increased",
    "later",
    "longer",
    "mehr",
    "more",
    "older",
    "over",
    "plus",
    "rise",
    "risen",
    "rose",
    "taller",
    "up",
];
/// Words for the smaller of two.
const LESS: [&str; 27] = [
    "below",
    "cheaper",
    "decrease",
    "decreased",
    "down",
    "drop",
    "dropped",
    "earlier",
    "fallen",
    "fell",
    "fewer",
    "less",
    "lighter",
    "lower",
    "moins",
    "saves",
    "shorter",
    "shrank",
    "shrunk",
    "slower",
    "smaller",
    "under",
    "weniger",
    "younger",
    "declined",
    "lost",
    "reduced",
];
/// Words for two that are taken together.
const TOGETHER: [&str; 10] =
    ["all", "altogether", "combined", "ensemble", "insgesamt", "overall", "sum", "together", "total", "zusammen"];
/// Words after which the other one of two stands.
const THAN: [&str; 5] = ["als", "compared", "from", "qu", "than"];

/// How a figure of a claim is calculated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    More,
    Less,
    Together,
}

/// A figure that a sentence tells, with the words around it.
struct Figure<'s> {
    value: f64,
    unit: Option<Unit>,
    around: Vec<&'s str>,
}

/// The figures of the claim that its sources do not hold and that follow from two of them: the positions among its terms.
pub(super) fn computed(claim: &Claim<'_>, sources: &[&SourceParts]) -> Vec<usize> {
    let is_held = |stem: &str| sources.iter().any(|source| source.term(stem).is_some());
    let is_new = |at: &usize| {
        claim.terms.get(*at).is_some_and(|term| {
            matches!(term.kind, TermKind::Number | TermKind::Spelled)
                && !is_year(term.unit, &term.stem)
                && !is_held(&term.stem)
        })
    };
    let new: Vec<usize> = (0..claim.terms.len()).filter(is_new).collect();
    if new.is_empty() {
        return new;
    }
    let words = claimed(claim.text, &claim.terms);
    new.into_iter().filter(|at| sources.iter().any(|source| follows(*at, &words, claim, source))).collect()
}

fn follows(at: usize, words: &[Word<'_>], claim: &Claim<'_>, source: &SourceParts) -> bool {
    let Some(term) = claim.terms.get(at) else { return false };
    let (Some((relation, place)), Ok(value)) = (relation(at, words), term.stem.parse::<f64>()) else { return false };
    let than = words.iter().enumerate().skip(place).find(|(_, word)| THAN.contains(&word.text.as_str()));
    let split = than.map_or(words.len(), |(than, _)| than);
    // Years are held against years: "in 2022 than in 2021".
    let compares_years = words.get(split..).unwrap_or_default().iter().any(Word::is_number);
    let [before, after] = [words.get(..split), words.get(split..)].map(|part| {
        let tells = |word: &&Word<'_>| word.has_content() && (!compares_years || word.is_number());
        part.unwrap_or_default().iter().filter(tells).map(|word| word.stem).collect::<Vec<&str>>()
    });
    let sentences = nearest(content(words), source).into_iter().take(MOST_SENTENCES);
    sentences.filter_map(|near| source.sentences.get(near.sentence)).any(|sentence| {
        let there = said(source, source.tokens_of(sentence));
        let figures = figures(&there, source.tokens_of(sentence).iter().map(|token| token.unit), term.unit);
        let pairs =
            figures.iter().enumerate().flat_map(|(at, one)| figures.iter().skip(at + 1).map(move |two| (one, two)));
        let is_told = |(one, two): (&Figure<'_>, &Figure<'_>)| {
            let (large, small) = if one.value >= two.value { (one, two) } else { (two, one) };
            let alone = |figure: &Figure<'_>, other: &Figure<'_>, words: &[&str]| {
                let is_of_it = |stem: &&&str| figure.around.contains(*stem) && !other.around.contains(*stem);
                words.iter().filter(is_of_it).count()
            };
            let turned = |greater: &Figure<'_>, other: &Figure<'_>| {
                !after.is_empty()
                    && alone(greater, other, &after) + alone(other, greater, &before)
                        > alone(greater, other, &before) + alone(other, greater, &after)
            };
            match relation {
                Relation::Together => is_equal(one.value + two.value, value),
                Relation::More => is_equal(large.value - small.value, value) && !turned(large, small),
                Relation::Less => is_equal(large.value - small.value, value) && !turned(small, large),
            }
        };
        let is_sum =
            || relation == Relation::Together && is_equal(figures.iter().map(|figure| figure.value).sum(), value);
        pairs.into_iter().any(is_told) || figures.len() > 2 && is_sum()
    })
}

fn is_equal(one: f64, two: f64) -> bool {
    (one - two).abs() < 1e-6 * one.abs().max(1.0)
}

/// How the claim says that a figure is calculated, with the place of the word that says so.
fn relation(at: usize, words: &[Word<'_>]) -> Option<(Relation, usize)> {
    let near = |list: &[&str], far: usize| {
        let is_near = |place: &usize| words.get(*place).is_some_and(|word| list.contains(&word.text.as_str()));
        (at.saturating_sub(far)..(at + far + 1).min(words.len())).find(is_near)
    };
    let more = near(&MORE, FAR).map(|place| (Relation::More, place));
    let less = near(&LESS, FAR).map(|place| (Relation::Less, place));
    let together = near(&TOGETHER, words.len()).map(|place| (Relation::Together, place));
    match (more, less) {
        (Some(_), Some(_)) => None,
        (one, two) => one.or(two).or(together),
    }
}

/// The figures of a sentence that count the same.
fn figures<'s>(words: &[Word<'s>], units: impl Iterator<Item = Option<Unit>>, unit: Option<Unit>) -> Vec<Figure<'s>> {
    let is_year = |word: &Word<'_>| is_year(None, word.stem) && !word.text.contains([',', '.']);
    let of_unit = |own: Option<Unit>, word: &Word<'_>| own.is_some() && own == unit || own.is_none() && !is_year(word);
    let numbers =
        words.iter().zip(units).enumerate().filter(|(_, (word, own))| word.is_number() && of_unit(*own, word));
    let figure = |(at, (word, unit)): (usize, (&Word<'s>, Option<Unit>))| {
        let tells =
            |word: &Word<'_>| word.has_content() && (!word.is_number() || is_year(word)) && !is_unit(&word.text);
        let is_joint = |word: &Word<'_>| matches!(word.text.as_str(), "and" | "but" | "et" | "und" | "while");
        let before = words.get(..at).unwrap_or_default().iter().rev();
        let before = before.take_while(|word| !word.ends_clause() && !is_joint(word)).filter(|word| tells(word));
        let after = words.get(at + 1..).unwrap_or_default().iter();
        let mut is_open = !word.ends_clause();
        let after = after.take_while(|word| {
            let is_within = is_open && !is_joint(word);
            is_open = is_within && !word.ends_clause();
            is_within
        });
        let after = after.filter(|word| tells(word));
        let around = before.take(AROUND).chain(after.take(AROUND)).map(|word| word.stem).collect();
        Some(Figure { value: word.stem.parse().ok()?, unit, around })
    };
    let figures: Vec<Figure<'_>> = numbers.filter_map(figure).take(MOST_FIGURES).collect();
    let has_unit = figures.iter().any(|figure| figure.unit == unit);
    if has_unit { figures } else { Vec::new() }
}
