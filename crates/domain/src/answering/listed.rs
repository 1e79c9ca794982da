//! Lists and code that a sentence leads in: "It is emitted when either:", "Install it with:".

use std::ops::Range;

use super::AnswerSource;
use super::fragment::{ends_like_sentence, is_fragment};
use super::quote::{code, plain_line, quotable};
use super::section::is_question;
use super::units::{Unit, UnitKind, announces, units};
use crate::evidence::TermMask;
use crate::evidence::passage::PassageEvidence;

/// Most items of a list that is quoted with its lead-in.
const MOST_ITEMS: usize = 8;

/// Longest list or code, in bytes, that is quoted with its lead-in.
const LONGEST: usize = 800;

/// Longest item, in bytes, of a list that is quoted with its heading.
const LONGEST_BRIEF: usize = 80;

/// A list, or code, and the sentence before it.
pub(super) struct List {
    lead_in: Range<usize>,
    /// Whether that is a heading, without which its items say nothing.
    pub(super) is_headed: bool,
    /// Byte after its last item.
    pub(super) end: usize,
    /// Its items as they are quoted.
    pub(super) items: Vec<String>,
    /// The code in their place, between fences.
    pub(super) code: Option<String>,
    /// Question terms in its items.
    pub(super) mask: TermMask,
}

/// The lists and the code of a source that are short enough to be quoted whole.
pub(super) struct Lists(Vec<List>);

impl Lists {
    pub(super) fn of(source: &AnswerSource<'_>, evidence: &PassageEvidence) -> Self {
        // Most sources have no lead-in, and need not be read as units.
        let has_items = || source.text.lines().any(|line| line.trim_start().starts_with(['-', '*', '•']));
        if !source.text.contains([':', '：']) && !announces(source.text) && !has_items() {
            return Self(Vec::new());
        }
        let units = units(source, evidence);
        let after = |at: usize| units.get(at + 1..).unwrap_or_default();
        Self(units.iter().enumerate().filter_map(|(at, unit)| list(source.text, unit, after(at))).collect())
    }

    pub(super) fn led_in_by(&self, sentence: &Range<usize>) -> Option<&List> {
        self.0.iter().find(|list| list.lead_in.end == sentence.end)
    }
}

/// The items that follow a unit, if it leads them in and all of them can be quoted.
fn list(text: &str, lead_in: &Unit, after: &[Unit]) -> Option<List> {
    if lead_in.kind == UnitKind::Heading {
        return headed(text, lead_in, after);
    }
    let lead_in = lead_in.leads_on(text).then(|| lead_in.sentences.last())??.clone();
    if let Some(listing) = after.first().filter(|unit| unit.kind == UnitKind::Code) {
        let end = listing.range.end;
        let code = code(text.get(listing.range.clone())?)?;
        let (items, code, mask, is_headed) = (Vec::new(), Some(code), listing.mask, false);
        return (end - lead_in.start <= LONGEST).then_some(List { lead_in, is_headed, end, items, code, mask });
    }
    let members = items(after, 1)?;
    let end = members.last()?.sentences.last()?.end;
    let words = |unit: &Unit| text.get(unit.sentences.first()?.start..unit.sentences.last()?.end).and_then(plain_line);
    let items: Vec<String> = members.iter().map(words).collect::<Option<_>>()?;
    // The answers of a list of questions stand in its items.
    let asks = |unit: &Unit| unit.sentences.iter().any(|words| text.get(words.clone()).is_some_and(is_question));
    if members.iter().any(asks) {
        return None;
    }
    let mask = mask_of(members);
    (end - lead_in.start <= LONGEST).then_some(List { lead_in, is_headed: false, end, items, code: None, mask })
}

/// The items that units begin with, at least so many and few enough to be quoted.
fn items(units: &[Unit], fewest: usize) -> Option<&[Unit]> {
    let count = units.iter().take_while(|unit| unit.kind == UnitKind::Item).count();
    units.get(..count).filter(|items| (fewest..=MOST_ITEMS).contains(&items.len()))
}

fn mask_of(units: &[Unit]) -> TermMask {
    units.iter().fold(0, |mask, unit| mask | unit.mask)
}

/// The brief items right below a heading, some of which say nothing by themselves: "Good Friday" below "Closed". `None` where one
/// that does has all that any of them has of the question.
fn headed(text: &str, heading: &Unit, after: &[Unit]) -> Option<List> {
    let members = items(after, 2)?;
    let words = |unit: &Unit| match unit.sentences.as_slice() {
        [only] => text.get(only.clone()).filter(|words| words.len() <= LONGEST_BRIEF && !is_question(words)),
        _ => None,
    };
    let said: Vec<&str> = members.iter().map(words).collect::<Option<_>>()?;
    let items: Vec<String> = said.iter().map(|words| plain_line(words)).collect::<Option<_>>()?;
    let mask = mask_of(members);
    let says_something = |words: &str| quotable(words).is_some_and(|words| !is_fragment(&words));
    let mut others = members.iter().zip(&said).filter(|(_, words)| says_something(words));
    let is_told_by_one = others.clone().any(|(unit, _)| mask & !unit.mask & !heading.mask == 0);
    let has_fragments = others.clone().count() < members.len();
    let end = members.last()?.sentences.last()?.end;
    let is_list = has_fragments && !is_told_by_one && mask != 0 && others.all(|(_, words)| !ends_like_sentence(words));
    let lead_in = heading.sentences.last()?.clone();
    is_list.then_some(List { lead_in, is_headed: true, end, items, code: None, mask })
}
