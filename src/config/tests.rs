//! Where settings come from, and the faults of a configuration.

use secrecy::ExposeSecret;

use std::{fs::Permissions, time::Duration};

use super::*;

fn read(variables: &[(&str, &str)], file: &str) -> Result<Config, ConfigError> {
    let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Config::from_sources(environment, file)
}

#[test]
fn environment_beats_file_beats_default() {
    let file = "listen = \"127.0.0.1:1\"\nmax_rewrite_attempts = 1";
    let config = read(&[("HOME", "/h"), ("CITED_LISTEN", "127.0.0.1:2")], file).expect("valid");
    assert_eq!(config.listen.port(), 2);
    assert_eq!(config.ask.max_rewrite_attempts, 1);
    assert!((config.ask.min_correct_fraction - 0.5).abs() < f32::EPSILON);
}

#[test]
fn all_faults_are_reported_at_once() {
    let error = read(
        &[("CITED_LISTEN", "nowhere"), ("CITED_CHAT_MODEL", "m"), ("CITED_WORKERS", "many"), ("HOME", "/h")],
        "colour = \"red\"",
    )
    .expect_err("four faults")
    .to_string();
    for part in ["CITED_LISTEN", "CITED_CHAT_BASE_URL", "CITED_WORKERS", "colour"] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
}

#[test]
fn times_that_nothing_can_keep_are_faults() {
    for name in [
        "CITED_REQUEST_TIMEOUT_S",
        "CITED_ASK_TIMEOUT_S",
        "CITED_CHAT_TIMEOUT_S",
        "CITED_EMBEDDING_TIMEOUT_S",
        "CITED_RERANK_TIMEOUT_S",
        "CITED_EXTRACT_TIMEOUT_S",
        "CITED_OCR_TIMEOUT_S",
        "CITED_CONTEXT_TIMEOUT_S",
        "CITED_OUTBOUND_TIMEOUT_S",
        "CITED_WEB_SEARCH_TIMEOUT_S",
        "CITED_LEASE_S",
    ] {
        assert!(read(&[(name, "60"), ("HOME", "/h")], "").is_ok(), "{name}");
        for seconds in ["0", "31536001", "18446744073709551615"] {
            let error = read(&[(name, seconds), ("HOME", "/h")], "").expect_err(name).to_string();
            assert!(error.contains(&format!("1 fault:\n  - {name} is {seconds}; it must be ")), "{error}");
        }
    }
    let table = "[providers.a]\ntimeout_s = 31536001\nmodels = [\"m\"]";
    let error = read(&[("HOME", "/h"), ("CITED_MODELS", "a:m")], table).expect_err("too long").to_string();
    assert!(error.contains("providers.a.timeout_s must be a number of seconds above 0"), "{error}");
}

#[test]
fn a_lease_and_a_cache_have_bounds_of_their_own() {
    let error = |name, seconds| read(&[(name, seconds), ("HOME", "/h")], "").expect_err("a fault").to_string();
    assert!(error("CITED_LEASE_S", "1").contains("CITED_LEASE_S is 1; it must be 2 to 31536000 seconds"));
    assert!(error("CITED_CACHE_TTL_S", "2592001").contains("CITED_CACHE_TTL_S is 2592001; it must be 0 to 2592000"));
    let life = |seconds| {
        let config = read(&[("CITED_CACHE_TTL_S", seconds), ("HOME", "/h")], "").expect("valid");
        config.ask.cache.life
    };
    assert_eq!(life("0"), None, "off");
    assert_eq!(life("60"), Some(Duration::from_mins(1)));
}

#[test]
fn a_pool_has_a_connection() {
    let error = read(&[("CITED_DATABASE_CONNECTIONS", "0"), ("HOME", "/h")], "").expect_err("none").to_string();
    assert!(error.contains("CITED_DATABASE_CONNECTIONS must be 1 or more"), "{error}");
}

#[test]
fn pools_fit_into_the_embedded_database() {
    let connections = |value| ("CITED_DATABASE_CONNECTIONS", value);
    let error = read(&[connections("37"), ("HOME", "/h")], "").expect_err("too many").to_string();
    assert!(
        error.contains("CITED_DATABASE_CONNECTIONS is 37; with the embedded database it must be 36 or less"),
        "{error}"
    );
    assert!(read(&[connections("36"), ("HOME", "/h")], "").is_ok());
    let server = ("DATABASE_URL", "postgres://localhost/cited");
    assert_eq!(read(&[connections("200"), server, ("HOME", "/h")], "").expect("valid").pools.max_connections, 200);
}

#[test]
fn numbers_of_passages_have_bounds() {
    let passages = |name, value| read(&[(name, value), ("HOME", "/h")], "");
    for (name, wrong) in [("CITED_FETCH_K", ["9", "1001"]), ("CITED_TOP_K", ["0", "101"])] {
        for value in wrong {
            let error = passages(name, value).expect_err(name).to_string();
            assert!(error.contains(&format!("{name} is {value}; it must be ")), "{error}");
        }
    }
    assert_eq!(passages("CITED_FETCH_K", "200").expect("valid").retrieval.fetch_k, 200);
    assert_eq!(passages("CITED_TOP_K", "5").expect("valid").ask.top_k, 5);
}

#[test]
fn refuses_to_be_open_to_others_without_keys() {
    let error = read(&[("CITED_LISTEN", "0.0.0.0:80"), ("HOME", "/h")], "").expect_err("open to all").to_string();
    assert!(error.contains("CITED_API_KEYS"), "{error}");
    assert!(
        read(&[("CITED_LISTEN", "0.0.0.0:80"), ("CITED_API_KEYS", "a-long-enough-key-1"), ("HOME", "/h")], "").is_ok()
    );
}

#[test]
fn secrets_are_not_shown() {
    let config =
        read(&[("DATABASE_URL", "postgres://u:hunter2@h/d"), ("CITED_API_KEYS", "hunter2-hunter2-hunter2")], "")
            .expect("valid");
    let shown = format!("{config:?} {:?}", config.effective());
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_fault_in_the_file_does_not_show_its_line() {
    let file = "listen = \"127.0.0.1:1\"\napi_keys = \"hunter2-hunter2";
    let error = read(&[("HOME", "/h")], file).expect_err("an open text").to_string();
    assert!(error.contains("not valid TOML: line 2: "), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn every_secret_may_be_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("written");
        path.display().to_string()
    };
    let key = file("key", "a-long-enough-key-hunter2\n");
    let database = file("database", "postgres://u:hunter2@localhost/d\r\n");
    let signing = file("signing", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let pepper = file("pepper", "hunter2-hunter2-hunter2-hunter2-hunter2\n");
    let variables = [
        ("CITED_API_KEYS_FILE", key.as_str()),
        ("DATABASE_URL_FILE", &database),
        ("DATABASE_READ_URL_FILE", &database),
        ("CITED_API_KEY_FILE", &key),
        ("CITED_CHAT_BASE_URL", "http://localhost:1/v1"),
        ("CITED_CHAT_MODEL", "m"),
        ("CITED_CHAT_API_KEY_FILE", &key),
        ("CITED_EMBEDDING_BASE_URL", "http://localhost:1/v1"),
        ("CITED_EMBEDDING_MODEL", "m"),
        ("CITED_EMBEDDING_API_KEY_FILE", &key),
        ("CITED_RERANK_BASE_URL", "http://localhost:1/v1"),
        ("CITED_RERANK_MODEL", "m"),
        ("CITED_RERANK_API_KEY_FILE", &key),
        ("CITED_WEBHOOK_SECRET_FILE", &signing),
        ("CITED_KEY_PEPPER_FILE", &pepper),
    ];
    let table =
        format!("[providers.p]\nbase_url = \"http://localhost:1/v1\"\nmodels = [\"m\"]\napi_key_file = {key:?}");
    let config = read(&variables, &table).expect("valid");
    let exposed = |secret: &Option<SecretString>| secret.as_ref().map(|secret| secret.expose_secret().to_owned());
    assert_eq!(config.access.operator_keys.first().expect("a key").expose_secret(), "a-long-enough-key-hunter2");
    assert_eq!(exposed(&config.remote.key).as_deref(), Some("a-long-enough-key-hunter2"));
    let Database::Server { primary, .. } = &config.database else { panic!("a server") };
    assert_eq!(primary.expose_secret(), "postgres://u:hunter2@localhost/d");
    assert!(config.webhook_secret.is_some() && config.access.pepper.is_some());
    let shown = format!("{config:?} {:?}", config.effective());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains(&format!("(in {key}, not shown)")), "{shown}");
}

#[test]
fn a_file_with_a_secret_that_others_may_read_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cited.toml");
    let told = |content: &str, mode: u32| {
        std::fs::write(&path, content).expect("written");
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("permitted");
        read(&[], content).expect("valid").read_from(path.display().to_string()).exposure()
    };
    let of_provider = "models = [\"p:m\"]\n[providers.p]\nbase_url = \"http://localhost:1/v1\"\nmodels = [\"m\"]\napi_key = \"hunter2\"";
    for secret in ["api_keys = \"hunter2-hunter2-hunter2\"", of_provider] {
        let exposure = told(secret, 0o644).expect(secret);
        assert!(exposure.contains("chmod 600") && !exposure.contains("hunter2"), "{exposure}");
        assert_eq!(told(secret, 0o640), None, "{secret}");
    }
    assert_eq!(told("listen = \"127.0.0.1:1\"", 0o644), None);
}

#[test]
fn a_secret_that_is_named_twice_missing_or_empty_is_a_fault() {
    let fault = |variables: &[(&str, &str)]| {
        let variables = [&[("HOME", "/h")], variables].concat();
        read(&variables, "").expect_err("a fault").to_string()
    };
    let both = fault(&[("CITED_API_KEYS", "a-long-enough-key-1"), ("CITED_API_KEYS_FILE", "/nowhere")]);
    assert!(both.contains("CITED_API_KEYS and CITED_API_KEYS_FILE are both set"), "{both}");
    let missing = fault(&[("CITED_API_KEYS_FILE", "/nowhere/key")]);
    assert!(missing.contains("CITED_API_KEYS_FILE names /nowhere/key, which cannot be read"), "{missing}");
    let alone = fault(&[("CITED_OIDC_CLIENT_ID", "page")]);
    assert!(alone.contains("CITED_OIDC_CLIENT_ID is set and CITED_OIDC_ISSUER is not"), "{alone}");
    let issuer = [("CITED_OIDC_ISSUER", "https://login.example.org"), ("CITED_OIDC_AUDIENCE", "cited")];
    let scope = fault(&[&issuer[..], &[("CITED_OIDC_CLIENT_ID", "page"), ("CITED_OIDC_LOGIN_SCOPE", "ask")]].concat());
    assert!(scope.contains("it must hold openid"), "{scope}");
    let short = fault(&[("CITED_KEY_PEPPER", "hunter2")]);
    assert!(short.contains("CITED_KEY_PEPPER has fewer than 32 characters") && !short.contains("hunter2"), "{short}");
    let empty = fault(&[("CITED_API_KEYS_FILE", "/dev/null")]);
    assert!(empty.contains("CITED_API_KEYS_FILE names /dev/null, which is empty"), "{empty}");
}

#[test]
fn misspelt_variables_are_named_with_what_was_meant() {
    let given = [("HOME", "/h"), ("CITED_LISTN", "1"), ("CITED_COLOUR_OF_THE_SKY", "blue"), ("CITED_CONFIG", "")];
    let config = read(&given, "").expect("nothing that keeps it from starting");
    let shown: Vec<String> = config.unknown_variables().iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "CITED_COLOUR_OF_THE_SKY is not a setting and has no effect; remove it",
            "CITED_LISTN is not a setting and has no effect; did you mean CITED_LISTEN?"
        ]
    );
    let faults =
        read(&[("HOME", "/h"), ("CITED_CHAT_MODEL", "m"), ("CITED_CHAT_BASE_ULR", "http://h")], "listn = \"x\"");
    let faults = faults.expect_err("two faults").to_string();
    assert!(
        faults.contains("did you mean CITED_CHAT_BASE_URL?") && faults.contains("did you mean listen?"),
        "{faults}"
    );
}

#[test]
fn every_setting_that_is_documented_is_known() {
    let readme = include_str!("../../README.md");
    let names = readme.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split(" | ").next());
    let names =
        names.flat_map(|cell| cell.split('`')).filter(|name| name.starts_with("CITED_") && !name.ends_with('*'));
    let given: Vec<(&str, &str)> = names.map(|name| (name, "")).chain([("HOME", "/h")]).collect();
    assert!(given.len() > 60, "{given:?}");
    assert_eq!(read(&given, "").expect("all are empty").unknown_variables(), []);
}
