//! Release notes: the version and the date stand above what they bring, in a heading that other chunks of the notes lack.

use serde_json::json;

use crate::harness::TestApp;

const NOTES: &str = "\
# Changelog

Versions of the kiln controller.

## [Unreleased]

### Changed
- The lamp is blue by default.

## [2.1.0] - 2024-09-24

### Fixed
- The door no longer locks itself while the kiln is cold (#214).

## [2.0.0] - 2024-09-10

### Added
- Glazing programs can be shared between kilns, and each program has an owner who may change it.
- A second thermometer, `kiln.second_sensor`.

### Changed
- The controller starts in the state in which it was stopped. Before that it always started with the lamp off, the door open and the fan running.
- Temperatures are told in degrees Celsius; `kiln.unit` brings the old ones back.

### Removed
- The option `--slow-fan` of `kilnctl`, deprecated in 1.8.0.
- Firing by radio.

## [1.8.0] - 2023-02-28

### Added
- A window in the door.

### Deprecated
- `--slow-fan`.

### Fixed
- The fan stopped at noon (#98).
";

const MANUAL: &str = "# Kiln controller\n\nA release is made every few months. The window in the door is made of quartz.\n\n\
                      ## Upgrading\n\nVersion 2.0.0 has to be installed twice, and 2.1.0 once.\n";

#[tokio::test]
async fn a_change_is_told_with_its_version_and_a_version_with_its_date() {
    let app = TestApp::built_in().await;
    app.ingest("kiln", &[("CHANGELOG.md", NOTES), ("manual.md", MANUAL)]).await;
    for (question, outcome, expected) in [
        ("When was 2.0.0 released?", "answered", vec!["[2.0.0] - 2024-09-10"]),
        ("Which version removed --slow-fan?", "answered", vec!["[2.0.0] - 2024-09-10", "--slow-fan"]),
        ("Which release added a window in the door?", "answered", vec!["[1.8.0] - 2023-02-28", "window"]),
        ("Since when is a second thermometer supported?", "answered", vec!["2024-09-10", "second thermometer"]),
        (
            "What changed in 1.8?",
            "passages",
            vec!["› Added", "A window in the door", "› Deprecated", "--slow-fan", "› Fixed", "The fan"],
        ),
    ] {
        let answer = app.ask(json!({"question": question, "collections": ["kiln"]})).await;
        assert_eq!(answer.body["outcome"], outcome, "{question}: {answer:?}");
        let text = answer.body["answer"].as_str().expect("an answer").replace('\\', "");
        for expected in expected {
            assert!(text.contains(expected), "{question}: {text}");
        }
    }
    let answer = app.ask(json!({"question": "When was 2.2.0 released?", "collections": ["kiln"]})).await;
    assert_eq!(answer.body["outcome"], "abstained", "{answer:?}");
    app.stop().await;
}

#[tokio::test]
async fn the_source_is_the_whole_of_the_notes_of_a_release() {
    let app = TestApp::built_in().await;
    app.ingest("kiln", &[("CHANGELOG.md", NOTES), ("manual.md", MANUAL)]).await;
    let answer = app.ask(json!({"question": "Which version removed --slow-fan?", "collections": ["kiln"]})).await;
    let source = &answer.body["sources"][0];
    let text = source["text"].as_str().expect("a text");
    assert!(text.starts_with("## [2.0.0]") && text.ends_with("Firing by radio."), "{text}");
    assert_eq!(source["heading"], json!(["Changelog", "[2.0.0] - 2024-09-10"]));
    let apart = json!({"merge_neighbours": false});
    let request = json!({"question": "Which version removed --slow-fan?", "collections": ["kiln"], "stages": apart});
    let answer = app.ask(request).await;
    let texts = answer.body["sources"].as_array().expect("sources").iter().map(|source| source["text"].as_str());
    assert!(texts.flatten().all(|text| !(text.contains("[2.0.0]") && text.contains("radio"))), "{answer:?}");
    app.stop().await;
}
