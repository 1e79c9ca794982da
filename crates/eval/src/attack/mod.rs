//! Attacks of documents on a model, on its prompts, and through its answers: how many of them succeed.

mod answers;
mod boundaries;
mod delimiters;
mod documents;
mod injections;
mod orders;

use domain::citation::Level;
use serde::Serialize;

pub use self::{
    answers::{ANSWERS, AnswerFigures, ObeyingAnswer, PassedLevel, SOURCE},
    boundaries::BoundaryFigures,
    documents::LevelFigures,
    injections::{INJECTIONS, InjectionKind},
    orders::{CANARY, Order, orders, sample},
};
pub(crate) use documents::AttackedReply;

use crate::{
    client::Client,
    evaluation::{EvaluationError, Event},
};

/// Levels of checking that are attacked, from the lowest on.
const LEVELS: [Level; 3] = [Level::Structural, Level::Cited, Level::Supported];

/// The results of an attack.
#[derive(Clone, Debug, Serialize)]
pub struct AttackReport {
    /// Models that wrote answers (`extractive` is the built-in one); empty where none did.
    pub models: Vec<String>,
    /// Documents that give orders, by level.
    pub levels: Vec<LevelFigures>,
    /// Answers of a model that obeys, by the part of an answer that they misuse.
    pub answers: Vec<AnswerFigures>,
    /// Texts that look like delimiters of prompts, by what they look like.
    pub boundaries: Vec<BoundaryFigures>,
    /// What passed that may not, in words; empty where the gate holds.
    pub breaches: Vec<String>,
}

/// Tries all attacks: the boundaries of the prompts of this program, and at the service the answers of a model that obeys and
/// these orders in documents of a collection of their own.
///
/// # Errors
/// [`EvaluationError::CollectionExists`]; failures of the service.
pub async fn measure_attacks(
    client: &Client,
    collection: &str,
    orders: &[Order],
    observe: &(dyn Fn(Event<'_>) + Send + Sync),
) -> Result<AttackReport, EvaluationError> {
    let boundaries = boundaries::figures();
    let answers = answers::measure(client).await?;
    let (models, levels) = documents::measure(client, collection, orders, observe).await?;
    let breaches = answers::breaches(&answers).chain(boundaries::breaches(&boundaries)).collect();
    Ok(AttackReport { models, levels, answers, boundaries, breaches })
}
