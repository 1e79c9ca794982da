//! Documents that were found in messages: they are queued in the transaction that stores their message, stored only
//! while it is stored, and deleted with it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::domain::fingerprint::Hash;
use crate::store::{
    CommitBatch, ItemKey, NewJobItem, StoreError, Tx,
    documents::acl::NumberedAcl,
    documents::removal::Removal,
    documents::write::Stored,
    jobs::items::{self, int, numbered},
};

/// Ordinal of the first attachment of a job: the sender of a job may still number its own documents.
const FIRST_ORDINAL: i32 = 1_000_000_000;

/// The message that a document was found in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct AttachedTo {
    /// Its source.
    pub(crate) source: String,
    /// SHA-256 of its bytes: of a message with other bytes the document may be no part.
    pub(crate) content_hash: Hash,
}

/// The messages that documents of a batch were found in, as they are until the end of the transaction.
#[derive(Default)]
pub(in crate::store) struct Messages {
    /// Sources of those documents whose message was replaced or deleted since it was read.
    pub(in crate::store) outdated: HashSet<String>,
    /// Access control lists of the messages, by their source.
    pub(in crate::store) lists: HashMap<String, NumberedAcl>,
}

/// Reads and locks the messages of the documents of a batch.
pub(in crate::store) async fn messages(transaction: &mut Tx, batch: &CommitBatch<'_>) -> Result<Messages, StoreError> {
    let attached = || batch.documents.iter().filter_map(|document| Some((document, document.attached_to.as_ref()?)));
    let messages: HashSet<&str> = attached().map(|(_, message)| message.source.as_str()).collect();
    if messages.is_empty() {
        return Ok(Messages::default());
    }
    let messages: Vec<&str> = messages.into_iter().collect();
    let rows = sqlx::query!(
        "SELECT source, content_hash, allowed, denied FROM document
         WHERE tenant_id = $1 AND collection_id = $2 AND source = ANY ($3) ORDER BY source FOR SHARE",
        batch.tenant.0,
        batch.collection.id,
        &messages as &[&str],
    )
    .fetch_all(&mut **transaction)
    .await?;
    let (mut current, mut lists) = (HashMap::new(), HashMap::new());
    for row in rows {
        lists.insert(row.source.clone(), NumberedAcl { allowed: row.allowed, denied: row.denied });
        current.insert(row.source, row.content_hash);
    }
    let is_outdated = |message: &AttachedTo| {
        current.get(&message.source).is_none_or(|content_hash| content_hash[..] != message.content_hash[..])
    };
    let outdated = attached().filter(|(_, message)| is_outdated(message));
    Ok(Messages { outdated: outdated.map(|(document, _)| document.source.clone()).collect(), lists })
}

/// Queues what was found in the messages that were just stored, and deletes what was found in their former versions
/// alone. The collection is locked.
pub(in crate::store) async fn follow(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<(), StoreError> {
    delete_former(transaction, batch, stored).await?;
    queue(transaction, batch, stored).await
}

async fn delete_former(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<(), StoreError> {
    let is_replaced = |source: &str| stored.get(source).is_some_and(|row| row.version > 1);
    let replaced = || batch.documents.iter().filter(|document| is_replaced(&document.source));
    let messages: Vec<&str> = replaced().map(|document| document.source.as_str()).collect();
    if messages.is_empty() {
        return Ok(());
    }
    let kept: Vec<&str> =
        replaced().flat_map(|document| &document.attachments).map(|attachment| attachment.source.as_str()).collect();
    let former = sqlx::query_scalar!(
        "SELECT document_id FROM document
         WHERE tenant_id = $1 AND collection_id = $2 AND attached_to = ANY ($3) AND source <> ALL ($4)
         ORDER BY source FOR UPDATE",
        batch.tenant.0,
        batch.collection.id,
        &messages as &[&str],
        &kept as &[&str],
    )
    .fetch_all(&mut **transaction)
    .await?;
    if former.is_empty() {
        return Ok(());
    }
    let (tenant, collection) = (batch.tenant, batch.collection);
    let mut removal = Removal::begin(transaction, tenant, collection.id, collection.index).await?;
    removal.remove(transaction, &former).await?;
    removal.settle(transaction).await?;
    Ok(())
}

/// Adds the items to the jobs of their messages.
async fn queue(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    stored: &HashMap<String, Stored>,
) -> Result<(), StoreError> {
    let mut by_job: BTreeMap<Uuid, Vec<&NewJobItem>> = BTreeMap::new();
    for document in batch.documents.iter().filter(|document| stored.contains_key(&document.source)) {
        if !document.attachments.is_empty() {
            by_job.entry(document.item.job).or_default().extend(&document.attachments);
        }
    }
    for (job, items) in by_job {
        add_to_job(transaction, batch, job, items).await?;
    }
    Ok(())
}

async fn add_to_job(
    transaction: &mut Tx,
    batch: &CommitBatch<'_>,
    job: Uuid,
    items: Vec<&NewJobItem>,
) -> Result<(), StoreError> {
    let bytes: usize = items.iter().map(|item| item.content.bytes()).sum();
    // From here to the commit no other transaction numbers attachments of this job.
    sqlx::query!(
        "UPDATE job SET items = items + $3, bytes = bytes + $4, revision = revision + 1 WHERE tenant_id = $1 AND job_id = $2",
        batch.tenant.0,
        job,
        int(items.len())?,
        i64::try_from(bytes).unwrap_or(i64::MAX),
    )
    .execute(&mut **transaction)
    .await?;
    let first = sqlx::query_scalar!(
        r#"SELECT COALESCE(max(ordinal) + 1, $3) AS "first!" FROM job_item WHERE tenant_id = $1 AND job_id = $2 AND ordinal >= $3"#,
        batch.tenant.0,
        job,
        FIRST_ORDINAL,
    )
    .fetch_one(&mut **transaction)
    .await?;
    let items: Vec<(ItemKey, &NewJobItem)> = numbered(job, first, items).collect();
    items::insert(transaction, batch.tenant, &items, batch.now).await
}
