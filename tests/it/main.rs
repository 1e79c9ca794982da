//! Behaviour from outside: over HTTP, on a real Postgres, with a scripted model server.
//!
//! A folder per subject; beside them the service as tests see it ([`harness`], [`process`]), its database, texts in it that
//! nobody may see ([`canaries`]), the model server ([`scripted`]), and waiting for them ([`wait`]).

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop on what it did not expect")]

mod ask;
mod canaries;
mod citus;
mod database;
mod dialect;
mod documents;
mod harness;
mod http;
mod indexes;
mod ingest;
mod jobs;
mod made_databases;
mod operations;
mod process;
mod providers;
mod scripted;
mod search;
mod security;
mod throw_away_postgres;
mod wait;
