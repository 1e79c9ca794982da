use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
    time::Duration,
};

use serde_json::{Value, json};

use super::*;
use crate::{
    domain::{
        budget::TighterLimits,
        conversation::{Speaker, Turn},
        corrective::OnInsufficient,
        filter::{Condition, Filter, Test},
        speculation::Speculation,
    },
    service::{
        ask::{AskExecution, Reach},
        retrieval::{Mode, Stages},
    },
};

static NO_INSTRUCTIONS: LazyLock<RoleInstructions> = LazyLock::new(RoleInstructions::default);

fn request() -> AskRequest {
    AskRequest {
        question: "How many days?".to_owned(),
        history: Vec::new(),
        has_instructions: false,
        collections: vec!["team".to_owned()],
        top_k: 8,
        min_score: None,
        filter: Filter::default(),
        stages: Stages::default(),
        feedback: true,
        level: Level::Cited,
        temperature: 0.0,
        seed: None,
        on_insufficient: OnInsufficient::Abstain,
        refine: false,
        execution: AskExecution::default(),
    }
}

fn key<'a>(request: &'a AskRequest, limits: &'a Limits) -> CacheKey<'a> {
    CacheKey {
        request,
        effective_level: Level::Cited,
        limits,
        may_search_web: false,
        models: Vec::new(),
        instructions: &NO_INSTRUCTIONS,
        settings: SettingsKey::of(&Settings::default()),
        passages: Vec::new(),
        caller: None,
    }
}

fn hash_of(request: &AskRequest) -> Hash {
    key(request, &Limits::ask()).hash()
}

/// Variants of the request, each with one member changed, under the member's name.
fn variants() -> Vec<(&'static str, AskRequest)> {
    let metadata = Condition { key: "year".to_owned(), test: Test::AnyOf(vec![json!(2026)]) };
    let turn = Turn { speaker: Speaker::User, text: "How many days of leave?".to_owned() };
    vec![
        ("question", AskRequest { question: "How many days".to_owned(), ..request() }),
        ("history", AskRequest { history: vec![turn], ..request() }),
        ("has_instructions", AskRequest { has_instructions: true, ..request() }),
        ("collections", AskRequest { collections: vec!["team".to_owned(), "other".to_owned()], ..request() }),
        ("top_k", AskRequest { top_k: 7, ..request() }),
        ("min_score", AskRequest { min_score: Some(0.5), ..request() }),
        ("filter", AskRequest { filter: Filter { metadata: vec![metadata], ..Filter::default() }, ..request() }),
        ("stages", AskRequest { stages: Stages { mode: Mode::Dense, ..Stages::default() }, ..request() }),
        ("feedback", AskRequest { feedback: false, ..request() }),
        ("level", AskRequest { level: Level::Supported, ..request() }),
        ("temperature", AskRequest { temperature: 0.5, ..request() }),
        ("seed", AskRequest { seed: Some(0), ..request() }),
        ("on_insufficient", AskRequest { on_insufficient: OnInsufficient::Generate, ..request() }),
        ("refine", AskRequest { refine: true, ..request() }),
    ]
}

#[test]
fn every_member_of_the_request_decides_the_key() {
    let serialised = serde_json::to_value(request()).expect("it serialises");
    let members: BTreeSet<&str> = serialised.as_object().expect("an object").keys().map(String::as_str).collect();
    let varied: BTreeSet<&str> = variants().iter().map(|(name, _)| *name).collect();
    assert_eq!(members, varied, "a member without a variant in this test");
    let mut keys = HashSet::from([hash_of(&request())]);
    for (name, variant) in variants() {
        assert!(keys.insert(hash_of(&variant)), "{name} does not change the key");
    }
}

#[test]
fn how_an_ask_is_carried_out_does_not_decide_the_key() {
    // Destructured, so that a new member must be changed below before this compiles.
    let AskExecution { models: _, reach: _, limits: _, timeout: _, speculation: _, cache_life: _, dry_run: _ } =
        AskExecution::default();
    let execution = AskExecution {
        models: vec!["openai:other".parse().expect("a name")],
        reach: Reach::Documents,
        limits: TighterLimits { llm_calls: Some(1), ..TighterLimits::default() },
        timeout: Some(Duration::from_secs(1)),
        speculation: Speculation::Off,
        cache_life: Some(Duration::from_secs(1)),
        dry_run: true,
    };
    assert_eq!(hash_of(&AskRequest { execution, ..request() }), hash_of(&request()));
}

#[test]
fn what_results_from_request_and_deployment_decides_the_key() {
    let (request, limits) = (request(), Limits::ask());
    let fewer = Limits { completion_tokens: 1, ..Limits::ask() };
    let model = |name: &str| (CallRole::Generate, vec![name.parse::<ModelName>().expect("a name")]);
    let stricter = Settings { min_correct_fraction: 0.75, ..Settings::default() };
    let longer = Settings { max_rewrite_attempts: 9, ..Settings::default() };
    let told = [(CallRole::Grade, "Be strict.".parse().expect("fit"))].into_iter().collect();
    let passage = |urn: &str| vec![urn.parse::<Urn>().expect("a URN")];
    let variants = [
        ("level", CacheKey { effective_level: Level::Off, ..key(&request, &limits) }),
        ("limits", key(&request, &fewer)),
        ("web", CacheKey { may_search_web: true, ..key(&request, &limits) }),
        ("model", CacheKey { models: vec![model("openai:small")], ..key(&request, &limits) }),
        ("other model", CacheKey { models: vec![model("openai:large")], ..key(&request, &limits) }),
        ("instructions", CacheKey { instructions: &told, ..key(&request, &limits) }),
        ("fraction", CacheKey { settings: SettingsKey::of(&stricter), ..key(&request, &limits) }),
        ("rewrites", CacheKey { settings: SettingsKey::of(&longer), ..key(&request, &limits) }),
        ("passage", CacheKey { passages: passage("cited:team/d@1#0"), ..key(&request, &limits) }),
        ("nobody", CacheKey { caller: Some(Vec::new()), ..key(&request, &limits) }),
        ("somebody", CacheKey { caller: Some(vec![1]), ..key(&request, &limits) }),
        ("version", CacheKey { passages: passage("cited:team/d@2#0"), ..key(&request, &limits) }),
    ];
    let mut keys = HashSet::from([key(&request, &limits).hash()]);
    for (name, variant) in variants {
        assert!(keys.insert(variant.hash()), "{name} does not change the key");
    }
}

#[test]
fn the_serialisation_is_canonical() {
    let json = serde_json::to_string(&request()).expect("it serialises");
    let parsed: Value = serde_json::from_str(&json).expect("JSON");
    assert!(parsed.get("execution").is_none());
    assert_eq!(json, serde_json::to_string(&request()).expect("it serialises"));
    assert!(
        json.starts_with(
            r#"{"question":"How many days?","history":[],"has_instructions":false,"collections":["team"],"top_k":8,"#
        ),
        "{json}"
    );
}
