//! The use case of stored documents.

use uuid::Uuid;

use super::{ServiceError, context::Context, principals::principal_numbers, run_detached};
pub(crate) use crate::store::{DocumentRow, DocumentText, SourcePrefix, StoredChunk};
use crate::{
    domain::{
        access::{Acl, AclChange, Grant},
        identity::TenantId,
        security_event::SecurityEvent,
    },
    store::{DeleteReceipt, DocumentFilter, Store},
};

/// Which documents to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentList {
    /// Only of this collection.
    pub(crate) collection: Option<String>,
    /// Only of collections with these names.
    pub(crate) among: Option<Vec<String>>,
    /// Only documents whose source starts with this prefix.
    pub(crate) source_prefix: Option<String>,
    /// Only documents that a caller with these numbers may see.
    pub(crate) caller: Option<Vec<i32>>,
    /// Only documents that follow this one in the list.
    pub(crate) after: Option<Uuid>,
    /// At most this many.
    pub(crate) limit: i64,
}

/// Lists, returns, reads and deletes documents.
#[derive(Clone)]
pub(crate) struct DocumentService {
    store: Store,
    context: Context,
}

/// Error: there is no such document.
pub(super) fn no_document(id: Uuid) -> ServiceError {
    ServiceError::NotFound { what: "document", name: id.to_string() }
}

impl DocumentService {
    /// Documents of this store.
    #[must_use]
    pub(crate) const fn new(store: Store, context: Context) -> Self {
        Self { store, context }
    }

    /// Documents, newest first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when the collection does not exist.
    pub(crate) async fn list(&self, tenant: TenantId, list: DocumentList) -> Result<Vec<DocumentRow>, ServiceError> {
        let collection = match &list.collection {
            None => None,
            Some(name) => Some(self.collection(tenant, name).await?),
        };
        let filter = DocumentFilter {
            id: None,
            collection,
            among: list.among,
            before: list.after,
            source_prefix: list.source_prefix,
            caller: list.caller,
        };
        Ok(self.store.documents().documents(tenant, &filter, list.limit).await?)
    }

    /// One document of these collections, as a caller with these numbers sees it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn get_among(
        &self,
        tenant: TenantId,
        id: Uuid,
        among: Option<Vec<String>>,
        caller: Option<Vec<i32>>,
    ) -> Result<DocumentRow, ServiceError> {
        let filter = DocumentFilter { id: Some(id), among, caller, ..DocumentFilter::default() };
        self.store.documents().documents(tenant, &filter, 1).await?.pop().ok_or_else(|| no_document(id))
    }

    /// The extracted text of a document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn text(&self, tenant: TenantId, id: Uuid) -> Result<DocumentText, ServiceError> {
        self.store.documents().document_text(tenant, id).await?.ok_or_else(|| no_document(id))
    }

    /// Chunks of a document in order, from position `from` on.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn chunks(
        &self,
        tenant: TenantId,
        id: Uuid,
        from: u32,
        limit: i64,
    ) -> Result<Vec<StoredChunk>, ServiceError> {
        self.store.documents().document(tenant, id).await?.ok_or_else(|| no_document(id))?;
        Ok(self.store.documents().chunks(tenant, id, i32::try_from(from).unwrap_or(i32::MAX), limit).await?)
    }

    /// Deletes a document with its chunks, vectors and statistics, and the queued uploads with the same source.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn delete(
        &self,
        tenant: TenantId,
        id: Uuid,
        event: SecurityEvent,
    ) -> Result<DeleteReceipt, ServiceError> {
        let (store, now) = (self.store.clone(), self.context.clock.now());
        run_detached(async move { store.documents().delete_document(tenant, id, event, now).await })
            .await?
            .ok_or_else(|| no_document(id))
    }

    /// Deletes all documents of a collection whose source starts with the prefix, and the queued uploads with such a
    /// source.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when the collection does not exist.
    pub(crate) async fn delete_by_prefix(
        &self,
        tenant: TenantId,
        collection: &str,
        prefix: SourcePrefix,
        event: SecurityEvent,
    ) -> Result<DeleteReceipt, ServiceError> {
        let collection = self.collection(tenant, collection).await?;
        let (store, now) = (self.store.clone(), self.context.clock.now());
        let deletion = async move { store.documents().delete_by_prefix(tenant, collection, &prefix, event, now).await };
        Ok(run_detached(deletion).await?)
    }

    /// The people who may see a document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn acl(&self, tenant: TenantId, id: Uuid) -> Result<Acl, ServiceError> {
        self.store.documents().acl(tenant, id).await?.ok_or_else(|| no_document(id))
    }

    /// Changes who may see a document and what was found in it. The next request of each caller is judged by it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn change_acl(
        &self,
        tenant: TenantId,
        id: Uuid,
        change: AclChange,
        event: &SecurityEvent,
    ) -> Result<Acl, ServiceError> {
        self.store.documents().change_acl(tenant, id, change, event).await?.ok_or_else(|| no_document(id))
    }

    /// The numbers of the principals that a caller is; `None` for one who sees all.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn numbers_of(&self, grant: &Grant) -> Result<Option<Vec<i32>>, ServiceError> {
        principal_numbers(&self.store, grant).await
    }

    async fn collection(&self, tenant: TenantId, name: &str) -> Result<Uuid, ServiceError> {
        let found = self.store.collections().collection(tenant, name).await?;
        Ok(found.ok_or_else(|| ServiceError::no_collection(name))?.id)
    }
}
