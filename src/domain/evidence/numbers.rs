//! The numbers a question names: years, amounts, versions, identifiers with a digit.
//!
//! A passage about the right subject but another year or version is the usual near miss.

use std::collections::BTreeSet;

/// The distinct numbers of a text, each in lower case and without thousands separators.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Numbers(BTreeSet<String>);

impl Numbers {
    /// Reads the words of `text` that hold a digit.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(words_with_digits(text).collect())
    }

    /// The numbers, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Share of the numbers that `text` lacks, 0 to 1; 0 if there are none to look for.
    #[must_use]
    pub fn missing_in(&self, text: &str) -> f32 {
        if self.0.is_empty() {
            return 0.0;
        }
        let held: BTreeSet<String> = words_with_digits(text).collect();
        #[expect(clippy::cast_precision_loss, reason = "a question names few numbers")]
        let share = self.0.difference(&held).count() as f32 / self.0.len() as f32;
        share
    }
}

fn words_with_digits(text: &str) -> impl Iterator<Item = String> {
    let is_separator = |c: char| c.is_whitespace() || "-–—/()[]\"“”".contains(c);
    text.split(is_separator).filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).map(|word| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"%$€£+#".contains(c));
        let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
        bare.chars().filter(|c| *c != ',').flat_map(char::to_lowercase).collect()
    })
}
