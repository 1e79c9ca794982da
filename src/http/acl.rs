//! Access control lists: `/v1/documents/{id}/acl`, `/v1/collections/{name}/acl`.

use std::collections::BTreeSet;

use axum::Json;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    extract::{ValidJson, ValidPath},
    fields::{Faults, not_null},
    problem::ApiError,
    schema::PrincipalName,
};
use crate::{
    domain::access::{Acl, AclChange, Principal},
    service::granted::Granted,
};

/// Users and groups that may see a document, and those that may not. A caller who is one of `deny` does not see it, whatever
/// else the caller is. Keys with the scope `admin` and the operator see every document.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewAcl, example = json!({"allow": ["group:people", "user:ada@example.org"], "deny": ["group:contractors"]}))]
pub(super) struct NewAclBody {
    /// Those who may see the document, at most 256; an empty list lets nobody. If left out or null, everybody of the tenant
    /// whose key reaches the collection.
    #[schema(value_type = Option<Vec<PrincipalName>>, max_items = 256)]
    allow: Option<Vec<String>>,
    /// Those who may not, at most 256.
    #[serde(default)]
    #[schema(value_type = Vec<PrincipalName>, max_items = 256)]
    deny: Vec<String>,
}

/// A change of an access control list; what is left out stays (JSON merge patch).
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AclChange, example = json!({"deny": ["user:bob@example.org"]}))]
pub(super) struct AclChangeBody {
    /// Those who may see the document, at most 256; null for everybody.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<PrincipalName>>, max_items = 256)]
    #[expect(clippy::option_option, reason = "left out, null, or a list")]
    allow: Option<Option<Vec<String>>>,
    /// Those who may not, at most 256.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = Vec<PrincipalName>, required = false, max_items = 256)]
    deny: Option<Vec<String>>,
}

/// An access control list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Acl, example = json!({"allow": ["group:people", "user:ada@example.org"], "deny": ["group:contractors"]}))]
pub(super) struct AclBody {
    /// Those who may see the document; null for everybody.
    #[schema(value_type = Option<Vec<PrincipalName>>)]
    allow: Option<BTreeSet<Principal>>,
    /// Those who may not.
    #[schema(value_type = Vec<PrincipalName>)]
    deny: BTreeSet<Principal>,
}

/// A member that is there, null or not.
#[expect(clippy::option_option, reason = "left out, null, or a list")]
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Vec<String>>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl NewAclBody {
    /// The list; faults are added to `faults` under `pointer`.
    pub(super) fn read(self, pointer: &str, faults: &mut Faults) -> Acl {
        Acl {
            allow: self.allow.map(|names| faults.principals(&format!("{pointer}/allow"), &names)),
            deny: faults.principals(&format!("{pointer}/deny"), &self.deny),
        }
    }

    fn checked(self) -> Result<AclChange, ApiError> {
        let mut faults = Faults::default();
        let acl = self.read("", &mut faults);
        faults.finish()?;
        Ok(acl.into())
    }
}

impl AclChangeBody {
    fn checked(self) -> Result<AclChange, ApiError> {
        let mut faults = Faults::default();
        let change = AclChange {
            allow: self.allow.map(|names| names.map(|names| faults.principals("/allow", &names))),
            deny: self.deny.map(|names| faults.principals("/deny", &names)),
        };
        faults.finish()?;
        Ok(change)
    }
}

impl From<Acl> for AclBody {
    fn from(Acl { allow, deny }: Acl) -> Self {
        Self { allow, deny }
    }
}

/// Get a document's access control list
#[utoipa::path(
    get, path = "/v1/documents/{id}/acl", tag = "documents",
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "Who may see the document", body = AclBody),
    ),
)]
pub(super) async fn get_document_acl(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
) -> Result<Json<AclBody>, ApiError> {
    Ok(Json(granted.document_acl(id).await?.into()))
}

/// Set a document's access control list
///
/// Replaces the list of the document, and of what was found in it (attachments). Nothing is embedded or indexed again. The
/// next request of each caller is judged by the new list; a stream that is under way runs to its end. Replacing the document
/// keeps the list, unless the upload brings one.
#[utoipa::path(
    put, path = "/v1/documents/{id}/acl", tag = "documents", request_body = NewAclBody,
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "The list", body = AclBody),
    ),
)]
pub(super) async fn set_document_acl(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidJson(body): ValidJson<NewAclBody>,
) -> Result<Json<AclBody>, ApiError> {
    Ok(Json(granted.change_document_acl(id, body.checked()?).await?.into()))
}

/// Change a document's access control list
///
/// Sets the parts of the list that are given; the others stay. See `PUT /v1/documents/{id}/acl`.
#[utoipa::path(
    patch, path = "/v1/documents/{id}/acl", tag = "documents", request_body = AclChangeBody,
    params(("id" = Uuid, Path, description = "Identity of the document")),
    responses(
        (status = 200, description = "The list", body = AclBody),
    ),
)]
pub(super) async fn update_document_acl(
    granted: Granted,
    ValidPath(id): ValidPath<Uuid>,
    ValidJson(body): ValidJson<AclChangeBody>,
) -> Result<Json<AclBody>, ApiError> {
    Ok(Json(granted.change_document_acl(id, body.checked()?).await?.into()))
}

/// Get a collection's access control list
#[utoipa::path(
    get, path = "/v1/collections/{name}/acl", tag = "collections",
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "The list that new documents of the collection get", body = AclBody),
    ),
)]
pub(super) async fn get_collection_acl(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
) -> Result<Json<AclBody>, ApiError> {
    Ok(Json(granted.collection_acl(&name).await?.into()))
}

/// Set a collection's access control list
///
/// Replaces the list that documents get when they are stored for the first time and bring none. Stored documents keep theirs.
#[utoipa::path(
    put, path = "/v1/collections/{name}/acl", tag = "collections", request_body = NewAclBody,
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "The list", body = AclBody),
    ),
)]
pub(super) async fn set_collection_acl(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<NewAclBody>,
) -> Result<Json<AclBody>, ApiError> {
    Ok(Json(granted.change_collection_acl(&name, body.checked()?).await?.into()))
}

/// Change a collection's access control list
///
/// Sets the parts of the list that are given; the others stay. See `PUT /v1/collections/{name}/acl`.
#[utoipa::path(
    patch, path = "/v1/collections/{name}/acl", tag = "collections", request_body = AclChangeBody,
    params(("name" = String, Path, description = "Name of the collection")),
    responses(
        (status = 200, description = "The list", body = AclBody),
    ),
)]
pub(super) async fn update_collection_acl(
    granted: Granted,
    ValidPath(name): ValidPath<String>,
    ValidJson(body): ValidJson<AclChangeBody>,
) -> Result<Json<AclBody>, ApiError> {
    Ok(Json(granted.change_collection_acl(&name, body.checked()?).await?.into()))
}
