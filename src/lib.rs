//! Cited answers questions from a team's own documents and proves every claim.
//!
//! A request passes through the folders in this order: `http` translates, `service` composes, `store` and `providers` do
//! I/O. Pure parts are crates of their own below `crates/`: `domain` decides, `extract` reads files, `minilm` is the built-in
//! embedding model, `embedded_postgres` runs the private database. `eval` measures a service over its HTTP API.
//!
//! Only items that the binary, the tests over HTTP and the tools use are public, so that the compiler finds dead code.

mod app;
mod assembly;
mod cli;
mod config;
mod http;
mod lifecycle;
mod metrics;
mod providers;
mod server;
mod service;
mod shutdown;
mod spans;
mod store;
mod telemetry;

use ::{domain, extract};

pub use app::{App, Core};
pub use cli::Cli;
pub use config::Config;
pub use http::openapi_document;
pub use metrics::Metrics;
pub use providers::{
    ProviderErrorKind, ProvidersUnavailable,
    chat::{CallRole, ChatChain, ChatEvent, ChatModels, ChatReply, ChatRequest, FinishReason},
};
pub use service::context::{Clock, Context, SystemClock};
pub use shutdown::Shutdown;
pub use store::{
    BatchOutcome, CollectionSettings, CommitBatch, EnqueueOutcome, FollowUp, GraphChanges, GraphSizes, ItemFailure,
    ItemKey, ItemPage, Lease, MAX_CLAIMS, NewCollection, NewJob, NewJobItem, Phase, PoolSettings, QueueLimits,
    RequestKey, Store, StoreError, UnchangedItem,
};
