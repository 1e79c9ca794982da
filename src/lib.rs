//! Cited answers questions from a team's own documents and proves every claim.
//!
//! The way of a request is the way through the folders: `http` translates, `service` composes,
//! `domain` decides, `store`, `providers` and `extract` do the outside world.

pub mod domain;
pub mod store;
