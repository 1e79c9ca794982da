//! What each operation that can change something leaves on record.

use std::collections::BTreeSet;

use serde_json::json;

use super::{
    operations::{self, Operation},
    world::{Caller, Named, OPERATOR, World, text},
};
use crate::{database, harness::send, wait};

/// Every operation that is no reading, and the action that it is on record under; `None` if it changes nothing that others see.
/// Beside them, readings that show a secret or hand documents out.
const RECORDED: [(&str, Option<&str>); 39] = [
    ("ask", None),
    ("stream_ask", None),
    ("search", None),
    ("check", None),
    ("create_chat_completion", None),
    ("create_response", None),
    ("call_mcp search", None),
    ("call_mcp fetch", None),
    ("call_mcp ask", None),
    ("call_mcp check", None),
    ("call_mcp collections", None),
    ("call_mcp ingest", Some("create_documents")),
    ("get_webhook_secret", Some("get_webhook_secret")),
    ("export_collection", Some("export_collection")),
    ("create_collection", Some("create_collection")),
    ("update_collection", Some("update_collection")),
    ("delete_collection", Some("delete_collection")),
    ("set_collection_acl", Some("update_collection_acl")),
    ("update_collection_acl", Some("update_collection_acl")),
    ("build_index", Some("build_index")),
    ("activate_index", Some("activate_index")),
    ("drop_index", Some("drop_index")),
    ("create_documents", Some("create_documents")),
    ("stream_documents", Some("stream_documents")),
    ("replace_document", Some("replace_document")),
    ("delete_document", Some("delete_document")),
    ("delete_documents", Some("delete_documents")),
    ("set_document_acl", Some("update_document_acl")),
    ("update_document_acl", Some("update_document_acl")),
    ("create_erasure", Some("create_erasure")),
    ("cancel_job", Some("cancel_job")),
    ("retry_job", Some("retry_job")),
    ("create_key", Some("create_key")),
    ("create_tenant_key", Some("create_key")),
    ("rotate_key", Some("rotate_key")),
    ("revoke_key", Some("revoke_key")),
    ("create_tenant", Some("create_tenant")),
    ("update_tenant", Some("update_tenant")),
    ("delete_tenant", Some("delete_tenant")),
];

/// Sends the request of each operation, and holds what is on record of it against the table.
struct Driver {
    world: World,
    caller: Caller,
    left: BTreeSet<&'static str>,
}

impl Driver {
    async fn drive(&mut self, id: &'static str, key: &str, named: &Named) {
        let (_, expected) = RECORDED.iter().find(|(known, _)| *known == id).expect("it is in the table");
        let operation = operations::all().into_iter().find(|operation| operation.id == id).expect("it is an operation");
        let request_id = id.replace(' ', "-");
        let request = operation.request(&self.caller, named).bearer_auth(key).header("x-request-id", &request_id);
        let answer = send(request).await;
        assert!(
            answer.status < 300 && answer.body.pointer("/result/isError") != Some(&json!(true)),
            "{id}: {answer:?}"
        );
        let of_request = format!("FROM security_event WHERE request_id = '{request_id}' AND refusal IS NULL");
        let all = database::number(&self.world.database, &format!("SELECT count(*) {of_request}")).await;
        let action = expected.unwrap_or_default();
        let such = format!("SELECT count(*) {of_request} AND action = '{action}'");
        let such = database::number(&self.world.database, &such).await;
        let wanted = i64::from(expected.is_some());
        // That revokes the keys of the tenant, with an event of its own.
        let beside = i64::from(id == "delete_tenant");
        assert_eq!((all, such), (wanted + beside, wanted), "events, and those of {action:?}, after {id}");
        assert!(self.left.remove(id), "{id} once");
    }

    async fn drive_all(&mut self, ids: &[&'static str], key: &str, named: &Named) {
        for id in ids {
            self.drive(id, key, named).await;
        }
    }
}

#[tokio::test]
async fn every_change_leaves_its_event() {
    let changing =
        |one: &Operation| !one.reads() || ["get_webhook_secret", "export_collection"].contains(&one.id.as_str());
    let known: BTreeSet<String> = operations::all().into_iter().filter(changing).map(|one| one.id).collect();
    let told: BTreeSet<String> = RECORDED.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(known, told, "each has its line in the table");

    let world = World::start("").await;
    let (caller, admin) = (world.caller(), world.admin.clone());
    let mut driver = Driver { caller: world.caller(), world, left: RECORDED.iter().map(|(id, _)| *id).collect() };
    let (_, key) = caller.key(OPERATOR, "/v1/keys", json!({"name": "another", "scopes": ["ask"]})).await;
    let tenant = caller.post(OPERATOR, "/v1/tenants", json!({"name": "another"})).await;
    let own = Named { key, tenant: text(&tenant.body["id"]), ..driver.world.closed.clone() };
    let fresh = Named { collection: "fresh".to_owned(), ..own.clone() };

    let asking = ["ask", "stream_ask", "search", "check", "create_chat_completion", "create_response"];
    driver.drive_all(&asking, &admin, &own).await;
    driver
        .drive_all(
            &["call_mcp search", "call_mcp fetch", "call_mcp ask", "call_mcp check", "call_mcp collections"],
            &admin,
            &own,
        )
        .await;
    let filling = ["create_collection", "create_documents", "stream_documents", "call_mcp ingest"];
    driver.drive_all(&filling, &admin, &fresh).await;
    driver
        .drive_all(
            &["export_collection", "update_collection", "set_collection_acl", "update_collection_acl"],
            &admin,
            &own,
        )
        .await;
    driver.drive_all(&["set_document_acl", "update_document_acl", "replace_document"], &admin, &own).await;
    driver.drive_all(&["retry_job", "build_index"], &admin, &own).await;
    let path = format!("/v1/collections/{}", own.collection);
    let indexes = format!("{path}/indexes");
    let built = wait::until_ok("the index is built", async || {
        let (all, collection) = (caller.get(&admin, &indexes).await.body, caller.get(&admin, &path).await.body);
        let next = &all["indexes"][1];
        if next["documents"] == collection["documents"] { Ok(text(&next["id"])) } else { Err((all, collection)) }
    })
    .await;
    driver.drive("activate_index", &admin, &Named { index: built, ..own.clone() }).await;
    driver.drive("drop_index", &admin, &own).await;

    driver.world.models.hold_embeddings(Some("Held"));
    let upload = json!({"collection": "fresh", "documents": [{"source": "held", "text": "Held."}]});
    let job = text(&caller.post(&admin, "/v1/documents", upload).await.body["id"]);
    driver.drive("cancel_job", &admin, &Named { job, ..own.clone() }).await;
    driver.world.models.hold_embeddings(None);

    driver.drive_all(&["create_key", "rotate_key", "revoke_key", "get_webhook_secret"], &admin, &own).await;
    let of_tenants = ["create_tenant", "update_tenant", "create_tenant_key", "delete_tenant"];
    driver.drive_all(&of_tenants, OPERATOR, &own).await;
    let restricted = driver.world.restricted.clone();
    driver.drive("delete_document", &admin, &restricted).await;
    let plain = caller.get(&admin, "/v1/documents?collection=open").await.body;
    let plain = text(&plain["documents"][0]["id"]);
    driver.drive("create_erasure", &admin, &Named { document: plain, ..own.clone() }).await;
    driver.drive("delete_documents", &admin, &own).await;
    driver.drive("delete_collection", &admin, &own).await;
    assert!(driver.left.is_empty(), "{:?} are not driven", driver.left);
    driver.world.process.stop().await;
}
