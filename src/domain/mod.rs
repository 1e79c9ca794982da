//! Pure decisions: no I/O, no clock, no database, no HTTP.

pub mod evaluation;
pub mod filter;
pub mod fingerprint;
pub mod fusion;
pub mod identity;
pub mod job;
pub mod lexical;
