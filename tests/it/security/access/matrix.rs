//! Each operation of the `OpenAPI` document with each kind of key: what it answers is what the document says, and what a
//! caller may not see answers as nothing does.

use regex::Regex;
use reqwest::{Method, header::HeaderValue};
use serde_json::json;

use super::{
    operations::{self, Operation},
    world::{Caller, NOTHING, Named, OPERATOR, World},
};
use crate::{
    database,
    harness::{Answer, send},
};

/// Starts of the words that belong to the second tenant, apart from the names that requests repeat.
const OF_FOREIGN: [&str; 3] = ["canaryforeign", "canarykey", "canarytenant"];

/// Operations that make something under a name: what may not be seen cannot be made either.
const MAKING: [&str; 4] = ["create_collection", "create_documents", "stream_documents", "call_mcp ingest"];

/// The database without its policies.
const WITHOUT_ROW_SECURITY: &str = "DO $$ DECLARE one regclass; BEGIN
    FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relrowsecurity LOOP
        EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', one);
        COMMIT; -- a lock at a time: the service reads several of the tables meanwhile
    END LOOP; END $$";
/// A database for whose statements all tenants of `one_for_all.joined` are one: their equality sign takes the ids of any two
/// for the same. Policies were read before and know the true one, as do the functions with a search path of their own, which
/// look past the policies.
const WITHOUT_CONDITIONS: &str = "CREATE SCHEMA one_for_all;
    CREATE TABLE one_for_all.joined (tenant_id uuid);
    CREATE FUNCTION one_for_all.has(id uuid) RETURNS boolean LANGUAGE sql STABLE AS
        'SELECT EXISTS (SELECT FROM one_for_all.joined WHERE tenant_id OPERATOR(pg_catalog.=) id)';
    CREATE FUNCTION one_for_all.same(a uuid, b uuid) RETURNS boolean LANGUAGE sql STABLE AS
        'SELECT a OPERATOR(pg_catalog.=) b OR (one_for_all.has(a) AND one_for_all.has(b))';
    CREATE OPERATOR one_for_all.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = one_for_all.same);
    CREATE OPERATOR CLASS one_for_all.uuid_of_rows FOR TYPE uuid USING btree AS
        OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 one_for_all.=, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 uuid_cmp(uuid, uuid);
    GRANT USAGE ON SCHEMA one_for_all TO PUBLIC;
    GRANT SELECT ON one_for_all.joined TO PUBLIC;
    DO $$ DECLARE role name; BEGIN
        FOREACH role IN ARRAY ARRAY['cited_app', 'cited_worker'] LOOP
            EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = one_for_all, public, pg_catalog', role, current_database());
        END LOOP; END $$";
/// The database with lists that are a condition of searches, and not asked again where passages are read.
const WITHOUT_THE_CHECK_OF_PASSAGES: &str = "DO $$ DECLARE former text; changed text; BEGIN
    former := pg_get_functiondef('find_passages'::regproc);
    changed := replace(former, 'AND may_see(d.allowed, d.denied, in_caller)', '');
    ASSERT changed <> former;
    EXECUTE changed; END $$";
/// The database with lists that are asked where passages are read, and nowhere else.
const WITH_THE_CHECK_OF_PASSAGES_ALONE: &str = "DO $$ DECLARE former text; changed text; BEGIN
    former := pg_get_functiondef('may_see'::regproc);
    changed := replace(former, '.may_see(', '.still_see(');
    ASSERT changed <> former;
    EXECUTE changed;
    EXECUTE regexp_replace(former, 'SELECT caller IS NULL OR', 'SELECT true OR caller IS NULL OR');
    former := pg_get_functiondef('find_passages'::regproc);
    changed := replace(former, 'may_see(', 'still_see(');
    ASSERT changed <> former;
    EXECUTE changed; END $$";
/// Operations that answer with words of passages that a search has found.
const FINDING: [&str; 7] =
    ["ask", "stream_ask", "search", "create_chat_completion", "create_response", "call_mcp search", "call_mcp ask"];

#[tokio::test]
async fn no_operation_but_probes_opens_without_a_valid_key() {
    let world = World::start("").await;
    let caller = world.caller();
    let mut keys = vec![
        ("malformed", "cited_this-is-no-key".to_owned()),
        ("unknown", domain::access::write_key(&domain::access::written_id([7; 8]), [9; 32])),
        ("of another service", "another-key-of-an-operator".to_owned()),
    ];
    for (state, change) in [("expired", "expires_at = now() - interval '1 second'"), ("revoked", "revoked_at = now()")]
    {
        let (secret, id) = caller.key(OPERATOR, "/v1/keys", json!({"name": state, "scopes": ["admin"]})).await;
        // It was never presented, so no process knows it yet.
        let sql = format!("UPDATE api_key SET {change} WHERE key_id = '{id}'");
        database::execute(&world.database, &sql).await;
        keys.push((state, secret));
    }
    let (secret, _) = caller.key(OPERATOR, "/v1/keys", json!({"name": "cut", "scopes": ["admin"]})).await;
    keys.push(("cut off", secret.chars().take(secret.len() - 1).collect()));
    for operation in operations::all() {
        let request = || operation.request(&caller, &Named::nothing());
        let bare = send(request()).await;
        if operation.roles.is_empty() {
            assert_eq!(bare.status, 200, "{}", operation.id);
            continue;
        }
        bare.assert_problem(401, "unauthorized");
        for (kind, key) in &keys {
            let answer = send(request().bearer_auth(key)).await;
            assert_eq!(answer.status, 401, "{} with a key that is {kind}: {answer:?}", operation.id);
            answer.assert_problem(401, "unauthorized");
        }
    }
    world.process.stop().await;
}

#[tokio::test]
async fn each_scope_opens_what_the_document_says_and_no_more() {
    let world = World::start("").await;
    let caller = world.caller();
    for scope in ["ask", "ingest", "read", "admin"] {
        let (key, _) = caller.key(OPERATOR, "/v1/keys", json!({"name": scope, "scopes": [scope]})).await;
        for operation in operations::all() {
            let answer = send(operation.request(&caller, &Named::nothing()).bearer_auth(&key)).await;
            if operation.suffices(scope) {
                assert!(![401, 403].contains(&answer.status), "{} with {scope}: {answer:?}", operation.id);
                continue;
            }
            answer.assert_problem(403, "insufficient_scope");
            let named = |role: &String| answer.body["detail"].as_str().is_some_and(|detail| detail.contains(role));
            assert!(operation.roles.iter().all(named), "{} with {scope}: {answer:?}", operation.id);
        }
    }
    world.process.stop().await;
}

#[tokio::test]
async fn what_is_another_tenants_answers_as_nothing_does() {
    let world = World::start("").await;
    assert_hidden(&world, &world.admin, &world.foreign, &OF_FOREIGN).await;
    world.process.stop().await;
}

/// The conditions of the queries hold alone, should the policies of the database be lost.
#[tokio::test]
async fn tenants_are_apart_without_row_security_too() {
    let world = World::start(WITHOUT_ROW_SECURITY).await;
    assert_hidden(&world, &world.admin, &world.foreign, &OF_FOREIGN).await;
    world.process.stop().await;
}

/// The policies of the database hold alone, should statements forget their conditions.
#[tokio::test]
async fn tenants_are_apart_by_row_security_alone() {
    let database = database::create().await;
    database::execute(&database, WITHOUT_CONDITIONS).await;
    let world = World::start_on(database, "").await;
    database::execute(&world.database, "INSERT INTO one_for_all.joined SELECT tenant_id FROM without_canaries.tenant")
        .await;
    assert_hidden(&world, &world.admin, &world.foreign, &OF_FOREIGN).await;
    database::execute(&world.database, WITHOUT_ROW_SECURITY).await;
    let caller = world.caller();
    for list in ["/v1/collections", "/v1/documents", "/v1/audit", "/v1/keys"] {
        let answer = caller.get(&world.admin, list).await.body.to_string();
        let is_foreign = |word: &&str| answer.contains(*word);
        assert!(["canarycollection"].iter().chain(&OF_FOREIGN).any(is_foreign), "no lock is left: {list}: {answer}");
    }
    world.process.stop().await;
}

#[tokio::test]
async fn a_collection_that_is_not_granted_answers_as_nothing_does() {
    let world = World::start("").await;
    assert_hidden(&world, &world.limited, &world.closed, &["canaryclosed"]).await;
    for operation in operations::all().into_iter().filter(|operation| operation.roles == ["admin"]) {
        if operation.id.ends_with("_key") || operation.id.ends_with("_keys") {
            let answer = send(operation.request(&world.caller(), &world.closed).bearer_auth(&world.limited)).await;
            answer.assert_problem(403, "insufficient_scope");
        }
    }
    world.process.stop().await;
}

#[tokio::test]
async fn a_document_that_is_not_for_the_caller_answers_as_nothing_does() {
    assert_restricted(World::start("").await).await;
}

/// Lists need no policy of the database, which knows tenants alone.
#[tokio::test]
async fn lists_hold_without_row_security_too() {
    assert_restricted(World::start(WITHOUT_ROW_SECURITY).await).await;
}

/// The condition of searches holds alone, should passages be read unasked.
#[tokio::test]
async fn lists_hold_by_the_condition_of_searches_alone() {
    assert_restricted(World::start(WITHOUT_THE_CHECK_OF_PASSAGES).await).await;
}

/// The condition where passages are read holds alone, should a search forget its own.
#[tokio::test]
async fn lists_hold_by_the_check_of_passages_alone() {
    let world = World::start(WITH_THE_CHECK_OF_PASSAGES_ALONE).await;
    let caller = world.caller();
    for operation in operations::all().into_iter().filter(|operation| FINDING.contains(&operation.id.as_str())) {
        let shown_to = async |key: &str| {
            let answer = send(operation.request(&caller, &world.restricted).bearer_auth(key)).await;
            assert_eq!(answer.status, 200, "{}: {answer:?}", operation.id);
            format!("{:?} {}", answer.headers, answer.text)
        };
        let shown = shown_to(&world.stranger).await;
        assert!(!shown.contains("canaryrestricted"), "{}: {shown}", operation.id);
        if operation.id == "search" {
            assert!(shown_to(&world.admin).await.contains("canaryrestricted"), "it would be found");
        }
    }
    world.process.stop().await;
}

async fn assert_restricted(world: World) {
    let caller = world.caller();
    let Named { key, tenant, .. } = Named::nothing();
    let hidden = Named { key, tenant, ..world.restricted.clone() };
    let nothing = Named {
        collection: hidden.collection.clone(),
        urn: format!("cited:{}/{NOTHING}@1#0", hidden.collection),
        index: hidden.index.clone(),
        ..Named::nothing()
    };
    for operation in operations::all() {
        let of_hidden = send(operation.request(&caller, &hidden).bearer_auth(&world.stranger)).await;
        let shown = format!("{:?} {}", of_hidden.headers, hidden.masked(&of_hidden.text));
        assert!(!shown.contains("canaryrestricted"), "{}: {shown}", operation.id);
        if operation.tells_apart(&hidden, &nothing) {
            let of_nothing = send(operation.request(&caller, &nothing).bearer_auth(&world.stranger)).await;
            assert_same(&operation, (&of_hidden, &hidden), (&of_nothing, &nothing));
        }
    }
    for list in ["/v1/collections", "/v1/documents", "/v1/jobs", "/v1/collections/mixed/indexes"] {
        let answer = caller.get(&world.stranger, list).await;
        assert_eq!(answer.status, 200, "{list}: {answer:?}");
        assert!(!answer.text.contains("canaryrestricted"), "{list}: {answer:?}");
    }
    assert_nothing_is_measured(&caller).await;
    let log = world.process.logged().join("\n");
    assert!(!log.contains("canaryrestricted"), "{log}");
    let left = "SELECT count(*) FROM document WHERE version = 1 AND title LIKE 'canaryrestricted%'";
    assert_eq!(database::number(&world.database, left).await, 1, "it is untouched");
    world.process.stop().await;
}

/// Holds each operation on hidden things against the same on nothing, and looks for their words in all answers, in
/// the metrics, in the log, and, as all tests do in the end, in that of the database.
async fn assert_hidden(world: &World, key: &str, hidden: &Named, words: &[&str]) {
    let caller = world.caller();
    let nothing = Named::nothing();
    // Names of another tenant are free here; what is made under one is this tenant's, and is listed from then on.
    let (making, others): (Vec<_>, Vec<_>) = operations::all()
        .into_iter()
        .partition(|operation| MAKING.contains(&operation.id.as_str()) && key == world.admin);
    for operation in others {
        let of_hidden = send(operation.request(&caller, hidden).bearer_auth(key)).await;
        let shown = format!("{:?} {}", of_hidden.headers, hidden.masked(&of_hidden.text));
        assert!(!words.iter().any(|word| shown.contains(word)), "{}: {shown}", operation.id);
        if !operation.names_something() {
            continue;
        }
        let of_nothing = send(operation.request(&caller, &nothing).bearer_auth(key)).await;
        assert_same(&operation, (&of_hidden, hidden), (&of_nothing, &nothing));
    }
    for list in ["/v1/collections", "/v1/documents", "/v1/jobs", "/v1/audit", "/v1/keys"] {
        let answer = caller.get(key, list).await.text;
        assert!(!words.iter().any(|word| answer.contains(word)), "{list}: {answer}");
    }
    for operation in making {
        assert_made_alike(&operation, &caller, key, [hidden, &nothing]).await;
    }
    assert_nothing_is_measured(&caller).await;
    let log = world.process.logged().join("\n");
    assert!(!["canaryforeign", "canaryclosed"].iter().any(|word| log.contains(word)), "{log}");
    assert_untouched(&caller, world).await;
}

/// Checks that metrics name nothing of anybody.
async fn assert_nothing_is_measured(caller: &Caller) {
    let metrics = caller.get(OPERATOR, "/metrics").await;
    assert_eq!(metrics.status, 200, "{metrics:?}");
    assert!(metrics.text.contains("cited_") && !metrics.text.contains("canary"), "{}", metrics.text);
}

/// Checks that two answers are one but for the names in them: status, headers and every byte of the body.
fn assert_same(operation: &Operation, hidden: (&Answer, &Named), nothing: (&Answer, &Named)) {
    let seen = |(answer, named): (&Answer, &Named)| {
        let told = answer.headers.iter().filter(|(name, _)| !OF_THE_MOMENT.contains(&name.as_str()));
        let text = |value: &HeaderValue| without_ids(&named.masked(value.to_str().expect("text")));
        let mut headers: Vec<(String, String)> = told.map(|(name, value)| (name.to_string(), text(value))).collect();
        headers.sort();
        (answer.status, headers, without_ids(&named.masked(&answer.text)))
    };
    assert_eq!(seen(hidden), seen(nothing), "{}", operation.id);
}

/// Headers that differ between any two answers; the length is that of the body.
const OF_THE_MOMENT: [&str; 5] = ["content-length", "date", "ratelimit", "ratelimit-policy", "x-request-id"];

/// A text without ids and times that are new in each answer.
fn without_ids(text: &str) -> String {
    const NEW: [(&str, &str); 3] = [
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<new id>"),
        ("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "<time>"),
        (r#""(created|created_at)":[0-9]+"#, "<time>"),
    ];
    let replaced = |text: String, (pattern, name): (&str, &str)| {
        Regex::new(pattern).expect("a pattern").replace_all(&text, name).into_owned()
    };
    NEW.into_iter().fold(text.to_owned(), replaced)
}

/// A text without what tells how far a job has come at the moment of the answer, and whether its text was seen before.
fn without_progress(text: &str) -> String {
    const OF_PROGRESS: [&str; 3] = [
        r#""progress":(null|\{[^}]*\})"#,
        r#""stages":\[[^\]]*\]"#,
        r#""(state|stage|attempts|started_at|finished_at|searchable|complete|documents|chunks|unchanged|embedding_calls|reused_vectors|document_id|tokens)":("[^"]*"|null|[0-9.]+)"#,
    ];
    let replaced = |text: String, pattern: &str| {
        Regex::new(pattern).expect("a pattern").replace_all(&text, "<progress>").into_owned()
    };
    OF_PROGRESS.into_iter().fold(text.to_owned(), replaced)
}

/// Checks that making something under a name that another tenant has is as making it under one that nobody has.
async fn assert_made_alike(operation: &Operation, caller: &Caller, key: &str, [hidden, nothing]: [&Named; 2]) {
    let mut of_hidden = send(operation.request(caller, hidden).bearer_auth(key)).await;
    let mut of_nothing = send(operation.request(caller, nothing).bearer_auth(key)).await;
    assert!(of_hidden.status < 300, "{}: {of_hidden:?}", operation.id);
    for answer in [&mut of_hidden, &mut of_nothing] {
        answer.text = without_progress(&answer.text);
    }
    assert_same(operation, (&of_hidden, hidden), (&of_nothing, nothing));
    for Named { collection, .. } in [hidden, nothing] {
        let deletion = caller.request(Method::DELETE, &format!("/v1/collections/{collection}")).bearer_auth(key);
        let deleted = send(deletion).await;
        assert!(deleted.status < 300, "{collection} after {}: {deleted:?}", operation.id);
    }
}

/// Checks that hidden things are still there.
async fn assert_untouched(caller: &Caller, world: &World) {
    let rows = "SELECT count(*) FROM document d JOIN collection c USING (tenant_id, collection_id)
        WHERE c.name IN ('closedcollection', 'canarycollection') AND d.version = 1 AND d.title LIKE 'canary%'";
    assert_eq!(database::number(&world.database, rows).await, 2);
    let indexes = "SELECT count(*) FROM collection_index i JOIN collection c USING (tenant_id, collection_id)
        WHERE c.name IN ('closedcollection', 'canarycollection')
          AND c.tenant_id IN (SELECT tenant_id FROM document WHERE title LIKE 'canary%')";
    assert!(database::number(&world.database, indexes).await >= 2);
    let open = caller.get(&world.limited, "/v1/collections/open").await;
    assert_eq!((open.status, open.body["documents"].as_u64()), (200, Some(1)), "{open:?}");
    assert_eq!(caller.get(OPERATOR, &format!("/v1/documents/{NOTHING}")).await.status, 404);
}
