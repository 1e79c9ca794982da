//! `/v1/security-events`.

use axum::Json;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::{
    authentication::forbidden,
    extract::ValidQuery,
    pagination::{default_limit, next_cursor, rows_to_fetch},
    problem::ApiError,
    schema::PlainText,
};
use crate::{
    domain::{
        access::Need,
        fingerprint::hex,
        security_event::{ChainFault, NotedSeal, Seal, SecurityEvent},
    },
    service::{
        granted::{Granted, RecordOf},
        security_record::{EventFilter, RecordState},
    },
};

/// Filters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsQuery {
    /// Only events of this operation, such as `delete_document`.
    #[param(inline, value_type = Option<PlainText>)]
    action: Option<String>,
    /// Only refusals (true), or only changes (false).
    refused: Option<bool>,
    /// Only events of the key that has this `key_id`.
    #[param(inline, value_type = Option<PlainText>)]
    key_id: Option<String>,
    /// Only events of the request with this id.
    #[param(inline, value_type = Option<PlainText>)]
    request_id: Option<String>,
    /// Only events of this time (RFC 3339) or later.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[param(example = "2026-01-31T00:00:00Z")]
    occurred_after: Option<OffsetDateTime>,
    /// Only events before this time (RFC 3339).
    #[serde(default, with = "time::serde::rfc3339::option")]
    occurred_before: Option<OffsetDateTime>,
    /// Instead of the events of the tenant those that concern no tenant: tenants made and deleted, and requests without
    /// a valid key. For the operator.
    #[serde(default)]
    deployment: bool,
    /// `next_cursor` of the previous page.
    cursor: Option<Uuid>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SecurityEventPage {
    /// The events, newest first.
    events: Vec<SecurityEventBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// A change that was made, or a request that was refused.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SecurityEvent)]
pub(super) struct SecurityEventBody {
    /// Id of the event.
    id: Uuid,
    /// When it happened.
    #[serde(with = "time::serde::rfc3339")]
    occurred_at: OffsetDateTime,
    /// The operation (`operationId` of this document); `forget_security_events` when old events were deleted; empty for
    /// a path without an operation.
    #[schema(example = "delete_document")]
    action: String,
    /// `code` of the problem that the request was refused with; null for a change that was made.
    refusal: Option<String>,
    /// Id of the key, or the user of a token; null where no valid key was presented or none is required.
    key_id: Option<String>,
    /// Address of the client.
    address: Option<String>,
    /// Id of the request, as in the `x-request-id` header; of refusals that are recorded together, of the first.
    request_id: Option<String>,
    /// Things that a change affected, as `kind:name`.
    #[schema(example = json!(["document:019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11"]))]
    things: Vec<String>,
    /// Number of things changed; of refusals that were alike and within a second, and are recorded together, their number.
    number: i64,
}

/// A seal that was noted earlier.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct VerificationQuery {
    /// `head` of an earlier verification, as `number:code`: the record is then also held against that.
    #[param(inline, value_type = Option<PlainText>, example = "12:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    noted: Option<String>,
    /// Instead of the record of the tenant the one of what concerns no tenant. For the operator.
    #[serde(default)]
    deployment: bool,
}

/// Whether the record is whole.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SecurityEventVerification {
    /// Whether no fault was found.
    whole: bool,
    /// Number of seals.
    seals: u64,
    /// Number of events in seals.
    events: u64,
    /// Number of events that will be sealed within seconds.
    waiting: usize,
    /// The last seal, as `number:code`; null before the first. Keep it elsewhere: with it as `noted` a later verification
    /// shows whether anything before it was changed, or cut off after it.
    head: Option<String>,
    /// Faults in the order of seals.
    faults: Vec<SealFaultBody>,
}

/// A fault of the record.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SealFault)]
pub(super) struct SealFaultBody {
    /// Number of the seal at which it shows.
    seal: i64,
    /// The fault in words.
    fault: String,
}

impl From<SecurityEvent> for SecurityEventBody {
    fn from(event: SecurityEvent) -> Self {
        Self {
            id: event.event_id,
            occurred_at: event.occurred_at,
            action: event.action,
            refusal: event.refusal,
            key_id: event.key_id,
            address: event.address,
            request_id: event.request_id,
            things: event.things,
            number: event.number,
        }
    }
}

impl From<RecordState> for SecurityEventVerification {
    fn from(state: RecordState) -> Self {
        let RecordState { chain, waiting } = state;
        Self {
            whole: chain.faults.is_empty(),
            seals: chain.seals,
            events: chain.events,
            waiting,
            head: chain.head.map(|Seal { number, code, .. }| format!("{number}:{}", hex(&code))),
            faults: chain.faults.into_iter().map(|ChainFault { seal, fault }| SealFaultBody { seal, fault }).collect(),
        }
    }
}

/// List security events
///
/// Every change and every refusal (401, 403, 421, 429) of the tenant: who, what, on which thing and from where, without
/// content. Asks are in the audit.
#[utoipa::path(
    get, path = "/v1/security-events", tag = "audit", params(EventsQuery),
    responses((status = 200, description = "Events, newest first", body = SecurityEventPage)),
)]
pub(super) async fn list_security_events(
    granted: Granted,
    ValidQuery(query): ValidQuery<EventsQuery>,
) -> Result<Json<SecurityEventPage>, ApiError> {
    let rows = rows_to_fetch(query.limit)?;
    let filter = EventFilter {
        before: query.cursor,
        action: query.action,
        is_refusal: query.refused,
        key_id: query.key_id,
        request_id: query.request_id,
        occurred_from: query.occurred_after,
        occurred_before: query.occurred_before,
    };
    let found = granted.security_events(record_of(&granted, query.deployment)?, &filter, rows).await?;
    let mut events: Vec<SecurityEventBody> = found.into_iter().map(SecurityEventBody::from).collect();
    let next_cursor = next_cursor(&mut events, query.limit, |last| last.id.to_string());
    Ok(Json(SecurityEventPage { events, next_cursor }))
}

/// Verify security events
///
/// Follows the chain of seals over all security events, and says whether any was changed, deleted or added.
#[utoipa::path(
    get, path = "/v1/security-events/verification", tag = "audit", params(VerificationQuery),
    responses((status = 200, description = "Whether the record is whole", body = SecurityEventVerification)),
)]
pub(super) async fn verify_security_events(
    granted: Granted,
    ValidQuery(query): ValidQuery<VerificationQuery>,
) -> Result<Json<SecurityEventVerification>, ApiError> {
    let noted = query.noted.as_deref().map(noted_seal).transpose()?;
    let state = granted.verify_security_events(record_of(&granted, query.deployment)?, noted.as_ref()).await?;
    Ok(Json(state.into()))
}

/// Only the operator reads what concerns no tenant.
fn record_of(granted: &Granted, deployment: bool) -> Result<RecordOf, ApiError> {
    if !deployment {
        return Ok(RecordOf::Tenant);
    }
    granted.caller().grant.check(Need::Operator).map_err(forbidden)?;
    Ok(RecordOf::Deployment)
}

fn noted_seal(text: &str) -> Result<NotedSeal, ApiError> {
    let parts = text.split_once(':').and_then(|(number, code)| Some((number.parse().ok()?, code)));
    let (number, code) = parts.ok_or_else(|| {
        ApiError::invalid_field("?noted", "must be the head of an earlier verification, such as 12:9f86d0…".to_owned())
    })?;
    Ok(NotedSeal { number, code: code.to_ascii_lowercase() })
}
