//! The questions of a list of questions and answers, which head their answers as headings do.
//!
//! Questions are marked by `Q:`, are in bold, or are items of a numbered list. One alone heads nothing: a text may ask
//! in passing.

use std::ops::Range;

use super::outline::Heading;
use crate::markdown::{Leaf, LeafKind};
use crate::wording::start_of_line;

/// Fewest questions of one form that make a list of them.
const FEWEST: usize = 2;

/// Longest question, in bytes.
const LONGEST: usize = 600;

/// Longest title between questions, in bytes.
const LONGEST_TITLE: usize = 100;

/// Level of a question: under the headings of any format.
const LEVEL: u8 = 9;

/// Most columns before an item of an outermost list.
const MOST_INDENT: usize = 3;

/// Words before a question and before an answer.
const MARKS: [(&str, &str); 6] =
    [("Q", "A"), ("Question", "Answer"), ("F", "A"), ("Frage", "Antwort"), ("Q", "R"), ("Question", "Réponse")];

/// How questions are told from other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A paragraph that begins in bold.
    Bold,
    /// An item of a list that begins in bold.
    BoldItem,
    /// An item of a numbered list whose first line ends with a question mark.
    Numbered,
}

/// A line or a beginning of one that may head what follows.
struct Candidate {
    form: Form,
    bytes: Range<usize>,
    text: String,
    /// Whether it asks; other titles count in a list of questions.
    asks: bool,
}

/// The questions in Markdown text that has these leaves and these headings, in order.
pub(super) fn of_markdown(text: &str, leaves: &[Leaf], headings: &[Heading]) -> Vec<Heading> {
    let candidates: Vec<Candidate> = leaves.iter().filter_map(|leaf| candidate(text, leaf)).collect();
    let starts = candidates.iter().map(|other| other.bytes.start).chain(headings.iter().map(|other| other.bytes.start));
    let mut starts: Vec<usize> = starts.collect();
    starts.sort_unstable();
    let is_answered = |candidate: &Candidate| {
        let next = starts.partition_point(|start| *start < candidate.bytes.end);
        let below = text.get(candidate.bytes.end..starts.get(next).copied().unwrap_or(text.len()));
        candidate.asks && below.is_some_and(|below| below.contains(char::is_alphanumeric))
    };
    let makes_list = |form: Form| {
        candidates.iter().filter(|other| other.form == form && is_answered(other)).take(FEWEST).count() == FEWEST
    };
    let forms = [Form::Bold, Form::BoldItem, Form::Numbered].map(|form| (form, makes_list(form)));
    let listed = candidates.into_iter().filter(|candidate| forms.contains(&(candidate.form, true)));
    listed.map(|Candidate { bytes, text, .. }| Heading { bytes, level: LEVEL, text }).collect()
}

/// The question or title that a paragraph or an item of a list begins with.
fn candidate(text: &str, leaf: &Leaf) -> Option<Candidate> {
    if leaf.kind != LeafKind::Text {
        return None;
    }
    let start = start_of_line(text, leaf.bytes.start);
    let before = text.get(start..leaf.bytes.start)?;
    let (indent, mark) = (before.len() - before.trim_start().len(), before.trim());
    let is_number = mark.strip_suffix(['.', ')']).is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    let is_bullet = matches!(mark, "-" | "*" | "+");
    // Other paragraphs of an item, and quotations.
    if leaf.is_nested != (is_number || is_bullet) || indent > MOST_INDENT {
        return None;
    }
    let words = text.get(leaf.bytes.clone())?;
    let bold = ["**", "__"].iter().find_map(|sign| words.strip_prefix(sign)?.split_once(sign));
    if let Some((title, rest)) = bold {
        let asks = title.trim_end().ends_with(['?', '？']);
        let is_alone = rest.is_empty() || rest.starts_with(['\n', '\r']);
        let form = if leaf.is_nested { Form::BoldItem } else { Form::Bold };
        let end = leaf.bytes.start + words.len() - rest.len();
        let longest = if asks { LONGEST } else { LONGEST_TITLE };
        return ((asks || is_alone) && title.len() <= longest).then(|| Candidate {
            form,
            bytes: start..end,
            text: on_one_line(title),
            asks,
        });
    }
    let line = words.lines().next()?.trim_end();
    (is_number && line.len() <= LONGEST && line.ends_with(['?', '？'])).then(|| Candidate {
        form: Form::Numbered,
        bytes: start..leaf.bytes.start + line.len(),
        text: on_one_line(line),
        asks: true,
    })
}

/// The questions of a text that are marked as such (`Q: … A: …`), in order.
#[must_use]
pub fn marked_questions(text: &str) -> Vec<Heading> {
    let mut found: Vec<Heading> = Vec::new();
    let mut asked: Option<Asked<'_>> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let answered = asked.as_ref().and_then(|asked| asked.sign.words_of_answer(line));
        if answered.is_some() {
            found.extend(asked.take().and_then(|asked| asked.heading(text, start)));
        } else if let Some((sign, words)) = MARKS.iter().find_map(|marks| Sign::of_question(*marks, line)) {
            let asking = Asked { sign, start, words: start + words, end: None };
            match asking.answer_in(line.get(words..).unwrap_or_default()) {
                Some(end) => found.extend(asking.heading(text, end)),
                None => asked = Some(asking),
            }
        } else if let Some(asked) = asked.as_mut().filter(|_| line.trim().is_empty()) {
            asked.end.get_or_insert(start);
        }
    }
    if found.len() < FEWEST { Vec::new() } else { found }
}

/// A question whose answer has not been read.
struct Asked<'t> {
    sign: Sign<'t>,
    start: usize,
    /// Where its words begin.
    words: usize,
    /// End of its paragraph.
    end: Option<usize>,
}

impl Asked<'_> {
    /// Where the answer begins in the line of the question.
    fn answer_in(&self, rest: &str) -> Option<usize> {
        let answer = format!("? {}{}", self.sign.answer, self.sign.end);
        rest.find(&answer).map(|at| self.words + at + 1)
    }

    /// The question as a heading, which ends with its paragraph or at `answer`.
    fn heading(&self, text: &str, answer: usize) -> Option<Heading> {
        let end = self.end.unwrap_or(answer);
        let words = text.get(self.words..end).filter(|words| words.len() <= LONGEST)?;
        let text = on_one_line(words);
        (!text.is_empty()).then_some(Heading { bytes: self.start..end, level: LEVEL, text })
    }
}

/// The sign before a question.
struct Sign<'t> {
    /// The word before its answer.
    answer: &'static str,
    /// The number after the word.
    number: &'t str,
    /// The character after the number.
    end: char,
}

impl<'t> Sign<'t> {
    /// The sign of a line that begins a question, and where the words begin.
    fn of_question((question, answer): (&str, &'static str), line: &'t str) -> Option<(Self, usize)> {
        let (number, end, words) = marked(question, line)?;
        Some((Self { answer, number, end }, words))
    }

    /// Where the words begin in a line that begins the answer.
    fn words_of_answer(&self, line: &str) -> Option<usize> {
        let (number, end, words) = marked(self.answer, line)?;
        (end == self.end && (number.is_empty() || number == self.number)).then_some(words)
    }
}

/// The number and the character after `word` at the beginning of a line, and where the words after them begin.
fn marked<'t>(word: &str, line: &'t str) -> Option<(&'t str, char, usize)> {
    let after = line.trim_start_matches([' ', '\t', '*', '_', '-']).strip_prefix(word)?;
    let after =
        after.strip_prefix(' ').filter(|rest| rest.starts_with(|it: char| it.is_ascii_digit())).unwrap_or(after);
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = after.split_at_checked(digits)?;
    let end = rest.chars().next().filter(|end| matches!(end, ':' | '.' | ')'))?;
    let words = rest.get(end.len_utf8()..)?.trim_start_matches(['*', '_']);
    // Initials and numbers are no signs: `A.Smith`, `Q.3`.
    words.starts_with(char::is_whitespace).then(|| (number, end, line.len() - words.len()))
}

/// The words of a question without emphasis around them.
fn on_one_line(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches(['*', '_', ' ']).to_owned()
}
