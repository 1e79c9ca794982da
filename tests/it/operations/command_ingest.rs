//! `cited ingest`: files, folders and URLs from the command line.

use std::{path::Path, process::Output, time::Duration};

use serde_json::{Value, json};

use crate::{
    harness::TestApp,
    process::{command, output_of},
    scripted::{ModelServer, Reply},
    wait,
};

/// Runs the command in a folder against a service.
async fn ingest(app: &TestApp, folder: &Path, arguments: &[&str]) -> Output {
    let arguments = [&["ingest", "--collection", "c"], arguments].concat();
    let settings = [("CITED_SERVER", app.base.as_str())];
    output_of(command(&arguments, &settings).current_dir(folder)).await
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    std::fs::write(path, content).expect("written");
}

async fn sources(app: &TestApp) -> Vec<String> {
    let body = app.get("/v1/documents?collection=c&limit=200").await.body;
    let mut sources: Vec<String> = body["documents"]
        .as_array()
        .expect("documents")
        .iter()
        .map(|document| document["source"].as_str().unwrap().to_owned())
        .collect();
    sources.sort();
    sources
}

#[tokio::test]
async fn a_folder_goes_in_and_a_second_time_costs_nothing() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..230 {
        write(folder.path(), &format!("handbook/part{}/{number}.md", number % 7), format!("# Topic {number}\n\nText."));
    }
    write(folder.path(), "handbook/Größe \"neu\".txt", "Wie groß?");
    write(folder.path(), "handbook/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    write(folder.path(), "handbook/drafts/later.md", "Not yet.");
    let arguments = ["handbook", "--exclude", "drafts/", "--metadata", "{\"team\": \"people\"}"];
    let first = ingest(&app, folder.path(), &arguments).await;
    let report = text(&first.stdout);
    assert!(first.status.success(), "{report}{}", text(&first.stderr));
    assert!(report.starts_with("231 documents in "), "{report}");
    assert!(report.contains(": 231 stored in 231 chunks, 0 unchanged, 0 failed\n"), "{report}");
    assert!(report.contains("1 file passed over, which is of no format that is read: 1 .png\n"), "{report}");
    let named = app.get("/v1/documents?collection=c&source_prefix=handbook/Gr").await.body;
    assert_eq!(named["documents"][0]["source"], "handbook/Größe \"neu\".txt", "{named}");
    let found = app.post("/v1/search", json!({"query": "groß", "collections": ["c"], "mode": "lexical", "filter": {"metadata": {"team": "people"}}})).await;
    assert_eq!(found.body["results"][0]["source"], "handbook/Größe \"neu\".txt", "{found:?}");

    let arguments = [&arguments[..], &["--json"]].concat();
    let second = ingest(&app, folder.path(), &arguments).await;
    let report: Value = serde_json::from_slice(&second.stdout).expect("JSON");
    assert_eq!((&report["stored"], &report["unchanged"], &report["failed"]), (&json!(0), &json!(231), &json!([])));
    assert_eq!(report["jobs"].as_array().map(Vec::len), Some(3), "{report}");
    app.stop().await;
}

#[tokio::test]
async fn what_fails_is_told_by_cause_and_by_the_exit_code() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let folder = tempfile::tempdir().expect("a folder");
    let long = "ä".repeat(120);
    write(folder.path(), "good.md", "# Leave\n\n28 days.");
    write(folder.path(), "empty.txt", "");
    write(folder.path(), "two\nlines.txt", "Words.");
    write(folder.path(), "old.msg", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 504]].concat());
    write(folder.path(), "long.txt", "one line and no end ".repeat(4 * 1024 * 1024));
    let deep = format!("{}a.md", format!("{long}/").repeat(9));
    write(folder.path(), &deep, "Deep.");
    // To somewhere that no document may come from.
    let output = ingest(&app, folder.path(), &[".", "http://127.0.0.1:9/page"]).await;
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(text(&output.stderr).contains("cited: 6 of 7 documents failed"), "{output:?}");
    assert!(report.contains(": 1 stored in 1 chunk, 0 unchanged, 6 failed\n"), "{report}");
    for line in [
        "\nempty (1)\n  empty.txt: ",
        "\nunfit_name (1)\n  \"./two\\nlines.txt\": its name holds a line break or another control character; rename it",
        "\nbody_too_large (1)\n  long.txt: it is larger than the 67108864 bytes that the service takes at once; split",
        "\nunsupported (1)\n  old.msg: ",
        "\nurl_refused (1)\n  http://127.0.0.1:9/page: ",
        &format!("\ninvalid_request (1)\n  {deep}: must hold 1 to 2048 bytes"),
    ] {
        assert!(report.contains(line), "{line} is not in\n{report}");
    }
    assert_eq!(sources(&app).await, ["good.md"]);
    app.stop().await;
}

#[tokio::test]
async fn nobody_there_and_nothing_there_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.md", "Words.");
    let server = ModelServer::start().await;
    let app = TestApp::with_models_and(&server, &[("CITED_API_KEYS", "a-long-key-of-the-operator-1234")]).await;
    let missing = ingest(&app, folder.path(), &["b.md"]).await;
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("there is no file or folder b.md"), "{missing:?}");
    write(folder.path(), "pictures/a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    std::fs::create_dir(folder.path().join("empty")).expect("made");
    let excluded = ingest(&app, folder.path(), &["pictures", "--exclude", "[bad"]).await;
    assert!(text(&excluded.stderr).contains("cited: [bad is not a pattern: ") && !text(&excluded.stderr).contains('!'));
    for (target, told) in [
        ("pictures", "there is nothing to ingest: 1 file passed over, of no format that is read, or links\n"),
        ("empty", "there is nothing to ingest: no file was found\n"),
        ("[bad", "[bad is not a pattern: "),
        ("ftp://example.org/a", "ftp://example.org/a is no URL that can be read; name one with http:// or https://"),
    ] {
        let nothing = ingest(&app, folder.path(), &[target]).await;
        assert_eq!(nothing.status.code(), Some(1), "{nothing:?}");
        assert!(text(&nothing.stderr).contains(told), "{nothing:?}");
    }
    let settings = [("CITED_SERVER", "http://127.0.0.1:1")];
    let alone = output_of(command(&["ingest", "a.md"], &settings).current_dir(folder.path())).await;
    assert_eq!(alone.status.code(), Some(1));
    assert!(text(&alone.stderr).contains("no service answers at http://127.0.0.1:1 (Connection refused"), "{alone:?}");
    let keyless = ingest(&app, folder.path(), &["a.md"]).await;
    assert_eq!(keyless.status.code(), Some(1));
    assert!(text(&keyless.stderr).contains("HTTP 401: this service needs a key"), "{keyless:?}");
    let settings = [("CITED_SERVER", app.base.as_str()), ("CITED_API_KEY", "a-long-key-of-the-operator-1234")];
    let keyed = output_of(command(&["ingest", "a.md"], &settings).current_dir(folder.path())).await;
    assert!(keyed.status.success(), "{keyed:?}");
    app.stop().await;
}

#[tokio::test]
async fn documents_are_found_by_their_words_first_where_that_is_wanted() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.md", "Boats land at the harbour.");
    write(folder.path(), "b.md", "Trams cross the market square.");
    server.hold_embeddings(Some("Boats"));
    let watch = async {
        let is_searchable = async || {
            let job = app.get("/v1/jobs").await.body["jobs"][0].clone();
            job["indexing"] == "progressive" && job["counts"]["searchable"] == 1 && job["counts"]["complete"] == 0
        };
        wait::until("one document is searchable", is_searchable).await;
        server.hold_embeddings(None);
    };
    let watch = tokio::time::timeout(Duration::from_mins(1), watch);
    let (output, watched) = tokio::join!(ingest(&app, folder.path(), &["a.md", "--indexing", "progressive"]), watch);
    watched.expect("it is found by its words before it has vectors");
    // The command ends when the vectors are there.
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains(": 1 stored in 1 chunk, 0 unchanged, 0 failed\n"), "{output:?}");
    assert_eq!(app.get("/v1/collections/c").await.body["embedded_chunks"], 1);

    // Documents that lack only vectors are listed apart, and the report says how to get them.
    server.embedding_reply(Reply::Status(400, "{}".to_owned()));
    let refused = ingest(&app, folder.path(), &["b.md", "--indexing", "progressive"]).await;
    let report = text(&refused.stdout);
    assert_eq!(refused.status.code(), Some(1), "{report}");
    assert!(report.contains("1 of those that failed are found by their words; run the command again"), "{report}");
    let again = ingest(&app, folder.path(), &["b.md"]).await;
    assert!(again.status.success(), "{again:?}");
    assert_eq!(app.get("/v1/collections/c").await.body["embedded_chunks"], 2);
    let wrong = ingest(&app, folder.path(), &["a.md", "--indexing", "later"]).await;
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(text(&wrong.stderr).contains("must be complete or progressive"), "{wrong:?}");
    app.stop().await;
}

#[tokio::test]
async fn nothing_is_lost_without_a_word() {
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_MAX_BODY_BYTES", "100000")]).await;
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "a.md", "The outer one.");
    write(folder.path(), "in/a.md", "The inner one.");
    let inner = folder.path().join("in");
    // The same file named in three ways is one document.
    let once = ingest(&app, &inner, &["a.md", "./a.md", "*.md"]).await;
    assert!(once.status.success(), "{once:?}");
    assert!(text(&once.stdout).starts_with("1 document in "), "{once:?}");
    let outer = ingest(&app, &inner, &["a.md", "../a.md"]).await;
    let report = text(&outer.stdout);
    assert_eq!(outer.status.code(), Some(1), "{report}");
    let told = "\nsame_source (1)\n  a.md: ../a.md would be called a.md like a.md, and one would replace the other; name it by its whole path";
    assert!(report.contains(told), "{report}");
    let whole = folder.path().join("a.md").display().to_string();
    assert!(ingest(&app, &inner, &["a.md", &whole]).await.status.success());
    assert_eq!(sources(&app).await, [whole, "a.md".to_owned()]);

    #[cfg(unix)]
    std::os::unix::fs::symlink("a.md", inner.join("linked.md")).expect("a link");
    #[cfg(unix)]
    {
        let linked = ingest(&app, folder.path(), &["in"]).await;
        assert!(linked.status.success(), "{linked:?}");
        assert!(text(&linked.stdout).contains("\n1 symbolic link passed over; named by itself"), "{linked:?}");
    }
    #[cfg(unix)]
    {
        use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
        let foreign = OsStr::from_bytes(b"lat\xe9.md");
        write(&inner, "other.md", "Other words.");
        std::fs::write(inner.join(foreign), "Words.").expect("written");
        write(&inner, "two\nlines.md", "Words.");
        let settings = [("CITED_SERVER", app.base.as_str())];
        let mut named = command(&["ingest", "--json", "-c", "c", "other.md", "two\nlines.md"], &settings);
        let named = named.arg(foreign).current_dir(&inner).output().await.expect("it runs");
        let report: Value = serde_json::from_slice(&named.stdout).expect("JSON");
        let failed: Vec<&Value> = report["failed"].as_array().expect("failures").iter().collect();
        assert_eq!((named.status.code(), &report["stored"], failed.len()), (Some(1), &json!(1), 2), "{report}");
        assert!(failed.iter().all(|failure| failure["cause"] == "unfit_name"), "{report}");
        assert_eq!(failed[0]["source"], "two\nlines.md", "as it is");
        assert_eq!(report["error"], "2 of 3 documents failed");
    }
    // By the setting of this side, as the service would; and an endless one is not read for ever.
    write(folder.path(), "large.txt", "x".repeat(100_001));
    let settings = [("CITED_SERVER", app.base.as_str()), ("CITED_MAX_BODY_BYTES", "100000")];
    let arguments = ["ingest", "large.txt", "/dev/zero"];
    let large = command(&arguments, &settings).current_dir(folder.path()).output();
    let large = tokio::time::timeout(Duration::from_mins(1), large).await.expect("soon").expect("it runs");
    let report = text(&large.stdout);
    assert_eq!(large.status.code(), Some(1), "{report}");
    assert!(report.contains("\nbody_too_large (2)\n  large.txt: it is larger than the 100000 bytes"), "{report}");
    app.stop().await;
}
