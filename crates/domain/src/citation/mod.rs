//! Citations: reads the markers of an answer, checks them, and produces a validated answer.
//!
//! [`Draft::new`] parses an answer against its sources, [`validate`] judges the draft, and only the
//! judge can make a [`CitedAnswer`].

mod answer;
mod check;
mod claim;
mod columns;
mod contrary;
mod draft;
mod exempt;
mod fault_detail;
mod foreign_non_answer;
pub mod loose_marker;
pub mod marker;
mod negation;
mod non_answer;
pub mod non_answer_code;
mod pleasantry;
mod prepared;
mod question;
mod retry_prompt;
mod source;
mod streaming;
mod style;
mod support;
mod term;
#[cfg(test)]
mod tests;
mod unit;
mod urn;
mod validator;
mod verification;
mod window;

pub use answer::{Citation, CitedAnswer, Claim};
pub use check::CheckedClaim;
pub(crate) use claim::without_markers;
pub use claim::{Role, Statement};
pub use draft::{Attribution, Draft};
pub use marker::{MalformedMarker, Marker, MarkerFault};
pub use non_answer::{is_ignorance, untold};
pub use prepared::{Basis, PreparedSource};
pub use retry_prompt::RetryPrompt;
pub use streaming::{ConfirmedClaim, SettledClaim};
pub use style::{MarkerStyle, Restyled, RestyledMarker, Restyler, UnknownStyle};
pub use support::features as support_features;
pub use support::{
    ClaimVerdict, Contradiction, ContradictionKind, LexicalScorer, Missing, MissingKind, Quote, Reversal,
    SUPPORT_THRESHOLD, Support, SupportScorer,
};
pub(crate) use unit::is_unit;
pub use urn::{Urn, UrnError};
pub use validator::{Attempt, CitationError, ErrorKind, Findings, Level, UnknownLevel, Verdict, findings, validate};
pub use verification::{Doubt, ReadRuling, Ruling, Verifier, read_rulings};
