//! Whether a text holds a right answer.

use unicode_segmentation::UnicodeSegmentation;

/// Right answers to one question, prepared for searching.
///
/// Texts are compared word by word, as the script of `SQuAD` does (Rajpurkar et al. 2016): case, punctuation
/// and articles do not count, and neither does a possessive ending. Comparing whole words keeps "no" out
/// of "north" and "19" out of "1973".
#[derive(Clone, Debug)]
pub(crate) struct GoldAnswers(Vec<Vec<String>>);

impl GoldAnswers {
    /// The answers to look for; those without a word are left out. `None` if none is left.
    #[must_use]
    pub(crate) fn new(answers: &[String]) -> Option<Self> {
        let answers: Vec<Vec<String>> =
            answers.iter().map(|answer| words(answer)).filter(|words| !words.is_empty()).collect();
        (!answers.is_empty()).then_some(Self(answers))
    }

    /// Whether the text contains one of the answers.
    #[must_use]
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let text = words(text);
        self.0.iter().any(|answer| text.windows(answer.len()).any(|window| window == answer))
    }
}

fn words(text: &str) -> Vec<String> {
    text.unicode_words()
        .map(|word| {
            let word = word.to_lowercase();
            let stem = word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).map(str::to_owned);
            stem.unwrap_or(word)
        })
        .filter(|word| !matches!(word.as_str(), "a" | "an" | "the"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_in_order() {
        let table = [
            ("the Walt Disney Company", "owned by Walt Disney\u{2019}s company.", true),
            ("Walt Disney", "Disney, Walt", false),
            ("nearly $12", "rose to nearly 12 dollars", true),
            ("19", "in 1973", false),
            ("no", "the north", false),
            ("1,000", "some 1,000 people", true),
            ("Obama", "Barack-Obama Street", true),
            ("ÉCOLE", "une école", true),
        ];
        for (answer, text, is_held) in table {
            let gold = GoldAnswers::new(&[answer.to_owned()]).expect("an answer with words");
            assert_eq!(gold.are_in(text), is_held, "{answer:?} in {text:?}");
        }
    }

    #[test]
    fn any_answer_will_do_and_empty_ones_do_not_count() {
        assert!(GoldAnswers::new(&[]).is_none());
        assert!(GoldAnswers::new(&["%".to_owned(), "the".to_owned()]).is_none());
        let gold = GoldAnswers::new(&["%".to_owned(), "tea".to_owned(), "milk".to_owned()]).expect("two answers");
        assert!(gold.are_in("Milk first."));
        assert!(!gold.are_in(""));
    }
}
