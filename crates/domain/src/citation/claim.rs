//! Which sentences of an answer are claims, and which markers cover them.

use std::collections::BTreeSet;
use std::ops::Range;

use super::exempt::instructs;
use super::marker::{Marker, Markers, is_escaped, whole_marker_length};
use super::non_answer::is_ignorance;
use super::pleasantry::is_pleasantry;
use crate::markdown::{BlockKind, is_bold};
use crate::sentence::Sentence;
use crate::span::{IndexedText, Span};
use crate::wording::has_digit;

/// The role of a sentence in an answer. Only a claim needs a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// States a fact.
    Claim,
    /// A heading, the header of a table, or a bold line that serves as one.
    Heading,
    /// Ends with a colon and introduces what follows.
    LeadIn,
    /// Asks.
    Question,
    /// States that the sources do not hold the information.
    Ignorance,
    /// A greeting, a connector, or another phrase without content.
    Pleasantry,
    /// A fenced code block.
    Code,
    /// No words at all.
    Markup,
}

/// A sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its role.
    pub role: Role,
    /// Where its words stand, without the markers at either end, in code points.
    pub span: Span,
    /// Its words without markers and emphasis: what the support scorer reads.
    pub words: String,
    /// The number of its paragraph, list item or table row.
    pub block: usize,
    /// The markers that stand in it, as indices into `Draft::markers`.
    pub markers: Range<usize>,
    /// Bytes of the sentence with its markers.
    pub bytes: Range<usize>,
}

/// Reads the sentences of an answer as statements.
#[must_use]
pub(super) fn statements(text: &IndexedText<'_>, sentences: &[Sentence], markers: &Markers) -> Vec<Statement> {
    let last_with_words =
        sentences.iter().rposition(|sentence| text.text().get(sentence.words()).is_some_and(has_words));
    let mut next_marker = 0;
    let mut found = Vec::with_capacity(sentences.len());
    for (number, sentence) in sentences.iter().enumerate() {
        let own = markers_before(&markers.valid, next_marker, sentence.range.end);
        next_marker = own.end;
        let cited = markers.valid.get(own.clone()).unwrap_or_default();
        let claim = without_outer_markers(text.text(), sentence.words(), cited);
        let raw = text.text().get(sentence.words()).unwrap_or_default();
        let words = plain(raw);
        let is_neighbour = |other: Option<&Sentence>| other.is_some_and(|other| other.block == sentence.block);
        let stands_alone = !is_neighbour(sentences.get(number + 1))
            && !is_neighbour(number.checked_sub(1).and_then(|before| sentences.get(before)));
        let shape = Shape {
            kind: sentence.kind,
            raw,
            words: &words,
            stands_alone,
            is_followed: last_with_words.is_some_and(|last| last > number),
            heads_rows: heads_rows(sentences.get(number + 1..).unwrap_or_default()),
        };
        // An instruction of its own, with its source, is a claim like any other.
        let role = match shape.role() {
            Role::LeadIn if !cited.is_empty() && instructs(&words) => Role::Claim,
            role => role,
        };
        found.push(Statement {
            role,
            span: text.span(&claim),
            words,
            block: sentence.block,
            markers: own,
            bytes: sentence.range.clone(),
        });
    }
    found
}

fn markers_before(markers: &[Marker], from: usize, end: usize) -> Range<usize> {
    let rest = markers.get(from..).unwrap_or_default();
    from..from + rest.partition_point(|marker| marker.bytes.start < end)
}

/// The words without the markers before and after them, nor the full stop after the last marker.
fn without_outer_markers(text: &str, words: Range<usize>, markers: &[Marker]) -> Range<usize> {
    let is_glue = |range: Range<usize>| {
        text.get(range).is_some_and(|glue| !glue.chars().any(char::is_alphanumeric) && !glue.contains("[^"))
    };
    let Range { mut start, mut end } = words;
    for marker in markers.iter().rev() {
        if marker.bytes.start <= start || !is_glue(marker.bytes.end..end) {
            break;
        }
        end = marker.bytes.start;
    }
    for marker in markers {
        if marker.bytes.end >= end || !is_glue(start..marker.bytes.start) {
            break;
        }
        start = marker.bytes.end;
    }
    let inner = text.get(start..end).unwrap_or_default();
    let lead = inner.len() - inner.trim_start().len();
    let end = start + inner.trim_end().len();
    (start + lead).min(end)..end
}

/// The text without emphasis signs and markers, including malformed markers.
pub(super) fn plain(text: &str) -> String {
    let text = without_markers(text);
    let mut words = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(['*', '`']) {
        words.push_str(before);
        // Signs of code are no emphasis: `count(*)`.
        let is_code = rest.get(before.len()..).is_some_and(|sign| sign.starts_with('`'));
        if let Some((code, after)) = after.split_once('`').filter(|(code, _)| is_code && !code.is_empty()) {
            words.push_str(code);
            rest = after;
            continue;
        }
        // A sign between digits is no emphasis, and `3*4` is not 34.
        let is_digit = |sign: char| sign.is_ascii_digit();
        if words.ends_with(is_digit) && after.trim_start_matches(['*', '`']).starts_with(is_digit) {
            words.push(' ');
        }
        rest = after;
    }
    words.push_str(rest);
    words.truncate(words.trim_end().len());
    words
}

/// The text without markers, including malformed markers.
pub(crate) fn without_markers(text: &str) -> String {
    between_markers(text).concat()
}

/// The parts of a text before, between and behind its markers, malformed ones included.
pub(super) fn between_markers(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        match whole_marker_length(rest).filter(|_| !is_escaped(text, at)) {
            Some(length) => {
                parts.push(text.get(from..at).unwrap_or_default());
                at += length;
                from = at;
            }
            None => at += character.len_utf8(),
        }
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

fn heads_rows(following: &[Sentence]) -> bool {
    following
        .iter()
        .find(|sentence| !matches!(sentence.kind, BlockKind::Rule | BlockKind::TableHeader))
        .is_some_and(|next| next.kind == BlockKind::TableRow)
}

fn has_words(text: &str) -> bool {
    plain(text).chars().any(char::is_alphanumeric)
}

/// The properties that determine the role of a sentence.
struct Shape<'t> {
    kind: BlockKind,
    raw: &'t str,
    words: &'t str,
    /// Whether it is the only sentence of its block.
    stands_alone: bool,
    /// Whether more words follow anywhere in the answer.
    is_followed: bool,
    /// Whether a row of a table follows, after markup without words at most.
    heads_rows: bool,
}

impl Shape<'_> {
    fn role(&self) -> Role {
        match self.kind {
            BlockKind::Code => return Role::Code,
            BlockKind::Rule => return Role::Markup,
            BlockKind::TableHeader if self.heads_rows => return Role::Heading,
            // The header of no rows is all that its table says.
            BlockKind::Heading | BlockKind::TableHeader | BlockKind::TableRow | BlockKind::Paragraph => {}
        }
        if !self.words.chars().any(char::is_alphanumeric) {
            return Role::Markup;
        }
        let ending = self.words.trim_end_matches(|sign: char| {
            sign.is_whitespace()
                || matches!(sign, '"' | '\'' | '”' | '’' | '»' | ')' | '_' | '.' | '。') && !self.words.ends_with('.')
        });
        if ending.ends_with(['?', '？', '؟']) {
            return Role::Question;
        }
        if self.is_followed && ending.ends_with([':', '：']) {
            return Role::LeadIn;
        }
        if self.is_heading() {
            return Role::Heading;
        }
        if is_ignorance(self.words) {
            return Role::Ignorance;
        }
        if is_pleasantry(self.words) {
            return Role::Pleasantry;
        }
        Role::Claim
    }

    /// A heading that ends like a sentence is a sentence in large type, and needs its citation.
    fn is_heading(&self) -> bool {
        let count = self.words.split_whitespace().count();
        let ends_like_sentence = self.words.ends_with(['.', '!', '。', '！']);
        match self.kind {
            BlockKind::Heading => !(ends_like_sentence && count >= 4),
            BlockKind::Paragraph => {
                let label = without_number(self.words);
                self.stands_alone
                    && self.is_followed
                    && !ends_like_sentence
                    && count <= 10
                    && !has_digit(label)
                    && is_bold(self.raw)
            }
            BlockKind::Code | BlockKind::TableHeader | BlockKind::TableRow | BlockKind::Rule => false,
        }
    }
}

/// The words without the list number before them ("3. ").
fn without_number(words: &str) -> &str {
    let after = words.trim_start_matches(|sign: char| sign.is_ascii_digit());
    after.strip_prefix(['.', ')']).unwrap_or(words)
}

/// For each statement, the source numbers that cover it, ascending and without repeats.
///
/// A marker covers its own sentence, and those earlier uncovered claims of its block that its source supports.
/// `supports` tells, for the words of a claim and a source number, whether the source supports it; it is called at most
/// once per claim and source. Markers outside `1..=sources` cover nothing.
#[must_use]
pub(super) fn cover(
    statements: &[Statement],
    markers: &[Marker],
    sources: usize,
    supports: impl Fn(&str, u32) -> bool,
) -> Vec<Vec<u32>> {
    let mut covered = Vec::with_capacity(statements.len());
    // Walks backwards, so that the numbers seen are those of the later markers of the block.
    let mut block = None;
    let mut later: BTreeSet<u32> = BTreeSet::new();
    for statement in statements.iter().rev() {
        if block.replace(statement.block) != Some(statement.block) {
            later.clear();
        }
        let own: BTreeSet<u32> = own_numbers(statement, markers, sources).collect();
        let covers = if own.is_empty() && statement.role == Role::Claim {
            let holds = |number: &u32| supports(&statement.words, *number);
            later.iter().copied().filter(holds).collect()
        } else {
            own.iter().copied().collect()
        };
        later.extend(own);
        covered.push(covers);
    }
    covered.reverse();
    covered
}

fn own_numbers(statement: &Statement, markers: &[Marker], sources: usize) -> impl Iterator<Item = u32> {
    let own = markers.get(statement.markers.clone()).unwrap_or_default();
    let exists = move |number: &u32| usize::try_from(*number).is_ok_and(|number| (1..=sources).contains(&number));
    own.iter().map(|marker| marker.number).filter(exists)
}
