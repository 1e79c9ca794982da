//! Measures the quality of a running Cited: its retrieval and its answers, on sets whose right answers are known.
//!
//! An [`Evaluation`] is a client of the HTTP API and of nothing else. It puts the documents of a [`Dataset`] into a
//! separate collection, searches and asks as any caller would, and compares the results with the set. The [`measures`]
//! are functions of plain data.

pub mod attack;
mod client;
mod evaluation;
pub mod measures;
mod oracle;
mod report;
mod set;

pub use self::{
    client::{Client, Mode},
    evaluation::{Evaluation, EvaluationError, Event, Loaded, NotIndexed, Plan, Work, measure_claims},
    oracle::Oracle,
    report::{ClaimsReport, ModeReport, OffCorpusReport, Report, SetReport},
    set::{ClaimSet, Dataset, OffCorpus, read, read_claims, read_off_corpus},
};
