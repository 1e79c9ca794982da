//! How much a tenant keeps, and how much it may: `/v1/storage`.

use std::fmt;

use axum::Json;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use utoipa::ToSchema;

use super::problem::ApiError;
use crate::{
    domain::storage::{StorageQuotaChange, StorageQuotas, StorageUse},
    service::granted::Granted,
};

/// How much a tenant keeps, and how much it may.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Storage)]
pub(super) struct StorageBody {
    /// Number of documents.
    documents: u64,
    /// UTF-8 bytes of text and metadata, former versions included. Chunks, vectors and indexes take more than that beside it.
    bytes: u64,
    /// Number of collections.
    collections: u64,
    /// Number of former versions of documents.
    former_versions: u64,
    /// Bytes of the former versions.
    former_version_bytes: u64,
    /// The quotas in force.
    quotas: StorageQuotasBody,
}

/// How much a tenant may keep; null is any amount.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StorageQuotas)]
pub(super) struct StorageQuotasBody {
    /// Most documents.
    documents: Option<u64>,
    /// Most bytes.
    bytes: Option<u64>,
    /// Most collections.
    collections: Option<u64>,
    /// Former versions that are kept of each document. It refuses nothing: of more the oldest are deleted, and citations of
    /// them lead to the document without its words.
    former_versions: Option<u64>,
}

/// A change of quotas; what is left out stays, and null is the quota of the deployment (JSON merge patch).
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = StorageQuotaChange, example = json!({"documents": 10_000, "bytes": 1_000_000_000}))]
#[expect(clippy::option_option, reason = "left out, null, or a number")]
pub(super) struct StorageQuotaChangeBody {
    /// Most documents.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    documents: Option<Option<u64>>,
    /// Most bytes.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    bytes: Option<Option<u64>>,
    /// Most collections.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    collections: Option<Option<u64>>,
    /// Former versions that are kept of each document.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u64>)]
    former_versions: Option<Option<u64>>,
}

/// A member that is there, null or not.
#[expect(clippy::option_option, reason = "left out, null, or a number")]
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl StorageQuotaChangeBody {
    /// Reads an object. Derived alone, an array would be taken for its members in order.
    pub(super) fn of_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;
        impl<'de> Visitor<'de> for OfObject {
            type Value = StorageQuotaChangeBody;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(members))
            }
        }
        deserializer.deserialize_map(OfObject)
    }
}

impl From<StorageQuotaChangeBody> for StorageQuotaChange {
    fn from(body: StorageQuotaChangeBody) -> Self {
        let StorageQuotaChangeBody { documents, bytes, collections, former_versions } = body;
        Self { documents, bytes, collections, former_versions }
    }
}

impl From<(StorageUse, StorageQuotas)> for StorageBody {
    fn from((used, quotas): (StorageUse, StorageQuotas)) -> Self {
        let StorageQuotas { documents, bytes, collections, former_versions } = quotas;
        Self {
            documents: used.documents,
            bytes: used.bytes,
            collections: used.collections,
            former_versions: used.former_versions,
            former_version_bytes: used.former_bytes,
            quotas: StorageQuotasBody { documents, bytes, collections, former_versions },
        }
    }
}

/// Get how much is kept
///
/// Counts of the caller's tenant, as of this moment, and its quotas. An upload that a quota has no room for is refused with
/// `storage_quota`; a document that turns out to be too much once it was read fails with that cause.
#[utoipa::path(
    get, path = "/v1/storage", tag = "access",
    responses(
        (status = 200, description = "How much the tenant keeps, and how much it may", body = StorageBody),
    ),
)]
pub(super) async fn get_storage(granted: Granted) -> Result<Json<StorageBody>, ApiError> {
    Ok(Json(granted.storage().await?.into()))
}
