//! Subjects of documents. A question that names one is for what is said of that: documents about others of its kind have sentences
//! like it that name nothing, "This crate's minimum Rust version is 1.60." English only.

use crate::evidence::kind::AnswerKind;
use crate::evidence::names::is_named;
use crate::evidence::{Question, TermMask};
use crate::file_name::{is_of_data, subject_of};
use crate::lexical::analyzer::Analyzer;
use crate::wording::{bare, lower_case_words};

/// Words before a verb: in "How do I find …" no page is named.
const BEFORE_VERBS: [&str; 12] =
    ["can", "could", "do", "does", "how", "i", "not", "please", "should", "to", "we", "you"];

/// Words right before a name that has no article: "the default of jar", "Does jar …".
const BEFORE_NAMES: [&str; 8] = ["can", "did", "does", "from", "in", "is", "of", "was"];

/// Words after a name with an article: "the jar command".
const KINDS_OF_NAMED: [&str; 10] =
    ["command", "crate", "library", "manual", "module", "package", "page", "program", "tool", "utility"];

/// Signs between a subject and what a document says of it.
const BEFORE_TAILS: [&str; 5] = [" - ", " – ", " — ", " | ", ": "];

/// Share of a question besides the name of its subject from which a passage that has only the name says nothing of it.
const MOSTLY_ASKED: f32 = 0.5;

/// Signs before and after a name in code, in a link or in quotation marks, and of a genitive.
const BEFORE_MEANT: [char; 5] = ['`', '[', '"', '*', '/'];
const AFTER_MEANT: [char; 7] = ['`', ']', '"', '\'', '’', ':', '('];

/// Most words of a subject.
const MOST_WORDS: usize = 4;

/// Longest section of a manual, in bytes: "3pm", "1ssl".
const LONGEST_SECTION: usize = 6;

/// A document, by what names its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label<'d> {
    /// Its title.
    pub title: &'d str,
    /// The path or the URL that it comes from; empty where that is not known.
    pub source: &'d str,
}

/// How a document names its subject. Those that do it alike are about things of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// By its file, its folder or its page of a manual.
    Unit,
    /// Before what it says of it: "Jar Pro – frequently asked questions".
    Tail(String),
    /// By a title that is a name of so many words: "Ada Lovelace".
    Proper(usize),
}

/// The subject of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Subject {
    words: Vec<String>,
    kind: Kind,
}

impl Subject {
    fn new(name: &str, kind: Kind) -> Option<Self> {
        let words: Vec<String> = lower_case_words(name).collect();
        (1..=MOST_WORDS).contains(&words.len()).then_some(Self { words, kind })
    }

    /// The subject of a document, under each of its names.
    fn all_of(label: Label<'_>) -> Vec<Self> {
        if let Some(page) = page_name(label.title) {
            return Self::new(page, Kind::Unit).into_iter().collect();
        }
        let of_file = subject_of(label.source).and_then(|name| Self::new(&name, Kind::Unit));
        let title = label.title.trim();
        let parted = BEFORE_TAILS.iter().find_map(|sign| title.split_once(sign));
        let of_title = match parted {
            Some((name, tail)) => Self::new(name, Kind::Tail(tail.trim().to_lowercase())),
            None if is_identifier(title) && !is_of_data(label.source) => Self::new(title, Kind::Unit),
            None if is_proper(title) => Self::new(title, Kind::Proper(title.split(' ').count())),
            None => None,
        };
        of_file.into_iter().chain(of_title).collect()
    }

    fn is_in(&self, words: &[String]) -> bool {
        words.windows(self.words.len()).any(|run| run == self.words)
    }

    /// Whether a text of a document about something else means it: a name of one word may be a word, but for code, links and
    /// genitives, and manuals.
    fn is_meant_in(&self, label: Label<'_>, text: &str) -> bool {
        let [name] = self.words.as_slice() else { return self.is_said_in(text) };
        if self.kind != Kind::Unit || page_name(label.title).is_some() {
            return self.is_said_in(text);
        }
        let text = text.to_lowercase();
        text.match_indices(name.as_str()).any(|(at, _)| {
            let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..).unwrap_or_default());
            let is_whole = !before.ends_with(is_of_name) && !after.starts_with(is_of_name);
            is_whole && (before.ends_with(BEFORE_MEANT) || after.starts_with(AFTER_MEANT))
        })
    }

    /// Whether a text names it by whole words: `jar` is not in "jar-breaking".
    fn is_said_in(&self, text: &str) -> bool {
        let names = text.split(|sign: char| !is_of_name(sign));
        // Each with the number of the word that it is a part of.
        let parts: Vec<(usize, String)> =
            names.enumerate().flat_map(|(at, name)| lower_case_words(name).map(move |part| (at, part))).collect();
        let word = |at: Option<usize>| at.and_then(|at| parts.get(at)).map(|(word, _)| *word);
        parts.windows(self.words.len()).enumerate().any(|(at, run)| {
            let is_it = run.iter().map(|(_, part)| part).eq(&self.words);
            let (first, last) = (word(Some(at)), word(Some(at + run.len() - 1)));
            is_it && word(at.checked_sub(1)) != first && word(Some(at + run.len())) != last
        })
    }
}

/// The subjects of documents that a question names.
#[derive(Debug)]
pub struct AskedSubjects<'q> {
    question: &'q Question,
    /// The words of the question that may be names.
    nouns: Vec<String>,
    /// The subjects among those of the documents.
    named: Vec<Subject>,
    /// The weightiest term, where it stands as a name does.
    alone: TermMask,
}

impl<'q> AskedSubjects<'q> {
    /// Reads a question against the documents that were found for it. Names of one common word ("file", "date") name no document:
    /// they weigh less than the terms of the question do on average.
    #[must_use]
    pub fn of<'d>(question: &'q Question, documents: impl Iterator<Item = Label<'d>>) -> Self {
        let words: Vec<String> = lower_case_words(&question.asked).collect();
        let nouns = nouns(&words);
        let terms = question.terms.terms();
        #[expect(clippy::cast_precision_loss, reason = "questions have few terms")]
        let mean = question.terms.mass() / terms.len().max(1) as f32;
        let is_rare = |name: &str| terms.iter().any(|term| term.word.eq_ignore_ascii_case(name) && term.weight >= mean);
        let is_asked = |subject: &Subject| match (subject.words.as_slice(), &subject.kind) {
            ([name], _) => nouns.contains(name) && (is_rare(name) || owns(&words, name)),
            // The answer to "Who directed Jar Wars and …?" stands on a page of somebody else.
            ([.., name], Kind::Proper(_)) => subject.is_in(&words) && owns(&words, name),
            _ => subject.is_in(&words),
        };
        let mut named: Vec<Subject> = Vec::new();
        for subject in documents.flat_map(Subject::all_of).filter(is_asked) {
            if !named.contains(&subject) {
                named.push(subject);
            }
        }
        // "jar-lid" is no question for "jar".
        let all = named.clone();
        let is_part = |subject: &Subject| {
            all.iter().any(|longer| longer.words.len() > subject.words.len() && subject.is_in(&longer.words))
        };
        named.retain(|subject| !is_part(subject));
        Self { question, nouns, named, alone: alone(question, &words) }
    }

    /// Whether a text of a document, below headings, is about another subject than the question names, and means none that it does.
    #[must_use]
    pub fn is_elsewhere(&self, analyzer: &Analyzer, label: Label<'_>, headings: &[String], text: &str) -> bool {
        let lacks_name = || self.named.is_empty() && self.lacks_name(analyzer, label, headings, text);
        self.is_of_other(label, headings, text) || lacks_name()
    }

    /// The same where another document is about what the question names.
    pub(crate) fn is_of_other(&self, label: Label<'_>, headings: &[String], text: &str) -> bool {
        let own = if self.named.is_empty() { Vec::new() } else { Subject::all_of(label) };
        let is_of_kind = |own: &Subject| self.named.iter().any(|named| named.kind == own.kind);
        if !own.iter().any(is_of_kind) || self.is_about(&own) {
            return false;
        }
        let is_said = |named: &Subject| {
            let mut above = std::iter::once(label.title).chain(headings.iter().map(String::as_str));
            let is_own = || own.iter().any(|own| named.is_in(&own.words));
            is_own() || above.any(|title| named.is_said_in(title)) || named.is_meant_in(label, text)
        };
        !self.named.iter().any(is_said)
    }

    /// Share of what is asked of a named subject, besides its name, that these terms hold. `None` where the rest is little, and where
    /// other words tell it: a definition, and who, where and when.
    #[must_use]
    pub fn said_of_it(&self, held: TermMask) -> Option<f32> {
        let terms = &self.question.terms;
        let is_of_name = |word: String| self.named.iter().any(|named| named.words.contains(&word));
        let name = terms.mask_where(|term| lower_case_words(&term.word).all(is_of_name));
        let is_open = matches!(self.question.kind, AnswerKind::Person | AnswerKind::Place | AnswerKind::Date);
        let rest = terms.share(!name);
        let is_told = name != 0 && !is_open && !terms.asks_for_term() && rest >= MOSTLY_ASKED;
        is_told.then(|| terms.share(held & !name) / rest)
    }

    /// Whether a document about another one of a kind of programs or packages at best mentions the subject that is asked for: what
    /// it says of it is said in passing.
    #[must_use]
    pub fn is_in_passing(&self, label: Label<'_>, headings: &[String]) -> bool {
        let is_unit = self.named.iter().any(|named| named.kind == Kind::Unit);
        is_unit && self.is_of_other(label, headings, "")
    }

    /// Whether the subject of a document is in the question, besides the names of other subjects.
    fn is_about(&self, own: &[Subject]) -> bool {
        let is_of_named = |word: &&String| self.named.iter().any(|named| named.words.contains(*word));
        own.iter().any(|own| {
            let mut words = own.words.iter().filter(|word| !is_of_named(word)).peekable();
            let is_asked = |word: &String| self.nouns.contains(word);
            let is_some = words.peek().is_some();
            is_some && if own.kind == Kind::Unit { words.all(is_asked) } else { words.any(is_asked) }
        })
    }

    /// Whether texts of a document about one thing lack the name that stands alone in the question. Of documents that are no programs
    /// or packages only a name that the question writes as one is missed.
    fn lacks_name(&self, analyzer: &Analyzer, label: Label<'_>, headings: &[String], text: &str) -> bool {
        if self.alone == 0 {
            return false;
        }
        let (own, terms) = (Subject::all_of(label), &self.question.terms);
        let is_written = || terms.mask_where(|term| is_named(&self.question.text, &term.word)) & self.alone != 0;
        let has = |is: fn(&Kind) -> bool| own.iter().any(|own| is(&own.kind));
        let is_of_kind = has(|kind| *kind == Kind::Unit) || has(|kind| matches!(kind, Kind::Tail(_))) && is_written();
        let holds = |text: &str| (terms.mask_of(analyzer, text) | terms.resembled_in(text)) & self.alone != 0;
        let is_said = || {
            let names = own.iter().any(|own| holds(&own.words.join(" ")));
            names || holds(label.title) || headings.iter().any(|heading| holds(heading)) || holds(text)
        };
        is_of_kind && !self.is_about(&own) && !is_said()
    }
}

/// Whether a name may have a sign within.
fn is_of_name(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '-' | '_')
}

/// The words of a question that may be names by those around them: no verbs, and no things of many ("a zip file").
fn nouns(words: &[String]) -> Vec<String> {
    let may_be = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before)).map_or("", String::as_str);
        let next = words.get(at + 1).map_or("", String::as_str);
        match before {
            "" => false,
            "a" | "an" | "the" => KINDS_OF_NAMED.contains(&next),
            _ => !BEFORE_VERBS.contains(&before) || is_name_of_question(before),
        }
    };
    (0..words.len()).filter(may_be).filter_map(|at| words.get(at).cloned()).collect()
}

/// Whether something is said to be that of a name: "jar's licence".
fn owns(words: &[String], name: &str) -> bool {
    words.windows(2).any(|pair| matches!(pair, [word, ending] if word == name && ending == "s"))
}

/// Whether a name may stand right after a word that stands before verbs too: "Does jar …", "Can jar …".
fn is_name_of_question(before: &str) -> bool {
    matches!(before, "can" | "does" | "could")
}

/// The weightiest term of a question, where it stands right after a word that a name follows.
fn alone(question: &Question, words: &[String]) -> TermMask {
    let terms = question.terms.terms();
    let heaviest = terms.iter().map(|term| term.weight).fold(0.0, f32::max);
    let follows = |name: &str| {
        words
            .windows(2)
            .any(|pair| matches!(pair, [before, word] if word == name && BEFORE_NAMES.contains(&before.as_str())))
    };
    question.terms.mask_where(|term| term.weight >= heaviest && follows(&term.word.to_lowercase()))
}

/// Whether a title is one word that is written like a name in programs: `jar-lid`, `jar`, `Jar::Lid`.
fn is_identifier(title: &str) -> bool {
    let is_sign = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-' | ':');
    let is_written_so = title.starts_with(char::is_lowercase) || title.contains("::") || title.contains('_');
    is_written_so && title.chars().all(is_sign)
}

/// Whether a title is a name of several words, each with a capital or a number.
fn is_proper(title: &str) -> bool {
    let is_part = |word: &str| word.starts_with(|sign: char| sign.is_uppercase() || sign.is_ascii_digit());
    title.starts_with(char::is_uppercase)
        && title.split(' ').count() > 1
        && title.split(' ').all(|word| is_part(bare(word)))
}

/// The name of a manual page by its title: `DD` of `DD(1)`.
fn page_name(title: &str) -> Option<&str> {
    let (name, section) = title.trim().strip_suffix(')')?.split_once('(')?;
    let is_section = section.starts_with(|sign: char| sign.is_ascii_digit()) && section.len() <= LONGEST_SECTION;
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name && is_section).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(title: &'static str, source: &'static str) -> Label<'static> {
        Label { title, source }
    }

    fn are_elsewhere(question: &str, documents: &[Label<'_>], place: usize, text: &str) -> bool {
        // Files are in every second chunk.
        let frequency = |stem: &str| if matches!(stem, "file" | "version" | "rust") { 50 } else { 3 };
        let question = Question::new(Analyzer::english(), question, 100, frequency);
        let subjects = AskedSubjects::of(&question, documents.iter().copied());
        let label = documents.get(place).copied().expect("a document");
        subjects.is_elsewhere(Analyzer::english(), label, &[], text)
    }

    #[test]
    fn the_page_that_is_named_answers() {
        let pages =
            ["dd(1)", "MKE2FS(8)", "find(1)", "file(1)", "Handbook", "dd_rescue(1)"].map(|title| label(title, ""));
        let size = "The default block size is 4k.";
        let question = "What is the default block size of dd?";
        assert!(are_elsewhere(question, &pages, 1, size));
        assert!(!are_elsewhere(question, &pages, 0, "The default is 512."));
        assert!(!are_elsewhere(question, &pages, 1, "Like that of dd(1), it is 512."));
        assert!(!are_elsewhere(question, &pages, 4, size));
        assert!(!are_elsewhere(question, &pages, 5, size));
        assert!(are_elsewhere("How large are the blocks of the dd command?", &pages, 1, size));
        for none in [
            "How do I find a block?",
            "What is the default size?",
            "find a block",
            "How large is a file block?",
            "How do I split a dd image into blocks?",
        ] {
            assert!(!are_elsewhere(none, &pages, 1, size), "{none}");
        }
    }

    #[test]
    fn folders_files_and_products_are_named() {
        let minimum = "This crate's minimum Rust version is 1.60.";
        let crates = [
            label("Jar tools", "crates/jartools/README.md"),
            label("byteorder", "crates/byteorder/README.md"),
            label("Minimum versions", "crates/policy.md"),
        ];
        let question = "What is the minimum Rust version of jartools?";
        assert!(are_elsewhere(question, &crates, 1, minimum));
        assert!(!are_elsewhere(question, &crates, 0, minimum));
        assert!(!are_elsewhere(question, &crates, 1, "As for `jartools`, the minimum is 1.60."));
        assert!(are_elsewhere(question, &crates, 1, "The minimum is no jartools-breaking change."));
        assert!(are_elsewhere(question, &crates, 1, "The minimum is no (jartools breaking) change."));
        assert!(!are_elsewhere(question, &crates, 2, "The minimum is 1.60."));
        let is_in_passing = |title: &'static str, headings: &[String]| {
            let question = Question::new(Analyzer::english(), question, 100, |_| 3);
            let subjects = AskedSubjects::of(&question, crates.into_iter());
            subjects.is_in_passing(label(title, "crates/byteorder/README.md"), headings)
        };
        assert!(is_in_passing("byteorder", &[]) && !is_in_passing("byteorder", &["Use with jartools".to_owned()]));
        // No document of it was found.
        assert!(are_elsewhere("What is the minimum Rust version of lidtools?", &crates, 1, minimum));
        assert!(!are_elsewhere("What is the minimum Rust version of a byteorder?", &crates, 1, minimum));
        let products = [
            label("Jar One – frequently asked questions", "one.md"),
            label("Jar Pro – frequently asked questions", "pro.md"),
            label("Price list", "prices.md"),
        ];
        let question = "What is the range of the Jar Pro?";
        assert!(are_elsewhere(question, &products, 0, "The radio reaches 60 metres."));
        assert!(!are_elsewhere(question, &products, 1, "The radio reaches 60 metres."));
        assert!(!are_elsewhere(question, &products, 2, "The radio reaches 60 metres."));
        assert!(!are_elsewhere("Do the Jar One and the Jar Pro have a range?", &products, 0, "It has."));
    }

    #[test]
    fn the_name_of_the_subject_alone_says_nothing() {
        let crates = [label("jar_log", "crates/jar_log/README.md")];
        for (question, text, expected) in [
            ("How do I turn off colours in jar_log?", "Add jar_log to your tests.", true),
            ("How do I turn off colours in jar_log?", "Set NO_COLOR in jar_log, which turns them off.", false),
            ("What is jar_log?", "Add jar_log to your tests.", false),
            ("Who made jar_log?", "Jar_log is by Ada.", false),
            ("How do I turn off colours?", "Add jar_log to your tests.", false),
        ] {
            let question = Question::new(Analyzer::english(), question, 100, |_| 3);
            let subjects = AskedSubjects::of(&question, crates.into_iter());
            let held = question.terms.mask_of(Analyzer::english(), text);
            let says_nothing = subjects.said_of_it(held).is_some_and(|share| share <= 0.0);
            assert_eq!(says_nothing, expected, "{} {text}", question.text);
        }
    }

    #[test]
    fn people_are_told_apart_by_their_pages() {
        let pages = [label("Bob Okafor", "bob.md"), label("Erin Walsh", "erin.md"), label("Leave policy", "leave.md")];
        let notice = "The notice period is three months.";
        assert!(are_elsewhere("How long is Bob Okafor's notice period?", &pages, 1, notice));
        assert!(!are_elsewhere("How long is Erin Walsh's notice period?", &pages, 1, notice));
        assert!(!are_elsewhere("How long is Bob Okafor's notice period?", &pages, 2, notice));
        assert!(!are_elsewhere("How long is the notice period?", &pages, 1, notice));
        assert!(!are_elsewhere("Who gave notice to Bob Okafor?", &pages, 1, notice));
        let pro = label("Jar Pro – frequently asked questions", "jar-pro-faq.md");
        let pages = [label("Erin Walsh", "about-erin-walsh.md"), pro];
        assert!(are_elsewhere("What is the range of the Jar Pro?", &pages, 0, "She is manager of the Jar range."));
        let files = [label("Erin Walsh", "about-erin-walsh.md"), label("staff", "staff.csv")];
        let question = Question::new(Analyzer::english(), "What is Erin Walsh's extension?", 100, |_| 3);
        let subjects = AskedSubjects::of(&question, files.into_iter());
        assert!(files.iter().all(|label| !subjects.is_in_passing(*label, &[])));
    }
}
