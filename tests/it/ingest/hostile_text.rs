//! Text that wears readers out is read, split, embedded and stored with work that grows with its length alone.

use serde_json::{Value, json};

use super::corpus::{app, upload};
use crate::{database, scripted::ModelServer};

/// Bytes of each text, about.
const BYTES: usize = 48_000;

/// A unit, so often that the text has its length.
fn filled(unit: &str) -> String {
    unit.repeat(BYTES / unit.len())
}

/// What opens and closes, one within the other.
fn nested(open: &str, close: &str) -> String {
    let depth = BYTES / (open.len() + close.len());
    format!("{}1{}", open.repeat(depth), close.repeat(depth))
}

fn shapes() -> Vec<(&'static str, String)> {
    let prose = "The leave policy covers everyone, from the first day on. It is short.\n";
    vec![
        ("prose.md", filled(prose)),
        ("paragraphs.md", filled(&format!("{prose}\n"))),
        ("one-break.md", format!("{}\n\nend", filled(&prose.replace('\n', " ")))),
        ("no-sentences.txt", filled("leave policy ")),
        ("one-word.txt", filled("x")),
        ("no-spaces.txt", filled("漢字仮名")),
        ("emoji.txt", filled("👨‍👩‍👧‍👦")),
        ("combining.txt", filled("\u{301}")),
        ("empty-headings.md", filled("#\n")),
        ("punctuation.txt", filled(". ")),
        ("table.md", format!("| a | b |\n|---|---|\n{}", filled("| c | d |\n"))),
        ("wide-table.md", format!("| a | b |\n|---|---|\n{}", filled("| c "))),
        ("short-sections.md", filled("# A\nb.\n")),
        ("blanks.txt", format!("a{}b", filled(" "))),
        ("quotes.md", format!("{} end", filled("> "))),
        ("lists.md", (0..300).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect()),
        ("brackets.md", filled("[")),
        ("links.md", nested("[a](", ")")),
        ("images.md", filled("![*_**a ")),
        ("backticks.md", (1..300).map(|length| format!("{} a ", "`".repeat(length))).collect()),
        ("fences.md", filled("```a\n~~~b\n")),
        ("definitions.md", (0..3_000).map(|number| format!("[{number}]: /{number}\n")).collect()),
        ("tags.md", filled("<a b='<!-- <![CDATA[ ")),
        ("entities.md", filled("&amp;&#x26;&nosuch;")),
        ("line-ends.txt", filled("a\r\nb\rc\u{2028}d\u{85}e\u{b}f\u{c}")),
        ("directions.txt", filled("\u{202e}a\u{200b}\u{2066}b\u{feff}")),
        ("one-line.json", nested("{\"a\":[", "]}")),
        ("all-headings.md", (0..10_000).map(|number| format!("{} a\n", "#".repeat(number % 6 + 1))).collect()),
    ]
}

/// Bytes of the texts that are embedded, and of those that are kept, may be so many times those of the document. Chunks
/// overlap, and carry their headings and titles.
const TIMES: i64 = 4;

#[tokio::test]
async fn text_that_wears_readers_out_is_stored_with_work_that_grows_with_its_length_alone() {
    let models = ModelServer::start().await;
    let app = app(&models, &[]).await;
    let shapes = shapes();
    assert_eq!(shapes.len(), 28);
    for (name, text) in shapes {
        let (before, bytes) = (models.embedded().len(), i64::try_from(text.len()).expect("small"));
        let items = upload(&app, vec![(name.to_owned(), text.into_bytes())]).await;
        let item = &items[name];
        // What holds nothing, or nests beyond reason, is refused by its cause.
        let is_stored = item["state"] == "succeeded";
        let is_refused = ["empty", "binary", "malformed"].iter().any(|cause| item["cause"] == *cause);
        assert!(is_stored || is_refused, "{name}: {item}");
        let embedded: usize = models.embedded().iter().skip(before).map(String::len).sum();
        let embedded = i64::try_from(embedded).expect("small");
        assert!(embedded <= TIMES * bytes + 10_000, "{name}: {embedded} bytes of {bytes} are embedded");
        if is_stored {
            let id = item["document_id"].as_str().expect("an id");
            let of_chunks = format!(
                "SELECT COALESCE(sum(octet_length(chunk::text)), 0)::bigint FROM chunk WHERE document_id = '{id}'"
            );
            let kept = database::number(&app.database, &of_chunks).await;
            assert!(kept <= 8 * TIMES * bytes + 100_000, "{name}: chunks of {kept} bytes for {bytes}");
            let document = app.get(&format!("/v1/documents/{id}")).await;
            assert_eq!((document.status, document.body["source"].as_str()), (200, Some(name)), "{name}");
        }
    }
    let found = app.post("/v1/search", json!({"query": "leave policy", "collections": ["files"]})).await;
    assert!(found.body["results"].as_array().is_some_and(|hits: &Vec<Value>| !hits.is_empty()), "{found:?}");
    app.stop().await;
}
