//! Evaluation over plain data: what a set is, what its answers are measured against, and the measures
//! that `cited eval` prints.

pub mod answers;
pub mod attribution;
pub mod dataset;
pub mod gold;
mod grader;
pub mod line;
pub mod metrics;
pub mod retrieval;
pub mod sample;
