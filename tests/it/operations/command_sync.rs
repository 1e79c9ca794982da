//! `cited ingest --sync`: a folder and its documents in step.

use std::{path::Path, process::Output};

use serde_json::{Value, json};

use crate::{
    harness::TestApp,
    process::{command, output_of},
    scripted::ModelServer,
};

async fn sync(app: &TestApp, folder: &Path, arguments: &[&str]) -> Output {
    let arguments = [&["ingest", "--collection", "c", "--sync"], arguments].concat();
    let settings = [("CITED_SERVER", app.base.as_str())];
    output_of(command(&arguments, &settings).current_dir(folder)).await
}

fn write(folder: &Path, name: &str, content: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
    std::fs::write(path, content).expect("written");
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

async fn sources(app: &TestApp) -> Vec<String> {
    let body = app.get("/v1/documents?collection=c&limit=200").await.body;
    let documents = body["documents"].as_array().expect("documents").iter();
    let mut sources: Vec<String> =
        documents.map(|document| document["source"].as_str().expect("a source").to_owned()).collect();
    sources.sort();
    sources
}

/// A service with four documents of a folder and two others, and the folder.
async fn filled(server: &ModelServer) -> (TestApp, tempfile::TempDir) {
    let app = TestApp::with_embeddings(server).await;
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a.md", "b.md", "deep/c.md", "d.md"] {
        write(folder.path(), &format!("docs/{name}"), &format!("Words of {name}."));
    }
    app.ingest("c", &[("docs2/x.md", "Of another folder."), ("note", "Of no folder.")]).await;
    let first = sync(&app, folder.path(), &["docs"]).await;
    assert!(
        first.status.success() && said(&first).contains(": 4 stored in 4 chunks, 0 unchanged, 0 failed, 0 deleted\n"),
        "{first:?}"
    );
    (app, folder)
}

#[cfg(unix)]
#[tokio::test]
async fn a_document_is_kept_in_step_that_no_walk_would_have_found() {
    let server = ModelServer::start().await;
    let (app, folder) = filled(&server).await;
    write(folder.path(), "elsewhere.md", "Linked words.");
    std::os::unix::fs::symlink("../elsewhere.md", folder.path().join("docs/linked.md")).expect("a link");
    let settings = [("CITED_SERVER", app.base.as_str())];
    let named = ["ingest", "--collection", "c", "docs/linked.md"];
    let named = output_of(command(&named, &settings).current_dir(folder.path())).await;
    assert!(named.status.success(), "{named:?}");
    let same = sync(&app, folder.path(), &["docs"]).await;
    assert!(said(&same).contains(": 0 stored in 0 chunks, 5 unchanged, 0 failed, 0 deleted\n"), "{same:?}");
    write(folder.path(), "elsewhere.md", "Other words.");
    let changed = sync(&app, folder.path(), &["docs"]).await;
    assert!(said(&changed).contains(": 1 stored in 1 chunk, 4 unchanged, 0 failed, 0 deleted\n"), "{changed:?}");
    std::fs::remove_file(folder.path().join("elsewhere.md")).expect("removed");
    let gone = sync(&app, folder.path(), &["docs"]).await;
    assert!(said(&gone).contains(", 1 deleted\n"), "{gone:?}");
    app.stop().await;
}

#[tokio::test]
async fn what_changed_is_sent_and_what_went_is_deleted() {
    let server = ModelServer::start().await;
    let (app, folder) = filled(&server).await;
    std::fs::remove_file(folder.path().join("docs/a.md")).expect("removed");
    write(folder.path(), "docs/b.md", "Other words.");
    write(folder.path(), "docs/e.md", "New words.");
    let plan = sync(&app, folder.path(), &["docs", "--dry-run"]).await;
    let expected =
        "+ docs/e.md\n~ docs/b.md\n- docs/a.md\n1 to add, 1 to replace, 1 to delete, 2 unchanged; nothing was done\n";
    assert!(plan.status.success(), "{plan:?}");
    assert_eq!(String::from_utf8_lossy(&plan.stdout), expected);
    assert!(sources(&app).await.contains(&"docs/a.md".to_owned()), "a dry run does nothing");

    let jobs = app.get("/v1/jobs?limit=100").await.body["jobs"].as_array().expect("jobs").len();
    let done = sync(&app, folder.path(), &["docs"]).await;
    assert!(done.status.success(), "{done:?}");
    assert!(said(&done).contains(": 2 stored in 2 chunks, 2 unchanged, 0 failed, 1 deleted\n"), "{done:?}");
    let expected = ["docs/b.md", "docs/d.md", "docs/deep/c.md", "docs/e.md", "docs2/x.md", "note"];
    assert_eq!(sources(&app).await, expected);
    let items = app.get("/v1/jobs?limit=100").await.body["jobs"].as_array().expect("jobs").clone();
    assert_eq!((items.len(), &items[0]["counts"]["items"]), (jobs + 1, &json!(2)), "only what changed is sent");

    let again = sync(&app, folder.path(), &["docs", "--json"]).await;
    let report: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!((&report["stored"], &report["unchanged"], &report["deleted"]), (&json!(0), &json!(4), &json!(0)));
    // Other metadata is a change as well.
    let tagged = sync(&app, folder.path(), &["docs", "--metadata", "{\"team\": \"people\"}"]).await;
    assert!(said(&tagged).contains(": 4 stored in 4 chunks, 0 unchanged"), "{tagged:?}");
    app.stop().await;
}

#[tokio::test]
async fn nothing_is_deleted_where_something_was_not_sent() {
    let server = ModelServer::start().await;
    let (app, folder) = filled(&server).await;
    std::fs::remove_file(folder.path().join("docs/a.md")).expect("removed");
    write(folder.path(), "docs/e.md", "New words.");
    write(folder.path(), "docs/large.md", &"x".repeat(2_001));
    let run = async |arguments: &[&str]| {
        let arguments = [&["ingest", "--collection", "c", "--sync", "docs"], arguments].concat();
        let settings = [("CITED_SERVER", app.base.as_str()), ("CITED_MAX_BODY_BYTES", "2000")];
        output_of(command(&arguments, &settings).current_dir(folder.path())).await
    };
    let kept = "1 document whose file is gone not deleted, since that waits until everything else is sent";
    let plan = run(&["--dry-run"]).await;
    assert_eq!(plan.status.code(), Some(1), "{plan:?}");
    assert!(String::from_utf8_lossy(&plan.stdout).contains("\n1 to add, 0 to replace, 1 to delete, 3 unchanged"));
    let told = String::from_utf8_lossy(&plan.stderr).into_owned();
    assert!(told.contains("1 file cannot be sent, such as docs/large.md: it is larger than the 2000 bytes"), "{told}");
    assert!(told.contains(kept), "{told}");
    let plan = run(&["--dry-run", "--json"]).await;
    let plan: Value = serde_json::from_slice(&plan.stdout).expect("JSON");
    let expected = (&json!(["docs/e.md"]), &json!([]), &json!(["docs/a.md"]), &json!(3));
    assert_eq!((&plan["add"], &plan["replace"], &plan["delete"], &plan["unchanged"]), expected, "{plan}");
    assert_eq!(plan["failed"][0]["source"], "docs/large.md", "{plan}");
    assert!(plan["error"].as_str().is_some_and(|error| error.contains("cannot be sent")), "{plan}");

    let done = run(&[]).await;
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(said(&done).contains(" 1 stored in 1 chunk, 3 unchanged, 1 failed, 0 deleted\n"), "{done:?}");
    assert!(said(&done).contains(&format!("cited: 1 of 5 documents failed; {kept}\n")), "{done:?}");
    assert!(sources(&app).await.contains(&"docs/a.md".to_owned()), "it is kept");
    let meant = run(&["--exclude", "large.md"]).await;
    assert!(meant.status.success() && said(&meant).contains(", 1 deleted\n"), "{meant:?}");
    let plan = run(&["--dry-run", "--json", "--exclude", "large.md"]).await;
    let plan: Value = serde_json::from_slice(&plan.stdout).expect("JSON");
    assert_eq!((&plan["unchanged"], &plan["error"]), (&json!(4), &Value::Null), "{plan}");
    app.stop().await;
}

#[tokio::test]
async fn a_collection_is_not_emptied_by_mistake() {
    let server = ModelServer::start().await;
    let (app, folder) = filled(&server).await;
    let before = sources(&app).await;
    for name in ["a.md", "b.md", "d.md"] {
        std::fs::remove_file(folder.path().join("docs").join(name)).expect("removed");
    }
    write(folder.path(), "docs/e.md", "New words.");
    let refusal = "3 of the 4 documents of the folder would be deleted";
    let plan = "+ docs/e.md\n- docs/a.md\n- docs/b.md\n- docs/d.md\n1 to add, 0 to replace, 3 to delete, 1 unchanged; nothing was done\n";
    for (arguments, printed) in [(["docs"].as_slice(), ""), (&["docs", "--dry-run"], plan)] {
        let refused = sync(&app, folder.path(), arguments).await;
        assert_eq!((refused.status.code(), &*String::from_utf8_lossy(&refused.stdout)), (Some(1), printed));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(refusal), "{refused:?}");
    }
    assert_eq!(sources(&app).await, before, "nothing is sent either");
    let meant = sync(&app, folder.path(), &["docs", "--dry-run", "--delete-most"]).await;
    assert!(meant.status.success() && said(&meant) == plan, "{meant:?}");
    for (arguments, told) in [
        (["."].as_slice(), "name the folder from its parent"),
        (&["docs", "docs/deep"], "--sync takes one folder"),
        (&["docs/e.md"], "--sync takes a folder, and docs/e.md is none"),
    ] {
        let output = sync(&app, folder.path(), arguments).await;
        assert!(!output.status.success() && said(&output).contains(told), "{output:?}");
    }
    let meant = sync(&app, folder.path(), &["docs", "--delete-most"]).await;
    assert!(meant.status.success() && said(&meant).contains("1 unchanged, 0 failed, 3 deleted\n"), "{meant:?}");
    assert_eq!(sources(&app).await, ["docs/deep/c.md", "docs/e.md", "docs2/x.md", "note"]);
    app.stop().await;
}
