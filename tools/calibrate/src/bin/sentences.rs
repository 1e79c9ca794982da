//! Prints every sentence of the passages of a prepared evaluation set, one JSON string per line.
#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

use std::io::{BufRead, Write};
fn main() {
    let path = std::env::args().nth(1).expect("a prepared folder");
    let file = std::fs::File::open(format!("{path}/corpus.jsonl")).expect("corpus.jsonl");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut seen = std::collections::HashSet::new();
    for line in std::io::BufReader::new(file).lines() {
        let row: serde_json::Value = serde_json::from_str(&line.expect("line")).expect("json");
        let text = row["text"].as_str().expect("text");
        for sentence in domain::sentence::sentences(text) {
            let words = &text[sentence.words()];
            if seen.insert(words.to_owned()) {
                writeln!(out, "{}", serde_json::to_string(words).expect("string")).expect("stdout");
            }
        }
    }
}
