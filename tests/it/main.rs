//! Behaviour from outside: over HTTP, on a real Postgres, with a scripted model server.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop on what it did not expect")]

mod ask;
mod ask_budget;
mod ask_built_in;
mod ask_cache;
mod ask_failures;
mod ask_plan;
mod ask_processes;
mod ask_refine;
mod ask_speculation;
mod ask_stream;
mod ask_web;
mod audit;
mod bad_behaviour;
mod bulk;
mod chaos;
mod chat_stream;
mod citations;
mod command_ingest;
mod corpus;
mod database;
mod dialect;
mod documents;
mod errors;
mod fetch;
mod harness;
mod ingest;
mod injection;
mod isolation;
mod job_control;
mod jobs;
mod kill;
mod languages;
mod migrations;
mod private_postgres;
mod process;
mod providers;
mod providers_broken;
mod requests;
mod scripted;
mod search;
mod sharing;
mod stages;
mod throw_away_postgres;
mod webhooks;
