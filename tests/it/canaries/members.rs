//! The caller as whom tests ask that name none: a key without the scope `admin`, which is on no list of the hidden documents.

use std::{collections::BTreeMap, sync::OnceLock};

use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::OPERATOR;
use crate::harness::{client, client_with, receive};

/// Settings by which a test says itself who may ask.
const ACCESS: [&str; 2] = ["CITED_API_KEYS", "CITED_OIDC_ISSUER"];
/// Tests, or modules of them, that ask as the operator, who sees hidden documents, and why.
const AS_OPERATOR: [(&str, &str); 13] = [
    ("http::mcp", "its clients present no key"),
    (
        "ingest::bulk::a_broken_stream_keeps_what_had_arrived_and_says_so",
        "it writes a request without a key to a socket",
    ),
    ("operations::command_eval", "the command is given no key"),
    ("operations::command_ingest", "the command is given no key"),
    ("operations::command_service", "the command is given no key"),
    ("operations::command_sync", "the command is given no key"),
    ("providers::clients", "clients of others present no key, or one of their own"),
    ("operations::metrics", "it counts requests, those that make a key included"),
    (
        "security::access::forgery::a_record_that_was_sealed_without_the_pepper_is_not_whole",
        "has a service without a pepper",
    ),
    (
        "security::access::keys::without_keys_everybody_is_the_operator_but_a_key_is_held_to_what_it_grants",
        "has no keys",
    ),
    ("security::access::keys::wrong_keys_are_not_made", "has no pepper"),
    ("security::cross_origin", "what pages may do to a service without keys"),
    ("security::transport::with_a_certificate_the_service_speaks_tls_and_nothing_else", "has a client of its own"),
];
/// Tests, or modules of them, without hidden documents in their database, and why.
const WITHOUT_HIDDEN_DOCUMENTS: [(&str, &str); 19] = [
    ("ask::audit", "the operator lists all asks"),
    ("documents::reading::collections_have_a_life", "lists all collections"),
    ("http::errors::keys_open_every_route_that_is_listed", "the operator lists all documents"),
    ("http::openai::a_long_conversation_is_followed_and_a_front_end_may_ask_for_titles", "the operator lists all asks"),
    ("http::mcp", "its tools search all collections, as the operator"),
    ("http::openai::the_name_of_the_model_chooses_collections_and_notation", "lists all collections"),
    ("security::access::acl::jobs_and_deletes_touch_only_what_is_seen", "the operator lists all jobs"),
    ("security::access::matrix::each_scope_opens_what_the_document_says_and_no_more", "admins list everything"),
    ("security::access::matrix::tenants_are_apart_by_row_security_alone", "an admin lists everything"),
    ("security::access::matrix::tenants_are_apart_without_row_security_too", "an admin lists everything"),
    ("security::access::matrix::what_is_another_tenants_answers_as_nothing_does", "an admin lists everything"),
    ("security::access::tokens::a_token_opens_what_its_claims_grant_to_its_user_and_groups", "an admin lists all asks"),
    ("security::access::tokens::the_tenant_and_the_collections_of_a_token_bound_it", "lists all collections"),
    ("ingest::bulk::a_broken_stream_keeps_what_had_arrived_and_says_so", "the operator lists all jobs"),
    ("operations::command_eval::attacks_are_tried_at_each_level_and_told", "lists all collections"),
    ("operations::command_service", "lists all collections"),
    ("providers::clients", "clients of others list and search everything, as the operator"),
    ("operations::traces::a_call_of_a_tool_is_a_span_within_its_request", "the operator asks all collections"),
    ("ingest::oversized::a_file_without_end_is_refused", "the operator lists all jobs"),
];

/// Tests, or modules of them, whose documents have no hidden twins beside them, and why.
const WITHOUT_TWINS: [(&str, &str); 12] = [
    ("ask::citations::a_citation_outlives_its_document", "counts former versions"),
    ("documents::erasures::jobs_are_deleted_some_time_after_their_end", "counts jobs"),
    ("documents::reading::a_delete_leaves_nothing_and_says_what_went", "counts rows"),
    ("http::requests::a_repeated_request_gets_the_first_answer_and_does_nothing", "counts jobs"),
    ("indexes", "operators build indexes of all documents, and the jobs and the status of that count them all"),
    (
        "ingest::progressive::a_document_that_is_replaced_before_its_vectors_gets_those_of_its_new_version_only",
        "counts the texts that the model was asked for",
    ),
    (
        "ingest::progressive::vectors_count_as_they_arrive_and_a_query_says_how_many_there_are",
        "reads how many vectors there are, which is not told where documents are hidden",
    ),
    (
        "ingest::progressive::vectors_that_are_awaited_keep_no_other_index_back",
        "the operator builds an index of all documents",
    ),
    ("ingest::uploads::unchanged_content_is_not_redone", "counts the texts that the model was asked for"),
    (
        "jobs::control::a_delete_by_prefix_takes_what_is_stored_and_what_waits",
        "where documents are hidden, what waits stays",
    ),
    ("operations::migrations::what_was_stored_before_is_counted", "counts what the tenant stores"),
    ("search::kept_results", "counts searches that are made again"),
];

/// Whether the documents of the test that runs have hidden twins.
pub(crate) fn wants_twins() -> bool {
    !is_on(&WITHOUT_TWINS)
}

/// Whether the test that runs is on the list of those without hidden documents in their database.
pub(crate) fn is_excepted() -> bool {
    is_on(&WITHOUT_HIDDEN_DOCUMENTS)
}

/// Whether the test that runs, or a module of it, is on a list. The thread of a test has its name.
fn is_on(list: &[(&str, &str)]) -> bool {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    list.iter()
        .any(|(listed, _)| name.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || rest.starts_with("::")))
}

/// Keys of a service that was not told who may ask.
pub(crate) struct Member {
    secret: String,
}

impl Member {
    /// Adds the settings of a service that has a member, unless the test says itself who may ask.
    pub(crate) fn is_let_in(settings: &mut BTreeMap<String, String>) -> bool {
        if ACCESS.iter().any(|name| settings.keys().any(|set| set.starts_with(name))) || is_on(&AS_OPERATOR) {
            return false;
        }
        let access = [("CITED_API_KEYS", OPERATOR), ("CITED_KEY_PEPPER", "a-pepper-of-members-0123456789-0123456789")];
        settings.extend(access.map(|(name, value)| (name.to_owned(), value.to_owned())));
        true
    }

    /// Makes the member's key.
    pub(crate) async fn join(base: &str) -> Self {
        let wanted = json!({"name": "member", "scopes": ["ask", "ingest", "read"], "principals": ["user:member"]});
        let made = receive(client().post(format!("{base}/v1/keys")).bearer_auth(OPERATOR).json(&wanted)).await;
        let secret = made.body["key"].is_object().then(|| made.body["secret"].as_str()).flatten();
        Self { secret: secret.unwrap_or_else(|| panic!("no key: {made:?}")).to_owned() }
    }

    /// A client that presents the key.
    pub(crate) fn client(&self) -> Client {
        client_with(&self.secret)
    }
}

/// The operator's key, for operations that no key of a member opens.
pub(crate) fn operator_for(method: &Method, path: &str) -> Option<&'static str> {
    static ROLES: OnceLock<Value> = OnceLock::new();
    let document = ROLES.get_or_init(|| serde_json::to_value(cited::openapi_document()).expect("JSON"));
    let path = path.split('?').next().unwrap_or_default();
    let mut paths = document["paths"].as_object().expect("paths").iter();
    let (_, methods) = paths.find(|(template, _)| is_of(template, path))?;
    let security = methods[method.as_str().to_lowercase()]["security"].as_array()?;
    let is_for_operators = |one: &Value| one["bearer"][0] == "admin" || one["bearer"][0] == "operator";
    (!security.is_empty() && security.iter().all(is_for_operators)).then_some(OPERATOR)
}

/// Whether a path is one of a template.
fn is_of(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template.zip(path).all(|(wanted, part)| wanted == part || (wanted.starts_with('{') && !part.is_empty()))
}
