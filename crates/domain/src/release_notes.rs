//! Release notes: lists of what each version of something has changed. They name everything and explain little, so that they
//! answer questions for a change, a version or a date.

use crate::wording::{is_version, lower_case_words};

/// Names of such documents, in lower case and without spaces.
const NAMES: [&str; 7] =
    ["changelog", "changelogs", "releasenotes", "releasehistory", "versionhistory", "changehistory", "whatsnew"];

/// Most words that such a name is written in.
const MOST_WORDS: usize = 3;

/// Beginnings of words of a question that is for a change or a version.
const OF_CHANGES: [&str; 20] = [
    "chang", "releas", "version", "added", "new", "introduc", "remov", "deprecat", "replac", "renam", "fix", "bug",
    "break", "since", "support", "upgrad", "migrat", "updat", "yank", "when",
];

/// Whether a passage is of release notes; `title` is the title of its document with the headings above it.
#[must_use]
pub fn is_of_them(title: &str) -> bool {
    let words: Vec<String> = lower_case_words(title).collect();
    let begins_with_one = |words: &[String]| NAMES.iter().any(|name| is_made_of(name, words));
    (0..words.len()).any(|at| words.get(at..).is_some_and(begins_with_one))
}

/// Whether a name is the first words of some, written as one.
fn is_made_of(name: &str, words: &[String]) -> bool {
    let mut rest = name;
    for word in words.iter().take(MOST_WORDS) {
        let Some(after) = rest.strip_prefix(word.as_str()) else { return false };
        if after.is_empty() {
            return true;
        }
        rest = after;
    }
    false
}

/// Whether a question is for a change, a version or a time.
#[must_use]
pub fn are_asked_for(question: &str) -> bool {
    let is_of_changes = |word: &String| OF_CHANGES.iter().any(|beginning| word.starts_with(beginning));
    let has_version =
        question.split_whitespace().any(|word| is_version(word.trim_matches(|sign: char| !sign.is_ascii_digit())));
    has_version || lower_case_words(question).any(|word| is_of_changes(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_notes_are_told_by_their_title() {
        for title in [
            "Changelog",
            "CHANGELOG.md",
            "paint 0.1.36.CHANGELOG",
            "Release Notes of Paint",
            "What's new in 3.2 Use",
            "Paint Change Log 1.0",
        ] {
            assert!(is_of_them(title), "{title}");
        }
        for title in ["Newsroom", "Logs of changes", "How to release", "", "Exchange login"] {
            assert!(!is_of_them(title), "{title}");
        }
    }

    #[test]
    fn a_question_for_a_change_or_a_version_is_for_them() {
        for question in
            ["What changed in Paint 0.9?", "When was 1.50.0 released?", "Which version added jars?", "What is in 1.2?"]
        {
            assert!(are_asked_for(question), "{question}");
        }
        for question in ["How do I open a jar?", "What is a jar?", "Can I paint without water?", ""] {
            assert!(!are_asked_for(question), "{question}");
        }
    }
}
