//! Questions for a figure that is calculated from others: a change, an average, a ratio, a sum. A quotation answers them
//! only where the source tells that figure; otherwise the figures that it is calculated from are given. English only.

use crate::wording::{bare, lower_case_words};

/// Openings of a question for a figure.
const OPENINGS: [&str; 10] = [
    " what is ",
    " what was ",
    " what are ",
    " what were ",
    " what would ",
    " how much ",
    " how many percent ",
    " what percentage ",
    " calculate ",
    " compute ",
];

/// Words of a question for the cause of a change, or for its account.
const ACCOUNTS: [&str; 9] = [
    " why ",
    " reason ",
    " reasons ",
    " caused ",
    " cause ",
    " due to ",
    " attributed ",
    " attributable ",
    " driven by ",
];

/// Words for a change, asked for or told.
const CHANGES: [&str; 8] =
    ["change", "increase", "decrease", "difference", "growth", "decline", "reduction", "variance"];

/// Beginnings of words that tell a change.
const TELLS_CHANGE: [&str; 17] = [
    "change", "changing", "increas", "decreas", "differ", "grew", "grow", "declin", "reduc", "varian", "rose", "rise",
    "rising", "fell", "fall", "drop", "gain",
];

/// Words before a change that make it relative.
const RELATIVE: [&str; 3] = ["percent", "percentage", "relative"];

/// Words for a part of a whole, asked for or told.
const SHARES: [&str; 6] = ["percent", "percentage", "ratio", "proportion", "share", "portion"];

/// Words that tell a part of a whole without a percentage.
const PARTS: [&str; 11] =
    ["half", "third", "thirds", "quarter", "quarters", "fifth", "tenth", "majority", "all", "none", "most"];

/// Openings of two points in time, or of two things, between which a figure changes.
const BETWEEN: [&str; 8] =
    [" between ", " from ", " compared to ", " compared with ", " versus ", " vs ", " relative to ", " over "];

/// Most words between a word for a change and the one that tells what changes.
const MOST_BETWEEN: usize = 2;

/// A figure that is calculated from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// By how much something changes, or two things differ.
    Change,
    /// The same in per cent.
    RelativeChange,
    Average,
    /// A ratio, or a part of a whole.
    Share,
    Sum,
}

/// Whether a word is a year, another period, or an amount: "2019", "FY19", "Q3". "RAID10" is a name.
fn is_point(word: &str) -> bool {
    let word = bare(word).to_lowercase();
    let number = ["fy", "cy", "q", "h"].iter().find_map(|period| word.strip_prefix(period)).unwrap_or(&word);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

impl Figure {
    /// The figure that a question asks to calculate, if it asks for one.
    pub(super) fn asked_for(question: &str) -> Option<Self> {
        let words: Vec<String> = lower_case_words(&question.replace('%', " percent ")).collect();
        let asked = format!(" {} ", words.join(" "));
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| asked.contains(phrase));
        if !has(&OPENINGS) || has(&ACCOUNTS) {
            return None;
        }
        let is_of = |names: &[&str]| {
            let is_name = |(at, word): (usize, &String)| {
                let after = words.get(at + 1..).unwrap_or_default();
                names.contains(&word.as_str()) && after.iter().take(MOST_BETWEEN).any(|next| is_preposition(next))
            };
            words.iter().enumerate().any(is_name)
        };
        if is_of(&CHANGES) {
            let is_relative = words.iter().any(|word| RELATIVE.contains(&word.as_str()));
            let has_two_points = has(&BETWEEN) && question.split_whitespace().any(is_point);
            return match (is_relative, has_two_points) {
                (true, _) => Some(Self::RelativeChange),
                (false, true) => Some(Self::Change),
                (false, false) => None,
            };
        }
        if has(&[" average ", " mean of ", " mean value "]) {
            Some(Self::Average)
        } else if is_of(&SHARES) || has(&[" as a percentage of ", " percentage constitution "]) {
            Some(Self::Share)
        } else {
            has(&[" sum of ", " combined ", " altogether ", " in total "]).then_some(Self::Sum)
        }
    }

    /// Whether a sentence, or a row with the names of its columns, tells such a figure.
    pub(super) fn is_told_by(self, sentence: &str) -> bool {
        let words: Vec<String> = lower_case_words(sentence).collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let tells_change = || words.iter().any(|word| TELLS_CHANGE.iter().any(|stem| word.starts_with(stem)));
        let in_percent = sentence.contains(['%', '٪']) || has(&SHARES) || has(&["bps", "cent"]);
        match self {
            Self::Change => tells_change(),
            Self::RelativeChange => in_percent && tells_change(),
            Self::Average => has(&["average", "averages", "averaged", "averaging", "mean"]),
            Self::Share => in_percent || has(&PARTS) || words.windows(3).any(is_ratio),
            Self::Sum => {
                has(&["sum", "total", "totals", "totaled", "totalled", "combined", "together", "altogether", "both"])
            }
        }
    }
}

/// Whether three words are a ratio: "20 to 1".
fn is_ratio(words: &[String]) -> bool {
    let is_number = |word: &String| word.bytes().all(|digit| digit.is_ascii_digit());
    matches!(words, [one, to, other] if to == "to" && is_number(one) && is_number(other))
}

fn is_preposition(word: &str) -> bool {
    matches!(word, "in" | "of" | "between" | "for" | "from" | "to" | "by")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_to_calculate_is_told_from_one_that_is_stated() {
        for (question, expected) in [
            ("What was the percentage change in revenue from 2018 to 2019?", Some(Figure::RelativeChange)),
            (
                "What is the percentage increase / (decrease) of research costs from 2018 to 2019?",
                Some(Figure::RelativeChange),
            ),
            ("What was the increase in operating income between 2018 and 2019?", Some(Figure::Change)),
            ("What is the change (%) in orders?", Some(Figure::RelativeChange)),
            ("What was the increase in the valuation allowance?", None),
            ("In 2019, what is the ratio of assets to liabilities?", Some(Figure::Share)),
            ("What is cash as a percentage of total assets?", Some(Figure::Share)),
            ("What was the average rent for 2017 and 2018?", Some(Figure::Average)),
            ("What is the sum of the deposits in March?", Some(Figure::Sum)),
            ("Why did revenue decrease from 2018 to 2019?", None),
            ("What was the reason for the change in revenue between 2018 and 2019?", None),
            ("What does the mean time show?", None),
            ("What is the share price?", None),
            ("How many days of leave are there?", None),
            ("", None),
        ] {
            assert_eq!(Figure::asked_for(question), expected, "{question}");
        }
    }

    #[test]
    fn a_sentence_tells_a_figure_by_its_name() {
        for (figure, sentence, expected) in [
            (Figure::RelativeChange, "Revenue rose by 5 % to 3 million.", true),
            (Figure::RelativeChange, "Revenue | 2019: 5 | % change: 25", true),
            (Figure::RelativeChange, "Revenue rose by 3 million.", false),
            (Figure::RelativeChange, "Revenue | 2019: 5 | 2018: 4", false),
            (Figure::Change, "Revenue rose by 3 million.", true),
            (Figure::Change, "Revenue | 2019: 5 | 2018: 4", false),
            (Figure::Average, "Rents averaged 500.", true),
            (Figure::Average, "The rent is 500.", false),
            (Figure::Share, "Two thirds of the assets are cash.", true),
            (Figure::Share, "Cash | 2019: 50", false),
            (Figure::Share, "Settlers outnumbered traders 20 to 1.", true),
            (Figure::Sum, "Total deposits | 7", true),
            (Figure::Sum, "Deposits | 7", false),
        ] {
            assert_eq!(figure.is_told_by(sentence), expected, "{figure:?}: {sentence}");
        }
    }
}
