//! Measures how good a running Cited is: its retrieval and its answers, on sets whose right answers are known.
//!
//! An [`Evaluation`] is a client of the HTTP API and of nothing else. It puts the documents of a [`Dataset`] into a
//! collection of its own, searches and asks as any caller would, and holds what comes back against the set. The
//! [`measures`] are functions of plain data.

mod client;
mod evaluation;
pub mod measures;
mod report;
mod set;

pub use self::{
    client::{Client, Mode},
    evaluation::{Evaluation, EvaluationError, Event, Loaded, Plan, Work},
    report::{ModeReport, OffCorpusReport, Report, SetReport},
    set::{Dataset, OffCorpus, read, read_off_corpus},
};
