//! Collections, their indexes and their documents, for one caller.

use uuid::Uuid;

use super::Granted;
use crate::service::{
    ServiceError,
    collections::{CollectionSettings, CollectionSummary, DeleteReceipt},
    documents::{DocumentList, DocumentRow, DocumentText, StoredChunk, no_document},
    indexes::{CollectionIndex, DroppedIndex, WantedIndex},
};

impl Granted {
    /// The settings of a collection that specifies none.
    #[must_use]
    pub(crate) fn collection_defaults(&self) -> CollectionSettings {
        self.parts.collections.defaults()
    }

    /// Creates a collection.
    ///
    /// # Errors
    /// [`ServiceError::NotGranted`]; else as
    /// [`CollectionService::create`](crate::service::collections::CollectionService::create).
    pub(crate) async fn create_collection(
        &self,
        name: &str,
        settings: CollectionSettings,
    ) -> Result<CollectionSummary, ServiceError> {
        self.fill(name)?;
        self.parts.collections.create(self.tenant(), name, settings).await
    }

    /// One collection.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn collection(&self, name: &str) -> Result<CollectionSummary, ServiceError> {
        self.see(name)?;
        self.parts.collections.get(self.tenant(), name).await
    }

    /// Collections whose name sorts after `after`.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn collections(
        &self,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<CollectionSummary>, ServiceError> {
        self.parts.collections.list(self.tenant(), self.among(None).as_deref(), after, limit).await
    }

    /// Deletes a collection and everything in it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn delete_collection(&self, name: &str) -> Result<DeleteReceipt, ServiceError> {
        self.see(name)?;
        self.parts.collections.delete(self.tenant(), name).await
    }

    /// Queues a job that builds the next index of a collection; returns the index and the job.
    ///
    /// # Errors
    /// As [`IndexService::build`](crate::service::indexes::IndexService::build).
    pub(crate) async fn build_index(
        &self,
        name: &str,
        wanted: WantedIndex,
    ) -> Result<(CollectionIndex, Uuid), ServiceError> {
        self.see(name)?;
        self.parts.indexes.build(self.tenant(), name, wanted).await
    }

    /// The indexes of a collection, the active one first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn indexes(&self, name: &str) -> Result<Vec<CollectionIndex>, ServiceError> {
        self.see(name)?;
        self.parts.indexes.list(self.tenant(), name).await
    }

    /// Makes a complete index the active one of a collection.
    ///
    /// # Errors
    /// As [`IndexService::activate`](crate::service::indexes::IndexService::activate).
    pub(crate) async fn activate_index(&self, name: &str, index: Uuid) -> Result<(), ServiceError> {
        self.see(name)?;
        self.parts.indexes.activate(self.tenant(), name, index).await
    }

    /// Drops an index that is not the active one.
    ///
    /// # Errors
    /// As [`IndexService::drop_index`](crate::service::indexes::IndexService::drop_index).
    pub(crate) async fn drop_index(&self, name: &str, index: Uuid) -> Result<DroppedIndex, ServiceError> {
        self.see(name)?;
        self.parts.indexes.drop_index(self.tenant(), name, index).await
    }

    /// Documents, newest first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when the collection does not exist.
    pub(crate) async fn documents(&self, mut list: DocumentList) -> Result<Vec<DocumentRow>, ServiceError> {
        match &list.collection {
            Some(name) => self.see(name)?,
            None => list.among = self.among(None),
        }
        self.parts.documents.list(self.tenant(), list).await
    }

    /// One document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn document(&self, id: Uuid) -> Result<DocumentRow, ServiceError> {
        let row = self.parts.documents.get(self.tenant(), id).await?;
        if self.caller.grant.reaches(&row.collection) { Ok(row) } else { Err(no_document(id)) }
    }

    /// The extracted text of a document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn document_text(&self, id: Uuid) -> Result<DocumentText, ServiceError> {
        self.see_document(id).await?;
        self.parts.documents.text(self.tenant(), id).await
    }

    /// Chunks of a document in order, from position `from` on.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn chunks(&self, id: Uuid, from: u32, limit: i64) -> Result<Vec<StoredChunk>, ServiceError> {
        self.see_document(id).await?;
        self.parts.documents.chunks(self.tenant(), id, from, limit).await
    }

    /// Deletes a document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn delete_document(&self, id: Uuid) -> Result<DeleteReceipt, ServiceError> {
        self.see_document(id).await?;
        self.parts.documents.delete(self.tenant(), id).await
    }

    /// Deletes all documents of a collection whose source starts with the prefix.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when the collection does not exist.
    pub(crate) async fn delete_documents(&self, collection: &str, prefix: &str) -> Result<DeleteReceipt, ServiceError> {
        self.see(collection)?;
        self.parts.documents.delete_by_prefix(self.tenant(), collection, prefix).await
    }

    /// Answers as for a document that does not exist, if the caller may not see its collection. A document never changes
    /// its collection.
    pub(super) async fn see_document(&self, id: Uuid) -> Result<(), ServiceError> {
        if self.caller.grant.collections().is_some() {
            self.document(id).await?;
        }
        Ok(())
    }
}
