//! Sentences beside an answer where it is shown as text: on the command line and to chat clients.

use crate::spelling::Correction;

/// Leads in passages that are given instead of an answer.
pub const PASSAGES: &str = "No sentence of these documents answers this. They say about it:";

/// Opens an abstention.
pub const NO_ANSWER: &str = "There is no answer in these documents.";

/// Most passages that an abstention shows.
pub const MOST_CLOSEST: usize = 3;
/// Longest beginning of such a passage, in characters.
const LONGEST_BEGINNING: usize = 160;

/// Says how a word of the question was read.
#[must_use]
pub fn read_as(Correction { from, to }: &Correction) -> String {
    format!("Read \"{from}\" as \"{to}\".")
}

/// Says which parts of the question have no answer, one sentence each; a part that the answer itself names is left out.
pub fn unanswered<'a>(answer: &str, missing: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let answer = answer.to_lowercase();
    let is_told = |part: &str| answer.contains(part.trim_end_matches(['?', '.']).to_lowercase().as_str());
    let untold = missing.into_iter().filter(|part| !is_told(part));
    untold.map(|part| format!("These documents do not answer: {part}")).collect()
}

/// Names the words of the question that no document holds; `None` if there are none.
#[must_use]
pub fn unknown<S: AsRef<str>>(words: &[S]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    (!words.is_empty()).then(|| format!("No document holds: {}", words.join(", ")))
}

/// The beginning of a passage on one line.
#[must_use]
pub fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String = line.chars().take(LONGEST_BEGINNING).collect();
    format!("{}…", words.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_the_answer_names_is_not_said_again() {
        let answer = "28 days. The sources do not say who repairs laptops.";
        let missing = ["Who repairs laptops?", "Why?"];
        assert_eq!(unanswered(answer, missing), ["These documents do not answer: Why?"]);
    }

    #[test]
    fn words_that_are_unknown_are_listed() {
        assert_eq!(unknown(&["rsync", "nginx"]).as_deref(), Some("No document holds: rsync, nginx"));
        assert_eq!(unknown::<&str>(&[]), None);
    }

    #[test]
    fn a_beginning_is_one_line() {
        assert_eq!(beginning("Doors\n open   inwards. "), "Doors open inwards.…");
        assert_eq!(beginning(&"ä".repeat(500)).chars().count(), LONGEST_BEGINNING + 1);
    }
}
