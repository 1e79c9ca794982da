//! Sources prepared for comparison with claims: sentences, words, and the position of each word.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::columns::{Header, columns_of, denied_heads, name_of};
use super::negation::{Denial, Denials};
use super::question::{Answer, SourceStatement, asks, statements};
use super::support::Quote;
use super::term::{Term, TermKind, terms};
use super::unit::Unit;
use crate::asking::is_auxiliary;
use crate::markdown::{BlockKind, PlacedGroups, labelling_columns};
use crate::span::IndexedText;
use crate::wording::{differ_by_ending, lower_case};

/// Longest abbreviation that is read as the initials of words.
const LONGEST_ABBREVIATION: usize = 5;

/// The parsed parts of a source.
#[derive(Debug, Clone)]
pub(super) struct SourceParts {
    text: IndexedText<'static>,
    /// Code point of the document at which the text starts.
    start: usize,
    /// Bytes before the text: a header that is repeated above it.
    repeated: usize,
    /// Term numbers by stem.
    vocabulary: HashMap<String, u32>,
    /// Stems by term number.
    stems: Vec<String>,
    /// Ascending sentence numbers by term number.
    postings: Vec<Vec<usize>>,
    pub(super) sentences: Vec<SourceSentence>,
    pub(super) tokens: Vec<Token>,
    /// The terms beside each number of the context.
    titled: HashMap<u32, HashSet<u32>>,
    /// Terms that some sentence denies.
    denied: HashSet<u32>,
    /// Pairs of terms with content that follow each other in some sentence, with one other between them at most.
    pairs: HashSet<(u32, u32)>,
}

/// A sentence of a source.
#[derive(Debug, Clone)]
pub(super) struct SourceSentence {
    pub(super) bytes: Range<usize>,
    pub(super) tokens: Range<usize>,
    pub(super) kind: BlockKind,
    /// Whether it asks, and no answer "yes" or "no" follows: what it says is not said to be so.
    pub(super) is_question: bool,
    /// The number of the first sentence of its row of a table or item of a list; its own elsewhere.
    pub(super) entry: usize,
    /// Whether it stands in a row of a table or an item of a list.
    pub(super) is_row: bool,
    /// The words that name a row of a table: those of its first cell; `None` elsewhere.
    pub(super) name: Option<Vec<u32>>,
    /// The numbers of the sentences that head the columns of its table; none elsewhere.
    pub(super) header: Range<usize>,
    /// The number of the sentence that introduces its table or list, if there is one; none elsewhere.
    pub(super) lead_in: Range<usize>,
    /// The number of the row that names its group in its table, if one does: "Americas:"; none elsewhere.
    pub(super) group: Range<usize>,
    /// Of a header, the column whose label stands above each, from 0; empty elsewhere.
    pub(super) labels: Vec<usize>,
    pub(super) denials: Denials,
}

/// A word of a source.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) term: u32,
    pub(super) bytes: Range<usize>,
    pub(super) kind: TermKind,
    pub(super) unit: Option<Unit>,
    pub(super) is_negated: bool,
    /// The column of its row, from 1; 1 elsewhere.
    pub(super) column: usize,
}

/// Where a word of a sentence stands.
#[derive(Clone, Copy)]
struct Place {
    sentence: usize,
    /// Byte of the text at which the sentence begins.
    offset: usize,
    column: usize,
}

impl SourceSentence {
    /// Whether it is markup without words, such as the line below the header of a table.
    pub(super) fn is_rule(&self) -> bool {
        self.kind == BlockKind::Rule
    }
}

impl SourceParts {
    /// Takes a text apart: sentences, terms and where they occur. Linear in the text, whose first `repeated` bytes are a header
    /// that is repeated above it.
    pub(super) fn of(text: &str, context: &str, start: usize, repeated: usize) -> Self {
        let mut source = Self {
            text: IndexedText::new(text.to_owned()),
            start,
            repeated,
            vocabulary: HashMap::new(),
            stems: Vec::new(),
            postings: Vec::new(),
            sentences: Vec::new(),
            tokens: Vec::new(),
            titled: HashMap::new(),
            denied: HashSet::new(),
            pairs: HashSet::new(),
        };
        // The block that was read last and its first sentence.
        let mut entries = None;
        let groups = PlacedGroups::of(text);
        let mut header = Header::default();
        for SourceStatement { bytes, kind, block, is_row, answer } in statements(text) {
            let number = source.sentences.len();
            let first = source.tokens.len();
            let words = text.get(bytes.clone()).unwrap_or_default();
            let terms = terms(words);
            let mut denials = Denials::of(words, &terms, first);
            if answer == Some(Answer::No) {
                denials.deny_question(words, &terms, first);
            }
            let starts: Vec<usize> = terms.iter().map(|term| term.range.start).collect();
            let columns = columns_of(words, starts.into_iter());
            for ((place, term), column) in (first..).zip(terms).zip(columns) {
                let at = Place { sentence: number, offset: bytes.start, column };
                source.add(term, denials.reach(place), at);
            }
            source.pair(first);
            let entry = entries.filter(|(last, _)| is_row && *last == block).map_or(number, |(_, entry)| entry);
            entries = Some((block, entry));
            header.read(&groups, number, kind, (words, is_row && kind == BlockKind::Paragraph));
            let above = if kind == BlockKind::TableRow { header.above(number) } else { 0..0 };
            let headed_by = source.sentences.get(above.clone()).unwrap_or_default().iter();
            let heads = denied_heads(&source, &bytes, &above);
            denials.add_of_row(heads, first..source.tokens.len(), headed_by.map(|header| &header.denials));
            let denied = denials.all.iter().flat_map(Denial::denied);
            source.denied.extend(denied.filter_map(|place| source.tokens.get(*place)).map(|token| token.term));
            let tokens = source.tokens.get(first..).unwrap_or_default();
            let name = if is_row { name_of(words, bytes.start, tokens) } else { None };
            source.sentences.push(SourceSentence {
                bytes,
                tokens: first..source.tokens.len(),
                kind,
                is_question: answer.is_none() && asks(words),
                entry,
                is_row,
                name,
                header: above,
                lead_in: if is_row { header.lead_in() } else { 0..0 },
                labels: if kind == BlockKind::TableHeader { labelling_columns(words) } else { Vec::new() },
                group: if kind == BlockKind::TableRow { header.group(number) } else { 0..0 },
                denials,
            });
        }
        source.add_context(context);
        source
    }

    fn add_context(&mut self, context: &str) {
        let terms: Vec<(u32, TermKind)> =
            terms(context).into_iter().map(|term| (self.number_of(term.stem), term.kind)).collect();
        for (at, (number, _)) in terms.iter().enumerate().filter(|(_, (_, kind))| *kind == TermKind::Number) {
            let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| terms.get(at));
            self.titled.entry(*number).or_default().extend(beside.map(|(term, _)| *term));
        }
    }

    fn number_of(&mut self, stem: String) -> u32 {
        let next = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
        if let Some(number) = self.vocabulary.get(&stem) {
            return *number;
        }
        self.vocabulary.insert(stem.clone(), next);
        self.stems.push(stem);
        self.postings.push(Vec::new());
        next
    }

    fn add(&mut self, term: Term, is_negated: bool, place: Place) {
        let Place { sentence, offset, column } = place;
        let number = self.number_of(term.stem);
        let postings = usize::try_from(number).ok().and_then(|number| self.postings.get_mut(number));
        if let Some(postings) = postings.filter(|postings| postings.last() != Some(&sentence)) {
            postings.push(sentence);
        }
        let bytes = term.range.start + offset..term.range.end + offset;
        self.tokens.push(Token { term: number, bytes, kind: term.kind, unit: term.unit, is_negated, column });
    }

    /// Notes which terms of the sentence that begins with this token follow each other.
    fn pair(&mut self, first: usize) {
        let sentence = self.tokens.get(first..).unwrap_or_default();
        let content: Vec<u32> =
            sentence.iter().filter(|token| token.kind != TermKind::Stop).map(|token| token.term).collect();
        let next = content.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.last()?)));
        let second = content.windows(3).filter_map(|three| Some((*three.first()?, *three.last()?)));
        self.pairs.extend(next.chain(second));
    }

    pub(super) fn term(&self, stem: &str) -> Option<u32> {
        self.vocabulary.get(stem).copied()
    }

    /// The compared form of a term.
    pub(super) fn stem(&self, term: u32) -> Option<&str> {
        self.stems.get(usize::try_from(term).ok()?).map(String::as_str)
    }

    /// Whether the second term follows the first somewhere, stop words and one other word aside.
    pub(super) fn has_pair(&self, first: &str, second: &str) -> bool {
        let pair = self.term(first).zip(self.term(second));
        pair.is_some_and(|pair| self.pairs.contains(&pair))
    }

    /// Whether any sentence denies a word with this stem.
    pub(super) fn denies(&self, stem: &str) -> bool {
        self.term(stem).is_some_and(|term| self.denied.contains(&term))
    }

    /// Whether a term stands in a heading.
    pub(super) fn heads(&self, term: u32) -> bool {
        self.postings(term).iter().any(|sentence| self.is_heading(*sentence))
    }

    /// Whether a sentence is a heading.
    pub(super) fn is_heading(&self, sentence: usize) -> bool {
        self.sentences.get(sentence).is_some_and(|sentence| sentence.kind == BlockKind::Heading)
    }

    pub(super) fn postings(&self, term: u32) -> &[usize] {
        let number = usize::try_from(term).unwrap_or(usize::MAX);
        self.postings.get(number).map_or(&[], Vec::as_slice)
    }

    /// Whether a number stands in the text or, in the context, beside one of these words: the "5" of "chmod(5)" counts
    /// nothing. A version, "3.1", needs no other word.
    pub(super) fn holds_number(&self, number: u32, beside: &[&str]) -> bool {
        !self.postings(number).is_empty() || self.is_titled(number, beside)
    }

    /// Whether a number stands in the context: beside one of these words, or as a version.
    pub(super) fn is_titled(&self, number: u32, beside: &[&str]) -> bool {
        let is_version = || self.stem(number).is_some_and(|stem| stem.contains('.'));
        let is_beside =
            |terms: &HashSet<u32>| beside.iter().filter_map(|stem| self.term(stem)).any(|term| terms.contains(&term));
        self.titled.get(&number).is_some_and(|terms| is_version() || is_beside(terms))
    }

    /// Whether a term stands in the text, and only in questions.
    pub(super) fn is_asked(&self, term: u32) -> bool {
        let sentences = self.postings(term);
        let asks = |number: &usize| self.sentences.get(*number).is_some_and(|sentence| sentence.is_question);
        !sentences.is_empty() && sentences.iter().all(asks)
    }

    /// "German" and "Germany": a name also counts as held when it differs only by a short ending.
    pub(super) fn holds_relative(&self, stem: &str) -> bool {
        self.vocabulary.keys().any(|other| differ_by_ending(other, stem, 4))
    }

    /// Whether a question is one for yes or no: it begins with a verb, as every sentence of it that asks may.
    pub(super) fn asks_yes_or_no(&self) -> bool {
        let begins = |sentence: &SourceSentence| {
            let first = sentence.tokens.clone().next().and_then(|at| self.tokens.get(at));
            let word = first.and_then(|first| self.word(&first.bytes)).map(lower_case);
            word.is_some_and(|word| is_auxiliary(&word) || word.ends_with("n't"))
        };
        self.sentences.iter().any(begins)
    }

    /// Whether the text holds one of these forms, in lower case, anywhere.
    pub(super) fn names_any(&self, forms: &[&str]) -> bool {
        let lower = self.text.text().to_lowercase();
        forms.iter().any(|form| lower.contains(form))
    }

    /// Whether words in a row begin with the letters of an abbreviation, "PR" for a pull request, or several of it are
    /// named.
    pub(super) fn holds_initials(&self, abbreviation: &str) -> bool {
        let is_one = (2..=LONGEST_ABBREVIATION).contains(&abbreviation.len())
            && abbreviation.bytes().all(|letter| letter.is_ascii_uppercase());
        let begins = |(token, letter): (&Token, u8)| {
            let first = self.word(&token.bytes).and_then(|word| word.bytes().next());
            first.is_some_and(|first| first.eq_ignore_ascii_case(&letter))
        };
        let is_plural =
            |token: &Token| self.word(&token.bytes).is_some_and(|word| word.strip_suffix('s') == Some(abbreviation));
        let spells = |words: &[Token]| words.iter().zip(abbreviation.bytes()).all(begins);
        is_one && (self.tokens.iter().any(is_plural) || self.tokens.windows(abbreviation.len()).any(spells))
    }

    /// The words of a sentence.
    pub(super) fn tokens_of(&self, sentence: &SourceSentence) -> &[Token] {
        self.tokens.get(sentence.tokens.clone()).unwrap_or_default()
    }

    /// The words that lie in a stretch of the text.
    pub(super) fn tokens_in(&self, bytes: &Range<usize>) -> &[Token] {
        let from = self.tokens.partition_point(|token| token.bytes.start < bytes.start);
        let to = self.tokens.partition_point(|token| token.bytes.end <= bytes.end);
        self.tokens.get(from..to).unwrap_or_default()
    }

    /// The numbers of the sentences in a stretch of the text, and of this many on either side.
    pub(super) fn sentences_around(&self, bytes: &Range<usize>, more: usize) -> Range<usize> {
        let from = self.sentences.partition_point(|sentence| sentence.bytes.end <= bytes.start);
        let to = self.sentences.partition_point(|sentence| sentence.bytes.start < bytes.end);
        from.saturating_sub(more)..to.saturating_add(more)
    }

    /// A word as it stands in the text.
    pub(super) fn word(&self, bytes: &Range<usize>) -> Option<&str> {
        self.text.text().get(bytes.clone())
    }

    /// Whether a sentence is of the header that is repeated above the text.
    pub(super) fn is_repeated(&self, sentence: usize) -> bool {
        self.sentences.get(sentence).is_some_and(|sentence| sentence.bytes.start < self.repeated)
    }

    /// The words of the text there; `None` for those of a repeated header alone.
    pub(super) fn quote(&self, bytes: &Range<usize>) -> Option<Quote> {
        let bytes = bytes.start.max(self.repeated)..bytes.end;
        let text = self.text.text().get(bytes.clone()).filter(|text| !text.is_empty())?;
        let before = self.text.span(&(0..self.repeated)).len();
        let span = self.text.span(&bytes);
        let of_document = |place: usize| place - before + self.start;
        Some(Quote { text: text.to_owned(), start: of_document(span.start), end: of_document(span.end) })
    }
}
