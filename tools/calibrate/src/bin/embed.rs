//! Embeds evaluation sets with the service's own model, for the calibration of the built-in judgement.
//!
//! `embed SETS OUT NAME...`: SETS/NAME holds `corpus.jsonl.gz` and `qa.jsonl`. Writes to OUT/NAME
//! `corpus.jsonl`, `qa.jsonl`, `sentences.jsonl` (every sentence of a document once) and the vectors
//! `documents.f32`, `questions.f32` and `sentences.f32`.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

use std::collections::HashSet;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use domain::sentence::sentences;
use minilm::MiniLm;
use serde_json::Value;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let model = MiniLm::start(threads).expect("the built-in model");
    for name in &arguments[3..] {
        let (source, target) = (Path::new(&arguments[1]).join(name), Path::new(&arguments[2]).join(name));
        std::fs::create_dir_all(&target).expect("OUT");
        let mut corpus = String::new();
        let file = std::fs::File::open(source.join("corpus.jsonl.gz")).expect("corpus.jsonl.gz");
        flate2::read::GzDecoder::new(file).read_to_string(&mut corpus).expect("a gzip file");
        std::fs::write(target.join("corpus.jsonl"), &corpus).expect("OUT");
        let documents: Vec<Value> = json_lines(&corpus);
        let field = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().trim().to_owned();
        let titled = documents.iter().map(|row| format!("{}\n{}", field(row, "title"), field(row, "text")));
        write_vectors(&model, titled.map(|text| text.trim().to_owned()).collect(), &target.join("documents.f32")).await;

        let questions = std::fs::read_to_string(source.join("qa.jsonl")).expect("qa.jsonl");
        std::fs::write(target.join("qa.jsonl"), &questions).expect("OUT");
        let asked = json_lines(&questions).iter().map(|row| field(row, "question")).collect();
        write_vectors(&model, asked, &target.join("questions.f32")).await;

        let mut seen = HashSet::new();
        let mut distinct = Vec::new();
        for row in &documents {
            let text = row["text"].as_str().unwrap_or_default();
            for sentence in sentences(text) {
                let words = text[sentence.words()].split_whitespace().collect::<Vec<_>>().join(" ");
                if seen.insert(words.clone()) {
                    distinct.push(words);
                }
            }
        }
        let mut lines = std::fs::File::create(target.join("sentences.jsonl")).expect("OUT");
        for words in &distinct {
            writeln!(lines, "{}", serde_json::to_string(words).expect("a string")).expect("OUT");
        }
        write_vectors(&model, distinct, &target.join("sentences.f32")).await;
        eprintln!("{name}: done");
    }
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

async fn write_vectors(model: &MiniLm, texts: Vec<String>, path: &Path) {
    let vectors = model.embed_passages(texts).await.expect("vectors");
    let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(path, bytes).expect("OUT");
}
