//! Cited answers questions from a team's own documents and proves every claim.
//!
//! A request passes through the folders in this order: `http` translates, `service` composes, `store` and `providers` do
//! I/O. Pure parts are crates of their own below `crates/`: `domain` decides, `extract` reads files, `minilm` is the built-in
//! embedding model, `embedded_postgres` runs the private database. `eval` measures a service over its HTTP API.

pub mod app;
pub mod cli;
pub mod config;
pub mod http;
pub mod lifecycle;
pub mod providers;
mod server;
pub mod service;
pub mod shutdown;
pub mod store;
pub mod telemetry;

pub use ::{domain, extract};
