//! Learns the reranker's weights: `fit_reranker MODEL_RS FEATURES...`, FEATURES from `reranker_features`.
//!
//! Coordinate ascent on nDCG@10 itself (Metzler and Croft, "Linear feature-based models for information
//! retrieval", 2007): one weight after the other takes the value that gains most, until none does. The
//! gain is the mean over sets, so that large ones do not drown small ones, less a share of the worst
//! set's loss and a charge on every weight. Prints how weights learned without a set do on it, then
//! writes those learned on all.
#![expect(clippy::indexing_slicing, clippy::cast_precision_loss, reason = "a tool: it may stop on a bad input")]

use std::collections::HashMap;

use calibrate::read_json_lines;
use domain::reranking::features::{COUNT, Features, NAMES};
use eval::measures::metrics::{Judgements, mean, ndcg_at};

type Weights = [f64; COUNT];

/// Values that a weight is tried at, times the feature's spread: what it then moves a score by.
const STEPS: [f64; 8] = [0.0, 0.01, 0.02, 0.04, 0.06, 0.09, 0.13, 0.18];
/// Cost of a weight, in nDCG per unit of what it moves scores by.
const CHARGE: f64 = 0.0005;
/// How much more the worst set's loss counts.
const WORST_SHARE: f64 = 0.3;
/// Queries of a set that are learned from; it is measured on all.
const LEARNED_QUERIES: usize = 400;
/// Least gain that is worth another weight.
const LEAST_GAIN: f64 = 1e-5;

struct Query {
    judgements: Judgements<usize>,
    documents: Vec<usize>,
    features: Vec<Features>,
    rest: Vec<usize>,
}

struct Set {
    name: String,
    queries: Vec<Query>,
    fused: f64,
}

impl Set {
    fn read(path: &str) -> Self {
        let queries = read_json_lines(path).iter().map(Query::read).collect();
        let folder = std::path::Path::new(path).parent().and_then(|folder| folder.file_name());
        let name = folder.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned());
        let mut set = Self { name, queries, fused: 0.0 };
        set.fused = set.ndcg(&fused_alone(), usize::MAX);
        set
    }

    /// Of about `most` queries, spread evenly.
    fn ndcg(&self, weights: &Weights, most: usize) -> f64 {
        let step = self.queries.len().div_ceil(most.min(self.queries.len()));
        mean(self.queries.iter().step_by(step).filter_map(|query| query.ndcg(weights))).expect("queries")
    }
}

impl Query {
    fn read(row: &serde_json::Value) -> Self {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut number = |name: &str| {
            let next = numbers.len();
            *numbers.entry(name.to_owned()).or_insert(next)
        };
        let passages = row["passages"].as_array().expect("passages");
        let documents = passages.iter().map(|passage| number(passage[0].as_str().expect("a document"))).collect();
        let features = passages
            .iter()
            .map(|passage| Features {
                values: serde_json::from_value(passage[1].clone()).expect("values"),
                entry: None,
                defines: false,
                identified: false,
                named: false,
            })
            .collect();
        let rest = row["rest"].as_array().expect("rest");
        let rest = rest.iter().map(|passage| number(passage[0].as_str().expect("a document"))).collect();
        let relevant = row["relevant"].as_object().expect("relevant");
        let grade = |grade: &serde_json::Value| u32::try_from(grade.as_u64().expect("a grade")).expect("a grade");
        let judgements = relevant.iter().map(|(name, value)| (number(name), grade(value))).collect();
        Self { judgements, documents, features, rest }
    }

    fn ndcg(&self, weights: &Weights) -> Option<f64> {
        let score =
            |features: &Features| weights.iter().zip(&features.values).map(|(weight, value)| weight * value).sum();
        let scores: Vec<f64> = self.features.iter().map(score).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|one, two| scores[*two].total_cmp(&scores[*one]).then(one.cmp(two)));
        let ranked: Vec<usize> =
            order.iter().map(|place| self.documents[*place]).chain(self.rest.iter().copied()).collect();
        ndcg_at(10, &ranked, &self.judgements)
    }
}

fn fused_alone() -> Weights {
    let mut weights = [0.0; COUNT];
    weights[0] = 1.0;
    weights
}

/// Mean over queries of the spread of each feature among a query's passages.
fn spreads(sets: &[Set]) -> Weights {
    let deviation = |query: &Query, feature: usize| {
        let values: Vec<f64> = query.features.iter().map(|features| features.values[feature]).collect();
        let average = mean(values.iter().copied())?;
        mean(values.iter().map(|value| (value - average).powi(2))).map(f64::sqrt)
    };
    std::array::from_fn(|feature| {
        let of_set = |set: &Set| mean(set.queries.iter().filter_map(|query| deviation(query, feature)));
        mean(sets.iter().filter_map(of_set)).expect("sets").max(1e-9)
    })
}

fn learn(sets: &[&Set], spreads: &Weights) -> Weights {
    let before: Vec<f64> = sets.iter().map(|set| set.ndcg(&fused_alone(), LEARNED_QUERIES)).collect();
    let gain = |weights: &Weights| {
        let gains: Vec<f64> =
            sets.iter().zip(&before).map(|(set, before)| set.ndcg(weights, LEARNED_QUERIES) - before).collect();
        let worst = gains.iter().copied().fold(0.0, f64::min);
        let charge: f64 = weights.iter().zip(spreads).skip(1).map(|(weight, spread)| weight * spread).sum();
        gains.iter().sum::<f64>() / gains.len() as f64 + WORST_SHARE * worst - CHARGE * charge
    };
    let (mut weights, mut best) = (fused_alone(), 0.0);
    loop {
        let before = best;
        for feature in 1..COUNT {
            for step in STEPS {
                let mut tried = weights;
                tried[feature] = step / spreads[feature];
                let gained = gain(&tried);
                if gained > best + LEAST_GAIN {
                    (weights, best) = (tried, gained);
                }
            }
        }
        if best <= before {
            return weights;
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let sets: Vec<Set> = arguments[2..].iter().map(|path| Set::read(path)).collect();
    let spreads = spreads(&sets);
    let all = learn(&sets.iter().collect::<Vec<_>>(), &spreads);
    println!("nDCG@10         fused  left out  learned on all");
    for set in &sets {
        let others: Vec<&Set> = sets.iter().filter(|other| other.name != set.name).collect();
        let weights = learn(&others, &spreads);
        let (left_out, on_all) = (set.ndcg(&weights, usize::MAX), set.ndcg(&all, usize::MAX));
        println!("{:14} {:6.4} {left_out:9.4} {on_all:15.4}  {weights:.3?}", set.name, set.fused);
    }
    write_model(&arguments[1], &all);
}

fn write_model(path: &str, weights: &Weights) {
    let old = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let head = old.split("pub(super) const").next().expect("a head");
    let lines: Vec<String> =
        weights.iter().zip(NAMES).map(|(weight, name)| format!("    {weight:.4}, // {name}\n")).collect();
    let renewed = format!("{head}pub(super) const WEIGHTS: [f64; COUNT] = [\n{}];\n", lines.concat());
    std::fs::write(path, renewed).unwrap_or_else(|error| panic!("{path}: {error}"));
}
