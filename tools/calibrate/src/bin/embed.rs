//! Splits and embeds evaluation sets as the service does: `embed SETS OUT NAME...`.
//!
//! SETS/NAME holds `corpus.jsonl.gz` and `qa.jsonl`, `queries.jsonl` with `qrels.tsv`, or all of them. Writes to
//! OUT/NAME `chunks.jsonl` (document, title, text) with `chunks.f32`, `qa.jsonl` with `questions.f32`, `queries.jsonl`
//! with `queries.f32`, and `qrels.tsv`. The `.f32` files hold unit vectors of the built-in model one after the other.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

use std::num::NonZeroUsize;
use std::path::Path;

use calibrate::{field, json_lines, read_corpus};
use domain::split::{
    FrontComposer, Outline, PageMap, SplitSource, SplitterKind, SplitterSettings, Window, embedding_text, split,
};
use minilm::{MiniLm, WordPiece};
use serde_json::{Value, json};

/// Texts handed over at a time, so that progress can be seen.
const BATCH: usize = 256;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let model = MiniLm::start(threads).expect("the built-in model");
    for name in &arguments[2..] {
        let (source, target) = (Path::new(&arguments[0]).join(name), Path::new(&arguments[1]).join(name));
        std::fs::create_dir_all(&target).expect("OUT");
        let chunks = Chunks::of(&source);
        write_lines(&target.join("chunks.jsonl"), &chunks.lines);
        embed(&model, &target.join("chunks.f32"), chunks.embedded).await;
        for (file, member, vectors) in
            [("qa.jsonl", "question", "questions.f32"), ("queries.jsonl", "text", "queries.f32")]
        {
            let Ok(asked) = std::fs::read_to_string(source.join(file)) else { continue };
            std::fs::write(target.join(file), &asked).expect("OUT");
            let texts = json_lines(&asked).iter().map(|row| field(row, member)).collect();
            embed(&model, &target.join(vectors), texts).await;
        }
        // Sets without queries have no judgements.
        if let Ok(judgements) = std::fs::read(source.join("qrels.tsv")) {
            std::fs::write(target.join("qrels.tsv"), judgements).expect("OUT");
        }
    }
}

/// The chunks of a set.
#[derive(Default)]
struct Chunks {
    /// Lines of chunks.jsonl.
    lines: Vec<Value>,
    /// Text that is embedded of each.
    embedded: Vec<String>,
}

impl Chunks {
    fn of(folder: &Path) -> Self {
        let counter = WordPiece::load().expect("the vocabulary");
        let count = |text: &str| counter.count(text);
        let window = Window { tokens: MiniLm::WINDOW, special_tokens: 2 };
        let settings = SplitterSettings { kind: SplitterKind::Recursive, ..SplitterSettings::default() };
        let mut chunks = Self::default();
        for row in read_corpus(folder) {
            let (id, mut title, mut text) = (field(&row, "_id"), field(&row, "title"), field(&row, "text"));
            if text.trim().is_empty() {
                (title, text) = (String::new(), title);
            }
            let outline = Outline::of(settings.kind, &text);
            let source = SplitSource { text: &text, title: &title, outline: &outline, pages: &PageMap::default() };
            let fronts = FrontComposer::new(&title, window, &count);
            for piece in split(&source, &settings, window, &count) {
                let words = &text[piece.bytes.clone()];
                chunks.lines.push(json!({"document": id, "title": title, "text": words}));
                chunks.embedded.push(embedding_text(
                    &fronts.compose(&piece.heading_path, piece.table_header.as_deref()).text,
                    None,
                    words,
                ));
            }
        }
        chunks
    }
}

fn write_lines(path: &Path, lines: &[Value]) {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, lines).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

async fn embed(model: &MiniLm, path: &Path, texts: Vec<String>) {
    let (started, count) = (std::time::Instant::now(), texts.len());
    let mut bytes = Vec::new();
    for batch in texts.chunks(BATCH) {
        for vector in model.embed_passages(batch.to_vec()).await.expect("vectors") {
            bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        }
    }
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    eprintln!("{}: {count} texts in {:.0} s", path.display(), started.elapsed().as_secs_f64());
}
