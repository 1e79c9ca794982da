//! Feature table for the calibration of the order of sentences.
//!
//! `sentence_features FOLDER MOST` prints, for at most that many answerable questions of a set that `embed` prepared, one
//! line for each sentence that may be quoted: the number of its question; 1 if it holds a gold answer and its document is
//! gold, 2 if it holds one elsewhere, 0 if not; 1 if the answer begins with it now; and its features.

#![expect(clippy::indexing_slicing, clippy::string_slice, reason = "a tool: it may stop on a bad input")]

use std::io::Write;
use std::num::NonZeroUsize;

use calibrate::{Collection, is_right, likenesses, read_questions, strings};
use domain::answering::{candidates, compose, ranking};
use domain::corrective::Grade;
use minilm::MiniLm;
use serde_json::Value;

const TOP_K: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).expect("a prepared folder");
    let most: usize = std::env::args().nth(2).and_then(|most| most.parse().ok()).expect("a number of questions");
    let collection = Collection::read(&folder, None, 0);
    let model = MiniLm::start(NonZeroUsize::MIN.saturating_add(1)).expect("the built-in model");
    let mut questions = read_questions(&folder, usize::MAX);
    questions.retain(|(row, _)| row["answerable"] == Value::Bool(true));
    let step = questions.len().div_ceil(most).max(1);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "question\tlabel\tchosen\t{}", ranking::NAMES.join("\t")).expect("stdout");
    for (number, (row, vector)) in questions.iter().step_by(step).enumerate() {
        let text = row["question"].as_str().expect("question");
        let round = collection.round(text, vector, TOP_K);
        let admitted = round.sources(&collection, |grade| grade == Grade::Correct);
        let found = candidates(&round.question, &admitted.sources, &admitted.evidence);
        let likenesses = likenesses(&model, text, &found).await;
        let answer = compose(&round.question, &found, Some(&likenesses));
        let first = answer.and_then(|answer| answer.sentences.into_iter().find(|sentence| !sentence.is_context));
        let is_first = |text: &str| {
            let quoted = first.as_ref().map(|first| &admitted.sources[first.source].text[first.range.clone()]);
            quoted.is_some_and(|quoted| quoted.split_whitespace().eq(text.split_whitespace()))
        };
        let gold = strings(&row["gold_docs"]);
        for (sentence, values) in found.iter().zip(ranking::features(&found, &likenesses)) {
            let Some(values) = values.filter(|_| !sentence.is_fragment()) else { continue };
            let is_gold = gold.contains(&admitted.documents[sentence.source()]);
            let label = if !is_right(row, sentence.text()) {
                0
            } else if is_gold {
                1
            } else {
                2
            };
            let values: Vec<String> = values.iter().map(|value| format!("{value:.5}")).collect();
            let chosen = u8::from(is_first(sentence.text()));
            writeln!(out, "{number}\t{label}\t{chosen}\t{}", values.join("\t")).expect("stdout");
        }
    }
}
