//! Pure decisions: no I/O, no clock, no database, no HTTP.

pub mod answering;
pub mod audit;
pub mod block;
pub mod budget;
pub mod citation;
pub mod corrective;
pub mod cost;
pub mod evaluation;
pub mod evidence;
pub mod filter;
pub mod fingerprint;
pub mod fusion;
pub mod grading;
pub mod grouping;
pub mod identity;
pub mod job;
pub mod json_in_text;
pub mod lexical;
pub mod planning;
pub mod prompt;
pub mod reranking;
pub mod rewriting;
pub mod sentence;
pub mod span;
pub mod split;
pub mod wording;
