//! Questions that no quoted sentence answers: they are given passages. English only.

use serde::{Deserialize, Serialize};

use super::calculation::Figure;
use super::parts::compared;
use super::rows_asked::counts_rows;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::measure::counted;
use crate::opening::is_about_closed;
use crate::planning::QuestionType;
use crate::wording::lower_case_words;

/// Openings of a question for what is to be done.
const STEPS: [&str; 27] = [
    "how to ",
    "how do i ",
    "how do we ",
    "how do you ",
    "how does one ",
    "how can i ",
    "how can we ",
    "how can you ",
    "how can one ",
    "how could i ",
    "how should i ",
    "how should we ",
    "how must i ",
    "how would i ",
    "how would you ",
    "what are the steps ",
    "what steps ",
    "which steps ",
    "what is the procedure ",
    "what is the process ",
    "steps to ",
    "what do i do ",
    "what should i do ",
    "what do i have to do ",
    "what do we do ",
    "what must i do ",
    "what to do ",
];

/// Ends of such a question after what has happened: "The lamp is out, what now?".
const AFTER_EVENT: [&str; 16] = [
    "what can i do",
    "what can we do",
    "what do i do",
    "what do i have to do",
    "what do i do now",
    "what do we do",
    "what has to be done",
    "what is to be done",
    "what must i do",
    "what must we do",
    "what now",
    "what shall i do",
    "what should i do",
    "what should we do",
    "what to do",
    "what to do now",
];

/// Words of a heading under which steps stand.
const STEP_HEADINGS: [&str; 12] = [
    "steps",
    "procedure",
    "procedures",
    "instructions",
    "walkthrough",
    "process",
    "vorgehen",
    "ablauf",
    "schritte",
    "anleitung",
    "étapes",
    "procédure",
];

/// Headings under which reasons stand.
const REASON_HEADINGS: [&str; 14] = [
    "background",
    "cause",
    "causes",
    "motivation",
    "rationale",
    "reason",
    "reasons",
    "root cause",
    "root causes",
    "why",
    "gründe",
    "ursache",
    "warum",
    "pourquoi",
];

/// Headings of what is no instruction.
const ASIDES: [&str; 21] = [
    "acknowledgements",
    "acknowledgments",
    "author",
    "authors",
    "bug reports",
    "changelog",
    "conclusion",
    "conclusions",
    "contents",
    "copyright",
    "credits",
    "further reading",
    "glossary",
    "history",
    "licence",
    "license",
    "references",
    "related",
    "reporting bugs",
    "see also",
    "table of contents",
];

/// Openings of a question for every item of a list.
const LISTINGS: [&str; 19] = [
    "list ",
    "enumerate ",
    "name all ",
    "show all ",
    "give me a list ",
    "give a list ",
    "what are all ",
    "which are all ",
    "what are the different ",
    "what are the available ",
    "what are the supported ",
    "what changed in ",
    "what has changed in ",
    "what's new in ",
    "what is new in ",
    "what was added in ",
    "what was fixed in ",
    "what was removed in ",
    "what are the changes in ",
];

/// Openings of a question for an account of something.
const EXPLANATIONS: [&str; 2] = ["explain ", "describe "];

/// Openings of a question that is for one if it ends so.
const MANNERS: [&str; 2] = ["how does ", "how do "];

/// Ends of a question for an account of something.
const WORKINGS: [&str; 4] = [" work", " works", " function", " happen"];

/// Words that give a reason.
const REASONS: [&str; 21] = [
    "because",
    "due to",
    "owing to",
    "thanks to",
    "since",
    "so that",
    "in order to",
    "as a result",
    "therefore",
    "thus",
    "hence",
    "reason",
    "reasons",
    "cause",
    "caused",
    "causes",
    "to avoid",
    "to prevent",
    "to ensure",
    "to allow",
    "to protect",
];

/// Something that cannot be answered by quoting a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The steps to take.
    Steps,
    /// Two things side by side.
    Comparison,
    /// The gist of a document.
    Overview,
    /// Every item of a list.
    Listing,
    /// An account of something.
    Explanation,
    /// A reason; a sentence that gives one answers the question.
    Reason,
    /// A figure that is calculated from others; a sentence that tells it answers the question.
    Calculation(Figure),
    /// The number of things that are listed; a sentence that tells it answers the question.
    Count(String),
}

/// Why a passage is given. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PassageReason {
    /// Its section tells what to do.
    Steps,
    /// It is about one of the things compared.
    Compared,
    /// It is a part of the document to be summarised.
    Overview,
    /// It holds the list or the table that was asked for.
    List,
    /// It comes nearest to explaining it.
    Explanation,
    /// It holds figures that what is asked for is calculated from.
    Figures,
    /// It comes nearest to the question; no sentence of it surely answers it.
    Closest,
}

impl PassageReason {
    /// All reasons.
    pub const ALL: [Self; 7] =
        [Self::Steps, Self::Compared, Self::Overview, Self::List, Self::Explanation, Self::Figures, Self::Closest];
}

/// The need of a question, if it has one. A question for a number, a date, a person or a place is for that one thing.
pub(super) fn need(question: &Question, question_type: QuestionType) -> Option<Need> {
    let text = question.asked.to_lowercase();
    let asked = text.trim_end_matches(['?', '.', '!', ' ']);
    let begins = |openings: &[&str]| openings.iter().any(|opening| asked.starts_with(opening));
    let is_for_one_thing =
        matches!(question.kind, AnswerKind::Number | AnswerKind::Date | AnswerKind::Person | AnswerKind::Place);
    if question_type == QuestionType::Summary {
        Some(Need::Overview)
    } else if begins(&LISTINGS) {
        Some(Need::Listing)
    } else if question_type == QuestionType::Exploratory {
        Some(Need::Explanation)
    } else if asks_for_steps(asked) {
        Some(Need::Steps)
    } else if let Some(figure) = Figure::asked_for(&question.asked) {
        Some(Need::Calculation(figure))
    } else if let Some(counted) = counted(&question.asked).filter(|_| counts_rows(question)) {
        Some(Need::Count(counted))
    } else if asks_which_are_open(asked) {
        Some(Need::Listing)
    } else if is_for_one_thing {
        None
    } else if asks_why(asked) {
        Some(Need::Reason)
    } else if !compared(&question.text).is_empty() {
        Some(Need::Comparison)
    } else if begins(&EXPLANATIONS) || begins(&MANNERS) && WORKINGS.iter().any(|end| asked.ends_with(end)) {
        Some(Need::Explanation)
    } else {
        (question.kind == AnswerKind::List).then_some(Need::Listing)
    }
}

/// Whether a question asks which of several places are open, or closed.
fn asks_which_are_open(asked: &str) -> bool {
    let words: Vec<String> = lower_case_words(asked).collect();
    let are_several = matches!(words.as_slice(), [which, places, are, ..] if which == "which" && places.ends_with('s') && are == "are");
    are_several && is_about_closed(&words).is_some()
}

/// Whether a question asks what is to be done.
#[must_use]
pub fn asks_for_steps(question: &str) -> bool {
    let asked = question.trim_start().to_lowercase();
    let whole = asked.trim_end_matches(['?', '.', '!', ' ']);
    let is_whole_word =
        |before: &str| before.is_empty() || before.ends_with([' ', ',', '.', ';', ':', '?', '!', '-', '–', '—']);
    STEPS.iter().any(|opening| asked.starts_with(opening))
        || AFTER_EVENT.iter().any(|end| whole.strip_suffix(end).is_some_and(is_whole_word))
}

/// Whether a section is headed as steps, by the innermost of the headings above it.
#[must_use]
pub fn is_headed_as_steps(headings: &[String]) -> bool {
    let words = headings.last().map(String::as_str).map(lower_case_words);
    words.is_some_and(|mut words| words.any(|word| STEP_HEADINGS.contains(&word.as_str())))
}

/// Whether a section is about its document, or leads elsewhere, and the question is not for that.
pub(super) fn is_aside(headings: &[String], question: &str) -> bool {
    let heading = headings.last().map(|heading| heading.to_lowercase()).unwrap_or_default();
    let asked = question.to_lowercase();
    ASIDES.contains(&heading.as_str()) && !heading.split(' ').any(|word| asked.contains(word))
}

/// Whether a passage stands under a heading for reasons.
pub(super) fn is_headed_as_reason(headings: &[String]) -> bool {
    let heading = headings.last().map(|heading| heading.to_lowercase()).unwrap_or_default();
    REASON_HEADINGS.contains(&heading.trim_end_matches(['?', ':']))
}

/// Openings of a question for a reason.
const WHY: [&str; 11] = [
    "why ",
    "how come ",
    "for what reason ",
    "what caused ",
    "what causes ",
    "what is the cause ",
    "what was the cause ",
    "what's the cause ",
    "what is the reason ",
    "what was the reason ",
    "what's the reason ",
];

/// Whether a question asks for a reason.
pub(super) fn asks_why(question: &str) -> bool {
    let asked = question.trim_start().to_lowercase();
    WHY.iter().any(|opening| asked.starts_with(opening))
}

/// Where a reason is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// By the words of a sentence.
    InWords,
    /// By what the sentence stands under: "Cause."
    Headed,
}

impl Reason {
    /// Whether a sentence, or what it stands under, gives a reason.
    pub(super) fn given(sentence: &str, is_headed: bool) -> Option<Self> {
        if is_headed { Some(Self::Headed) } else { gives_reason(sentence).then_some(Self::InWords) }
    }
}

/// Whether a text gives a reason.
pub(super) fn gives_reason(sentence: &str) -> bool {
    let text = format!(" {} ", lower_case_words(sentence).collect::<Vec<_>>().join(" ")).replace(" just because ", " ");
    REASONS.iter().any(|reason| text.contains(&format!(" {reason} ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;
    use crate::planning::plan;

    #[test]
    fn tells_what_no_sentence_answers() {
        let table = [
            ("How do I undo the last commit?", Some(Need::Steps)),
            ("How to mount a disk", Some(Need::Steps)),
            ("What should I do if my laptop is lost?", Some(Need::Steps)),
            ("the pump is wet, what now?", Some(Need::Steps)),
            ("red lamp on the pump: what to do", Some(Need::Steps)),
            ("I lost my key. What do I do now?", Some(Need::Steps)),
            ("I lost my key. What do I do?", Some(Need::Steps)),
            ("what time is it now", None),
            ("Compare annual leave with sick leave.", Some(Need::Comparison)),
            ("What is the difference between tea and coffee?", Some(Need::Comparison)),
            ("Summarise the leave policy", Some(Need::Overview)),
            ("List all signals", Some(Need::Listing)),
            ("What are the fees?", Some(Need::Listing)),
            ("Which offices are open on Tuesday?", Some(Need::Listing)),
            ("Which office is nearest?", None),
            ("Explain rebasing", Some(Need::Explanation)),
            ("How does rebasing work?", Some(Need::Explanation)),
            ("Why is the sky blue?", Some(Need::Reason)),
            ("Why is tea cheaper versus last year?", Some(Need::Reason)),
            ("How many weeks is parental leave?", None),
            ("How many stations are there?", Some(Need::Count("stations".to_owned()))),
            ("How long does it take to work?", None),
            ("When was Roe vs. Wade decided?", None),
            ("Who differs between the two?", None),
            ("How did Napoleon die?", None),
            ("What does -z do?", None),
            ("", None),
        ];
        for (question, expected) in table {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(need(&parsed, plan(question).question_type), expected, "{question}");
        }
    }

    #[test]
    fn tells_a_reason_from_other_sentences() {
        for reason in ["It is blue because of scattering.", "The reason: dust.", "It was closed to avoid accidents."] {
            assert!(gives_reason(reason), "{reason}");
        }
        for other in
            ["The sky is blue.", "He reasoned well.", "It rains in Sincerity.", "Just because it rains we stay.", ""]
        {
            assert!(!gives_reason(other), "{other}");
        }
    }
}
