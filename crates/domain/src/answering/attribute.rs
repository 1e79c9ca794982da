//! The attribute that a question asks of something: the salary of "What is the salary of Bo?" English only.

use super::candidate::SentenceCandidate;
use crate::evidence::Question;
use crate::wording::lower_case_words;

/// Openings of such a question.
const OPENINGS: [&str; 6] = ["what is ", "what are ", "what was ", "what were ", "what's ", "tell me "];

/// Most words of an attribute.
const MOST_WORDS: usize = 3;

/// Share of what is asked of a named subject below which a sentence says too little of it.
const LITTLE: f32 = 0.4;

/// Whether a sentence says little of a named subject but its name, or a row of a table cannot tell the attribute that is asked for:
/// no document has a word of it. In prose it may be put otherwise; the columns of a table are named.
pub(super) fn lacks_attribute(question: &Question, best: &SentenceCandidate) -> bool {
    if best.said.is_some_and(|share| share < LITTLE) {
        return true;
    }
    let Some(attribute) = attribute(&question.asked).filter(|_| best.is_row) else { return false };
    let is_of_it = |word: &str| lower_case_words(word).all(|word| attribute.contains(&word));
    let mut terms = question.terms.terms().iter().filter(|term| is_of_it(&term.word)).peekable();
    terms.peek().is_some() && terms.all(|term| term.document_frequency == 0)
}

/// The words of the attribute: those before "of" or "for", or behind a genitive.
fn attribute(question: &str) -> Option<Vec<String>> {
    let asked = question.to_lowercase();
    let asked = asked.trim_end_matches(['?', '.', '!', ' ']);
    let rest = OPENINGS.iter().find_map(|opening| asked.strip_prefix(opening))?;
    let words = match rest.split_once("'s ").or_else(|| rest.split_once("’s ")) {
        Some((_, attribute)) => attribute,
        None => [" of ", " for "].iter().find_map(|joint| rest.split_once(joint)).map(|(attribute, _)| attribute)?,
    };
    let words: Vec<String> =
        lower_case_words(words).filter(|word| !matches!(word.as_str(), "a" | "an" | "the")).collect();
    (1..=MOST_WORDS).contains(&words.len()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_stands_before_of_or_behind_a_genitive() {
        let cases = [
            ("What is the salary of Bo Lind?", Some(vec!["salary"])),
            ("What is Bo Lind's phone number?", Some(vec!["phone", "number"])),
            ("what are the fees for a dog", Some(vec!["fees"])),
            ("Who is the head of sales?", None),
            ("What does Bo Lind earn?", None),
            ("What is the longest of all the rivers that flow?", Some(vec!["longest"])),
        ];
        for (question, expected) in cases {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(attribute(question), expected, "{question}");
        }
    }
}
