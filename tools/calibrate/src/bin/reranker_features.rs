//! Feature tables for fusion and reranking: `reranker_features FOLDER > FOLDER/features.jsonl`.
//!
//! FOLDER was filled by `embed` and holds qrels.tsv. One line per judged query: its relevant documents, the passages
//! that are looked at again, and what fusion found below them, each with its features and its scores in both lists; `evidence` is that of the best lexical score. Retrieval is exhaustive, and otherwise as the
//! service does it: by chunk, a document at the place of its best chunk.
#![expect(clippy::indexing_slicing, reason = "a tool: it may stop on a bad input")]

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use calibrate::{Collection, read_json_lines, read_vectors};
use domain::fusion::FUSION_DEPTH;
use serde_json::json;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let collection = Collection::read(&folder, None, 0);
    let judgements = read_judgements(&format!("{folder}/qrels.tsv"));
    let queries = read_json_lines(&format!("{folder}/queries.jsonl"));
    let vectors = read_vectors(&format!("{folder}/queries.f32"));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (query, vector) in queries.iter().zip(&vectors) {
        let Some(relevant) = judgements.get(query["_id"].as_str().expect("_id")) else { continue };
        let text = query["text"].as_str().expect("text");
        let fused = collection.fused(text, vector);
        let features = collection.reranker_features(text, &fused);
        let passages: Vec<_> = fused
            .iter()
            .zip(&features)
            .map(|(item, features)| json!([collection.documents[item.key], features.values, item.dense, item.lexical]))
            .collect();
        let (first, rest) = passages.split_at(passages.len().min(FUSION_DEPTH));
        let evidence = collection.evidence(text, &collection.lexical(text));
        let line = json!({"relevant": relevant, "evidence": evidence, "passages": first, "rest": rest});
        writeln!(out, "{line}").expect("stdout");
    }
}

/// Relevant documents by query, with their grades.
fn read_judgements(path: &str) -> HashMap<String, BTreeMap<String, u32>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut judgements: HashMap<String, BTreeMap<String, u32>> = HashMap::new();
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        let (Some(query), Some(document), Some(grade)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        if let Some(grade) = grade.parse().ok().filter(|grade| *grade > 0) {
            judgements.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
        }
    }
    judgements
}
