//! Documents, their versions, chunks, vectors and citations.

pub(in crate::store) mod acl;
pub(in crate::store) mod attached;
pub(in crate::store) mod chunk;
pub(in crate::store) mod chunk_context;
pub(in crate::store) mod citation;
pub(in crate::store) mod commit;
pub(in crate::store) mod delete;
pub(in crate::store) mod direct;
pub(in crate::store) mod document;
pub(in crate::store) mod document_columns;
pub(in crate::store) mod makers;
pub(in crate::store) mod metadata_index;
pub(in crate::store) mod removal;
pub(in crate::store) mod replace;
pub(in crate::store) mod storage;
pub(in crate::store) mod text;
pub(in crate::store) mod upload_order;
pub(in crate::store) mod vectors;
pub(in crate::store) mod write;

pub use commit::{BatchOutcome, CommitBatch, FollowUp, UnchangedItem};

pub(crate) use attached::AttachedTo;
pub(crate) use chunk::{NewChunk, StoredChunk, StoredVector};
pub(crate) use chunk_context::{ContextGaps, ContextWork, ContextsSoFar, DocumentOrigin};
pub(crate) use citation::{CitedChunks, CitedPassage, CitedState};
pub(crate) use commit::NewDocument;
pub(crate) use delete::{DeleteReceipt, SourcePrefix};
pub(crate) use direct::{DirectBatch, DirectUpload};
pub(crate) use document::{DocumentFilter, DocumentRow, DocumentText, EarlierFetch, FetchRecord, StoredAs};
pub(crate) use makers::Makers;
pub(crate) use replace::Replaceable;
pub(crate) use text::{TextRange, storable};
pub(crate) use vectors::{FilledItem, NewVector, ReadDocument, UnembeddedChunk, VectorBatch, VectorOutcome};

use crate::store::Store;

/// Documents, their versions, chunks, vectors and citations.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'s> {
    pub(in crate::store) store: &'s Store,
}
