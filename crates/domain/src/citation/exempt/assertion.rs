//! Finds what a question asserts rather than asks ("Did you know that …?", "…, right?"). English only.

use std::ops::Range;

/// Beginnings after which a question tells its reader something, unless it goes on as an indirect question.
const TELLING: [&str; 12] = [
    "are you aware",
    "are you not aware",
    "aren't you aware",
    "did you hear",
    "did you know",
    "did you not know",
    "didn't you know",
    "do you realize",
    "don't you know",
    "have you heard",
    "have you not heard",
    "haven't you heard",
];

/// Beginnings after which a question asserts or urges, however it goes on.
const RHETORICAL: [&str; 10] = [
    "are you not",
    "aren't you",
    "do you know that",
    "is it not",
    "isn't it",
    "shouldn't you",
    "why don't you",
    "why not",
    "won't you",
    "would you believe",
];

/// Words that begin an indirect question, or a question about a thing, after one of [`TELLING`]. Sorted.
const INDIRECT: [&str; 12] =
    ["about", "anything", "how", "if", "of", "what", "when", "where", "whether", "which", "who", "why"];

/// Ends that make a question of a statement, after a comma.
const TAGS: [&str; 14] = [
    "agreed",
    "aren't they",
    "aren't you",
    "correct",
    "didn't they",
    "didn't you",
    "doesn't it",
    "don't they",
    "don't you",
    "isn't it",
    "no",
    "ok",
    "right",
    "yes",
];

/// The positions of the words, all in lower case, that a question asserts. `has_comma` tells whether one stands before the
/// word at a position.
pub(super) fn asserted(words: &[&str], has_comma: impl Fn(usize) -> bool) -> Option<Range<usize>> {
    let words: Vec<String> = words.iter().map(|word| word.replace('’', "'")).collect();
    let begins =
        |from: usize, with: &str| with.split(' ').enumerate().all(|(at, word)| word_at(&words, from + at) == word);
    let after = |start: usize, list: &[&str]| {
        let found = list.iter().find(|phrase| begins(start, phrase))?;
        let end = start + found.split(' ').count();
        Some(end + usize::from(word_at(&words, end) == "that"))
    };
    let starts = [0, usize::from(matches!(word_at(&words, 0), "and" | "but" | "so"))];
    let told = starts.iter().find_map(|start| after(*start, &TELLING));
    let told = told.filter(|from| INDIRECT.binary_search(&word_at(&words, *from)).is_err());
    let from = told.or_else(|| starts.iter().find_map(|start| after(*start, &RHETORICAL)));
    if let Some(from) = from.filter(|from| *from < words.len()) {
        return Some(from..words.len());
    }
    // A statement about the asker is no claim about the world: "You mean the laptop, right?"
    let tag = TAGS.iter().find_map(|tag| {
        let start = words.len().checked_sub(tag.split(' ').count())?;
        (start > 0 && has_comma(start) && begins(start, tag)).then_some(start)
    })?;
    (word_at(&words, 0) != "you").then_some(0..tag)
}

fn word_at(words: &[String], at: usize) -> &str {
    words.get(at).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_what_is_asserted_from_what_is_asked() {
        fn found(text: &str) -> Option<String> {
            let lower = text.to_lowercase();
            let words: Vec<&str> =
                lower.trim_end_matches('?').split(' ').map(|word| word.trim_end_matches(',')).collect();
            let commas: Vec<bool> = lower.split(' ').map(|word| word.ends_with(',')).collect();
            let range = asserted(&words, |at| at.checked_sub(1).is_some_and(|before| commas[before]))?;
            Some(words[range].join(" "))
        }
        let cases = [
            ("Did you know that the desk burned down?", Some("the desk burned down")),
            ("But did you know the desk burned down?", Some("the desk burned down")),
            ("Isn’t it so?", Some("so")),
            ("Why not wire it?", Some("wire it")),
            ("The desk burned down, right?", Some("the desk burned down")),
            ("The desk burned down, isn't it?", Some("the desk burned down")),
            ("Did you know which desk it was?", None),
            ("Are you aware of it?", None),
            ("Do you know the number?", None),
            ("You mean the laptop, right?", None),
            ("Which laptop is right?", None),
            ("Is it a laptop of the desk?", None),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text).as_deref(), expected, "{text}");
        }
        assert!(INDIRECT.is_sorted());
    }
}
