//! The rights that each operation needs of its caller: the one table that requests are judged by and that the `OpenAPI` document
//! states.

use std::collections::HashMap;

use axum::{
    extract::{MatchedPath, Request},
    http::{Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use utoipa::openapi::{OpenApi, path::Operation, security::SecurityRequirement};

use super::openapi::operations_by_route;
use crate::domain::access::{Need, Scope};

/// Every operation by its id.
const OPERATIONS: [(&str, Need); 65] = [
    ("get_protected_resource", Need::Nothing),
    ("livez", Need::Nothing),
    ("readyz", Need::Nothing),
    ("ask", Need::AnyOf(&[Scope::Ask])),
    ("stream_ask", Need::AnyOf(&[Scope::Ask])),
    ("search", Need::AnyOf(&[Scope::Ask])),
    ("check", Need::AnyOf(&[Scope::Ask])),
    ("create_chat_completion", Need::AnyOf(&[Scope::Ask])),
    ("create_response", Need::AnyOf(&[Scope::Ask])),
    ("list_models", Need::AnyOf(&[Scope::Ask])),
    ("get_model", Need::AnyOf(&[Scope::Ask])),
    ("call_mcp", Need::AnyOf(&[Scope::Ask, Scope::Ingest, Scope::Read])),
    ("get_citation", Need::AnyOf(&[Scope::Ask, Scope::Read])),
    ("show_citation", Need::AnyOf(&[Scope::Ask, Scope::Read])),
    ("list_asks", Need::AnyOf(&[Scope::Admin])),
    ("get_ask", Need::AnyOf(&[Scope::Admin])),
    ("list_security_events", Need::WholeTenant),
    ("verify_security_events", Need::WholeTenant),
    ("list_collections", Need::AnyOf(&[Scope::Ask, Scope::Ingest, Scope::Read])),
    ("get_collection", Need::AnyOf(&[Scope::Ask, Scope::Ingest, Scope::Read])),
    ("create_collection", Need::AnyOf(&[Scope::Ingest])),
    ("update_collection", Need::AnyOf(&[Scope::Admin])),
    ("delete_collection", Need::AnyOf(&[Scope::Admin])),
    ("get_collection_acl", Need::AnyOf(&[Scope::Admin])),
    ("set_collection_acl", Need::AnyOf(&[Scope::Admin])),
    ("update_collection_acl", Need::AnyOf(&[Scope::Admin])),
    ("list_indexes", Need::AnyOf(&[Scope::Read])),
    ("build_index", Need::AnyOf(&[Scope::Admin])),
    ("activate_index", Need::AnyOf(&[Scope::Admin])),
    ("drop_index", Need::AnyOf(&[Scope::Admin])),
    ("create_documents", Need::AnyOf(&[Scope::Ingest])),
    ("stream_documents", Need::AnyOf(&[Scope::Ingest])),
    ("replace_document", Need::AnyOf(&[Scope::Ingest])),
    ("delete_document", Need::AnyOf(&[Scope::Ingest])),
    ("delete_documents", Need::AnyOf(&[Scope::Ingest])),
    ("list_documents", Need::AnyOf(&[Scope::Ingest, Scope::Read])),
    ("get_document", Need::AnyOf(&[Scope::Ingest, Scope::Read])),
    ("get_document_content", Need::AnyOf(&[Scope::Read])),
    ("list_document_chunks", Need::AnyOf(&[Scope::Read])),
    ("get_document_acl", Need::AnyOf(&[Scope::Ingest])),
    ("set_document_acl", Need::AnyOf(&[Scope::Ingest])),
    ("update_document_acl", Need::AnyOf(&[Scope::Ingest])),
    ("create_erasure", Need::WholeTenant),
    ("list_erasures", Need::WholeTenant),
    ("get_erasure", Need::WholeTenant),
    ("export_collection", Need::AnyOf(&[Scope::Admin])),
    ("list_jobs", Need::AnyOf(&[Scope::Ingest])),
    ("get_job", Need::AnyOf(&[Scope::Ingest])),
    ("follow_job", Need::AnyOf(&[Scope::Ingest])),
    ("cancel_job", Need::AnyOf(&[Scope::Ingest])),
    ("retry_job", Need::AnyOf(&[Scope::Ingest])),
    ("create_key", Need::WholeTenant),
    ("list_keys", Need::WholeTenant),
    ("get_key", Need::WholeTenant),
    ("rotate_key", Need::WholeTenant),
    ("revoke_key", Need::WholeTenant),
    ("get_webhook_secret", Need::WholeTenant),
    ("get_storage", Need::WholeTenant),
    ("create_tenant", Need::Operator),
    ("list_tenants", Need::Operator),
    ("get_tenant", Need::Operator),
    ("update_tenant", Need::Operator),
    ("delete_tenant", Need::Operator),
    ("create_tenant_key", Need::Operator),
    ("get_metrics", Need::Operator),
];

/// The rights that the operation with this id needs.
///
/// # Panics
/// If the table lacks it: no operation is served before somebody has decided that.
pub(super) fn need(id: &str) -> Need {
    let found = OPERATIONS.iter().find(|(known, _)| *known == id);
    found.map(|(_, need)| *need).expect("every operation is in the table of operations")
}

fn need_of(operation: &Operation) -> Need {
    need(operation.operation_id.as_deref().unwrap_or_default())
}

/// States in the document what an operation needs.
pub(super) fn describe(operation: &mut Operation) {
    let key_with = |role: &str| SecurityRequirement::new("bearer", [role.to_owned()]);
    operation.security = Some(match need_of(operation) {
        Need::Nothing => Vec::new(),
        Need::AnyOf(scopes) => scopes.iter().map(|scope| key_with(scope.as_str())).collect(),
        Need::WholeTenant => vec![key_with(Scope::Admin.as_str())],
        Need::Operator => vec![key_with("operator")],
    });
}

/// Ids and needs of operations by method and path.
pub(super) struct Needs(HashMap<(Method, String), (String, Need)>);

impl Needs {
    /// The needs of the operations of a document.
    pub(super) fn of(mut document: OpenApi) -> Self {
        let routes = operations_by_route(&mut document);
        let known = |operation: &Operation| (operation.operation_id.clone().unwrap_or_default(), need_of(operation));
        Self(routes.map(|(method, path, operation)| ((method, path.to_owned()), known(operation))).collect())
    }

    /// The rights that the request's operation needs; `None` if its path has no operation with its method.
    pub(super) fn of_request(&self, request: &Request) -> Option<Need> {
        self.find(request).map(|(_, need)| *need)
    }

    /// The refusal of a request without an operation: it names the methods that its path has.
    pub(super) fn unserved(&self, request: &Request) -> Response {
        let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let of_path = self.0.keys().filter(|(_, known)| Some(known.as_str()) == path);
        let mut methods: Vec<&str> = of_path.map(|(method, _)| method.as_str()).collect();
        if methods.contains(&"GET") {
            methods.push("HEAD");
        }
        methods.sort_unstable();
        if methods.is_empty() {
            return StatusCode::NOT_FOUND.into_response();
        }
        (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, methods.join(","))]).into_response()
    }

    /// The id of the request's operation; `None` if its path has no operation with its method.
    pub(super) fn operation(&self, request: &Request) -> Option<&str> {
        self.find(request).map(|(id, _)| id.as_str())
    }

    fn find(&self, request: &Request) -> Option<&(String, Need)> {
        let path = request.extensions().get::<MatchedPath>()?.as_str().to_owned();
        // The router serves HEAD as GET.
        let method = if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
        self.0.get(&(method, path))
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::security_event::Change;

    /// Each of these is on record under the name of its operation; deleting old events is none.
    #[test]
    fn changes_have_the_names_of_operations() {
        for change in [
            Change::CreateDocuments,
            Change::StreamDocuments,
            Change::ReplaceDocument,
            Change::DeleteDocument,
            Change::DeleteDocuments,
            Change::ChangeDocumentAcl,
            Change::CreateErasure,
            Change::CancelJob,
            Change::RetryJob,
            Change::CreateCollection,
            Change::UpdateCollection,
            Change::DeleteCollection,
            Change::ChangeCollectionAcl,
            Change::ExportCollection,
            Change::BuildIndex,
            Change::ActivateIndex,
            Change::DropIndex,
            Change::CreateKey,
            Change::RotateKey,
            Change::RevokeKey,
            Change::ShowWebhookSecret,
            Change::CreateTenant,
            Change::UpdateTenant,
            Change::DeleteTenant,
        ] {
            let _ = super::need(change.as_str());
        }
    }
}
