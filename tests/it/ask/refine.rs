//! Sources reduced to what bears on the question before the model sees them.

use serde_json::{Value, json};

use crate::{
    harness::{TestApp, slice},
    scripted::{ModelServer, Role},
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const HANDBOOK: &str = "# Handbook\n\nThe office opens at nine and closes at six. The canteen on the second floor \
    serves soup. Bicycles stand in the yard behind the house.\n\nEveryone has 28 days of paid annual leave \
    a year. It is asked for in writing.\n\nVisitors ring the bell at the gate. Trucks use the ramp. The \
    caretaker knows where the keys hang.";

fn ask(refine: bool) -> Value {
    json!({"question": QUESTION, "collections": ["handbook"], "include": ["trace"], "refine": refine})
}

/// The last prompt of the answering model.
fn shown(server: &ModelServer) -> String {
    let call = server.calls(Role::Answer).pop().expect("a call");
    call.body["messages"][1]["content"].as_str().expect("a prompt").to_owned()
}

#[tokio::test]
async fn the_model_reads_less_and_citations_lead_to_the_same_words() {
    let server = ModelServer::start().await;
    let app = TestApp::with_models(&server).await;
    server.say(Role::Grade, "1: correct");
    server.say(Role::Answer, "Everyone has 28 days of paid annual leave a year [^1].");
    app.ingest("handbook", &[("handbook.md", HANDBOOK)]).await;
    let whole = app.ask(ask(false)).await;
    assert_eq!((whole.status, &whole.body["outcome"]), (200, &json!("answered")), "{whole:?}");
    assert!(shown(&server).contains("soup"));
    assert_eq!(whole.body["trace"]["refined"], json!([]));
    let refined = app.ask(ask(true)).await;
    assert_eq!((refined.status, &refined.body["outcome"]), (200, &json!("answered")), "{refined:?}");
    let prompt = shown(&server);
    assert!(prompt.contains("28 days") && prompt.contains("asked for in writing"), "{prompt}");
    assert!(!prompt.contains("soup") && !prompt.contains("ramp"), "{prompt}");
    for member in ["answer", "citations"] {
        assert_eq!(refined.body[member], whole.body[member]);
    }
    assert_eq!(refined.body["sources"][0]["text"], whole.body["sources"][0]["text"], "the source is shown whole");
    let trace = &refined.body["trace"]["refined"];
    assert_eq!((&trace[0]["urn"], trace.as_array().map(Vec::len)), (&refined.body["sources"][0]["urn"], Some(1)));
    let bytes = |name: &str| trace[0][name].as_u64().expect("a number");
    assert!(0 < bytes("kept") && bytes("kept") < bytes("bytes"), "{trace}");
    let document = refined.body["sources"][0]["document_id"].as_str().expect("an id");
    let stored = app.get(&format!("/v1/documents/{document}/content")).await;
    let text = stored.body["text"].as_str().expect("a text");
    let quote = &refined.body["citations"][0]["quote"];
    assert_eq!(slice(text, &quote["start"], &quote["end"]), quote["text"].as_str().expect("words"));
    app.stop().await;
}
