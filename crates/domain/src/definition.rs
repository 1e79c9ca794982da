//! Questions for a definition, and the sentences that give one. English only.

use std::ops::Range;

use crate::sentence::{Sentence, sentences};
use crate::wording::lower_case_words;

/// Openings of a question for a definition.
const OPENINGS: [&str; 10] = [
    "what is meant by ",
    "what is ",
    "what are ",
    "define ",
    "what's meant by ",
    "what's ",
    "what does ",
    "what do they mean by ",
    "what do we mean by ",
    "what do you mean by ",
];

/// Ends of a question that ask for the meaning or the purpose of what stands before them.
const ENDS: [&str; 6] = [" mean", " stand for", " refer to", " used for", " good for", " for"];

/// Words after the end of a question that add nothing to it.
const FILLERS: [&str; 5] = [" here", " exactly", " actually", " then", " please"];

/// The word between a thing and its field: "ownership in Rust".
const FIELD: &str = "in";

/// Words between a thing and what it is.
const COPULAS: [&str; 12] =
    ["is", "are", "was", "were", "refers", "means", "denotes", "-", "–", "—", "stands", "describes"];

/// Words that open an apposition: "Weir, our cloud service".
const APPOSITIONS: [&str; 6] = ["a", "an", "its", "our", "the", "their"];

/// Most words of a term.
const LONGEST_TERM: usize = 3;

/// Words of a description: of something, by somebody.
const LINKS: [&str; 15] =
    ["of", "for", "by", "to", "with", "from", "at", "on", "that", "which", "the", "most", "best", "between", "and"];

/// The thing that a question asks to define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// Its words in lower case; the name of the thing may be the last of them.
    words: Vec<String>,
    /// Whether it is one thing with this name, as after "the".
    is_definite: bool,
}

impl Subject {
    /// The subject of a question for a definition; `None` of another.
    pub(crate) fn of(question: &str) -> Option<Self> {
        let asked = question.trim().trim_end_matches(['?', '.', '!', ' ']).to_lowercase();
        let asked = FILLERS.iter().find_map(|filler| asked.strip_suffix(filler)).unwrap_or(&asked);
        let named = OPENINGS.iter().find_map(|opening| asked.strip_prefix(opening))?;
        let end = ENDS.iter().find_map(|end| named.strip_suffix(end));
        if asked.starts_with("what does ") && end.is_none() {
            return None;
        }
        let mut words: Vec<String> = words_of(end.unwrap_or(named)).map(bare).collect();
        let field = words.iter().position(|word| word == FIELD).filter(|place| *place > 0);
        words.truncate(field.unwrap_or(words.len()));
        // "What does Pax Mongolica mean?" asks for a translation as well.
        let is_owned = named.contains("'s ") || named.contains("’s ");
        let is_definite = is_owned || named.starts_with("the ") || asked.starts_with("what does ") && words.len() > 1;
        (!words.is_empty()).then_some(Self { words, is_definite })
    }

    /// Whether it is a term, not a description such as "the capital of France".
    pub(crate) fn is_term(&self) -> bool {
        let is_link =
            |word: &String| LINKS.contains(&word.as_str()) || word.ends_with("ed") || word.contains(['\'', '’']);
        !self.is_definite && self.words.len() <= LONGEST_TERM && !self.words.iter().any(is_link)
    }

    /// Whether a sentence writes the thing in brackets after what it is short for: "non-public data (NPD)".
    pub(crate) fn is_in_brackets(&self, sentence: &str) -> bool {
        sentence.to_lowercase().contains(&format!("({})", self.words.join(" ")))
    }

    /// Whether a sentence begins with the thing and says what it is.
    pub(crate) fn is_defined_by(&self, sentence: &str) -> bool {
        // The thing, the word that links it, and the one after that.
        let written: Vec<&str> = words_of(sentence).take(self.words.len() + 2).collect();
        let said: Vec<String> = written.iter().map(|word| bare(word)).collect();
        // "A Cargo workspace" may be called "a workspace" by the text that defines it.
        (0..self.words.len()).any(|from| {
            let name = self.words.get(from..).unwrap_or_default();
            let begins = said.get(..name.len()).is_some_and(|first| same(first, name));
            let word = |at: usize| said.get(at).map_or("", String::as_str);
            let (link, next) = (word(name.len()), word(name.len() + 1));
            let ends_with = |sign| written.get(name.len() - 1).is_some_and(|last| last.ends_with(sign));
            // "Tare. The weight of an empty van."
            let is_headword = from == 0 && ends_with('.') && !link.is_empty();
            // "PTO: paid time off."
            let is_spelled_out = ends_with(':') && spells_out(name, words_of(sentence).skip(name.len()));
            let is_apposed = ends_with(',') && APPOSITIONS.contains(&link);
            begins && (is_headword || is_spelled_out || is_apposed || COPULAS.contains(&link) && !tells_otherwise(next))
        })
    }

    /// Whether a sentence begins with the thing and says how it is or was with it, not what it is: "Weir still has its old colour."
    pub(crate) fn is_only_told_of_by(&self, sentence: &str) -> bool {
        const WORDS: [&str; 8] = ["already", "also", "had", "has", "no", "now", "still", "used"];
        let said: Vec<String> = words_of(sentence).take(self.words.len() + 1).map(bare).collect();
        let begins = said.get(..self.words.len()).is_some_and(|first| same(first, &self.words));
        begins && said.last().is_some_and(|next| WORDS.contains(&next.as_str()))
    }

    /// Whether a text has a sentence that defines it.
    pub(crate) fn is_defined_in(&self, text: &str) -> bool {
        let last = self.words.last().map_or("", |word| word.trim_end_matches('s'));
        let text = text.to_lowercase();
        // A sentence that begins with the thing holds its name: the others need not be taken apart.
        let defines = |own: &str| own.contains(last) && self.is_defined_by(own);
        let begins = |line: &str| {
            let of_line = sentences(line);
            let headed = entry_of(&of_line).and_then(|entry| line.get(entry));
            headed.is_some_and(defines) || of_line.into_iter().any(|own| line.get(own.range).is_some_and(defines))
        };
        text.contains(last) && text.lines().any(|line| may_define(line, last) && begins(line))
    }
}

/// The first sentences of a line as an entry of a glossary: a term, and what it is.
fn entry_of(of_line: &[Sentence]) -> Option<Range<usize>> {
    let [term, meaning, ..] = of_line else { return None };
    Some(term.content..meaning.range.end)
}

/// Whether a line in lower case has the last word of a thing before one that says what the thing is. Without it no sentence
/// of the line is a definition, and the line need not be taken apart.
fn may_define(line: &str, last: &str) -> bool {
    let is_followed = |(at, _): (usize, &str)| {
        let rest = line.get(at + last.len()..).unwrap_or_default().trim_start_matches('s');
        let next = rest.trim_start_matches(|sign: char| !sign.is_alphanumeric());
        let between = rest.get(..rest.len() - next.len()).unwrap_or_default();
        let is_next = |word: &str| next.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let says = |word: &str| is_next(word) || !word.starts_with(char::is_alphanumeric) && between.contains(word);
        let ends = between.starts_with(['.', ':']) && !next.is_empty();
        !between.is_empty() && (ends || COPULAS.iter().chain(&APPOSITIONS).any(|word| says(word)))
    };
    last.is_empty() || line.match_indices(last).any(is_followed)
}

/// Whether a word after "is" begins something else than what a thing is: "is not", "is created by".
fn tells_otherwise(word: &str) -> bool {
    let is_adverb = word.ends_with("ly") || matches!(word, "not" | "also" | "always" | "never" | "often" | "now");
    is_adverb || word.len() > 4 && word.ends_with("ed")
}

/// The words of a text as they are written, without an article or an owner at its beginning.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_before_name = |word: &&str| {
        let word = bare(word);
        matches!(word.as_str(), "a" | "an" | "the" | "name" | "term" | "word" | "#" | "##" | "###" | "*")
            || word.ends_with("'s")
            || word.ends_with("’s")
    };
    text.split_whitespace().skip_while(is_before_name)
}

/// A word in lower case, without the punctuation around it; punctuation alone stays.
fn bare(word: &str) -> String {
    let bare = word.trim_matches(|sign: char| !sign.is_alphanumeric());
    if bare.is_empty() { word.to_lowercase() } else { bare.to_lowercase() }
}

/// Whether two lists of words are the same but for the number of the last.
fn same(one: &[String], two: &[String]) -> bool {
    let ([one @ .., last], [two @ .., other]) = (one, two) else { return one.is_empty() && two.is_empty() };
    last.trim_end_matches('s') == other.trim_end_matches('s') && one == two
}

/// Whether words begin with those that an abbreviation has the initials of.
fn spells_out<'w>(name: &[String], words: impl Iterator<Item = &'w str>) -> bool {
    let [short] = name else { return false };
    let mut words = words.flat_map(lower_case_words);
    short.len() > 1 && short.chars().all(|letter| words.next().is_some_and(|word| word.starts_with(letter)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The test without the look at what follows the name.
    fn is_defined_slowly(subject: &Subject, text: &str) -> bool {
        let defines = |line: &str| {
            let of_line = sentences(line);
            let entry = entry_of(&of_line);
            let mut own = of_line.into_iter().map(|own| own.range).chain(entry).filter_map(|range| line.get(range));
            own.any(|sentence| subject.is_defined_by(sentence))
        };
        text.to_lowercase().lines().any(defines)
    }

    proptest! {
        #[test]
        fn lines_that_are_not_taken_apart_define_nothing(
            text in "((The |A |NAME |\u{130})?(workspaces?|Workspaces|lock files?|LOC\u{212a} FILE|C-class|CLASSES|x|die)[,.:)。]?( \\(?|\n| - | – |)(is|are|our|means|stands|isn't|Is)[,:。]? (a|not|made)[ .\n]){1,4}",
            question in "(What is an? |What are )(workspaces?|team workspace|lock file|c-class|x|s)\\?",
        ) {
            if let Some(subject) = Subject::of(&question) {
                prop_assert_eq!(subject.is_defined_in(&text), is_defined_slowly(&subject, &text));
            }
        }
    }

    #[test]
    fn how_it_is_with_a_thing_is_not_what_it_is() {
        let subject = Subject::of("what is weir?").expect("it asks for a definition");
        for (sentence, expected) in [
            ("Weir still has its old colour.", true),
            ("The weir has a lid.", true),
            ("Weir measures the level of rivers.", false),
            ("Our ledger is append-only.", false),
            ("Weir", false),
        ] {
            assert_eq!(subject.is_only_told_of_by(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_definition_begins_with_its_subject() {
        let table = [
            ("What is a workspace?", "A workspace is a collection of packages.", true),
            ("What is head?", "NAME head - output the first part of files", true),
            ("What are workspaces?", "Workspaces are collections.", true),
            ("What is a team workspace?", "A workspace is a collection.", true),
            ("What is ownership in Rust?", "Ownership is a set of rules.", true),
            ("What does NPD mean?", "NPD stands for non-public data.", true),
            ("What does NPD mean?", "NPD: non-public data.", true),
            ("What does NPD mean?", "NPD: see the list of terms.", false),
            ("What is a lock file used for?", "A lock file describes what was built.", true),
            ("What is a macro?", "The term macro refers to a family of features.", true),
            ("What is a closure?", "Rust’s closures are anonymous functions.", true),
            ("What is Weir?", "Weir, our cloud service, is released every Tuesday.", true),
            ("what does roll-out mean here", "**Roll-out** - giving a release to all shops.", true),
            ("What is a roll-out, exactly?", "Roll-out - giving a release to all shops.", true),
            ("What is Weir?", "Weir, released on Tuesday, is a cloud service.", false),
            ("What is a closure?", "Closures are typically short.", false),
            ("What is a workspace?", "A workspace is created by hand.", false),
            ("What is a workspace root?", "A workspace is a collection.", false),
            ("What is a workspace?", "Every workspace is large.", false),
        ];
        for (question, sentence, expected) in table {
            let subject = Subject::of(question).expect("it asks for a definition");
            assert_eq!(subject.is_defined_by(sentence), expected, "{question}: {sentence}");
            let text = format!("Before it.\nAnother line. {sentence} More of\nit.");
            assert_eq!(subject.is_defined_in(&text), expected, "{question}: {text}");
        }
        let entries = "Line. Tare. The weight of it.\n- Tare. The weight of an empty van.\nLid\nGrey list. Customers.";
        for (question, expected) in [
            ("what do they mean by tare", true),
            ("What is meant by the grey list?", true),
            ("What is a list?", false),
            ("What is a lid?", false),
            ("What is a van?", false),
        ] {
            let subject = Subject::of(question).expect("it asks for a definition");
            assert_eq!(subject.is_defined_in(entries), expected, "{question}");
        }
        for (question, expected) in [
            ("What is a lock file?", true),
            ("What does NPD mean?", true),
            ("What is Bob's phone number?", false),
            ("What is the capital?", false),
            ("What is a list of names?", false),
            ("What does pax mongolica mean?", false),
        ] {
            assert_eq!(Subject::of(question).is_some_and(|subject| subject.is_term()), expected, "{question}");
        }
        for other in ["Who is Ada?", "What does -z do?", "What is ", ""] {
            assert_eq!(Subject::of(other), None, "{other}");
        }
    }
}
