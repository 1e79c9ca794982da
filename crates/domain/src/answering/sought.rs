//! The form that an answer must have, as far as it can be seen. English only.

use super::candidate::{Role, SentenceCandidate};
use super::choose::Scored;
use super::form::{
    asks_for_default, asks_for_option, asks_for_path, asks_for_variable, asks_for_version, asks_in_present,
    names_variable, tells_amount, tells_condition, tells_default,
};
use super::need::asks_why;
use super::people::{asks_for_author, asks_who_has_office, asks_who_may, is_made_by};
use crate::command_options::options;
use crate::evidence::Question;
use crate::evidence::kind::{AnswerKind, TIME_UNITS, has_time};
use crate::evidence::measure::Measure;
use crate::evidence::names::names_in_full;
use crate::release_notes::is_limit_asked_for;
use crate::wording::{has_digit, lower_case_words};

/// A question, and what a sentence must tell to answer it.
pub(super) struct Sought<'q> {
    pub(super) question: &'q Question,
    is_default: bool,
    /// Whether it is for the lowest or the highest version of something, which is no definition of that.
    pub(super) is_for_limit: bool,
    form: Form,
}

/// The form of an answer.
enum Form {
    /// A number with this measure, or any number.
    Number(Option<Measure>),
    /// A time of the day, or a condition ("when the last guest leaves").
    Clock,
    /// A date; in the present tense also a condition or a time ("on the third day"), of the month that the question names.
    Time { in_present: bool },
    /// The author of something: a person, or whoever it was made by.
    Author,
    /// Those who may or must do something: by name, by office, or by group.
    Holder,
    /// Whoever has an office, by name.
    OfOffice,
    /// A reason.
    Reason,
    /// The definition of a term.
    Definition,
    /// Several things.
    List,
    /// An option of a command.
    Option,
    /// A variable of the environment.
    Variable,
    /// The number of a version, in the sentence or above it.
    Version,
    /// Where a program keeps something.
    Path,
    /// Not seen surely enough.
    Unseen,
}

/// Whether a sentence says that there are several things without naming them: "There are several methods."
fn only_counts(sentence: &str) -> bool {
    const COUNTS: [&str; 7] = ["several", "various", "many", "multiple", "different", "numerous", "following"];
    let counts = lower_case_words(sentence).any(|word| COUNTS.contains(&word.as_str()));
    counts && !sentence.contains([',', ':', '`', '('])
}

/// Whether all numbers of a text are of units of time: "at least 6 months".
fn counts_time_only(text: &str) -> bool {
    let words: Vec<String> = lower_case_words(text).collect();
    let is_of_time = |at: usize| words.get(at + 1).is_some_and(|unit| TIME_UNITS.contains(&unit.as_str()));
    words.iter().enumerate().filter(|(_, word)| has_digit(word)).all(|(at, _)| is_of_time(at))
}

/// Whether a candidate tells a measure.
pub(super) fn is_told(measure: Measure, candidate: &SentenceCandidate) -> bool {
    if candidate.is_row { measure.is_told_by_row(&candidate.text) } else { measure.is_told_by(&candidate.text) }
}

impl<'q> Sought<'q> {
    pub(super) fn of(question: &'q Question) -> Self {
        let asked = &question.asked;
        let is_for_limit = asks_for_version(asked) && is_limit_asked_for(asked);
        let form = match question.kind {
            _ if is_for_limit => Form::Version,
            AnswerKind::Number => Form::Number(question.measure),
            AnswerKind::Date if question.measure == Some(Measure::Clock) => Form::Clock,
            AnswerKind::Date => Form::Time { in_present: asks_in_present(asked) },
            AnswerKind::Person if asks_for_author(asked) => Form::Author,
            AnswerKind::Person if asks_who_may(asked) => Form::Holder,
            AnswerKind::Person if asks_who_has_office(asked) => Form::OfOffice,
            AnswerKind::Definition if question.terms.asks_for_term() => Form::Definition,
            AnswerKind::List => Form::List,
            AnswerKind::Place if asks_for_path(asked) => Form::Path,
            _ if asks_for_version(asked) => Form::Version,
            _ if asks_why(asked) => Form::Reason,
            _ if asks_for_option(&asked.to_lowercase()) => Form::Option,
            _ if asks_for_variable(asked) => Form::Variable,
            _ => Form::Unseen,
        };
        Self { question, is_default: asks_for_default(asked), is_for_limit, form }
    }

    /// Whether an answer, best sentence first, can hold what is asked for. A definition stands in its best sentence: one
    /// beside it defines something else.
    pub(super) fn is_told_by(&self, answer: &[Scored<'_>]) -> bool {
        let told_in = if matches!(self.form, Form::Definition) { 1 } else { answer.len() };
        answer.iter().take(told_in).any(|(sentence, _)| self.may_be(sentence))
    }

    /// Whether a sentence can hold what is asked for, or one below it does.
    pub(super) fn may_be(&self, candidate: &SentenceCandidate) -> bool {
        candidate.told_below.is_some() || self.tells(candidate)
    }

    /// Whether a sentence, or its heading, tells the lowest or the highest of something.
    fn tells_limit(&self, candidate: &SentenceCandidate) -> bool {
        let limit = self.question.terms.mask_where(|term| is_limit_asked_for(&term.word));
        limit == 0 || (candidate.mask | candidate.heading) & limit != 0
    }

    /// Whether a text holds the kind of thing asked for beside the numbers of issues, "#12", which count nothing.
    fn holds_beside_references(&self, text: &str) -> bool {
        let Some((before, rest)) = text.split_once('#') else { return true };
        let parts = rest.split('#').map(|part| part.trim_start_matches(|sign: char| sign.is_ascii_digit()));
        let plain: String = std::iter::once(before).chain(parts).collect();
        self.question.kind.is_held_by(&self.question.known, &plain)
    }

    /// Whether a sentence by itself can hold what is asked for.
    fn tells(&self, candidate: &SentenceCandidate) -> bool {
        let text = &candidate.text;
        let context = candidate.context.as_ref().map_or("", |(_, context)| context.as_str());
        if self.is_default && !tells_default(text) {
            return false;
        }
        match self.form {
            Form::Number(measure) => {
                let measures = || measure.is_none_or(|measure| is_told(measure, candidate));
                candidate.holds_kind && self.holds_beside_references(text) && measures() || tells_amount(text)
            }
            Form::Clock => is_told(Measure::Clock, candidate) || tells_condition(text),
            Form::Time { in_present } => {
                let is_of_month = || self.question.terms.months() & !candidate.held == 0;
                let is_told = || candidate.holds_kind || tells_condition(text) || has_time(text);
                if in_present { is_of_month() && is_told() } else { candidate.holds_kind }
            }
            Form::Author => is_made_by(text) && candidate.holds_kind || names_in_full(&self.question.known, text),
            Form::Reason | Form::Holder => candidate.holds_kind,
            Form::OfOffice => candidate.holds_kind && candidate.fit >= 1.0 || candidate.is_row,
            Form::Variable => names_variable(text) || names_variable(context),
            // "Version 11" and "Debian bookworm (12)" are versions, too.
            Form::Version => {
                candidate.role != Role::LineAlone
                    && (!self.is_for_limit || self.tells_limit(candidate))
                    && [text.as_str(), context].iter().any(|text| has_digit(text) && !counts_time_only(text))
            }
            Form::Path => candidate.holds_kind || candidate.is_row,
            Form::Option => !options(text).is_empty() || !options(context).is_empty() || candidate.is_row,
            Form::Definition => {
                let has_form = candidate.holds_kind || candidate.bonus > 0.0 || candidate.opens > 0.0;
                has_form || candidate.is_row || self.question.terms.is_in_brackets(text)
            }
            Form::List => !candidate.items.is_empty() || candidate.is_row || candidate.holds_kind && !only_counts(text),
            Form::Unseen => true,
        }
    }
}
