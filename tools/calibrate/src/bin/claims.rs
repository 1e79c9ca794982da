//! Claims with evidence, true and false, for the calibration of the support score.
//!
//! `claims SET [QUESTIONS [--text]]` makes true claims of a prepared set's questions and prints the
//! features of each, and of the falsehoods made from it, one per line; `--text` prints the claims instead.
//!
//! True claims: the question restated with its answer, the part of a sentence that holds the answer,
//! sentences of the passage that deny something, and, where the set has one, the conclusion that people
//! drew from the document. False ones: a number,
//! a date or a name replaced (by one that the passage does not hold, or by another one of the passage
//! itself), a negation put in or taken out, a quantifier or another word turned to its opposite, a unit
//! replaced, and the nearest passage that does not answer the question, or any, in place of the right one.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

use std::collections::HashSet;
use std::io::Write;

use domain::citation::{LexicalScorer, PreparedSource, SupportScorer, support_features};
use domain::lexical::analyzer::Analyzer;
use domain::sentence::sentences;
use serde_json::Value;

use calibrate::falsify::{self, Falsehood};
use calibrate::restate::{clause_with, restated};
use calibrate::{Collection, read_json_lines, read_vectors, strings};

const TOP_K: usize = 8;
/// Claims of one form that a question gives at most.
const PER_FORM: usize = 2;

struct Claim {
    form: &'static str,
    text: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = &arguments[1];
    let most = arguments.get(2).map_or(usize::MAX, |most| most.parse().expect("QUESTIONS"));
    let as_text = arguments.get(3).is_some_and(|flag| flag == "--text");
    let analyzer = Analyzer::english();
    let collection = Collection::read(analyzer, folder, None, 0);
    let asked = read_json_lines(&format!("{folder}/qa.jsonl"));
    let vectors = read_vectors(&format!("{folder}/questions.f32"));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if !as_text {
        writeln!(out, "claim\tform\tkind\tscore\tmissing\tturned\t{}", support_features::NAMES.join("\t"))
            .expect("stdout");
    }
    let answerable: Vec<(&Value, &Vec<f32>)> = asked
        .iter()
        .zip(&vectors)
        .filter(|(row, _)| row["answerable"] == Value::Bool(true) && !strings(&row["gold_docs"]).is_empty())
        .collect();
    let step = (answerable.len() / most.min(answerable.len())).max(1);
    let mut number = 0;
    let mut denying = HashSet::new();
    for (row, vector) in answerable.into_iter().step_by(step) {
        let gold: Vec<usize> = strings(&row["gold_docs"])
            .into_iter()
            .filter_map(|id| collection.ids.iter().position(|own| own == id))
            .collect();
        let prepared = |places: &[usize]| -> Vec<PreparedSource> {
            let texts = places.iter().map(|place| (&collection.texts[*place], &collection.titles[*place]));
            texts.map(|(text, title)| PreparedSource::with_context(text, title)).collect()
        };
        let right = prepared(&gold);
        let wrong = prepared(&hardest(&collection, analyzer, row, vector, &gold));
        let passage: String = gold.iter().map(|place| collection.texts[*place].as_str()).collect::<Vec<_>>().join("\n");
        let denied = if denying.insert(gold.clone()) { denials(&passage) } else { Vec::new() };
        for claim in claims(row, &passage).into_iter().chain(denied) {
            number += 1;
            let elsewhere = (number * 7919) % collection.texts.len();
            let foreign = &collection.texts[elsewhere];
            let unrelated = prepared(&[elsewhere]);
            let mut cases = vec![("true", claim.text.clone(), &right)];
            for Falsehood { kind, text } in falsify::falsehoods(&claim.text, &passage, foreign, number) {
                cases.push((kind, text, &right));
            }
            if !wrong.is_empty() {
                cases.push(("source", claim.text.clone(), &wrong));
            }
            if !gold.contains(&elsewhere) {
                cases.push(("any source", claim.text.clone(), &unrelated));
            }
            for (kind, text, sources) in cases {
                if as_text {
                    writeln!(out, "{number}\t{}\t{kind}\t{text}", claim.form).expect("stdout");
                    continue;
                }
                let scorer = LexicalScorer::new(sources);
                let indices: Vec<usize> = (0..sources.len()).collect();
                let values: Vec<String> =
                    scorer.features(&text, &indices).iter().map(|value| format!("{value:.4}")).collect();
                let support = scorer.support(&text, &indices);
                writeln!(
                    out,
                    "{number}\t{}\t{kind}\t{:.4}\t{}\t{}\t{}",
                    claim.form,
                    support.score,
                    support.missing.len(),
                    u8::from(support.is_turned),
                    values.join("\t")
                )
                .expect("stdout");
            }
        }
    }
}

/// Sentences of the passage that deny something: what is asked about seldom does.
fn denials(passage: &str) -> Vec<Claim> {
    let stating = sentences(passage);
    let words = stating.iter().map(|sentence| passage[sentence.words()].to_owned());
    let denying = words.filter(|words| falsify::denials(words).next().is_some());
    denying.take(PER_FORM).map(|text| Claim { form: "denial", text }).collect()
}

/// The best passage that is not gold and does not hold the answer.
fn hardest(collection: &Collection, analyzer: &Analyzer, row: &Value, vector: &[f32], gold: &[usize]) -> Vec<usize> {
    let question = row["question"].as_str().expect("question");
    let answers: Vec<String> = strings(&row["answers"]).iter().map(|answer| answer.to_lowercase()).collect();
    let holds = |text: &str| answers.iter().any(|answer| answer.len() > 3 && text.to_lowercase().contains(answer));
    let hits = collection.search(analyzer, question, vector, TOP_K);
    let wrong = hits.iter().find(|hit| !gold.contains(&hit.index) && !holds(&collection.texts[hit.index]));
    wrong.map(|hit| hit.index).into_iter().collect()
}

fn claims(row: &Value, passage: &str) -> Vec<Claim> {
    let question = row["question"].as_str().expect("question");
    let is_judgement = |answer: &str| matches!(answer, "yes" | "no" | "maybe");
    let answer = strings(&row["answers"]).into_iter().find(|answer| !is_judgement(&answer.to_lowercase()));
    let mut found = Vec::new();
    if let Some(answer) = answer {
        found.extend(restated(question, answer).map(|text| Claim { form: "restated", text }));
        let stating = sentences(passage);
        let holding = stating.iter().map(|sentence| &passage[sentence.words()]).filter(|words| words.contains(answer));
        found.extend(holding.take(PER_FORM).map(|words| Claim { form: "clause", text: clause_with(words, answer) }));
    }
    if let Some(conclusion) = row["long_answer"].as_str() {
        let stated = sentences(conclusion);
        let words = stated.iter().map(|sentence| conclusion[sentence.words()].to_owned());
        found.extend(words.take(PER_FORM).map(|text| Claim { form: "conclusion", text }));
    }
    found.retain(|claim| claim.text.split_whitespace().count() >= 4);
    found
}
