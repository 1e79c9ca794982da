//! Words of a question that a sentence says otherwise: a minimum by "or later", a maximum by "up to", several words by the
//! abbreviation of them that its document explains. English only, but for the abbreviations.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use super::AnswerSource;
use super::naming::words_in;
use crate::evidence::{Question, TermMask};
use crate::release_notes::names_version;
use crate::wording::lower_case_words;

/// Words of a question for the lower end of something.
const LOWEST: [&str; 6] = ["earliest", "lowest", "min", "minimal", "minimum", "oldest"];

/// Words of a question for the upper end.
const HIGHEST: [&str; 6] = ["greatest", "highest", "max", "maximal", "maximum", "upper"];

/// How sentences tell a lower end.
const AT_LEAST: [&str; 12] = [
    "and above",
    "and higher",
    "and later",
    "and newer",
    "at least",
    "no fewer than",
    "no less than",
    "or above",
    "or greater",
    "or higher",
    "or later",
    "or newer",
];

/// How sentences tell an upper end.
const AT_MOST: [&str; 12] = [
    "and below",
    "and earlier",
    "and older",
    "at most",
    "limited to",
    "must not exceed",
    "no later than",
    "no more than",
    "not more than",
    "or below",
    "or fewer",
    "up to",
];

/// Words of a sentence that tells the lowest version by the one that is needed.
const NEEDS: [&str; 6] = ["need", "needed", "needs", "require", "required", "requires"];

/// Fewest letters of an abbreviation, and of one whose words need no capitals: fewer are there by chance.
const SHORTEST: usize = 3;
const SHORTEST_OF_SMALL: usize = 4;

/// Longest abbreviation, in letters.
const LONGEST: usize = 6;

/// The words that sentences of a source may say otherwise.
pub(super) struct Otherwise {
    /// Terms of the question for a lower end, and for an upper end.
    lowest: TermMask,
    highest: TermMask,
    /// Terms for a version, where the question is for the end of some.
    version: TermMask,
    /// The abbreviations that the source explains, each with the terms of the question in what it is short for.
    abbreviations: Vec<(String, TermMask)>,
}

impl Otherwise {
    pub(super) fn of(question: &Question, source: &AnswerSource<'_>) -> Self {
        let of_words = |words: &[&str]| {
            question.terms.mask_where(|term| words.iter().any(|word| term.word.eq_ignore_ascii_case(word)))
        };
        let (lowest, highest) = (of_words(&LOWEST), of_words(&HIGHEST));
        let version = if lowest | highest == 0 { 0 } else { of_words(&["version", "versions", "release", "releases"]) };
        Self { lowest, highest, version, abbreviations: abbreviations(question, source) }
    }

    /// The terms of the question for a lower or an upper end.
    pub(super) const fn ends(&self) -> TermMask {
        self.lowest | self.highest
    }

    /// The terms of the question that a sentence says otherwise.
    pub(super) fn said_in(&self, sentence: &str) -> TermMask {
        let held = |(short, mask): &(String, TermMask)| {
            if sentence.unicode_words().any(|word| word == short) { *mask } else { 0 }
        };
        let mask = self.abbreviations.iter().map(held).fold(0, |all, mask| all | mask);
        if self.ends() == 0 {
            return mask;
        }
        let words: Vec<String> = lower_case_words(sentence).collect();
        let text = format!(" {} ", words.join(" ")).replace(" up to date ", " ");
        let says = |ways: &[&str]| ways.iter().any(|way| text.contains(&format!(" {way} ")));
        let has_version = self.version != 0 && names_version(sentence);
        // "Before 1.81 it may require a lid" needs no version.
        let is_needed = || has_version && NEEDS.iter().any(|need| version_after(sentence, need));
        let names = |ends: &[&str]| words.iter().any(|word| ends.contains(&word.as_str()));
        let is_lowest = names(&LOWEST) || says(&AT_LEAST) || has_number_and_plus(sentence) || is_needed();
        let lowest = if is_lowest { self.lowest } else { 0 };
        let highest = if names(&HIGHEST) || says(&AT_MOST) { self.highest } else { 0 };
        let version = if has_version && lowest | highest != 0 { self.version } else { 0 };
        mask | lowest | highest | version
    }
}

/// Whether a text names a version behind a word.
fn version_after(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split_once(&format!(" {word} ")).is_some_and(|(_, rest)| names_version(rest))
}

/// Whether a text has a number with a plus sign behind it: "1.65+".
fn has_number_and_plus(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| matches!(pair, [digit, b'+'] if digit.is_ascii_digit()))
}

/// The abbreviations in a source of which it, its headings or the question have the words, with the terms of the question in
/// these.
fn abbreviations(question: &Question, source: &AnswerSource<'_>) -> Vec<(String, TermMask)> {
    let shorts: BTreeSet<&str> = source.text.unicode_words().filter(|word| is_abbreviation(word)).collect();
    if shorts.is_empty() {
        return Vec::new();
    }
    let headings = source.heading.iter().map(String::as_str);
    let texts = [question.text.as_str(), source.title].into_iter().chain(headings).chain([source.text]);
    let texts: Vec<Vec<&str>> = texts.map(|text| text.unicode_words().collect()).collect();
    let explained = shorts.into_iter().filter_map(|short| {
        let words = texts.iter().find_map(|words| spelled_out(short, words))?;
        Some((short.to_owned(), words_in(question, &words)))
    });
    explained.filter(|(_, mask)| *mask != 0).collect()
}

fn is_abbreviation(word: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The first run of these words with the initials.
fn spelled_out(short: &str, words: &[&str]) -> Option<String> {
    let is_initial = |(word, letter): (&&str, char)| {
        let begins = |first: char| first.eq_ignore_ascii_case(&letter) && word.len() > 1;
        let is_sure = short.len() >= SHORTEST_OF_SMALL || word.starts_with(char::is_uppercase);
        word.chars().next().is_some_and(begins) && is_sure
    };
    let run = words.windows(short.len()).find(|run| run.iter().zip(short.chars()).all(is_initial))?;
    Some(run.join(" "))
}

#[cfg(test)]
mod tests {
    use crate::answering::tests::{answer, answer_below, text};

    #[test]
    fn a_lowest_version_is_told_by_what_is_needed() {
        let others = "The pump version of the Jar project has a minimum of parts. The version is printed by `jar -V`.";
        for told in [
            "Jar requires Pump 1.65 or later.",
            "To build it you need Pump 1.65.",
            "Pump support: 1.65+ on all platforms.",
            "The oldest pump that is supported is 1.65.",
        ] {
            let said = answer("What is the minimum Pump version?", &[others, told], None).expect("an answer");
            assert!(said.text.contains("1.65") && !said.text.contains("parts"), "{}", said.text);
            assert!(!said.is_doubtful(), "{told}");
            let of_other = answer("What is the minimum Pump version of Lid?", &[others, told], None);
            assert!(of_other.is_none_or(|said| said.is_doubtful()), "{told}");
        }
    }

    #[test]
    fn an_end_is_told_in_other_words() {
        let shelf = "The number of jars on each shelf is kept up to date. A shelf takes up to 40 jars. Lids number at least 12.";
        assert!(text("What is the maximum number of jars?", &[shelf]).starts_with("A shelf takes up to 40 jars."));
        assert!(text("What is the minimum number of lids?", &[shelf]).starts_with("Lids number at least 12."));
    }

    #[test]
    fn an_abbreviation_holds_the_words_that_it_is_short_for() {
        let page = "Jar's LSPV is 1.80. The pump version of last year was slow.";
        let said = answer_below("What is the lowest pump version?", &["Lowest supported pump version"], page);
        assert!(said.starts_with("Jar's LSPV is 1.80."), "{said}");
        let alone = "Jar has a policy for its LSPV (lowest supported pump version). The current LSPV is 1.85.";
        let said = text("What is the lowest pump version?", &[alone]);
        assert!(said.contains("The current LSPV is 1.85."), "{said}");
        let policy = "Jar has a lowest supported pump version policy of at least 6 months.";
        let said = answer("What is the lowest pump version?", &[policy], None).expect("an answer");
        assert!(said.lacks_kind, "{}", said.text);
        assert!(answer("What is the lowest pump version?", &["The LSPV is 1.85."], None).is_none());
    }
}
