//! A prepared evaluation set in memory, with exhaustive hybrid search, for the calibration tools.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a tool: it may stop on a bad input"
)]

pub mod falsify;
pub mod restate;

use std::collections::HashMap;
use std::io::Read;

use domain::evidence::Inquiry;
use domain::evidence::passage::PassageEvidence;
use domain::grading::features::{Passage, evidence_of};
use domain::lexical::analyzer::Analyzer;
use domain::lexical::bm25::{B, K1, inverse_document_frequency};
use serde_json::Value;

const DIMENSIONS: usize = 384;
const FUSION_DEPTH: usize = 100;

pub struct Collection {
    pub ids: Vec<String>,
    pub titles: Vec<String>,
    pub texts: Vec<String>,
    pub vectors: Vec<Vec<f32>>,
    postings: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
}

pub struct Hit {
    pub index: usize,
    pub lexical: f32,
}

impl Collection {
    pub fn read(analyzer: &Analyzer, folder: &str, size: Option<usize>, seed: u64) -> Self {
        let rows = read_json_lines(&format!("{folder}/corpus.jsonl"));
        let vectors = read_vectors(&format!("{folder}/documents.f32"));
        Self::of(analyzer, &rows, &vectors, size, seed)
    }

    /// The documents of a set as it is published, without vectors.
    pub fn unpack(analyzer: &Analyzer, folder: &str) -> Self {
        let path = format!("{folder}/corpus.jsonl.gz");
        let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut corpus = String::new();
        flate2::read::GzDecoder::new(file).read_to_string(&mut corpus).expect("a gzip file");
        Self::of(analyzer, &json_lines(&corpus), &[], None, 0)
    }

    fn of(analyzer: &Analyzer, rows: &[Value], vectors: &[Vec<f32>], size: Option<usize>, seed: u64) -> Self {
        let mut chosen: Vec<usize> = (0..rows.len()).collect();
        if let Some(size) = size {
            chosen.sort_by_key(|index| scramble(*index as u64 + (seed << 32)));
            chosen.truncate(size);
        }
        let field = |index: &usize, name: &str| rows[*index][name].as_str().unwrap_or_default().to_owned();
        let mut collection = Self {
            ids: chosen.iter().map(|index| field(index, "_id")).collect(),
            titles: chosen.iter().map(|index| field(index, "title")).collect(),
            texts: chosen.iter().map(|index| field(index, "text")).collect(),
            vectors: chosen.iter().filter_map(|index| vectors.get(*index).cloned()).collect(),
            postings: HashMap::new(),
            lengths: Vec::new(),
        };
        for index in 0..collection.ids.len() {
            let terms = analyzer.terms(&format!("{}\n{}", collection.titles[index], collection.texts[index]));
            collection.lengths.push(terms.len() as f32);
            let mut counts: HashMap<String, f32> = HashMap::new();
            for term in terms {
                *counts.entry(term).or_default() += 1.0;
            }
            for (term, count) in counts {
                collection.postings.entry(term).or_default().push((index, count));
            }
        }
        collection
    }

    pub fn frequency(&self, stem: &str) -> u64 {
        self.postings.get(stem).map_or(0, |postings| postings.len() as u64)
    }

    /// Weighted fusion, half and half, of the first hundred of each list.
    pub fn search(&self, analyzer: &Analyzer, question: &str, vector: &[f32], top_k: usize) -> Vec<Hit> {
        let lexical = self.scores(analyzer, question);
        let dense: Vec<f32> = self.vectors.iter().map(|document| cosine(vector, document)).collect();
        let (by_lexical, by_dense) = (scaled(&lexical), scaled(&dense));
        let fused: Vec<f32> = by_lexical.iter().zip(by_dense).map(|(lexical, dense)| lexical + dense).collect();
        best(&fused, top_k).into_iter().map(|index| Hit { index, lexical: lexical[index] }).collect()
    }

    /// The documents with the highest BM25 scores.
    pub fn search_words(&self, analyzer: &Analyzer, question: &str, top_k: usize) -> Vec<usize> {
        best(&self.scores(analyzer, question), top_k)
    }

    fn scores(&self, analyzer: &Analyzer, question: &str) -> Vec<f32> {
        let mut lexical = vec![0.0f32; self.ids.len()];
        let average = self.lengths.iter().sum::<f32>() / self.lengths.len() as f32;
        for term in analyzer.terms(question) {
            let idf = inverse_document_frequency(self.ids.len() as u64, self.frequency(&term)) as f32;
            for (index, count) in self.postings.get(&term).into_iter().flatten() {
                let saturation = K1 as f32 * (1.0 - B as f32 + B as f32 * self.lengths[*index] / average);
                lexical[*index] += idf * count * (K1 as f32 + 1.0) / (count + saturation);
            }
        }
        lexical
    }
}

fn best(scores: &[f32], top_k: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|one, two| scores[*two].total_cmp(&scores[*one]).then(one.cmp(two)));
    order.truncate(top_k);
    order
}

fn scaled(scores: &[f32]) -> Vec<f32> {
    let mut order: Vec<f32> = scores.to_vec();
    order.sort_by(|one, two| two.total_cmp(one));
    let (top, bottom) = (order[0], order[order.len().min(FUSION_DEPTH) - 1]);
    scores.iter().map(|score| if top > bottom { ((score - bottom) / (top - bottom)).max(0.0) } else { 0.0 }).collect()
}

pub fn cosine(one: &[f32], two: &[f32]) -> f32 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

pub fn read_json_lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    json_lines(&text)
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect()
}

pub fn read_vectors(path: &str) -> Vec<Vec<f32>> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let floats: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    floats.chunks_exact(DIMENSIONS).map(<[f32]>::to_vec).collect()
}

fn scramble(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// What was retrieved for a question, as the grader gets it.
pub struct Round<'c> {
    pub inquiry: Inquiry,
    pub hits: Vec<Hit>,
    pub passages: Vec<Passage<'c>>,
    pub evidence: Vec<PassageEvidence>,
}

impl Collection {
    pub fn round(&self, analyzer: &Analyzer, question: &str, vector: &[f32], top_k: usize) -> Round<'_> {
        let inquiry = Inquiry::new(analyzer, question, self.ids.len() as u64, |stem| self.frequency(stem));
        let hits = self.search(analyzer, question, vector, top_k);
        let passages: Vec<Passage<'_>> = hits
            .iter()
            .map(|hit| Passage {
                title: &self.titles[hit.index],
                text: &self.texts[hit.index],
                dense: Some(cosine(vector, &self.vectors[hit.index])),
                lexical: hit.lexical,
            })
            .collect();
        let evidence = evidence_of(analyzer, &inquiry, &passages);
        Round { inquiry, hits, passages, evidence }
    }

    /// What a question is to this collection. `is_own`: it comes from the same set.
    pub fn case(&self, question: &Value, is_own: bool) -> &'static str {
        let holds = |id: &str| self.ids.iter().any(|own| own == id);
        let source = question["source_doc"].as_str().unwrap_or_default();
        match (is_own, question["answerable"] == Value::Bool(true)) {
            (false, _) => "foreign",
            (true, true) if strings(&question["gold_docs"]).into_iter().any(holds) => "answerable",
            (true, false) if holds(source) => "unanswerable",
            (true, _) => "absent",
        }
    }
}

pub fn strings(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
