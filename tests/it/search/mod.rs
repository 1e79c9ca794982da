//! Retrieval over HTTP.

mod filters;
mod languages;
mod modes;
mod rerank_model;
mod stages;
