//! Finds the parts of a question that a passage holds, sentence by sentence.
//!
//! The grader reads this of the passages of each round, the extractive answerer once more of those that it quotes from.

pub(crate) mod clause;
mod currencies;
mod entries;
pub(crate) mod frame;
mod identifier;
pub mod kind;
pub(crate) mod known;
pub(crate) mod measure;
mod months;
pub mod names;
mod numbered;
pub mod numbers;
pub mod passage;
mod phrase;
mod range;
pub(crate) mod resemblance;

use self::clause::asking_sentence;
use self::currencies::currencies;
use self::entries::codes;
use self::identifier::{is_classifier, is_of_being_there};
use self::kind::AnswerKind;
use self::known::KnownWords;
use self::measure::Measure;
use self::months::months;
use self::names::is_named;
use self::numbered::{NumberedThing, numbered_things};
use self::numbers::Numbers;
use self::range::{Amount, amounts};
use super::asking::is_instruction;
use super::command_options::options;
use super::definition::Subject;
use super::entry_label::is_code_name;
use super::lexical::analyzer::Analyzer;
use super::lexical::bm25::inverse_document_frequency;
use super::lexical::function_words::{is_german, is_romance_or_dutch};
use super::lexical::openings::Openings;
use super::lexical::question_words::{joined_words, without_auxiliaries};
use super::lexical::unspaced::is_bigram;
use super::wording::{Quantity, bare, is_version, lower_case};

/// Most distinct terms of a question that are used: one bit each of a [`TermMask`]. Later terms are ignored; a question
/// of that length is a document.
pub const MAX_TERMS: usize = 128;

/// A set of question terms, one bit per term in the order of [`QuestionTerms::terms`].
pub type TermMask = u128;

/// A question with everything that is derived from it once for grading, rewriting and answering.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question as it was asked.
    pub text: String,
    /// The sentence of it that asks.
    pub asked: String,
    /// Its terms, weighed in the collections asked.
    pub terms: QuestionTerms,
    /// The numbers it names.
    pub numbers: Numbers,
    /// The kind of thing it asks for.
    pub kind: AnswerKind,
    /// The measure of the number or the time that it asks for.
    pub(crate) measure: Option<Measure>,
    /// Its words.
    pub(crate) known: KnownWords,
}

impl Question {
    /// Parses a question; see [`QuestionTerms::new`] for the statistics.
    #[must_use]
    pub fn new(analyzer: &Analyzer, question: &str, chunks: u64, document_frequency: impl Fn(&str) -> u64) -> Self {
        let asked = asking_sentence(question);
        Self {
            text: question.to_owned(),
            asked: asked.to_owned(),
            terms: QuestionTerms::new(analyzer, question, chunks, document_frequency),
            numbers: Numbers::of(question),
            kind: AnswerKind::of(asked),
            measure: Measure::asked_for(asked),
            known: KnownWords::of(question),
        }
    }
}

/// Longest word that is named to the asker, in characters: what is longer is no word.
const LONGEST_WORD: usize = 60;

/// One distinct term of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionTerm {
    /// The analyzer's term.
    pub stem: String,
    /// The word as it first occurs in the question.
    pub word: String,
    /// Chunks of the collections asked that hold the term.
    pub document_frequency: u64,
    /// Inverse document frequency, lowered for words that frame the question.
    pub weight: f32,
}

/// The distinct terms of a question with their weights in the collections asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuestionTerms {
    terms: Vec<QuestionTerm>,
    mass: f32,
    chunks: u64,
    openings: Openings,
    /// The options of commands that it names, `-z` or `--gzip`.
    options: Vec<String>,
    /// The words that it writes like names in code, `max_connections`.
    code_names: Vec<String>,
    /// The codes that it names by their numbers.
    codes: Vec<String>,
    /// The amounts that it gives.
    amounts: Vec<Amount>,
    /// The positions of its months, each with its number from 1.
    months: Vec<(usize, usize)>,
    /// The things that it names by their numbers.
    numbered: Vec<NumberedThing>,
    /// The positions of its currencies, each with its sign.
    currencies: Vec<(usize, char)>,
    /// Those that the question writes as names.
    named: TermMask,
    /// The thing that it asks to define.
    subject: Option<Subject>,
    /// Words that some chunks hold and the question writes as two, with the terms of these.
    joined: Vec<(String, TermMask)>,
    /// Words that no chunk holds, in lower case, with the positions of their terms.
    unknown: Vec<(usize, String)>,
}

impl QuestionTerms {
    /// Analyses `question` against collections of `chunks` chunks in all, of which
    /// `document_frequency(stem)` hold a term (0 for an unknown one).
    #[must_use]
    pub fn new(analyzer: &Analyzer, question: &str, chunks: u64, document_frequency: impl Fn(&str) -> u64) -> Self {
        let mut terms: Vec<QuestionTerm> = Vec::new();
        let asked = without_auxiliaries(analyzer, question);
        analyzer.for_each_term(&asked, |stem, range| {
            if terms.len() == MAX_TERMS || terms.iter().any(|term| term.stem == stem) {
                return;
            }
            let document_frequency = document_frequency(stem);
            let idf = inverse_document_frequency(chunks, document_frequency);
            let is_frame = frame::has(stem) || is_classifier(&asked, stem, &range) || is_of_being_there(&asked, stem);
            let frame = if is_frame { frame::WEIGHT } else { 1.0 };
            #[expect(clippy::cast_possible_truncation, reason = "an idf is small; rounding is harmless")]
            let weight = idf as f32 * frame;
            terms.push(QuestionTerm {
                stem: stem.to_owned(),
                word: question.get(range).unwrap_or(stem).to_owned(),
                document_frequency,
                weight,
            });
        });
        let mass = terms.iter().map(|term| term.weight).sum();
        let joined: Vec<(String, TermMask)> = joined_words(analyzer, &asked)
            .into_iter()
            .filter(|joined| document_frequency(&joined.stem) > 0)
            .map(|joined| (joined.stem, mask_of_words(analyzer, &terms, asked.get(joined.range).unwrap_or_default())))
            .collect();
        let stems = terms.iter().map(|term| &term.stem).chain(joined.iter().map(|(stem, _)| stem));
        let openings = Openings::of(stems.map(String::as_str));
        let is_unknown = |(_, term): &(usize, &QuestionTerm)| term.document_frequency == 0;
        let unknown = terms.iter().enumerate().filter(is_unknown);
        let unknown = unknown.map(|(position, term)| (position, term.word.to_lowercase())).collect();
        let options = options(question).into_iter().map(str::to_owned).collect();
        let code_names = question.split_whitespace().map(bare).filter(|word| is_code_name(word));
        let code_names = code_names.map(str::to_owned).collect();
        let named = mask_where(&terms, |term| is_named(question, &term.word));
        Self {
            months: months(&terms),
            currencies: currencies(&terms),
            numbered: numbered_things(question, &terms),
            terms,
            mass,
            chunks,
            openings,
            options,
            code_names,
            codes: codes(question),
            amounts: amounts(question),
            named,
            subject: Subject::of(question),
            joined,
            unknown,
        }
    }

    /// The question's terms that `text` holds.
    #[must_use]
    pub fn mask_of(&self, analyzer: &Analyzer, text: &str) -> TermMask {
        let mut mask = 0;
        self.for_each_place_in(analyzer, text, |_, position| mask |= 1 << position);
        mask
    }

    /// The terms that satisfy a condition.
    #[must_use]
    pub(crate) fn mask_where(&self, is_wanted: impl Fn(&QuestionTerm) -> bool) -> TermMask {
        mask_where(&self.terms, is_wanted)
    }

    /// The terms that no chunk holds as the question writes them, and `text` in another spelling.
    #[must_use]
    pub fn resembled_in(&self, text: &str) -> TermMask {
        let mut mask = 0;
        if !self.unknown.is_empty() {
            let unknown = self.unknown.iter().map(|(position, word)| (*position, word.as_str()));
            resemblance::for_each_resembled(&unknown, text, |position| mask |= 1 << position);
        }
        mask
    }

    /// Where `text` holds which of the question's terms: byte at which a word begins, position of its term.
    #[must_use]
    pub fn places_in(&self, analyzer: &Analyzer, text: &str) -> Vec<(usize, usize)> {
        let mut places = Vec::new();
        self.for_each_place_in(analyzer, text, |start, position| places.push((start, position)));
        places
    }

    fn for_each_place_in(&self, analyzer: &Analyzer, text: &str, mut visit: impl FnMut(usize, usize)) {
        analyzer.for_each_term_among(&self.openings, text, |stem, range| {
            self.positions(stem).for_each(|position| visit(range.start, position));
        });
    }

    /// The terms, in the order of the question.
    #[must_use]
    pub fn terms(&self) -> &[QuestionTerm] {
        &self.terms
    }

    /// Chunks in the collections asked.
    #[must_use]
    pub const fn chunks(&self) -> u64 {
        self.chunks
    }

    /// Whether a sentence writes the term that is asked for in brackets, after what it is short for.
    #[must_use]
    pub fn is_in_brackets(&self, sentence: &str) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.is_in_brackets(sentence))
    }

    /// Whether the question asks what a term means.
    #[must_use]
    pub fn asks_for_term(&self) -> bool {
        self.subject.as_ref().is_some_and(Subject::is_term)
    }

    /// Whether the question asks for a definition and a sentence begins with the thing and says what it is.
    #[must_use]
    pub fn is_defined_by(&self, sentence: &str) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.is_defined_by(sentence))
    }

    /// Whether the question asks for a definition and a sentence begins with the thing and says only how it is with it.
    #[must_use]
    pub fn is_only_told_of_by(&self, sentence: &str) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.is_only_told_of_by(sentence))
    }

    /// Whether a text has a sentence that defines it.
    #[must_use]
    pub fn is_defined_in(&self, text: &str) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.is_defined_in(text))
    }

    /// The openings of the terms, which rule out most other words quickly.
    #[must_use]
    pub const fn openings(&self) -> &Openings {
        &self.openings
    }

    /// Sum of all weights: how much there is to be found.
    #[must_use]
    pub const fn mass(&self) -> f32 {
        self.mass
    }

    /// The position of a term, if the question has it.
    #[must_use]
    pub fn position(&self, stem: &str) -> Option<usize> {
        self.terms.iter().position(|term| term.stem == stem)
    }

    /// The positions of the terms that a stem of a text stands for: its own, or both of a word that the question writes
    /// as two.
    pub fn positions(&self, stem: &str) -> impl Iterator<Item = usize> + use<> {
        let joined = self.joined.iter().find(|(joined, _)| joined == stem).map_or(0, |(_, mask)| *mask);
        let parts = (0..MAX_TERMS).filter(move |position| joined & (1 << position) != 0);
        self.position(stem).or_else(|| self.version(stem)).into_iter().chain(parts.take(joined.count_ones() as usize))
    }

    /// The term that is a version of which `stem` is a later part: 0.8 of 0.8.1.
    fn version(&self, stem: &str) -> Option<usize> {
        if !is_version(stem) {
            return None;
        }
        let holds = |term: &QuestionTerm| {
            let rest = stem.strip_prefix(term.stem.as_str()).filter(|_| is_version(&term.stem));
            rest.is_some_and(|rest| rest.starts_with('.'))
        };
        self.terms.iter().position(holds)
    }

    /// Share of the mass that a set of terms makes up, 0 to 1; 0 for a question without terms.
    #[must_use]
    pub fn share(&self, mask: TermMask) -> f32 {
        if self.mass <= 0.0 {
            return 0.0;
        }
        (self.weight_of(mask) / self.mass).min(1.0)
    }

    /// Sum of the weights of a set of terms.
    #[must_use]
    pub fn weight_of(&self, mask: TermMask) -> f32 {
        self.terms
            .iter()
            .enumerate()
            .filter(|(position, _)| mask & (1 << position) != 0)
            // Not `sum`: the sum of no items is -0.
            .fold(0.0, |sum, (_, term)| sum + term.weight)
    }

    /// Share of the weight of neighbouring terms that are neighbours in a sentence too, 0 to 1; `pairs` holds
    /// the bit of the first of each.
    #[must_use]
    pub fn pair_share(&self, pairs: TermMask) -> f32 {
        let (mut found, mut all) = (0.0, 0.0);
        for (position, pair) in self.terms.windows(2).enumerate() {
            let weight: f32 = pair.iter().map(|term| term.weight).sum();
            all += weight;
            if pairs & (1 << position) != 0 {
                found += weight;
            }
        }
        if all > 0.0 { found / all } else { 0.0 }
    }

    /// Weight of the weightiest term that is not in a set, as a share of the weightiest of all; 0 if none is missing.
    #[must_use]
    pub(crate) fn rarest_missing(&self, mask: TermMask) -> f32 {
        let (mut missing, mut all) = (0.0, 0.0);
        for (position, term) in self.terms.iter().enumerate() {
            all = term.weight.max(all);
            if mask & (1 << position) == 0 {
                missing = term.weight.max(missing);
            }
        }
        if all > 0.0 { missing / all } else { 0.0 }
    }

    /// Words of the question that no chunk of the collections holds, as it writes them. Words that ask for a quantity
    /// ("how many") or tell what is to be done ("summarise"), and function words of other languages ("ein") are left out: no
    /// document is about them; so are what is longer than words are, and the pairs of characters that stand for words in texts without spaces.
    pub fn unknown_words(&self) -> impl Iterator<Item = &str> {
        let unknown = self.terms.iter().filter(|term| term.document_frequency == 0 && !frame::relates(&term.stem));
        let is_word = |word: &&str| {
            let lower = lower_case(word);
            let is_short = word.chars().count() <= LONGEST_WORD;
            let asks = Quantity::of(&lower).is_some() || frame::asks_how(&lower) || is_instruction(&lower);
            is_short && !asks && !is_bigram(word) && !is_german(&lower) && !is_romance_or_dutch(&lower)
        };
        unknown.map(|term| term.word.as_str()).filter(is_word)
    }

    /// The set of terms that no chunk of the collections holds.
    #[must_use]
    pub fn unknown(&self) -> TermMask {
        self.mask_where(|term| term.document_frequency == 0)
    }
}

/// The set of those terms that satisfy a condition.
fn mask_where(terms: &[QuestionTerm], is_wanted: impl Fn(&QuestionTerm) -> bool) -> TermMask {
    let wanted = terms.iter().enumerate().filter(|(_, term)| is_wanted(term));
    wanted.fold(0, |mask, (position, _)| mask | 1 << position)
}

/// The terms that a part of the question holds.
fn mask_of_words(analyzer: &Analyzer, terms: &[QuestionTerm], words: &str) -> TermMask {
    let mut mask = 0;
    analyzer.for_each_term(words, |stem, _| {
        mask |= terms.iter().position(|term| term.stem == stem).map_or(0, |position| 1 << position);
    });
    mask
}

#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
