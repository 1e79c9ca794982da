//! Text in pictures and scans, recognised by a program.

use std::{
    fs::Permissions,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use reqwest::{Method, multipart};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    harness::{TestApp, send},
    scripted::ModelServer,
};

/// A program that stands for tesseract, and the folder that it is in.
pub(crate) fn program(script: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    // The process that reads documents is another user's where the tests are root's.
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("allowed");
    let path = folder.path().join("tesseract");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("allowed");
    let path = path.to_str().expect("UTF-8").to_owned();
    (folder, path)
}

async fn upload(app: &TestApp, names: &[&str]) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/files");
    let form = names.iter().fold(multipart::Form::new().text("collection", "c"), |form, name| {
        let bytes = std::fs::read(folder.join(name)).expect(name);
        form.part("file", multipart::Part::bytes(bytes).file_name((*name).to_owned()))
    });
    let answer = send(app.request(Method::POST, "/v1/documents?wait=true").multipart(form)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["items"].as_array().expect("items").clone()
}

async fn text(app: &TestApp, item: &Value) -> String {
    let id = item["document_id"].as_str().unwrap_or_else(|| panic!("no document: {item}"));
    let content = app.get(&format!("/v1/documents/{id}/content")).await.body;
    content["text"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn pictures_and_scans_are_read() {
    let (_folder, program) =
        program("[ \"$*\" = 'stdin stdout -l eng+deu' ] || exit 1\ncat >/dev/null\nprintf '28 days a year.\\n\\f'");
    let server = ModelServer::start().await;
    let settings = [("CITED_OCR", program.as_str()), ("CITED_OCR_LANGUAGES", "eng+deu")];
    let app = TestApp::start_with_embeddings(&server, &settings).await;
    let items = upload(&app, &["picture.png", "scan.pdf", "partly.pdf", "leave.eml"]).await;
    let read: Vec<Value> = items
        .iter()
        .map(|item| {
            json!([
                item["source"],
                item["state"],
                item["reading"]["recognised_pages"],
                item["reading"]["pages_without_text"]
            ])
        })
        .collect();
    let expected = [
        json!(["picture.png", "succeeded", [1], []]),
        json!(["scan.pdf", "succeeded", [1], []]),
        json!(["partly.pdf", "succeeded", [2, 4], []]),
        json!(["leave.eml", "succeeded", null, null]),
        json!(["leave.eml/rules.md", "succeeded", null, null]),
        json!(["leave.eml/picture.png", "succeeded", [1], []]),
    ];
    assert_eq!(read, expected);
    for item in &items[..2] {
        assert_eq!(text(&app, item).await, "28 days a year.");
    }
    let found = app
        .post(
            "/v1/search",
            json!({"query": "days a year", "collections": ["c"], "mode": "lexical", "filter": {"pages": [2]}}),
        )
        .await
        .body;
    assert_eq!(found["results"][0]["source"], "partly.pdf", "{found}");
    app.stop().await;
}

#[tokio::test]
async fn pictures_of_each_format_and_their_pages_are_read() {
    // Pictures in TIFF begin with their byte order, and only they have pages.
    let (_folder, program) = program(
        "beginning=$(dd bs=2 count=1 2>/dev/null)\ncat >/dev/null\ncase $beginning in II|MM) printf '28 days.\\n\\f30 days.\\n\\f' ;; *) printf '28 days a year.\\n\\f' ;; esac",
    );
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_OCR", program.as_str())]).await;
    let one_page = ("28 days a year.", json!([1]));
    let expected = [
        ("picture.jpg", "image/jpeg", one_page.clone()),
        ("picture.webp", "image/webp", one_page.clone()),
        ("pages.tiff", "image/tiff", ("28 days.\n\n30 days.", json!([1, 2]))),
        ("picture.png", "image/png", one_page),
    ];
    let items = upload(&app, &expected.each_ref().map(|(name, ..)| *name)).await;
    for (item, (name, media_type, (read, pages))) in items.iter().zip(expected) {
        assert_eq!((&item["source"], &item["reading"]["recognised_pages"]), (&json!(name), &pages), "{item}");
        assert_eq!(text(&app, item).await, read, "{name}");
        let id = item["document_id"].as_str().expect("an id");
        assert_eq!(app.get(&format!("/v1/documents/{id}")).await.body["media_type"], media_type, "{name}");
    }
    app.stop().await;
}

#[tokio::test]
async fn recognition_that_fails_or_does_not_end_leaves_pages_without_text() {
    let server = ModelServer::start().await;
    for script in ["exec sleep 600", "exit 1", "printf 'words'; kill -KILL $$", "exec 0<&-; printf ' \\n\\f'"] {
        let (_folder, program) = program(script);
        let settings = [("CITED_OCR", program.as_str()), ("CITED_OCR_TIMEOUT_S", "1")];
        let app = TestApp::start_with_embeddings(&server, &settings).await;
        let items = upload(&app, &["picture.png", "scan.pdf", "partly.pdf"]).await;
        for item in &items[..2] {
            assert_eq!(
                (&item["state"], &item["cause"]),
                (&json!("failed"), &json!("no_text_layer")),
                "{script}: {item}"
            );
        }
        assert_eq!(items[2]["reading"]["pages_without_text"], json!([2, 4]), "{script}: {}", items[2]);
        app.stop().await;
    }
}

/// The header of a picture that unpacks to more bytes than a service has memory, and little else.
fn vast_picture() -> Vec<u8> {
    let chunk = |kind: &[u8; 4], content: &[u8]| {
        let checked = [kind.as_slice(), content].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&checked);
        let length = u32::try_from(content.len()).expect("small");
        [&length.to_be_bytes(), checked.as_slice(), &sum.sum().to_be_bytes()].concat()
    };
    let side = 60_000_u32.to_be_bytes();
    let header = [side.as_slice(), &side, &[8, 6, 0, 0, 0]].concat();
    let mut pixels = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    pixels.write_all(&vec![0; 1_000_000]).expect("in memory");
    let pixels = pixels.finish().expect("in memory");
    [b"\x89PNG\r\n\x1a\n".as_slice(), &chunk(b"IHDR", &header), &chunk(b"IDAT", &pixels), &chunk(b"IEND", b"")].concat()
}

#[tokio::test]
async fn a_picture_that_takes_more_memory_than_there_may_be_fails_alone() {
    // It unpacks the picture, and would not end.
    let (_folder, program) = program("cat >/dev/null\nx=xxxxxxxxxxxxxxxx\nwhile :; do x=$x$x; done");
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_OCR", program.as_str())]).await;
    let part = multipart::Part::bytes(vast_picture()).file_name("vast.png");
    let form = multipart::Form::new().text("collection", "c").part("file", part);
    let answer = send(app.request(Method::POST, "/v1/documents?wait=true").multipart(form)).await;
    let item = &answer.body["items"][0];
    assert_eq!((&item["state"], &item["cause"]), (&json!("failed"), &json!("no_text_layer")), "{item}");
    let items = upload(&app, &["leave.txt"]).await;
    assert_eq!(items[0]["state"], "succeeded", "{items:?}");
    app.stop().await;
}

#[tokio::test]
async fn tesseract_reads_a_scan_where_it_is_installed() {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let installed: Option<PathBuf> =
        std::env::split_paths(&places).map(|folder| folder.join("tesseract")).find(|program| program.is_file());
    let Some(program) = installed.as_ref().and_then(|program| program.to_str()) else {
        assert!(std::env::var_os("CITED_TEST_REQUIRE_TESSERACT").is_none(), "no tesseract is installed");
        eprintln!("skipped: no tesseract is installed");
        return;
    };
    let server = ModelServer::start().await;
    let app = TestApp::start_with_embeddings(&server, &[("CITED_OCR", program)]).await;
    let items = upload(&app, &["scan.pdf"]).await;
    let text = text(&app, &items[0]).await;
    assert!(text.contains("scanned page"), "{text}");
    app.stop().await;
}
