//! Names of manual pages: a question that names one is for what that page says, and others have sentences like it.

use crate::evidence::Question;
use crate::wording::bare;

/// Words before a verb: in "How do I find …" no page is named.
const BEFORE_VERBS: [&str; 12] =
    ["can", "could", "do", "does", "how", "i", "not", "please", "should", "to", "we", "you"];

/// The manual pages among the sources that a question names.
pub(super) struct NamedPages(Vec<String>);

impl NamedPages {
    /// Reads the question against the titles of the sources. Names that are common words ("file", "date") name no page: they weigh
    /// less than the question's terms do on average.
    pub(super) fn of<'t>(question: &Question, titles: impl Iterator<Item = &'t str>) -> Self {
        let words: Vec<String> = question.asked.split_whitespace().map(|word| bare(word).to_lowercase()).collect();
        let is_noun = |name: &String| {
            let mut places = words.iter().enumerate().filter(|(_, word)| *word == name);
            places.any(|(place, _)| {
                let before = place.checked_sub(1).and_then(|before| words.get(before));
                before.is_some_and(|before| !BEFORE_VERBS.contains(&before.as_str()))
            })
        };
        let terms = question.terms.terms();
        #[expect(clippy::cast_precision_loss, reason = "questions have few terms")]
        let mean = terms.iter().map(|term| term.weight).sum::<f32>() / terms.len().max(1) as f32;
        let is_rare =
            |name: &String| terms.iter().any(|term| term.word.eq_ignore_ascii_case(name) && term.weight >= mean);
        Self(titles.filter_map(page_name).filter(|name| is_noun(name) && is_rare(name)).collect())
    }

    /// Whether a sentence is of another page than those that are named, and names none of them. The pages of a program's
    /// configuration and commands begin with its name: `ssh_config(5)`.
    pub(super) fn are_not(&self, title: &str, sentence: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let Some(own) = page_name(title) else { return false };
        let is_of_program = |name: &String| {
            own.strip_prefix(name.as_str()).is_some_and(|rest| !rest.starts_with(|sign: char| sign.is_alphanumeric()))
        };
        // As a word, or with its section: "see dd(1)".
        let words = sentence.split_whitespace().filter_map(|word| bare(word).split('(').next());
        let is_said = |name: &String| words.clone().any(|word| word.eq_ignore_ascii_case(name));
        !self.0.iter().any(|name| is_of_program(name) || is_said(name))
    }
}

/// The name of a manual page by its title, in small letters: `dd` of `DD(1)`.
fn page_name(title: &str) -> Option<String> {
    let (name, section) = title.trim().strip_suffix(')')?.split_once('(')?;
    let is_section = section.starts_with(|sign: char| sign.is_ascii_digit()) && section.len() <= LONGEST_SECTION;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name && is_section).then(|| name.to_lowercase())
}

/// Longest section of a manual, in bytes: "3pm", "1ssl".
const LONGEST_SECTION: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn pages_are_named_by_their_titles() {
        let titles = ["dd(1)", "MKE2FS(8)", "find(1)", "file(1)", "Handbook", "Leave (2026)"];
        // Files are in every second chunk.
        let frequency = |stem: &str| if stem == "file" { 50 } else { 3 };
        let of = |question| {
            NamedPages::of(&Question::new(Analyzer::english(), question, 100, frequency), titles.into_iter())
        };
        let dd = of("What is the default block size of dd?");
        assert!(dd.are_not("MKE2FS(8)", "The default block size is 4k."));
        assert!(!dd.are_not("dd(1)", "The default is 512."));
        assert!(!dd.are_not("mke2fs(8)", "Like that of dd(1), it is 512."));
        assert!(!dd.are_not("Handbook", "The default block size is 4k."));
        assert!(!dd.are_not("dd_rescue(1)", "The default block size is 4k."));
        for none in [
            "How do I find a block?",
            "What is the default size?",
            "find a block",
            "Leave of 2026",
            "How large is a file block?",
        ] {
            assert!(!of(none).are_not("mke2fs(8)", "The default block size is 4k."), "{none}");
        }
    }
}
