//! Inserts the items of jobs.

use serde_json::Value;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{access::Acl, identity::TenantId};
use crate::store::{
    ItemKey, NewJobItem, RefusedItem, StoreError, Tx,
    documents::acl::{NumberedAcl, Numbers},
    documents::chunk::array_literal,
    jobs::claim::ItemColumns,
};

/// Bytes of documents that one statement inserts, unless a single one has more: a statement is held in memory twice while
/// it is sent.
const BYTES_OF_A_STATEMENT: usize = 4 * 1024 * 1024;

/// Items of a job, numbered from `first` on.
pub(in crate::store) fn numbered<'a>(
    job: Uuid,
    first: i32,
    items: impl IntoIterator<Item = &'a NewJobItem>,
) -> impl Iterator<Item = (ItemKey, &'a NewJobItem)> {
    (first..).zip(items).map(move |(ordinal, item)| (ItemKey { job, ordinal }, item))
}

/// Inserts documents, which then wait for a worker in this order.
pub(in crate::store) async fn insert(
    transaction: &mut Tx,
    tenant: TenantId,
    mut items: &[(ItemKey, &NewJobItem)],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    while !items.is_empty() {
        let (part, rest) = items.split_at(items_of_a_statement(items));
        insert_part(transaction, tenant, part, now).await?;
        items = rest;
    }
    Ok(())
}

/// How many of these items the next statement inserts, at least one.
fn items_of_a_statement(items: &[(ItemKey, &NewJobItem)]) -> usize {
    let mut bytes = 0;
    let fitting = items.iter().take_while(|(_, item)| {
        bytes += item.content.kept().len();
        bytes <= BYTES_OF_A_STATEMENT
    });
    fitting.count().max(1)
}

async fn insert_part(
    transaction: &mut Tx,
    tenant: TenantId,
    items: &[(ItemKey, &NewJobItem)],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    let ItemColumns { jobs, ordinals } = items.iter().map(|(key, _)| *key).collect();
    let (mut sources, mut payloads, mut phases) = (Vec::new(), Vec::new(), Vec::new());
    let (mut contents, mut sizes) = (Vec::new(), Vec::new());
    for (_, NewJobItem { source, payload, content, phase, .. }) in items {
        sources.push(source.as_str());
        payloads.push(payload);
        contents.push(content.kept());
        sizes.push(i64::try_from(content.bytes()).unwrap_or(i64::MAX));
        phases.push(phase.as_str());
    }
    let lists = lists(transaction, tenant, items).await?;
    sqlx::query!(
        "INSERT INTO job_item (tenant_id, job_id, ordinal, source, payload, content, content_bytes, phase, state, available_at,
                               has_acl, allowed, denied)
         SELECT $1, job_id, ordinal, source, payload, content, content_bytes, phase, 'queued', $4,
                has_acl, allowed::int[], denied::int[]
         FROM UNNEST($2::uuid[], $3::int[], $5::text[], $6::jsonb[], $7::bytea[], $8::text[], $9::bool[], $10::text[], $11::text[], $12::bigint[])
             WITH ORDINALITY
             AS item (job_id, ordinal, source, payload, content, phase, has_acl, allowed, denied, content_bytes, place)
         ORDER BY place",
        tenant.0,
        &jobs,
        &ordinals,
        now,
        &sources as &[&str],
        &payloads as &[&Value],
        &contents as &[&[u8]],
        &phases as &[&str],
        &lists.are_given,
        &lists.allowed as &[Option<String>],
        &lists.denied,
        &sizes,
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// The access control lists that documents bring, as columns. Where one brings any, the collection is restricted from now
/// on.
async fn lists(
    transaction: &mut Tx,
    tenant: TenantId,
    items: &[(ItemKey, &NewJobItem)],
) -> Result<ListColumns, StoreError> {
    let mut columns = ListColumns::default();
    let numbers = Numbers::of(transaction, tenant, items.iter().filter_map(|(_, item)| item.acl.as_ref())).await?;
    for (_, item) in items {
        columns.push(item.acl.as_ref(), &numbers);
    }
    let restricting: Vec<Uuid> = items.iter().filter(|(_, item)| item.acl.is_some()).map(|(key, _)| key.job).collect();
    if !restricting.is_empty() {
        sqlx::query!(
            "UPDATE collection SET is_restricted = true
             WHERE tenant_id = $1 AND NOT is_restricted
               AND collection_id IN (SELECT collection_id FROM job WHERE tenant_id = $1 AND job_id = ANY ($2))",
            tenant.0,
            &restricting,
        )
        .execute(&mut **transaction)
        .await?;
    }
    Ok(columns)
}

/// Inserts parts of a request that are not documents, as failed, numbered from `first` on.
pub(in crate::store) async fn insert_refused(
    transaction: &mut Tx,
    tenant: TenantId,
    job: Uuid,
    first: i32,
    items: &[RefusedItem],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    if items.is_empty() {
        return Ok(());
    }
    let sources: Vec<String> = items.iter().map(|item| item.source.clone()).collect();
    let causes: Vec<String> = items.iter().map(|item| item.cause.to_owned()).collect();
    let messages: Vec<String> = items.iter().map(|item| item.message.clone()).collect();
    sqlx::query!(
        "INSERT INTO job_item (tenant_id, job_id, ordinal, source, content_bytes, state, available_at, stage, cause, message, finished_at)
         SELECT $1, $2, $3 + ordinality - 1, source, 0, 'failed', $4, 'load', cause, message, $4
         FROM UNNEST($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS item (source, cause, message, ordinality)",
        tenant.0,
        job,
        i64::from(first),
        now,
        &sources,
        &causes,
        &messages,
    )
    .execute(&mut **transaction)
    .await?;
    // The trigger counts only items that become settled, and these were settled from the start.
    sqlx::query!(
        "UPDATE job_tally SET failed = failed + $3 WHERE tenant_id = $1 AND job_id = $2",
        tenant.0,
        job,
        i64::try_from(sources.len()).unwrap_or(i64::MAX),
    )
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// Access control lists as columns; arrays of numbers in their text form, because arrays of different lengths cannot be
/// unnested.
#[derive(Default)]
struct ListColumns {
    are_given: Vec<bool>,
    allowed: Vec<Option<String>>,
    denied: Vec<String>,
}

impl ListColumns {
    fn push(&mut self, acl: Option<&Acl>, numbers: &Numbers) {
        let NumberedAcl { allowed, denied } = acl.map(|acl| numbers.numbered(acl)).unwrap_or_default();
        self.are_given.push(acl.is_some());
        self.allowed.push(allowed.map(|allowed| array_literal(allowed.into_iter())));
        self.denied.push(array_literal(denied.into_iter()));
    }
}

/// Converts a number of items to the integer type of Postgres.
pub(in crate::store) fn int(number: usize) -> Result<i32, StoreError> {
    i32::try_from(number).map_err(|_| StoreError::Inconsistent("too many items".to_owned()))
}
