//! Feature table for the calibration of the question-level evidence score.
//!
//! `question_features DOCUMENTS QUESTIONS [SIZE SEED]`, as in `grader_features`, but one line per question.
//! `group` is the document's name up to its last hyphen: questions of one article are not independent.

#![expect(clippy::indexing_slicing, reason = "a tool: it may stop on a bad input")]

use std::io::Write;

use domain::grading::question;

use calibrate::{Collection, read_questions, reworded};

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
    writeln!(out, "question\twording\tcase\tgroup\tprobability\tchunks\t{}", question::NAMES.join("\t"))
        .expect("stdout");
    for ((row, vector), wording) in asked.iter().flat_map(|asked| [(asked, "own"), (asked, "other")]) {
        let text = row["question"].as_str().expect("question");
        let text = if wording == "own" { text.to_owned() } else { reworded(text) };
        let source = row["source_doc"].as_str().unwrap_or_default();
        let round = collection.round(&text, vector, TOP_K);
        let judged = question::answerability(&round.question, &round.passages, &round.evidence, 1.0);
        let features = question::of_round(&round.question, &round.passages, &round.evidence);
        let values: Vec<String> = features.values.iter().map(|value| format!("{value:.5}")).collect();
        writeln!(
            out,
            "{}\t{wording}\t{}\t{}\t{:.5}\t{}\t{}",
            row["_id"].as_str().expect("_id"),
            collection.case(row, is_own),
            source.rsplit_once('-').map_or(source, |(article, _)| article),
            judged.probability,
            round.question.terms.chunks(),
            values.join("\t")
        )
        .expect("stdout");
    }
}
