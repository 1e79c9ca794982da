//! `cited migrate`, `cited healthcheck` and what is common to commands, as an operator runs them.

use std::process::{Output, Stdio};

use tokio::io::AsyncReadExt;

use crate::{
    database,
    harness::TestApp,
    process::{command, output_of},
    scripted::ModelServer,
};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn run(arguments: &[&str], settings: &[(&str, &str)]) -> Output {
    output_of(&mut command(arguments, settings)).await
}

fn address(app: &TestApp) -> &str {
    app.base.strip_prefix("http://").expect("an address")
}

#[tokio::test]
async fn migrate_makes_a_database_ready_and_leaves_one_that_is() {
    let empty = database::create_empty().await;
    let url = database::url(&empty);
    for _ in 0..2 {
        let done = run(&["migrate"], &[("DATABASE_URL", &url)]).await;
        assert!(done.status.success(), "{}", text(&done.stderr));
        assert_eq!(text(&done.stdout), "the database is up to date\n");
    }
    assert_eq!(database::number(&empty, "SELECT count(*) FROM document").await, 0, "the tables are there");
    let refused = run(&["migrate"], &[]).await;
    assert!(!refused.status.success() && text(&refused.stderr).contains("set DATABASE_URL"), "{refused:?}");
}

#[tokio::test]
async fn healthcheck_tells_a_service_from_none() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let address = address(&app).to_owned();
    let well = run(&["healthcheck"], &[("CITED_LISTEN", &address)]).await;
    assert!(well.status.success(), "{}", text(&well.stderr));
    let named = run(&["healthcheck", "--server", &app.base], &[("CITED_LISTEN", "127.0.0.1:1")]).await;
    assert!(named.status.success(), "{}", text(&named.stderr));
    app.stop().await;
    let gone = run(&["healthcheck"], &[("CITED_LISTEN", &address)]).await;
    assert!(!gone.status.success());
}

#[tokio::test]
async fn a_reader_that_has_enough_is_no_failure() {
    for arguments in [&["openapi"][..], &["completion", "bash"]] {
        let mut printing = command(arguments, &[]);
        let mut child = printing.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        drop(child.stdout.take());
        let done = child.wait_with_output().await.expect("it ends");
        assert!(done.status.success() && done.stderr.is_empty(), "{arguments:?}: {}", text(&done.stderr));
    }
}

#[tokio::test]
async fn an_address_without_a_scheme_is_told_how_to_be_written() {
    for wrong in ["127.0.0.1:8080", "localhost:8080", "ftp://localhost"] {
        let refused = run(&["ask", "--server", wrong, "How many days?"], &[]).await;
        assert!(text(&refused.stderr).contains("not a URL such as http://127.0.0.1:8080"), "{refused:?}");
        let refused = run(&["ask", "How many days?"], &[("CITED_SERVER", wrong)]).await;
        assert!(text(&refused.stderr).contains("CITED_SERVER is"), "{refused:?}");
    }
}

#[tokio::test]
async fn a_service_that_breaks_off_is_there() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let hang_up = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // What was sent is read first, so that the end of the connection is not a reset.
            let _ = stream.read(&mut [0; 4096]).await;
        }
    });
    let broken = run(&["collections", "--server", &base], &[]).await;
    hang_up.abort();
    let told = format!("cited: {base} broke off before it had answered (");
    assert!(text(&broken.stderr).starts_with(&told), "{broken:?}");
}
