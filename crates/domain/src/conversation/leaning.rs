//! Whether a message leans on the messages before it.
//!
//! The measure is how much its own words single out: the sum of their inverse document frequencies over that of a word
//! that one chunk alone holds. Two rare words are about 2, "how many teams?" is less than 1, whatever the size of the
//! collection. A pronoun or an elliptic opening raises the least that makes a message self-contained: "did they conquer
//! Israel?" leans, and a long question with an "it" of its own does not. Pronouns and openings are known in English; a
//! message in another language is held to the higher measure.

use super::Rarity;
use crate::evidence::QuestionTerms;
use crate::lexical::{analyzer::Analyzer, bm25::inverse_document_frequency, language::Language};
use crate::wording::lower_case_words;

/// Least that the words of a self-contained message single out.
const SELF_CONTAINED: f32 = 1.3;

/// The same for a message that refers back, or that may.
const SELF_CONTAINED_WITH_REFERENCE: f32 = 2.5;

/// Pronouns: a question with one may refer to something named elsewhere.
const PRONOUNS: [&str; 22] = [
    "it", "its", "they", "them", "their", "theirs", "he", "him", "his", "she", "her", "hers", "this", "that", "these",
    "those", "there", "one", "ones", "both", "former", "latter",
];

/// Pronouns for a person.
const PERSONAL: [&str; 6] = ["he", "him", "his", "she", "her", "hers"];

/// Openings of a message that goes on from the one before, beside those of [`EXCHANGES`].
const OPENINGS: [&str; 9] =
    ["so", "then", "also", "what else", "why", "more", "any more", "anything else", "tell me more"];

/// Words by which a message adds to what was said before it, or asks the same of something else.
const ADDITIONS: [&str; 5] = ["too", "also", "instead", "same", "else"];

/// Openings after which a message names something else of which the same is asked.
const EXCHANGES: [&str; 10] =
    ["and", "or", "but", "what about", "how about", "no i meant", "no i mean", "i meant", "i mean", "sorry i meant"];

/// Words that a phrase for a place, a time or a person begins with.
pub(super) const PREPOSITIONS: [&str; 14] =
    ["about", "as", "at", "by", "during", "for", "from", "in", "of", "on", "to", "under", "with", "within"];

/// Words at the end of a phrase that add it to what was said before it.
const ADDING: [&str; 4] = ["also", "as well", "then", "too"];

/// Most words of a message that is no more than a phrase.
const MOST_OF_PHRASE: usize = 4;

/// Whether a message cannot be searched for by itself.
#[must_use]
pub fn leans(analyzer: &Analyzer, message: &str, rarity: &Rarity) -> bool {
    let may_refer = may_refer(analyzer, message);
    let terms = rarity.terms(analyzer, message);
    // "What changed in 1.8?" is whole.
    if !may_refer && terms.names_one() {
        return false;
    }
    let least = if may_refer { SELF_CONTAINED_WITH_REFERENCE } else { SELF_CONTAINED };
    !singles_out(&terms, rarity, least)
}

/// Whether a message may lean on those before it, so that a model that can tell is asked: it refers to something, or its words
/// single out less than those of a message that refers and is whole all the same.
#[must_use]
pub fn may_lean(analyzer: &Analyzer, message: &str, rarity: &Rarity) -> bool {
    may_refer(analyzer, message)
        || !singles_out(&rarity.terms(analyzer, message), rarity, SELF_CONTAINED_WITH_REFERENCE)
}

fn may_refer(analyzer: &Analyzer, message: &str) -> bool {
    analyzer.language() != Language::English
        || has_pronoun(message)
        || adds(message)
        || exchanges(message)
        || opens_with(message, &OPENINGS)
}

/// Whether the words of a message single out as much as this many words that one chunk alone holds.
fn singles_out(terms: &QuestionTerms, rarity: &Rarity, least: f32) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "an idf is small; rounding is harmless")]
    let unique = inverse_document_frequency(rarity.chunks, 1) as f32;
    terms.weight_of(!terms.unknown()) >= least * unique
}

/// Whether a text refers to something that another text names.
pub(crate) fn has_pronoun(text: &str) -> bool {
    // "IT" is a department.
    let words = text.split(|sign: char| !sign.is_alphanumeric()).filter(|word| *word != "IT");
    words.map(str::to_lowercase).any(|word| PRONOUNS.contains(&word.as_str()))
}

/// Whether a text means a person that another text names.
pub(super) fn means_a_person(text: &str) -> bool {
    lower_case_words(text).any(|word| PERSONAL.contains(&word.as_str()))
}

/// Whether a message asks the same as before of what it names: "And for the UK?", "on Sundays too?"
pub(super) fn exchanges(message: &str) -> bool {
    opens_with(message, &EXCHANGES) || phrase_alone(message).is_some()
}

/// The rest of a message that asks the same as before of something else.
pub(super) fn after_exchange(message: &str) -> Option<&str> {
    let openings = EXCHANGES.iter().filter(|opening| opens_with(message, &[opening]));
    let Some(opening) = openings.max_by_key(|opening| opening.len()) else { return phrase_alone(message) };
    let mut rest = message;
    for _ in opening.split(' ') {
        let word = rest.trim_start_matches(|sign: char| !sign.is_alphanumeric());
        rest = word.trim_start_matches(char::is_alphanumeric);
    }
    // An option keeps its hyphens.
    Some(rest.trim_start_matches([' ', ',', ':', ';', '\t', '\n']).trim_end_matches(['?', '.', '!', ' ']))
}

/// A message that is a phrase for a place, a time or a person, and no more: "on Sundays too?"
fn phrase_alone(message: &str) -> Option<&str> {
    let phrase = message.trim().trim_end_matches(['?', '.', '!', ' ']);
    let without = |adding: &&str| phrase.strip_suffix(*adding)?.strip_suffix(' ');
    let phrase = ADDING.iter().find_map(without).unwrap_or(phrase).trim_end_matches([' ', ',']);
    let count = phrase.split_whitespace().count();
    (is_one_of(phrase.split_whitespace().next(), &PREPOSITIONS) && (2..=MOST_OF_PHRASE).contains(&count))
        .then_some(phrase)
}

/// Whether a word, where there is one, is one of these.
pub(super) fn is_one_of(word: Option<&str>, words: &[&str]) -> bool {
    word.is_some_and(|word| words.contains(&word.to_lowercase().as_str()))
}

fn adds(message: &str) -> bool {
    lower_case_words(message).any(|word| ADDITIONS.contains(&word.as_str()))
}

fn opens_with(message: &str, openings: &[&str]) -> bool {
    openings.iter().any(|opening| {
        let mut words = lower_case_words(message);
        opening.split(' ').all(|part| words.next().is_some_and(|word| word == part))
    })
}
