//! Splits and embeds an evaluation set as the service does: `embed FOLDER [THREADS]`.
//!
//! FOLDER holds corpus.jsonl and queries.jsonl. Adds chunks.jsonl (document, title, text and the numbers
//! of its sentences), chunks.f32, queries.f32 and sentences.f32, unit vectors of the built-in model one
//! after the other. Equal sentences share a number.
#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroUsize;

use calibrate::read_json_lines;
use domain::sentence::sentences;
use domain::split::{
    FrontComposer, Outline, PageMap, SplitSource, SplitterKind, SplitterSettings, Window, embedding_text, split,
};
use minilm::{MiniLm, WordPiece};
use serde_json::json;

/// Texts handed over at a time, so that progress can be seen.
const BATCH: usize = 256;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments.get(1).expect("a folder");
    let threads = arguments.get(2).map_or(1, |threads| threads.parse().expect("THREADS"));
    let model = MiniLm::start(NonZeroUsize::new(threads).expect("THREADS")).expect("the model");
    let (chunks, texts, sentences) = read_corpus(folder);
    write(&format!("{folder}/chunks.jsonl"), chunks.join("\n").as_bytes());
    embed(&model, &format!("{folder}/chunks.f32"), texts).await;
    let queries = read_json_lines(&format!("{folder}/queries.jsonl"));
    let queries = queries.iter().map(|query| query["text"].as_str().expect("text").to_owned()).collect();
    embed(&model, &format!("{folder}/queries.f32"), queries).await;
    embed(&model, &format!("{folder}/sentences.f32"), sentences).await;
}

/// Lines of chunks.jsonl, what is embedded of each chunk, and the sentences.
fn read_corpus(folder: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
    let counter = WordPiece::load().expect("the vocabulary");
    let count = |text: &str| counter.count(text);
    let window = Window { tokens: MiniLm::WINDOW, special_tokens: 2 };
    let settings = SplitterSettings { kind: SplitterKind::Recursive, ..SplitterSettings::default() };
    let (mut chunks, mut texts, mut all_sentences) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for row in read_json_lines(&format!("{folder}/corpus.jsonl")) {
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let (id, mut title, mut text) = (field("_id"), field("title"), field("text"));
        if text.trim().is_empty() {
            (title, text) = (String::new(), title);
        }
        let outline = Outline::of(settings.kind, &text);
        let source = SplitSource { text: &text, title: &title, outline: &outline, pages: &PageMap::default() };
        let fronts = FrontComposer::new(&title, window, &count);
        for piece in split(&source, &settings, window, &count) {
            let words = &text[piece.bytes.clone()];
            let numbers: Vec<usize> = sentences(words)
                .iter()
                .map(|sentence| {
                    let sentence = words[sentence.words()].to_owned();
                    *numbers.entry(sentence).or_insert_with_key(|sentence| {
                        all_sentences.push(sentence.clone());
                        all_sentences.len() - 1
                    })
                })
                .collect();
            let line = json!({"document": id, "title": title, "text": words, "sentences": numbers});
            chunks.push(line.to_string());
            texts.push(embedding_text(&fronts.compose(&piece.heading_path, piece.table_header.as_deref()), words));
        }
    }
    (chunks, texts, all_sentences)
}

async fn embed(model: &MiniLm, path: &str, texts: Vec<String>) {
    let (started, count) = (std::time::Instant::now(), texts.len());
    let mut bytes = Vec::new();
    for batch in texts.chunks(BATCH) {
        for vector in model.embed_passages(batch.to_vec()).await.expect("vectors") {
            bytes.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        }
    }
    write(path, &bytes);
    eprintln!("{path}: {count} texts in {:.0} s", started.elapsed().as_secs_f64());
}

fn write(path: &str, bytes: &[u8]) {
    let mut file = std::fs::File::create(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    file.write_all(bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
}
