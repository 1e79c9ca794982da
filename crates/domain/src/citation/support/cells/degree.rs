//! Words that compare: "fewer", "cheaper", "the most", "cheapest".

use std::borrow::Cow;

use super::amount::Amount;
use crate::citation::support::polarity::Claim;
use crate::citation::unit::Unit;
use crate::wording::is_negation;

/// Beginnings of words in the label of a column that words of comparison measure.
const PRICE: [&str; 10] = ["charg", "cost", "fare", "fee", "kost", "preis", "pric", "prix", "rent", "tarif"];
const WEIGHT: [&str; 4] = ["gewicht", "mass", "poids", "weigh"];
const LENGTH: [&str; 8] = ["dauer", "distan", "durat", "durée", "leng", "läng", "strecke", "time"];
const TIME: [&str; 6] = ["dauer", "delay", "durat", "durée", "latenc", "time"];
const BEGINNING: [&str; 9] = ["built", "establish", "found", "gegründ", "gründ", "launch", "open", "releas", "year"];

/// Words of a claim about prices.
pub(super) const COSTS: [&str; 6] = ["cost", "costs", "coûte", "kosten", "kostet", "priced"];

/// Years that a table may tell.
const YEARS: std::ops::Range<f64> = 1000.0..2100.0;

/// Words between one of comparison and what it measures: "the highest number of residents".
const COUNTING: [&str; 7] = ["amount", "anzahl", "count", "level", "number", "of", "total"];

/// Words behind a comparative before what is compared with.
const THAN: [&str; 3] = ["als", "que", "than"];

/// Words before a superlative of which "most" and "least" are one.
const THE: [&str; 4] = ["its", "the", "their", "whose"];

/// The columns that a word of comparison measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// Those that the claim names.
    Any,
    /// Those with a label that has a word of such a beginning.
    Labelled(&'static [&'static str]),
    /// The same, if their values are years, of which the oldest is the smallest.
    Years,
}

impl Measure {
    /// That of the only comparison of a claim, if it tells more than that.
    pub(super) fn of(claim: &Claim<'_>) -> Option<Self> {
        let degree = Degree::of(&claim.words, |_| false)?;
        let tells_price = claim.words.iter().any(|word| COSTS.contains(&word.as_ref()));
        let measure = if tells_price { Self::PRICE } else { degree.measure };
        (measure != Self::Any).then_some(measure)
    }

    pub(super) const PRICE: Self = Self::Labelled(&PRICE);

    /// A unit of its kind.
    pub(super) fn kind(self) -> Option<Unit> {
        match self {
            Self::Labelled(labels) if labels == PRICE => Some("euro"),
            Self::Labelled(labels) if labels == WEIGHT => Some("kg"),
            Self::Labelled(labels) if labels == TIME => Some("hour"),
            Self::Any | Self::Labelled(_) | Self::Years => None,
        }
    }

    /// Whether an amount can be of this.
    pub(super) fn is_of(self, amount: &Amount) -> bool {
        self != Self::Years || YEARS.contains(&amount.value)
    }

    /// The beginnings of words in the labels of columns that are measured.
    pub(super) const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Any => &[],
            Self::Labelled(labels) => labels,
            Self::Years => &BEGINNING,
        }
    }
}

/// A comparison that a claim makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Degree {
    pub(super) relation: Relation,
    pub(super) measure: Measure,
    /// The places of its first word and of its last.
    pub(super) from: usize,
    pub(super) at: usize,
    /// The place of "than"; none of a superlative.
    pub(super) than: Option<usize>,
}

/// The relation of a value to another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Relation {
    Greater,
    Less,
    /// So many times as large.
    Times(f64),
}

impl Relation {
    /// Whether it is that of one value to another.
    pub(super) fn holds(self, one: f64, other: f64) -> bool {
        match self {
            Self::Greater => one > other,
            Self::Less => one < other,
            Self::Times(factor) => (one - factor * other).abs() <= ROUNDING * one.abs(),
        }
    }
}

/// Comparatives and superlatives without their endings, in lower case: whether they are of the greater, and of what.
const WORDS: [(&str, &str, bool, Measure); 47] = [
    ("bigger", "biggest", true, Measure::Any),
    ("greater", "greatest", true, Measure::Any),
    ("higher", "highest", true, Measure::Any),
    ("larger", "largest", true, Measure::Any),
    ("more", "most", true, Measure::Any),
    ("fewer", "fewest", false, Measure::Any),
    ("less", "least", false, Measure::Any),
    ("lower", "lowest", false, Measure::Any),
    ("smaller", "smallest", false, Measure::Any),
    ("costlier", "costliest", true, Measure::Labelled(&PRICE)),
    ("dearer", "dearest", true, Measure::Labelled(&PRICE)),
    ("pricier", "priciest", true, Measure::Labelled(&PRICE)),
    ("cheaper", "cheapest", false, Measure::Labelled(&PRICE)),
    ("heavier", "heaviest", true, Measure::Labelled(&WEIGHT)),
    ("lighter", "lightest", false, Measure::Labelled(&WEIGHT)),
    ("longer", "longest", true, Measure::Labelled(&LENGTH)),
    ("shorter", "shortest", false, Measure::Labelled(&LENGTH)),
    ("faster", "fastest", false, Measure::Labelled(&TIME)),
    ("slower", "slowest", true, Measure::Labelled(&TIME)),
    ("later", "latest", true, Measure::Years),
    ("newer", "newest", true, Measure::Years),
    ("younger", "youngest", true, Measure::Years),
    ("earlier", "earliest", false, Measure::Years),
    ("older", "oldest", false, Measure::Years),
    // German.
    ("größer", "größt", true, Measure::Any),
    ("höher", "höchst", true, Measure::Any),
    ("mehr", "meist", true, Measure::Any),
    ("geringer", "geringst", false, Measure::Any),
    ("kleiner", "kleinst", false, Measure::Any),
    ("niedriger", "niedrigst", false, Measure::Any),
    ("weniger", "wenigst", false, Measure::Any),
    ("teurer", "teuerst", true, Measure::Labelled(&PRICE)),
    ("billiger", "billigst", false, Measure::Labelled(&PRICE)),
    ("günstiger", "günstigst", false, Measure::Labelled(&PRICE)),
    ("schwerer", "schwerst", true, Measure::Labelled(&WEIGHT)),
    ("leichter", "leichtest", false, Measure::Labelled(&WEIGHT)),
    ("länger", "längst", true, Measure::Labelled(&LENGTH)),
    ("kürzer", "kürzest", false, Measure::Labelled(&LENGTH)),
    ("schneller", "schnellst", false, Measure::Labelled(&TIME)),
    ("langsamer", "langsamst", true, Measure::Labelled(&TIME)),
    ("jünger", "jüngst", true, Measure::Years),
    ("neuer", "neuest", true, Measure::Years),
    ("später", "spätest", true, Measure::Years),
    ("früher", "frühest", false, Measure::Years),
    ("älter", "ältest", false, Measure::Years),
    // French.
    ("plus", "", true, Measure::Any),
    ("moins", "", false, Measure::Any),
];

/// Words between "as" and "as".
const AS: [(&str, Measure); 14] = [
    ("big", Measure::Any),
    ("expensive", Measure::PRICE),
    ("few", Measure::Any),
    ("groß", Measure::Any),
    ("heavy", Measure::Labelled(&WEIGHT)),
    ("high", Measure::Any),
    ("hoch", Measure::Any),
    ("large", Measure::Any),
    ("long", Measure::Labelled(&LENGTH)),
    ("many", Measure::Any),
    ("much", Measure::Any),
    ("teuer", Measure::PRICE),
    ("viel", Measure::Any),
    ("viele", Measure::Any),
];

/// Words before "as", or before "times as".
const TIMES: [(&str, f64); 10] = [
    ("half", 0.5),
    ("halb", 0.5),
    ("twice", 2.0),
    ("doppelt", 2.0),
    ("two", 2.0),
    ("three", 3.0),
    ("dreimal", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("ten", 10.0),
];

/// Share of a value by which a multiple may be rounded.
const ROUNDING: f64 = 0.05;

/// Endings of German superlatives.
const ENDINGS: [&str; 5] = ["e", "em", "en", "er", "es"];

/// Words behind "more" and "less" that tell what is compared.
const EXPENSIVE: [&str; 3] = ["cher", "costly", "expensive"];

impl Degree {
    /// The only comparison of a claim, but for words of names; `None` where there are several, or a denial.
    pub(super) fn of(words: &[Cow<'_, str>], is_name: impl Fn(usize) -> bool) -> Option<Self> {
        if words.iter().any(|word| is_negation(word)) {
            return None;
        }
        let mut found = Self::all(words, is_name);
        found.next().filter(|_| found.next().is_none())
    }

    /// The comparisons of a claim, but for words of names.
    pub(super) fn all<'w>(
        words: &'w [Cow<'_, str>],
        is_name: impl Fn(usize) -> bool + 'w,
    ) -> impl Iterator<Item = Self> + 'w {
        let places = (0..words.len()).filter(move |at| !is_name(*at));
        places.filter_map(|at| Self::at(words, at)).chain(Self::as_many_as(words))
    }

    /// Whether a word in lower case compares.
    pub(super) fn is_of(word: &str) -> bool {
        let is_superlative = |superlative: &str| !superlative.is_empty() && word.starts_with(superlative);
        WORDS.iter().any(|(comparative, superlative, ..)| word == *comparative || is_superlative(superlative))
    }

    /// The one of "as many as" and "twice as expensive as".
    fn as_many_as(words: &[Cow<'_, str>]) -> Option<Self> {
        let mut as_words = words.iter().enumerate().filter(|(_, word)| matches!(word.as_ref(), "as" | "so"));
        let (from, _) = as_words.next()?;
        let than = words.iter().enumerate().skip(from + 2).find(|(_, word)| matches!(word.as_ref(), "as" | "wie"))?.0;
        let (_, measure) = AS.iter().find(|(word, _)| words.get(from + 1).is_some_and(|own| own == word))?;
        let before = |back: usize| from.checked_sub(back).and_then(|place| words.get(place)).map_or("", AsRef::as_ref);
        let is_multiple = |word: &str| word.ends_with("mal") || matches!(word, "fois" | "times");
        let counted = |word: &str| TIMES.iter().find(|(times, _)| *times == word).map(|(_, factor)| *factor);
        let factor = match before(1) {
            "times" => counted(before(2))?,
            word => counted(word).or_else(|| (!is_multiple(word)).then_some(1.0))?,
        };
        Some(Self { relation: Relation::Times(factor), measure: *measure, from, at: from + 1, than: Some(than) })
    }

    /// The place of the word behind it, but for those that count.
    pub(super) fn measured(self, words: &[Cow<'_, str>]) -> Option<usize> {
        let mut behind = words.iter().enumerate().skip(self.at + 1);
        behind.find(|(_, word)| !COUNTING.contains(&word.as_ref())).map(|(place, _)| place)
    }

    fn at(words: &[Cow<'_, str>], at: usize) -> Option<Self> {
        let word = words.get(at)?.as_ref();
        let before = at.checked_sub(1).and_then(|before| words.get(before)).map_or("", AsRef::as_ref);
        let after = words.get(at + 1).map_or("", AsRef::as_ref);
        let is_of_price = EXPENSIVE.contains(&after);
        let degree = |is_greater, measure, than| {
            let relation = if is_greater { Relation::Greater } else { Relation::Less };
            let (last, measure) = if is_of_price { (at + 1, Measure::PRICE) } else { (at, measure) };
            Self { relation, measure, from: at, at: last, than }
        };
        let than = || words.iter().enumerate().skip(at + 1).find(|(_, word)| THAN.contains(&word.as_ref()));
        WORDS.iter().find_map(|(comparative, superlative, is_greater, measure)| {
            if word == *comparative {
                return Some(degree(*is_greater, *measure, Some(than()?.0)));
            }
            let ending = word.strip_prefix(superlative).filter(|_| !superlative.is_empty())?;
            // "At least", and "most plans".
            let is_one = match *superlative {
                "most" | "least" => is_of_price || (THE.contains(&before) && after != "of"),
                _ => before != "at",
            };
            let is_whole =
                ending.is_empty() && (superlative.ends_with("est") || matches!(*superlative, "most" | "least"));
            (is_one && (is_whole || ENDINGS.contains(&ending))).then(|| degree(*is_greater, *measure, None))
        })
    }
}
