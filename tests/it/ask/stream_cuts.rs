//! However the words of a draft are cut on their way, a stream tells what the answer at once says.

use domain::citation::{Attempt, CitationError, ConfirmedClaim, Draft, Level, PreparedSource, Verdict, validate};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::{
    ask::stream::{ANSWER, app, ask, comparable, end, frames, told, whole},
    scripted::Role,
};

/// Drafts that are made up, beside those that once went wrong.
const DRAFTS: usize = 40;
/// Ways in which each is cut, each told in both modes.
const CUTS: usize = 3;

const KNOWN: [&str; 6] = [
    ANSWER,
    "# Leave\n\n- Everyone has 28 days of paid annual leave a year [^1].\n- Annual leave lapses on 31 March. [^1]\n",
    "Everyone has 28 days of paid annual leave a year. Annual leave lapses on 31 March [^1].\n\nThe sources say no more.",
    "Leave lapses [^9]. Nobody knows.",
    "The sources do not answer this question.",
    "everyone has 28 days of paid annual leave a year, i.e. a lot of days, which is more than four weeks in all, so that nobody \
     has to come to work all the time [^1]. annual leave lapses on 31 March [^1]. everyone has 28 days [^1].",
];

/// Parts of drafts: claims, words that are none, and text that is hard to split.
const PARTS: [&str; 20] = [
    "Everyone has 28 days of paid annual leave a year",
    "Annual leave lapses on 31 March",
    "everyone has 28 days of leave, e.g. in summer, i.e. four weeks or so",
    "Leave lapses on 31 March, says Dr. A. Renner of the U.S. office",
    "Everyone has 28.5 days at www.example.com/a.b?c=d",
    "The sources say no more",
    "The sources do not say who approves leave",
    "Is there more to know",
    "In short",
    "У каждого 28 дней отпуска в году",
    "每个人每年有28天带薪年假",
    "لكل شخص 28 يومًا من الإجازة",
    "Everyone 👩‍👩‍👧 has 28 days 🎉 of leave",
    "É́veryone hás 28 days of leave",
    "## Leave",
    "- Everyone has 28 days of leave",
    "2. Annual leave lapses on 31 March",
    "| Leave | 28 days |",
    "```\nleave = 28 [^1]\n```\n",
    "> Annual leave lapses on 31 March",
];
const MARKERS: [&str; 12] =
    ["", "", " [^1]", " [^1]", " [^1]", "[^1][^1]", " [^2]", " [^01]", " [^x]", " \\[^1]", " [^", " [^1] [^1]"];
const STOPS: [&str; 8] = [". ", ". ", "! ", "?\n", ".\n\n", "\n", "。", ": "];

fn drafts() -> impl Strategy<Value = String> {
    let part = (prop::sample::select(&PARTS[..]), prop::sample::select(&MARKERS[..]), prop::sample::select(&STOPS[..]));
    let part = (part, any::<bool>()).prop_map(|((words, marker, stop), is_inside)| {
        // "… [^1]." or "…. [^1]"
        if is_inside { format!("{words}{marker}{stop}") } else { format!("{words}{}{marker} ", stop.trim_end()) }
    });
    // Most are of one kind of part, so that a good share passes.
    let sound = prop::sample::select(&PARTS[..6]).prop_map(|words| format!("{words} [^1]. "));
    prop_oneof![
        prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat()),
        (prop::collection::vec(sound, 1..5), prop::sample::select(&STOPS[..]))
            .prop_map(|(parts, stop)| parts.join(stop)),
    ]
}

/// The text in pieces of these lengths, in characters, over and over.
fn cut(text: &str, lengths: &[usize]) -> Vec<String> {
    let mut rest: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let after = rest.split_off((*length).min(rest.len()));
        pieces.push(rest.into_iter().collect());
        rest = after;
    }
    pieces
}

/// The validator's result for a draft, without any stream.
fn judged(text: &str, sources: &Value) -> Result<Vec<ConfirmedClaim>, Vec<CitationError>> {
    let prepared: Vec<PreparedSource> = sources
        .as_array()
        .expect("sources")
        .iter()
        .map(|source| {
            let (text, title) = (source["text"].as_str().expect("text"), source["title"].as_str().expect("a title"));
            PreparedSource::with_context(text, title)
        })
        .collect();
    match validate(&Draft::new(text, &prepared), Level::Cited, Attempt::Retry) {
        Verdict::Accept(answer) => Ok(answer.confirmed_claims()),
        Verdict::Reject(errors) => Err(errors),
        Verdict::Retry(_) => panic!("a second draft earns no retry"),
    }
}

/// Claims as the stream tells them.
fn as_told(claims: &[ConfirmedClaim]) -> Vec<Value> {
    let own = |claim: &ConfirmedClaim| {
        let citations = claim.citations.iter();
        citations.map(|cited| json!([cited.marker, cited.span, cited.claim])).collect::<Vec<_>>()
    };
    claims.iter().map(|claim| json!([claim.claim.span, claim.claim.markers, own(claim)])).collect()
}

fn of_frames(claims: &[Value]) -> Vec<Value> {
    let own = |claim: &Value| {
        let citations = claim["citations"].as_array().expect("citations").iter();
        citations.map(|cited| json!([cited["marker"], cited["span"], cited["claim"]])).collect::<Vec<_>>()
    };
    claims.iter().map(|claim| json!([claim["span"], claim["markers"], own(claim)])).collect()
}

#[tokio::test]
async fn any_cut_of_the_words_tells_the_same() {
    let (server, app) = app("").await;
    let mut runner = TestRunner::deterministic();
    let mut made = || drafts().new_tree(&mut runner).expect("a draft").current();
    let texts: Vec<String> = KNOWN.iter().map(|text| (*text).to_owned()).chain((0..DRAFTS).map(|_| made())).collect();
    server.say(Role::Answer, "Taken back at once.");
    let (mut answered, mut refused) = (0, 0);
    for text in &texts {
        server.say(Role::Answer, text);
        server.drop_reply(Role::Answer);
        let at_once = app.ask(ask(json!(false))).await;
        let judged = judged(text, &at_once.body["sources"]);
        for _ in 0..CUTS {
            let lengths = prop::collection::vec(1usize..40, 1..60).new_tree(&mut runner).expect("a value").current();
            let pieces = cut(text, &lengths);
            server.reply(Role::Answer, whole(&pieces.iter().map(String::as_str).collect::<Vec<_>>()));
            server.drop_reply(Role::Answer);
            for mode in ["provisional", "validated"] {
                let wanted = if mode == "validated" { json!(mode) } else { json!(true) };
                let frames = frames(&app, ask(wanted)).await;
                let (words, claims) = told(&frames);
                let context = format!("{mode} {pieces:?}: {frames:#?}");
                match (&judged, at_once.body["outcome"].as_str()) {
                    (Ok(confirmed), Some("answered" | "partial")) => {
                        answered += 1;
                        assert_eq!(comparable(end(&frames)), comparable(&at_once.body), "{context}");
                        assert_eq!(
                            (words.as_str(), at_once.body["answer"].as_str()),
                            (text.as_str(), Some(text.as_str()))
                        );
                        assert_eq!(of_frames(&claims), as_told(confirmed), "{context}");
                        let cited: Vec<&Value> =
                            claims.iter().flat_map(|claim| claim["citations"].as_array().expect("citations")).collect();
                        // A question may carry a marker too, and is no claim.
                        let of_claims = |cited: &&Value| claims.iter().any(|claim| claim["span"] == cited["claim"]);
                        let all = at_once.body["citations"].as_array().expect("citations");
                        assert_eq!(cited, all.iter().filter(of_claims).collect::<Vec<_>>(), "{context}");
                    }
                    // It says that the sources do not tell.
                    (Ok(_), outcome) => {
                        assert_eq!(outcome, Some("abstained"), "{at_once:?}");
                        assert_eq!(comparable(end(&frames)), comparable(&at_once.body), "{context}");
                        assert!(claims.is_empty(), "{context}");
                    }
                    (Err(errors), _) => {
                        refused += 1;
                        assert_eq!((at_once.status, &end(&frames)["status"]), (422, &json!(422)), "{context}");
                        assert_eq!(end(&frames)["validation"], at_once.body["validation"], "{context}");
                        let found = at_once.body["validation"]["errors"].as_array().map(Vec::len);
                        assert_eq!(found, Some(errors.len()), "{at_once:?}");
                        assert!(words.is_empty() && claims.is_empty(), "what was refused is void: {context}");
                    }
                }
            }
        }
    }
    assert!(answered >= 60 && refused >= 60, "both ends are tried: {answered} and {refused}");
    app.stop().await;
}
