//! Paragraphs of Markdown that begin with their own heading, in bold: `**Oil:** It dries in days.`
//!
//! One alone emphasises its subject. In a series, under one heading of the syntax, each ends the section of the one before.

use std::{collections::HashSet, ops::Range};

use super::outline::Heading;
use super::titles::{is_remark, is_short};
use crate::markdown::{Leaf, LeafKind};
use crate::wording::start_of_line;

/// Fewest paragraphs with a head of their own, and fewest of these and titles together, that make a series.
const FEWEST: usize = 2;
const FEWEST_WITH_TITLES: usize = 3;

/// Most paragraphs for each that has a head: text in which some subjects are in bold has more.
const MOST_PARAGRAPHS: usize = 3;

/// Fewest bytes of text after a head, on average: fields of a form (`**Owner:** Ann`) have fewer.
const SHORTEST_TEXT: usize = 40;

/// Level of such a head, which is that of a question.
const LEVEL: u8 = 9;

/// The heads in a text.
#[derive(Debug, Default)]
pub(super) struct RunIn {
    /// In order; each is the words in bold.
    pub(super) headings: Vec<Heading>,
    /// The parts of the text in which titles in bold rank with them.
    ranked: Vec<Range<usize>>,
}

impl RunIn {
    /// The heads in Markdown text that has these leaves, these headings in its syntax and these titles in bold.
    pub(super) fn of(text: &str, leaves: &[Leaf], syntax: &[Heading], titles: &[Heading]) -> Self {
        let mut found = Self::default();
        let starts = syntax.iter().map(|heading| heading.bytes.start);
        let ends = starts.clone().chain([text.len()]);
        for (start, end) in std::iter::once(0).chain(starts).zip(ends) {
            let within = |byte: usize| (start..end).contains(&byte);
            let first = leaves.partition_point(|leaf| leaf.bytes.start < start);
            let own = leaves.get(first..).unwrap_or_default().iter().take_while(|leaf| leaf.bytes.start < end);
            let first = titles.partition_point(|title| title.bytes.start < start);
            let titles = titles.get(first..).unwrap_or_default().iter().take_while(|title| within(title.bytes.start));
            found.read(text, own, &titles.collect::<Vec<_>>(), start..end);
        }
        found
    }

    /// The level of a title in bold, which is `level` where no heads rank with it.
    pub(super) fn level_of(&self, title: &Heading, level: u8) -> u8 {
        let next = self.ranked.partition_point(|part| part.end <= title.bytes.start);
        let is_ranked = self.ranked.get(next).is_some_and(|part| part.contains(&title.bytes.start));
        if is_ranked { LEVEL } else { level }
    }

    /// Reads the part of a text below one heading of the syntax.
    fn read<'l>(
        &mut self,
        text: &str,
        leaves: impl Iterator<Item = &'l Leaf>,
        titles: &[&Heading],
        part: Range<usize>,
    ) {
        let (mut heads, mut paragraphs): (Vec<Head>, usize) = (Vec::new(), 0);
        for leaf in leaves.filter(|leaf| leaf.kind == LeafKind::Text && !leaf.is_nested) {
            paragraphs += 1;
            heads.extend(Head::of(text, leaf));
        }
        // Names that come again are those of speakers or of fields.
        let (mut once, mut again) = (HashSet::new(), HashSet::new());
        for head in &heads {
            if !once.insert(head.text.clone()) {
                again.insert(head.text.clone());
            }
        }
        heads.retain(|head| !again.contains(&head.text));
        let (count, with_titles) = (heads.len(), heads.len() + titles.len());
        let length: usize = heads.iter().map(|head| head.length).sum();
        let is_series = count >= FEWEST
            && with_titles >= FEWEST_WITH_TITLES
            && with_titles * MOST_PARAGRAPHS >= paragraphs
            && length >= count * SHORTEST_TEXT;
        let Some(first) = heads.first().map(|head| head.bytes.start).filter(|_| is_series) else { return };
        // Titles that come first and again stand above the heads.
        let are_above = titles.len() >= FEWEST && titles.first().is_some_and(|title| title.bytes.start < first);
        if !are_above {
            self.ranked.push(part);
        }
        self.headings.extend(heads.into_iter().map(|Head { bytes, text, .. }| Heading { bytes, level: LEVEL, text }));
    }
}

/// The words in bold that a paragraph begins with, if they may head the rest of it.
struct Head {
    bytes: Range<usize>,
    text: String,
    /// Bytes of the text after it.
    length: usize,
}

impl Head {
    fn of(text: &str, leaf: &Leaf) -> Option<Self> {
        let words = text.get(leaf.bytes.clone())?;
        let (title, rest) = ["**", "__"].iter().find_map(|sign| words.strip_prefix(sign)?.split_once(sign))?;
        let said = rest.trim_start_matches([' ', '\t']);
        let is_apart = start_of_line(text, leaf.bytes.start) == leaf.bytes.start;
        if !is_apart || title.contains(['\n', '[', '|']) || said.is_empty() || said.starts_with(['\n', '\r']) {
            return None;
        }
        let named = title.trim().trim_end_matches([':', '：', '.']).trim_end();
        let ends = title.trim_end().ends_with([':', '：', '.', '?', '？', '!']);
        let is_joined = said.starts_with([':', '–', '—']) || said.starts_with("- ");
        // "**Oil** dries in days": its subject.
        let begins = |sign: char| sign.is_alphanumeric() && !sign.is_lowercase() || "\"“„'‘£€$".contains(sign);
        let is_followed = said.len() < rest.len() && said.starts_with(begins);
        let may_head = ends || is_joined || is_followed || is_numbered(named);
        let is_head = may_head && is_short(named) && !is_remark(named) && named.contains(char::is_alphabetic);
        is_head.then(|| Self {
            bytes: leaf.bytes.start..leaf.bytes.start + words.len() - rest.len(),
            text: named.replace(['`', '*'], "").split_whitespace().collect::<Vec<_>>().join(" "),
            length: said.len(),
        })
    }
}

/// Whether a title begins with the number of a section: `12.4 Leave`, `§ 3 Oil`.
fn is_numbered(title: &str) -> bool {
    let number = title.split_whitespace().next().unwrap_or_default();
    let digits = number.trim_start_matches('§').trim_end_matches(['.', ')']);
    let is_number =
        digits.split('.').all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()));
    is_number && (digits.contains('.') || number.len() > digits.len()) || number == "§"
}
