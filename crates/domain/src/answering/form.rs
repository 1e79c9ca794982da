//! The form of a sentence: whether it has the one that the question asks for. English only.

use super::need::Reason;
use crate::command_options::{entry_options, options};
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::measure::{counted, counts};
use crate::wording::{bare, differ_by_ending, lower_case_words};

/// Bonus of the entry of an option that the question names; the other scores range from 0 to about 1.
const NAMED_OPTION: f32 = 1.3;

/// The same for an entry of an option where the question asks for one.
pub(super) const AN_OPTION: f32 = 0.35;

/// The same for a sentence that begins with the thing to be defined and says what it is.
pub(super) const DEFINITION: f32 = 0.5;

/// The same for a sentence that tells the number of the things that the question counts.
const COUNTED: f32 = 0.2;

/// The same for a sentence that gives a reason where one is asked for.
const REASON: f32 = 0.15;

/// The same for a sentence under a heading or a label for one: "Cause."
const UNDER_REASON: f32 = 0.3;

/// The same for a sentence that tells a default where one is asked for.
const DEFAULT: f32 = 0.3;

/// Loss of a sentence that tells a default where the question is for the setting of those who ask: "what do we set it to".
const NOT_OWN: f32 = 0.4;

/// Words of those who ask for what is their own.
const OWN: [&str; 3] = ["our", "us", "we"];

/// Loss of a sentence that tells of one case.
const EXAMPLE: f32 = 0.1;

/// The same for one that it only supposes.
const SUPPOSED: f32 = 0.3;

/// Bonus of a sentence that names a variable of the environment where one is asked for.
const ENVIRONMENT: f32 = 0.3;

/// Most words before "for example" in such a sentence.
const MOST_BEFORE_EXAMPLE: usize = 2;

/// Further bonus where the name of the option is what the question says: `--create-home` for what "creates the home directory".
const SAID_BY_NAME: f32 = 0.5;

/// Words of a question for an option.
const OPTION_WORDS: [&str; 6] = ["option", "options", "flag", "flags", "switch", "parameter"];

/// Words of a question up to the one that tells what is asked for: "what is the environment variable".
const MOST_BEFORE_NAME: usize = 5;

/// Most words of a version beside those before it: "minimum supported pump version".
const MOST_OF_VERSION: usize = 4;

/// Words behind which what a question says of a thing is another thing.
const AFTER_NOUN: [&str; 10] = ["at", "by", "for", "from", "in", "of", "that", "to", "which", "with"];

/// Most words of a command: `git remote add`.
const MOST_OF_COMMAND: usize = 4;

/// Things that programs keep in files.
const KEPT_BY_PROGRAMS: [&str; 14] = [
    "binaries",
    "cache",
    "cached",
    "caches",
    "config",
    "configuration",
    "file",
    "files",
    "log",
    "logs",
    "preferences",
    "settings",
    "socket",
    "templates",
];

/// Openings of a question for a time that may be a condition: "when is the event emitted".
const PRESENT_OPENINGS: [&str; 8] =
    ["when is ", "when are ", "when does ", "when do ", "when can ", "when may ", "when must ", "when should "];

/// Words that begin a condition.
const CONDITIONS: [&str; 9] = ["when", "whenever", "if", "once", "unless", "until", "after", "before", "while"];

/// Most words from "if no" to "is given".
const MOST_OF_GIVEN: usize = 5;

/// Things that a command is given.
const GIVEN: [&str; 8] =
    ["option", "options", "argument", "arguments", "parameter", "parameters", "operand", "operands"];

/// Verbs of giving them.
const GIVES: [&str; 9] = ["give", "gives", "given", "pass", "passes", "use", "name", "specify", "with"];

/// Words of a question for what holds where nothing else is said, beside "default".
const UNSAID: [&str; 16] = [
    "out of the box",
    "leave the setting",
    "leave it alone",
    "don't specify",
    "do not specify",
    "don't set",
    "do not set",
    "don't give",
    "do not give",
    "don't say",
    "not specified",
    "not given",
    "if nobody says",
    "if nothing is",
    "if none is",
    "when omitted",
];

/// Words for an amount or a frequency without a number.
const AMOUNTS: [&str; 14] = [
    "hourly",
    "daily",
    "nightly",
    "weekly",
    "monthly",
    "quarterly",
    "yearly",
    "annually",
    "every",
    "once",
    "free",
    "unlimited",
    "none",
    "indefinitely",
];

/// Things that a question asks for the name of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// A variable of the environment.
    Variable,
    /// A command.
    Command,
}

impl Named {
    /// What a question, in lower case, asks for the name of.
    fn asked_for(asked: &str) -> Option<Self> {
        if asked.contains("environment variable") {
            return Some(Self::Variable);
        }
        asks_for_command(asked).then_some(Self::Command)
    }
}

/// The form that a question asks for.
pub(super) struct AskedForm<'q> {
    question: &'q Question,
    /// The options of commands that it names.
    options: Vec<&'q str>,
    /// Bonus of the entry of an option where it names none.
    of_option: f32,
    /// Whether it is for a default, which stands elsewhere in its entry than at the beginning.
    pub(super) is_for_default: bool,
    /// Bonus of a sentence that tells a default: a loss where the question is for what holds with those who ask.
    of_default: f32,
    /// What it is for the name of.
    pub(super) named: Option<Named>,
    /// Whether it is for an example.
    is_for_example: bool,
    /// The things that it asks to count.
    counted: Option<String>,
}

impl<'q> AskedForm<'q> {
    pub(super) fn of(question: &'q Question) -> Self {
        let asked = question.asked.to_lowercase();
        let is_for_default = asks_for_default(&asked);
        Self {
            question,
            options: question.terms.options(),
            of_option: if asks_for_option(&asked) { AN_OPTION } else { 0.0 },
            is_for_default,
            of_default: match is_for_default {
                true => DEFAULT,
                false if lower_case_words(&asked).any(|word| OWN.contains(&word.as_str())) => -NOT_OWN,
                false => 0.0,
            },
            named: Named::asked_for(&asked),
            is_for_example: asked.contains("example"),
            counted: counted(&asked),
        }
    }

    /// Bonus of a sentence for having it; `reason` where that is one.
    pub(super) fn bonus(&self, sentence: &str, reason: Option<Reason>) -> f32 {
        let own = entry_options(sentence);
        let mut bonus = 0.0;
        if self.options.iter().any(|option| own.contains(option)) {
            bonus += NAMED_OPTION;
        } else if self.options.is_empty() && !own.is_empty() {
            bonus += self.of_option;
            if self.of_option > 0.0 && own.iter().any(|option| self.is_said_by(option)) {
                bonus += SAID_BY_NAME;
            }
        }
        if self.question.kind == AnswerKind::Definition && self.question.terms.is_defined_by(sentence) {
            bonus += DEFINITION;
        }
        if self.counted.as_deref().is_some_and(|counted| counts(sentence, counted)) {
            bonus += COUNTED;
        }
        bonus += match reason {
            Some(Reason::Headed) => UNDER_REASON,
            Some(Reason::InWords) => REASON,
            None => 0.0,
        };
        let is_example = is_example(sentence) && !self.is_for_example;
        if self.of_default.abs() > 0.0 && tells_default(sentence) && !is_example {
            bonus += self.of_default;
        }
        bonus += match self.named {
            Some(Named::Variable) if names_variable(sentence) => ENVIRONMENT,
            Some(Named::Command) if names_in_code(sentence).any(|name| self.is_said_by(name)) => SAID_BY_NAME,
            Some(Named::Command) if is_entry_of_command(sentence) => AN_OPTION,
            _ => 0.0,
        };
        if is_example {
            bonus -= if is_supposed(sentence) { SUPPOSED } else { EXAMPLE };
        }
        bonus
    }
}

impl AskedForm<'_> {
    /// Bonus of a sentence below a heading that is the name of what is asked for: of a variable, or of an option.
    pub(super) fn bonus_below(&self, heading: &str, sentence: &str) -> Option<f32> {
        if self.named == Some(Named::Variable) && names_variable(heading) && !names_variable(sentence) {
            return Some(ENVIRONMENT);
        }
        let is_option = |text: &str| !options(text).is_empty();
        (self.of_option > 0.0 && is_option(heading) && !is_option(sentence)).then_some(self.of_option)
    }

    /// Whether a name is made of several words, each of which the question has in some form.
    fn is_said_by(&self, option: &str) -> bool {
        let terms = self.question.terms.terms();
        let has = |name: &str| terms.iter().any(|term| differ_by_ending(name, &term.word, 3));
        let mut names = option.trim_start_matches('-').split(['-', '_', ' ']).peekable();
        names.next_if(|name| has(name)).is_some() && names.peek().is_some() && names.all(has)
    }
}

/// Whether a question, in lower case, is for a command: "which command …".
fn asks_for_command(asked: &str) -> bool {
    let mut words = lower_case_words(asked).take(MOST_BEFORE_NAME);
    let asks = words.next().is_some_and(|word| matches!(word.as_str(), "which" | "what"));
    asks && words.any(|word| matches!(word.as_str(), "command" | "commands" | "subcommand"))
}

/// Whether a sentence begins with the name of a command and tells what that does: "jar-fill — Fills a jar".
fn is_entry_of_command(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    let is_name = words.next().is_some_and(|word| bare(word).contains('-') || word.starts_with('`'));
    is_name && words.next().is_some_and(|word| matches!(word, "-" | "–" | "—" | "--"))
}

/// Names of commands in a text: words with a hyphen, and code of a few words.
fn names_in_code(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().map(bare).filter(|word| word.contains('-'));
    let code = text.split('`').skip(1).step_by(2).filter(|code| code.split_whitespace().count() <= MOST_OF_COMMAND);
    words.chain(code)
}

/// Whether a question is for a variable of the environment: "which environment variable …".
pub(super) fn asks_for_variable(asked: &str) -> bool {
    let words: Vec<String> = lower_case_words(asked).take(MOST_BEFORE_NAME).collect();
    let asks = matches!(words.first().map(String::as_str), Some("which" | "what"));
    asks && words.windows(2).any(|pair| matches!(pair, [of, variable] if of == "environment" && variable == "variable"))
}

/// Whether a question is for a version: "in which release …", "since what version …", "what is the oldest pump version".
pub(super) fn asks_for_version(asked: &str) -> bool {
    let words: Vec<String> = lower_case_words(asked).take(MOST_BEFORE_NAME + MOST_OF_VERSION).collect();
    let is_version = |word: &String| matches!(word.as_str(), "version" | "release" | "msrv");
    let asks = |word: &String| matches!(word.as_str(), "which" | "what");
    let opening = words.get(..MOST_BEFORE_NAME).unwrap_or(&words);
    let Some(at) = opening.iter().position(asks) else {
        // "minimum rust version of jar"
        let noun = words.iter().take_while(|word| !AFTER_NOUN.contains(&word.as_str()));
        return opening.iter().any(|word| word == "minimum") && noun.into_iter().any(is_version);
    };
    let is_near = opening.iter().skip(at + 1).any(is_version);
    let is_noun = match words.get(at + 1..) {
        Some([is, the, noun @ ..]) if matches!(is.as_str(), "is" | "was" | "s") && the == "the" => {
            noun.iter().take_while(|word| !AFTER_NOUN.contains(&word.as_str())).any(is_version)
        }
        _ => false,
    };
    is_near || is_noun
}

/// Whether a question for a place is for where a program keeps something.
pub(super) fn asks_for_path(asked: &str) -> bool {
    lower_case_words(asked).any(|word| KEPT_BY_PROGRAMS.contains(&word.as_str()))
}

/// Whether a sentence names a variable of the environment: `RUST_LOG`, `$HOME`.
pub(super) fn names_variable(sentence: &str) -> bool {
    let is_sign = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_';
    sentence.split(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '_' | '$')).any(|word| {
        let name = word.trim_start_matches('$');
        name.len() > 2 && name.chars().all(is_sign) && (name.contains('_') || word.starts_with('$'))
    })
}

/// Whether a sentence tells of a case that it only supposes: "For example, if version 1.0 needs …".
fn is_supposed(sentence: &str) -> bool {
    lower_case_words(sentence)
        .take(MOST_BEFORE_EXAMPLE + 2)
        .any(|word| matches!(word.as_str(), "if" | "suppose" | "say" | "imagine"))
}

/// Whether a sentence tells of one case, after one that tells what holds: "For example, …", "If, for example, …",
/// "Imagine that …".
fn is_example(sentence: &str) -> bool {
    let words: Vec<String> = lower_case_words(sentence).take(MOST_BEFORE_EXAMPLE + 2).collect();
    if matches!(words.first().map(String::as_str), Some("imagine" | "suppose")) {
        return true;
    }
    words.windows(2).any(|pair| matches!(pair, [of, case] if of == "for" && (case == "example" || case == "instance")))
}

/// Whether a text tells, or asks, what holds where nothing else is said: not a "non-default" value.
pub(super) fn tells_default(text: &str) -> bool {
    let words: Vec<String> = lower_case_words(text).collect();
    let is_default = |word: &String| matches!(word.as_str(), "default" | "defaults" | "defaulted");
    let others =
        words.windows(2).filter(|pair| matches!(pair, [non, word] if non == "non" && is_default(word))).count();
    words.iter().filter(|word| is_default(word)).count() > others || tells_of_none_given(&words)
}

/// Whether words tell what holds where nothing is given: "if no signal is specified", "if invoked without any arguments".
fn tells_of_none_given(words: &[String]) -> bool {
    let is_given = |word: &String| matches!(word.as_str(), "given" | "provided" | "specified");
    let none = words
        .windows(2)
        .position(|pair| matches!(pair, [condition, no] if matches!(condition.as_str(), "if" | "when") && no == "no"));
    none.is_some_and(|none| words.iter().skip(none + 2).take(MOST_OF_GIVEN).any(is_given))
        || names_none(words, &["without", "with"])
}

/// Whether words name no option or argument, behind one of these words: "give no option", "without any arguments".
fn names_none(words: &[String], before: &[&str]) -> bool {
    words.iter().enumerate().filter(|(_, word)| GIVEN.contains(&word.as_str())).any(|(at, _)| {
        let mut behind = words.iter().take(at).rev().filter(|word| *word != "any" && *word != "further");
        let nearest = behind.next().map(String::as_str);
        match nearest {
            Some("no") => behind.next().is_some_and(|word| before.contains(&word.as_str())),
            Some("without") => true,
            _ => false,
        }
    })
}

/// Whether a question is for what holds where nothing else is said.
pub(super) fn asks_for_default(question: &str) -> bool {
    let asked = question.to_lowercase().replace('’', "'");
    let words: Vec<String> = lower_case_words(&asked).collect();
    tells_default(&asked) || names_none(&words, &GIVES) || UNSAID.iter().any(|words| asked.contains(words))
}

/// Whether a question for a time is about what holds in general.
pub(super) fn asks_in_present(question: &str) -> bool {
    let asked = question.trim_start().to_lowercase();
    PRESENT_OPENINGS.iter().any(|opening| asked.starts_with(opening))
}

/// Whether a sentence tells on which condition it holds.
pub(super) fn tells_condition(sentence: &str) -> bool {
    lower_case_words(sentence).any(|word| CONDITIONS.contains(&word.as_str()))
}

/// Whether a sentence tells an amount or a frequency by a word: "every night", not "every time".
pub(super) fn tells_amount(sentence: &str) -> bool {
    let words: Vec<String> = lower_case_words(sentence).collect();
    let is_each_time = |at: usize| words.get(at..at + 2).is_some_and(|pair| *pair == ["every", "time"]);
    words.iter().enumerate().any(|(at, word)| AMOUNTS.contains(&word.as_str()) && !is_each_time(at))
}

/// Whether a question, in lower case, is for an option of a command.
pub(super) fn asks_for_option(question: &str) -> bool {
    let asks = ["which ", "what "].iter().any(|opening| question.starts_with(opening));
    asks && question.split(|sign: char| !sign.is_alphanumeric()).any(|word| OPTION_WORDS.contains(&word))
        && !names_none(&lower_case_words(question).collect::<Vec<_>>(), &GIVES)
}

#[cfg(test)]
mod tests {
    use super::super::need::asks_why;
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn what_holds_without_options_is_a_default() {
        for question in [
            "What key type does keygen make if I give no option?",
            "What does tar do without any options?",
            "Which signal is sent with no arguments?",
        ] {
            assert!(asks_for_default(question) && !asks_for_option(&question.to_lowercase()), "{question}");
        }
        assert!(!asks_for_default("Which option takes no argument?"));
        assert!(asks_for_option("which option takes no argument?"));
        assert!(tells_default("If invoked without any arguments, keygen will generate an RSA key."));
        assert!(tells_default("When no file is given, standard input is read."));
        assert!(!tells_default("Options take arguments with a value."));
    }

    #[test]
    fn every_tells_how_often_unless_it_is_every_time() {
        assert!(tells_amount("Tapes are kept every night.") && tells_amount("It is free."));
        assert!(!tells_amount("Sending it every time is safer."));
        assert!(tells_amount("Every time it is sent, and once a day."));
    }

    #[test]
    fn sentences_of_the_form_asked_for_are_preferred() {
        let of = |question: &str, sentence: &str| {
            let reason = if asks_why(question) { Reason::given(sentence, false) } else { None };
            AskedForm::of(&Question::new(Analyzer::english(), question, 100, |_| 5)).bonus(sentence, reason)
        };
        let table = [
            ("What does the -z option of tar do?", "-z, --gzip, --gunzip, --ungzip Filter the archive.", NAMED_OPTION),
            ("What does tar --gzip do?", "-z, --gzip Filter the archive through gzip.", NAMED_OPTION),
            ("What does `-o` do?", "-o FILE, --output=FILE Write to a file.", NAMED_OPTION),
            ("What does -z do?", "-Z, --compress Filter the archive.", 0.0),
            ("What does -z do?", "Files with -z are filtered.", 0.0),
            ("Which option of ls shows hidden files?", "-a, --all do not ignore hidden files", AN_OPTION),
            ("Which file of ls is hidden?", "-a, --all do not ignore hidden files", 0.0),
            ("What is a workspace?", "A workspace is a collection of packages.", DEFINITION),
            ("What is head?", "NAME head - output the first part of files", DEFINITION),
            ("What are workspaces?", "Workspaces are collections.", DEFINITION),
            ("What is a team workspace?", "A workspace is a collection.", DEFINITION),
            ("What is a workspace root?", "A workspace is a collection.", 0.0),
            ("What is a workspace?", "Every workspace is large.", 0.0),
            ("Why is the sky blue?", "The sky is blue because of scattering.", REASON),
            ("Is the sky blue?", "The sky is blue because of scattering.", 0.0),
            ("What is the default port?", "If omitted, defaults to 5432.", DEFAULT),
            ("Which port is used by default?", "The default is 5432.", DEFAULT),
            ("Which port is used?", "The default is 5432.", 0.0),
            ("Which port is used by default?", "PORT sets a non-default one.", 0.0),
            ("Which is the default port?", "The port is 5432.", 0.0),
            ("Which port is used?", "If, for example, it is set to 7, the port is 5439.", -SUPPOSED),
            ("Which port is used?", "For example, the port of a test is 5439.", -EXAMPLE),
            ("What is the default port?", "For example, a test leaves the default alone and uses 5439.", -EXAMPLE),
            ("Which environment variable sets the port?", "Set the port in `POOL_PORT`.", ENVIRONMENT),
            ("Which environment variable sets the port?", "An environment variable sets the port.", 0.0),
            ("What is an example of a port?", "For example, 5432.", 0.0),
            ("Which command opens a port?", "The following port-open command opens a port.", SAID_BY_NAME),
            ("Which jar command closes ports?", "Ports are closed by `jar close`.", SAID_BY_NAME),
            ("Which command opens a port?", "The port-list command lists open ports.", 0.0),
            ("Which command moves a port?", "port-shift — Moves a port to another wall.", AN_OPTION),
            ("Which port is open?", "The following port-open command opens a port.", 0.0),
            ("", "", 0.0),
        ];
        for (question, sentence, expected) in table {
            assert!((of(question, sentence) - expected).abs() < 1e-6, "{question}: {sentence}");
        }
    }
}
