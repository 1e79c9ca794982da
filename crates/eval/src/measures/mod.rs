//! Measures over plain data: what was found, or answered, held against what a set knows.

pub mod answers;
mod attribution;
mod gold;
mod grader;
pub mod metrics;
pub mod retrieval;
