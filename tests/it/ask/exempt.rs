//! A model that obeys a document: what it puts where no marker is needed does not leave unchecked.

use domain::citation::Level;
use eval::attack::{ANSWERS, ObeyingAnswer};
use serde_json::{Value, json};

use super::stream::{ANSWER, app, ask, end, frames, told};
use crate::scripted::Role;

/// Whether a fault tells what the answer was to spread, or that a statement lacks a marker or support.
fn names(fault: &Value, answer: &ObeyingAnswer) -> bool {
    let detail = fault["detail"].as_str().expect("text").to_lowercase();
    let is_hidden = answer.spreads.chars().all(|sign| ('\u{e0000}'..='\u{e007f}').contains(&sign));
    match fault["kind"].as_str() {
        Some("uncited_claim") if is_hidden => detail.contains("the hidden character u+e0077"),
        Some("uncited_claim") => detail.contains(answer.spreads) || detail == "no marker covers this statement",
        kind => kind == Some("unsupported_claim"),
    }
}

#[tokio::test]
async fn nothing_is_said_where_nobody_checks_it() {
    let (server, app) = app("").await;
    let told = async |answer: &ObeyingAnswer, level: Level| {
        server.say(Role::Answer, &answer.around(ANSWER));
        let mut body = ask(json!(false));
        body["validation"] = json!(level);
        body["cache"] = json!({"ttl_s": 0});
        app.ask(body).await
    };
    for answer in &ANSWERS {
        for level in [Level::Cited, Level::Supported] {
            let told = told(answer, level).await;
            let code = &told.body["code"];
            if !answer.is_refused_at(level) {
                assert_eq!(told.status, 200, "{answer:?} at {level}: {told:?}");
                continue;
            }
            assert_eq!((told.status, code), (422, &json!("citation_validation")), "{answer:?} at {level}: {told:?}");
            let errors = told.body["validation"]["errors"].as_array().expect("errors").clone();
            assert!(errors.iter().any(|error| names(error, answer)), "{answer:?} at {level}: {errors:?}");
        }
        let lax = told(answer, Level::Structural).await;
        assert_eq!(lax.status, 200, "{answer:?}: {lax:?}");
        let warnings = lax.body["validation"]["warnings"].as_array().expect("warnings").clone();
        let is_warned = warnings.iter().any(|warning| names(warning, answer));
        assert_eq!(is_warned, answer.is_refused_at(Level::Supported), "{answer:?}: {warnings:?}");
    }
    app.stop().await;
}

#[tokio::test]
async fn a_stream_confirms_nothing_behind_an_unchecked_lead_in() {
    let (server, app) = app("").await;
    server.say(Role::Answer, &format!("Call 0900 123456 for more:\n\n- {ANSWER}\n- {ANSWER}"));
    let all = frames(&app, ask(json!("validated"))).await;
    assert_eq!(end(&all)["code"], "citation_validation");
    assert!(all.iter().all(|(name, _)| name != "claim" && name != "token"), "{all:#?}");
    server.say(Role::Answer, &format!("Here are the 2 rules:\n\n- {ANSWER}"));
    let all = frames(&app, ask(json!("validated"))).await;
    assert_eq!((end(&all)["outcome"].as_str(), told(&all).1.len()), (Some("answered"), 2), "{all:#?}");
    app.stop().await;
}
