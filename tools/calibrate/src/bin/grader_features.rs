//! Feature table for the calibration of the grader: see `tools/calibrate/README.md`.
//!
//! `grader_features DOCUMENTS QUESTIONS [SIZE SEED]` retrieves passages of one prepared set for the
//! questions of the same or another one (which are then off the corpus) and prints one line per
//! retrieved passage. With SIZE only that many documents, chosen by SEED, make up the collection.

#![expect(clippy::indexing_slicing, reason = "a tool: it may stop on a bad input")]

use std::io::Write;

use domain::grading::calibrated;
use domain::grading::features::{self, Passage};
use domain::lexical::analyzer::Analyzer;

const TOP_K: usize = 8;

use calibrate::{Collection, read_json_lines, read_vectors, strings};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (documents, questions) = (&arguments[1], &arguments[2]);
    let size = arguments.get(3).map(|size| size.parse::<usize>().expect("SIZE"));
    let seed = arguments.get(4).map_or(0, |seed| seed.parse::<u64>().expect("SEED"));
    let analyzer = Analyzer::english();
    let collection = Collection::read(analyzer, documents, size, seed);
    let asked = read_json_lines(&format!("{questions}/qa.jsonl"));
    let vectors = read_vectors(&format!("{questions}/questions.f32"));
    let is_own = documents == questions;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let header = ["question", "case", "place", "document", "label", "probability", "probability_lexical"];
    writeln!(out, "{}\t{}", header.join("\t"), features::NAMES.join("\t")).expect("stdout");
    for (question, vector) in asked.iter().zip(&vectors) {
        let text = question["question"].as_str().expect("question");
        let gold: Vec<&str> = strings(&question["gold_docs"]);
        let answers: Vec<String> = strings(&question["answers"]).iter().map(|answer| answer.to_lowercase()).collect();
        let kind = collection.case(question, is_own);
        let round = collection.round(analyzer, text, vector, TOP_K);
        let (inquiry, hits, passages, evidence) = (round.inquiry, round.hits, round.passages, round.evidence);
        let verdicts = calibrated::grade(&inquiry, &passages, &evidence).verdicts;
        let lexical_only: Vec<Passage<'_>> = passages.iter().map(|p| Passage { dense: None, ..*p }).collect();
        let lexical_verdicts = calibrated::grade(&inquiry, &lexical_only, &evidence).verdicts;
        for (rank, features) in features::of_round(&inquiry, &passages, &evidence).iter().enumerate() {
            let id = &collection.ids[hits[rank].index];
            let is_gold = gold.contains(&id.as_str());
            let mentions = answers.iter().any(|answer| passages[rank].text.to_lowercase().contains(answer));
            // A passage that holds the answer's words without being gold is neither right nor wrong.
            let label = if is_gold && is_own {
                "1"
            } else if mentions && is_own {
                "?"
            } else {
                "0"
            };
            let values: Vec<String> = features.values.iter().map(|value| format!("{value:.5}")).collect();
            writeln!(
                out,
                "{}\t{kind}\t{rank}\t{id}\t{label}\t{:.5}\t{:.5}\t{}",
                question["_id"].as_str().expect("_id"),
                verdicts[rank].probability.unwrap_or(-1.0),
                lexical_verdicts[rank].probability.unwrap_or(-1.0),
                values.join("\t")
            )
            .expect("stdout");
        }
    }
}
