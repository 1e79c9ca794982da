//! The only module with SQL: Postgres with pgvector.
//!
//! A [`Store`] holds three pools: one for everything, one for retrieval (a read replica, if there is one) and one for
//! the queue. They log in as the roles `cited_app` and, for the queue, `cited_worker`, which are subject to row level
//! security; a transaction of a request is opened for one tenant and sees no rows of others.

mod access;
mod asks;
pub(crate) mod cluster;
mod collections;
mod connect;
mod connect_options;
mod diagnostics;
mod documents;
mod erasures;
mod error;
mod flush;
mod group_writer;
mod jobs;
mod login;
mod measures;
mod replicas;
mod schema_version;
mod scram;
mod search;
mod security_events;
mod sessions;
mod transaction;
mod turns;

pub use collections::{CollectionSettings, GraphChanges, GraphSizes, NewCollection};
pub use connect::Store;
pub use documents::{BatchOutcome, CommitBatch, FollowUp, UnchangedItem};
pub use error::StoreError;
pub use jobs::{
    EnqueueOutcome, ItemFailure, ItemKey, ItemPage, Lease, MAX_CLAIMS, NewJob, NewJobItem, Phase, QueueLimits,
    RequestKey,
};
pub use sessions::PoolSettings;

pub(crate) use access::{Access, FoundKey, KeyRow, KeyUse, NewKey, Rotation, TenantRow};
pub(crate) use asks::{
    Asks, AuditCitation, AuditFilter, AuditGrade, AuditRow, CachedState, DailyReservation, NewCachedAnswer,
};
pub(crate) use collections::{
    ActivationOutcome, BuildBatch, BuildOutcome, Collection, CollectionIndex, CollectionSummary, Collections,
    DroppedIndex, GraphKind, IndexChange, IndexDrop, NewIndex, ProfileId, SearchedCollection, Seen, SeenChunks,
    StoredDocument,
};
pub(crate) use connect_options::connect_options;
pub(crate) use diagnostics::{Finding, Remedy, examine};
pub(crate) use documents::{
    AttachedTo, CitedChunks, CitedPassage, CitedState, ContextGaps, ContextWork, ContextsSoFar, DeleteReceipt,
    DirectBatch, DirectUpload, DocumentFilter, DocumentOrigin, DocumentRow, DocumentText, Documents, EarlierFetch,
    FetchRecord, FilledItem, Makers, NewChunk, NewDocument, NewVector, ReadDocument, Replaceable, SourcePrefix,
    StoredAs, StoredChunk, StoredVector, TextRange, UnembeddedChunk, VectorBatch, VectorOutcome, storable,
};
pub(crate) use jobs::{
    AppendOutcome, CancelOutcome, Claim, ClaimHandle, ClaimedItem, DueWebhook, FirstAnswer, JobCounts, JobDetail,
    JobFilter, JobItemRow, JobRow, Jobs, NewItems, OpenJob, QueueFull, RefusedItem, ReplyContent, ReportedJob,
    RetryOutcome, Sending, StageWork, WebhookOutcome, WebhookRow, Work,
};
pub(crate) use search::{
    Care, DenseHit, DenseQuery, DocumentFrequencies, FoundPassage, LexicalHit, LexicalQuery, Passage, Scope, Search,
    Selection, VectorScan, WantedPassage,
};

pub(crate) use erasures::{Erased, ErasureRow, Erasures, LeftAsks, Remainder, Traces};
pub(crate) use security_events::{EventFilter, SecurityEvents};

use transaction::Tx;

/// Migrations, embedded in the binary.
pub(crate) static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!();

/// Converts a count to the integer type of Postgres.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Store {
    /// API keys.
    #[must_use]
    pub(crate) const fn access(&self) -> Access<'_> {
        Access { store: self }
    }

    /// The queue: jobs, their items, claims, webhooks, idempotency keys.
    #[must_use]
    pub const fn jobs(&self) -> Jobs<'_> {
        Jobs { store: self }
    }

    /// Documents, their versions, chunks, vectors and citations.
    #[must_use]
    pub const fn documents(&self) -> Documents<'_> {
        Documents { store: self }
    }

    /// Collections, their indexes and the statistics of those.
    #[must_use]
    pub const fn collections(&self) -> Collections<'_> {
        Collections { store: self }
    }

    /// Retrieval: dense, lexical and filtered search, and the passages of the hits.
    #[must_use]
    pub(crate) const fn search(&self) -> Search<'_> {
        Search { store: self }
    }

    /// Traces of what was deleted, and the receipts of their erasure.
    #[must_use]
    pub(crate) const fn erasures(&self) -> Erasures<'_> {
        Erasures { store: self }
    }

    /// The record of changes and refusals.
    #[must_use]
    pub(crate) const fn security_events(&self) -> SecurityEvents<'_> {
        SecurityEvents { store: self }
    }

    /// Audit rows, cached answers and the cost of a day.
    #[must_use]
    pub(crate) const fn asks(&self) -> Asks<'_> {
        Asks { store: self }
    }
}
