//! A question as its sources are read for it, and the headings that stand above their sentences.

use super::AnswerSource;
use super::form::{AskedForm, asks_for_version};
use super::naming::{AskedStems, Singulars, stems_in};
use super::need::{asks_why, gives_reason};
use super::pointer::Pointers;
use super::role::Roles;
use crate::currency::{amends, answered};
use crate::evidence::kind::AnswerKind;
use crate::evidence::{Question, TermMask};
use crate::release_notes::Change;
use crate::wording::lower_case_words;

/// A question, with what is read of it once for all sentences, and which parts of a manual answer it.
pub(super) struct Asked<'q> {
    pub(super) question: &'q Question,
    /// Its words, which names and titles are compared with.
    pub(super) words: Singulars,
    /// The same by their stems, which headings are compared with.
    stems: AskedStems,
    /// The form that it asks for.
    pub(super) form: AskedForm<'q>,
    /// The parts that it gives to names and amounts.
    pub(super) roles: Roles<'q>,
    /// Whether it is for a reason.
    pub(super) is_for_reason: bool,
    /// Whether it is for a version.
    pub(super) is_for_version: bool,
    /// The change that it is for, where it is for one.
    pub(super) change: Option<Change>,
    /// Cosine of the passage that is nearest to it.
    pub(super) nearest: f32,
    /// Whether sentences that only lead elsewhere may answer it.
    pub(super) pointers: Pointers,
    /// Whether a source defines what it asks to define, so that the beginning of a section need not.
    pub(super) is_defined: bool,
    /// The titles of the sources.
    pub(super) titles: Vec<&'q str>,
}

impl<'q> Asked<'q> {
    pub(super) fn of(question: &'q Question, sources: &[AnswerSource<'q>]) -> Self {
        Self {
            question,
            words: Singulars::of(&question.text),
            stems: AskedStems::of(&question.text),
            form: AskedForm::of(question),
            roles: Roles::of(question),
            is_for_reason: asks_why(&question.asked),
            is_for_version: asks_for_version(&question.asked),
            change: Change::asked_for(&question.asked),
            nearest: sources.iter().filter_map(|source| source.similarity).fold(-1.0, f32::max),
            pointers: Pointers::of(question),
            is_defined: sources.iter().any(|source| question.terms.is_defined_in(source.text)),
            titles: sources.iter().map(|source| source.title).collect(),
        }
    }

    /// Whether a section that is headed by what it asks for is its answer: "What is a jar?", "What licence is jar under?".
    pub(super) fn is_for_section(&self) -> bool {
        let first = || lower_case_words(&self.question.asked).next();
        match self.question.kind {
            AnswerKind::Definition => !self.form.is_for_default,
            AnswerKind::Other => first().is_some_and(|word| matches!(word.as_str(), "what" | "which")),
            _ => false,
        }
    }

    /// Whether a document with this title changes what another one says: any, or the mail of a source that it answers.
    pub(super) fn is_changed_by(&self, title: &str) -> bool {
        let is_of_source = |subject: &str| self.titles.iter().any(|title| title.trim().eq_ignore_ascii_case(subject));
        amends(title) || answered(title).is_some_and(is_of_source)
    }
}

/// What a sentence stands under, and how it is to the question.
pub(super) struct Heading<'t> {
    pub(super) text: &'t str,
    /// Question terms in it, by their stems.
    pub(super) mask: TermMask,
    /// Share of its words that the question holds.
    pub(super) about: f32,
    /// Whether reasons stand under it, where the question is for one.
    pub(super) is_of_reason: bool,
}

impl<'t> Heading<'t> {
    pub(super) fn of(asked: &Asked<'_>, text: &'t str) -> Self {
        Self {
            text,
            mask: stems_in(asked.question, text),
            about: asked.stems.are_about(text),
            is_of_reason: asked.is_for_reason && gives_reason(text),
        }
    }
}
