//! `/v1/tenants`, for the operator.

use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    AppState,
    extract::{ValidJson, ValidPath},
    fields::{Faults, MAX_SHORT_TEXT},
    keys::{IssuedKeyBody, NewKeyBody},
    problem::ApiError,
    schema::GivenName,
    storage::{StorageBody, StorageQuotaChangeBody},
};
use crate::service::{access::TenantRow, granted::Granted};

/// A tenant to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewTenant, example = json!({"name": "acme"}))]
pub(super) struct NewTenantBody {
    /// Name of the tenant, unique. Only operators see it.
    #[schema(value_type = GivenName)]
    name: String,
}

/// A tenant: its documents, keys and audit are its own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tenant)]
pub(super) struct TenantBody {
    /// Id of the tenant.
    id: Uuid,
    /// Name of the tenant.
    name: String,
    /// When the tenant was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
}

/// A tenant with how much it keeps.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TenantStorage)]
pub(super) struct TenantStorageBody {
    /// Id of the tenant.
    id: Uuid,
    /// Name of the tenant.
    name: String,
    /// When the tenant was made.
    #[serde(with = "time::serde::rfc3339")]
    created_at: OffsetDateTime,
    /// How much it keeps, and how much it may.
    storage: StorageBody,
}

/// A change of a tenant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TenantChange, example = json!({"quotas": {"documents": 10_000, "bytes": 1_000_000_000}}))]
pub(super) struct TenantChangeBody {
    /// How much it may keep.
    #[serde(deserialize_with = "StorageQuotaChangeBody::of_object")]
    quotas: StorageQuotaChangeBody,
}

/// Every tenant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TenantList)]
pub(super) struct TenantListBody {
    /// The tenants by name.
    tenants: Vec<TenantBody>,
}

/// Counts of what was deleted with a tenant.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TenantReceipt)]
pub(super) struct TenantReceiptBody {
    /// Number of collections.
    collections: u64,
    /// Number of documents.
    documents: u64,
}

impl From<TenantRow> for TenantBody {
    fn from(row: TenantRow) -> Self {
        Self { id: row.id.0, name: row.name, created_at: row.created_at }
    }
}

/// Create a tenant
///
/// It has no key yet: make the first one with `POST /v1/tenants/{id}/keys`.
#[utoipa::path(
    post, path = "/v1/tenants", tag = "access", request_body = NewTenantBody,
    responses(
        (status = 201, description = "The tenant", body = TenantBody),
        (status = 409, description = "The name is taken (`tenant_exists`)"),
    ),
)]
pub(super) async fn create_tenant(
    granted: Granted,
    ValidJson(body): ValidJson<NewTenantBody>,
) -> Result<(StatusCode, Json<TenantBody>), ApiError> {
    let mut faults = Faults::default();
    faults.name("/name", &body.name, MAX_SHORT_TEXT);
    faults.finish()?;
    Ok((StatusCode::CREATED, Json(granted.create_tenant(body.name).await?.into())))
}

/// List tenants
#[utoipa::path(
    get, path = "/v1/tenants", tag = "access",
    responses(
        (status = 200, description = "Every tenant by name", body = TenantListBody),
    ),
)]
pub(super) async fn list_tenants(granted: Granted) -> Result<Json<TenantListBody>, ApiError> {
    let tenants = granted.tenants().await?.into_iter().map(TenantBody::from).collect();
    Ok(Json(TenantListBody { tenants }))
}

/// Get a tenant
///
/// With how much it keeps, as of this moment, and its quotas.
#[utoipa::path(
    get, path = "/v1/tenants/{id}", tag = "access",
    params(("id" = Uuid, Path, description = "Id of the tenant")),
    responses(
        (status = 200, description = "The tenant", body = TenantStorageBody),
    ),
)]
pub(super) async fn get_tenant(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<TenantStorageBody>, ApiError> {
    let tenant = granted.tenant_of(id).await?;
    let storage = granted.storage_of(&tenant).await?.into();
    Ok(Json(TenantStorageBody { id: tenant.id.0, name: tenant.name, created_at: tenant.created_at, storage }))
}

/// Change a tenant
///
/// Sets its quotas. One below what it keeps deletes nothing and refuses what would add to it; of former versions those that
/// are too many are deleted.
#[utoipa::path(
    patch, path = "/v1/tenants/{id}", tag = "access", request_body = TenantChangeBody,
    params(("id" = Uuid, Path, description = "Id of the tenant")),
    responses(
        (status = 200, description = "The tenant", body = TenantStorageBody),
    ),
)]
pub(super) async fn update_tenant(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidJson(body): ValidJson<TenantChangeBody>,
) -> Result<Json<TenantStorageBody>, ApiError> {
    granted.change_quotas(id, body.quotas.into()).await?;
    get_tenant(granted, ValidPath(id)).await
}

/// Delete a tenant
///
/// Revokes its keys, then deletes its collections, jobs, audit and keys. What its documents left in logs and backups of
/// the database is not reached.
#[utoipa::path(
    delete, path = "/v1/tenants/{id}", tag = "access",
    params(("id" = Uuid, Path, description = "Id of the tenant")),
    responses(
        (status = 200, description = "What was removed", body = TenantReceiptBody),
        (status = 409, description = "It is the operator's own tenant (`tenant_default`), or requests of it were still under way (`tenant_busy`)"),
    ),
)]
pub(super) async fn delete_tenant(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<TenantReceiptBody>, ApiError> {
    let receipt = granted.delete_tenant(id).await?;
    Ok(Json(TenantReceiptBody { collections: receipt.collections, documents: receipt.documents }))
}

/// Create a key for a tenant
///
/// As `POST /v1/keys`, for any tenant. With a key of the scope `admin` the tenant makes its further keys itself.
#[utoipa::path(
    post, path = "/v1/tenants/{id}/keys", tag = "access", request_body = NewKeyBody,
    params(("id" = Uuid, Path, description = "Id of the tenant")),
    responses(
        (status = 201, description = "The key with its secret", body = IssuedKeyBody),
        (status = 409, description = "The operator has set no pepper (`keys_unavailable`)"),
    ),
)]
pub(super) async fn create_tenant_key(
    State(state): State<AppState>,
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidJson(body): ValidJson<NewKeyBody>,
) -> Result<(StatusCode, Json<IssuedKeyBody>), ApiError> {
    let now = state.context.clock.now();
    let issued = granted.create_tenant_key(id, body.read(now)?).await?;
    Ok((StatusCode::CREATED, Json(IssuedKeyBody::at(issued, now))))
}
