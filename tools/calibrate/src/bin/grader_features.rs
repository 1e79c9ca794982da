//! Feature table for the calibration of the grader: see `tools/calibrate/README.md`.
//!
//! `grader_features DOCUMENTS QUESTIONS [SIZE SEED]` retrieves passages of one prepared set for the
//! questions of the same or another one (which are then off the corpus) and prints one line per
//! retrieved passage, for the question in its own words and in other ones. With SIZE only that many documents, chosen by SEED, make up the collection.

#![expect(clippy::indexing_slicing, reason = "a tool: it may stop on a bad input")]

use std::io::Write;

use domain::grading::calibrated;
use domain::grading::features::{self, Passage};

use calibrate::{Collection, read_questions, reworded, strings};

const TOP_K: usize = 8;
const OWN_QUESTIONS: usize = 1_500;
const FOREIGN_QUESTIONS: usize = 400;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (documents, questions) = (&arguments[1], &arguments[2]);
    let size = arguments.get(3).map(|size| size.parse::<usize>().expect("SIZE"));
    let seed = arguments.get(4).map_or(0, |seed| seed.parse::<u64>().expect("SEED"));
    let collection = Collection::read(documents, size, seed);
    let is_own = documents == questions;
    let asked = read_questions(questions, if is_own { OWN_QUESTIONS } else { FOREIGN_QUESTIONS });
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let header = ["question", "wording", "case", "place", "document", "label", "probability", "probability_lexical"];
    writeln!(out, "{}\t{}", header.join("\t"), features::NAMES.join("\t")).expect("stdout");
    for ((question, vector), wording) in asked.iter().flat_map(|asked| [(asked, "own"), (asked, "other")]) {
        let text = question["question"].as_str().expect("question");
        let text = if wording == "own" { text.to_owned() } else { reworded(text) };
        let gold: Vec<&str> = strings(&question["gold_docs"]);
        let answers: Vec<String> = strings(&question["answers"]).iter().map(|answer| answer.to_lowercase()).collect();
        let kind = collection.case(question, is_own);
        let round = collection.round(&text, vector, TOP_K);
        let (parsed, hits, passages, evidence) = (round.question, round.hits, round.passages, round.evidence);
        let verdicts = calibrated::grade(&parsed, &passages, &evidence).verdicts;
        let lexical_only: Vec<Passage<'_>> = passages.iter().map(|p| Passage { dense: None, ..*p }).collect();
        let lexical_verdicts = calibrated::grade(&parsed, &lexical_only, &evidence).verdicts;
        for (rank, features) in features::of_round(&parsed, &passages, &evidence).iter().enumerate() {
            let id = &collection.documents[hits[rank].index];
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
                "{}\t{wording}\t{kind}\t{rank}\t{id}\t{label}\t{:.5}\t{:.5}\t{}",
                question["_id"].as_str().expect("_id"),
                verdicts[rank].probability.unwrap_or(-1.0),
                lexical_verdicts[rank].probability.unwrap_or(-1.0),
                values.join("\t")
            )
            .expect("stdout");
        }
    }
}
