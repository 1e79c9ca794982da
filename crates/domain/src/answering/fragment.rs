//! Texts that say nothing by themselves: titles, labels, code, contents, references, and how a command is called.

use crate::command_options::entry_options;
use crate::wording::{has_digit, lower_case_words, named_value};

/// Most words of a sentence that is a name with an article before it.
const MOST_OF_NAME: usize = 4;

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

/// Whether a text is a title, a label or the beginning of something, so that it says nothing by itself.
pub(super) fn is_fragment(text: &str) -> bool {
    if is_synopsis(text) || is_name(text) || is_contents(text) || is_reference(text) || text.contains(RULE) {
        return true;
    }
    if ends_like_sentence(text) || !text.is_ascii() && text.split_whitespace().count() < 2 {
        return false;
    }
    if text.ends_with([':', '：']) && !tells_default_in_brackets(text) || text.starts_with("How to ") {
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

/// Whether a text tells a default between brackets: "The number of jars (10 by default) is set by:".
fn tells_default_in_brackets(text: &str) -> bool {
    let inner = text.split('(').skip(1).filter_map(|rest| rest.split_once(')')).map(|(inner, _)| inner.to_lowercase());
    inner.into_iter().any(|inner| inner.contains("default") && has_digit(&inner))
}

/// Whether the first line of plain text, by itself, is the title of its document: it has no end and names no value.
pub(super) fn is_title_line(line: &str) -> bool {
    let words = line.split_whitespace().count();
    words <= LONG_LINE && !ends_like_sentence(line) && !line.contains([':', '|', '=', '@'])
}

/// Whether an item of a list holds only where those above it do not: "otherwise call the desk".
pub(super) fn leans_on_item_above(item: &str) -> bool {
    const ALONE: [&str; 3] = ["else", "otherwise", "then"];
    const OF_IF: [&str; 6] = ["no", "none", "not", "so", "that", "yes"];
    let mut words = lower_case_words(item);
    let Some(first) = words.next() else { return false };
    ALONE.contains(&first.as_str()) || first == "if" && words.next().is_some_and(|next| OF_IF.contains(&next.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

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
            "You can set how many pumps run at once (10 by default):",
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
}
