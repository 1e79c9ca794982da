//! `cited doctor` before databases that are as they should be, and before others.

use std::{fs, os::unix::fs::PermissionsExt};

use axum::{Router, http::StatusCode};
use cited::{PoolSettings, Store, StoreError};
use embedded_postgres::PrivatePostgres;
use tokio::net::TcpListener;

use crate::{
    database,
    harness::TestApp,
    ingest::recognition,
    operations::private_postgres::{folder, settings},
    process::{command, output_of},
};

/// Whether it found all well, what it printed, and its last word.
async fn examine(url: &str) -> (bool, String, String) {
    let more = [
        ("DATABASE_URL", url),
        ("CITED_RERANK_BASE_URL", "http://me:hunter2@127.0.0.1:9/v1"),
        ("CITED_RERANK_MODEL", "orders"),
        ("CITED_LISTEN", "127.0.0.1:0"),
    ];
    let output = output_of(&mut command(&["doctor"], &more)).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

fn line<'s>(shown: &'s str, about: &str) -> &'s str {
    let mut lines = shown.lines().map(str::trim);
    lines.rfind(|line| line.starts_with(about)).unwrap_or_else(|| panic!("nothing about {about} in {shown}"))
}

#[tokio::test]
async fn a_server_that_is_ready_is_described() {
    let (is_well, shown, _) = examine(&database::url(&database::create().await)).await;
    assert!(is_well, "{shown}");
    assert!(line(&shown, "server").contains("Postgres 1"), "{shown}");
    assert!(line(&shown, "pgvector").contains("0."), "{shown}");
    assert!(line(&shown, "role").ends_with("cited_app, bound by row level security"), "{shown}");
    assert!(line(&shown, "schema").contains("up to date"), "{shown}");
    assert!(line(&shown, "embed").ends_with("minilm, built in"), "{shown}");
    assert!(line(&shown, "rerank").ends_with("orders at http://127.0.0.1:9/v1"), "{shown}");
    assert!(!shown.contains("hunter2") && !shown.contains('→'), "{shown}");
    assert!(shown.contains("! rerank: no server answers at http://127.0.0.1:9/v1; start it"), "{shown}");
    assert_eq!(shown.lines().last(), Some("Verdict: the service would start; look at the line that begins with !"));
}

#[tokio::test]
async fn a_service_that_lacks_nothing_gets_a_good_verdict() {
    let url = database::url(&database::create().await);
    let settings = [("DATABASE_URL", url.as_str()), ("CITED_LISTEN", "127.0.0.1:0"), ("CITED_OCR", "off")];
    let output = output_of(&mut command(&["doctor"], &settings)).await;
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    // A kernel may lack locks.
    let has_locks = !shown.contains("gets further than it should");
    assert_eq!(shown.lines().last() == Some("Verdict: the service would start and answer."), has_locks, "{shown}");
    for lock in ["not root", "no new privileges", "closed files", "few files", "limited calls"] {
        assert!(!has_locks || line(&shown, lock).ends_with("holds"), "{shown}");
    }
}

#[tokio::test]
async fn a_recogniser_that_lacks_a_language_is_told() {
    let url = database::url(&database::create().await);
    let (_folder, program) =
        recognition::program("[ \"$*\" = --list-langs ] && printf 'List of available languages (2):\\neng\\nosd\\n'");
    for (languages, told) in [
        ("eng", None),
        ("eng+deu", Some("! it does not have deu; install that, or change CITED_OCR_LANGUAGES")),
        ("deu+fra", Some("! it does not have deu, fra; install that, or change CITED_OCR_LANGUAGES")),
    ] {
        let settings = [
            ("DATABASE_URL", url.as_str()),
            ("CITED_LISTEN", "127.0.0.1:0"),
            ("CITED_OCR", &program),
            ("CITED_OCR_LANGUAGES", languages),
        ];
        let output = output_of(&mut command(&["doctor"], &settings)).await;
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && line(&shown, &program).ends_with(languages), "{shown}");
        assert_eq!(shown.lines().map(str::trim).find(|line| line.starts_with("! it does not have")), told, "{shown}");
    }
}

#[tokio::test]
async fn a_recogniser_that_is_not_there_is_told() {
    let url = database::url(&database::create().await);
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("tesseract");
    std::fs::write(&program, "no program").expect("written");
    let program = program.display().to_string();
    let cannot_run = "! it cannot be run (Permission denied (os error 13)); install tesseract, or change CITED_OCR";
    for (named, told, below) in [
        ("off", "off, or no tesseract is installed: pictures and scans fail as no_text_layer", None),
        (&*program, "eng", Some(cannot_run)),
    ] {
        let settings = [("DATABASE_URL", url.as_str()), ("CITED_LISTEN", "127.0.0.1:0"), ("CITED_OCR", named)];
        let output = output_of(&mut command(&["doctor"], &settings)).await;
        let shown = String::from_utf8_lossy(&output.stdout);
        let name = if named == "off" { "CITED_OCR" } else { named };
        assert!(output.status.success() && line(&shown, name).ends_with(told), "{shown}");
        assert_eq!(shown.lines().map(str::trim).find(|line| line.starts_with("! it")), below, "{shown}");
    }
}

#[tokio::test]
async fn what_would_keep_the_service_from_starting_is_found() {
    let url = database::url(&database::create().await);
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let settings = [("DATABASE_URL", url.as_str()), ("CITED_LISTEN", &address), ("CITED_LISTN", "127.0.0.1:1")];
    let output = output_of(&mut command(&["doctor"], &settings)).await;
    let (shown, last) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{shown}");
    assert!(shown.contains("! CITED_LISTN is not a setting and has no effect; did you mean CITED_LISTEN?"), "{shown}");
    assert!(shown.contains("→ set CITED_LISTEN to a free address"), "{shown}");
    assert!(last.contains("the service would not start: the problem at the line"), "{last}");
    let refused = output_of(&mut command(&["doctor"], &[("CITED_WORKERS", "many")])).await;
    let last = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && last.contains("the service would not start: the configuration has 1"),
        "{last}"
    );
}

#[tokio::test]
async fn a_model_server_that_refuses_the_key_and_a_running_service_are_told() {
    let app = TestApp::built_in().await;
    let models = Router::new().fallback(async || StatusCode::UNAUTHORIZED);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(axum::serve(listener, models).into_future());
    let (url, listen) = (database::url(&app.database), app.base.replace("http://", ""));
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("CITED_LISTEN", &listen),
        ("CITED_CHAT_BASE_URL", &base),
        ("CITED_CHAT_MODEL", "m"),
        ("CITED_ASK_MODELS", "openai:m, openai:other"),
    ];
    let output = output_of(&mut command(&["doctor"], &settings)).await;
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}");
    assert!(line(&shown, "listen").ends_with("where a Cited runs already"), "{shown}");
    assert!(shown.contains(&format!("! openai: the server at {base} refuses the key; correct it")), "{shown}");
    assert!(shown.contains("! CITED_ASK_MODELS has openai:other, which is not configured"), "{shown}");
    assert!(!shown.contains("CITED_ASK_MODELS has openai:m,"), "{shown}");
    serving.abort();
    app.stop().await;
}

#[tokio::test]
async fn a_file_with_a_secret_that_others_may_read_is_told() {
    let folder = folder();
    let file = folder.path().join("cited.toml");
    let file_name = file.to_str().expect("a path");
    let url = database::url(&database::create().await);
    let secret = "models = [\"here:m\"]\n[providers.here]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"hunter2\"\n";
    for (text, mode, is_told) in [(secret, 0o644, true), (secret, 0o600, false), ("log = \"warn\"\n", 0o644, false)] {
        fs::write(&file, text).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("permissions");
        let settings = [("DATABASE_URL", url.as_str()), ("CITED_CONFIG", file_name)];
        let output = output_of(&mut command(&["doctor"], &settings)).await;
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let told = format!("! {file_name} holds a secret, and other users of this machine may read it");
        assert_eq!(shown.contains(&told), is_told, "{mode:o}: {shown}{}", String::from_utf8_lossy(&output.stderr));
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

/// Values are details of the lines of statements, which a terse log leaves out.
#[tokio::test]
async fn a_log_that_holds_documents_is_told() {
    let database = database::create().await;
    let name = database.get_database().expect("a name");
    let url = database::url(&database);
    for (setting, told) in [
        ("log_error_verbosity = 'terse'", "terse, without values"),
        ("log_error_verbosity = 'default'", "details of errors may quote documents; an administrator stops that"),
        ("log_min_duration_statement = 5000", "holds the text of documents (log_min_duration_statement = 5000)"),
        ("log_parameter_max_length = 0", "details of errors may quote documents"),
        (
            "log_parameter_max_length_on_error = 64",
            "holds the text of documents (log_parameter_max_length_on_error = 64)",
        ),
        ("log_error_verbosity = 'terse'", "terse, without values"),
    ] {
        database::execute(&database, &format!("ALTER DATABASE {name} SET {setting}")).await;
        let (is_well, shown, _) = examine(&url).await;
        assert!(is_well && line(&shown, "log").contains(told), "{setting}: {shown}");
    }
}

#[tokio::test]
async fn a_server_with_nothing_on_it_is_told_what_comes() {
    let (is_well, shown, _) = examine(&database::url(&database::create_empty().await)).await;
    assert!(is_well, "{shown}");
    assert!(line(&shown, "pgvector").contains("comes into this database with the first start"), "{shown}");
    assert!(line(&shown, "schema").contains("to come"), "{shown}");
}

#[tokio::test]
async fn each_fault_has_its_remedy() {
    let database = database::create_empty().await;
    database::execute(
        &database,
        "CREATE ROLE plain_login LOGIN PASSWORD 'x'; REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    )
    .await;
    let plain = database::url(&database.clone().username("plain_login").password("x"));
    let (is_well, shown, last) = examine(&plain).await;
    assert!(!is_well && last.contains("must be solved"), "{shown}{last}");
    assert!(
        line(&shown, "user").contains(
            "plain_login, who may not act as cited_app, cited_worker, cited_lexical, cited_keys, cited_record"
        ),
        "{shown}"
    );
    assert!(shown.contains("→ grant it CREATEROLE"), "{shown}");
    database::execute(
        &database,
        "GRANT cited_app, cited_worker, cited_lexical, cited_keys, cited_record TO plain_login",
    )
    .await;
    let (is_well, shown, _) = examine(&plain).await;
    assert!(!is_well && line(&shown, "user").contains("may not make tables"), "{shown}");
    assert!(shown.contains("OWNER TO plain_login"), "{shown}");

    let newer = database::create().await;
    database::execute(&newer, "INSERT INTO _sqlx_migrations SELECT 9999, 'later', now(), true, '', 0").await;
    let (is_well, shown, _) = examine(&database::url(&newer)).await;
    assert!(!is_well && line(&shown, "schema").contains("a newer version of Cited (migration 9999)"), "{shown}");

    let unreleased = database::create().await;
    database::execute(&unreleased, "UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1").await;
    let (is_well, shown, _) = examine(&database::url(&unreleased)).await;
    assert!(!is_well && line(&shown, "schema").contains("another build of Cited"), "{shown}");
    assert!(shown.contains("→ start that build, or begin with an empty database"), "{shown}");

    let (is_well, shown, _) = examine("postgres://cited@127.0.0.1:9/cited").await;
    assert!(!is_well && shown.contains("→ the server at DATABASE_URL does not answer; start it"), "{shown}");
    let (is_well, shown, _) = examine("mysql://127.0.0.1/cited").await;
    assert!(!is_well && shown.contains("→ set DATABASE_URL to the URL of a Postgres database"), "{shown}");
}

/// Its output, and whether the service would start.
async fn examine_with(settings: &[(&str, &str)]) -> (bool, String) {
    let output = output_of(&mut command(&["doctor"], settings)).await;
    let told = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&told).into_owned())
}

#[tokio::test]
async fn what_the_start_would_refuse_is_told_before() {
    let url = database::url(&database::create().await);
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address").to_string();
    for (more, told) in [
        ([("CITED_TLS_CERTIFICATE", "/nowhere.pem"), ("CITED_TLS_KEY", "/nowhere.pem")], "/nowhere.pem"),
        ([("CITED_LISTEN", &free), ("CITED_METRICS_LISTEN", &free)], "the same as CITED_LISTEN"),
        ([("CITED_LOG", "infoo"), ("CITED_LISTEN", "127.0.0.1:0")], "\"infoo\" is no level"),
        ([("CITED_WORKERS", "0"), ("CITED_LISTEN", "127.0.0.1:0")], "it must be 1 or more"),
        (
            [("CITED_EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1"), ("CITED_EMBEDDING_MODEL", "m")],
            "CITED_EMBEDDING_DIMENSION",
        ),
    ] {
        let settings = [&[("DATABASE_URL", url.as_str())], &more[..]].concat();
        let (is_well, shown) = examine_with(&settings).await;
        assert!(!is_well && shown.contains(told), "{told}: {shown}");
    }
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_started_on_is_told() {
    let folder = folder();
    let own = settings(folder.path());
    let postgres = PrivatePostgres::start(&own).await.expect("Postgres starts");
    let data_dir = own.data_dir.display().to_string();
    let examine = async || examine_with(&[("CITED_DATA_DIR", &data_dir), ("CITED_LISTEN", "127.0.0.1:0")]).await;
    let (is_well, shown) = examine().await;
    assert!(!is_well && shown.contains("is in use by process"), "{shown}");
    postgres.stop().await.expect("stops");
    let (is_well, shown) = examine().await;
    assert!(is_well, "{shown}");
    let cluster = own.data_dir.join("cluster");
    fs::set_permissions(&cluster, fs::Permissions::from_mode(0o755)).expect("permissions");
    let (is_well, shown) = examine().await;
    assert!(!is_well && shown.contains("run `chmod 700"), "{shown}");
    fs::set_permissions(&cluster, fs::Permissions::from_mode(0o700)).expect("permissions");
    fs::remove_file(own.data_dir.join("password")).expect("removed");
    let (is_well, shown) = examine().await;
    assert!(!is_well && shown.contains("the password of the database is missing"), "{shown}");
}

#[tokio::test]
async fn a_runtime_role_that_can_bypass_is_refused() {
    // Roles belong to a whole server, so this one has its own.
    let folder = folder();
    let postgres = PrivatePostgres::start(&settings(folder.path())).await.expect("Postgres starts");
    let owner = postgres.connect_options();
    Store::migrate(&owner).await.expect("migrates");
    let connect =
        async || Store::connect(&owner, &[], &PoolSettings { max_connections: 1, ..PoolSettings::default() }).await;
    connect().await.expect("bound").close().await;
    database::execute(&owner, "ALTER ROLE cited_app BYPASSRLS").await;
    match connect().await {
        Err(StoreError::Unsuitable(detail)) => assert!(detail.contains("BYPASSRLS"), "{detail}"),
        other => panic!("it is not refused: {other:?}"),
    }
    let (is_well, shown, _) = examine(&database::url(&owner)).await;
    assert!(!is_well && line(&shown, "role").contains("can bypass row level security"), "{shown}");
    assert!(shown.contains("→ run as an administrator: ALTER ROLE cited_app NOSUPERUSER NOBYPASSRLS"), "{shown}");
    postgres.stop().await.expect("stops");
}
