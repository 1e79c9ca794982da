//! Headings that state whether what a question asks is so: "Jars are not for oil!". English only.

use super::section::is_question;
use crate::asking::{is_auxiliary, is_question_word};
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::SentenceEvidence;
use crate::markdown::BlockKind;

/// Whether a heading has all words of a question for yes or no in the order of a statement.
pub(super) fn states_whether(question: &Question, heading: &SentenceEvidence, words: &str) -> bool {
    question.kind == AnswerKind::YesNo
        && heading.kind == BlockKind::Heading
        && question.terms.share(heading.mask) >= 1.0
        && !is_question(words)
        && has_verb_of(&question.asked, words)
}

/// Whether a text has the verb that a question begins with behind its own first word, or, for "does", the verb that this stands
/// for: "the jar leaks".
fn has_verb_of(asked: &str, text: &str) -> bool {
    let asked: Vec<String> = words_of(asked).collect();
    let text: Vec<String> = words_of(text).collect();
    let opens = |word: &String| is_auxiliary(word) || is_question_word(word);
    let (Some(verb), Some((first, rest))) = (asked.first(), text.split_first()) else { return false };
    let affirmed = |word: &str| match word {
        "can't" | "cannot" => "can".to_owned(),
        "won't" => "will".to_owned(),
        _ => word.strip_suffix("n't").unwrap_or(word).to_owned(),
    };
    let verb = affirmed(verb);
    let is_done = |word: &String| word.strip_suffix('s').is_some_and(|base| asked.iter().any(|asked| asked == base));
    let has_it = |word: &String| affirmed(word) == verb || verb == "does" && !asked.contains(word) && is_done(word);
    !opens(first) && rest.iter().any(has_it)
}

/// Words in lower case, with straight apostrophes within.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    let is_around = |sign: char| !sign.is_alphanumeric();
    text.split_whitespace().map(move |word| word.trim_matches(is_around).to_lowercase().replace('’', "'"))
}

#[cfg(test)]
mod tests {
    use crate::answering::tests::text;

    #[test]
    fn a_heading_may_state_whether_something_is_so() {
        let page = "## Jar is not a pump!\n\nBoth have lids. With a pump the lids of a jar can be closed.\n\n## Jar supports corks\n\nCorks of all sizes fit, cut ones too.\n\n## Why a jar cannot hold oil\n\nOil is for cans.";
        for (question, expected) in [
            ("Is Jar a pump?", "Jar is not a pump! [^1]"),
            ("Isn't Jar a pump?", "Jar is not a pump! [^1]"),
            ("Does Jar support corks?", "Jar supports corks [^1]"),
        ] {
            let said = text(question, &[page]);
            assert!(said.starts_with(expected), "{question} {said}");
        }
        for (question, other) in [
            ("Is a pump of tin a jar?", "Jar is not a pump!"),
            ("What is a jar that is not a pump?", "Jar is not a pump!"),
            ("Can a jar hold oil?", "Why a jar"),
        ] {
            let said = text(question, &[page]);
            assert!(!said.contains(other), "{question} {said}");
        }
    }
}
