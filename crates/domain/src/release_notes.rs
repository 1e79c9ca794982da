//! Release notes: lists of what each version of something has changed. They name everything and explain little, so that they
//! answer questions for a change, a version or a date.

use crate::wording::{is_version, is_year, lower_case_words};

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

/// Words of a question for a limit, and beginnings of the words for what has one.
const LIMITS: [&str; 7] = ["earliest", "lowest", "maximum", "minimal", "minimum", "msrv", "oldest"];
const OF_LIMITED: [&str; 3] = ["version", "support", "releas"];

/// Words for the version that was released last.
const LATEST: [&str; 5] = ["current", "last", "latest", "newest", "recent"];

/// Headings that stand below a version (keepachangelog.com), and other words for what they say.
const KINDS_OF_CHANGE: [(&str, &str); 3] =
    [("added", "introduced supported new"), ("removed", "dropped deleted"), ("fixed", "solved")];

/// A change that release notes tell, and a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is there from now on.
    Added,
    /// It is no longer there.
    Removed,
    /// It works from now on.
    Fixed,
}

/// Words of each change.
const CHANGES: [(Change, &[&str]); 3] = [
    (
        Change::Added,
        &[
            "add",
            "added",
            "adds",
            "feat",
            "feature",
            "features",
            "implement",
            "implemented",
            "introduce",
            "introduced",
            "introduces",
            "new",
            "support",
            "supported",
        ],
    ),
    (Change::Removed, &["delete", "deleted", "drop", "dropped", "drops", "remove", "removed", "removes"]),
    (Change::Fixed, &["bug", "bugfix", "bugs", "fix", "fixed", "fixes", "repaired", "resolved", "solved"]),
];

/// Most words of a line of release notes up to the one that tells the change: "pump: fix lids".
const MOST_BEFORE_CHANGE: usize = 4;

/// Words behind what was changed.
const BEHIND_OBJECT: [&str; 12] = ["and", "at", "by", "for", "from", "if", "in", "of", "on", "to", "when", "with"];

impl Change {
    /// The change that a question is for.
    pub(crate) fn asked_for(question: &str) -> Option<Self> {
        lower_case_words(question).find_map(|word| Self::named(&word))
    }

    /// The change that a line tells: by its first words, else by the heading above it.
    pub(crate) fn told_by(line: &str, heading: &str) -> Option<Self> {
        let is_word = |word: &String| word.contains(|sign: char| sign.is_alphabetic());
        let own = lower_case_words(line).filter(is_word).take(MOST_BEFORE_CHANGE).find_map(|word| Self::named(&word));
        own.or_else(|| lower_case_words(heading).find_map(|word| Self::named(&word)))
    }

    /// The words of a line between the one that tells the change and the next preposition: what was changed, "a lid" of "add a
    /// lid to jars".
    pub(crate) fn object_in(line: &str) -> String {
        let words: Vec<String> = lower_case_words(line).collect();
        let verb = words.iter().position(|word| Self::named(word).is_some());
        let behind = words.iter().skip(verb.map_or(0, |verb| verb + 1));
        behind.take_while(|word| !BEHIND_OBJECT.contains(&word.as_str())).cloned().collect::<Vec<_>>().join(" ")
    }

    /// Whether a word in lower case tells a change.
    pub(crate) fn is_named(word: &str) -> bool {
        Self::named(word).is_some()
    }

    fn named(word: &str) -> Option<Self> {
        CHANGES.iter().find(|(_, words)| words.contains(&word)).map(|(change, _)| *change)
    }
}

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

/// Place, in the headings above a passage, of the one that names a version: the notes of its release stand under it.
#[must_use]
pub fn release(heading: &[String]) -> Option<usize> {
    heading.iter().position(|heading| names_release(heading))
}

/// Whether a heading names a version, or what is not released yet.
#[must_use]
pub fn names_release(heading: &str) -> bool {
    let is_unreleased =
        |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric()).eq_ignore_ascii_case("unreleased");
    names_version(heading) || heading.split_whitespace().any(is_unreleased)
}

/// Whether a heading names a version.
#[must_use]
pub fn names_version(heading: &str) -> bool {
    heading.split_whitespace().any(|word| is_version(number_in(word)))
}

/// Whether a question is for the latest version of something.
#[must_use]
pub fn is_latest_asked_for(question: &str) -> bool {
    let words: Vec<String> = lower_case_words(question).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let asks = has(&["what", "which", "whats", "when"]) && has(&["version", "release"]);
    // "The last version that runs without water" is an older one.
    has(&LATEST) && asks && !has(&["before", "supporting", "that", "to", "with", "without"])
}

/// A word from its first digit to its last: "v1.17.0," is of version 1.17.0.
fn number_in(word: &str) -> &str {
    word.trim_matches(|sign: char| !sign.is_ascii_digit())
}

/// A title by which a passage of release notes is judged, with the words that its headings stand for: "2.3.0 (2024-09-10)" is a
/// version, and tells when it was released.
#[must_use]
pub fn with_release(title: String, heading: &[String]) -> String {
    let Some(place) = release(heading).filter(|_| is_of_them(&title)) else { return title };
    let (version, below) = (heading.get(place), heading.get(place + 1..).unwrap_or_default());
    let is_dated = version.is_some_and(|version| version.split(|sign: char| !sign.is_ascii_digit()).any(is_year));
    let released = is_dated.then_some("released");
    let of_kind = |(kind, words): &(&str, &'static str)| {
        below.iter().any(|heading| heading.trim().eq_ignore_ascii_case(kind)).then_some(*words)
    };
    let words = ["version release changed new since"]
        .into_iter()
        .chain(LATEST)
        .chain(released)
        .chain(KINDS_OF_CHANGE.iter().filter_map(of_kind));
    std::iter::once(title.as_str()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Whether a question is for a limit: the oldest version of something.
pub(crate) fn is_limit_asked_for(question: &str) -> bool {
    lower_case_words(question).any(|word| LIMITS.contains(&word.as_str()))
}

/// Whether a question is for a change, a version or a time. One for the oldest supported version is not: that is told by what holds
/// now.
#[must_use]
pub fn are_asked_for(question: &str) -> bool {
    let is_limit = is_limit_asked_for(question);
    let is_of_changes = |word: &String| {
        let is_of_limit = is_limit && OF_LIMITED.iter().any(|beginning| word.starts_with(beginning));
        !is_of_limit && OF_CHANGES.iter().any(|beginning| word.starts_with(beginning))
    };
    let has_version = question.split_whitespace().any(|word| is_version(number_in(word)));
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
    fn a_line_tells_what_changed() {
        for (line, heading, expected) in [
            ("Add jars by @ada in #12", "1.2.0", Some(Change::Added)),
            ("[[#12]]: pump: fix adding of jars", "Added", Some(Change::Fixed)),
            ("Blue jars.", "New features", Some(Change::Added)),
            ("Jars of tin.", "Removed", Some(Change::Removed)),
            ("Jars are blue when they are new.", "1.2.0", None),
        ] {
            assert_eq!(Change::told_by(line, heading), expected, "{line}");
        }
        assert_eq!(Change::asked_for("Which version fixed the new jars?"), Some(Change::Fixed));
        assert_eq!(Change::asked_for("Which version is it?"), None);
        assert_eq!(Change::object_in("pump: add a lid to jars"), "a lid");
        assert_eq!(Change::object_in("Blue jars by @ada"), "blue jars");
    }

    #[test]
    fn a_heading_names_a_release_and_its_date() {
        let path = |headings: &[&str]| headings.iter().map(|heading| (*heading).to_owned()).collect::<Vec<_>>();
        assert_eq!(release(&path(&["Changelog", "[2.3.0] - 2024-09-10", "Added"])), Some(1));
        assert_eq!(release(&path(&["v1.17.0"])), Some(0));
        assert_eq!(release(&path(&["Changelog", "[Unreleased]"])), Some(1));
        assert_eq!(release(&path(&["Changelog", "2024-09-10", "Added"])), None);
        for (title, headings, expected) in [
            (
                "Changelog",
                &["2.3.0 - 2024-09-10", "Fixed"][..],
                "Changelog version release changed new since current last latest newest recent released solved",
            ),
            (
                "Changelog",
                &["0.7.0 (27. November, 2023)"],
                "Changelog version release changed new since current last latest newest recent released",
            ),
            ("Changelog", &["2.3.0"], "Changelog version release changed new since current last latest newest recent"),
            ("Changelog", &["Fixed"], "Changelog"),
            ("Minutes", &["2.3.0 - 2024-09-10"], "Minutes"),
        ] {
            assert_eq!(with_release(title.to_owned(), &path(headings)), expected);
        }
    }

    #[test]
    fn a_question_for_a_change_or_a_version_is_for_them() {
        for question in
            ["What changed in Paint 0.9?", "When was 1.50.0 released?", "Which version added jars?", "What is in 1.2?"]
        {
            assert!(are_asked_for(question), "{question}");
        }
        assert!(is_latest_asked_for("What's the latest version of Paint?"));
        assert!(!is_latest_asked_for("What changed in the last week?") && !is_latest_asked_for("Which version is it?"));
        assert!(!is_latest_asked_for("Which was the last version that ran without water?"));
        assert!(are_asked_for("Which release raised the minimum version to 1.80?"));
        assert!(are_asked_for("When was the minimum pump version changed?"));
        let limit = "What is the minimum supported pump version?";
        for question in [limit, "How do I open a jar?", "What is a jar?", "Can I paint without water?", ""] {
            assert!(!are_asked_for(question), "{question}");
        }
    }
}
