//! Questions for a quantity by its name: "what is the maximum size", "what does it cost", "price of a ticket".

use super::super::phrase::{asked_of, is_preposition, noun_phrase};
use crate::asking::is_auxiliary;

/// Quantities that a question for "the …" of something asks the number of.
const QUANTITIES: [&str; 56] = [
    "age",
    "allowance",
    "amount",
    "average",
    "budget",
    "capacity",
    "charge",
    "cost",
    "delay",
    "deposit",
    "depth",
    "discount",
    "distance",
    "dose",
    "duration",
    "fare",
    "fee",
    "fraction",
    "height",
    "income",
    "interval",
    "length",
    "limit",
    "loss",
    "margin",
    "maximum",
    "minimum",
    "number",
    "percentage",
    "period",
    "population",
    "port",
    "pressure",
    "price",
    "profit",
    "quantity",
    "quota",
    "rate",
    "ratio",
    "rent",
    "revenue",
    "salary",
    "share",
    "size",
    "speed",
    "surcharge",
    "temperature",
    "threshold",
    "timeout",
    "total",
    "turnover",
    "version",
    "voltage",
    "wage",
    "weight",
    "width",
];
/// Sums of money that are named in the plural, of a year.
const SUMS: [&str; 8] = ["assets", "costs", "earnings", "expenses", "liabilities", "proceeds", "revenues", "sales"];
/// Codes that are numbers.
const NUMBERED_CODES: [&str; 5] = ["exit", "status", "error", "return", "response"];
/// Verbs of a code or a quantity that is asked for by itself: "which exit code means …".
const TELLING: [&str; 4] = ["tells", "means", "says", "applies"];
/// Words between "which" or "what", or between "the", and the quantity, at most.
const BEFORE_QUANTITY: usize = 2;
/// Verbs of a question for a price or a wage: "what does it cost".
const PRICING: [&str; 4] = ["cost", "pay", "charge", "earn"];
/// Words after such a verb; after a noun of the same form another verb follows.
const AFTER_PRICING: [&str; 27] = [
    "a", "an", "at", "by", "during", "each", "for", "from", "her", "him", "if", "in", "me", "now", "on", "per", "the",
    "them", "this", "to", "today", "us", "when", "with", "without", "you", "and",
];
/// Words that begin a request without a question word for a quantity: "maximum upload size".
const EXTREMES: [&str; 7] = ["average", "default", "max", "maximum", "min", "minimum", "total"];

/// Whether a question is for a quantity: "what is the maximum number of", "what was our turnover".
pub(super) fn asks_for_quantity(words: &[&str]) -> bool {
    let phrase = noun_phrase(words);
    let is_of_year = || words.iter().any(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()));
    phrase.iter().take(BEFORE_QUANTITY + 1).chain(phrase.last()).any(|word| QUANTITIES.contains(word))
        || phrase.last().is_some_and(|word| SUMS.contains(word)) && is_of_year()
}

/// Whether a question is for a quantity by itself: "what share of the blocks", "since which version".
pub(super) fn asks_which_quantity(words: &[&str]) -> bool {
    let rest = asked_of(words);
    let is_quantity = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| rest.get(before));
        let is_code = rest.get(*at) == Some(&"code") && before.is_some_and(|before| NUMBERED_CODES.contains(before));
        is_code || rest.get(*at).is_some_and(|word| QUANTITIES.contains(word))
    };
    // "Which version of the Bible" is for a name.
    let is_whole = |at: usize| {
        let may_have_parts = rest.get(at) != Some(&"version");
        rest.get(at + 1)
            .is_some_and(|next| is_auxiliary(next) || TELLING.contains(next) || *next == "of" && may_have_parts)
    };
    (0..=BEFORE_QUANTITY).find(is_quantity).is_some_and(is_whole)
}

/// Whether a question is for a price or a wage: "what does a ticket cost", "what do we pay for".
pub(in crate::evidence) fn asks_for_price(words: &[&str]) -> bool {
    let ["what", verb, rest @ ..] = words else { return false };
    let is_asked = |at: usize| rest.get(at + 1).is_none_or(|next| AFTER_PRICING.contains(next));
    let priced = rest.iter().position(|word| PRICING.contains(word)).filter(|at| *at > 0);
    is_auxiliary(verb) && priced.is_some_and(is_asked)
}

/// Whether a request without a question word names a quantity: "price of a single room", "maximum upload size".
pub(super) fn names_quantity(words: &[&str]) -> bool {
    let is_quantity = |word: &&str| QUANTITIES.contains(word);
    match words {
        [extreme, rest @ ..] if EXTREMES.contains(extreme) => {
            rest.iter().take(BEFORE_QUANTITY + 1).take_while(|word| !is_preposition(word)).any(is_quantity)
        }
        [first, "of" | "for" | "per", _, ..] => is_quantity(first),
        _ => false,
    }
}
