//! The only SQL there is: Postgres with pgvector.
//!
//! A [`Store`] holds two pools, one for everything and one for retrieval (a read replica, if there is
//! one). Both run as the role `cited_app`, which row level security binds; a transaction is opened for
//! one tenant and sees nothing else.

mod audit;
mod audit_writer;
mod cache;
mod chunk;
mod citation;
mod claim;
mod collection;
mod collection_lock;
mod commit;
mod connect;
mod contexts;
mod delete;
mod document;
mod enqueue;
mod error;
mod examination;
mod fields;
mod filter;
mod finish;
mod idempotency;
mod index;
mod index_activation;
mod index_build;
mod index_jobs;
mod job;
mod job_control;
mod lexical;
mod maintenance;
mod places;
mod profile;
mod queue;
mod reading;
mod replace;
mod room;
mod schema_version;
mod search;
mod selection;
mod settle;
mod statistics;
mod text;
mod usage;
mod vectors;
mod webhook;
mod within;
mod work;

pub use audit::{AuditCitation, AuditFilter, AuditRow, Digest};
pub use cache::{CachedState, NewCachedAnswer};
pub use chunk::{NewChunk, StoredChunk};
pub use citation::{CitedChunks, CitedPassage, CitedState};
pub use claim::{Claim, ClaimedItem, Phase};
pub use collection::{Collection, CollectionSettings, CollectionSummary, NewCollection, SearchedCollection};
pub use commit::{BatchOutcome, CommitBatch, FollowUp, NewDocument, UnchangedItem};
pub use connect::{PoolSettings, Store};
pub use contexts::{ContextGaps, ContextWork, ContextsSoFar, DocumentOrigin};
pub use delete::DeleteReceipt;
pub use document::{DocumentRow, DocumentText, EarlierFetch, FetchRecord, StoredAs};
pub use enqueue::{AppendOutcome, EnqueueOutcome, FirstAnswer, NewJob, NewJobItem, Part, RefusedItem, RequestKey};
pub use error::StoreError;
pub use examination::{Finding, examine};
pub use idempotency::KEY_LIFE;
pub use index::{BuildOutcome, CollectionIndex, IndexChange, NewIndex};
pub use index_activation::{ActivationOutcome, DroppedIndex, IndexDrop};
pub use index_build::{BuildBatch, StoredDocument};
pub use job::{ItemPage, JobCounts, JobDetail, JobFilter, JobItemRow, JobRow};
pub use job_control::{CancelOutcome, RetryOutcome};
pub use lexical::{DocumentFrequencies, LexicalQuery};
pub use maintenance::IndexLengths;
pub use profile::ProfileId;
pub use queue::{ItemFailure, Lease, MAX_CLAIMS};
pub use replace::Replaceable;
pub use room::{QueueFull, QueueLimits};
pub use search::{DenseHit, DenseQuery, LexicalHit, Passage, Scope, VectorScan};
pub use selection::Selection;
pub use text::{TextRange, storable};
pub use usage::DailyReservation;
pub use vectors::{FilledItem, NewVector, ReadDocument, UnembeddedChunk, VectorBatch, VectorOutcome};
pub use webhook::{DueWebhook, WebhookOutcome, WebhookRow};
pub use work::{StageWork, Work};

/// Migrations that travel inside the binary.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!();

/// A count as Postgres keeps it.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
