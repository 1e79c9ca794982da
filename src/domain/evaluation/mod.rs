//! Measures of retrieval and of decisions, over plain data: what `cited eval` prints.

pub mod metrics;
