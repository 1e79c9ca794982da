//! Claims whose support cannot be decided by words alone, and a model's rulings on them.
//!
//! A number, a date or a name that no cited source holds is decided by the exact checks and never sent to a model.

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use crate::model_verdicts::{self, Read, Stance};
use crate::span::Span;

/// A claim about which the scorer is not sure.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Where the claim stands in the answer, in code points.
    pub span: Span,
    /// Its words, without markers.
    pub claim: String,
    /// The numbers of the sources that cover it, ascending.
    pub markers: Vec<u32>,
    /// The scorer's probability that they support it.
    pub score: f32,
}

/// A model's ruling on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The cited sources support all of it.
    Supported,
    /// They do not.
    Unsupported,
}

/// The judge that settles a doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verifier {
    /// The scorer's threshold.
    Scorer,
    /// A model, which is asked when the answer is written.
    Model,
}

/// A model's ruling with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRuling {
    /// The ruling.
    pub ruling: Ruling,
    /// Why, in the model's words; may be empty.
    pub reason: String,
}

/// The rulings of a reply on `doubts` claims, in their order; `None` for a claim on which it has none. Whatever is not
/// plainly support is none.
#[must_use]
pub fn read_rulings(reply: &str, doubts: usize) -> Vec<Option<ReadRuling>> {
    let ruling = |Read { stance, reason }| {
        let ruling = match stance {
            Stance::Assent => Ruling::Supported,
            Stance::Hedge | Stance::Dissent => Ruling::Unsupported,
        };
        ReadRuling { ruling, reason }
    };
    model_verdicts::read(reply, doubts).into_iter().map(|read| read.map(ruling)).collect()
}

impl Draft {
    /// The claims about which the scorer is not sure, in order of appearance.
    #[must_use]
    pub fn doubts(&self) -> Vec<Doubt> {
        self.judged()
            .filter_map(|(statement, markers, support)| {
                let support = support.filter(|support| support.is_doubtful(&statement.words))?;
                Some(Doubt {
                    span: statement.span,
                    claim: statement.words.clone(),
                    markers: markers.to_vec(),
                    score: support.score,
                })
            })
            .collect()
    }

    /// The draft with rulings on its [doubts](Self::doubts), in their order. Where there is none the scorer's
    /// judgement stands.
    #[must_use]
    pub fn with_rulings(mut self, rulings: &[Option<Ruling>]) -> Self {
        let claims = self.claims_mut().filter(|(claim, support)| support.is_doubtful(claim));
        for ((_, support), ruling) in claims.zip(rulings) {
            support.ruling = *ruling;
        }
        self
    }
}
