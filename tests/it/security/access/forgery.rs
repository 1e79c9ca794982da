//! The record of changes and refusals, and those who can write to the database: nothing is taken from it unseen.

use serde_json::json;
use sqlx::{ConnectOptions, Connection, Executor};

use super::{
    keys::{SETTINGS, create},
    record::{VERIFICATION, get, sealed, sealed_for},
    world::{OPERATOR, text},
};
use crate::{
    database,
    harness::TestApp,
    process::{command, output_of},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_event_is_changed_deleted_or_added_unseen() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    for name in ["first", "second", "third"] {
        create(&app, json!({"name": name, "scopes": ["ask"]})).await;
        sealed(&app).await;
    }
    let whole = sealed(&app).await;
    assert_eq!((&whole["whole"], &whole["events"], &whole["faults"]), (&json!(true), &json!(3), &json!([])));
    let noted = format!("{VERIFICATION}?noted={}", text(&whole["head"]));
    let verify = async |path: &str| get(&app, OPERATOR, path).await["faults"].to_string();
    let last =
        "number = (SELECT max(number) FROM security_seal WHERE tenant_id <> '00000000-0000-0000-0000-000000000000')";
    for (attack, path, fault) in [
        ("UPDATE security_event SET address = '192.0.2.1'".to_owned(), VERIFICATION, "was changed"),
        ("UPDATE security_seal SET sealed_at = sealed_at - interval '1 s'".to_owned(), VERIFICATION, "was changed"),
        ("DELETE FROM security_event".to_owned(), VERIFICATION, "are missing"),
        ("DELETE FROM security_seal WHERE number = 1".to_owned(), VERIFICATION, "before the first are missing"),
        ("DELETE FROM security_seal WHERE number = 2".to_owned(), VERIFICATION, "seals 2 to 2 are missing"),
        (format!("DELETE FROM security_seal WHERE {last}"), VERIFICATION, "are in no seal"),
        (
            format!("DELETE FROM security_event WHERE event_id = ANY (SELECT unnest(events) FROM security_seal WHERE {last});
                     DELETE FROM security_seal WHERE {last}"),
            noted.as_str(),
            "ends before the seal",
        ),
        (
            "INSERT INTO security_event SELECT tenant_id, gen_random_uuid(), now(), action, refusal, key_id, address, request_id, things, number
             FROM security_event LIMIT 1".to_owned(),
            VERIFICATION,
            "are in no seal",
        ),
    ] {
        database::execute(&app.database, "CREATE TABLE kept_event AS TABLE security_event; CREATE TABLE kept_seal AS TABLE security_seal").await;
        database::execute(&app.database, &attack).await;
        let faults = verify(path).await;
        assert!(faults.contains(fault), "{attack}: {faults}");
        let restore = "DELETE FROM security_event; DELETE FROM security_seal;
            INSERT INTO security_event TABLE kept_event; INSERT INTO security_seal TABLE kept_seal;
            DROP TABLE kept_event; DROP TABLE kept_seal";
        database::execute(&app.database, restore).await;
    }
    let run = async |arguments: &[&str]| {
        let arguments = [&["audit", "verify", "--server", app.base.as_str()], arguments].concat();
        output_of(&mut command(&arguments, &[("CITED_API_KEY", OPERATOR)])).await
    };
    let well = run(&["--noted", &text(&whole["head"])]).await;
    assert!(
        well.status.success()
            && String::from_utf8_lossy(&well.stdout).starts_with("3 events in 3 seals")
            && String::from_utf8_lossy(&well.stdout).contains("\nThe record is whole: "),
        "{well:?}"
    );
    database::execute(&app.database, "UPDATE security_event SET key_id = 'another'").await;
    assert!(!run(&[]).await.status.success());
    app.stop().await;
}

/// Every column, as the catalogue names them: one that is new and not sealed fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_column_of_an_event_or_a_seal_is_changed_unseen() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    for name in ["first", "second"] {
        create(&app, json!({"name": name, "scopes": ["ask"]})).await;
        sealed(&app).await;
    }
    let columns = "SELECT table_name || '.' || column_name || '.' || data_type FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name IN ('security_event', 'security_seal') ORDER BY 1";
    let mut connection = app.database.connect().await.expect("connect");
    let columns: Vec<String> = sqlx::query_scalar(columns).fetch_all(&mut connection).await.expect("columns");
    assert_eq!(columns.len(), 17, "{columns:?}");
    for column in columns {
        let [table, column, kind] = column.split('.').collect::<Vec<_>>().try_into().expect("three parts");
        let other = match kind {
            "uuid" => "gen_random_uuid()".to_owned(),
            "text" => format!("COALESCE({column}, '') || 'x'"),
            "timestamp with time zone" => format!("{column} + interval '1 microsecond'"),
            "bigint" => format!("{column} + 1000"),
            "bytea" => format!("{column} || '\\x00'"),
            "boolean" => format!("NOT {column}"),
            _ => format!("{column}[2:]"),
        };
        // The newer one, and so the last seal: nothing follows it that would contradict.
        let id = if table == "security_event" { "event_id" } else { "number" };
        let newest = format!(
            "SELECT {id} FROM {table} WHERE tenant_id <> '00000000-0000-0000-0000-000000000000' ORDER BY {id} DESC LIMIT 1"
        );
        let attack = format!("UPDATE {table} SET {column} = {other} WHERE {id} = ({newest})");
        connection
            .execute(sqlx::raw_sql(
                "CREATE TABLE kept_event AS TABLE security_event; CREATE TABLE kept_seal AS TABLE security_seal",
            ))
            .await
            .expect("kept");
        let changed = connection.execute(sqlx::AssertSqlSafe(attack.clone())).await.expect(&attack).rows_affected();
        let state = get(&app, OPERATOR, VERIFICATION).await;
        assert_eq!((changed, &state["whole"]), (1, &json!(false)), "{attack}: {state}");
        let restore = "TRUNCATE security_event, security_seal; INSERT INTO security_event TABLE kept_event;
            INSERT INTO security_seal TABLE kept_seal; DROP TABLE kept_event, kept_seal";
        connection.execute(sqlx::raw_sql(restore)).await.expect("restored");
    }
    connection.close().await.expect("close");
    assert_eq!(sealed(&app).await["whole"], true);
    app.stop().await;
}

/// Whoever can write to the database can have a service of their own, without the pepper, seal what they wrote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_was_sealed_without_the_pepper_is_not_whole() {
    let app = TestApp::start(database::create().await, &SETTINGS).await;
    create(&app, json!({"name": "first", "scopes": ["ask"]})).await;
    let noted = text(&sealed(&app).await["head"]);
    let database = app.database.clone();
    app.end().await;
    let forgery = "UPDATE security_event SET address = '192.0.2.1'; TRUNCATE security_seal;
        INSERT INTO security_event_waiting SELECT tenant_id, event_id FROM security_event";
    database::execute(&database, forgery).await;
    let forger = TestApp::start(database.clone(), &[]).await;
    assert_eq!(sealed_for(&forger, None).await["whole"], true, "it has no secret itself");
    forger.end().await;
    let app = TestApp::start(database, &SETTINGS).await;
    create(&app, json!({"name": "second", "scopes": ["ask"]})).await;
    let state = sealed(&app).await;
    assert_eq!((&state["whole"], &state["seals"]), (&json!(false), &json!(2)), "{state}");
    assert!(state["faults"].to_string().contains("the seals 1 to 1 have no secret"), "{state}");
    let against = async |head: &str| get(&app, OPERATOR, &format!("{VERIFICATION}?noted={head}")).await;
    assert!(against(&noted).await["faults"].to_string().contains("it is not the one that was noted"));
    let vouched = against(&text(&state["head"])).await;
    assert_eq!(vouched["whole"], true, "{vouched}");
    app.stop().await;
}
