//! Sentences without content: greetings, connectors and the like. Narrow on purpose: a sentence that slips through costs one
//! retry; a claim that is taken for a pleasantry leaves the service unchecked.

use crate::wording::lower_case_words;

/// Whole sentences without content.
const PLEASANTRIES: [&str; 49] = [
    "yes",
    "no",
    "however",
    "therefore",
    "also",
    "thus",
    "hence",
    "moreover",
    "furthermore",
    "additionally",
    "finally",
    "sure",
    "certainly",
    "of course",
    "hello",
    "hi",
    "hello there",
    "thanks",
    "thank you",
    "note",
    "in summary",
    "in short",
    "in conclusion",
    "to summarize",
    "to summarise",
    "summary",
    "overall",
    "conclusion",
    "sources",
    "references",
    "answer",
    "short answer",
    "indeed",
    "great question",
    "good question",
    "here is the answer",
    "here s the answer",
    "here is what i found",
    "i hope this helps",
    "hope this helps",
    "let me know if you have any questions",
    "let me know if you need more",
    "you re welcome",
    "for example",
    "that is",
    "in other words",
    "first",
    "second",
    "absolutely",
];

/// Whether the sentence is a connector, a greeting or another phrase without content.
pub(super) fn is_pleasantry(sentence: &str) -> bool {
    let joined = lower_case_words(sentence).collect::<Vec<_>>().join(" ");
    PLEASANTRIES.contains(&joined.as_str())
}
