//! Polite requests as the direct questions that they stand for. English only.

use super::words::{FILLERS, Words};
use crate::asking::{is_auxiliary, is_question_word};

/// Words that greet before a request.
const GREETINGS: [&str; 6] = ["hi there", "hello there", "hi", "hello", "hey", "dear all"];

/// Openings that ask somebody to do something.
const MODALS: [&str; 10] = [
    "can you",
    "could you",
    "would you",
    "will you",
    "can someone",
    "could someone",
    "can anyone",
    "could anyone",
    "are you able to",
    "i would like you to",
];

/// Openings that say that something is asked, before the question itself.
const WISHES: [&str; 22] = [
    "any idea",
    "do you have any idea",
    "do you know",
    "does anyone know",
    "i am curious",
    "i am wondering",
    "i need to know",
    "i need to understand",
    "i want to know",
    "i want to learn",
    "i want to understand",
    "i was wondering",
    "i wonder",
    "i would like to know",
    "i would like to learn",
    "i would like to understand",
    "let me know",
    "my question is",
    "question",
    "we need to know",
    "we want to know",
    "we would like to know",
];

/// Requests to be told something.
const TELL: [&str; 9] =
    ["clarify", "find out", "let me know", "remind me", "remind us", "show me", "show us", "tell me", "tell us"];

/// Requests for an account of something.
const EXPLAIN: [&str; 6] = ["describe to me", "describe", "elaborate on", "explain to me", "explain to us", "explain"];

/// Requests to be shown how something is done.
const GUIDE: [&str; 11] = [
    "assist me",
    "guide me",
    "guide us",
    "help me",
    "help us",
    "instruct me",
    "show me the way",
    "teach me",
    "walk me",
    "walk us",
    "help",
];

/// Requests to be given something.
const GIVE: [&str; 8] =
    ["get me", "give me", "give us", "provide me with", "provide us with", "provide", "send me", "share"];

/// Requests that are understood as they are.
const PLAIN: [&str; 10] =
    ["compare", "define", "enumerate", "list", "name", "outline", "recommend", "suggest", "summarise", "summarize"];

/// Openings of a question for a way of doing something.
const WAYS: [&str; 11] = [
    "is there a way to",
    "is there an easy way to",
    "is there any way to",
    "what is the best way to",
    "what is the correct way to",
    "what is the easiest way to",
    "what is the preferred way to",
    "what is the proper way to",
    "what is the recommended way to",
    "what is the right way to",
    "what is the way to",
];

/// Words between a request for information and its subject.
const ABOUT: [&str; 4] = ["about", "regarding", "concerning", "on the subject of"];

/// Words for how much is to be told.
const HOW_MUCH: [&str; 16] = [
    "a bit",
    "a few",
    "a little",
    "additional",
    "all",
    "any",
    "anything",
    "brief",
    "detailed",
    "everything",
    "further",
    "general",
    "more",
    "some",
    "something",
    "the",
];

/// Words for information of no particular kind, with the word before its subject.
const INFORMATION: [&str; 16] = [
    "details about",
    "details of",
    "details on",
    "details regarding",
    "examples of",
    "guidance on",
    "info about",
    "info on",
    "information about",
    "information on",
    "information regarding",
    "insight into",
    "insights into",
    "insights on",
    "background on",
    "context on",
];

/// Openings of an indirect question for a number, or for what to do.
const HOW_MUCH_OF: [&str; 9] =
    ["how big", "how far", "how fast", "how large", "how long", "how many", "how much", "how often", "how to"];

/// The direct question that a sentence stands for; the sentence itself where it is no request.
pub(super) fn direct_question(sentence: &str) -> String {
    request(sentence).filter(|asked| asked.chars().any(char::is_alphanumeric)).unwrap_or_else(|| sentence.to_owned())
}

/// Words that begin a question, also behind "and".
const ASKING: [&str; 19] = [
    "are", "can", "could", "did", "do", "does", "how", "is", "may", "must", "should", "was", "were", "what", "which",
    "who", "whom", "why", "will",
];

/// Words that begin a question before one of the verbs among these, and a condition before others: "and when it rains".
const OF_TIME_AND_PLACE: [&str; 2] = ["when", "where"];

fn request(sentence: &str) -> Option<String> {
    let mut words = Words::of(sentence);
    let greeted = words.after_any(&GREETINGS).filter(|_| sentence.contains([',', '!']));
    words = greeted.unwrap_or(words);
    let joined = words;
    words.skip(&FILLERS);
    words.skip(&["but", "or"]);
    let opening = words.after_any(&OF_TIME_AND_PLACE).unwrap_or(words);
    let is_joined = words.rest() != joined.rest() && ASKING.iter().any(|word| opening.begin_with(word));
    if let Some(rest) = words.after_any(&WAYS) {
        return Some(format!("how to {}", rest.rest()));
    }
    if let Some(rest) = words.after_any(&WISHES) {
        return told(rest);
    }
    let asked = words.after_any(&MODALS);
    let mut act = asked.unwrap_or(words);
    act.skip(&FILLERS);
    act.skip(&["maybe", "perhaps", "briefly", "quickly"]);
    if let Some(rest) = act.after_any(&TELL) {
        told(rest)
    } else if let Some(rest) = act.after_any(&GUIDE) {
        guided(rest)
    } else if let Some(rest) = act.after_any(&GIVE) {
        given(rest)
    } else if let Some(rest) = act.after_any(&EXPLAIN) {
        explained(rest)
    } else if asked.is_some() {
        PLAIN.iter().any(|verb| act.begin_with(verb)).then(|| act.rest().to_owned())
    } else {
        // "And who can restore them?"
        (greeted.is_some() || is_joined).then(|| words.rest().to_owned())
    }
}

/// "how long it is kept", "more about leases", "if interns have leave", "the default port".
fn told(mut rest: Words<'_>) -> Option<String> {
    rest = rest.after_any(&["if", "whether"]).unwrap_or(rest);
    about(rest).or_else(|| indirect(rest)).or_else(|| some(rest))
}

/// "what data lakes are", "rebasing to me".
fn explained(rest: Words<'_>) -> Option<String> {
    // "How documents are chunked" asks for an account where "how long they are kept" asks for a number.
    let is_how = rest.begin_with("how") && !HOW_MUCH_OF.iter().any(|measure| rest.begin_with(measure));
    let asked = about(rest).or_else(|| indirect(rest).filter(|asked| !is_how || *asked != rest.rest()));
    asked.or_else(|| some(rest).map(|rest| format!("explain {rest}")))
}

/// "on how to create an account", "to reset a password", "with the installation".
fn guided(mut rest: Words<'_>) -> Option<String> {
    let subject = rest.after_any(&["with", "through", "on", "in"]);
    rest = subject.unwrap_or(rest);
    rest = rest.after_any(&["to understand", "understand", "understanding", "to find out", "find out"]).unwrap_or(rest);
    if let Some(found) = about(rest).or_else(|| indirect(rest)) {
        return Some(found);
    }
    let act = rest.after("to").or_else(|| subject.is_none().then_some(rest));
    match act {
        Some(act) => some(act).map(|act| format!("how to {act}")),
        None => some(rest).map(|rest| format!("explain {rest}")),
    }
}

/// "some information about leases", "a list of the settings", "the steps to follow".
fn given(rest: Words<'_>) -> Option<String> {
    let mut words = rest;
    words.skip(&["a", "an", "full", "complete", "short"]);
    words.skip(&HOW_MUCH);
    if let Some(subject) = words.after_any(&INFORMATION) {
        return indirect(subject).or_else(|| some(subject).map(|subject| format!("tell me about {subject}")));
    }
    for (noun, opening) in [
        ("list of all", "list all "),
        ("list of", "list "),
        ("overview of", "give me an overview of "),
        ("summary of", "give me a summary of "),
        ("definition of", "what is "),
        ("explanation of", "explain "),
        ("instructions on how to", "how to "),
        ("instructions to", "how to "),
        ("steps to", "steps to "),
    ] {
        if let Some(subject) = words.after(noun) {
            return some(subject).map(|subject| format!("{opening}{subject}"));
        }
    }
    indirect(rest).or_else(|| some(rest))
}

/// A request for whatever there is on a subject.
fn about(mut rest: Words<'_>) -> Option<String> {
    rest.skip(&HOW_MUCH);
    let subject = rest.after_any(&ABOUT)?;
    indirect(subject).or_else(|| some(subject).map(|subject| format!("tell me about {subject}")))
}

/// An indirect question as a direct one: "what data lakes are" is "what are data lakes".
fn indirect(rest: Words<'_>) -> Option<String> {
    let words = rest.all();
    let text = rest.rest();
    let opening = words.first().filter(|word| is_question_word(word))?;
    let is_direct = words.get(1).is_none_or(|word| is_auxiliary(word));
    let (first, last) = (opening.len(), words.last().map_or("", String::as_str));
    let bare = text.trim_end_matches(|sign: char| !sign.is_alphanumeric());
    let subject = bare.get(first..bare.len().saturating_sub(last.len())).map(str::trim).unwrap_or_default();
    if is_direct || subject.is_empty() || !bare.to_lowercase().ends_with(last) {
        return Some(text.to_owned());
    }
    let direct = match (opening.as_str(), last) {
        ("what" | "who" | "where", "is" | "are" | "was" | "were") => format!("{opening} {last} {subject}?"),
        ("what", "means" | "mean") => format!("what does {subject} mean?"),
        ("what", "does" | "do") => format!("what does {subject} do?"),
        ("how", "works" | "work") => format!("how does {subject} work?"),
        _ => text.to_owned(),
    };
    Some(direct)
}

/// The rest, if there is one.
fn some(rest: Words<'_>) -> Option<String> {
    let text = rest.rest();
    text.chars().any(char::is_alphanumeric).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_become_direct_questions() {
        let table = [
            ("Can you guide me on how to create an account?", "how to create an account?"),
            ("Could you please walk me through creating an account?", "explain creating an account?"),
            ("Can you tell me more about leases?", "tell me about leases?"),
            ("Tell me about leases", "tell me about leases"),
            ("Could you explain what data lakes are?", "what are data lakes?"),
            ("Please explain what a lease means.", "what does a lease mean?"),
            ("Can you explain how rebasing works?", "how does rebasing work?"),
            ("Can you explain rebasing?", "explain rebasing?"),
            ("Can you explain how documents are chunked?", "explain how documents are chunked?"),
            ("Please explain how to rebase.", "how to rebase."),
            ("Could you explain how long it is kept?", "how long it is kept?"),
            ("Explain rebasing", "explain rebasing"),
            ("do you know who the owner of the release is?", "who is the owner of the release?"),
            ("I'd like to know how long a lease lasts.", "how long a lease lasts."),
            ("Hi, how do I reset my password?", "how do I reset my password?"),
            ("Hello! Can you help me reset my password?", "how to reset my password?"),
            ("help me understand why the build fails", "why the build fails"),
            ("Can you help me with the installation?", "explain the installation?"),
            ("Can you give me a list of the supported formats?", "list the supported formats?"),
            ("Give me some information on leases", "tell me about leases"),
            ("Could you provide the default port?", "the default port?"),
            ("Can you list the formats?", "list the formats?"),
            ("could you summarise the leave policy", "summarise the leave policy"),
            ("Is there a way to undo it?", "how to undo it?"),
            ("I was wondering if interns have leave.", "interns have leave."),
            ("Any idea what -z does?", "what does -z do?"),
            ("Could you tell me the default port?", "the default port?"),
            ("can you tell me when it was released", "when it was released"),
            ("And who can restore them?", "who can restore them?"),
            ("But, when does it open?", "when does it open?"),
            ("so what is a lease", "what is a lease"),
        ];
        for (sentence, expected) in table {
            assert_eq!(direct_question(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn other_sentences_stay() {
        for sentence in [
            "Can you delete a collection?",
            "Could you be dismissed for that?",
            "What is a lease?",
            "Who knows?",
            "Tell me",
            "Can you help?",
            "Hello World program",
            "Questions about leave",
            "And the office in Berlin?",
            "And when it rains?",
            "List all signals",
            "Wie viele Urlaubstage habe ich?",
            "Ist das ok?",
            "",
        ] {
            assert_eq!(direct_question(sentence), sentence);
        }
    }
}
