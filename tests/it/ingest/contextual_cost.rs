//! Sentences about chunks that are paid for, and a database that fails when their cost is counted.

use serde_json::json;

use crate::{
    database,
    ingest::contextual::{SENTENCE, app, collection, send, text},
    scripted::{ModelServer, Role},
};

/// A call costs at most 51.2 cents and really 2.
const PRICES: &str =
    "[prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 0\ncompletion_usd_per_million = 1000\n";
/// More than six calls can cost.
const LIMIT: (&str, &str) = ("CITED_DAILY_COST_USD", "10");
const SPENT: &str = "SELECT sum(cost_nano_usd)::bigint FROM usage_daily";

/// Nothing can be settled.
const UNSETTLED: &str =
    "CREATE OR REPLACE FUNCTION settle_daily_cost(in_tenant uuid, in_day date, in_reserved bigint, in_cost bigint)
    RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE too_many_connections; END $$";

/// The third reservation fails.
const UNRESERVED: &str = "ALTER FUNCTION reserve_daily_cost RENAME TO reserve_as_before;
    CREATE SEQUENCE reservation;
    GRANT USAGE ON SEQUENCE reservation TO cited_app;
    CREATE FUNCTION reserve_daily_cost(in_tenant uuid, in_day date, in_amount bigint, in_limit bigint)
    RETURNS TABLE (is_reserved boolean, cost_nano_usd bigint) LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('reservation') = 3 THEN RAISE too_many_connections; END IF;
        RETURN QUERY SELECT * FROM reserve_as_before(in_tenant, in_day, in_amount, in_limit);
    END $$";

#[tokio::test]
async fn a_cost_that_cannot_be_settled_takes_no_sentence_with_it() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    let app = app(&server, &[LIMIT], PRICES).await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    database::execute(&app.database, UNSETTLED).await;
    let job = send(&app, "ferry.txt", &text()).await;
    assert_eq!((&job["state"], &job["items"][0]["attempts"]), (&json!("succeeded"), &json!(1)), "{job}");
    assert_eq!((&job["contexts"]["written"], &job["contexts"]["cost_usd"]), (&json!(6), &json!(0.12)), "{job}");
    assert_eq!(server.calls(Role::Context).len(), 6);
    assert_eq!(database::number(&app.database, SPENT).await, 6 * 512_000_000, "it stands as reserved");
    app.stop().await;
}

#[tokio::test]
async fn a_call_that_cannot_be_reserved_takes_no_other_sentence_with_it() {
    let server = ModelServer::start().await;
    server.say(Role::Context, SENTENCE);
    let app = app(&server, &[LIMIT, ("CITED_CONTEXT_CALLS", "1")], PRICES).await;
    collection(&app, &json!({"on_failure": "abort"})).await;
    database::execute(&app.database, UNRESERVED).await;
    let job = send(&app, "ferry.txt", &text()).await;
    assert_eq!((&job["state"], &job["items"][0]["attempts"]), (&json!("succeeded"), &json!(2)), "{job}");
    assert_eq!((&job["contexts"]["written"], &job["contexts"]["reused"]), (&json!(6), &json!(5)), "{job}");
    assert_eq!(server.calls(Role::Context).len(), 6, "none was written twice");
    assert_eq!(database::number(&app.database, SPENT).await, 6 * 20_000_000);
    app.stop().await;
}
