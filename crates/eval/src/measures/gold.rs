//! Whether a text holds a right answer.

use unicode_segmentation::UnicodeSegmentation;

/// Right answers to one question, prepared for searching.
///
/// Texts are compared word by word, as the script of `SQuAD` does (Rajpurkar et al. 2016): case, punctuation
/// and articles do not count, and neither does a possessive ending. Comparing whole words keeps "no" out
/// of "north" and "19" out of "1973".
#[derive(Clone, Debug)]
pub(crate) struct GoldAnswers {
    /// Any of them will do.
    answers: Vec<Vec<String>>,
    /// All of them together will do.
    spans: Vec<Vec<String>>,
}

impl GoldAnswers {
    /// The answers to look for; those without a word are left out. `None` if none is left.
    #[must_use]
    pub(crate) fn new(answers: &[String], spans: &[String]) -> Option<Self> {
        let with_words =
            |texts: &[String]| texts.iter().map(|text| words(text)).filter(|words| !words.is_empty()).collect();
        let gold = Self { answers: with_words(answers), spans: with_words(spans) };
        (!gold.answers.is_empty() || !gold.spans.is_empty()).then_some(gold)
    }

    /// Whether the text contains one of the answers, or all of the spans.
    #[must_use]
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let text = words(text);
        let is_in = |answer: &Vec<String>| text.windows(answer.len()).any(|window| window == answer);
        self.answers.iter().any(is_in) || !self.spans.is_empty() && self.spans.iter().all(is_in)
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
            let gold = GoldAnswers::new(&[answer.to_owned()], &[]).expect("an answer with words");
            assert_eq!(gold.are_in(text), is_held, "{answer:?} in {text:?}");
        }
    }

    #[test]
    fn any_answer_will_do_and_empty_ones_do_not_count() {
        assert!(GoldAnswers::new(&[], &[]).is_none());
        assert!(GoldAnswers::new(&["%".to_owned(), "the".to_owned()], &[]).is_none());
        let gold = GoldAnswers::new(&["%".to_owned(), "tea".to_owned(), "milk".to_owned()], &[]).expect("two answers");
        assert!(gold.are_in("Milk first."));
        assert!(!gold.are_in(""));
    }

    #[test]
    fn all_spans_together_are_an_answer() {
        let both = ["5 (2018)".to_owned(), "7 (2019)".to_owned()];
        let gold = GoldAnswers::new(&["5; 7".to_owned()], &["5".to_owned(), "7".to_owned()]).expect("an answer");
        for (text, is_held) in [("2018: 5 | 2019: 7", true), ("5; 7", true), ("2018: 5", false), ("2019: 7", false)] {
            assert_eq!(gold.are_in(text), is_held, "{text}");
        }
        assert!(!GoldAnswers::new(&both, &[]).expect("answers").are_in("2018: 5"));
    }
}
