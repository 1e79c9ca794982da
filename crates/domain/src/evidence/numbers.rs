//! The numbers a question names: years, amounts, versions, identifiers with a digit.
//!
//! A passage about the right subject but another year or version is the usual near miss.

use std::collections::BTreeSet;

use super::range::{self, Amount};
use crate::asked_part::fiscal_year;

/// The distinct numbers of a text, each in lower case and without thousands separators; a fiscal year is a year.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Numbers {
    all: BTreeSet<String>,
    /// Those that are amounts.
    amounts: Vec<Amount>,
}

impl Numbers {
    /// Reads the words of `text` that hold a digit.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self { all: words_with_digits(text).collect(), amounts: range::amounts(text) }
    }

    /// The numbers, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(String::as_str)
    }

    /// Share of the numbers that `text` lacks, also in its ranges, 0 to 1; 0 if there are none to look for.
    #[must_use]
    pub fn missing_in(&self, text: &str) -> f32 {
        if self.all.is_empty() {
            return 0.0;
        }
        let held: BTreeSet<String> = words_with_digits(text).collect();
        let is_in_range = |number: &&String| {
            let mut amounts = self.amounts.iter().filter(|amount| amount.digits == **number);
            amounts.any(|amount| range::fit(amount, text) == Some(true))
        };
        let missing = self.all.difference(&held).filter(|number| !is_in_range(number)).count();
        #[expect(clippy::cast_precision_loss, reason = "a question names few numbers")]
        let share = missing as f32 / self.all.len() as f32;
        share
    }
}

fn words_with_digits(text: &str) -> impl Iterator<Item = String> {
    let is_separator = |c: char| c.is_whitespace() || "-–—/()[]\"“”".contains(c);
    text.split(is_separator).filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"%$€£+#".contains(c));
        let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
        let number: String = bare.chars().filter(|c| *c != ',').flat_map(char::to_lowercase).collect();
        fiscal_year(&number).unwrap_or(number)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers among words, and other characters that a file may contain.
    const TEXT: &str = "(([a-c]|[0-9]{1,2}|1,[0-9]{3}|v[0-9]\\.[0-9]|[$€][0-9]|[0-9]%)(, | |-|'s |/|\n)){0,8}\
        |[0-9,.'’sS \u{0}\u{202e}\u{5d0}\u{660}İ😀-]{0,30}\
        |(?s:.{0,30})";

    proptest! {
        #[test]
        fn no_text_lacks_its_own_numbers_and_a_longer_one_lacks_no_more(asked in TEXT, text in TEXT, more in TEXT) {
            let numbers = Numbers::of(&asked);
            prop_assert!(numbers.missing_in(&asked).abs() < 1e-6);
            let missing = numbers.missing_in(&text);
            prop_assert!((0.0..=1.0).contains(&missing));
            let longer = format!("{text} {more}");
            prop_assert!(numbers.missing_in(&longer) <= missing);
        }

        #[test]
        fn a_number_is_the_same_in_capitals_and_with_a_separator(
            thousands in 1..1_000_u32,
            rest in 0..1_000_u32,
            unit in "[a-z]{0,3}|%",
        ) {
            let plain = format!("{thousands}{rest:03}{unit}");
            let separated = format!("{thousands},{rest:03}{unit}").to_uppercase();
            for text in [&plain, &separated] {
                let numbers = Numbers::of(text);
                prop_assert_eq!(numbers.iter().collect::<Vec<_>>(), [plain.as_str()]);
            }
        }

        #[test]
        fn every_number_has_a_digit_and_no_separator(text in TEXT) {
            for number in Numbers::of(&text).iter() {
                prop_assert!(number.bytes().any(|byte| byte.is_ascii_digit()));
                prop_assert!(!number.contains(|c: char| c == ',' || c.is_whitespace()));
            }
        }
    }
}
