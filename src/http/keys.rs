//! `/v1/keys`.

use std::{collections::BTreeSet, time::Duration};

use axum::{Json, extract::State, http::StatusCode};
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::{IntoParams, ToSchema};

use super::{
    AppState,
    extract::{ValidJson, ValidPath, ValidQuery},
    fields::{Faults, MAX_SHORT_TEXT},
    pagination::{default_limit, next_cursor, rows_to_fetch},
    problem::ApiError,
    schema::{CollectionName, GivenName, KeyStateSchema, PlainText, PrincipalName, ScopeSchema},
};
use crate::{
    domain::access::{KeyState, Principal, Scope},
    service::{
        access::{IssuedKey, KeyRow, WantedKey},
        granted::Granted,
    },
};

/// Longest time for which the former secret of a rotated key opens, in seconds: 30 days.
const LONGEST_GRACE_S: u32 = 30 * 24 * 60 * 60;

/// A key to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewKey, example = json!({"name": "support desk", "scopes": ["ask"], "collections": ["handbook"]}))]
pub(super) struct NewKeyBody {
    /// Name of the key, for people.
    #[schema(value_type = GivenName)]
    name: String,
    /// Purposes of the key, one or more: `ask` asks, searches, checks and looks citations up; `ingest` submits, replaces
    /// and deletes documents and follows jobs; `read` reads stored documents; `admin` does all of that, manages
    /// collections and keys, and reads the audit.
    #[schema(value_type = Vec<ScopeSchema>, min_items = 1)]
    scopes: Vec<Scope>,
    /// Names of the collections that the key is limited to, whether they exist yet or not. Everything else of the tenant
    /// does not exist for it. If left out, all collections.
    #[schema(value_type = Option<Vec<CollectionName>>)]
    collections: Option<Vec<String>>,
    /// Users and groups that the holder of the key is, at most 256: it sees the documents that an access control list allows
    /// one of them, and those without a list. A key with the scope `admin` sees all, whatever lists say.
    #[serde(default)]
    #[schema(value_type = Vec<PrincipalName>, max_items = 256)]
    principals: Vec<String>,
    /// When the key ends (RFC 3339). If left out, never.
    #[serde(default, with = "time::serde::rfc3339::option")]
    #[schema(example = "2027-01-31T00:00:00Z")]
    expires_at: Option<OffsetDateTime>,
}

/// How a key is rotated.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = KeyRotation, example = json!({"grace_s": 86_400}))]
pub(super) struct RotationBody {
    /// For how many seconds the former secret opens too, so that clients can change over: 0 to 2592000.
    #[serde(default)]
    #[schema(default = 0, maximum = 2_592_000)]
    grace_s: u32,
}

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Key)]
pub(super) struct KeyBody {
    /// Id of the key: the part after `cited_`, and `key_id` in the audit.
    #[schema(example = "5e1f0a9c4b7d2e83")]
    id: String,
    /// Name of the key, for people.
    name: String,
    /// Purposes of the key.
    #[schema(value_type = Vec<ScopeSchema>)]
    scopes: BTreeSet<Scope>,
    /// Names of the collections that the key is limited to; null: all.
    collections: Option<BTreeSet<String>>,
    /// Users and groups that the holder of the key is.
    #[schema(value_type = Vec<PrincipalName>)]
    principals: BTreeSet<Principal>,
    /// Whether the key opens; `in_grace` if its former secret does too.
    #[schema(value_type = KeyStateSchema)]
    state: KeyState,
    /// When the key was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// Id of the key that made it; null where no key is needed.
    created_by: Option<String>,
    /// When it last got another secret.
    #[serde(with = "time::serde::rfc3339::option")]
    rotated_at: Option<OffsetDateTime>,
    /// Until when the former secret opens too.
    #[serde(with = "time::serde::rfc3339::option")]
    grace_until: Option<OffsetDateTime>,
    /// When the key ends.
    #[serde(with = "time::serde::rfc3339::option")]
    expires_at: Option<OffsetDateTime>,
    /// When the key was revoked.
    #[serde(with = "time::serde::rfc3339::option")]
    revoked_at: Option<OffsetDateTime>,
    /// When the key was last used, to the minute.
    #[serde(with = "time::serde::rfc3339::option")]
    last_used_at: Option<OffsetDateTime>,
}

/// A key with its secret, which is shown only this once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IssuedKey)]
pub(super) struct IssuedKeyBody {
    /// The key as it is sent: `Authorization: Bearer <secret>`. The service keeps no copy.
    secret: String,
    /// The key, without its secret.
    key: KeyBody,
}

/// A page of keys.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct KeyPage {
    /// The keys, newest first.
    keys: Vec<KeyBody>,
    /// Send this as `cursor` to get the next page; null on the last page.
    next_cursor: Option<String>,
}

/// Page of keys.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct KeysQuery {
    /// `next_cursor` of the previous page.
    #[param(inline, value_type = Option<PlainText>)]
    cursor: Option<String>,
    /// Rows per page, 1 to 200.
    #[serde(default = "default_limit")]
    #[param(default = 50, minimum = 1, maximum = 200)]
    limit: i64,
}

impl NewKeyBody {
    /// Checks the values at a time.
    pub(super) fn read(self, now: OffsetDateTime) -> Result<WantedKey, ApiError> {
        let mut faults = Faults::default();
        faults.name("/name", &self.name, MAX_SHORT_TEXT);
        if self.scopes.is_empty() {
            faults.add("/scopes", "name one or more of ask, ingest, read, admin");
        }
        if let Some(names) = &self.collections {
            faults.collections("/collections", names);
        }
        let principals = faults.principals("/principals", &self.principals);
        if self.expires_at.is_some_and(|end| end <= now) {
            faults.add("/expires_at", "must lie in the future");
        }
        faults.finish()?;
        Ok(WantedKey {
            name: self.name,
            scopes: self.scopes.into_iter().collect(),
            collections: self.collections.map(BTreeSet::from_iter),
            principals,
            expires_at: self.expires_at,
        })
    }
}

impl KeyBody {
    fn at(row: KeyRow, now: OffsetDateTime) -> Self {
        let state = row.lifetime.state(now);
        Self {
            id: row.id,
            name: row.name,
            scopes: row.scopes,
            collections: row.collections,
            principals: row.principals,
            state,
            created_at: row.created_at,
            created_by: row.created_by,
            rotated_at: row.rotated_at,
            grace_until: row.lifetime.grace_until,
            expires_at: row.lifetime.expires_at,
            revoked_at: row.lifetime.revoked_at,
            last_used_at: row.last_used_at,
        }
    }
}

impl IssuedKeyBody {
    pub(super) fn at(issued: IssuedKey, now: OffsetDateTime) -> Self {
        Self { secret: issued.secret.expose_secret().to_owned(), key: KeyBody::at(issued.row, now) }
    }
}

/// Create a key
///
/// Makes a key for the caller's own tenant. The secret is in this response only. It begins with `cited_` and ends with a
/// checksum, so that scanners find it where it does not belong.
#[utoipa::path(
    post, path = "/v1/keys", tag = "access", request_body = NewKeyBody,
    responses(
        (status = 201, description = "The key with its secret", body = IssuedKeyBody),
        (status = 409, description = "The operator has set no pepper (`keys_unavailable`)"),
    ),
)]
pub(super) async fn create_key(
    State(state): State<AppState>,
    granted: Granted,
    ValidJson(body): ValidJson<NewKeyBody>,
) -> Result<(StatusCode, Json<IssuedKeyBody>), ApiError> {
    let now = state.context.clock.now();
    let issued = granted.create_key(body.read(now)?).await?;
    Ok((StatusCode::CREATED, Json(IssuedKeyBody::at(issued, now))))
}

/// List keys
#[utoipa::path(
    get, path = "/v1/keys", tag = "access", params(KeysQuery),
    responses(
        (status = 200, description = "Keys, newest first, revoked ones too", body = KeyPage),
    ),
)]
pub(super) async fn list_keys(
    State(state): State<AppState>,
    granted: Granted,
    ValidQuery(query): ValidQuery<KeysQuery>,
) -> Result<Json<KeyPage>, ApiError> {
    let rows = rows_to_fetch(query.limit)?;
    let now = state.context.clock.now();
    let found = granted.keys(query.cursor.as_deref(), rows).await?;
    let mut keys: Vec<KeyBody> = found.into_iter().map(|row| KeyBody::at(row, now)).collect();
    let next_cursor = next_cursor(&mut keys, query.limit, |last| last.id.clone());
    Ok(Json(KeyPage { keys, next_cursor }))
}

/// Get a key
#[utoipa::path(
    get, path = "/v1/keys/{id}", tag = "access",
    params(("id" = String, Path, description = "Id of the key")),
    responses(
        (status = 200, description = "The key, without its secret", body = KeyBody),
    ),
)]
pub(super) async fn get_key(
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(id): ValidPath<String>,
) -> Result<Json<KeyBody>, ApiError> {
    Ok(Json(KeyBody::at(granted.key(&id).await?, state.context.clock.now())))
}

/// Rotate a key
///
/// Gives the key another secret, which is in this response only. Id, scopes and collections stay. The former secret
/// opens for `grace_s` seconds more; one that was replaced before it ends now.
#[utoipa::path(
    post, path = "/v1/keys/{id}/rotate", tag = "access", request_body = RotationBody,
    params(("id" = String, Path, description = "Id of the key")),
    responses(
        (status = 200, description = "The key with its new secret", body = IssuedKeyBody),
        (status = 409, description = "The key was revoked or its time is over (`key_over`), or the operator has set no pepper (`keys_unavailable`)"),
    ),
)]
pub(super) async fn rotate_key(
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(id): ValidPath<String>,
    ValidJson(body): ValidJson<RotationBody>,
) -> Result<Json<IssuedKeyBody>, ApiError> {
    let mut faults = Faults::default();
    faults.range("/grace_s", body.grace_s, 0, LONGEST_GRACE_S);
    faults.finish()?;
    let issued = granted.rotate_key(&id, Duration::from_secs(body.grace_s.into())).await?;
    Ok(Json(IssuedKeyBody::at(issued, state.context.clock.now())))
}

/// Revoke a key
///
/// The key opens nothing any more: at once in the process that answers this, within a second in all others. It stays in
/// the list, because the audit names it.
#[utoipa::path(
    delete, path = "/v1/keys/{id}", tag = "access",
    params(("id" = String, Path, description = "Id of the key")),
    responses(
        (status = 200, description = "The key, revoked", body = KeyBody),
    ),
)]
pub(super) async fn revoke_key(
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(id): ValidPath<String>,
) -> Result<Json<KeyBody>, ApiError> {
    let row = granted.revoke_key(&id).await?;
    Ok(Json(KeyBody::at(row, state.context.clock.now())))
}
