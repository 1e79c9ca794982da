//! Names in a question: the title of a document, a heading, the first cell of a row.

use frostem::{Algorithm, Stemmer};

use crate::evidence::{Question, TermMask};
use crate::lexical::calendar::{days_in, days_of_column};
use crate::markdown::cells;
use crate::opening::{is_about_closed, is_closed};
use crate::wording::{denies, lower_case_words, says_yes};

/// Words of a title that name nothing.
const TITLE_FILLERS: [&str; 8] = ["a", "an", "and", "for", "in", "of", "on", "the"];

/// Longest value, in bytes, that must be written in the question as in its cell: a rating of "A" is no article.
const LONGEST_SIGN: usize = 2;

/// Shortest verb whose doer may name a column, in bytes.
const SHORTEST_VERB: usize = 3;

/// The words of a question, which may name the columns and values of a table.
pub(super) struct AskedWords<'q> {
    text: &'q str,
    words: Vec<String>,
    /// Whether it asks for what is not so.
    denies: bool,
    /// The days of the week that it names.
    days: Vec<&'static str>,
}

impl<'q> AskedWords<'q> {
    pub(super) fn of(question: &'q str) -> Self {
        let words = lower_case_words(question).collect();
        Self { text: question, words, denies: denies(question), days: days_in(question) }
    }

    /// Whether the question has the words of a value of several one after the other.
    pub(super) fn hold_whole(&self, value: &str) -> bool {
        let value: Vec<String> = lower_case_words(value).collect();
        value.len() > 1 && self.hold(&value)
    }

    /// Whether the question has all words of a text, of which there is one or more.
    pub(super) fn hold_all(&self, text: &str) -> bool {
        let mut words = lower_case_words(text).peekable();
        words.peek().is_some() && words.all(|word| self.words.contains(&word))
    }

    /// Whether the question names the thing that a row is about, by all words of its first cell, and the column of another cell.
    pub(super) fn name_cell(&self, row: &[(String, String)]) -> bool {
        let Some(((_, name), others)) = row.split_first() else { return false };
        let names_column = || others.iter().any(|(column, _)| self.hold_all(column));
        name.contains(char::is_alphabetic) && self.hold_all(name) && names_column()
    }

    /// Whether the question names a column, also by the verb of its noun ("own", "Owner"), and the value that stands there.
    pub(super) fn name(&self, column: &str, value: &str) -> bool {
        if !self.names_column(column) {
            return false;
        }
        if value.len() <= LONGEST_SIGN {
            return self.text.split(|sign: char| !sign.is_alphanumeric()).any(|word| word == value);
        }
        let value: Vec<String> = lower_case_words(value).collect();
        !value.is_empty() && self.hold(&value)
    }

    /// Whether the question names a column in which a value says that it is so: "Which stations are staffed?"; or, where it asks for
    /// what is not so, that it is not.
    pub(super) fn asks_for_so(&self, column: &str, value: &str) -> bool {
        self.asks_for(value) && (self.names_column(column) || self.names_day(column))
    }

    /// Whether a value says that something is so, or, where the question asks for what is not so, that it is not. Of what is open,
    /// hours say so.
    pub(super) fn asks_for(&self, value: &str) -> bool {
        let is_open = || Some(is_about_closed(&self.words)? == is_closed(value)?);
        says_yes(value).or_else(is_open).is_some_and(|is_so| is_so != self.denies)
    }

    fn names_column(&self, column: &str) -> bool {
        let mut column = lower_case_words(column).peekable();
        let is_asked = |word: String| {
            let is_verb_of = |asked: &String| {
                let is_done = || asked.strip_suffix("ed").is_some_and(|stem| word.strip_suffix("ing") == Some(stem));
                asked.len() >= SHORTEST_VERB && word.strip_prefix(asked.as_str()).is_some_and(is_doer) || is_done()
            };
            self.words.contains(&word) || self.words.iter().any(is_verb_of)
        };
        column.peek().is_some() && column.all(is_asked)
    }

    /// Whether the question names a day of a column of days: "Saturday" of "Sat", "Tuesday" of "Mon–Fri".
    fn names_day(&self, column: &str) -> bool {
        !self.days.is_empty() && days_of_column(column).iter().any(|day| self.days.contains(day))
    }

    fn hold(&self, phrase: &[String]) -> bool {
        self.words.windows(phrase.len()).any(|words| words == phrase)
    }
}

/// Whether letters after a verb make a noun for its doer.
fn is_doer(ending: &str) -> bool {
    matches!(ending, "er" | "r" | "or")
}

/// The words of a question in the singular.
pub(super) struct Singulars(Vec<String>);

impl Singulars {
    pub(super) fn of(question: &str) -> Self {
        Self(lower_case_words(question).map(|word| singular(&word)).collect())
    }

    /// Share of the words of a title that they hold: of "tar(1)", and of "tar - The GNU Manual", those before the name of the
    /// book. A document whose whole title is in the question is about what it asks.
    pub(super) fn are_about(&self, title: &str) -> f32 {
        let named = [" - ", " – ", " | "].iter().fold(title, |title, sign| title.split(sign).next().unwrap_or(title));
        share_held(&self.0, lower_case_words(named).filter(|word| is_name(word)).map(|word| singular(&word)))
    }
}

fn singular(word: &str) -> String {
    word.trim_end_matches('s').to_owned()
}

/// The words of a question by their stems, as headings of sections may have them: "Installing on Windows" for "install".
pub(super) struct AskedStems(Vec<String>);

impl AskedStems {
    pub(super) fn of(question: &str) -> Self {
        Self(stems(question).collect())
    }

    /// Share of the words of a heading that they hold.
    pub(super) fn are_about(&self, heading: &str) -> f32 {
        share_held(&self.0, stems(heading))
    }

    /// Whether they have the words of a heading in its order: "uninstall jar" those of "Uninstalling Jar", not of "jar uninstall".
    pub(super) fn have_in_order(&self, heading: &str) -> bool {
        let mut asked = self.0.iter();
        stems(heading).all(|word| asked.any(|asked| *asked == word))
    }
}

/// The stems of the words of a heading that name something.
fn stems(text: &str) -> impl Iterator<Item = String> {
    let stemmer = Stemmer::new(Algorithm::English);
    lower_case_words(text).filter(|word| is_name(word)).map(move |word| stemmer.stem(&word).into_owned())
}

/// The question's terms whose stems a heading has.
pub(super) fn stems_in(question: &Question, heading: &str) -> TermMask {
    let stems: Vec<String> = stems(heading).collect();
    words_in(question, heading) | question.terms.mask_where(|term| stems.contains(&term.stem))
}

/// Share of words that are among those of a question; 0 of none.
fn share_held(asked: &[String], words: impl Iterator<Item = String>) -> f32 {
    let (mut held, mut all) = (0.0_f32, 0.0_f32);
    for word in words {
        all += 1.0;
        held += if asked.contains(&word) { 1.0 } else { 0.0 };
    }
    held / all.max(1.0)
}

fn is_name(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && !TITLE_FILLERS.contains(&word)
}

/// Share of the words of a title that a question holds; see [`Singulars::are_about`].
pub(super) fn about(question: &str, title: &str) -> f32 {
    Singulars::of(question).are_about(title)
}

/// Share of the question's weight in the first cell of a row.
pub(super) fn named(question: &Question, row: &str) -> f32 {
    let name = cells(row).map(|(_, cell)| cell).find(|cell| !cell.is_empty()).unwrap_or_default();
    question.terms.share(words_in(question, name))
}

/// The question's terms that a text holds word for word, but for their number.
pub(super) fn words_in(question: &Question, text: &str) -> TermMask {
    let text = text.to_lowercase();
    let words: Vec<String> = text.split(|sign: char| !sign.is_alphanumeric()).map(singular).collect();
    // A term may be several words: "server.close".
    question.terms.mask_where(|term| lower_case_words(&term.word).all(|word| words.contains(&singular(&word))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_compared_by_stems() {
        let stems = AskedStems::of("How do I uninstall the jar?");
        for (heading, about, is_in_order) in [
            ("4. Uninstalling the Jars", 1.0, true),
            ("jar uninstall", 1.0, false),
            ("Jars of tin", 0.5, false),
            ("", 0.0, true),
        ] {
            assert!((stems.are_about(heading) - about).abs() < 1e-6, "{heading}");
            assert_eq!(stems.have_in_order(heading), is_in_order, "{heading}");
        }
    }

    #[test]
    fn a_value_is_named_with_its_column() {
        let cases = [
            ("List the suppliers with rating A", "Rating", "A", true),
            ("List the suppliers with rating A", "Rating", "B", false),
            ("List a supplier with its rating", "Rating", "A", false),
            ("Which cars have diesel as fuel?", "Fuel", "Diesel", true),
            ("Which cars have diesel?", "Fuel", "diesel", false),
            ("Which parts have the status in stock?", "Status", "In stock", true),
            ("Which boats does Ada Byron own?", "Owner", "Ada Byron", true),
            ("Which boats are rated A?", "Rating", "A", true),
            ("Which boats does Ada Byron own?", "Deputy", "Ada Byron", false),
            ("Which parts?", "", "parts", false),
        ];
        for (question, column, value, expected) in cases {
            assert_eq!(AskedWords::of(question).name(column, value), expected, "{question} {column} {value}");
        }
    }

    #[test]
    fn a_column_says_what_is_so() {
        let cases = [
            ("Which boats are insured?", "Insured", "yes", true),
            ("Which boats are insured?", "Insured", "no", false),
            ("Which boats are not insured?", "Insured", "–", true),
            ("Which boats are new?", "Insured", "yes", false),
            ("Which boats are insured?", "Insured", "ask", false),
            ("Which office is open on Saturday?", "Sat", "10:00–13:00", true),
            ("Which office is open on Saturday?", "Sat", "closed", false),
            ("Which office is open on Saturday?", "Mon–Fri", "10:00–13:00", false),
            ("Which offices are open on Tuesday?", "Mon–Fri", "10:00–13:00", true),
            ("Which offices are closed on Saturdays?", "Sat", "closed", true),
            ("Which offices are not open on Saturdays?", "Sat", "closed", true),
        ];
        for (question, column, value, expected) in cases {
            assert_eq!(AskedWords::of(question).asks_for_so(column, value), expected, "{question} {value}");
        }
    }

    #[test]
    fn a_cell_is_named_by_its_row_and_its_column() {
        let row = [("Boat", "Heron II"), ("Berth", "4"), ("Length (m)", "12")]
            .map(|(column, value)| (column.to_owned(), value.to_owned()));
        for (question, expected) in [
            ("Which berth has the Heron II?", true),
            ("What is the length of Heron II in m?", true),
            ("Which berth has the Heron?", false),
            ("Who owns the Heron II?", false),
        ] {
            assert_eq!(AskedWords::of(question).name_cell(&row), expected, "{question}");
        }
    }
}
