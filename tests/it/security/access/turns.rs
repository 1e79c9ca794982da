//! More requests than there are connections to the database.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection};

use super::{
    keys::{SETTINGS, call, create_tenant},
    world::OPERATOR,
};
use crate::{
    database,
    harness::{Answer, TestApp, send},
    scripted::ModelServer,
    wait,
};

const CONNECTIONS: usize = 2;
/// Searches of one tenant that come before the one of another.
const SEARCHES: usize = 40;
/// Statements of the service that wait for a lock.
const BLOCKED: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cited' \
     AND datname = current_database() AND wait_event_type = 'Lock'";

/// A service with few connections, on which two tenants keep a document each, and the key of the second.
async fn few_connections(models: &ModelServer) -> (TestApp, String) {
    let connections = CONNECTIONS.to_string();
    let settings = [&SETTINGS[..], &[("CITED_DATABASE_CONNECTIONS", connections.as_str())]].concat();
    let app = TestApp::start_with_embeddings(models, &settings).await;
    let (_, key) = create_tenant(&app).await;
    for by in [OPERATOR, &key] {
        let body = json!({"collection": "c", "documents": [{"source": "a", "text": "The permit costs 20 francs."}]});
        let done = call(&app, by, Method::POST, "/v1/documents?wait=true", Some(body)).await;
        assert_eq!((done.status, &done.body["state"]), (200, &json!("succeeded")), "{done:?}");
    }
    (app, key)
}

async fn search(app: &TestApp, key: &str, number: usize) -> Answer {
    let body: Value = json!({"query": format!("permit {number}"), "collections": ["c"], "mode": "lexical"});
    send(app.request(Method::POST, "/v1/search").bearer_auth(key).json(&body)).await
}

/// Lets statements wait that read or write this table, until the connection is closed.
async fn lock(app: &TestApp, table: &str) -> PgConnection {
    let mut other = app.database.connect().await.expect("the database answers");
    let statement = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
    other.execute(sqlx::AssertSqlSafe(statement)).await.expect("locked");
    other
}

async fn until_all_are_blocked(app: &TestApp) {
    wait::until_ok("all connections wait for the lock", async || {
        let blocked = database::number(&app.database, BLOCKED).await;
        if blocked >= i64::try_from(CONNECTIONS).expect("few") { Ok(()) } else { Err(blocked) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_searches_of_one_tenant_do_not_come_before_all_of_another() {
    let models = ModelServer::start().await;
    let (app, key) = few_connections(&models).await;
    let locked = lock(&app, "chunk").await;
    let done = AtomicUsize::new(0);
    let of_one = (0..SEARCHES).map(async |number| {
        let answer = search(&app, &key, number).await;
        done.fetch_add(1, Ordering::SeqCst);
        answer
    });
    let of_other = async {
        until_all_are_blocked(&app).await;
        let (answer, ()) = tokio::join!(search(&app, OPERATOR, SEARCHES), async {
            // The other tenant's is the last that has come. Its key is not looked up: it stands in line at once.
            tokio::time::sleep(Duration::from_secs(2)).await;
            locked.close().await.expect("close");
        });
        (answer, done.load(Ordering::SeqCst))
    };
    let (of_one, (of_other, before)) = tokio::join!(join_all(of_one), of_other);
    assert_eq!(of_other.status, 200, "{of_other:?}");
    assert!(before < SEARCHES / 2, "{before} searches of one tenant were answered before the one of another");
    for answer in of_one {
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_that_has_searched_is_finished_though_others_fill_the_general_pool() {
    let models = ModelServer::start().await;
    let (app, _) = few_connections(&models).await;
    let locked = lock(&app, "api_key").await;
    // The key of the operator is not looked up, and neither asks nor searches read this table.
    let held = (0..CONNECTIONS).map(|number| {
        let body = json!({"name": format!("held-{number}"), "scopes": ["ask"]});
        send(app.request(Method::POST, "/v1/keys").bearer_auth(OPERATOR).json(&body))
    });
    let asked = async {
        until_all_are_blocked(&app).await;
        let question = json!({"question": "What does the permit cost?", "collections": ["c"]});
        let ask = call(&app, OPERATOR, Method::POST, "/v1/ask", Some(question));
        let (answer, ()) = tokio::join!(ask, async {
            // Longer than what is new waits.
            tokio::time::sleep(Duration::from_secs(7)).await;
            locked.close().await.expect("close");
        });
        answer
    };
    let (held, asked) = tokio::join!(join_all(held), asked);
    assert_eq!(asked.status, 200, "{asked:?}");
    for answer in held {
        assert_eq!(answer.status, 201, "{answer:?}");
    }
    app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_too_long_for_the_others_is_told_so_and_when_to_come_again() {
    let models = ModelServer::start().await;
    let (app, key) = few_connections(&models).await;
    let create = |name: String| {
        let body = json!({"name": name});
        send(app.request(Method::POST, "/v1/collections").bearer_auth(OPERATOR).json(&body))
    };
    for (table, is_search) in [("chunk", true), ("collection", false)] {
        let locked = lock(&app, table).await;
        let held = async {
            if is_search {
                join_all((0..CONNECTIONS).map(|number| search(&app, OPERATOR, number))).await
            } else {
                join_all((0..CONNECTIONS).map(|number| create(format!("held-{number}")))).await
            }
        };
        let refused = async {
            until_all_are_blocked(&app).await;
            let refused = if is_search {
                search(&app, &key, 0).await
            } else {
                call(&app, OPERATOR, Method::POST, "/v1/collections", Some(json!({"name": "refused"}))).await
            };
            locked.close().await.expect("close");
            refused
        };
        let (held, refused) = tokio::join!(held, refused);
        refused.assert_problem(503, "database_busy");
        assert!(refused.headers.contains_key("retry-after"), "{refused:?}");
        for answer in held {
            assert!([200, 201].contains(&answer.status), "{answer:?}");
        }
    }
    assert_eq!(search(&app, &key, 1).await.status, 200);
    app.stop().await;
}
