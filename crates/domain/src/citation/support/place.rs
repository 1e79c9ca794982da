//! Values in a source, and the words around them.

use std::ops::Range;

use super::contradiction::{is_year, may_be_rounded};
use crate::citation::columns::column_of;
use crate::citation::source::{SourceParts, SourceSentence, Token};
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::{Unit, is_unit};

/// Most values of an enumeration that are read.
const MOST_VALUES: usize = 16;

/// The kinds of values: only those of one class may stand for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Month,
    Year,
    /// A number with this unit.
    Number(Option<Unit>),
}

/// Where a source has a word.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    /// Index of the source.
    pub(super) index: usize,
    pub(super) source: &'s SourceParts,
    pub(super) sentence: &'s SourceSentence,
    /// Its position among the words of the source.
    pub(super) at: usize,
}

/// A part of a sentence that has one value.
pub(super) struct Part {
    pub(super) tokens: Range<usize>,
    /// The position of the value.
    pub(super) at: usize,
}

impl Class {
    pub(super) fn of(kind: TermKind, unit: Option<Unit>, stem: &str) -> Option<Self> {
        match kind {
            TermKind::Month => Some(Self::Month),
            TermKind::Number | TermKind::Spelled if is_year(unit, stem) => Some(Self::Year),
            TermKind::Number | TermKind::Spelled => Some(Self::Number(unit)),
            TermKind::Word | TermKind::Stop => None,
        }
    }
}

impl Place<'_> {
    /// Whether its sentence holds a word.
    pub(super) fn holds(self, stem: &str) -> bool {
        let tokens = self.source.tokens.get(self.sentence.tokens.clone()).unwrap_or_default();
        self.source.term(stem).is_some_and(|term| tokens.iter().any(|token| token.term == term))
    }

    /// The column of its table.
    pub(super) fn column(self) -> Option<usize> {
        column_of(self.source, self.at).filter(|_| !self.sentence.header.is_empty())
    }

    /// The nearest words with content of the sentence before or after it, units aside.
    pub(super) fn around(self, is_before: bool, most: usize) -> Vec<u32> {
        let counts = |other: usize| content(self.source, other);
        let Range { start, end } = self.sentence.tokens;
        if is_before {
            (start..self.at).rev().filter_map(counts).take(most).collect()
        } else {
            (self.at + 1..end).filter_map(counts).take(most).collect()
        }
    }

    /// Whether the nearest words on both sides of it are these; one that is not given may be any.
    pub(super) fn is_between(self, before: Option<&str>, after: Option<&str>) -> bool {
        let is_next = |own: Option<&str>, is_before: bool| {
            own.is_none_or(|stem| {
                let next = self.around(is_before, 1).first().copied();
                next.is_some() && next == self.source.term(stem)
            })
        };
        is_next(before, true) && is_next(after, false)
    }

    /// Whether the number there may be this one, rounded.
    pub(super) fn may_be_rounded(self, own: &Term, class: Class) -> bool {
        let other = self.source.tokens.get(self.at).and_then(|token| self.source.stem(token.term));
        let values = own.stem.parse().ok().zip(other.and_then(|stem| stem.parse().ok()));
        class != Class::Year && values.is_some_and(|(own, other)| may_be_rounded(own, other))
    }

    /// The parts of an enumeration, each with one value of the class: the words before each value, or those after it
    /// where names follow their values.
    pub(super) fn parts(self, class: Class) -> Option<Vec<Part>> {
        let Range { start, end } = self.sentence.tokens;
        let values: Vec<usize> = (start..end).filter(|at| self.is_of(class, *at)).take(MOST_VALUES).collect();
        let (first, last) = (*values.first()?, *values.last()?);
        if first == last {
            return None;
        }
        let has_name = |tokens: Range<usize>| tokens.into_iter().any(|at| self.is_name(at));
        let ends = values.iter().skip(1).copied().chain([end]);
        let begins = [start].into_iter().chain(values.iter().map(|at| at + 1));
        let is_followed = (last + 1..end).any(|at| content(self.source, at).is_some());
        let is_named_before =
            values.iter().zip(begins.clone()).all(|(at, begin)| has_name(begin..*at)) && !has_name(last + 1..end);
        let is_named_after =
            !has_name(start..first) && values.iter().zip(ends.clone()).all(|(at, end)| has_name(at + 1..end));
        if !is_followed || is_named_before {
            Some(values.iter().zip(begins).map(|(at, begin)| Part { tokens: begin..at + 1, at: *at }).collect())
        } else if is_named_after {
            Some(values.iter().zip(ends).map(|(at, end)| Part { tokens: *at..end, at: *at }).collect())
        } else {
            None
        }
    }

    /// Whether the word there is a value of the class.
    fn is_of(self, class: Class, at: usize) -> bool {
        let token = self.source.tokens.get(at);
        let own = token.and_then(|token| Class::of(token.kind, token.unit, self.source.stem(token.term)?));
        own == Some(class)
    }

    /// Whether the word there has content and a capital.
    fn is_name(self, at: usize) -> bool {
        let token = self.source.tokens.get(at).filter(|token| token.kind == TermKind::Word);
        let word = token.and_then(|token| self.source.word(&token.bytes));
        word.is_some_and(|word| word.starts_with(char::is_uppercase))
    }
}

/// The word of a source there, if it has content and is no unit.
pub(super) fn content(source: &SourceParts, at: usize) -> Option<u32> {
    let token = source.tokens.get(at).filter(|token| token.kind != TermKind::Stop)?;
    let is_unit = source.word(&token.bytes).is_some_and(is_unit);
    (!is_unit && !is_reference(source, token)).then_some(token.term)
}

/// Whether a number is the mark of a note: "(1)".
fn is_reference(source: &SourceParts, token: &Token) -> bool {
    let before = token.bytes.start.checked_sub(1).and_then(|start| source.word(&(start..token.bytes.start)));
    let after = source.word(&(token.bytes.end..token.bytes.end + 1));
    token.kind == TermKind::Number && token.bytes.len() <= 2 && (before, after) == (Some("("), Some(")"))
}
