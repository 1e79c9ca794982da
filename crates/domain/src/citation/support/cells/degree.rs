//! Words that compare: "fewer", "cheaper", "the most", "cheapest".

use std::borrow::Cow;

use super::amount::Amount;
use crate::citation::support::polarity::Claim;
use crate::citation::unit::Unit;
use crate::column_names::{BEGINNINGS, DURATIONS, LENGTHS, Names, PRICES, WEIGHTS};
use crate::wording::is_negation;

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

/// Words with the endings of comparatives and superlatives that are none.
const NO_COMPARATIVES: [&str; 3] = ["either", "other", "rather"];
const NO_SUPERLATIVES: [&str; 13] = [
    "best", "chest", "contest", "digest", "forest", "guest", "harvest", "interest", "nest", "request", "rest", "test",
    "west",
];

/// Words before "plus" and "moins" of a superlative.
const LE: [&str; 3] = ["la", "le", "les"];

/// The quantity that a word of comparison measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    /// The columns that the claim names.
    Any,
    Price,
    Weight,
    Length,
    Duration,
    /// Years, of which the oldest is the smallest.
    Year,
}

impl Measure {
    /// That of the only comparison of a claim, if it tells more than that.
    pub(super) fn of(claim: &Claim<'_>) -> Option<Self> {
        let degree = Degree::of(&claim.words, |_| false)?;
        let tells_price = claim.words.iter().any(|word| COSTS.contains(&word.as_ref()));
        let measure = if tells_price { Self::Price } else { degree.measure };
        (measure != Self::Any).then_some(measure)
    }

    /// The names of the columns that hold it; `None` of those that the claim has to name.
    pub(super) const fn names(self) -> Option<&'static Names> {
        match self {
            Self::Any => None,
            Self::Price => Some(&PRICES),
            Self::Weight => Some(&WEIGHTS),
            Self::Length => Some(&LENGTHS),
            Self::Duration => Some(&DURATIONS),
            Self::Year => Some(&BEGINNINGS),
        }
    }

    /// A unit of its kind.
    pub(super) const fn unit(self) -> Option<Unit> {
        match self {
            Self::Price => Some("euro"),
            Self::Weight => Some("kg"),
            Self::Duration => Some("hour"),
            Self::Any | Self::Length | Self::Year => None,
        }
    }

    /// Whether an amount can be of this.
    pub(super) fn is_of(self, amount: &Amount) -> bool {
        self != Self::Year || YEARS.contains(&amount.value)
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
    ("costlier", "costliest", true, Measure::Price),
    ("dearer", "dearest", true, Measure::Price),
    ("pricier", "priciest", true, Measure::Price),
    ("cheaper", "cheapest", false, Measure::Price),
    ("heavier", "heaviest", true, Measure::Weight),
    ("lighter", "lightest", false, Measure::Weight),
    ("longer", "longest", true, Measure::Length),
    ("shorter", "shortest", false, Measure::Length),
    ("faster", "fastest", false, Measure::Duration),
    ("slower", "slowest", true, Measure::Duration),
    ("later", "latest", true, Measure::Year),
    ("newer", "newest", true, Measure::Year),
    ("younger", "youngest", true, Measure::Year),
    ("earlier", "earliest", false, Measure::Year),
    ("older", "oldest", false, Measure::Year),
    // German.
    ("größer", "größt", true, Measure::Any),
    ("höher", "höchst", true, Measure::Any),
    ("mehr", "meist", true, Measure::Any),
    ("geringer", "geringst", false, Measure::Any),
    ("kleiner", "kleinst", false, Measure::Any),
    ("niedriger", "niedrigst", false, Measure::Any),
    ("weniger", "wenigst", false, Measure::Any),
    ("teurer", "teuerst", true, Measure::Price),
    ("billiger", "billigst", false, Measure::Price),
    ("günstiger", "günstigst", false, Measure::Price),
    ("schwerer", "schwerst", true, Measure::Weight),
    ("leichter", "leichtest", false, Measure::Weight),
    ("länger", "längst", true, Measure::Length),
    ("kürzer", "kürzest", false, Measure::Length),
    ("schneller", "schnellst", false, Measure::Duration),
    ("langsamer", "langsamst", true, Measure::Duration),
    ("jünger", "jüngst", true, Measure::Year),
    ("neuer", "neuest", true, Measure::Year),
    ("später", "spätest", true, Measure::Year),
    ("früher", "frühest", false, Measure::Year),
    ("älter", "ältest", false, Measure::Year),
    // French.
    ("plus", "", true, Measure::Any),
    ("moins", "", false, Measure::Any),
];

/// Words between "as" and "as".
const AS: [(&str, Measure); 14] = [
    ("big", Measure::Any),
    ("expensive", Measure::Price),
    ("few", Measure::Any),
    ("groß", Measure::Any),
    ("heavy", Measure::Weight),
    ("high", Measure::Any),
    ("hoch", Measure::Any),
    ("large", Measure::Any),
    ("long", Measure::Length),
    ("many", Measure::Any),
    ("much", Measure::Any),
    ("teuer", Measure::Price),
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

/// Endings of German comparatives and superlatives.
const ENDINGS: [&str; 5] = ["e", "em", "en", "er", "es"];

/// Words behind "more" and "less" that tell what is compared.
const EXPENSIVE: [&str; 6] = ["cher", "chère", "chères", "chers", "costly", "expensive"];

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

    /// Whether a claim compares by a word that is not known here: "colder than", "the warmest".
    pub(super) fn is_unknown(words: &[Cow<'_, str>]) -> bool {
        words.windows(2).any(|pair| {
            let [one, two] = pair else { return false };
            let is_comparative = || two == "than" && one.ends_with("er") && !NO_COMPARATIVES.contains(&one.as_ref());
            let is_superlative = || one == "the" && two.ends_with("est") && !NO_SUPERLATIVES.contains(&two.as_ref());
            is_comparative() || is_superlative()
        })
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
            let (last, measure) = if is_of_price { (at + 1, Measure::Price) } else { (at, measure) };
            Self { relation, measure, from: at, at: last, than }
        };
        let than = || words.iter().enumerate().skip(at + 1).find(|(_, word)| THAN.contains(&word.as_ref()));
        WORDS.iter().find_map(|(comparative, superlative, is_greater, measure)| {
            let is_inflected = |ending: &str| ending.is_empty() || ENDINGS.contains(&ending);
            if word.strip_prefix(comparative).is_some_and(is_inflected) {
                let is_french_superlative = superlative.is_empty() && LE.contains(&before);
                let than = if is_french_superlative { None } else { Some(than()?.0) };
                return Some(degree(*is_greater, *measure, than));
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
