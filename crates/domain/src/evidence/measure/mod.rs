//! The measure that a question for a number or a time asks for, and whether a sentence tells one. English only.

mod units;

use self::units::{
    AT_ONCE, BEFORE_HOUR, BETWEEN, CLOCK, CURRENCIES, DEGREE_SIGN, DEGREES, FEWEST_DIGITS, FREQUENCIES, FREQUENT,
    LAST_HOUR, LENGTHS, MEMORY, MORE_TIMES, OF_CLOCK, PERCENT, PERCENT_SIGN, PORT_DIGITS, PRICES, SHARES,
    SHORT_LENGTHS, SIGNS_OF_MONEY, TELEPHONES, TIMES, WITHOUT_END,
};
use super::kind::{TIME_UNITS, asks_for_price, is_number_word};
use super::phrase::{asked_of, noun_phrase};
use crate::wording::{has_digit, lower_case_words};

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
    /// A time of the day.
    Clock,
    /// A part of a whole.
    Share,
    /// A temperature.
    Temperature,
    /// The number of a telephone or an extension.
    Telephone,
}

impl Measure {
    /// The measure that a question asks for by its wording.
    pub(crate) fn asked_for(question: &str) -> Option<Self> {
        let words: Vec<String> = lower_case_words(question).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let first = words.get(..words.len().min(BETWEEN)).unwrap_or_default();
        match (first, asked_of(&words)) {
            (["which" | "what", "port" | "ports", ..] | ["which" | "what", _, "port" | "ports"], _) => Some(Self::Port),
            (["how", "many", "times"], _) => Some(Self::Times),
            (["how", "often" | "frequently", ..], _) => Some(Self::Frequency),
            (
                ["how", "much", "memory" | "ram" | "disk" | "storage" | "space"]
                | [
                    "how",
                    "many",
                    "bits" | "bytes" | "kilobytes" | "megabytes" | "gigabytes" | "mb" | "gb" | "mib" | "gib",
                ],
                _,
            ) => Some(Self::Memory),
            (["how", "late" | "early", ..], _) | (_, ["time" | "hour" | "hours", ..]) => Some(Self::Clock),
            (["how", "hot" | "cold" | "warm", ..], _) | (_, ["temperature", ..]) => Some(Self::Temperature),
            (_, ["percent" | "percentage" | "proportion" | "share", ..]) => Some(Self::Share),
            (["how", "long" | "soon" | "quickly" | "far" | "tall" | "wide" | "deep" | "thick", ..], _) => {
                Some(Self::Length)
            }
            (["how", "expensive", ..], _) => Some(Self::Money),
            (["how", "much", ..], _) if words.iter().any(|word| PRICES.contains(word)) => Some(Self::Money),
            _ if asks_for_price(&words) => Some(Self::Money),
            _ => Self::named_by(noun_phrase(&words)),
        }
    }

    /// The measure of a quantity that is asked for by its name: "monthly rent".
    fn named_by(phrase: &[&str]) -> Option<Self> {
        if let [.., line, "number" | "numbers"] = phrase
            && TELEPHONES.contains(line)
        {
            return Some(Self::Telephone);
        }
        match *phrase.last()? {
            "period" | "duration" => Some(Self::Length),
            "temperature" => Some(Self::Temperature),
            "percentage" | "proportion" => Some(Self::Share),
            noun if PRICES.contains(&noun) => Some(Self::Money),
            _ => None,
        }
    }

    /// Whether a row of a table tells such a measure, of which the header, or nobody, may name the unit.
    pub(crate) fn is_told_by_row(self, row: &str) -> bool {
        let has_unit = || match self {
            Self::Money | Self::Share | Self::Telephone | Self::Temperature => true,
            _ => lower_case_words(row).any(|word| self.is_unit(&word)),
        };
        has_digit(row) && has_unit() || self.is_told_by(row)
    }

    /// Whether a sentence tells such a measure.
    pub(crate) fn is_told_by(self, sentence: &str) -> bool {
        let words: Vec<String> = lower_case_words(sentence).collect();
        let is_number_at = |at: usize| words.get(at).is_some_and(|word| is_number(word));
        let is_measured = |at: usize| {
            let following = words.get(at + 1..).unwrap_or_default().iter().take(BETWEEN);
            following.map(String::as_str).any(|word| self.is_unit(word))
        };
        let in_words = || {
            words.iter().enumerate().any(|(at, word)| {
                let unit = word.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ','));
                let is_joined = unit.len() < word.len() && self.is_short_unit(unit);
                self.is_alone(word) || is_joined || is_number(word) && is_measured(at)
            })
        };
        // "After at most 30 days" is as often as that; "at 10 am" is not.
        let is_period = |word: &String| word.len() > 2 && TIME_UNITS.contains(&word.as_str());
        let is_told = match self {
            // "CHF 30", "$5".
            Self::Money => {
                let is_sum = |(at, word): (usize, &String)| CURRENCIES.contains(&word.as_str()) && is_number_at(at + 1);
                sentence.contains(SIGNS_OF_MONEY) || words.iter().enumerate().any(is_sum)
            }
            Self::Frequency => words.iter().any(is_period) && has_digit(sentence),
            Self::Share => sentence.contains(PERCENT_SIGN) || sentence.to_lowercase().contains("per cent"),
            Self::Temperature => sentence.contains(DEGREE_SIGN),
            Self::Clock => words.windows(2).any(is_hour) || shows_clock(sentence),
            Self::Telephone => shows_telephone(sentence),
            _ => false,
        };
        is_told || in_words()
    }

    /// Whether a word tells such a measure without a unit.
    fn is_alone(self, word: &str) -> bool {
        match self {
            Self::Length => WITHOUT_END.contains(&word) || AT_ONCE.contains(&word),
            Self::Times => FREQUENCIES.contains(&word),
            Self::Frequency => FREQUENT.contains(&word),
            Self::Clock => OF_CLOCK.contains(&word),
            Self::Share => SHARES.contains(&word),
            Self::Port => PORT_DIGITS.contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Memory | Self::Money | Self::Telephone | Self::Temperature => false,
        }
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
            Self::Clock => CLOCK.contains(&word),
            Self::Share => PERCENT.contains(&word),
            Self::Temperature => DEGREES.contains(&word),
            Self::Port | Self::Telephone => false,
        }
    }

    /// Whether this is a unit as it is written right after its number: `30s`, `512MiB`.
    fn is_short_unit(self, word: &str) -> bool {
        match self {
            Self::Length => SHORT_LENGTHS.contains(&word),
            Self::Memory => MEMORY.contains(&word),
            Self::Times => word == "x",
            Self::Clock => matches!(word, "am" | "pm" | "h"),
            Self::Money | Self::Port | Self::Frequency | Self::Share | Self::Telephone | Self::Temperature => false,
        }
    }
}

/// Whether two words are an hour: "at 7", "from 19".
fn is_hour(words: &[String]) -> bool {
    let [before, hour] = words else { return false };
    BEFORE_HOUR.contains(&before.as_str()) && hour.parse::<u8>().is_ok_and(|hour| hour <= LAST_HOUR)
}

/// Whether a text shows a time of the day in digits: "7:30", "17h30".
fn shows_clock(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    text.match_indices([':', 'h']).any(|(at, _)| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)))
}

/// Whether a text shows the number of a telephone, with what may stand between its digits, or that of an extension.
fn shows_telephone(text: &str) -> bool {
    let belongs = |sign: char| sign.is_ascii_digit() || matches!(sign, ' ' | '-' | '/' | '(' | ')' | '+' | '.');
    let digits = |run: &str| run.chars().filter(char::is_ascii_digit).count();
    let names_extension = || lower_case_words(text).any(|word| matches!(word.as_str(), "ext" | "extension"));
    text.split(|sign: char| !belongs(sign)).any(|run| digits(run) >= FEWEST_DIGITS)
        || has_digit(text) && names_extension()
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
            ("What does a ticket cost?", Some(Measure::Money)),
            ("What is the monthly rent?", Some(Measure::Money)),
            ("Until what time is it open?", Some(Measure::Clock)),
            ("How late can I call?", Some(Measure::Clock)),
            ("At what temperature is milk kept?", Some(Measure::Temperature)),
            ("What percentage of members must agree?", Some(Measure::Share)),
            ("What is the notice period?", Some(Measure::Length)),
            ("How soon do I get it back?", Some(Measure::Length)),
            ("What is the version of the pump?", None),
            ("Is it known how long it is?", None),
            ("", None),
        ];
        for (question, expected) in table {
            assert_eq!(Measure::asked_for(question), expected, "{question}");
        }
    }

    #[test]
    fn the_unit_of_a_row_may_stand_anywhere_or_nowhere() {
        assert!(Measure::Length.is_told_by_row("Occasion: Birth | Days: 15"));
        assert!(!Measure::Length.is_told_by_row("Occasion: Birth | Form: 15"));
        assert!(Measure::Money.is_told_by_row("Item: Uniform | Each: 2.15"));
        assert!(!Measure::Money.is_told_by_row("Item: Uniform | Each: on request"));
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
            (Measure::Money, "A ticket is CHF 30.", true),
            (Measure::Money, "Tickets are sold at gate 3.", false),
            (Measure::Clock, "The last one leaves at 23:10.", true),
            (Measure::Clock, "We open at 9.", true),
            (Measure::Clock, "Fermé à 17h30.", true),
            (Measure::Clock, "It closes at noon.", true),
            (Measure::Clock, "It closes on 24 December.", false),
            (Measure::Share, "Two thirds must agree.", true),
            (Measure::Share, "It needs 20 %.", true),
            (Measure::Share, "It needs 20 votes.", false),
            (Measure::Temperature, "Between 2 and 8 °C.", true),
            (Measure::Temperature, "Between 2 and 8 people.", false),
            (Measure::Length, "It must be reported immediately.", true),
        ];
        for (measure, sentence, expected) in table {
            assert_eq!(measure.is_told_by(sentence), expected, "{sentence}");
        }
    }
}
