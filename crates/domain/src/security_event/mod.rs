//! The record of changes and refusals, and the [chain](chain) of seals that proves it whole.

mod chain;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

pub use chain::{ChainCheck, ChainFault, ChainState, NotedSeal, Seal, StoredEvents};

/// A change that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Documents were handed in.
    CreateDocuments,
    /// A stream of documents was opened.
    StreamDocuments,
    /// A document got another content.
    ReplaceDocument,
    /// A document was deleted.
    DeleteDocument,
    /// The documents of a collection whose sources start alike were deleted.
    DeleteDocuments,
    /// Somebody else may see a document.
    ChangeDocumentAcl,
    /// Documents were erased, with their traces.
    CreateErasure,
    /// A job was cancelled.
    CancelJob,
    /// Failed documents of a job went back to the queue.
    RetryJob,
    /// A collection was made.
    CreateCollection,
    /// A setting of a collection was changed.
    UpdateCollection,
    /// A collection was deleted.
    DeleteCollection,
    /// New documents of a collection are for somebody else.
    ChangeCollectionAcl,
    /// The documents of a collection were handed out.
    ExportCollection,
    /// An index was queued to be built.
    BuildIndex,
    /// Another index is searched.
    ActivateIndex,
    /// An index was dropped.
    DropIndex,
    /// A key was made.
    CreateKey,
    /// A key got another secret.
    RotateKey,
    /// A key was taken back.
    RevokeKey,
    /// The secret of a receiver of webhooks was shown.
    ShowWebhookSecret,
    /// A tenant was made.
    CreateTenant,
    /// The quotas of a tenant were changed.
    UpdateTenant,
    /// A tenant was deleted.
    DeleteTenant,
    /// Old events were deleted.
    ForgetEvents,
}

impl Change {
    /// The name in the API and in the database: that of the operation, for those who look for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreateDocuments => "create_documents",
            Self::StreamDocuments => "stream_documents",
            Self::ReplaceDocument => "replace_document",
            Self::DeleteDocument => "delete_document",
            Self::DeleteDocuments => "delete_documents",
            Self::ChangeDocumentAcl => "update_document_acl",
            Self::CreateErasure => "create_erasure",
            Self::CancelJob => "cancel_job",
            Self::RetryJob => "retry_job",
            Self::CreateCollection => "create_collection",
            Self::UpdateCollection => "update_collection",
            Self::DeleteCollection => "delete_collection",
            Self::ChangeCollectionAcl => "update_collection_acl",
            Self::ExportCollection => "export_collection",
            Self::BuildIndex => "build_index",
            Self::ActivateIndex => "activate_index",
            Self::DropIndex => "drop_index",
            Self::CreateKey => "create_key",
            Self::RotateKey => "rotate_key",
            Self::RevokeKey => "revoke_key",
            Self::ShowWebhookSecret => "get_webhook_secret",
            Self::CreateTenant => "create_tenant",
            Self::UpdateTenant => "update_tenant",
            Self::DeleteTenant => "delete_tenant",
            Self::ForgetEvents => "forget_security_events",
        }
    }
}

/// A change that was made, or a request that was refused. The fields have the names of the table's columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityEvent {
    /// Owner; [`TenantId::DEPLOYMENT`](crate::identity::TenantId::DEPLOYMENT) where there is none.
    pub tenant_id: Uuid,
    /// Identity; sorts by time.
    pub event_id: Uuid,
    /// Time of the event.
    #[serde(with = "time::serde::rfc3339")]
    pub occurred_at: OffsetDateTime,
    /// Operation of the API, or [`Change::ForgetEvents`].
    pub action: String,
    /// Code of the problem that the request was refused with; `None` for a change.
    pub refusal: Option<String>,
    /// Name of the key, as in the audit of asks.
    pub key_id: Option<String>,
    /// Address of the client.
    pub address: Option<String>,
    /// Identity of the request; of refusals that are recorded together, of the first.
    pub request_id: Option<String>,
    /// Things that a change affected, as `kind:name`.
    pub things: Vec<String>,
    /// Number of things changed, or of refusals recorded together.
    pub number: i64,
}

impl SecurityEvent {
    /// The event of another change that the same request made.
    #[must_use]
    pub fn beside(&self, event_id: Uuid, change: Change, things: Vec<String>) -> Self {
        Self { event_id, action: change.as_str().to_owned(), things, number: 1, ..self.clone() }
    }
}
