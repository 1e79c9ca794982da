//! Makes a message stand alone without a model: historical query expansion.
//!
//! Lin et al. (2020, arXiv:2005.02230) add keywords of earlier turns to a turn that is ambiguous by itself, and need no
//! training. Here the words of the last turns are weighed by their rarity in the collections, by how often their turn
//! has them and by how long ago, summed over the questions: a word that is asked about again and again is the subject.
//! The best few are added, in the order in which they were said.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::courtesy::{asks_nothing, is_courtesy};
use super::{
    Rarity, Speaker, Turn,
    exchange::exchanged,
    leaning::{exchanges, has_pronoun, means_a_person},
    recent,
};
use crate::{
    asked_part::asking_part,
    asking::is_instruction,
    citation::is_ignorance,
    evidence::{
        known::KnownWords,
        names::{first_person, is_named},
    },
    lexical::{analyzer::Analyzer, calendar::is_day},
    notices,
    wording::{bare, has_digit, lower_case},
};

/// Most words that are added.
const MOST_WORDS: usize = 3;

/// Weight of a word that no chunk holds, which would else be the rarest of all.
const WEIGHT_OF_UNKNOWN: f32 = 0.5;

/// Weight of a name in a question of the asker: it is mostly what is spoken of.
const WEIGHT_OF_NAME: f32 = 1.5;

/// Shortest such word, in characters: shorter ones mostly join others.
const SHORTEST_UNKNOWN: usize = 6;

/// Weight of each question over the next one.
const WEIGHT_OF_EARLIER: f32 = 0.6;

/// A word that may be added.
#[derive(Debug, Clone)]
struct Candidate {
    word: String,
    weight: f32,
    /// Where it was said: turn, and place among the words of the turn.
    place: (usize, usize),
}

/// A message that stands alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expansion {
    /// With words of the turns before it.
    Words(String),
    /// In the place of the question before it, of which it asks something else.
    Question(String),
}

impl Expansion {
    /// A message with the words in brackets, or the question that it stands for.
    #[must_use]
    pub fn of(&self, message: &str) -> String {
        match self {
            Self::Words(words) => format!("{} ({words})", message.trim()),
            Self::Question(question) => question.clone(),
        }
    }
}

/// The words of a turn that tell what is spoken of: what a question asks, and an answer without the sentences around it;
/// thanks and the like are about nothing, nor are replies to them.
fn said(turn: &Turn) -> String {
    match turn.speaker {
        Speaker::User if asks_nothing(&turn.text) => String::new(),
        Speaker::User => asking_part(&turn.text),
        Speaker::Assistant
            if is_courtesy(&turn.text) || turn.text.starts_with(notices::NO_ANSWER) || is_ignorance(&turn.text) =>
        {
            String::new()
        }
        // Headings of passages are capitalised like names.
        Speaker::Assistant => {
            let lines = turn.text.trim_start_matches(notices::PASSAGES).lines();
            lines.filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The last answer that told something, and the message that it answers.
#[must_use]
pub fn last_exchange(history: &[Turn]) -> Option<String> {
    let turns = recent(history);
    let told = |turn: &Turn| turn.speaker == Speaker::Assistant && !said(turn).trim().is_empty();
    let last = turns.iter().rposition(told)?;
    let exchange = turns.get(last.saturating_sub(1)..=last)?;
    Some(exchange.iter().map(said).collect::<Vec<_>>().join(" "))
}

/// The person that the last answer names, if a message means one by a pronoun.
fn person_meant(message: &str, history: &[Turn]) -> Option<String> {
    let answer = history.iter().rfind(|turn| turn.speaker == Speaker::Assistant)?;
    means_a_person(message).then(|| first_person(&KnownWords::of(message), &said(answer))).flatten()
}

/// The question that a message stands for, or the weightiest words of the turns before it; `None` if these have no word
/// that it lacks.
#[must_use]
pub fn expand(analyzer: &Analyzer, message: &str, history: &[Turn], rarity: &Rarity) -> Option<Expansion> {
    if let Some(question) = exchanged(message, history) {
        return Some(Expansion::Question(question));
    }
    let person = person_meant(message, history);
    let own: BTreeSet<String> = analyzer.terms(message).into_iter().collect();
    let mut candidates: BTreeMap<String, Candidate> = BTreeMap::new();
    // "And for the UK?" after "the allowance in Denmark" is not about Denmark, and "and in 4.1?" not about 4.3.
    let exchanged = |is_such: &dyn Fn(&str) -> bool| {
        exchanges(message) && message.split_whitespace().any(|word| is_such(bare(word)))
    };
    let names_other = exchanged(&|word| is_named(message, word));
    let counts_other = exchanged(&has_digit);
    let names_other_day = exchanged(&is_day);
    let mut recency = 1.0;
    // Words of an answer tell what was found, and its document is searched by itself.
    let questions = history.iter().enumerate().rev().filter(|(_, turn)| turn.speaker == Speaker::User);
    for (turn_number, turn) in questions {
        let said = said(turn);
        let mut counts: HashMap<String, u16> = HashMap::new();
        analyzer.for_each_term(&said, |stem, _| {
            let count = counts.entry(stem.to_owned()).or_default();
            *count = count.saturating_add(1);
        });
        for (position, term) in rarity.terms(analyzer, &said).terms().iter().enumerate() {
            let is_unknown = term.document_frequency == 0;
            // A word of the asker that no chunk holds may say what is spoken of: its vector finds what was meant.
            let names_nothing = is_unknown && term.word.chars().count() < SHORTEST_UNKNOWN;
            let is_frame = is_instruction(&lower_case(&term.word)) || has_pronoun(&term.word);
            let is_name = is_named(&said, &term.word);
            let is_exchanged = names_other && is_name
                || counts_other && has_digit(&term.word)
                || names_other_day && is_day(&term.word);
            if names_nothing || is_frame || own.contains(&term.stem) || is_exchanged {
                continue;
            }
            let count = counts.get(&term.stem).copied().unwrap_or(1);
            let of_unknown = if is_unknown { WEIGHT_OF_UNKNOWN } else { 1.0 };
            let of_name = if is_name { WEIGHT_OF_NAME } else { 1.0 };
            let weight = term.weight * f32::from(count).sqrt() * of_unknown * of_name * recency;
            let place = (turn_number, position);
            let candidate = Candidate { word: term.word.clone(), weight: 0.0, place };
            candidates.entry(term.stem.clone()).or_insert(candidate).weight += weight;
        }
        recency *= WEIGHT_OF_EARLIER;
    }
    let names: Vec<&str> = person.iter().flat_map(|person| person.split(' ')).collect();
    let mut best: Vec<Candidate> =
        candidates.into_values().filter(|candidate| !names.contains(&candidate.word.as_str())).collect();
    best.sort_by(|one, two| two.weight.total_cmp(&one.weight));
    best.truncate(MOST_WORDS.saturating_sub(names.len()));
    best.sort_by_key(|candidate| candidate.place);
    let words = best.into_iter().map(|candidate| candidate.word);
    let words: Vec<String> = person.iter().cloned().chain(words).collect();
    (!words.is_empty()).then(|| Expansion::Words(words.join(" ")))
}
