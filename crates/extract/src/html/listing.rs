//! Text whose lines stand as they are written, and the numbers of lists.

use ego_tree::NodeRef;

use super::tree::{Element, Node, text_of};

/// Share of its lines that are words from which preformatted text is no code.
const MOSTLY: f32 = 0.5;

/// Fewest words of a line of running text.
const FEWEST_WORDS: usize = 5;

/// Longest name over an indented block, in bytes.
const LONGEST_TERM: usize = 120;

/// Preformatted text as Markdown: code between fences. Pages that hold whole text files in this way are left as they are.
pub(super) fn fenced(text: &str) -> String {
    let text = text.trim_matches('\n').trim_end();
    let text = if text.contains('\n') { text } else { text.trim_start() };
    if is_prose(text) {
        return text.to_owned();
    }
    // A fence is longer than any in the code.
    let longest = text.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
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
    is_code && {
        let text = text_of(only);
        let text = text.trim();
        text.contains(char::is_whitespace) && !text.ends_with(['.', ':', '?', '!'])
    }
}

/// Whether most lines are words, and sentences end, or each is a label with its value: "Type: string".
fn is_prose(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_labelled = |line: &&str| {
        let (label, value) = line.trim().split_once(": ").unwrap_or_default();
        let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, ' ' | '-');
        !value.is_empty() && label.starts_with(char::is_uppercase) && label.chars().all(is_name)
    };
    if lines.iter().all(is_labelled) {
        return true;
    }
    if lines.iter().any(|line| line.trim_start().starts_with("$ ")) {
        return false;
    }
    let is_word = |word: &&str| {
        let bare = word.trim_end_matches(['.', ',', ':', ';', '!', '?', ')']).trim_start_matches('(');
        bare.starts_with(char::is_alphabetic)
            && bare.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '-' | '\'' | '’'))
    };
    let is_of_words = |line: &&&str| {
        let all = line.split_whitespace().count();
        let words = line.split_whitespace().filter(is_word).count();
        words >= FEWEST_WORDS && 5 * words >= 4 * all
    };
    let of_words = lines.iter().filter(is_of_words).count();
    #[expect(clippy::cast_precision_loss, reason = "a share of lines")]
    let share = of_words as f32 / lines.len().max(1) as f32;
    share >= MOSTLY && lines.iter().any(|line| line.trim_end().ends_with(['.', '!', '?']))
}

/// The open lists; the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenLists(Vec<Numbering>);

#[derive(Debug, Clone, Copy)]
enum Numbering {
    /// Bullets, or letters, which are written as such.
    None,
    /// The number of the next item, and whether they count down.
    Next { number: i64, step: i64 },
}

impl OpenLists {
    /// Opens a list.
    pub(super) fn open(&mut self, list: &Element) {
        let is_numbered = list.name() == "ol" && list.attribute("type").is_none_or(|kind| kind == "1");
        let start = list.attribute("start").and_then(|start| start.trim().parse().ok());
        let step = if list.attribute("reversed").is_some() { -1 } else { 1 };
        // A list that counts down from a number that it does not tell is rare.
        let numbered = is_numbered && (step > 0 || start.is_some());
        self.0.push(if numbered { Numbering::Next { number: start.unwrap_or(1), step } } else { Numbering::None });
    }

    /// Closes the innermost list.
    pub(super) fn close(&mut self) {
        self.0.pop();
    }

    /// The bullet or the number before the next item.
    pub(super) fn mark(&mut self, item: &Element) -> String {
        let Some(Numbering::Next { number, step }) = self.0.last_mut() else { return "- ".to_owned() };
        let own: i64 = item.attribute("value").and_then(|value| value.trim().parse().ok()).unwrap_or(*number);
        *number = own.saturating_add(*step);
        if own < 0 { "- ".to_owned() } else { format!("{own}. ") }
    }
}

/// Whether a line begins with the number of an item. In Markdown one does not end the paragraph on the line before.
pub(super) fn is_number(line: &str) -> bool {
    line.split_once(". ")
        .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether an element is a block that mandoc shows indented: under a name, its description.
pub(super) fn is_indented(element: &Element) -> bool {
    element.name() == "div" && element.attribute("class") == Some("Bd-indent")
}

/// Whether a paragraph over an indented block can be the name of what the block describes: pages made from `DocBook` and
/// `AsciiDoc` have their options so.
pub(super) fn is_term(line: &str) -> bool {
    line.len() <= LONGEST_TERM
        && !is_number(line)
        && !line.starts_with("- ")
        && !line.ends_with(['.', ':', ';', ',', '!', '?'])
}
