//! The sense of a phrase in which a model states a verdict.
//!
//! Assent must be plain. A phrase that denies something, in whatever form, a hedge, and a phrase that says both are
//! never assent: whoever acts on a verdict may rely on that, whatever the model wrote.

use super::{
    reason::{begins_with_denial, restricts, takes_back},
    vocabulary::{SIGNS, Word, is_contrast, word},
};

/// The sense of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// Plainly yes: correct, relevant, supported.
    Assent,
    /// Neither plainly yes nor plainly no.
    Hedge,
    /// No.
    Dissent,
}

/// Characters that end a clause of a verdict.
pub(super) const CLAUSE_ENDS: &[char] =
    &[',', ';', '.', '!', '?', ':', '(', ')', '|', '\n', '。', '、', '，', '；', '？', '！', '：', '—', '–'];

/// The sense of a phrase: the verdict, and a reason that may follow behind a dash. `None` if it states nothing.
#[must_use]
pub fn stance_of(phrase: &str) -> Option<Stance> {
    let phrase = plain(phrase);
    let phrase = phrase.trim_start_matches(|c: char| c.is_whitespace() || "-–—:.)]|*".contains(c));
    let (verdict, reason) = split_reason(phrase);
    let mut found: Option<Stance> = None;
    let mut is_denied = begins_with_denial(reason) || takes_back(reason);
    for clause in verdict.split(CLAUSE_ENDS).map(Clause::read) {
        match clause.stance() {
            Some(stance) => found = Some(found.map_or(stance, |before| combined(before, stance))),
            None => is_denied |= clause.negations > 0 || clause.is_contrast && clause.takes_back(),
        }
    }
    // Otherwise a reason counts only where it is nothing but another verdict, or restricts the first.
    for clause in reason.split(CLAUSE_ENDS).map(Clause::read) {
        if let (Some(before), Some(stance)) = (found, clause.stance().filter(|_| clause.is_pure())) {
            found = Some(combined(before, stance));
        }
    }
    is_denied |= restricts(reason);
    if found == Some(Stance::Assent) && is_denied { Some(Stance::Hedge) } else { found }
}

/// A phrase in lower case, with one kind of apostrophe.
pub(super) fn plain(phrase: &str) -> String {
    phrase.to_lowercase().replace(['’', '`', 'ʼ'], "'")
}

/// The words of a plain text. An apostrophe inside a word is part of it.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    parts.map(|word| word.trim_matches('\'')).filter(|word| !word.is_empty())
}

/// Whether a phrase is a verdict and nothing else.
#[must_use]
pub fn is_bare(phrase: &str) -> bool {
    let clause = Clause::read(&plain(phrase));
    clause.is_pure() && clause.words > 0 && stance_of(phrase).is_some()
}

/// Two verdicts of one phrase: they agree, or the phrase says both.
#[must_use]
pub fn combined(one: Stance, two: Stance) -> Stance {
    match (one, two) {
        (Stance::Assent, Stance::Assent) => Stance::Assent,
        (Stance::Dissent, Stance::Dissent | Stance::Hedge) | (Stance::Hedge, Stance::Dissent) => Stance::Dissent,
        _ => Stance::Hedge,
    }
}

/// The part before the first dash between blanks, and the part after it.
fn split_reason(phrase: &str) -> (&str, &str) {
    let dashes = [" - ", " – ", " — ", " -- ", "—", " because ", " since ", " weil ", " parce "];
    let first = dashes.iter().filter_map(|dash| Some((phrase.find(dash)?, dash.len()))).min();
    first.map_or((phrase, ""), |(at, length)| {
        (phrase.get(..at).unwrap_or_default(), phrase.get(at + length..).unwrap_or_default())
    })
}

/// The words of a clause, counted by what they do to it.
#[derive(Debug, Default)]
struct Clause {
    words: usize,
    assents: usize,
    dissents: usize,
    negations: usize,
    hedges: usize,
    modals: usize,
    degrees: usize,
    others: usize,
    /// Unknown words before the first assent, which may make it something else: "wrongly supported".
    others_before: usize,
    is_contrast: bool,
}

impl Clause {
    /// Reads a plain text.
    fn read(text: &str) -> Self {
        let mut clause = Self::default();
        for text in words(text) {
            clause.words += 1;
            clause.is_contrast |= is_contrast(text);
            let mut has_sign = false;
            // Text without spaces is one word, which may hold several signs.
            for (_, sense) in SIGNS.iter().filter(|(signs, _)| signs.iter().any(|sign| text.contains(sign))) {
                has_sign = true;
                clause.count(*sense);
            }
            if !has_sign {
                clause.count(word(text));
            }
        }
        for (signs, word) in SIGNS {
            // Ticks and crosses are no words.
            let ticks = signs.iter().filter(|sign| !sign.chars().all(char::is_alphanumeric) && text.contains(**sign));
            for _ in ticks {
                clause.words += 1;
                clause.count(word);
            }
        }
        clause
    }

    fn count(&mut self, word: Word) {
        let counter = match word {
            Word::Assent => &mut self.assents,
            Word::Dissent => &mut self.dissents,
            Word::Negation => &mut self.negations,
            Word::Hedge => &mut self.hedges,
            Word::Modal => &mut self.modals,
            Word::Degree => &mut self.degrees,
            Word::Filler => return,
            Word::Other => {
                self.others_before += usize::from(self.assents == 0);
                &mut self.others
            }
        };
        *counter += 1;
    }

    /// Whether it holds nothing but words of verdicts.
    fn is_pure(&self) -> bool {
        self.others == 0
    }

    /// Whether it holds a word that takes a verdict back, wholly or in part.
    fn takes_back(&self) -> bool {
        self.negations + self.dissents + self.hedges + self.modals > 0
    }

    fn stance(&self) -> Option<Stance> {
        let is_negated = self.negations > 0;
        match (self.assents > 0, self.dissents > 0) {
            (true, true) if is_negated => Some(Stance::Dissent),
            (true, true) => Some(Stance::Hedge),
            (false, true) if is_negated => Some(Stance::Hedge),
            (false, true) => Some(Stance::Dissent),
            (true, false) if is_negated && self.degrees > 0 => Some(Stance::Hedge),
            (true, false) if is_negated => Some(Stance::Dissent),
            (true, false) if self.hedges + self.modals + self.others_before > 0 => Some(Stance::Hedge),
            (true, false) => Some(Stance::Assent),
            (false, false) if self.hedges > 0 => Some(Stance::Hedge),
            (false, false) if is_negated && self.is_pure() => Some(Stance::Dissent),
            (false, false) => None,
        }
    }
}
