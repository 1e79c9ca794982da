//! Questions of several parts: several questions in one, and comparisons. English only.

use crate::asking::{asks_yes_or_no, is_auxiliary, is_question_word};
use crate::evidence::kind::AnswerKind;
use crate::evidence::{Question, TermMask, frame};
use crate::wording::lower_case_words;

/// Signs between two questions in one sentence, before the word that opens the second.
const JOINTS: [&str; 8] = [", and ", " and ", "; ", ", or ", " or ", ", ", " & ", " n "];

/// Words before a question word with which they open a question together; "in which" and "of what" go on with one.
const BEFORE_OPENING: [&str; 8] = ["until", "till", "by", "since", "from", "for", "on", "at"];

/// Words before the things that are compared.
const COMPARISONS: [&str; 6] = [
    "difference between ",
    "differences between ",
    "differ between ",
    "compare ",
    "relation between ",
    "compared between ",
];

/// Openings of a question for how two things differ, which stand on both sides of the words after them.
const DIFFERENCES: [&str; 6] =
    ["how does ", "how do ", "how is ", "how are ", "in what way does ", "in which way does "];

/// Words between the two.
const DIFFERS: [&str; 4] = [" differ from ", " different from ", " differs from ", " different to "];

/// Words between two things that are compared.
const SEPARATORS: [&str; 7] = [" and ", " with ", " to ", " versus ", " vs. ", " vs ", " or "];

/// Most parts that are looked at.
const MOST_PARTS: usize = 3;

/// Longest part, in bytes, that is named as missing.
const LONGEST_NAMED: usize = 120;

/// One thing that a question asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// Its words, without the question mark.
    pub(super) text: String,
    /// Terms of the question that stand in it and in no other part.
    pub(super) mask: TermMask,
    /// The kind of thing it asks for.
    pub(super) kind: AnswerKind,
    /// Whether it is one of the things compared, not a question.
    pub(super) is_subject: bool,
}

impl Part {
    /// Whether it asks more of what the part before is about: "and when was it released".
    pub(super) fn asks_of_the_same(&self) -> bool {
        const PRONOUNS: [&str; 5] = ["he", "it", "she", "that", "they"];
        lower_case_words(&self.text).any(|word| PRONOUNS.contains(&word.as_str()))
    }

    /// Returns the sentence stating that no sentence was found for this part.
    pub(super) fn missing(&self) -> String {
        let words = self.text.trim_matches(|c: char| !c.is_alphanumeric());
        let is_plain = words.len() <= LONGEST_NAMED && !words.contains(['[', ']', '\\', '`', '*', '\n', ':', '|']);
        match (is_plain, self.is_subject) {
            (true, true) => format!("The sources do not say anything about {words}."),
            // A passage may tell it in other words, or in more sentences than one.
            (true, false) => format!("None of the passages answers “{words}” in one sentence."),
            (false, _) => "None of the passages answers each part of the question in one sentence.".to_owned(),
        }
    }
}

/// The parts of a question, at least two; empty for a question of one.
pub(super) fn parts(question: &Question) -> Vec<Part> {
    let text = question.text.trim();
    let several = questions(text);
    let is_subject = several.len() < 2;
    let texts = if is_subject { compared(text) } else { several };
    let masks: Vec<TermMask> = texts.iter().map(|text| mask_of(question, text)).collect();
    let found: Vec<Part> = texts
        .iter()
        .enumerate()
        .map(|(number, text)| {
            let others = masks.iter().enumerate().filter(|(other, _)| *other != number);
            let shared = others.fold(0, |shared, (_, mask)| shared | mask);
            Part {
                text: text.clone(),
                mask: masks.get(number).copied().unwrap_or_default() & !shared,
                kind: if is_subject { AnswerKind::Other } else { AnswerKind::of(text) },
                is_subject,
            }
        })
        .collect();
    // A part that has no word of its own cannot be looked for.
    if found.len() < 2 || found.iter().any(|part| part.mask == 0) { Vec::new() } else { found }
}

/// The questions that a text consists of.
pub(crate) fn questions(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in text.split_inclusive('?').map(str::trim).filter(|sentence| sentence.ends_with('?')) {
        let mut rest = sentence.trim_end_matches('?');
        while let Some(at) = second_question(rest) {
            found.push(rest.get(..at.start).unwrap_or_default().to_owned());
            rest = rest.get(at.end..).unwrap_or_default();
        }
        found.push(rest.to_owned());
    }
    found.retain(|part| part.split_whitespace().count() > 1);
    found.truncate(MOST_PARTS);
    found
}

/// Where a joint stands before a word that opens a question, past the first word.
fn second_question(text: &str) -> Option<std::ops::Range<usize>> {
    let opens = |after: &str| {
        let mut words = after.split_whitespace().map(str::to_lowercase).peekable();
        words.next_if(|word| BEFORE_OPENING.contains(&word.as_str()));
        words.next().is_some_and(|word| is_question_word(&word))
    };
    // Without a comma "and can" may go on with what is asked.
    let opens_by_verb = |joint: &std::ops::Range<usize>| {
        let is_set_off = text.get(joint.clone()).is_some_and(|joint| joint.starts_with([',', ';']));
        let verb = text.get(joint.end..).and_then(|after| after.split_whitespace().next());
        is_set_off && verb.is_some_and(|verb| is_auxiliary(&verb.to_lowercase()))
    };
    let joints = JOINTS.iter().flat_map(|joint| text.match_indices(joint));
    joints
        .map(|(at, joint)| at..at + joint.len())
        // "of which" and "in what" open nothing; a question before the joint must have its own opening.
        .filter(|joint| text.get(joint.end..).is_some_and(opens) || opens_by_verb(joint))
        .filter(|joint| text.get(..joint.start).is_some_and(has_opening))
        .min_by_key(|joint| (joint.start, std::cmp::Reverse(joint.end)))
}

/// Whether a text opens as a question does.
pub(crate) fn has_opening(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split_whitespace().take(3).any(is_question_word) || asks_yes_or_no(&lower)
}

/// The two things that a question compares.
pub(crate) fn compared(question: &str) -> Vec<String> {
    // Of the same length as the question, so that byte offsets hold in both.
    let lower = question.to_ascii_lowercase();
    let after = COMPARISONS.iter().find_map(|opening| lower.find(opening).map(|at| at + opening.len()));
    let versus = [" versus ", " vs. ", " vs "].iter().any(|word| lower.contains(word));
    let differs = DIFFERS.iter().any(|word| lower.contains(word));
    let before =
        DIFFERENCES.iter().find(|opening| differs && lower.starts_with(**opening)).map(|opening| opening.len());
    let Some(start) = after.or(before).or(versus.then_some(0)) else { return Vec::new() };
    let Some(rest) = lower.get(start..) else { return Vec::new() };
    let separators = if before.is_some() { &DIFFERS[..] } else { &SEPARATORS[..] };
    let split = separators.iter().filter_map(|word| rest.find(word).map(|at| (at, word.len()))).min();
    let Some((at, length)) = split else { return Vec::new() };
    let piece = |range: std::ops::Range<usize>| question.get(range).unwrap_or_default().trim().to_owned();
    let second = piece(start + at + length..question.len());
    let second = second.split(['?', ',', '.']).next().unwrap_or_default().trim().to_owned();
    let both = vec![piece(start..start + at), second];
    if both.iter().any(String::is_empty) { Vec::new() } else { both }
}

/// Terms of the question that occur in a part of it.
fn mask_of(question: &Question, part: &str) -> TermMask {
    let holds = |word: &str| {
        let mut words = part.split(|c: char| !c.is_alphanumeric());
        words.any(|own| own.eq_ignore_ascii_case(word))
    };
    question.terms.mask_where(|term| holds(&term.word) && !frame::asks_how(&term.word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    fn texts(question: &str) -> Vec<String> {
        let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
        parts(&parsed).into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn takes_questions_apart() {
        let rows: [(&str, &[&str]); 20] = [
            (
                "When was Acme founded and who founded the company?",
                &["When was Acme founded", "who founded the company"],
            ),
            (
                "How much is lunch, and until when do I have to order?",
                &["How much is lunch", "until when do I have to order"],
            ),
            ("Who pays for travel, and on which day is it paid?", &["Who pays for travel", "on which day is it paid"]),
            (
                "Who may enter if both lists exist, and does that bind visitors?",
                &["Who may enter if both lists exist", "does that bind visitors"],
            ),
            ("Is prefetch worth it, and what does it cost?", &["Is prefetch worth it", "what does it cost"]),
            ("Who reads and can write?", &[]),
            ("Where is lunch and at what time does it end?", &["Where is lunch", "at what time does it end"]),
            ("how much is lunch & when is it served?", &["how much is lunch", "when is it served"]),
            ("How long is leave? Who grants it?", &["How long is leave", "Who grants it"]),
            ("What is the difference between annual leave and sick days?", &["annual leave", "sick days"]),
            ("Compare the Basic plan with the Premium plan.", &["the Basic plan", "the Premium plan"]),
            ("Postgres vs. MySQL?", &["Postgres", "MySQL"]),
            ("How does tea differ from coffee?", &["tea", "coffee"]),
            ("How are paper and card different from wood?", &["paper and card", "wood"]),
            ("How does one differ?", &[]),
            ("How long is leave?", &[]),
            ("Who wrote Emma and Persuasion?", &[]),
            ("In what year and in which town was she born?", &[]),
            ("Which tools and which licences?", &["Which tools", "which licences"]),
            ("", &[]),
        ];
        for (question, expected) in rows {
            assert_eq!(texts(question), expected, "{question}");
        }
    }

    #[test]
    fn a_missing_part_is_named_in_a_whole_sentence() {
        let part = |text: &str| Part { text: text.to_owned(), mask: 1, kind: AnswerKind::Other, is_subject: false };
        for (text, expected) in [
            ("who repairs laptops", "None of the passages answers “who repairs laptops” in one sentence."),
            ("fees \\[^1]", "None of the passages answers each part of the question in one sentence."),
        ] {
            let missing = part(text).missing();
            assert!(crate::citation::is_ignorance(&missing), "{missing}");
            assert_eq!(missing, expected);
        }
    }
}
