//! The form of a sentence: whether it can be an answer, and whether it has the form that the question asks for. English
//! only.

use super::need::Reason;
use crate::command_options::{entry_options, options};
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::wording::{lower_case_words, named_value};

/// Bonus of the entry of an option that the question names; the other scores range from 0 to about 1.
const NAMED_OPTION: f32 = 1.3;

/// The same for an entry of an option where the question asks for one.
pub(super) const AN_OPTION: f32 = 0.35;

/// The same for the beginning of another entry.
pub(super) const AN_ENTRY: f32 = 0.2;

/// The same for a sentence that begins with the thing to be defined and says what it is.
const DEFINITION: f32 = 0.5;

/// The same for a sentence that gives a reason where one is asked for.
const REASON: f32 = 0.15;

/// The same for a sentence under a heading or a label for one: "Cause."
const UNDER_REASON: f32 = 0.3;

/// The same for a sentence that tells a default where one is asked for.
const DEFAULT: f32 = 0.3;

/// Most words of a sentence that is a name with an article before it.
const MOST_OF_NAME: usize = 4;

/// Words of a question for an option.
const OPTION_WORDS: [&str; 6] = ["option", "options", "flag", "flags", "switch", "parameter"];

/// Words of a question for another thing that manuals list with its name.
const ENTRY_WORDS: [&str; 12] = [
    "command",
    "subcommand",
    "commands",
    "setting",
    "variable",
    "directive",
    "keyword",
    "function",
    "method",
    "signal",
    "field",
    "property",
];

/// Words of a question up to the one that tells what is asked for: "what is the command".
const MOST_BEFORE_NAME: usize = 4;

/// Openings of a question for a time that may be a condition: "when is the event emitted".
const PRESENT_OPENINGS: [&str; 8] =
    ["when is ", "when are ", "when does ", "when do ", "when can ", "when may ", "when must ", "when should "];

/// Words that begin a condition.
const CONDITIONS: [&str; 9] = ["when", "whenever", "if", "once", "unless", "until", "after", "before", "while"];

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

/// Words of a question for the author of something, and of a sentence that tells one.
const AUTHORED: [&str; 14] = [
    "maintains",
    "maintainer",
    "maintainers",
    "maintained",
    "author",
    "authors",
    "authored",
    "wrote",
    "written",
    "invented",
    "inventor",
    "discovered",
    "founded",
    "founder",
];

/// Fewest words of a sentence without a full stop and without a number.
const FEWEST_WORDS: usize = 4;

/// Most words of a line that shows how a command is called.
const MOST_OF_USAGE: usize = 8;

/// Fewest numbers of sections in a table of contents.
const SECTIONS_OF_CONTENTS: usize = 3;

/// A line drawn by hyphens.
const RULE: &str = "-----";

/// Signs of program code and of settings.
const CODE_SIGNS: [&str; 7] = [" == ", "();", "() {", " { ", " }", "=> ", "#["];

/// Share of capitalised words from which a line without a full stop is a title, and the same for a long one, which is a menu.
const TITLE: f32 = 0.6;
const MENU: f32 = 0.5;

/// Words from which a line is long.
const LONG_LINE: usize = 10;

/// Whether a question is for the name of an entry of a manual: "which command …", "what is the setting …".
pub(super) fn asks_for_entry(question: &Question) -> bool {
    let words: Vec<String> = lower_case_words(&question.asked).take(MOST_BEFORE_NAME).collect();
    let begins = matches!(words.first().map(String::as_str), Some("which" | "what"));
    let is_about_one = words.get(1).is_some_and(|word| matches!(word.as_str(), "do" | "does" | "did" | "happens"));
    let asks = words.iter().any(|word| OPTION_WORDS.contains(&word.as_str()) || ENTRY_WORDS.contains(&word.as_str()));
    begins && asks && !is_about_one && question.terms.options().is_empty()
}

/// Bonus of a sentence for having the form that the question asks for; `reason` where that is one.
pub(super) fn bonus(question: &Question, sentence: &str, reason: Option<Reason>) -> f32 {
    let asked = question.asked.to_lowercase();
    let named = question.terms.options();
    let own = entry_options(sentence);
    let mut bonus = 0.0;
    if named.iter().any(|option| own.contains(option)) {
        bonus += NAMED_OPTION;
    } else if named.is_empty() && !own.is_empty() && asks_for_option(&asked) {
        bonus += AN_OPTION;
    }
    if question.kind == AnswerKind::Definition && question.terms.is_defined_by(sentence) {
        bonus += DEFINITION;
    }
    bonus += match reason {
        Some(Reason::Headed) => UNDER_REASON,
        Some(Reason::InWords) => REASON,
        None => 0.0,
    };
    if tells_default(&asked) && tells_default(sentence) {
        bonus += DEFAULT;
    }
    bonus
}

/// Whether a text tells, or asks, what holds where nothing else is said: not a "non-default" value.
pub(super) fn tells_default(text: &str) -> bool {
    let words: Vec<String> = lower_case_words(text).collect();
    let is_default = |word: &String| matches!(word.as_str(), "default" | "defaults" | "defaulted");
    let others =
        words.windows(2).filter(|pair| matches!(pair, [non, word] if non == "non" && is_default(word))).count();
    words.iter().filter(|word| is_default(word)).count() > others
}

/// Whether a question for a time is about what holds in general.
pub(super) fn asks_in_present(question: &str) -> bool {
    let asked = question.trim_start().to_lowercase();
    PRESENT_OPENINGS.iter().any(|opening| asked.starts_with(opening))
}

/// Whether a question for a person is for the author of something.
pub(super) fn asks_for_author(question: &str) -> bool {
    // "Who was it written for?" is not.
    lower_case_words(question).any(|word| AUTHORED.contains(&word.as_str()) && word != "written")
}

/// Whether a sentence tells on which condition it holds.
pub(super) fn tells_condition(sentence: &str) -> bool {
    lower_case_words(sentence).any(|word| CONDITIONS.contains(&word.as_str()))
}

/// Whether a sentence tells an amount or a frequency by a word.
pub(super) fn tells_amount(sentence: &str) -> bool {
    lower_case_words(sentence).any(|word| AMOUNTS.contains(&word.as_str()))
}

/// Whether a text is a title, a label or the beginning of something, so that it says nothing by itself.
pub(super) fn is_fragment(text: &str) -> bool {
    if is_synopsis(text) || is_name(text) || is_contents(text) || is_reference(text) || text.contains(RULE) {
        return true;
    }
    if ends_like_sentence(text) || !text.is_ascii() && text.split_whitespace().count() < 2 {
        return false;
    }
    if text.ends_with([':', '：']) || text.starts_with("How to ") {
        return true;
    }
    let words: Vec<&str> = text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).collect();
    let capitals = words.iter().filter(|word| is_capitalised(word)).count();
    #[expect(clippy::cast_precision_loss, reason = "sentences are short")]
    let is_title = capitals as f32 >= if words.len() < LONG_LINE { TITLE } else { MENU } * words.len() as f32;
    let has_number = text.chars().any(|sign| sign.is_ascii_digit());
    // "Chair: Anna Smith"
    let is_entry = named_value(text).is_some() || !entry_options(text).is_empty();
    !is_entry && (is_title && !text.replace("://", "").contains(':') || words.len() < FEWEST_WORDS && !has_number)
}

/// Whether the first line of plain text, by itself, is the title of its document: it has no end and names no value.
pub(super) fn is_title_line(line: &str) -> bool {
    let words = line.split_whitespace().count();
    words <= LONG_LINE && !ends_like_sentence(line) && !line.contains([':', '|', '=', '@'])
}

/// Whether a text has the sign of an end.
pub(super) fn ends_like_sentence(text: &str) -> bool {
    let quoted = text.trim_end_matches(['"', '\'', '”', '’', '»', ')', '*', '_', '`', ']']);
    quoted.ends_with(['.', '!', '?', '。', '！', '？', '…', ';'])
}

/// Whether a text is a name with an article before it and a full stop behind it, as of a field: `The sixth field (pass).`
fn is_name(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let begins = words.first().is_some_and(|word| matches!(*word, "The" | "A" | "An"));
    begins && words.len() <= MOST_OF_NAME && text.ends_with(").")
}

/// Whether a text is program code, which HTML and plain text do not always mark.
pub(super) fn is_code(text: &str) -> bool {
    let equations = if is_legend(text) { 0 } else { text.matches(" = ").count() };
    let signs: usize = equations + CODE_SIGNS.iter().map(|sign| text.matches(sign).count()).sum::<usize>();
    let is_markup = text.starts_with('<') && text.contains("=\"");
    signs > 1 || is_markup || text.starts_with("$ ")
}

/// Whether a text says of several signs what they mean: "green = ready, red = fault".
fn is_legend(text: &str) -> bool {
    let has_code = text.contains(['(', '{', '[', '"', ';', '`']);
    !has_code && text.contains(',') && text.split(',').all(|part| part.matches(" = ").count() == 1)
}

/// Whether a text is a part of a table of contents: names after the numbers of sections, as in `7.4.1. Example`.
fn is_contents(text: &str) -> bool {
    let is_section = |word: &str| {
        let number = word.trim_end_matches(['.', ',', ':']);
        let is_numbered =
            number.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        number.contains('.') && is_numbered && (word.ends_with('.') || number.matches('.').count() > 1)
    };
    text.split_whitespace().filter(|word| is_section(word)).count() >= SECTIONS_OF_CONTENTS
}

/// Whether a text is a picture, or the definition of a link.
fn is_reference(text: &str) -> bool {
    let is_link = text.starts_with('[') && text.split_once("]: ").is_some_and(|(name, _)| !name.contains(' '));
    is_link || text.starts_with("![") || text.starts_with("[![")
}

/// Whether a text is a line of a synopsis that goes on over several: `prohibit | blackhole | nat ]`.
pub(super) fn is_part_of_synopsis(text: &str) -> bool {
    text.contains(" | ") && text.matches('[').count() != text.matches(']').count()
}

/// Whether a text is the synopsis of a command: `head [OPTION]... [FILE]...`.
fn is_synopsis(text: &str) -> bool {
    let optional = text.matches(" [").count();
    let begins_word =
        |(at, _): &(usize, &str)| text.get(at + 2..).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let in_words = text.match_indices(" [").filter(begins_word).count();
    let has_optional = in_words > text.matches("](").count() + 1 && !text.ends_with('.');
    let is_open = text.ends_with("...") && optional > 1 || text.ends_with(']') && text.contains(" [-");
    let has_place = text.split_whitespace().any(|word| word.starts_with('<') && word.ends_with('>'));
    let has_choice = ["{-", "|--", "[OPTION"].iter().any(|sign| text.contains(sign)) && !text.ends_with('.');
    let is_usage = has_place && text.split_whitespace().count() <= MOST_OF_USAGE;
    text.starts_with("[-")
        || text.contains("]...")
        || is_open
        || has_optional
        || has_choice
        || is_usage && !text.ends_with('.')
}

fn is_capitalised(word: &str) -> bool {
    word.chars().find(|sign| sign.is_alphabetic()).is_some_and(char::is_uppercase)
}

/// Whether a sentence names one of the options that a question is about; any sentence does if it is about none.
pub(super) fn names_option(sentence: &str, asked: &[&str]) -> bool {
    asked.is_empty() || options(sentence).iter().any(|option| asked.contains(option))
}

/// Whether a question, in lower case, is for an option of a command.
pub(super) fn asks_for_option(question: &str) -> bool {
    let asks = ["which ", "what "].iter().any(|opening| question.starts_with(opening));
    asks && question.split(|sign: char| !sign.is_alphanumeric()).any(|word| OPTION_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::super::need::asks_why;
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn titles_and_beginnings_are_fragments() {
        for fragment in [
            "HEAD(1) User Commands HEAD(1)",
            "Publishing on Crates",
            "Here is an example of a package that has no tests:",
            "see also below",
            "[-T] SOURCE DEST cp [OPTION]...",
            "head [OPTION]... [FILE]...",
            "cp [OPTION]... -t DIRECTORY SOURCE...",
            "gzip [ -acd ] [-S suffix] [ name ...",
            "git reset [-q] [<commit>]",
            "git bisect <subcommand> <options>",
            "tar {--catenate|--concatenate} [OPTIONS] ARCHIVE ARCHIVE",
            "Undo it",
            "Detected errors, 7.4. Data races, 7.4.1. Example, 7.4.2. Algorithm.",
            "The sixth field (pass).",
            "SharedPaint Database, https://example.org/paint.html",
            "Home Introduction Documentation Reporting bugs and getting help How to help Downloads Paint API Menu",
            "How to use the gear box",
            "[![build status](https://example.org/badge.svg)](https://example.org/build)",
            "[#3190]: https://example.org/pull/3190",
            "8X--------- AUTHORS file ------------- Authors of Paint.",
        ] {
            assert!(is_fragment(fragment), "{fragment}");
        }
        for sentence in [
            "Parental leave lasts 26 weeks",
            "Visa: 60 euros",
            "It was built in 1990. [3] [4]",
            "It rains.",
            "It grew by 1.5 from 2.5 to 4.0.",
            "\"So he said.\"",
            "-h, --help",
            "-a, --all do not ignore entries",
            "年に二十八日の有給休暇",
            "head - output the first part of files",
        ] {
            assert!(!is_fragment(sentence), "{sentence}");
        }
    }

    #[test]
    fn code_is_told_from_sentences() {
        for code in [
            "fn main() { print(); }",
            "[package] name = \"a\" version = \"1\"",
            "$ cargo publish",
            "<a type=\"b\"> text",
        ] {
            assert!(is_code(code), "{code}");
        }
        for sentence in [
            "Set x = 1 to stop.",
            "LED: green blink = ready, red = fault",
            "It costs $ 5.",
            "Use {} for the file name.",
        ] {
            assert!(!is_code(sentence), "{sentence}");
        }
    }

    #[test]
    fn sentences_of_the_form_asked_for_are_preferred() {
        let of = |question: &str, sentence: &str| {
            let reason = if asks_why(question) { Reason::given(sentence, "") } else { None };
            bonus(&Question::new(Analyzer::english(), question, 100, |_| 5), sentence, reason)
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
            ("", "", 0.0),
        ];
        for (question, sentence, expected) in table {
            assert!((of(question, sentence) - expected).abs() < 1e-6, "{question}: {sentence}");
        }
    }
}
