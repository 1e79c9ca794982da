//! Notes of a document: in the text stands a number for each, its words follow below the section that it belongs to.

use std::{cell::Cell, collections::HashMap};

use anydoc::model::{Inline, Note, checkbox_text};

/// The notes of a document, numbered in its order.
#[derive(Debug)]
pub(super) struct Notes<'document> {
    all: &'document [Note],
    numbers: HashMap<&'document str, usize>,
    /// The highest number in the text so far.
    highest: Cell<usize>,
    /// How many are written.
    written: Cell<usize>,
}

impl<'document> Notes<'document> {
    pub(super) fn new(notes: &'document [Note]) -> Self {
        let numbers = notes.iter().zip(1..).map(|(note, number)| (note.id.as_str(), number)).collect();
        Self { all: notes, numbers, highest: Cell::new(0), written: Cell::new(0) }
    }

    /// Text with the numbers of its notes.
    pub(super) fn text(&self, inlines: &[Inline]) -> String {
        let mut text = String::new();
        self.add(inlines, &mut text);
        text
    }

    fn add(&self, inlines: &[Inline], text: &mut String) {
        for inline in inlines {
            match inline {
                Inline::Text { text: words, .. } => text.push_str(words),
                Inline::Link { content, .. } => self.add(content, text),
                Inline::Image { alt, .. } => text.push_str(alt),
                Inline::Math(source) => text.push_str(source),
                Inline::Checkbox(is_checked) => text.push_str(checkbox_text(*is_checked)),
                Inline::LineBreak => text.push('\n'),
                Inline::Anchor(_) => {}
                Inline::NoteRef(id) => {
                    if let Some(number) = self.numbers.get(id.as_str()) {
                        self.highest.set(self.highest.get().max(*number));
                        text.extend(["[", &number.to_string(), "]"]);
                    }
                }
            }
        }
    }

    /// The notes that the text has named since the last call, with their numbers; `is_end` adds those that it does not
    /// name.
    pub(super) fn take(&self, is_end: bool) -> impl Iterator<Item = (usize, &'document Note)> + use<'document> {
        let to = if is_end { self.all.len() } else { self.highest.get() };
        let from = self.written.replace(self.written.get().max(to));
        (1..).zip(self.all).skip(from).take(to.saturating_sub(from))
    }
}
