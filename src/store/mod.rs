//! The only SQL there is: Postgres with pgvector.
//!
//! A [`Store`] holds two pools, one for everything and one for retrieval (a read replica, if there is
//! one). Both run as the role `cited_app`, which row level security binds; a transaction is opened for
//! one tenant and sees nothing else.

mod chunk;
mod collection;
mod commit;
mod connect;
mod document;
mod error;
mod filter;
mod job;
mod lexical;
mod maintenance;
mod profile;
mod queue;
mod search;
mod statistics;

pub mod private_postgres;

pub use chunk::{NewChunk, StoredChunk};
pub use collection::{Collection, CollectionSummary, SearchedCollection};
pub use commit::{BatchOutcome, CommitBatch, NewDocument};
pub use connect::{PoolSettings, Store};
pub use document::{DeleteReceipt, DocumentRow, DocumentText, StoredAs};
pub use error::StoreError;
pub use job::{JobCounts, JobItemRow, JobRow, NewJobItem};
pub use lexical::{DocumentFrequencies, LexicalQuery};
pub use maintenance::CollectionLengths;
pub use profile::ProfileId;
pub use queue::{Claim, ClaimedItem, ItemFailure, Lease};
pub use search::{DenseHit, DenseQuery, LexicalHit, Passage, VectorScan};

/// Migrations that travel inside the binary.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!();
