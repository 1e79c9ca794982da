//! Feature table for the calibration of the answerer's confidence.
//!
//! `answer_features FOLDER` prints one line for each question of a prepared set that the built-in answerer answers:
//! whether the answer is right, and the features of its best sentence. An answer is right if it holds a gold answer, or
//! most words of a gold sentence where the set has those. FOLDER was made by `embed --sentences`.

#![expect(clippy::cast_precision_loss, reason = "sentences are short")]

use std::collections::{HashMap, HashSet};
use std::io::Write;

use domain::answering::{AnswerSource, candidates, compose, confidence};
use domain::corrective::Grade;
use domain::grading::calibrated;
use serde_json::Value;

use calibrate::{Collection, Round, cosine, read_json_lines, read_vectors};

const TOP_K: usize = 8;

/// Share of the words of a gold sentence that a right answer holds.
const MOST_WORDS: f32 = 0.8;

fn main() {
    let folder = std::env::args().nth(1).expect("a prepared folder");
    let collection = Collection::read(&folder, None, 0);
    let questions = read_json_lines(&format!("{folder}/qa.jsonl"));
    let vectors = read_vectors(&format!("{folder}/questions.f32"));
    let sentences = vectors_of_sentences(&folder);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "right\t{}", confidence::NAMES.join("\t")).expect("stdout");
    for (row, vector) in questions.iter().zip(&vectors) {
        let text = row["question"].as_str().expect("question");
        let Round { question, passages, evidence, .. } = collection.round(text, vector, TOP_K);
        let verdicts = calibrated::grade(&question, &passages, &evidence).verdicts;
        let graded = passages.iter().zip(&evidence).zip(&verdicts);
        let correct = graded.filter(|(_, verdict)| verdict.grade == Grade::Correct);
        let (sources, kept): (Vec<_>, Vec<_>) = correct
            .map(|((passage, evidence), verdict)| {
                let probability = verdict.probability.unwrap_or(0.5);
                (AnswerSource { probability, ..AnswerSource::alone(passage.text) }, evidence.clone())
            })
            .unzip();
        let found = candidates(&question, &sources, &kept);
        let near = |text: &str| sentences.get(text).map_or(0.0, |sentence| cosine(vector, sentence));
        let cosines: Vec<f32> = found.iter().map(|candidate| near(candidate.text())).collect();
        let Some(answer) = compose(&question, &found, Some(&cosines)) else { continue };
        let values: Vec<String> = answer.features.values.iter().map(|value| format!("{value:.5}")).collect();
        writeln!(out, "{}\t{}", u8::from(is_right(row, &answer.text)), values.join("\t")).expect("stdout");
    }
}

/// The vectors of all sentences of a set by their text with single spaces.
fn vectors_of_sentences(folder: &str) -> HashMap<String, Vec<f32>> {
    let rows = read_json_lines(&format!("{folder}/sentences.jsonl"));
    let texts = rows.iter().map(|row| row.as_str().expect("a string"));
    let texts = texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    texts.zip(read_vectors(&format!("{folder}/sentences.f32"))).collect()
}

fn is_right(row: &Value, answer: &str) -> bool {
    let said = plain(answer);
    let words: HashSet<&str> = said.split(' ').collect();
    let golds = |member: &str| strings(&row[member]).map(plain).filter(|gold| !gold.is_empty()).collect::<Vec<_>>();
    let sentences = golds("gold_sentences");
    if sentences.is_empty() {
        return golds("answers").iter().any(|gold| said.contains(gold));
    }
    let holds_most = |gold: &String| {
        let gold: HashSet<&str> = gold.split(' ').collect();
        gold.intersection(&words).count() as f32 >= MOST_WORDS * gold.len() as f32
    };
    sentences.iter().any(holds_most)
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// A text in lower case without punctuation and markers.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace(',', "");
    let words = text.split_whitespace().filter(|word| !word.starts_with("[^"));
    let bare = |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '%').to_owned();
    words.map(bare).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
