//! The shape of the source tree: imports point one way, the domain is pure, files fit in a head.

#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Folders of the service and the folders and crates that each may import. `main`, `app`, `cli` and the other files at
/// the root see everything.
const ROOMS: [(&str, &[&str]); 4] = [
    ("http", &["http", "service", "domain"]),
    ("service", &["service", "domain", "store", "providers", "extract"]),
    ("store", &["store", "domain"]),
    ("providers", &["providers", "domain", "minilm"]),
];

/// Crates and the crates of this workspace that each may depend on; Cargo enforces the rest.
const CRATES: [(&str, &[&str]); 6] = [
    ("domain", &[]),
    ("extract", &["domain"]),
    ("minilm", &["domain"]),
    ("embedded-postgres", &[]),
    ("confine", &[]),
    ("eval", &["domain"]),
];

/// Dependencies that the pure domain must not have.
const IMPURE_DEPENDENCIES: [&str; 6] = ["tokio", "sqlx", "axum", "reqwest", "tracing", "futures"];

/// Names that the pure domain must not use: async, I/O, clocks.
const IMPURE: [&str; 9] =
    ["async fn", "std::fs", "std::net", "std::io", "std::env", "std::process", "std::thread", "std::time", "now_utc"];

/// Lines of a file, its tests not counted.
const MAX_LINES: usize = 400;

/// Source files of the service and of the crates, by their path in the repository.
fn sources() -> BTreeMap<PathBuf, String> {
    let crates = CRATES.iter().map(|(name, _)| Path::new("crates").join(name).join("src"));
    crates.chain([PathBuf::from("src")]).flat_map(|folder| files_below(&folder)).collect()
}

/// The Rust files below a folder of the repository, by their path in it.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, String> {
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = BTreeMap::new();
    walk(&root.join(folder), &mut found);
    found.into_iter().map(|(path, text)| (path.strip_prefix(root).expect("below the root").to_owned(), text)).collect()
}

/// The first folder below `src/`, if the file is one of the service.
fn room_of(path: &Path) -> Option<&str> {
    path.strip_prefix("src").ok()?.components().next()?.as_os_str().to_str()
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
        let Some(room) = room_of(&path) else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else { continue };
        for named in rooms_named(&text) {
            let is_room = ROOMS.iter().any(|(name, _)| *name == named)
                || ["extract", "app", "assembly", "cli", "config", "server"].contains(&named.as_str());
            if is_room && !allowed.contains(&named.as_str()) {
                faults.push(format!("{} names crate::{named}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Dependencies that a crate names in its `Cargo.toml`, those of its tests left out.
fn dependencies_of(name: &str) -> BTreeMap<String, toml::Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates").join(name).join("Cargo.toml");
    let manifest: toml::Table = fs::read_to_string(path).expect("readable").parse().expect("TOML");
    let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table).expect("dependencies");
    dependencies.clone().into_iter().collect()
}

#[test]
fn crates_depend_one_way() {
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("crates")).expect("readable");
    let folders: BTreeSet<String> =
        folders.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8")).collect();
    assert_eq!(folders, CRATES.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>());
    for (name, allowed) in CRATES {
        let inner = dependencies_of(name).into_iter().filter(|(_, value)| value.get("path").is_some());
        let foreign: Vec<String> =
            inner.map(|(dependency, _)| dependency).filter(|it| !allowed.contains(&it.as_str())).collect();
        assert!(foreign.is_empty(), "crates/{name} depends on {foreign:?}");
    }
}

#[test]
fn the_domain_is_pure() {
    let dependencies = dependencies_of("domain");
    let impure = IMPURE_DEPENDENCIES.iter().filter(|name| dependencies.contains_key(**name));
    let mut faults: Vec<String> = impure.map(|name| format!("crates/domain depends on {name}")).collect();
    for (path, text) in sources() {
        if !path.starts_with("crates/domain") || is_test(&path) {
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
        let allowed = ["src/store", "crates/embedded-postgres", "src/app.rs", "src/assembly.rs", "src/cli/doctor.rs"];
        let is_allowed = allowed.iter().any(|place| path.starts_with(place));
        if text.contains("sqlx::") && !is_allowed {
            faults.push(format!("{} uses sqlx", path.display()));
        }
        if (text.contains("env::var") || text.contains("env::vars"))
            && path != Path::new("src/config/mod.rs")
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

/// Tests that read responses by themselves: those of services and databases of their own, in which nothing is hidden, and the
/// reading that searches what it reads.
const MAY_READ: [&str; 9] = [
    "tests/it/canaries",
    "tests/it/harness.rs",
    "tests/it/process.rs",
    "tests/it/jobs/chaos.rs",
    "tests/it/jobs/direct.rs",
    "tests/it/http/page.rs",
    "tests/it/indexes/killed.rs",
    "tests/it/operations/cluster",
    "tests/it/operations/rolling.rs",
];

#[test]
fn no_test_reads_a_response_unsearched() {
    let reading = [".text().await", ".text())", ".chunk()", ".bytes().await", ".json().await", ".json::<"];
    let reads = |text: &str| reading.into_iter().find(|call| text.contains(call));
    let (allowed, searched): (Vec<_>, Vec<_>) = files_below(Path::new("tests/it"))
        .into_iter()
        .partition(|(path, _)| MAY_READ.iter().any(|place| path.starts_with(place)));
    for (path, text) in searched {
        assert_eq!(reads(&text), None, "{} is to read responses by harness::body_of", path.display());
    }
    for place in MAY_READ {
        let is_needed = allowed.iter().any(|(path, text)| path.starts_with(place) && reads(text).is_some());
        assert!(is_needed, "{place} reads no response by itself");
    }
}

/// Files that may add routes which are in no document, and so are judged by no table: the files of the web page, and the
/// listener of the metrics.
const MAY_ROUTE: [&str; 2] = ["src/http/web/mod.rs", "src/http/metrics.rs"];
/// Calls that add a route by hand.
const ROUTING: [&str; 5] = [".route(", ".route_service(", ".nest(", ".nest_service(", ".fallback_service("];

#[test]
fn routes_come_from_the_document() {
    let mut found = BTreeSet::new();
    for (path, text) in sources().into_iter().filter(|(path, _)| !is_test(path)) {
        let text = without_comments(production(&text));
        if path.starts_with("src") && ROUTING.iter().any(|call| text.contains(call)) {
            found.insert(path);
        }
    }
    assert_eq!(found, BTreeSet::from(MAY_ROUTE.map(PathBuf::from)));
}

/// The modules that every resource of the HTTP layer may use.
const GROUND: [&str; 8] = ["extract", "fields", "filter", "number", "pagination", "problem", "rate_limit", "schema"];

#[test]
fn the_ground_floor_of_http_knows_no_resource() {
    let sources = sources();
    let files = sources.iter().filter_map(|(path, text)| Some((path.strip_prefix("src/http").ok()?, text)));
    let module = |path: &Path| {
        let first = path.components().next()?.as_os_str().to_str()?;
        Some(first.trim_end_matches(".rs").to_owned()).filter(|name| name != "mod")
    };
    let modules: BTreeSet<String> = files.clone().filter_map(|(path, _)| module(path)).collect();
    assert!(GROUND.iter().all(|name| modules.contains(*name)), "the sources are read: {modules:?}");
    let mut faults = Vec::new();
    for (path, text) in files {
        if !module(path).is_some_and(|name| GROUND.contains(&name.as_str())) {
            continue;
        }
        let text = production(text);
        let paths = text.match_indices("super::").filter_map(|(at, _)| text[at..].split(';').next());
        let paths: Vec<&str> = paths.collect();
        let is_named = |name: &String| {
            let import = format!("{name}::");
            paths.iter().any(|path| {
                path.split(|c: char| !c.is_alphanumeric() && !"_:".contains(c))
                    .any(|part| part.trim_start_matches("super::").starts_with(&import))
            })
        };
        let named = modules.iter().filter(|name| !GROUND.contains(&name.as_str()) && is_named(name));
        faults.extend(named.map(|name| format!("http/{} names {name}", path.display())));
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Strings of a text that are names: what stands between quotes and has nothing but small letters and `_`.
fn names_quoted<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let found =
        text.match_indices(before).filter_map(|(place, _)| text[place + before.len()..].split(['"', '\'']).next());
    found.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_')).collect()
}

/// Names in backticks in one cell of the tables of a page.
fn names_in_cell(page: &str, cell: usize) -> BTreeSet<&str> {
    let rows = page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').nth(cell));
    rows.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

/// Causes that documents fail with, by the file that gives them.
fn causes() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let (name, text) = (path.to_str().expect("UTF-8"), production(&text));
        let before: &[&str] = match name {
            "src/service/ingest/failure.rs" | "src/store/documents/delete.rs" => &["\""],
            "crates/extract/src/error.rs" | "src/providers/error.rs" => &["=> \""],
            "src/store/jobs/lease.rs" => &["cause = '", "_DELETED: &str = \""],
            // Its report is of its own side.
            _ if name.starts_with("src/cli/") => continue,
            _ => &["cause: \"", "cause = '"],
        };
        let names = before.iter().flat_map(|before| names_quoted(text, before));
        found.extend(names.map(|cause| (path.clone(), cause.to_owned())));
    }
    found
}

#[test]
fn every_cause_of_a_failed_document_is_explained() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/problems.md");
    let page = fs::read_to_string(page).expect("readable");
    let (problems, failures) = page.split_once("# Causes of failed documents").expect("a section of causes");
    let (_, providers) = problems.split_once("## providers_unavailable").expect("a section of providers");
    let (providers, _) = providers.split_once("\n## ").expect("it ends");
    let explained: BTreeSet<&str> = names_in_cell(failures, 1).union(&names_in_cell(providers, 0)).copied().collect();
    let causes = causes();
    assert!(causes.len() > 40, "the sources are read: {causes:?}");
    let missing: Vec<_> = causes.iter().filter(|(_, cause)| !explained.contains(cause.as_str())).collect();
    assert!(missing.is_empty(), "docs/problems.md does not explain {missing:#?}");
    // The head of one table, and a reference in the other.
    let known: BTreeSet<&str> =
        causes.iter().map(|(_, cause)| cause.as_str()).chain(["kind", "providers_unavailable"]).collect();
    let unknown: Vec<_> = explained.difference(&known).collect();
    assert!(unknown.is_empty(), "docs/problems.md explains what nothing fails with: {unknown:?}");
}

#[test]
fn every_problem_is_explained() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/problems.md");
    let page = fs::read_to_string(page).expect("readable");
    let (problems, _) = page.split_once("# Causes of failed documents").expect("a section of causes");
    let explained: BTreeSet<&str> = problems.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let sources: Vec<String> = sources()
        .into_iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(_, text)| production(&text).to_owned())
        .collect();
    let named = sources.iter().flat_map(|text| {
        text.match_indices("code: \"").filter_map(|(at, opening)| text[at + opening.len()..].split('"').next())
    });
    let named: BTreeSet<&str> = named.collect();
    assert!(named.len() > 10, "the sources are read: {named:?}");
    let missing: Vec<_> = named.difference(&explained).collect();
    assert!(missing.is_empty(), "docs/problems.md does not explain {missing:?}");
    let is_named = |code: &str| sources.iter().any(|text| text.contains(&format!("\"{code}\"")));
    let unknown: Vec<_> = explained.iter().filter(|code| !is_named(code)).collect();
    assert!(unknown.is_empty(), "docs/problems.md explains what nothing ends with: {unknown:?}");
}

/// An answer that is accepted is made in one place, by the validator, which alone has the proof.
#[test]
fn only_the_validator_makes_cited_answers() {
    let is_made = |text: &str| {
        ["CitedAnswer::new(", "Proof(())", "-> CitedAnswer", "CitedAnswer { "].map(|form| text.contains(form))
    };
    let makers: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|(path, text)| !is_test(path) && is_made(&without_comments(production(text))).contains(&true))
        .map(|(path, _)| path)
        .collect();
    assert!(makers.len() == 1 && makers[0].ends_with("crates/domain/src/citation/validator.rs"), "{makers:?}");
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_reader_of_imports_reads_groups() {
    assert_eq!(rooms_named("use crate::{\n domain::{a, b::c},\n store::X,\n};"), ["domain", "store"]);
    assert_eq!(rooms_named("crate::http::ask"), ["http"]);
}

/// Paths of this repository that a page names in backticks.
fn paths_named(page: &str) -> Vec<&str> {
    let is_path = |name: &&str| {
        ["src/", "crates/", "tests/", "migrations/", "docs/", "tools/", "scripts/"]
            .iter()
            .any(|top| name.starts_with(top))
    };
    page.split('`').skip(1).step_by(2).filter(is_path).collect()
}

fn page(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("readable")
}

#[test]
fn maps_and_promises_name_what_is_there() {
    for (name, least) in [("docs/ARCHITECTURE.md", 51), ("docs/security.md", 40)] {
        let page = page(name);
        let paths = paths_named(&page);
        assert!(paths.len() >= least, "{name} is read: {paths:?}");
        let missing: Vec<_> =
            paths.iter().filter(|path| !Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists()).collect();
        assert!(missing.is_empty(), "{name} names {missing:?}, which are not there");
    }
}

/// The lines of a job of a workflow.
fn job<'a>(workflow: &'a str, name: &str) -> Vec<&'a str> {
    let begins =
        |line: &&str| line.strip_prefix("  ").is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
    let rest = workflow.lines().skip_while(|line| *line != format!("  {name}:"));
    let job: Vec<&str> =
        rest.enumerate().take_while(|(at, line)| *at == 0 || !begins(line)).map(|(_, line)| line).collect();
    assert!(job.len() > 5, "{name} is a job: {job:?}");
    job
}

/// No release leaves with a known vulnerability, without its bill of materials, or unsigned.
#[test]
fn a_release_is_judged_and_signed() {
    let workflow = page(".github/workflows/release.yml");
    for (name, parts) in [
        ("check", &["CITED_TEST_REQUIRE_LOCKS", "run: .ci/run"][..]),
        ("dependencies", &["cargo deny --locked fetch db", "cargo deny --locked check", "cargo cyclonedx"]),
        (
            "release",
            &["needs: [binaries, dependencies, image]", "actions/attest-build-provenance", "gh release create"],
        ),
        (
            "image",
            &[
                "needs: [check, dependencies]",
                "imagetools inspect --format '{{.Manifest.Digest}}'",
                "RUST_IMAGE=${{ steps.from.outputs.RUST_IMAGE }}",
                "RUNTIME_IMAGE=${{ steps.from.outputs.RUNTIME_IMAGE }}",
                "provenance: true",
                "sbom: true",
                "actions/attest-build-provenance",
                "cosign sign --yes \"$IMAGE@$DIGEST\"",
            ],
        ),
        ("python", &["needs: release"]),
        ("typescript", &["needs: release"]),
    ] {
        let job = job(&workflow, name);
        let missing: Vec<_> = parts.iter().filter(|part| !job.iter().any(|line| line.contains(**part))).collect();
        assert!(missing.is_empty(), "the job {name} lacks {missing:?}");
        let passes_over =
            |line: &&&str| ["continue-on-error", "|| true", "if: always"].iter().any(|part| line.contains(part));
        assert_eq!(job.iter().find(passes_over), None, "the job {name} passes over a failure");
    }
}
