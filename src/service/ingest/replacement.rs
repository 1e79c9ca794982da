//! Replaces the text of a stored document; its other properties are kept unless the request supplies new ones.

use serde_json::Value;
use uuid::Uuid;

use super::{
    Content, IncomingDocument, IngestService, foreign_profile, queue_item, refusal,
    work::{Fetch, Upload, Work},
};
use crate::{
    domain::{identity::Caller, job::Indexing, security_event::Change},
    service::{
        ServiceError,
        principals::principal_numbers,
        security_record::{Changed, things},
    },
    store::{EnqueueOutcome, NewJob, Replaceable},
};

/// The text and properties that a request sets on a stored document.
#[derive(Clone, Debug)]
pub(crate) struct Replacement {
    /// The new text.
    pub(crate) text: String,
    /// The new title; `None` keeps the title that was given before, if any.
    pub(crate) title: Option<String>,
    /// Media type of the text; `None` keeps the current one.
    pub(crate) media_type: Option<String>,
    /// The caller's own object; `None` keeps the current one.
    pub(crate) metadata: Option<Value>,
    /// When the document becomes searchable; `None` uses the setting of its collection.
    pub(crate) indexing: Option<Indexing>,
    /// URL that is notified when the job ends.
    pub(crate) webhook: Option<String>,
}

impl IngestService {
    /// Accepts a replacement of a document. It is merged with the document as stored, or as it will be once the uploads
    /// that were accepted earlier are stored.
    ///
    /// # Errors
    /// As [`IngestService::accept`], and [`ServiceError::NotFound`].
    pub(crate) async fn replace(
        &self,
        caller: &Caller,
        document: Uuid,
        replacement: Replacement,
    ) -> Result<Uuid, ServiceError> {
        let tenant = caller.grant.tenant();
        let missing = || ServiceError::NotFound { what: "document", name: document.to_string() };
        let webhook = replacement.webhook.as_deref().map(|url| self.check_webhook(url)).transpose()?;
        // A document never changes its collection.
        let name = self.store.documents().document(tenant, document).await?.ok_or_else(missing)?.collection;
        let collection = self.store.collections().collection(tenant, &name).await?.ok_or_else(missing)?;
        if self.embedders.of(collection.profile_id).is_none() {
            return Err(foreign_profile(&collection));
        }
        let id = self.context.ids.next();
        let changed = Changed::one(Change::ReplaceDocument, [things::document(document), things::job(id)]);
        let event = self.record.event(caller, changed);
        let principals = principal_numbers(&self.store, &caller.grant).await?;
        let maker = (caller, principals.as_deref());
        let new_job = self.new_job((id, &event), &collection, replacement.indexing, maker);
        let job = NewJob { webhook: webhook.as_deref(), ..new_job };
        let make = |current| queue_item(replacement.merge(current));
        self.quotas.count_documents(caller, 1).await?;
        match self.store.documents().enqueue_replacement(tenant, &job, document, make).await? {
            None => {
                self.quotas.return_documents(caller, 1).await?;
                Err(missing())
            }
            Some(EnqueueOutcome::Queued) => {
                self.signal.queued();
                Ok(job.id)
            }
            Some(other) => {
                self.quotas.return_documents(caller, 1).await?;
                Err(refusal(&other))
            }
        }
    }
}

impl Replacement {
    /// The resulting document, as if it had been submitted as a whole.
    fn merge(self, current: Replaceable) -> IncomingDocument {
        let current = with_waiting(current);
        IncomingDocument {
            source: current.source,
            uri: Some(current.uri),
            title: self.title.or(current.given_title),
            metadata: self.metadata.unwrap_or(current.metadata),
            loader: "json",
            acl: None,
            content: Content::Given {
                media_type: self.media_type.unwrap_or(current.media_type),
                bytes: self.text.into_bytes(),
            },
        }
    }
}

/// The document as its newest upload describes it.
fn with_waiting(mut current: Replaceable) -> Replaceable {
    match current.waiting.take().map(Work::read) {
        Some(Ok(Work::Upload(Upload { uri, title, media_type, metadata, .. }))) => {
            Replaceable { uri, given_title: title, media_type, metadata, ..current }
        }
        Some(Ok(Work::Fetch(Fetch { url, title, media_type, metadata, .. }))) => Replaceable {
            uri: url,
            given_title: title,
            media_type: media_type.unwrap_or_else(|| current.media_type.clone()),
            metadata,
            ..current
        },
        _ => current,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(waiting: Option<Value>, replacement: Replacement) -> IncomingDocument {
        replacement.merge(Replaceable {
            source: "a.md".to_owned(),
            uri: "disk/a.md".to_owned(),
            given_title: Some("Stored".to_owned()),
            media_type: "text/markdown".to_owned(),
            metadata: json!({"from": "stored"}),
            waiting,
        })
    }

    fn text_only() -> Replacement {
        let text = "New.".to_owned();
        Replacement { text, title: None, media_type: None, metadata: None, indexing: None, webhook: None }
    }

    #[test]
    fn what_is_not_given_stays() {
        let document = merged(None, text_only());
        assert_eq!(document.uri.as_deref(), Some("disk/a.md"));
        assert_eq!((document.title.as_deref(), document.metadata), (Some("Stored"), json!({"from": "stored"})));
        let given = Replacement { title: Some("Given".to_owned()), metadata: Some(json!({})), ..text_only() };
        let document = merged(None, given);
        assert_eq!((document.title.as_deref(), document.metadata), (Some("Given"), json!({})));
    }

    #[test]
    fn what_waits_counts_before_what_is_stored() {
        let waiting = json!({"v": "1", "work": "fetch", "url": "https://example.org/a", "title": null, "media_type": null,
                             "metadata": {"from": "waiting"}, "loader": "url"});
        let document = merged(Some(waiting), text_only());
        assert_eq!((document.title, document.metadata), (None, json!({"from": "waiting"})));
        let Content::Given { media_type, .. } = document.content else { unreachable!("a text was given") };
        assert_eq!(media_type, "text/markdown");
        // The second phase of an upload that is already stored does not describe its document.
        assert_eq!(merged(Some(json!({"v": "1", "work": "embed"})), text_only()).metadata, json!({"from": "stored"}));
    }
}
