//! Real files of every format, made by `tests/corpus/generate.py`: what each comes to, exactly.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use reqwest::{Method, multipart};
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::corpus_files::{ATTACHED, READABLE, UNREADABLE};
use crate::{
    harness::{TestApp, send, slice},
    scripted::ModelServer,
};

pub(super) fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/files").join(name);
    std::fs::read(path).expect(name)
}

/// A service whose collection of files has chunks small enough for a page to be several.
pub(super) async fn app(server: &ModelServer, settings: &[(&str, &str)]) -> TestApp {
    let app = TestApp::start_with_embeddings(server, settings).await;
    let made = app.post("/v1/collections", json!({"name": "files", "splitter": {"size": 160}})).await;
    assert_eq!(made.status, 201, "{made:?}");
    app
}

/// Uploads files in one request; the finished job's items by source.
pub(super) async fn upload(app: &TestApp, files: Vec<(String, Vec<u8>)>) -> BTreeMap<String, Value> {
    let form = files.into_iter().fold(multipart::Form::new().text("collection", "files"), |form, (name, bytes)| {
        form.part("file", multipart::Part::bytes(bytes).file_name(name))
    });
    let answer = send(app.request(Method::POST, "/v1/documents?wait=true").multipart(form)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let items = answer.body["items"].as_array().expect("items").clone();
    items.into_iter().map(|item| (item["source"].as_str().expect("source").to_owned(), item)).collect()
}

pub(super) async fn document(app: &TestApp, item: &Value) -> (Value, String, Vec<Value>) {
    let id = item["document_id"].as_str().unwrap_or_else(|| panic!("no document: {item}"));
    let document = app.get(&format!("/v1/documents/{id}")).await.body;
    let content = app.get(&format!("/v1/documents/{id}/content")).await.body;
    let page = app.get(&format!("/v1/documents/{id}/chunks?limit=200")).await.body;
    (document, content["text"].as_str().expect("text").to_owned(), page["chunks"].as_array().expect("chunks").clone())
}

/// Where grapheme clusters begin and end, in code points.
fn cluster_borders(text: &str) -> HashSet<u64> {
    let mut end = 0;
    let lengths = text.graphemes(true).map(|cluster| cluster.chars().count() as u64);
    std::iter::once(0)
        .chain(lengths.map(|length| {
            end += length;
            end
        }))
        .collect()
}

/// Pages and heading paths of a document's chunks, one entry for each change.
fn places(chunks: &[Value]) -> Vec<(Value, Value)> {
    let mut places: Vec<(Value, Value)> =
        chunks.iter().map(|chunk| (chunk["page"].clone(), chunk["heading"].clone())).collect();
    places.dedup();
    places
}

#[tokio::test]
async fn every_file_comes_to_its_end() {
    let server = ModelServer::start().await;
    let app = app(&server, &[]).await;
    let names = READABLE.iter().map(|(name, ..)| name).chain(UNREADABLE.iter().map(|(name, ..)| name));
    let items = upload(&app, names.map(|name| ((*name).to_owned(), file(name))).collect()).await;
    let on_disk =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/files")).expect("a folder");
    assert_eq!(items.len(), on_disk.count() + ATTACHED.len(), "every file of the corpus is tried");
    for (name, cause, word) in UNREADABLE {
        let item = &items[name];
        assert_eq!(
            (&item["state"], &item["cause"], &item["stage"]),
            (&json!("failed"), &json!(cause), &json!("extract")),
            "{item}"
        );
        assert!(item["message"].as_str().is_some_and(|message| message.contains(word)), "{item}");
    }
    let mut chunks_of = BTreeMap::new();
    for (name, media_type, passages) in READABLE.into_iter().chain(ATTACHED) {
        assert_eq!(items[name]["state"], "succeeded", "{}", items[name]);
        let (document, text, chunks) = document(&app, &items[name]).await;
        assert_eq!(document["media_type"], media_type, "{name}");
        let mut rest = text.as_str();
        for passage in passages {
            let (_, after) = rest.split_once(passage).unwrap_or_else(|| panic!("{name} lacks {passage:?} in {rest:?}"));
            rest = after;
        }
        let borders = cluster_borders(&text);
        for chunk in &chunks {
            assert_eq!(slice(&text, &chunk["start"], &chunk["end"]), chunk["text"].as_str().expect("text"), "{name}");
            for border in [&chunk["start"], &chunk["end"]] {
                let is_between = border.as_u64().is_some_and(|border| borders.contains(&border));
                assert!(is_between, "{name}: {border} lies within a character as people see it");
            }
        }
        let has_several = ["emoji.txt", "one-line.txt"].contains(&name);
        assert!(!has_several || chunks.len() > 1, "{name}: {chunks:?}");
        chunks_of.insert(name, (document["title"].clone(), places(&chunks)));
    }
    let expect = |name: &str, title: &str, places: &[(Value, Value)]| {
        assert_eq!(chunks_of[name], (json!(title), places.to_vec()), "{name}");
    };
    expect("leave.pdf", "Leave and illness", &[(json!(1), json!(["Leave"])), (json!(2), json!(["Illness"]))]);
    // A line at the edge of each page stays on the first.
    let pages = [(1, None), (1, Some("Harbour")), (2, Some("Income")), (3, Some("Outlook"))];
    let places = pages.map(|(page, heading)| (json!(page), json!(heading.as_slice())));
    expect("report.pdf", "report", &places);
    expect("leave.pptx", "Leave", &[(json!(1), json!(["Leave"])), (json!(2), json!(["Carrying over"]))]);
    let sections = [["Leave"].as_slice(), &["Leave", "Carrying over"]].map(|path| (Value::Null, json!(path)));
    expect("leave.docx", "Leave of absence", &sections);
    expect("leave.html", "Leave – Handbook", &sections);
    let chapters = [["Leave"].as_slice(), &["Carrying over"], &["Carrying over", "How to ask"]];
    let chapters = chapters.map(|path| (Value::Null, json!(path)));
    expect("leave.epub", "The book of leave", &chapters);
    expect("staff.xlsx", "staff", &[(Value::Null, json!(["Staff"])), (Value::Null, json!(["Rates"]))]);
    let noted = |repaired: u32, dropped: u32, pages: &[u32]| json!({"repaired_characters": repaired, "dropped_characters": dropped, "pages_without_text": pages, "recognised_pages": [], "unread_attachments": []});
    let unread = |name: &str| json!({"repaired_characters": 0, "dropped_characters": 0, "pages_without_text": [], "recognised_pages": [], "unread_attachments": [name]});
    let expected = [
        ("latin-1.html", noted(3, 0, &[])),
        ("leave.eml", unread("picture.png (no_text_layer)")),
        ("mail.txt", unread("picture.png (no_text_layer)")),
        ("partly.pdf", noted(0, 0, &[2, 4])),
        ("stray.txt", noted(0, 2, &[])),
        ("twice.txt", noted(7, 0, &[])),
    ];
    let readings: BTreeMap<&str, Value> =
        items.iter().filter_map(|(name, item)| Some((name.as_str(), item.get("reading")?.clone()))).collect();
    assert_eq!(readings, BTreeMap::from(expected));
    let jobs = app.get("/v1/jobs?limit=1").await.body;
    let job = jobs["jobs"][0]["id"].as_str().expect("an id").to_owned();
    let conspicuous = app.get(&format!("/v1/jobs/{job}?items_noted=true")).await.body;
    let names: Vec<&str> =
        conspicuous["items"].as_array().expect("items").iter().filter_map(|item| item["source"].as_str()).collect();
    assert_eq!(names.len(), readings.len(), "{names:?}");
    expect("leave.py", "leave", &[(Value::Null, json!([]))]);
    app.stop().await;
}

#[tokio::test]
async fn hits_and_sources_say_the_page() {
    let server = ModelServer::start().await;
    let app = app(&server, &[]).await;
    upload(&app, vec![("leave.pdf".to_owned(), file("leave.pdf"))]).await;
    let search = |filter: Value| json!({"query": "doctor's note", "collections": ["files"], "mode": "lexical", "filter": filter});
    let found = app.post("/v1/search", search(json!({}))).await.body;
    assert_eq!(
        (&found["results"][0]["page"], &found["results"][0]["heading"]),
        (&json!(2), &json!(["Illness"])),
        "{found}"
    );
    let elsewhere = app.post("/v1/search", search(json!({"pages": [1]}))).await.body;
    assert!(
        elsewhere["results"].as_array().is_some_and(|results| results.iter().all(|hit| hit["page"] == 1)),
        "{elsewhere}"
    );
    let asked = app.ask(json!({"question": "When is a doctor's note due?", "collections": ["files"]})).await.body;
    assert_eq!((&asked["sources"][0]["page"], &asked["citations"][0]["page"]), (&json!(2), &json!(2)), "{asked}");
    app.stop().await;
}

#[tokio::test]
async fn collections_choose_how_they_are_split() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let settings = json!({"kind": "recursive", "unit": "characters", "size": 200, "overlap": 0});
    let made = app.post("/v1/collections", json!({"name": "small", "splitter": settings})).await;
    assert_eq!((made.status, &made.body["splitter"]), (201, &settings), "{made:?}");
    assert_eq!(app.get("/v1/collections/small").await.body["splitter"], settings);
    let made = app.post("/v1/collections", json!({"name": "usual"})).await.body;
    assert_eq!(made["splitter"], json!({"kind": "auto", "unit": "tokens", "size": 512, "overlap": null}));
    let text = "Words that fill a line of text. ".repeat(60);
    let job = app.ingest("small", &[("a.md", &text)]).await;
    let (_, _, chunks) = document(&app, &job["items"][0]).await;
    assert!(chunks.len() >= 10, "{chunks:?}");
    for chunk in &chunks {
        assert!(chunk["text"].as_str().is_some_and(|text| text.chars().count() <= 200));
        assert!(
            chunk["splitter"]
                .as_str()
                .is_some_and(|splitter| splitter.starts_with("recursive size=200 unit=characters overlap=0")),
            "{chunk}"
        );
    }
    for (splitter, pointer) in [
        (json!({"size": 8}), "/splitter/size"),
        (json!({"unit": "characters", "size": 32}), "/splitter/size"),
        (json!({"size": 100, "overlap": 51}), "/splitter/overlap"),
    ] {
        let answer = app.post("/v1/collections", json!({"name": "wrong", "splitter": splitter})).await;
        answer.assert_problem(422, "invalid_request");
        assert_eq!(answer.pointers(), [pointer]);
    }
    let answer = app.post("/v1/collections", json!({"name": "wrong", "splitter": {"kind": "clever"}})).await;
    assert!((400..500).contains(&answer.status), "{answer:?}");
    app.stop().await;
}
