//! The part of a question that asks: without instructions on the answer, roles and courtesies. English only.
//!
//! "You are an analyst. What were net sales in FY2019? Answer in USD millions." asks "What were net sales in FY2019?".
//! The rest is addressed to the writer of the answer: no document holds it, so it is neither searched for nor expected
//! in a passage. The prompt of the answer keeps the whole question. A polite request becomes the direct question that it
//! stands for: "Could you guide me on how to create an account?" asks "how to create an account?". Hasty writing is read as
//! careful one: "whats the fee" asks "what is the fee?".

mod request;
mod story;
mod typed;
mod words;

use self::request::direct_question;
pub use self::story::{Story, story};
use self::typed::with_care;
use self::words::{FILLERS, Words};
use super::conversation::reply_to_courtesy;
use super::sentence::sentences;
use super::wording::lower_case_words;

/// Openings of a sentence that tells how to answer, or as whom. Word by word, in lower case.
const INSTRUCTIONS: [&str; 66] = [
    "act as",
    "answer",
    "assume that you",
    "assume you",
    "base your answer",
    "base your response",
    "be as",
    "be brief",
    "be concise",
    "be precise",
    "be short",
    "be specific",
    "begin your answer",
    "cite your",
    "do not answer",
    "do not explain",
    "do not guess",
    "do not include",
    "do not invent",
    "do not make",
    "do not use",
    "explain your",
    "express your answer",
    "format the answer",
    "format your",
    "give a brief answer",
    "give a concise answer",
    "give a response",
    "give a short answer",
    "give me a brief answer",
    "give me a short answer",
    "give me the answer",
    "give only",
    "give the answer",
    "give your",
    "here is my question",
    "here is the question",
    "i need you to",
    "i want you to",
    "if you are not sure",
    "if you are unsure",
    "if you cannot",
    "if you do not",
    "keep it",
    "keep the answer",
    "keep your",
    "limit your",
    "provide a response",
    "provide the answer",
    "provide your",
    "reply",
    "respond",
    "return only",
    "return the answer",
    "round the",
    "round to",
    "round your",
    "show your",
    "state your answer",
    "think step by step",
    "use the following",
    "write your",
    "you are a",
    "you are an",
    "you are the",
    "your task is",
];

/// Words that tell a unit in brackets from other remarks.
const UNITS: [&str; 19] = [
    "billion",
    "billions",
    "cents",
    "days",
    "dollars",
    "eur",
    "euros",
    "gbp",
    "hours",
    "million",
    "millions",
    "months",
    "percent",
    "percentage",
    "points",
    "thousand",
    "thousands",
    "usd",
    "years",
];

/// The part of a question that asks; the whole of it where nothing else can be told apart. Fiscal years stand beside the
/// years that they name, as documents write either.
#[must_use]
pub fn asking_part(question: &str) -> String {
    let typed = with_care(question);
    let question = typed.as_str();
    let parts: Vec<String> = sentences(question)
        .iter()
        .filter_map(|sentence| without_instructions(question.get(sentence.words()).unwrap_or_default()))
        .collect();
    let kept = if parts.is_empty() { question.trim().to_owned() } else { parts.join(" ") };
    let asked = without_units(&kept);
    with_years(if asked.trim().is_empty() { question } else { &asked })
}

/// A sentence without the instructions before its question, in the form of a direct one; `None` if it is one, or only greets.
fn without_instructions(sentence: &str) -> Option<String> {
    let mut rest = sentence.trim();
    if reply_to_courtesy(rest).is_some() {
        return None;
    }
    if is_instruction(rest) {
        // "Answer the following question: what is …?"
        rest = rest.split_once(": ").map(|(_, asked)| asked.trim()).filter(|asked| !asked.is_empty())?;
    }
    Some(direct_question(rest))
}

fn is_instruction(sentence: &str) -> bool {
    let mut words = Words::of(sentence);
    words.skip(&FILLERS);
    INSTRUCTIONS.iter().any(|opening| words.begin_with(opening))
}

/// A text without brackets that hold nothing but a unit, such as "(in USD millions)".
fn without_units(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let Some((inner, following)) = after.split_once(')') else { break };
        if is_unit(inner) {
            kept.push_str(before.trim_end());
        } else {
            kept.push_str(before);
            kept.push('(');
            kept.push_str(inner);
            kept.push(')');
        }
        rest = following;
    }
    kept.push_str(rest);
    kept
}

fn is_unit(remark: &str) -> bool {
    let is_of_unit = |word: &str| matches!(word, "in" | "of" | "the" | "us" | "s") || UNITS.contains(&word);
    let words: Vec<String> = lower_case_words(remark).collect();
    words.iter().any(|word| UNITS.contains(&word.as_str())) && words.iter().all(|word| is_of_unit(word))
}

/// A text in which "FY2019" and "FY19" are followed by "2019".
fn with_years(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for piece in text.split_inclusive(|character: char| !character.is_alphanumeric()) {
        let word = piece.trim_end_matches(|character: char| !character.is_alphanumeric());
        written.push_str(word);
        if let Some(year) = fiscal_year(word) {
            written.push(' ');
            written.push_str(&year);
        }
        written.push_str(piece.get(word.len()..).unwrap_or_default());
    }
    written
}

/// The year that a word such as `FY2019` or `fy19` names.
#[must_use]
pub fn fiscal_year(word: &str) -> Option<String> {
    let (prefix, digits) = word.split_at_checked(2)?;
    let is_year = prefix.eq_ignore_ascii_case("fy") && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.len() {
        4 if is_year => Some(digits.to_owned()),
        2 if is_year => Some(format!("20{digits}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn instructions_are_left_out() {
        let table = [
            ("What were net sales? Answer in USD millions.", "What were net sales?"),
            ("You are an analyst. What were net sales?", "What were net sales?"),
            ("Please answer concisely: what were net sales?", "what were net sales?"),
            ("What were net sales? Give your answer as a number.", "What were net sales?"),
            (
                "Answer the following question by using the balance sheet: what is the net PPNE? Round to two decimals.",
                "what is the net PPNE?",
            ),
            ("Could you please tell me how many days I get?", "how many days I get?"),
            ("Question: who repairs laptops?", "who repairs laptops?"),
            ("What is the capital expenditure (in USD millions) of 3M?", "What is the capital expenditure of 3M?"),
            ("Who won? Don't explain it. Kindly keep your answer short.", "Who won?"),
            ("I’d like to know, who won?", "who won?"),
        ];
        for (question, asked) in table {
            assert_eq!(asking_part(question), asked, "{question}");
        }
    }

    #[test]
    fn everything_else_stays() {
        for question in [
            "Who won?",
            "",
            "I joined in March. How many vacation days do I get?",
            "Answer in one word.",
            "answers to common questions",
            "What is the answer to life?",
            "Does the rule (in force since 2019) apply to interns (of all years)?",
            "Wie viele Urlaubstage habe ich?",
            "tell me",
            "How do you round numbers? (see above",
        ] {
            assert_eq!(asking_part(question), question, "{question}");
        }
    }

    #[test]
    fn fiscal_years_are_years() {
        assert_eq!(asking_part("Net sales in FY2019, FY18?"), "Net sales in FY2019 2019, FY18 2018?");
        for word in ["FY", "fy201", "fyord", "FY20x9", "2019", "f", "für19"] {
            assert_eq!(fiscal_year(word), None, "{word}");
        }
    }

    proptest! {
        #[test]
        fn something_is_always_asked(question in "(?s:.{0,80})|((answer|please|you are|tell me|FY19|who|[(]in usd[)]|[.:?!,]) ?){0,12}") {
            let asked = asking_part(&question);
            prop_assert_eq!(asked.trim().is_empty(), question.trim().is_empty(), "{:?}", asked);
        }
    }
}
