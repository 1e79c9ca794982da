//! Text whose lines stand as they are written: code, and running text that is shown so.

use ego_tree::{NodeId, NodeRef};

use super::tree::{Element, Node, text_of};

/// Fewest words of a paragraph of running text, and of one that ends with a colon.
const FEWEST_WORDS: usize = 6;
const FEWEST_OF_LEAD_IN: usize = 4;

/// Hundredths of its tokens that are words, from which a paragraph that ends like a sentence is running text, and the same for
/// one that ends otherwise.
const WORDS_OF_SENTENCE: usize = 70;
const WORDS_OF_LINES: usize = 85;

/// Most nodes of a line of code. With it, the search takes time in proportion to the page.
const MOST_NODES: usize = 60;

/// Beginnings of lines that are commands, comments or replies.
const SIGNS_OF_CODE: [&str; 8] = ["$ ", "# ", "% ", "> ", "//", "/*", "-- ", ";"];

/// Ends of lines of code; an item of a list may end with a semicolon.
const ENDS_OF_CODE: [char; 6] = [';', '{', '}', '\\', '|', '&'];

/// Preformatted text as Markdown: code between fences. Paragraphs of running text, set off by blank lines, stand between them.
pub(super) fn fenced(text: &str) -> String {
    let text = text.trim_matches('\n').trim_end();
    let mut written: Vec<(bool, String)> = Vec::new();
    for part in paragraphs(text) {
        let is_code = !is_prose(&part);
        match written.last_mut() {
            Some((true, code)) if is_code => {
                code.push_str("\n\n");
                code.push_str(&part);
            }
            _ => written.push((is_code, part)),
        }
    }
    let parts: Vec<String> =
        written.into_iter().map(|(is_code, part)| if is_code { between_fences("", &part) } else { part }).collect();
    parts.join("\n\n")
}

/// A line of code as Markdown; white space in it is collapsed.
pub(super) fn fenced_line(text: &str) -> String {
    between_fences("", &text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The lines between blank ones.
fn paragraphs(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        match parts.last_mut() {
            Some(part) if !line.trim().is_empty() => {
                if !part.is_empty() {
                    part.push('\n');
                }
                part.push_str(line.trim_end());
            }
            Some(part) if part.is_empty() => {}
            _ => parts.push(String::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Code as Markdown, of a language that may have no name.
pub(in super::super) fn between_fences(language: &str, code: &str) -> String {
    let code = if code.contains('\n') { code } else { code.trim_start() };
    // A fence is longer than any in the code.
    let longest = code.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{code}\n{fence}")
}

/// Whether a paragraph is running text, or each of its lines a label with its value: "Type: string".
fn is_prose(part: &str) -> bool {
    let lines: Vec<&str> = part.lines().map(str::trim).collect();
    let is_labelled = |line: &&str| {
        let (label, value) = line.split_once(": ").unwrap_or_default();
        let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, ' ' | '-');
        !value.is_empty() && label.starts_with(char::is_uppercase) && label.chars().all(is_name)
    };
    if lines.iter().all(is_labelled) {
        return true;
    }
    let is_item = |line: &str| ["- ", "* ", "• "].iter().any(|sign| line.starts_with(sign));
    let ends_as_code = |line: &str| line.ends_with(ENDS_OF_CODE) && !is_item(line);
    if lines.iter().any(|line| ends_as_code(line) || SIGNS_OF_CODE.iter().any(|sign| line.starts_with(sign))) {
        return false;
    }
    let bare = part.split_whitespace().map(|token| token.trim_matches(|sign: char| !sign.is_alphanumeric()));
    let tokens: Vec<&str> = bare.filter(|token| !token.is_empty()).collect();
    let is_word = |token: &&&str| {
        let is_of_word = |sign: char| sign.is_alphabetic() || matches!(sign, '-' | '\'' | '’');
        token.starts_with(char::is_alphabetic) && token.chars().all(is_of_word)
    };
    let words = tokens.iter().filter(is_word).count();
    let is_mostly = |hundredths: usize| 100 * words >= hundredths * tokens.len();
    let first = part.trim_start_matches(|sign: char| !sign.is_alphanumeric());
    let begins = first.starts_with(|sign: char| sign.is_uppercase() || sign.is_ascii_digit());
    let leads_in = part.ends_with(':');
    let ends = leads_in || part.ends_with(['.', '!', '?', ')']);
    let least = if leads_in { FEWEST_OF_LEAD_IN } else { FEWEST_WORDS };
    let is_long_enough = words >= least && (begins || words > FEWEST_WORDS && ends);
    is_long_enough && (ends && is_mostly(WORDS_OF_SENTENCE) || lines.len() > 1 && is_mostly(WORDS_OF_LINES))
}

/// Whether a paragraph is a command with its arguments, marked as code.
pub(super) fn is_line_of_code(node: NodeRef<'_, Node>, element: &Element) -> bool {
    if !matches!(element.name(), "div" | "p") {
        return false;
    }
    let is_blank = |node: &NodeRef<'_, Node>| matches!(node.value(), Node::Text(text) if text.trim().is_empty());
    let mut inner = node.children().filter(|child| !is_blank(child) && !matches!(child.value(), Node::Other));
    let (Some(only), None) = (inner.next(), inner.next()) else { return false };
    let is_code = matches!(only.value(), Node::Element(code) if matches!(code.name(), "code" | "kbd" | "samp" | "tt"));
    is_code && only.descendants().nth(MOST_NODES).is_none() && {
        let text = text_of(only);
        let text = text.trim();
        text.contains(char::is_whitespace) && !text.ends_with(['.', ':', '?', '!'])
    }
}

/// Most nodes of a cell that numbers lines. With it, the search takes time in proportion to the page.
const MOST_NUMBERS: usize = 2_000;

/// Class names of the number of a line in code: Pygments, which Sphinx uses, and Rouge.
const CLASSES_OF_NUMBERS: [&str; 3] = ["lineno", "linenos", "line-number"];

/// Whether an element is the number of a line of code.
pub(super) fn is_line_number(element: &Element) -> bool {
    let mut classes = element.attribute("class").unwrap_or_default().split_ascii_whitespace();
    element.name() == "span" && classes.any(|class| CLASSES_OF_NUMBERS.contains(&class))
}

/// The cell of a row that numbers the lines of the code beside it.
pub(super) fn line_numbers(row: NodeRef<'_, Node>) -> Option<NodeId> {
    let is_named = |node: &NodeRef<'_, Node>, names: &[&str]| matches!(node.value(), Node::Element(element) if names.contains(&element.name()));
    let mut cells = row.children().filter(|cell| is_named(cell, &["td", "th"]));
    let (Some(numbers), Some(code), None) = (cells.next(), cells.next(), cells.next()) else { return None };
    let is_code = code.descendants().take(MOST_NODES).any(|inner| is_named(&inner, &["pre"]));
    if !is_code || numbers.descendants().nth(MOST_NUMBERS).is_some() {
        return None;
    }
    let text = text_of(numbers);
    let numbered: Option<Vec<u32>> = text.split_whitespace().map(|number| number.parse().ok()).collect();
    let numbered = numbered.filter(|numbered| !numbered.is_empty())?;
    let follows = numbered.iter().zip(numbered.iter().skip(1)).all(|(one, next)| one.checked_add(1) == Some(*next));
    follows.then(|| numbers.id())
}
