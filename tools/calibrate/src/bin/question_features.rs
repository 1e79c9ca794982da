//! Feature table for the calibration of the question-level evidence score.
//!
//! `question_features DOCUMENTS QUESTIONS [SIZE SEED]`, as in `grader_features`, but one line per question.
//! `group` is the document's name up to its last hyphen: questions of one article are not independent.

#![expect(clippy::indexing_slicing, reason = "a tool: it may stop on a bad input")]

use std::io::Write;

use domain::grading::question;
use domain::lexical::analyzer::Analyzer;

use calibrate::{Collection, read_json_lines, read_vectors};

const TOP_K: usize = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (documents, questions) = (&arguments[1], &arguments[2]);
    let size = arguments.get(3).map(|size| size.parse::<usize>().expect("SIZE"));
    let seed = arguments.get(4).map_or(0, |seed| seed.parse::<u64>().expect("SEED"));
    let analyzer = Analyzer::english();
    let collection = Collection::read(analyzer, documents, size, seed);
    let asked = read_json_lines(&format!("{questions}/qa.jsonl"));
    let vectors = read_vectors(&format!("{questions}/questions.f32"));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "question\tcase\tgroup\tprobability\t{}", question::NAMES.join("\t")).expect("stdout");
    for (row, vector) in asked.iter().zip(&vectors) {
        let text = row["question"].as_str().expect("question");
        let source = row["source_doc"].as_str().unwrap_or_default();
        let round = collection.round(analyzer, text, vector, TOP_K);
        let judged = question::answerability(&round.inquiry, &round.passages, &round.evidence);
        let features = question::of_round(&round.inquiry, &round.passages, &round.evidence);
        let values: Vec<String> = features.values.iter().map(|value| format!("{value:.5}")).collect();
        writeln!(
            out,
            "{}\t{}\t{}\t{:.5}\t{}",
            row["_id"].as_str().expect("_id"),
            collection.case(row, documents == questions),
            source.rsplit_once('-').map_or(source, |(article, _)| article),
            judged.probability,
            values.join("\t")
        )
        .expect("stdout");
    }
}
