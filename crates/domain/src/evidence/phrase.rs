//! The phrase that names what a question asks for.

use crate::asking::is_auxiliary;

/// Words before "which" and "what" that ask for the same.
const PREPOSITIONS: [&str; 14] =
    ["since", "from", "in", "at", "on", "with", "by", "until", "up", "to", "under", "for", "within", "after"];

/// Words before a noun that stand for whose it is, or which.
const DETERMINERS: [&str; 10] = ["the", "my", "our", "your", "their", "his", "her", "its", "last", "this"];

/// Words that end a phrase, beside auxiliaries.
const ENDS: [&str; 27] = [
    "a", "an", "and", "as", "at", "before", "between", "by", "during", "for", "from", "i", "if", "in", "of", "on",
    "or", "per", "that", "the", "to", "we", "when", "which", "with", "without", "you",
];

/// Most words up to whose it is: "Dr Ida Moss's".
const MOST_OF_OWNER: usize = 4;

/// Most words of a phrase.
const MOST: usize = 5;

/// The words of what a question asks for by its name, "allowed upload size" of "what is the allowed upload size for guests";
/// none where it asks in another way.
pub(super) fn noun_phrase<'w, 'q>(words: &'w [&'q str]) -> &'w [&'q str] {
    let ["what" | "which", "is" | "was" | "are" | "were", rest @ ..] = words else { return &[] };
    // Words may have ended at the apostrophe.
    let is_genitive = |word: &&str| *word == "s" || word.ends_with("'s");
    let determiner = match rest.first() {
        Some(first) if DETERMINERS.contains(first) => 0,
        _ => match rest.iter().take(MOST_OF_OWNER).position(is_genitive) {
            Some(genitive) => genitive,
            None => return &[],
        },
    };
    let rest = rest.get(determiner + 1..).unwrap_or_default();
    let end = rest.iter().position(|word| ENDS.contains(word) || is_auxiliary(word)).unwrap_or(rest.len());
    rest.get(..end.min(MOST)).unwrap_or_default()
}

/// Whether a word is one of some nouns, or several of it.
pub(super) fn is_one_of(nouns: &[&str], word: &str) -> bool {
    nouns.contains(&word) || word.strip_suffix('s').is_some_and(|one| nouns.contains(&one))
}

/// The words after the "which" or "what" that opens a question, if need be after a preposition: "in which room"; none where it
/// opens with another word.
pub(super) fn asked_of<'w, 'q>(words: &'w [&'q str]) -> &'w [&'q str] {
    let opening = words.iter().position(|word| !is_preposition(word)).unwrap_or_default();
    match words.get(opening..) {
        Some(["which" | "what", rest @ ..]) => rest,
        _ => &[],
    }
}

/// Whether a word stands before what a question asks with, or where.
pub(super) fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.contains(&word)
}
