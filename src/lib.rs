//! Cited answers questions from a team's own documents and proves every claim.
//!
//! The way of a request is the way through the folders: `http` translates, `service` composes,
//! `domain` decides, `store`, `providers` and `extract` do the outside world.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod extract;
pub mod http;
pub mod providers;
mod server;
pub mod service;
pub mod shutdown;
pub mod store;
pub mod telemetry;
