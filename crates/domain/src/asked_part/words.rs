//! The words of a sentence one after another, with their places in it.

use crate::wording::bare;

/// Words of politeness that may precede an instruction or a request.
pub(super) const FILLERS: [&str; 10] = ["and", "kindly", "now", "please", "then", "also", "so", "ok", "okay", "just"];

/// The words of a sentence that are still to be read.
#[derive(Clone, Copy)]
pub(super) struct Words<'s> {
    sentence: &'s str,
    /// Byte of the rest.
    at: usize,
}

impl<'s> Words<'s> {
    pub(super) const fn of(sentence: &'s str) -> Self {
        Self { sentence, at: 0 }
    }

    /// The rest of the sentence, without signs before it.
    pub(super) fn rest(self) -> &'s str {
        let rest = self.sentence.get(self.at..).unwrap_or_default();
        rest.trim_start_matches(|sign: char| sign.is_whitespace() || ",:;-–—".contains(sign)).trim_end()
    }

    /// The next word in lower case, without the signs around it, and the words after it.
    fn next(self) -> Option<(String, Self)> {
        let mut at = self.at;
        for piece in self.sentence.get(at..)?.split_inclusive(char::is_whitespace) {
            let word = bare(piece.trim());
            if let Some(place) = piece.find(word).filter(|_| !word.is_empty()) {
                let next = Self { at: at + place + word.len(), ..self };
                return Some((word.to_lowercase().replace('’', "'"), next));
            }
            at += piece.len();
        }
        None
    }

    /// The words after an opening, if they begin with it.
    pub(super) fn after(self, opening: &str) -> Option<Self> {
        let mut rest = self;
        let mut spoken: Vec<String> = Vec::new();
        for wanted in opening.split(' ') {
            if spoken.is_empty() {
                let (word, next) = rest.next()?;
                rest = next;
                spoken = spelled_out(&word).split(' ').rev().map(str::to_owned).collect();
            }
            if spoken.pop().as_deref() != Some(wanted) {
                return None;
            }
        }
        spoken.is_empty().then_some(rest)
    }

    /// The words after the longest of several openings.
    pub(super) fn after_any(self, openings: &[&str]) -> Option<Self> {
        openings.iter().filter_map(|opening| self.after(opening)).max_by_key(|rest| rest.at)
    }

    pub(super) fn begin_with(self, opening: &str) -> bool {
        self.after(opening).is_some()
    }

    /// Passes over any number of these words or phrases.
    pub(super) fn skip(&mut self, phrases: &[&str]) {
        while let Some(rest) = self.after_any(phrases) {
            *self = rest;
        }
    }

    /// The words in lower case.
    pub(super) fn all(self) -> Vec<String> {
        let mut words = Vec::new();
        let mut rest = self;
        while let Some((word, next)) = rest.next() {
            words.push(word);
            rest = next;
        }
        words
    }
}

/// A word without its contractions.
fn spelled_out(word: &str) -> String {
    match word {
        "don't" => "do not".to_owned(),
        "i'd" => "i would".to_owned(),
        "i'm" => "i am".to_owned(),
        "we'd" => "we would".to_owned(),
        "what's" => "what is".to_owned(),
        other => other.to_owned(),
    }
}
