//! Forms of an answer for those who show it without a check of their own: what a reader's program would load, run or
//! follow is taken out.

mod reading;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, ops::Range};

use pulldown_cmark::{Event, Options, Parser};
use serde::{Deserialize, Serialize};

use self::reading::Reading;
use crate::{prompt::fence::is_smuggled, span::Span};

/// Most rounds until nothing is left to take out: what is around something that is taken out can make another.
const ROUNDS: usize = 8;
/// Constructs beside those of plain Markdown that are known.
const READ: Options = Options::ENABLE_FOOTNOTES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TABLES);

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// As it was written.
    #[default]
    Markdown,
    /// Markdown without images and HTML, and with links to cited sources only.
    SafeMarkdown,
    /// Words without links, images, HTML, emphasis and headings.
    Plain,
}

impl AnswerForm {
    /// Whether words may be shown before those behind them are known: they have this form, and nothing in them waits for
    /// an end. Markers of citations are not among the words, unless a colon is behind them.
    #[must_use]
    pub fn is_settled(self, words: &str) -> bool {
        match self {
            Self::Markdown => true,
            Self::SafeMarkdown => opens_nothing(words),
            Self::Plain => false,
        }
    }
}

/// Whether no image, link, code or HTML begins in a text, apart from code that ends in it.
fn opens_nothing(text: &str) -> bool {
    let mut words = text.to_owned();
    for (event, range) in Parser::new_ext(text, READ).into_offset_iter() {
        if matches!(event, Event::Code(_)) {
            words.replace_range(range.clone(), &" ".repeat(range.len()));
        }
    }
    let lower = words.to_ascii_lowercase();
    !words.contains(['[', '<', '`'])
        && !words.contains("~~~")
        && !lower.contains("://")
        && !lower.contains("www.")
        && !text.contains(is_smuggled)
}

/// An answer in another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormedAnswer {
    text: String,
    /// Of each code point of the original, and of its end, the place in the text.
    places: Vec<usize>,
}

/// A part of a text, and what comes in its place.
#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    with: &'static str,
}

impl FormedAnswer {
    /// Brings an answer into a form, in which links may lead to these URLs only.
    #[must_use]
    pub fn new(answer: &str, form: AnswerForm, linked: &BTreeSet<String>) -> Self {
        let mut formed = Self { text: answer.to_owned(), places: (0..=answer.chars().count()).collect() };
        if form == AnswerForm::Markdown {
            return formed;
        }
        formed.apply(smuggled(answer));
        for _ in 0..ROUNDS {
            let edits = Reading { form, linked }.edits(&formed.text);
            if edits.is_empty() {
                return formed;
            }
            formed.apply(edits);
        }
        // Made to have no end: no sign of it is left.
        formed.disarm_signs();
        formed
    }

    /// Brings the rest of a text into a form, of which the beginning was shown already. Where the rest would change the
    /// beginning, it is a paragraph of its own without any sign of Markdown that could.
    #[must_use]
    pub fn after(shown: &str, rest: &str, form: AnswerForm, linked: &BTreeSet<String>) -> Self {
        let whole = Self::new(&format!("{shown}{rest}"), form, linked);
        if let Some(text) = whole.text.strip_prefix(shown) {
            let length = shown.chars().count();
            let places = whole.places.iter().skip(length).map(|place| place.saturating_sub(length));
            return Self { text: text.to_owned(), places: places.collect() };
        }
        let mut alone = Self::new(rest, AnswerForm::Markdown, linked);
        alone.apply(smuggled(rest));
        alone.disarm_signs();
        alone.apply(vec![Edit { range: 0..0, with: "\n\n" }]);
        alone
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the original is in the text.
    #[must_use]
    pub fn span(&self, original: Span) -> Span {
        let (start, end) = original.into();
        let place = |at: usize| self.places.get(at).or(self.places.last()).copied().unwrap_or_default();
        Span::new(place(start), place(end))
    }

    /// Takes the signs of Markdown out that could make something of the text.
    fn disarm_signs(&mut self) {
        self.apply(openers(&self.text));
        self.apply(joints(&self.text));
    }

    /// Makes edits; of two that overlap the first.
    fn apply(&mut self, mut edits: Vec<Edit>) {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut edits = edits.into_iter().peekable();
        let mut text = String::with_capacity(self.text.len());
        let (mut written, mut left_out_to) = (0, 0);
        let mut moved = Vec::with_capacity(self.places.len());
        let end = self.text.len();
        for (at, character) in self.text.char_indices().map(|(at, one)| (at, Some(one))).chain([(end, None)]) {
            while let Some(Edit { range, with }) = edits.next_if(|edit| edit.range.start <= at) {
                if range.start >= left_out_to {
                    text.push_str(with);
                    written += with.chars().count();
                    left_out_to = range.end;
                }
            }
            moved.push(written);
            if let Some(character) = character.filter(|_| at >= left_out_to) {
                text.push(character);
                written += 1;
            }
        }
        for place in &mut self.places {
            *place = moved.get(*place).copied().unwrap_or(written);
        }
        self.text = text;
    }
}

/// Edits that take out what is invisible.
fn smuggled(text: &str) -> Vec<Edit> {
    let parts = text.char_indices().filter(|(_, character)| is_smuggled(*character));
    parts.map(|(at, character)| cut(at..at + character.len_utf8())).collect()
}

/// Edits that take out signs which begin images, HTML and code.
fn openers(text: &str) -> Vec<Edit> {
    text.match_indices(['<', '`', '!', '~']).map(|(at, sign)| cut(at..at + sign.len())).collect()
}

/// Edits that part signs which together make links; only then nothing is one any more, whatever is around it.
fn joints(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (at, _) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if ["](", "][", "]:", "://"].iter().any(|sign| rest.starts_with(sign)) {
            edits.push(Edit { range: at + 1..at + 1, with: " " });
        } else if rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www.")) {
            edits.push(Edit { range: at + 3..at + 3, with: " " });
        }
    }
    edits
}

const fn cut(range: Range<usize>) -> Edit {
    Edit { range, with: "" }
}
