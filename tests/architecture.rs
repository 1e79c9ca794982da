//! The shape of the source tree: imports point one way, the domain is pure, files fit in a head.

#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Rooms and the rooms that each may import. `main`, `app`, `cli` and the other files at the root see everything.
const ROOMS: [(&str, &[&str]); 6] = [
    ("http", &["http", "service", "domain", "store", "providers", "extract"]),
    ("service", &["service", "domain", "store", "providers", "extract"]),
    ("store", &["store", "domain"]),
    ("providers", &["providers", "domain"]),
    ("extract", &["extract", "domain"]),
    ("domain", &["domain"]),
];

/// What the pure domain must not name: async, I/O, clocks, frameworks.
const IMPURE: [&str; 14] = [
    "async fn",
    "tokio",
    "sqlx",
    "axum",
    "reqwest",
    "tracing",
    "std::fs",
    "std::net",
    "std::io",
    "std::env",
    "std::process",
    "std::thread",
    "std::time",
    "now_utc",
];

/// Lines of a file, its tests not counted.
const MAX_LINES: usize = 400;

fn sources() -> BTreeMap<PathBuf, String> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.insert(path.clone(), fs::read_to_string(&path).expect("UTF-8"));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeMap::new();
    walk(&root, &mut found);
    found.into_iter().map(|(path, text)| (path.strip_prefix(&root).expect("below src").to_owned(), text)).collect()
}

fn is_test(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name == "tests" || name.ends_with("_tests") || path.components().any(|part| part.as_os_str() == "tests")
}

/// The text before the in-file test module.
fn production(text: &str) -> &str {
    text.find("\n#[cfg(test)]\nmod tests {").map_or(text, |end| &text[..end])
}

/// Rooms that a file names after `crate::`, in imports and in paths.
fn rooms_named(text: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    for (place, _) in text.match_indices("crate::") {
        let rest = &text[place + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut name = String::new();
            for character in group.chars() {
                match character {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => name.clear(),
                    ':' if depth == 0 && !name.trim().is_empty() => {
                        rooms.push(name.trim().to_owned());
                        name.clear();
                        depth += 0;
                    }
                    other if depth == 0 => name.push(other),
                    _ => {}
                }
            }
        } else {
            rooms.push(rest.chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect());
        }
    }
    rooms
}

#[test]
fn imports_point_one_way() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let Some(room) = path.components().next().and_then(|part| part.as_os_str().to_str()) else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else { continue };
        for named in rooms_named(&text) {
            let is_room = ROOMS.iter().any(|(name, _)| *name == named)
                || ["app", "cli", "config", "server"].contains(&named.as_str());
            if is_room && !allowed.contains(&named.as_str()) {
                faults.push(format!("{} names crate::{named}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_domain_is_pure() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        if !path.starts_with("domain") || is_test(&path) {
            continue;
        }
        for line in production(&text).lines().filter(|line| !line.trim_start().starts_with("//")) {
            faults.extend(
                IMPURE
                    .iter()
                    .filter(|word| line.contains(**word))
                    .map(|word| format!("{}: {word}: {line}", path.display())),
            );
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn sql_stays_in_the_store_and_the_environment_in_config() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let is_allowed = path.starts_with("store") || path == Path::new("app.rs") || path == Path::new("cli/doctor.rs");
        if text.contains("sqlx::") && !is_allowed {
            faults.push(format!("{} uses sqlx", path.display()));
        }
        if (text.contains("env::var") || text.contains("env::vars"))
            && path != Path::new("config/mod.rs")
            && !is_test(&path)
        {
            faults.push(format!("{} reads the environment", path.display()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn files_fit_in_a_head() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| (path, production(text).lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(path, lines)| format!("{} has {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn the_reader_of_imports_reads_groups() {
    assert_eq!(rooms_named("use crate::{\n domain::{a, b::c},\n store::X,\n};"), ["domain", "store"]);
    assert_eq!(rooms_named("crate::http::ask"), ["http"]);
}
