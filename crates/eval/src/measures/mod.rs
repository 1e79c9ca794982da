//! Measures over plain data: search results or answers, compared with the gold data of a set.

pub mod answers;
mod attribution;
pub mod claims;
pub mod conversations;
mod gold;
mod grader;
pub mod metrics;
pub mod retrieval;
