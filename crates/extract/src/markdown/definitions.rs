//! Definition lists, which several dialects of Markdown have: a term, and below it lines that begin with a colon.
//!
//! Read as running text they are sentences that begin with a colon and say nothing of the term. Each is written as a paragraph
//! that begins with it, as the lists of web pages are.

use domain::markdown::is_fence;

/// Longest term, in characters.
const LONGEST_TERM: usize = 80;

/// Signs that lines of other blocks begin with.
const OTHER_BLOCKS: [char; 9] = ['#', '-', '*', '+', '>', '|', '<', ':', '`'];

/// The text with its definitions as paragraphs.
pub(super) fn written_out(text: &str) -> String {
    if !text.split('\n').any(|line| definition(line).is_some()) {
        return text.to_owned();
    }
    let mut writer = Writer::default();
    for line in text.split_inclusive('\n') {
        writer.read(line);
    }
    writer.text
}

/// The words of a definition's first line, and the column at which they begin.
fn definition(line: &str) -> Option<(&str, usize)> {
    let from_colon = line.trim_start_matches(' ');
    let after = from_colon.strip_prefix(':').filter(|after| after.starts_with([' ', '\t']))?;
    let words = after.trim_start_matches([' ', '\t']);
    (line.len() - from_colon.len() < 4 && !words.trim().is_empty()).then_some((words, line.len() - words.len()))
}

#[derive(Debug, Default)]
struct Writer {
    text: String,
    /// Where the paragraph under way begins, and whether a blank line has ended it.
    paragraph: usize,
    is_ended: bool,
    in_code: bool,
    /// The term of the list under way, and the column of the text of its last definition.
    list: Option<(String, usize)>,
}

impl Writer {
    fn read(&mut self, line: &str) {
        let words = line.trim();
        if self.is_ended && !words.is_empty() {
            if definition(line).is_none() {
                self.paragraph = self.text.len();
            }
            let is_below = self.list.is_some() && line.starts_with([' ', '\t']);
            if !is_below && definition(line).is_none() {
                self.list = None;
            }
        }
        let is_fence = is_fence(line);
        self.in_code ^= is_fence;
        match definition(line).filter(|_| !self.in_code && !is_fence) {
            Some((words, column)) if self.takes_definition() => self.define(words, column),
            _ => self.text.push_str(self.without_indent(line)),
        }
        self.is_ended = words.is_empty() && !self.in_code;
    }

    /// Whether a definition may stand here: below a term or another definition.
    fn takes_definition(&self) -> bool {
        self.list.is_some() || self.term().is_some()
    }

    /// The term that the paragraph above is.
    fn term(&self) -> Option<String> {
        let lines: Vec<&str> = self.text.get(self.paragraph..)?.trim().lines().map(str::trim).collect();
        let is_term = |line: &&str| {
            let ends_sentence = line.ends_with(['.', '!', '?', ';', ',']);
            !line.starts_with(OTHER_BLOCKS) && !ends_sentence && line.chars().count() <= LONGEST_TERM
        };
        let is_emphasised = |line: &&str| line.starts_with(['*', '`']) && line.ends_with(['*', '`', ':']);
        let are_terms = lines.iter().all(|line| is_term(line) || is_emphasised(line) && line.len() <= LONGEST_TERM);
        (are_terms && lines.iter().any(|line| !line.is_empty())).then(|| lines.join(", "))
    }

    fn define(&mut self, words: &str, column: usize) {
        let term = if let Some((term, _)) = self.list.take() {
            self.part();
            term
        } else {
            let term = self.term().unwrap_or_default();
            self.text.truncate(self.paragraph);
            term.trim_end_matches(':').to_owned()
        };
        self.paragraph = self.text.len();
        self.text.extend([&*term, ": ", words]);
        self.list = Some((term, column));
    }

    /// Ends the paragraph above by a blank line.
    fn part(&mut self) {
        let end = self.text.trim_end().len();
        self.text.truncate(end);
        self.text.push_str("\n\n");
    }

    /// A line of a definition without the indent that makes it one.
    fn without_indent<'l>(&self, line: &'l str) -> &'l str {
        let Some((_, column)) = &self.list else { return line };
        let indent = line.len() - line.trim_start_matches(' ').len();
        line.get(indent.min(*column)..).unwrap_or(line)
    }
}
