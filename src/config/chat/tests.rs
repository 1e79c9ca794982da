use crate::{
    config::{Config, ConfigError},
    domain::cost::Price,
    providers::chat::{CallRole, ModelName, ProviderKind},
};

const FILE: &str = r#"
models = ["groq:llama-3.3-70b-versatile", "claude:claude-sonnet-4-5"]

[providers.groq]
base_url = "https://user:hunter2@api.groq.com/openai/v1?key=hunter2"
api_key_env = "GROQ_API_KEY"
timeout_s = 20
models = ["llama-3.1-8b-instant"]

[providers.claude]
kind = "anthropic"
api_key = "hunter2"

[providers.local]
kind = "ollama"

[roles]
grade = "local:llama3.1:8b"
rewrite = "built-in"
verify = ["groq:llama-3.1-8b-instant", "local:llama3.1:8b"]

[prices."groq:llama-3.3-70b-versatile"]
prompt_usd_per_million = 0.59
completion_usd_per_million = 0.79

[capabilities."local:llama3.1:8b"]
citations = false
"#;

fn read(variables: &[(&str, &str)], file: &str) -> Result<Config, ConfigError> {
    let home = [("HOME", "/h")];
    let environment =
        home.iter().chain(variables).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::from_sources(environment, file)
}

fn names(list: &[ModelName]) -> Vec<String> {
    list.iter().map(ModelName::to_string).collect()
}

#[test]
fn providers_roles_prices_and_capabilities_are_read() {
    let config = read(&[("GROQ_API_KEY", "hunter2")], FILE).expect("valid");
    let chat = &config.chat;
    assert_eq!(names(&chat.default), ["groq:llama-3.3-70b-versatile", "claude:claude-sonnet-4-5"]);
    assert_eq!(chat.providers["local"].kind, ProviderKind::Ollama);
    assert_eq!(chat.providers["local"].base_url.as_str(), "http://127.0.0.1:11434/v1");
    assert_eq!(chat.providers["claude"].base_url.as_str(), "https://api.anthropic.com/v1");
    assert_eq!(chat.providers["groq"].timeout.as_secs(), 20);
    assert!(chat.providers["groq"].api_key.is_some());
    assert_eq!(names(&chat.roles[&CallRole::Grade]), ["local:llama3.1:8b"], "the model's name may hold colons");
    assert!(chat.roles[&CallRole::Rewrite].is_empty(), "built in");
    assert_eq!(chat.roles[&CallRole::Verify].len(), 2);
    let model = |name: &str| chat.models[&name.parse().expect("a name")];
    assert_eq!(model("groq:llama-3.3-70b-versatile").price, Price::per_million(0.59, 0.79).expect("a price"));
    assert_eq!(model("local:llama3.1:8b").capabilities.citations, Some(false));
    assert_eq!(chat.models.len(), 4, "all that are named anywhere");
}

#[test]
fn no_secret_is_shown() {
    let config = read(&[("GROQ_API_KEY", "hunter2"), ("CITED_EMBEDDING_THREADS", "1")], FILE).expect("valid");
    let values: Vec<String> =
        config.effective().iter().map(|value| format!("{} = {}", value.name, value.value)).collect();
    assert!(!values.join("\n").contains("hunter2"), "{values:#?}");
    for shown in ["providers.claude.api_key = (set, not shown)", "providers.groq.api_key_env = GROQ_API_KEY"] {
        assert!(values.iter().any(|value| value == shown), "{shown} is missing in {values:#?}");
    }
    assert!(values.iter().any(|value| value.starts_with("providers.groq.base_url = https://api.groq.com/openai/v1 ")));
}

#[test]
fn every_fault_is_reported_at_once() {
    let file = r#"
        models = ["nobody:m", "plain"]
        [providers.a]
        kind = "oracle"
        timeout_s = 0
        colour = "red"
        api_key_env = "NOT_THERE"
        [providers.B]
        [providers.c]
        base_url = "nowhere"
        models = 7
        [roles]
        grade = []
        judge = "a:m"
        [prices."a:m"]
        prompt_usd_per_million = -1
        [capabilities."a:other"]
        seed = "yes"
    "#;
    let error = read(&[], file).expect_err("faults").to_string();
    for part in [
        "CITED_MODELS names \"nobody:m\"",
        "CITED_MODELS names \"plain\"",
        "providers.a.kind",
        "providers.a.timeout_s",
        "providers.a.colour",
        "NOT_THERE",
        "providers.B",
        "providers.c.base_url",
        "providers.c.models",
        "roles.grade",
        "roles.judge",
        "prices.\"a:m\".prompt_usd_per_million",
        "prices.\"a:m\" is about",
        "capabilities.\"a:other\".seed",
        "capabilities.\"a:other\" is about",
    ] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}

#[test]
fn the_short_form_is_one_provider() {
    let variables = [("CITED_CHAT_BASE_URL", "http://127.0.0.1:1/v1"), ("CITED_CHAT_MODEL", "m")];
    let file = "[prices.\"openai:m\"]\nprompt_usd_per_million = 1\ncompletion_usd_per_million = 2.5";
    let config = read(&variables, file).expect("valid");
    assert_eq!(names(&config.chat.default), ["openai:m"]);
    assert_eq!(config.chat.models[&config.chat.default[0]].price, Price::per_million(1.0, 2.5).expect("a price"));
    let twice = read(&variables, "[providers.openai]").expect_err("twice").to_string();
    assert!(twice.contains("CITED_CHAT_BASE_URL stands for it too"), "{twice}");
}

#[test]
fn providers_without_models_are_a_fault() {
    let error = read(&[], "[providers.a]").expect_err("no models").to_string();
    assert!(error.contains("CITED_MODELS"), "{error}");
}

#[test]
fn the_environment_decides_the_order() {
    let file = "models = [\"a:x\"]\n[providers.a]\nmodels = [\"y\"]";
    let config = read(&[("CITED_MODELS", "a:y, a:x")], file).expect("valid");
    assert_eq!(names(&config.chat.default), ["a:y", "a:x"]);
}

#[test]
fn a_deployment_instructs_its_models_by_role() {
    let file = "[prompts]\ngenerate = \"\"\"\nSay team members,\nnot staff.\"\"\"\ngrade = \"Policies of 2019 are out of date.\"";
    let config = read(&[], file).expect("valid");
    let told = |role| config.instructions.of(role).map(|instructions| instructions.as_str().to_owned());
    assert_eq!(told(CallRole::Generate).as_deref(), Some("Say team members,\nnot staff."));
    assert_eq!(told(CallRole::Grade).as_deref(), Some("Policies of 2019 are out of date."));
    assert_eq!(told(CallRole::Verify), None);
    let shown = config.effective().iter().find(|value| value.name == "prompts.grade").expect("doctor shows it");
    assert_eq!(shown.value, "Policies of 2019 are out of date.");
    let one = config.instructions.fingerprint().expect("a fingerprint");
    let other = read(&[], &file.replace("2019", "2020")).expect("valid").instructions.fingerprint();
    assert_ne!(Some(one), other);
    assert_eq!(read(&[], "").expect("valid").instructions.fingerprint(), None);

    let faulty = format!("[prompts]\nplan = \"{}\"\nverify = \" \"\nanswerer = \"x\"", "a".repeat(2_001));
    let error = read(&[], &faulty).expect_err("three faults").to_string();
    for part in ["prompts.plan", "more than 2000 characters", "prompts.verify", "it says nothing", "prompts.answerer"] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}
