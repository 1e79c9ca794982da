//! Words that ask: those that open a question, and the verbs that stand before its subject. English, but for `languages`.

pub(crate) mod languages;

/// Words that open a question.
const QUESTION_WORDS: [&str; 9] = ["who", "whom", "whose", "what", "when", "where", "which", "why", "how"];

/// Verbs before the subject of a question, which open one for yes or no.
const AUXILIARIES: [&str; 20] = [
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "may", "must", "should", "will", "would", "has",
    "have", "had", "am", "might", "shall",
];

/// Words of a request for an account of something, which name nothing that it is about.
const INSTRUCTIONS: [&str; 12] = [
    "compare",
    "describe",
    "explain",
    "give",
    "know",
    "list",
    "more",
    "need",
    "show",
    "summarise",
    "summarize",
    "tell",
];

/// Whether a word in lower case tells what is to be done with the things that the other words name.
pub(crate) fn is_instruction(word: &str) -> bool {
    INSTRUCTIONS.contains(&word)
}

/// Whether a word in lower case opens a question.
pub(crate) fn is_question_word(word: &str) -> bool {
    QUESTION_WORDS.contains(&word)
}

/// Whether a word in lower case is a verb that stands before the subject of a question, denied or not: "can't".
pub(crate) fn is_auxiliary(word: &str) -> bool {
    let affirmed = match word.strip_suffix("'t") {
        Some("won") => "will",
        Some("can") => "can",
        Some(denied) => denied.strip_suffix('n').unwrap_or(denied),
        None => word,
    };
    AUXILIARIES.contains(&affirmed)
}

/// Whether a text in lower case is a question for yes or no.
pub(crate) fn asks_yes_or_no(text: &str) -> bool {
    text.trim_start().split_once(' ').is_some_and(|(first, _)| is_auxiliary(first))
}

/// The office or the calling in "Who is the mechanic?", "Wer ist der Mechaniker?", "Qui est le mécanicien ?", in lower case.
pub(crate) fn office(question: &str) -> Option<String> {
    const OPENINGS: [&str; 10] = [
        "who is the ",
        "who's the ",
        "who is our ",
        "who is your ",
        "wer ist der ",
        "wer ist die ",
        "wer ist unser ",
        "qui est le ",
        "qui est la ",
        "qui est notre ",
    ];
    let asked = question.trim().to_lowercase();
    let office = OPENINGS.iter().find_map(|opening| asked.strip_prefix(opening))?;
    Some(office.trim_end_matches(['?', '.', '!', ' ', '\u{a0}']).to_owned())
}
