//! The use cases as a caller may see them: the one place where the tenant, the collections and the principals of
//! a [`Grant`] are applied. Only searches hold documents against principals further in, as a part of their filter.
//!
//! A collection that is hidden from a caller is not there for it: the answer to its name or id is the one to a name or id that
//! does not exist. Only what would make a collection is refused by name, whether it exists or not.
//!
//! [`Grant`]: crate::domain::access::Grant

mod administration;
mod content;
mod questions;
mod uploads;

pub(crate) use administration::RecordOf;

use std::sync::Arc;

use super::{
    ServiceError,
    access::AccessService,
    ask::AskService,
    audit::AuditService,
    check::CheckService,
    citations::CitationService,
    collections::CollectionService,
    documents::DocumentService,
    erasures::ErasureService,
    indexes::IndexService,
    ingest::IngestService,
    search::SearchService,
    security_record::{Changed, Refused, SecurityRecord},
};
use crate::domain::{
    identity::{Caller, TenantId},
    security_event::SecurityEvent,
};

/// The use cases that read or change what belongs to a tenant.
pub(crate) struct UseCaseParts {
    /// Keys and tenants.
    pub(crate) access: AccessService,
    /// Records changes and refusals.
    pub(crate) security_record: SecurityRecord,
    /// Answers questions.
    pub(crate) ask: AskService,
    /// Checks texts against sources.
    pub(crate) check: CheckService,
    /// Lists past asks and their outcomes.
    pub(crate) audit: AuditService,
    /// Looks up citations.
    pub(crate) citations: CitationService,
    /// Retrieval without generation.
    pub(crate) search: SearchService,
    /// Ingests documents.
    pub(crate) ingest: IngestService,
    /// Erases documents with their traces.
    pub(crate) erasures: ErasureService,
    /// Reads and deletes stored documents.
    pub(crate) documents: DocumentService,
    /// Manages collections.
    pub(crate) collections: CollectionService,
    /// Manages the indexes of collections.
    pub(crate) indexes: IndexService,
}

/// The use cases, out of reach until a caller is named.
#[derive(Clone)]
pub(crate) struct UseCases(Arc<UseCaseParts>);

impl UseCases {
    /// Closes the use cases up.
    #[must_use]
    pub(crate) fn new(parts: UseCaseParts) -> Self {
        Self(Arc::new(parts))
    }

    /// The use cases for this caller.
    #[must_use]
    pub(crate) fn granted(&self, caller: Caller) -> Granted {
        Granted { parts: Arc::clone(&self.0), caller }
    }
}

/// The use cases for one caller.
#[derive(Clone)]
pub(crate) struct Granted {
    parts: Arc<UseCaseParts>,
    caller: Caller,
}

impl Granted {
    /// The caller.
    #[must_use]
    pub(crate) const fn caller(&self) -> &Caller {
        &self.caller
    }

    fn tenant(&self) -> TenantId {
        self.caller.grant.tenant()
    }

    /// The event of a change in the caller's tenant, to be written in the transaction that makes it.
    fn event(&self, changed: Changed) -> SecurityEvent {
        self.parts.security_record.event(&self.caller, changed)
    }

    /// Notes that the caller was refused an operation within its request.
    pub(crate) fn note_refusal(&self, action: &str, code: &str) {
        let Caller { key_id, address, request_id, .. } = self.caller.clone();
        let (action, code) = (action.to_owned(), code.to_owned());
        let refused = Refused { tenant: self.tenant(), action, code, key_id, address, request_id };
        self.parts.security_record.refusal(refused);
    }

    /// Answers as for a collection that does not exist, if the caller may not see it.
    fn see(&self, collection: &str) -> Result<(), ServiceError> {
        if self.caller.grant.reaches(collection) { Ok(()) } else { Err(ServiceError::no_collection(collection)) }
    }

    /// The caller's principals by their numbers; `None` for one who sees every document that it reaches.
    async fn numbers(&self) -> Result<Option<Vec<i32>>, ServiceError> {
        self.parts.documents.numbers_of(&self.caller.grant).await
    }

    /// Refuses a name under which the caller may make nothing.
    fn fill(&self, collection: &str) -> Result<(), ServiceError> {
        match self.caller.grant.collections() {
            Some(names) if !names.contains(collection) => Err(ServiceError::NotGranted {
                collection: collection.to_owned(),
                granted: names.iter().cloned().collect(),
            }),
            _ => Ok(()),
        }
    }

    /// Names of the collections that a list is restricted to: to this one, if the request names one, and to those of
    /// the caller.
    fn among(&self, requested: Option<String>) -> Option<Vec<String>> {
        match requested {
            Some(name) => Some(if self.caller.grant.reaches(&name) { vec![name] } else { Vec::new() }),
            None => self.caller.grant.collections().map(|names| names.iter().cloned().collect()),
        }
    }
}
