//! The record of changes and refusals: written once, sealed in batches, deleted by age.

use sqlx::{PgConnection, types::Json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    identity::TenantId,
    security_event::{Seal, SecurityEvent, StoredEvents},
};
use crate::store::{Store, StoreError, Tx};

/// Most events of one seal.
const SEALED_AT_ONCE: i64 = 1_000;
/// Number of seals that are read or deleted at once.
const SEALS: i64 = 50;
/// Lock of the one process that seals at a time.
const SEALING: i64 = 0x6369_7465_6473_6561;

/// The record of changes and refusals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SecurityEvents<'s> {
    pub(in crate::store) store: &'s Store,
}

/// Filter for events.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventFilter {
    /// Only events that sort before this one, that is, older ones.
    pub(crate) before: Option<Uuid>,
    /// Only of this operation.
    pub(crate) action: Option<String>,
    /// Only refusals, or only changes.
    pub(crate) is_refusal: Option<bool>,
    /// Only of this key.
    pub(crate) key_id: Option<String>,
    /// Only of this request.
    pub(crate) request_id: Option<String>,
    /// Only of this time or later.
    pub(crate) occurred_from: Option<OffsetDateTime>,
    /// Only before this time.
    pub(crate) occurred_before: Option<OffsetDateTime>,
}

/// A part of a chain, read at one moment.
pub(crate) struct ChainPart {
    /// Seals in order, each with those of its events that are there, in its order.
    pub(crate) links: Vec<(Seal, Vec<SecurityEvent>)>,
}

/// Reads the chain of a tenant as it was at one moment.
pub(crate) struct ChainReader {
    transaction: Tx,
    tenant: TenantId,
    last: i64,
}

/// Writes an event in the transaction of the change that it records: both are there, or neither.
pub(in crate::store) async fn record(transaction: &mut Tx, event: &SecurityEvent) -> Result<(), StoreError> {
    record_all(transaction, &[event]).await
}

/// The same for several changes of one transaction.
pub(in crate::store) async fn record_all(transaction: &mut Tx, events: &[&SecurityEvent]) -> Result<(), StoreError> {
    sqlx::query!("SELECT write_security_events($1)", Json(events) as _).execute(&mut **transaction).await?;
    Ok(())
}

impl SecurityEvents<'_> {
    /// Writes events of what changed nothing in the database, in one statement.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn write(&self, events: &[SecurityEvent]) -> Result<(), StoreError> {
        sqlx::query!("SELECT write_security_events($1)", Json(events) as _).execute(self.store.writer()).await?;
        Ok(())
    }

    /// Events of a tenant, newest first.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn list(
        &self,
        tenant: TenantId,
        filter: &EventFilter,
        limit: i64,
    ) -> Result<Vec<SecurityEvent>, StoreError> {
        let mut reading = self.store.begin_first_read(tenant).await?;
        let rows = sqlx::query_scalar!(
            r#"SELECT to_jsonb(e) AS "row!: Json<SecurityEvent>" FROM security_event e
               WHERE e.tenant_id = $1 AND ($2::uuid IS NULL OR e.event_id < $2) AND ($3::text IS NULL OR e.action = $3)
                 AND ($4::boolean IS NULL OR (e.refusal IS NOT NULL) = $4) AND ($5::text IS NULL OR e.key_id = $5)
                 AND ($6::text IS NULL OR e.request_id = $6)
                 AND ($7::timestamptz IS NULL OR e.occurred_at >= $7) AND ($8::timestamptz IS NULL OR e.occurred_at < $8)
               ORDER BY e.event_id DESC LIMIT $9"#,
            tenant.0,
            filter.before,
            filter.action,
            filter.is_refusal,
            filter.key_id,
            filter.request_id,
            filter.occurred_from,
            filter.occurred_before,
            limit,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows.into_iter().map(|Json(row)| row).collect())
    }

    /// Seals events that wait, those of one tenant; `sign` makes the code of a message. Returns whether there may be more.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn seal_some(
        &self,
        now: OffsetDateTime,
        is_keyed: bool,
        sign: impl Fn(&str) -> Vec<u8>,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let is_alone = sqlx::query_scalar!(r#"SELECT pg_try_advisory_xact_lock($1) AS "it!""#, SEALING)
            .fetch_one(&mut *transaction)
            .await?;
        let waiting = if is_alone { waiting_events(&mut transaction).await? } else { Vec::new() };
        let Some(tenant_id) = waiting.first().map(|event| event.tenant_id) else {
            transaction.commit().await?;
            return Ok(false);
        };
        let last = sqlx::query!(
            "SELECT number, code FROM security_seal WHERE tenant_id = $1 ORDER BY number DESC LIMIT 1",
            tenant_id
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let (number, previous) = last.map_or_else(|| (1, Vec::new()), |last| (last.number + 1, last.code));
        let events = waiting.iter().map(|event| event.event_id).collect();
        let mut seal = Seal { tenant_id, number, sealed_at: now, events, previous, code: Vec::new(), is_keyed };
        seal.code = sign(&seal.message(&waiting));
        insert_seal(&mut transaction, &seal).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// The newest seal of all tenants, with its events.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn newest_link(&self) -> Result<Option<(Seal, Vec<SecurityEvent>)>, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let seal = sqlx::query_as!(
            Seal,
            "SELECT s.tenant_id, s.number, s.sealed_at, s.events, s.previous, s.code, s.is_keyed FROM security_seal s
             ORDER BY s.sealed_at DESC LIMIT 1",
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let link = match seal {
            Some(seal) => {
                let events = events_of(&mut transaction, TenantId(seal.tenant_id), &seal.events).await?;
                Some((seal, events))
            }
            None => None,
        };
        transaction.commit().await?;
        Ok(link)
    }

    /// Opens a chain for reading.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn read_chain(&self, tenant: TenantId) -> Result<ChainReader, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        sqlx::query!("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY").execute(&mut *transaction).await?;
        Ok(ChainReader { transaction, tenant, last: 0 })
    }

    /// Deletes some of the seals made before this time, with their events, of the tenant that has the oldest; the newest
    /// seal of a tenant stays, because the next one continues it. `record` makes the event that tells of it. Returns
    /// whether there may be more.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn forget_some(
        &self,
        before: OffsetDateTime,
        record: impl FnOnce(&Seal, u64) -> SecurityEvent,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        let old = sqlx::query_as!(
            Seal,
            "SELECT s.tenant_id, s.number, s.sealed_at, s.events, s.previous, s.code, s.is_keyed FROM security_seal s
             WHERE s.tenant_id = (SELECT o.tenant_id FROM security_seal o WHERE o.sealed_at < $1
                                  AND EXISTS (SELECT FROM security_seal l WHERE l.tenant_id = o.tenant_id AND l.number > o.number) LIMIT 1)
               AND s.sealed_at < $1
               AND EXISTS (SELECT FROM security_seal l WHERE l.tenant_id = s.tenant_id AND l.number > s.number)
             ORDER BY s.number LIMIT $2",
            before,
            SEALS,
        )
        .fetch_all(&mut *transaction)
        .await?;
        let Some(last) = old.last() else {
            transaction.commit().await?;
            return Ok(false);
        };
        let events = old.iter().map(|seal| seal.events.len()).sum::<usize>();
        let event = record(last, u64::try_from(events).unwrap_or(u64::MAX));
        sqlx::query!("SELECT write_security_events($1)", Json([event]) as _).execute(&mut *transaction).await?;
        sqlx::query!("SELECT forget_security_events($1, $2)", last.tenant_id, last.number)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Deletes the events, seals and asks of tenants that do not exist any more.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn drop_orphaned(&self) -> Result<(), StoreError> {
        let mut transaction = self.store.begin_queue().await?;
        sqlx::query!("SELECT drop_orphaned_security_events()").execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(())
    }
}

impl ChainReader {
    /// The next seals with their events; `None` at the end.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn next(&mut self) -> Result<Option<ChainPart>, StoreError> {
        let seals = sqlx::query_as!(
            Seal,
            "SELECT tenant_id, number, sealed_at, events, previous, code, is_keyed FROM security_seal
             WHERE tenant_id = $1 AND number > $2 ORDER BY number LIMIT $3",
            self.tenant.0,
            self.last,
            SEALS,
        )
        .fetch_all(&mut *self.transaction)
        .await?;
        let Some(last) = seals.last() else { return Ok(None) };
        self.last = last.number;
        let mut links = Vec::with_capacity(seals.len());
        for seal in seals {
            let events = events_of(&mut self.transaction, self.tenant, &seal.events).await?;
            links.push((seal, events));
        }
        Ok(Some(ChainPart { links }))
    }

    /// The events that wait for a seal, and numbers of all; ends the reading.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn finish(mut self) -> Result<(Vec<SecurityEvent>, StoredEvents), StoreError> {
        let waiting = sqlx::query_scalar!(
            r#"SELECT to_jsonb(e) AS "row!: Json<SecurityEvent>" FROM security_event_waiting w
               JOIN security_event e USING (tenant_id, event_id) WHERE w.tenant_id = $1"#,
            self.tenant.0
        )
        .fetch_all(&mut *self.transaction)
        .await?;
        let counts = sqlx::query!(
            r#"SELECT (SELECT count(*) FROM security_event WHERE tenant_id = $1) AS "stored!",
                      (SELECT count(*) FROM security_event_waiting WHERE tenant_id = $1) AS "waiting!""#,
            self.tenant.0
        )
        .fetch_one(&mut *self.transaction)
        .await?;
        self.transaction.commit().await?;
        let waiting: Vec<_> = waiting.into_iter().map(|Json(row)| row).collect();
        let announced = counts.waiting.unsigned_abs();
        let vanished = announced.saturating_sub(u64::try_from(waiting.len()).unwrap_or(u64::MAX));
        Ok((waiting, StoredEvents { all: counts.stored.unsigned_abs(), vanished }))
    }
}

/// Events of one tenant that wait for a seal, in their order.
async fn waiting_events(connection: &mut PgConnection) -> Result<Vec<SecurityEvent>, StoreError> {
    let rows = sqlx::query_scalar!(
        r#"SELECT to_jsonb(e) AS "row!: Json<SecurityEvent>" FROM security_event_waiting w
           JOIN security_event e USING (tenant_id, event_id)
           WHERE w.tenant_id = (SELECT f.tenant_id FROM security_event_waiting f JOIN security_event USING (tenant_id, event_id) LIMIT 1)
           ORDER BY w.event_id LIMIT $1"#,
        SEALED_AT_ONCE
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|Json(row)| row).collect())
}

/// Writes a seal; its events do not wait any more.
async fn insert_seal(connection: &mut PgConnection, seal: &Seal) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO security_seal (tenant_id, number, sealed_at, events, previous, code, is_keyed)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        seal.tenant_id,
        seal.number,
        seal.sealed_at,
        &seal.events,
        seal.previous,
        seal.code,
        seal.is_keyed,
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "DELETE FROM security_event_waiting WHERE tenant_id = $1 AND event_id = ANY ($2)",
        seal.tenant_id,
        &seal.events
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Those of these events that are there, in this order.
async fn events_of(
    connection: &mut PgConnection,
    tenant: TenantId,
    events: &[Uuid],
) -> Result<Vec<SecurityEvent>, StoreError> {
    let rows = sqlx::query_scalar!(
        r#"SELECT to_jsonb(e) AS "row!: Json<SecurityEvent>"
           FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (event_id, place)
           JOIN security_event e ON e.tenant_id = $1 AND e.event_id = wanted.event_id
           ORDER BY wanted.place"#,
        tenant.0,
        events
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().map(|Json(row)| row).collect())
}
