//! Feature tables for the reranker: `reranker_features FOLDER > FOLDER/features.jsonl`.
//!
//! FOLDER was filled by `embed_chunks` and holds qrels.tsv. One line per judged query: its relevant
//! documents, what fusion found below the passages that are looked at again, and those passages with
//! their features. Retrieval is exhaustive, and otherwise as the service does it: by chunk, fused half
//! and half, a document at the place of its best chunk.
#![expect(clippy::indexing_slicing, reason = "a tool: it may stop on a bad input")]

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use calibrate::{cosine, read_json_lines, read_vectors};
use domain::evidence::QuestionTerms;
use domain::fusion::{DenseWeight, FUSION_DEPTH, Scored, fuse_weighted};
use domain::lexical::analyzer::Analyzer;
use domain::lexical::bm25::{AskedCollection, QueryProfile, QueryStems, TermCounts, document_weights};
use domain::lexical::term_id::TermSalt;
use domain::reranking::DEPTH;
use domain::reranking::features::{Passage, of_passages};
use serde_json::json;

struct Chunk {
    document: String,
    title: String,
    text: String,
}

struct Index {
    chunks: Vec<Chunk>,
    vectors: Vec<Vec<f32>>,
    postings: HashMap<i32, Vec<(usize, f32)>>,
    analyzer: &'static Analyzer,
    salt: TermSalt,
}

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let index = Index::read(&folder);
    let judgements = read_judgements(&format!("{folder}/qrels.tsv"));
    let queries = read_json_lines(&format!("{folder}/queries.jsonl"));
    let vectors = read_vectors(&format!("{folder}/queries.f32"));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (query, vector) in queries.iter().zip(&vectors) {
        let Some(relevant) = judgements.get(query["_id"].as_str().expect("_id")) else { continue };
        let text = query["text"].as_str().expect("text");
        let (lexical, dense) = (index.lexical(text), index.dense(vector));
        let fused = fuse_weighted(&dense, &lexical, DenseWeight::default());
        let (first, rest) = fused.split_at(fused.len().min(DEPTH));
        let passages: Vec<Passage<'_>> = first
            .iter()
            .map(|item| {
                let chunk = &index.chunks[item.key];
                Passage { title: &chunk.title, text: &chunk.text, fused: item.fused }
            })
            .collect();
        let features = of_passages(index.analyzer, &index.terms(text), &passages);
        let document = |key: usize| index.chunks[key].document.as_str();
        let passages: Vec<_> =
            first.iter().zip(&features).map(|(item, features)| json!([document(item.key), features.values])).collect();
        let rest: Vec<&str> = rest.iter().map(|item| document(item.key)).collect();
        writeln!(out, "{}", json!({"relevant": relevant, "passages": passages, "rest": rest})).expect("stdout");
    }
}

impl Index {
    fn read(folder: &str) -> Self {
        let field = |row: &serde_json::Value, name: &str| row[name].as_str().expect("a field").to_owned();
        let chunks: Vec<Chunk> = read_json_lines(&format!("{folder}/chunks.jsonl"))
            .iter()
            .map(|row| Chunk { document: field(row, "document"), title: field(row, "title"), text: field(row, "text") })
            .collect();
        let (analyzer, salt) = (Analyzer::english(), TermSalt::new(b"calibration"));
        let counts: Vec<TermCounts> = chunks
            .iter()
            .map(|chunk| TermCounts::of_text(analyzer, salt, &format!("{}\n{}", chunk.title, chunk.text)))
            .collect();
        let mut postings: HashMap<i32, Vec<(usize, f32)>> = HashMap::new();
        for (number, counts) in counts.iter().enumerate() {
            for (term, weight) in document_weights(counts) {
                postings.entry(term).or_default().push((number, weight));
            }
        }
        let vectors = read_vectors(&format!("{folder}/chunks.f32"));
        Self { chunks, vectors, postings, analyzer, salt }
    }

    fn frequency(&self, term: i32) -> u64 {
        self.postings.get(&term).map_or(0, |postings| postings.len() as u64)
    }

    fn terms(&self, query: &str) -> QuestionTerms {
        QuestionTerms::new(self.analyzer, query, self.chunks.len() as u64, |stem| {
            self.frequency(self.salt.term_id(stem))
        })
    }

    fn lexical(&self, query: &str) -> Vec<Scored<usize>> {
        let stems = QueryStems::of_text(self.analyzer, query);
        let known: HashMap<i32, u64> = stems.ids(self.salt).map(|term| (term, self.frequency(term))).collect();
        let asked = AskedCollection {
            stems: &stems,
            salt: self.salt,
            chunks: self.chunks.len() as u64,
            document_frequencies: &known,
        };
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for (term, query_weight) in QueryProfile::new(&[asked]).weights() {
            for (chunk, weight) in &self.postings[&term] {
                *scores.entry(*chunk).or_default() += f64::from(query_weight * weight);
            }
        }
        best(scores.into_iter())
    }

    fn dense(&self, query: &[f32]) -> Vec<Scored<usize>> {
        best(self.vectors.iter().map(|vector| f64::from(cosine(query, vector))).enumerate())
    }
}

fn best(scores: impl Iterator<Item = (usize, f64)>) -> Vec<Scored<usize>> {
    let mut scored: Vec<Scored<usize>> = scores.map(|(key, score)| Scored { key, score }).collect();
    scored.sort_by(|one, two| two.score.total_cmp(&one.score).then(one.key.cmp(&two.key)));
    scored.truncate(FUSION_DEPTH);
    scored
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
