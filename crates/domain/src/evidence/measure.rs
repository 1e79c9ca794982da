//! The measure that a question for a number asks for, and whether a sentence tells one. English only.

use std::ops::RangeInclusive;

use super::kind::{TIME_UNITS, is_number_word};
use crate::wording::lower_case_words;

/// Units of length and of the length of texts.
const LENGTHS: [&str; 26] = [
    "meter",
    "meters",
    "metre",
    "metres",
    "kilometer",
    "kilometers",
    "kilometre",
    "kilometres",
    "mile",
    "miles",
    "foot",
    "feet",
    "inch",
    "inches",
    "yard",
    "yards",
    "km",
    "cm",
    "mm",
    "ft",
    "character",
    "characters",
    "byte",
    "bytes",
    "page",
    "pages",
];

/// Units of time beside those of the clock and of the calendar.
const MORE_TIMES: [&str; 12] = [
    "century",
    "centuries",
    "decade",
    "decades",
    "millisecond",
    "milliseconds",
    "microseconds",
    "ms",
    "fortnight",
    "semester",
    "semesters",
    "season",
];

/// Words for a duration without a number.
const WITHOUT_END: [&str; 11] = [
    "until",
    "till",
    "forever",
    "indefinitely",
    "permanently",
    "permanent",
    "lifetime",
    "lifelong",
    "since",
    "overnight",
    "throughout",
];

/// Units of memory.
const MEMORY: [&str; 26] = [
    "bit",
    "bits",
    "byte",
    "bytes",
    "kb",
    "kib",
    "mb",
    "mib",
    "gb",
    "gib",
    "tb",
    "tib",
    "kilobyte",
    "kilobytes",
    "megabyte",
    "megabytes",
    "gigabyte",
    "gigabytes",
    "terabyte",
    "terabytes",
    "mebibytes",
    "gibibytes",
    "k",
    "m",
    "g",
    "t",
];

/// Words after the number of times that something is done.
const TIMES: [&str; 11] =
    ["time", "times", "attempt", "attempts", "retry", "retries", "try", "tries", "round", "rounds", "occasions"];

/// Words that are such a number by themselves.
const FREQUENCIES: [&str; 3] = ["once", "twice", "thrice"];

/// Words that tell by themselves how often something happens.
const FREQUENT: [&str; 24] = [
    "always",
    "annually",
    "constantly",
    "continuously",
    "daily",
    "each",
    "every",
    "hourly",
    "monthly",
    "never",
    "nightly",
    "often",
    "once",
    "per",
    "quarterly",
    "rarely",
    "regularly",
    "seldom",
    "thrice",
    "twice",
    "usually",
    "weekly",
    "whenever",
    "yearly",
];

/// Signs of currencies, and of a share.
const SIGNS_OF_MONEY: [char; 6] = ['$', '€', '£', '¥', '₹', '%'];

/// Currencies, and words after a sum.
const CURRENCIES: [&str; 22] = [
    "dollar", "dollars", "cent", "cents", "euro", "euros", "pound", "pounds", "pence", "franc", "francs", "yen",
    "rupees", "usd", "eur", "gbp", "chf", "jpy", "million", "billion", "thousand", "percent",
];

/// Most words between a number and its unit: "two and a half years".
const BETWEEN: usize = 3;

/// Digits of the number of a port.
const PORT_DIGITS: RangeInclusive<usize> = 2..=5;

/// A measure with units of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// A time or a length.
    Length,
    /// An amount of memory.
    Memory,
    /// How often something is done.
    Times,
    /// A sum of money.
    Money,
    /// The number of a port.
    Port,
    /// How often something happens.
    Frequency,
}

impl Measure {
    /// The measure that a question asks for by its first words.
    pub(crate) fn asked_for(question: &str) -> Option<Self> {
        let words: Vec<String> = lower_case_words(question).take(BETWEEN).collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["which" | "what", "port" | "ports", ..] | ["which" | "what", _, "port" | "ports"] => Some(Self::Port),
            ["how", "much", ..] if asks_for_money(question) => Some(Self::Money),
            ["how", "long", ..] => Some(Self::Length),
            ["how", "many", "times"] => Some(Self::Times),
            ["how", "often", ..] => Some(Self::Frequency),
            ["how", "much", "memory" | "ram" | "disk" | "storage" | "space"]
            | [
                "how",
                "many",
                "bits" | "bytes" | "kilobytes" | "megabytes" | "gigabytes" | "mb" | "gb" | "mib" | "gib",
            ] => Some(Self::Memory),
            _ => None,
        }
    }

    /// Whether a sentence tells such a measure.
    pub(crate) fn is_told_by(self, sentence: &str) -> bool {
        let words: Vec<String> = lower_case_words(sentence).collect();
        let is_alone = |word: &String| match self {
            Self::Length => WITHOUT_END.contains(&word.as_str()),
            Self::Times => FREQUENCIES.contains(&word.as_str()),
            Self::Frequency => FREQUENT.contains(&word.as_str()),
            Self::Memory | Self::Money => false,
            Self::Port => PORT_DIGITS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit()),
        };
        if self == Self::Money && sentence.contains(SIGNS_OF_MONEY) {
            return true;
        }
        // "After at most 30 days" is as often as that; "at 10 am" is not.
        let is_period = |word: &String| word.len() > 2 && TIME_UNITS.contains(&word.as_str());
        if self == Self::Frequency
            && words.iter().any(is_period)
            && sentence.contains(|sign: char| sign.is_ascii_digit())
        {
            return true;
        }
        let is_measured = |at: usize| {
            let following = words.get(at + 1..).unwrap_or_default().iter().take(BETWEEN);
            following.map(String::as_str).any(|word| self.is_unit(word))
        };
        words.iter().enumerate().any(|(at, word)| {
            let unit = word.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ','));
            let is_joined = unit.len() < word.len() && self.is_short_unit(unit);
            is_alone(word) || is_joined || is_number(word) && is_measured(at)
        })
    }

    fn is_unit(self, word: &str) -> bool {
        match self {
            Self::Length => {
                TIME_UNITS.contains(&word)
                    || MORE_TIMES.contains(&word)
                    || LENGTHS.contains(&word)
                    || self.is_short_unit(word)
            }
            Self::Memory => MEMORY.contains(&word),
            Self::Times | Self::Frequency => TIMES.contains(&word),
            Self::Money => CURRENCIES.contains(&word),
            Self::Port => false,
        }
    }

    /// Whether this is a unit as it is written right after its number: `30s`, `512MiB`.
    fn is_short_unit(self, word: &str) -> bool {
        match self {
            Self::Length => matches!(
                word,
                "s" | "sec"
                    | "secs"
                    | "ms"
                    | "us"
                    | "min"
                    | "mins"
                    | "h"
                    | "hr"
                    | "hrs"
                    | "d"
                    | "m"
                    | "km"
                    | "cm"
                    | "mm"
                    | "ft"
            ),
            Self::Memory => MEMORY.contains(&word),
            Self::Times => word == "x",
            Self::Money | Self::Port | Self::Frequency => false,
        }
    }
}

/// Whether a question for "how much" is for a price.
fn asks_for_money(question: &str) -> bool {
    lower_case_words(question)
        .any(|word| matches!(word.as_str(), "cost" | "costs" | "price" | "charge" | "charges" | "charged"))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|sign: char| sign.is_ascii_digit())
        || is_number_word(word)
        || matches!(word, "a" | "an" | "several" | "few" | "many")
}

/// The things that a question asks to count, in lower case: "days" of "how many days".
pub(crate) fn counted(question: &str) -> Option<String> {
    let mut words = lower_case_words(question);
    let asks = words.next()? == "how" && words.next()? == "many";
    words.next().filter(|_| asks)
}

/// Whether a sentence has a number of such things: "five unused days".
pub(crate) fn counts(sentence: &str, counted: &str) -> bool {
    let words: Vec<String> = lower_case_words(sentence).collect();
    let is_counted = |at: usize| words.iter().skip(at + 1).take(BETWEEN).any(|word| word == counted);
    words.iter().enumerate().any(|(at, word)| is_number(word) && is_counted(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_asked_for_by_the_first_words() {
        let table = [
            ("How long is a lease?", Some(Measure::Length)),
            ("how many times does it retry?", Some(Measure::Times)),
            ("How much memory does it need?", Some(Measure::Memory)),
            ("How many bytes may metadata have?", Some(Measure::Memory)),
            ("How many days do I get?", None),
            ("How much does it cost?", Some(Measure::Money)),
            ("Which port does the pump listen on?", Some(Measure::Port)),
            ("What TCP ports are open?", Some(Measure::Port)),
            ("How often is it oiled?", Some(Measure::Frequency)),
            ("How much water does it use?", None),
            ("Is it known how long it is?", None),
            ("", None),
        ];
        for (question, expected) in table {
            assert_eq!(Measure::asked_for(question), expected, "{question}");
        }
    }

    #[test]
    fn a_measure_is_a_number_with_its_unit() {
        for sentence in [
            "It is oiled every 30 days.",
            "It is oiled three times a year.",
            "Oil it weekly.",
            "It is oiled after at most max seconds (default 3600).",
        ] {
            assert!(Measure::Frequency.is_told_by(sentence), "{sentence}");
        }
        for sentence in ["It is oiled on 24 February.", "It is oiled at 10 am."] {
            assert!(!Measure::Frequency.is_told_by(sentence), "{sentence}");
        }
        assert!(Measure::Port.is_told_by("It listens on 127.0.0.1:8080."));
        assert!(!Measure::Port.is_told_by("Rules depend on host and port; each redirect is like a first request."));
        let table = [
            (Measure::Length, "It lasts 30 seconds.", true),
            (Measure::Length, "It lasts two and a half years.", true),
            (Measure::Length, "The default is 30s.", true),
            (Measure::Length, "It is kept until it is deleted.", true),
            (Measure::Length, "There are two answers.", false),
            (Measure::Length, "It was built in 1990.", false),
            (Measure::Times, "It is tried 20 times.", true),
            (Measure::Times, "It is sent once.", true),
            (Measure::Times, "Errors 503 and 429 are passed on.", false),
            (Measure::Memory, "At most 64 KiB.", true),
            (Measure::Memory, "It takes 512MiB.", true),
            (Measure::Memory, "An index that takes 2.6 times as long.", false),
            (Measure::Memory, "", false),
            (Measure::Money, "It costs 45 EUR a month.", true),
            (Measure::Money, "It cost about £2.", true),
            (Measure::Money, "It is released at 11:00.", false),
        ];
        for (measure, sentence, expected) in table {
            assert_eq!(measure.is_told_by(sentence), expected, "{sentence}");
        }
    }
}
