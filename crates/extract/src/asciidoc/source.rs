//! Lines of a document that the parser does not know: titles of two lines and the quotes that come with them, comments in
//! front of a block, and directives that include other files.

use std::borrow::Cow;

/// Characters under titles, by level.
const UNDERLINES: [char; 5] = ['=', '-', '~', '^', '+'];

/// Shortest line under a title. Two hyphens begin an open block.
const SHORTEST_UNDERLINE: usize = 3;

/// Shortest delimiter of a block but `--` and a fence.
const SHORTEST_DELIMITER: usize = 4;

/// A document as the parser reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) text: String,
    /// Whether directives to include other files were left out.
    pub(super) includes: bool,
}

impl Source {
    /// Rewrites titles of two lines as titles of one, and leaves includes and comments out.
    pub(super) fn read(text: &str) -> Self {
        let mut written = String::with_capacity(text.len());
        let (mut includes, mut is_old, mut delimiters, mut before) = (false, false, Vec::new(), "");
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let line = line.trim_end();
            let under = lines.peek().map(|under| under.trim_end()).unwrap_or_default();
            if is_include(line) {
                includes = true;
                // What is said of the included block must not be taken for the next one.
                if delimiters.is_empty() && introduces(before) {
                    written.push_str("{empty}\n");
                }
                before = "";
                continue;
            }
            let is_verbatim = delimiters.last().is_some_and(is_verbatim);
            if !is_verbatim && line.starts_with("//") && !line.starts_with("///") && !under.is_empty() {
                continue;
            }
            let level = level_of(line, under).filter(|_| delimiters.is_empty() && sets_off(before));
            if let Some(level) = level {
                lines.next();
                written.push_str(&"=".repeat(level + 1));
                written.push(' ');
                before = "";
                // As in Asciidoctor, such a title says that the document is written as it was before 2013.
                is_old |= level == 0;
            } else {
                follow(&mut delimiters, line);
                before = line;
            }
            written.push_str(&if is_old && !is_verbatim { with_quotes(line) } else { Cow::Borrowed(line) });
            written.push('\n');
        }
        Self { text: written, includes }
    }
}

fn is_include(line: &str) -> bool {
    line.starts_with("include::") && line.ends_with(']') && line.contains('[')
}

/// Whether a line lets a title stand below it: a blank one, attributes, a comment, or the end of another title.
fn sets_off(line: &str) -> bool {
    line.is_empty() || line.starts_with('[') && line.ends_with(']') || line.starts_with("//")
}

/// Whether a line says something of the block below it.
fn introduces(line: &str) -> bool {
    line == "+" || line.starts_with('[') && line.ends_with(']') || line.starts_with('.') && line.len() > 1
}

/// A line with the quotes of old documents, two grave accents and two apostrophes, as they are shown. Code between two such
/// accents is not changed.
fn with_quotes(line: &str) -> Cow<'_, str> {
    let Some((before, quoted)) = line.split_once("``") else {
        let (said, rest) = line.split_once("''").unwrap_or_default();
        let ends = said.ends_with(|sign: char| !sign.is_whitespace() && sign != '\'') && !rest.starts_with('\'');
        return if ends { Cow::Owned(format!("{said}”{rest}")) } else { Cow::Borrowed(line) };
    };
    if quoted.starts_with([' ', '`']) || quoted.split("''").next().is_some_and(|said| said.contains("``")) {
        return Cow::Borrowed(line);
    }
    let rest = match quoted.split_once("''") {
        Some((said, rest)) => format!("{said}”{}", with_quotes(rest)),
        None => quoted.to_owned(),
    };
    Cow::Owned(format!("{before}“{rest}"))
}

/// The level of a title that is underlined, as Asciidoctor tells one from a paragraph above a delimiter: both lines are
/// about as long.
fn level_of(line: &str, under: &str) -> Option<usize> {
    let sign = under.chars().next()?;
    let level = UNDERLINES.iter().position(|known| *known == sign)?;
    let [title, length] = [line, under].map(|line| line.chars().count());
    let is_underline = length >= SHORTEST_UNDERLINE && under.chars().all(|other| other == sign);
    let is_other = line.starts_with([' ', '\t', '.', '|'])
        || line.starts_with("//")
        || line.starts_with('[') && line.ends_with(']');
    let may_be_title = line.contains(char::is_alphanumeric) && !is_other;
    (is_underline && may_be_title && title.abs_diff(length) <= 1).then_some(level)
}

/// Opens or closes the delimited block whose delimiter a line is.
fn follow<'t>(delimiters: &mut Vec<&'t str>, line: &'t str) {
    let sign = line.chars().next().unwrap_or_default();
    let is_run = line.len() >= SHORTEST_DELIMITER && line.chars().all(|other| other == sign);
    let is_delimiter = line == "--"
        || line.starts_with("```")
        || is_run && matches!(sign, '-' | '.' | '+' | '/' | '=' | '*' | '_')
        || line.strip_prefix(['|', ',', ':', '!']) == Some("===");
    if !is_delimiter {
        return;
    }
    let own = if sign == '`' { "```" } else { line };
    match delimiters.last() {
        Some(open) if is_verbatim(open) => {
            if *open == own {
                delimiters.pop();
            }
        }
        _ => match delimiters.iter().rposition(|open| *open == own) {
            Some(place) => delimiters.truncate(place),
            None => delimiters.push(own),
        },
    }
}

/// Whether a delimiter is that of a block that holds text as it is. Only its own end counts in it.
fn is_verbatim(delimiter: &&str) -> bool {
    delimiter.starts_with(['-', '.', '+', '/', '`']) && **delimiter != *"--"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        Source::read(text).text
    }

    #[test]
    fn titles_of_two_lines_become_titles_of_one() {
        let page = "pump(8)\n=======\n\nNAME\n----\npump - move water\n\n[[OPT]]\nOPTIONS\n-------\n-q::\n\tBe quiet.\n\nA\n\nMore\n~~~~\nEven more\n^^^^^^^^^\nMost\n++++\n";
        let expected = "= pump(8)\n\n== NAME\npump - move water\n\n[[OPT]]\n== OPTIONS\n-q::\n\tBe quiet.\n\nA\n\n=== More\n==== Even more\n===== Most\n";
        assert_eq!(read(page), expected);
    }

    #[test]
    fn delimiters_are_no_underlines() {
        for text in [
            "For example:\n----\ncode\n----\n",
            "A line.\ncode\n----\nx\n----\n",
            "----\ntext\n----\nmore\n\n----\n",
            "....\nTitle\n=====\n....\n",
            "====\nNote\n----\ncode\n----\n====\n",
            "|===\n|Head\n|===\n",
            "```ruby\nTitle\n-----\n```\n",
            "[source]\n--------\nx\n--------\n",
            "Words\n-\n",
            "--\nopen\n----\nx\n----\n--\n",
        ] {
            assert_eq!(read(text), text);
        }
        assert_eq!(read("----\n====\n----\n\nTitle\n-----\n"), "----\n====\n----\n\n== Title\n");
    }

    #[test]
    fn other_files_are_not_included() {
        let source =
            Source::read("A\n\ninclude::b.adoc[leveloffset=1]\n----\ninclude::/etc/hostname[]\n----\n\\include::c[]\n");
        assert_eq!(source, Source { text: "A\n\n----\n----\n\\include::c[]\n".to_owned(), includes: true });
        assert_eq!(read("[cols=1]\ninclude::a[]\n\n== Next\n"), "[cols=1]\n{empty}\n\n== Next\n");
        assert!(!Source::read("include:: is a directive\n").includes);
    }

    #[test]
    fn comments_in_front_of_a_block_are_no_part_of_it() {
        assert_eq!(
            read("// Note.\nimage::a.png[A]\n\n//\n\n----\n// code\nx\n----\n"),
            "image::a.png[A]\n\n//\n\n----\n// code\nx\n----\n"
        );
    }

    #[test]
    fn old_documents_have_old_quotes() {
        let old = |text: &str| read(&format!("A page\n======\n\n{text}"));
        let cases = [
            ("See ``this'' and ``that''.\n", "See “this” and “that”.\n"),
            ("See ``this\nlong one'' too.\n", "See “this\nlong one” too.\n"),
            ("``code`` and 'word' and ''.\n", "``code`` and 'word' and ''.\n"),
            ("----\n``x''\n----\n", "----\n``x''\n----\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(old(text), format!("= A page\n\n{expected}"));
        }
        assert_eq!(read("= A page\n\n``x''\n"), "= A page\n\n``x''\n");
    }
}
