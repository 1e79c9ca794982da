//! The words of a claim or of a sentence, with what ends after each.

use crate::citation::source::{SourceParts, Token};
use crate::citation::term::{Term, TermKind};
use crate::wording::lower_case;

/// A word of a text.
#[derive(Debug, Clone)]
pub(super) struct Word<'w> {
    pub(super) stem: &'w str,
    /// In lower case.
    pub(super) text: String,
    pub(super) kind: TermKind,
    pub(super) has_capital: bool,
    pub(super) end: End,
}

/// The sign after a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// None that ends anything.
    None,
    Comma,
    /// The beginning of a parenthesis.
    Parenthesis,
    /// One that ends a clause, or its sentence.
    Clause,
}

/// The words of a claim.
pub(super) fn claimed<'w>(text: &'w str, terms: &'w [Term]) -> Vec<Word<'w>> {
    let ends = terms.iter().skip(1).map(|term| term.range.start).chain([text.len()]);
    let words = terms.iter().zip(ends).filter_map(|(term, end)| {
        let word = text.get(term.range.clone())?;
        Some(Word::new(&term.stem, word, term.kind, text.get(term.range.end..end)?))
    });
    words.collect()
}

/// The words of a source that these tokens are.
pub(super) fn said<'w>(source: &'w SourceParts, tokens: &[Token]) -> Vec<Word<'w>> {
    let last = tokens.last().map_or(0, |token| token.bytes.end);
    let ends = tokens.iter().skip(1).map(|token| token.bytes.start).chain([last]);
    let words = tokens.iter().zip(ends).filter_map(|(token, end)| {
        let word = source.word(&token.bytes)?;
        let gap = source.word(&(token.bytes.end..end)).unwrap_or_default();
        Some(Word::new(source.stem(token.term)?, word, token.kind, gap))
    });
    words.collect()
}

impl<'w> Word<'w> {
    fn new(stem: &'w str, word: &str, kind: TermKind, gap: &str) -> Self {
        let is_abbreviated = word.contains('.') && gap.starts_with('.');
        // The end of a line is where a text was wrapped.
        let is_ended = gap.contains([';', ':', '.', ')', '—', '–', '|', '?', '!']) || gap.contains("\n\n");
        let end = if !is_abbreviated && is_ended {
            End::Clause
        } else if gap.contains('(') {
            End::Parenthesis
        } else if gap.contains(',') {
            End::Comma
        } else {
            End::None
        };
        Self { stem, text: lower_case(word).into_owned(), kind, has_capital: word.starts_with(char::is_uppercase), end }
    }

    pub(super) const fn has_content(&self) -> bool {
        !matches!(self.kind, TermKind::Stop)
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self.kind, TermKind::Number | TermKind::Spelled)
    }

    /// Whether a sign that ends a clause follows, a comma included.
    pub(super) const fn ends_clause(&self) -> bool {
        !matches!(self.end, End::None)
    }
}
