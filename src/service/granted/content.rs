//! Collections, their indexes and their documents, for one caller.

use uuid::Uuid;

use super::Granted;
use crate::domain::{
    access::{Acl, AclChange},
    security_event::Change,
};
use crate::service::{
    ServiceError,
    collections::{CollectionSettings, CollectionSummary, DeleteReceipt},
    documents::{DocumentList, DocumentRow, DocumentText, SourcePrefix, StoredChunk},
    erasures::{Erasable, ErasureRow, WantedErasure},
    indexes::{CollectionIndex, DroppedIndex, WantedIndex},
    security_record::{
        Changed,
        things::{collection, document, erasure, index as index_named, job},
    },
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
        web_search: bool,
    ) -> Result<CollectionSummary, ServiceError> {
        self.fill(name)?;
        let event = self.event(Changed::one(Change::CreateCollection, [collection(name)]));
        self.parts.collections.create(self.tenant(), name, settings, web_search, &event).await
    }

    /// One collection.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn collection(&self, name: &str) -> Result<CollectionSummary, ServiceError> {
        self.see(name)?;
        let found = self.parts.collections.get(self.tenant(), name).await?;
        self.seen(vec![found]).await?.pop().ok_or_else(|| ServiceError::no_collection(name))
    }

    /// Records that the documents of a collection are handed out; they are listed and read one by one.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn begin_export(&self, name: &str) -> Result<(), ServiceError> {
        self.collection(name).await?;
        let handed_out = Changed::one(Change::ExportCollection, [collection(name)]);
        self.parts.security_record.write(&self.caller, handed_out).await
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
        let found = self.parts.collections.list(self.tenant(), self.among(None).as_deref(), after, limit).await?;
        self.seen(found).await
    }

    /// Allows or forbids that questions to a collection are sent to a search engine.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn set_web_search(&self, name: &str, allowed: bool) -> Result<(), ServiceError> {
        self.see(name)?;
        let event = self.event(Changed::one(Change::UpdateCollection, [collection(name)]));
        self.parts.collections.set_web_search(self.tenant(), name, allowed, &event).await
    }

    /// The collections, counted as far as the caller may see them.
    async fn seen(&self, found: Vec<CollectionSummary>) -> Result<Vec<CollectionSummary>, ServiceError> {
        match self.numbers().await? {
            None => Ok(found),
            Some(caller) => self.parts.collections.seen_by(self.tenant(), &caller, found).await,
        }
    }

    /// The access control list that new documents of a collection get.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn collection_acl(&self, name: &str) -> Result<Acl, ServiceError> {
        self.see(name)?;
        self.parts.collections.acl(self.tenant(), name).await
    }

    /// Changes the access control list that new documents of a collection get.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn change_collection_acl(&self, name: &str, change: AclChange) -> Result<Acl, ServiceError> {
        self.see(name)?;
        let event = self.event(Changed::one(Change::ChangeCollectionAcl, [collection(name)]));
        self.parts.collections.change_acl(self.tenant(), name, change, &event).await
    }

    /// Deletes a collection and everything in it.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn delete_collection(&self, name: &str) -> Result<DeleteReceipt, ServiceError> {
        self.see(name)?;
        let event = self.event(Changed::one(Change::DeleteCollection, [collection(name)]));
        self.parts.collections.delete(self.tenant(), name, event).await
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
        let event =
            |index, by| self.event(Changed::one(Change::BuildIndex, [collection(name), index_named(index), job(by)]));
        self.parts.indexes.build(self.tenant(), name, wanted, event).await
    }

    /// The indexes of a collection, the active one first.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn indexes(&self, name: &str) -> Result<Vec<CollectionIndex>, ServiceError> {
        self.see(name)?;
        match self.numbers().await? {
            None => self.parts.indexes.list(self.tenant(), name).await,
            Some(caller) => self.parts.indexes.list_seen_by(self.tenant(), name, &caller).await,
        }
    }

    /// Makes a complete index the active one of a collection.
    ///
    /// # Errors
    /// As [`IndexService::activate`](crate::service::indexes::IndexService::activate).
    pub(crate) async fn activate_index(&self, name: &str, index: Uuid) -> Result<(), ServiceError> {
        self.see(name)?;
        let event = self.event(Changed::one(Change::ActivateIndex, [collection(name), index_named(index)]));
        self.parts.indexes.activate(self.tenant(), name, index, event).await
    }

    /// Drops an index that is not the active one.
    ///
    /// # Errors
    /// As [`IndexService::drop_index`](crate::service::indexes::IndexService::drop_index).
    pub(crate) async fn drop_index(&self, name: &str, index: Uuid) -> Result<DroppedIndex, ServiceError> {
        self.see(name)?;
        let event = self.event(Changed::one(Change::DropIndex, [collection(name), index_named(index)]));
        self.parts.indexes.drop_index(self.tenant(), name, index, event).await
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
        list.caller = self.numbers().await?;
        self.parts.documents.list(self.tenant(), list).await
    }

    /// One document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn document(&self, id: Uuid) -> Result<DocumentRow, ServiceError> {
        // By the conditions of one statement: whatever is done with what was found would tell by its time that there is
        // something hidden.
        self.parts.documents.get_among(self.tenant(), id, self.among(None), self.numbers().await?).await
    }

    /// The people who may see a document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn document_acl(&self, id: Uuid) -> Result<Acl, ServiceError> {
        self.see_document(id).await?;
        self.parts.documents.acl(self.tenant(), id).await
    }

    /// Changes who may see a document.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn change_document_acl(&self, id: Uuid, change: AclChange) -> Result<Acl, ServiceError> {
        self.see_document(id).await?;
        let event = self.event(Changed::one(Change::ChangeDocumentAcl, [document(id)]));
        self.parts.documents.change_acl(self.tenant(), id, change, &event).await
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
        let event = self.event(Changed::one(Change::DeleteDocument, [document(id)]));
        self.parts.documents.delete(self.tenant(), id, event).await
    }

    /// Deletes all documents of a collection whose source starts with the prefix, as far as the caller may see them.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] when the collection does not exist.
    pub(crate) async fn delete_documents(&self, name: &str, prefix: &str) -> Result<DeleteReceipt, ServiceError> {
        self.see(name)?;
        let prefix = SourcePrefix { prefix: prefix.to_owned(), caller: self.numbers().await? };
        let event = self.event(Changed::one(Change::DeleteDocuments, [collection(name)]));
        self.parts.documents.delete_by_prefix(self.tenant(), name, prefix, event).await
    }

    /// Erases a document, a source or a collection with its traces.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn erase(&self, of: Erasable, with_asks: bool) -> Result<ErasureRow, ServiceError> {
        let wanted = WantedErasure { of, with_asks, key_id: self.caller.key_id.clone() };
        let event = |id| self.event(Changed::one(Change::CreateErasure, [erasure(id)]));
        self.parts.erasures.erase(self.tenant(), wanted, event).await
    }

    /// Receipts of erasures, newest first.
    ///
    /// # Errors
    /// Store errors.
    pub(crate) async fn erasures(&self, before: Option<Uuid>, limit: i64) -> Result<Vec<ErasureRow>, ServiceError> {
        self.parts.erasures.list(self.tenant(), before, limit).await
    }

    /// The receipt of an erasure.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`].
    pub(crate) async fn erasure(&self, id: Uuid) -> Result<ErasureRow, ServiceError> {
        self.parts.erasures.get(self.tenant(), id).await
    }

    /// Answers as for a document that does not exist, if the caller may not see it or its collection.
    pub(super) async fn see_document(&self, id: Uuid) -> Result<(), ServiceError> {
        let grant = &self.caller.grant;
        if grant.collections().is_some() || grant.principals().is_some() {
            self.document(id).await?;
        }
        Ok(())
    }
}
