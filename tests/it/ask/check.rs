//! `POST /v1/check`: texts held against passages, URNs and collections.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, TestApp, slice},
    scripted::{ModelServer, Reply, Role},
};

const LEAVE: &str = "Everyone has 25 days of paid leave a year. Interns may not carry over unused leave.";
const PARKING: &str = "Parking costs 9 euros a day in the garage of the Oslo office.";
const VERIFIER: &str = "[roles]\nverify = [\"openai:scripted-chat\"]\ngrade = \"built-in\"\nrewrite = \"built-in\"\n";
/// True of [`LEAVE`], and too far from its words for the scorer.
const PARAPHRASED: &str = "Trainees lose leave days that they did not use.";

fn passages() -> Value {
    json!([{"id": "leave.md", "title": "Leave", "text": LEAVE}, {"text": PARKING}])
}

async fn check(app: &TestApp, body: Value) -> Answer {
    let checked = app.post("/v1/check", body).await;
    assert_eq!(checked.status, 200, "{checked:?}");
    checked
}

fn verdicts(checked: &Answer) -> Vec<&str> {
    let claims = checked.body["claims"].as_array().expect("claims").iter();
    claims.map(|claim| claim["verdict"].as_str().expect("a verdict")).collect()
}

fn kinds<'a>(checked: &'a Answer, member: &str) -> Vec<&'a str> {
    let found = checked.body[member].as_array().expect("findings").iter();
    found.map(|finding| finding["kind"].as_str().expect("a kind")).collect()
}

#[tokio::test]
async fn without_markers_each_claim_finds_the_passage_that_supports_it_best() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let text = "# Rules\n\nParking costs 9 euros a day. Everyone has 28 days of paid leave a year. Whales sing.";
    let checked = check(&app, json!({"text": text, "passages": passages()})).await;
    assert_eq!(verdicts(&checked), ["supported", "contradicted", "unsupported"], "{checked:?}");
    assert_eq!((&checked.body["ok"], &checked.body["level"]), (&json!(false), &json!("supported")));
    let claims = checked.body["claims"].as_array().expect("claims");
    assert_eq!(claims[0]["text"], "Parking costs 9 euros a day.");
    assert_eq!(claims[0]["text"], slice(text, &claims[0]["span"][0], &claims[0]["span"][1]));
    let cited = &claims[0]["citations"][0];
    assert_eq!((&cited["source_index"], &cited["urn"], &cited["marker"]), (&json!(1), &json!(""), &json!(2)));
    assert_eq!(cited["quote"]["text"], slice(PARKING, &cited["quote"]["start"], &cited["quote"]["end"]));
    assert_eq!(cited["support"], claims[0]["support"]);
    let contradiction = &claims[1]["contradiction"];
    assert_eq!((&contradiction["kind"], &contradiction["source_index"]), (&json!("number"), &json!(0)));
    assert_eq!(contradiction["quote"]["text"], "Everyone has 25 days of paid leave a year.");
    assert_eq!(claims[2]["contradiction"], Value::Null);
    // The faults are those of the 422 of an ask.
    assert_eq!(kinds(&checked, "errors"), ["unsupported_claim", "unsupported_claim"]);
    let error = &checked.body["errors"][0];
    assert_eq!((&error["verdict"], &error["contradiction"]), (&json!("contradicted"), contradiction));
    assert_eq!((&error["span"], &error["support"]), (&claims[1]["span"], &claims[1]["support"]));
    assert_eq!(checked.body["errors"][1]["verdict"], "unsupported");
    let sources = json!([{"urn": null, "id": "leave.md", "title": "Leave"}, {"urn": null, "id": null, "title": ""}]);
    assert_eq!((&checked.body["sources"], &checked.body["usage"]["llm_calls"]), (&sources, &json!(0)));
    app.stop().await;
}

#[tokio::test]
async fn markers_name_the_passages_in_their_order() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let text = "Parking costs 9 euros a day [^1]. Everyone has 25 days of paid leave a year [^1].\n\n\
        Interns may not carry over unused leave. Parking is dear [^7][^x].";
    let checked = check(&app, json!({"text": text, "passages": passages()})).await;
    assert_eq!(verdicts(&checked), ["unsupported", "supported", "unsupported", "unsupported"], "{checked:?}");
    let expected = ["unsupported_claim", "uncited_claim", "out_of_range", "malformed"];
    assert_eq!(kinds(&checked, "errors"), expected, "{checked:?}");
    assert_eq!(checked.body["claims"][1]["markers"], json!([1]));
    // Laxer levels refuse less and warn of the rest.
    for (level, errors) in [("cited", &expected[1..]), ("structural", &expected[2..]), ("off", &expected[4..])] {
        let laxer = check(&app, json!({"text": text, "passages": passages(), "level": level})).await;
        assert_eq!((kinds(&laxer, "errors"), &laxer.body["level"]), (errors.to_vec(), &json!(level)));
        assert_eq!(laxer.body["ok"], json!(errors.is_empty()));
        assert_eq!(kinds(&laxer, "warnings"), expected[..4 - errors.len()], "{laxer:?}");
    }
    let right = "Parking costs 9 euros a day [^2].";
    assert_eq!(check(&app, json!({"text": right, "passages": passages()})).await.body["ok"], json!(true));
    app.stop().await;
}

#[tokio::test]
async fn what_needs_no_marker_is_held_against_the_passages_too() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let text = "# Call 555 0199\n\nParking costs 9 euros a day.";
    let checked = check(&app, json!({"text": text, "passages": passages()})).await;
    assert_eq!((verdicts(&checked), kinds(&checked, "errors")), (vec!["supported"], vec!["uncited_claim"]));
    let nothing = check(&app, json!({"text": "What is parking?", "passages": passages()})).await;
    assert_eq!((&nothing.body["claims"], &nothing.body["ok"]), (&json!([]), &json!(true)));
    app.stop().await;
}

#[tokio::test]
async fn cited_passages_are_held_as_they_were_cited() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let text = format!("{PARKING}\n\n{LEAVE}");
    app.ingest("handbook", &[("rules.md", &text)]).await;
    let found = app.post("/v1/search", json!({"query": "paid leave", "collections": ["handbook"]})).await;
    let urn = found.body["results"][0]["urn"].as_str().expect("a URN").to_owned();
    let body = json!({"text": "Everyone has 25 days of paid leave a year. [^1]", "urns": [&urn]});
    let checked = check(&app, body.clone()).await;
    let cited = &checked.body["claims"][0]["citations"][0];
    assert_eq!((verdicts(&checked), &cited["urn"]), (vec!["supported"], &json!(&urn)), "{checked:?}");
    assert_eq!(cited["quote"]["text"], slice(&text, &cited["quote"]["start"], &cited["quote"]["end"]));
    assert_eq!((&cited["span"], &checked.body["sources"][0]["urn"]), (&json!([43, 47]), &json!(&urn)));

    app.ingest("handbook", &[("rules.md", "Everyone has 30 days of paid leave a year.")]).await;
    assert_eq!(verdicts(&check(&app, body.clone()).await), ["supported"], "the version that was cited says so");
    let document = app.get("/v1/documents?collection=handbook").await.body["documents"][0]["id"].clone();
    app.delete(&format!("/v1/documents/{}", document.as_str().expect("an id"))).await;
    let deleted = app.post("/v1/check", body).await;
    deleted.assert_problem(422, "invalid_request");
    assert_eq!(deleted.pointers(), ["/urns/0"]);
    let unknown = urn.replace("@1", "@9");
    app.post("/v1/check", json!({"text": "So it is.", "urns": [unknown]})).await.assert_problem(404, "not_found");
    app.stop().await;
}

#[tokio::test]
async fn titles_name_the_headings_below_them_once() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let text = format!("# Leave\n\n{LEAVE}\n\n## Carrying over\n\nUnused leave lapses in March.");
    app.ingest("handbook", &[("leave.md", &text)]).await;
    let claim = "Unused leave lapses in March.";
    let searched = check(&app, json!({"text": claim, "collections": ["handbook"], "top_k": 1})).await;
    let source = &searched.body["sources"][0];
    assert_eq!(source["title"], "Leave Carrying over", "{searched:?}");
    let held = check(&app, json!({"text": claim, "urns": [&source["urn"]]})).await;
    assert_eq!(held.body["sources"][0]["title"], "Leave Carrying over", "{held:?}");
    app.stop().await;
}

#[tokio::test]
async fn in_collections_each_claim_is_searched() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("handbook", &[("leave.md", LEAVE), ("parking.md", PARKING), ("pay.md", "Pay day is the 25th.")]).await;
    // A marker names nothing here, so it is passed over.
    let text = "Parking costs 12 euros a day. Interns may not carry over unused leave [^9].";
    let body = json!({"text": text, "collections": ["handbook"], "top_k": 1});
    let checked = check(&app, body.clone()).await;
    assert_eq!(verdicts(&checked), ["contradicted", "supported"], "{checked:?}");
    let sources = checked.body["sources"].as_array().expect("sources");
    assert_eq!(sources.len(), 2, "the best passage of each claim: {checked:?}");
    let cited = &checked.body["claims"][1]["citations"][0];
    assert!(cited["urn"].as_str().is_some_and(|urn| urn.starts_with("cited:handbook/")), "{checked:?}");
    assert_eq!(cited["quote"]["text"], slice(LEAVE, &cited["quote"]["start"], &cited["quote"]["end"]));
    let mut filtered = body.clone();
    filtered["filter"] = json!({"source_prefix": "pay"});
    assert_eq!(verdicts(&check(&app, filtered).await), ["unsupported", "unsupported"]);
    let mut foreign = body;
    foreign["collections"] = json!(["handbook", "elsewhere"]);
    app.post("/v1/check", foreign).await.assert_problem(404, "not_found");
    app.stop().await;
}

async fn verifying(settings: &[(&str, &str)]) -> (ModelServer, TestApp) {
    let server = ModelServer::start().await;
    let url = server.base_url();
    let mut all = vec![("CITED_CHAT_BASE_URL", url.as_str()), ("CITED_CHAT_MODEL", "scripted-chat")];
    all.extend_from_slice(settings);
    let app = TestApp::with_file(&server, &all, VERIFIER).await;
    (server, app)
}

#[tokio::test]
async fn a_verifying_model_has_its_say_on_what_words_leave_in_doubt() {
    let (server, app) = verifying(&[]).await;
    let text = format!("{PARAPHRASED} Everyone has 28 days of paid leave a year.");
    let body = json!({"text": text, "passages": passages()});
    server.say(Role::Verify, "1: supported - trainees are interns");
    let vouched = check(&app, body.clone()).await;
    assert_eq!(verdicts(&vouched), ["supported", "contradicted"], "a wrong number is past help: {vouched:?}");
    assert_eq!((&vouched.body["usage"]["llm_calls"], &vouched.body["warnings"]), (&json!(1), &json!([])));
    let sent = server.calls(Role::Verify)[0].body["messages"][1]["content"].as_str().expect("text").to_owned();
    assert!(sent.contains(LEAVE) && !sent.contains("Parking") && !sent.contains("28 days"), "{sent}");

    server.drop_reply(Role::Verify);
    server.say(Role::Verify, "{\"supported\": false}");
    assert_eq!(verdicts(&check(&app, body.clone()).await), ["unsupported", "contradicted"]);
    // Below level `supported` nobody asks.
    let before = server.calls(Role::Verify).len();
    let laxer = check(&app, json!({"text": text, "passages": passages(), "level": "structural"})).await;
    assert_eq!((&laxer.body["ok"], server.calls(Role::Verify).len()), (&json!(true), before));
    app.stop().await;
}

#[tokio::test]
async fn a_verifying_model_that_fails_leaves_the_scorers_word_and_a_warning() {
    let (server, app) = verifying(&[]).await;
    let body = json!({"text": PARAPHRASED, "passages": passages()});
    server.reply(Role::Verify, Reply::Status(500, "{}".to_owned()));
    let failed = check(&app, body.clone()).await;
    assert_eq!((verdicts(&failed), kinds(&failed, "warnings")), (vec!["unsupported"], vec!["model_skipped"]));
    server.drop_reply(Role::Verify);
    server.say(Role::Verify, "I would rather not say.");
    let rambled = check(&app, body.clone()).await;
    assert_eq!((verdicts(&rambled), kinds(&rambled, "warnings")), (vec!["unsupported"], vec!["model_skipped"]));
    app.stop().await;

    let (server, app) = verifying(&[("CITED_ASK_SOURCE_BYTES", "20")]).await;
    server.say(Role::Verify, "1: supported");
    let over = check(&app, body).await;
    assert_eq!((verdicts(&over), kinds(&over, "warnings")), (vec!["unsupported"], vec!["model_skipped"]));
    assert_eq!((server.calls(Role::Verify).len(), &over.body["usage"]["llm_calls"]), (0, &json!(0)), "{over:?}");
    app.stop().await;
}

#[tokio::test]
async fn wrong_bodies_are_refused_by_name() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    let long = "a".repeat(65_537);
    let many: Vec<Value> = (0..65).map(|_| json!({"text": "a"})).collect();
    let passage = json!([{"text": "a"}]);
    let cases = [
        (json!({"passages": passage}), vec!["/text"]),
        (json!({"text": " ", "passages": passage}), vec!["/text"]),
        (json!({"text": long, "passages": passage}), vec!["/text"]),
        (json!({"text": "a"}), vec!["/passages"]),
        (json!({"text": "a", "passages": passage, "collections": ["c"]}), vec!["/collections"]),
        (json!({"text": "a", "passages": passage, "urns": ["b"], "collections": ["c"]}), vec!["/urns", "/collections"]),
        (json!({"text": "a", "passages": []}), vec!["/passages"]),
        (json!({"text": "a", "passages": many}), vec!["/passages"]),
        (
            json!({"text": "a", "passages": [{"text": ""}, {"text": "a", "id": " "}]}),
            vec!["/passages/0/text", "/passages/1/id"],
        ),
        (json!({"text": "a", "passages": [{"title": "a"}]}), vec!["/passages/0/text"]),
        (json!({"text": "a", "passages": [{"text": "a", "titel": "a"}]}), vec!["/passages/0/titel"]),
        (json!({"text": "a", "urns": ["cited:c/d@1#0", "d"]}), vec!["/urns/1"]),
        (json!({"text": "a", "urns": []}), vec!["/urns"]),
        (json!({"text": "a", "collections": ["c"], "top_k": 21}), vec!["/top_k"]),
        (
            json!({"text": "a", "collections": ["c"], "filter": {"metadata": {"a": {"like": 1}}}}),
            vec!["/filter/metadata/a"],
        ),
        (json!({"text": "a", "passages": passage, "level": "strict"}), vec!["/level"]),
        (json!({"text": "It is so. ".repeat(257), "passages": passage}), vec!["/text"]),
        (json!({"text": "It is so. ".repeat(65), "collections": ["c"]}), vec!["/text"]),
    ];
    for (body, pointers) in cases {
        let refused = app.post("/v1/check", body.clone()).await;
        refused.assert_problem(422, "invalid_request");
        assert_eq!(refused.pointers(), pointers, "{}", body.to_string().chars().take(200).collect::<String>());
    }
    let large =
        json!({"text": "a", "passages": (0..5).map(|_| json!({"text": "a".repeat(60_000)})).collect::<Vec<_>>()});
    app.post("/v1/check", large).await.assert_problem(413, "body_too_large");
    app.stop().await;
}
