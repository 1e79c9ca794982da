//! The service as an operator sees it: commands, schema, logs, tasks, and the private Postgres.

mod cluster;
mod command_ask;
mod command_eval;
mod command_ingest;
mod command_ingest_ends;
mod command_service;
mod command_sync;
mod command_tenant_export;
mod commands;
mod doctor;
mod lifecycle;
mod local_models;
mod logins;
mod logs;
mod metrics;
mod migrations;
pub(crate) mod own_servers;
mod pooler;
pub(crate) mod private_postgres;
mod reader_locks;
mod replicas;
mod rolling;
mod traces;
