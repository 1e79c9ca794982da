//! Claims with evidence, true and false, for the calibration of the support score.
//!
//! `claims SET [QUESTIONS [--text]]` prints the features of claims, one per line; `--text` prints the claims instead.
//! SET is the folder of an evaluation set. If it holds `claims.jsonl`, which people have labelled, these are the
//! claims. Otherwise it makes true claims of the questions in `qa.jsonl`, and falsehoods from each of them.
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
use domain::sentence::sentences;
use serde_json::Value;

use calibrate::falsify::{self, Falsehood};
use calibrate::restate::{clause_with, restated};
use calibrate::{Collection, read_json_lines, strings};

const TOP_K: usize = 8;
/// Claims of one form that a question gives at most.
const PER_FORM: usize = 2;

struct Claim {
    form: &'static str,
    text: String,
}

/// A claim and what it is held against.
struct Case<'c> {
    claim: &'c str,
    form: &'c str,
    /// `true`, the kind of falsehood, or the label that people gave.
    kind: &'c str,
    text: &'c str,
    sources: &'c [PreparedSource],
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = &arguments[1];
    let most = arguments.get(2).map_or(usize::MAX, |most| most.parse().expect("QUESTIONS"));
    let as_text = arguments.get(3).is_some_and(|flag| flag == "--text");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if !as_text {
        let names = support_features::NAMES.join("\t");
        writeln!(out, "claim\tform\tkind\tscore\tmissing\treversed\tcontradicted\tenough\t{names}").expect("stdout");
    }
    let mut print = |case: &Case<'_>| {
        let line = if as_text { as_words(case) } else { as_features(case) };
        writeln!(out, "{line}").expect("stdout");
    };
    if std::path::Path::new(&format!("{folder}/claims.jsonl")).exists() {
        labelled(folder, &mut print);
    } else {
        made(folder, most, &mut print);
    }
}

/// Claims that people have labelled.
fn labelled(folder: &str, print: &mut impl FnMut(&Case<'_>)) {
    for row in read_json_lines(&format!("{folder}/claims.jsonl")) {
        let field = |name: &str| row[name].as_str().unwrap_or_default();
        let sources = [PreparedSource::new(field("source_text"))];
        let (claim, form, kind, text) = (field("_id"), field("source"), field("label"), field("claim"));
        print(&Case { claim, form, kind, text, sources: &sources });
    }
}

/// Claims made of questions and answers.
fn made(folder: &str, most: usize, print: &mut impl FnMut(&Case<'_>)) {
    let collection = Collection::unpack(folder);
    let asked = read_json_lines(&format!("{folder}/qa.jsonl"));
    let answerable: Vec<&Value> = asked
        .iter()
        .filter(|row| row["answerable"] == Value::Bool(true) && !strings(&row["gold_docs"]).is_empty())
        .collect();
    let step = (answerable.len() / most.min(answerable.len())).max(1);
    let mut number = 0;
    let mut denying = HashSet::new();
    for row in answerable.into_iter().step_by(step) {
        let gold: Vec<usize> = strings(&row["gold_docs"])
            .into_iter()
            .filter_map(|id| collection.documents.iter().position(|own| own == id))
            .collect();
        let prepared = |places: &[usize]| -> Vec<PreparedSource> {
            let texts = places.iter().map(|place| (&collection.texts[*place], &collection.titles[*place]));
            texts.map(|(text, title)| PreparedSource::with_context(text, title)).collect()
        };
        let right = prepared(&gold);
        let wrong = prepared(&hardest(&collection, row, &gold));
        let passage: String = gold.iter().map(|place| collection.texts[*place].as_str()).collect::<Vec<_>>().join("\n");
        let denied = if denying.insert(gold.clone()) { denials(&passage) } else { Vec::new() };
        for Claim { form, text } in claims(row, &passage).into_iter().chain(denied) {
            number += 1;
            let claim = &number.to_string();
            let elsewhere = (number * 7919) % collection.texts.len();
            let unrelated = prepared(&[elsewhere]);
            print(&Case { claim, form, kind: "true", text: &text, sources: &right });
            for Falsehood { kind, text } in falsify::falsehoods(&text, &passage, &collection.texts[elsewhere], number) {
                print(&Case { claim, form, kind, text: &text, sources: &right });
            }
            if !wrong.is_empty() {
                print(&Case { claim, form, kind: "source", text: &text, sources: &wrong });
            }
            if !gold.contains(&elsewhere) {
                print(&Case { claim, form, kind: "any source", text: &text, sources: &unrelated });
            }
        }
    }
}

fn as_words(Case { claim, form, kind, text, .. }: &Case<'_>) -> String {
    format!("{claim}\t{form}\t{kind}\t{text}")
}

fn as_features(Case { claim, form, kind, text, sources }: &Case<'_>) -> String {
    let scorer = LexicalScorer::new(sources);
    let indices: Vec<usize> = (0..sources.len()).collect();
    let values: Vec<String> = scorer.features(text, &indices).iter().map(|value| format!("{value:.4}")).collect();
    let support = scorer.support(text, &indices);
    let (missing, reversed) = (support.missing.len(), u8::from(support.reversal.is_some()));
    let contradicted = support.contradiction.as_ref().map_or(String::from("-"), |found| found.kind.as_str().to_owned());
    let enough = u8::from(support.is_enough());
    let (score, values) = (support.score, values.join("\t"));
    format!("{claim}\t{form}\t{kind}\t{score:.4}\t{missing}\t{reversed}\t{contradicted}\t{enough}\t{values}")
}

/// Sentences of the passage that deny something: what is asked about seldom does.
fn denials(passage: &str) -> Vec<Claim> {
    let stating = sentences(passage);
    let words = stating.iter().map(|sentence| passage[sentence.words()].to_owned());
    let denying = words.filter(|words| falsify::denials(words).next().is_some());
    denying.take(PER_FORM).map(|text| Claim { form: "denial", text }).collect()
}

/// The best passage that is not gold and does not hold the answer.
fn hardest(collection: &Collection, row: &Value, gold: &[usize]) -> Vec<usize> {
    let question = row["question"].as_str().expect("question");
    let answers: Vec<String> = strings(&row["answers"]).iter().map(|answer| answer.to_lowercase()).collect();
    let holds = |text: &str| answers.iter().any(|answer| answer.len() > 3 && text.to_lowercase().contains(answer));
    let found = collection.search_words(question, TOP_K);
    found.into_iter().find(|place| !gold.contains(place) && !holds(&collection.texts[*place])).into_iter().collect()
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
