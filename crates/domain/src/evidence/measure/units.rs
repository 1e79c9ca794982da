//! Units of measures, and words that stand for a number with one. English, but for units of time.

use std::ops::RangeInclusive;

/// Units of length and of the length of texts.
pub(super) const LENGTHS: [&str; 26] = [
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
pub(super) const MORE_TIMES: [&str; 12] = [
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

/// Words for a time from now without a number.
pub(super) const AT_ONCE: [&str; 4] = ["immediately", "instantly", "straightaway", "promptly"];

/// Words of the clock without a number.
pub(super) const OF_CLOCK: [&str; 3] = ["noon", "midday", "midnight"];

/// Units of the clock.
pub(super) const CLOCK: [&str; 5] = ["am", "pm", "clock", "uhr", "heures"];

/// Words before an hour that is a bare number: "from 7.30 to 19".
pub(super) const BEFORE_HOUR: [&str; 11] =
    ["after", "and", "at", "before", "between", "by", "from", "since", "till", "to", "until"];

/// Words for a share without a number.
pub(super) const SHARES: [&str; 12] =
    ["half", "third", "thirds", "quarter", "quarters", "fifth", "tenth", "all", "none", "majority", "entire", "whole"];

/// Units of a share.
pub(super) const PERCENT: [&str; 3] = ["percent", "percentage", "pct"];

/// Units of temperature.
pub(super) const DEGREES: [&str; 5] = ["degree", "degrees", "celsius", "fahrenheit", "kelvin"];

/// Words for a duration without a number.
pub(super) const WITHOUT_END: [&str; 11] = [
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
pub(super) const MEMORY: [&str; 26] = [
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
pub(super) const TIMES: [&str; 11] =
    ["time", "times", "attempt", "attempts", "retry", "retries", "try", "tries", "round", "rounds", "occasions"];

/// Words that are such a number by themselves.
pub(super) const FREQUENCIES: [&str; 3] = ["once", "twice", "thrice"];

/// Words that tell by themselves how often something happens.
pub(super) const FREQUENT: [&str; 24] = [
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
pub(super) const SIGNS_OF_MONEY: [char; 6] = ['$', '€', '£', '¥', '₹', PERCENT_SIGN];

/// The sign of a share.
pub(super) const PERCENT_SIGN: char = '%';

/// The sign of a temperature.
pub(super) const DEGREE_SIGN: char = '°';

/// The last hour of a day.
pub(super) const LAST_HOUR: u8 = 24;

/// Units of time and of length as they are written right after a number.
pub(super) const SHORT_LENGTHS: [&str; 16] =
    ["s", "sec", "secs", "ms", "us", "min", "mins", "h", "hr", "hrs", "d", "m", "km", "cm", "mm", "ft"];

/// Nouns of a price, and verbs of a question for one.
pub(super) const PRICES: [&str; 21] = [
    "budget",
    "charge",
    "charged",
    "charges",
    "cost",
    "costs",
    "deposit",
    "earn",
    "fare",
    "fee",
    "fine",
    "paid",
    "pay",
    "price",
    "rent",
    "salary",
    "surcharge",
    "tax",
    "toll",
    "turnover",
    "wage",
];

/// Words before "number" of a telephone.
pub(super) const TELEPHONES: [&str; 8] =
    ["cell", "direct", "emergency", "extension", "fax", "mobile", "phone", "telephone"];

/// Fewest digits of such a number: more than a year has.
pub(super) const FEWEST_DIGITS: usize = 5;

/// Currencies, and words after a sum.
pub(super) const CURRENCIES: [&str; 22] = [
    "dollar", "dollars", "cent", "cents", "euro", "euros", "pound", "pounds", "pence", "franc", "francs", "yen",
    "rupees", "usd", "eur", "gbp", "chf", "jpy", "million", "billion", "thousand", "percent",
];

/// Most words between a number and its unit: "two and a half years".
pub(super) const BETWEEN: usize = 3;

/// Digits of the number of a port.
pub(super) const PORT_DIGITS: RangeInclusive<usize> = 2..=5;
