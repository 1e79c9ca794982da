//! Feature table for the calibration of the answerer's confidence.
//!
//! `answer_features FOLDER [MOST]` prints one line for each question of a prepared set that the built-in answerer answers:
//! whether the answer is right, and the features of its best sentence. An answer is right if it holds a gold answer, or
//! most words of a gold sentence where the set has those. FOLDER was made by
//! `embed`. With MOST, of at most that many questions.

use std::io::Write;
use std::num::NonZeroUsize;

use calibrate::{Collection, is_right, likenesses, read_questions};
use domain::answering::{candidates, compose, confidence};
use domain::corrective::Grade;
use minilm::MiniLm;

const TOP_K: usize = 8;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).expect("a prepared folder");
    let most = std::env::args().nth(2).map_or(usize::MAX, |most| most.parse().expect("a number of questions"));
    let collection = Collection::read(&folder, None, 0);
    let model = MiniLm::start(NonZeroUsize::MIN.saturating_add(1)).expect("the built-in model");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    writeln!(out, "right\t{}", confidence::NAMES.join("\t")).expect("stdout");
    for (row, vector) in &read_questions(&folder, most) {
        let text = row["question"].as_str().expect("question");
        let round = collection.round(text, vector, TOP_K);
        let admitted = round.sources(&collection, |grade| grade == Grade::Correct);
        let found = candidates(&round.question, &admitted.sources, &admitted.evidence);
        let likenesses = likenesses(&model, text, &found).await;
        let Some(answer) = compose(&round.question, &found, Some(&likenesses)) else { continue };
        let Some(values) = answer.features.all() else { continue };
        let values: Vec<String> = values.iter().map(|value| format!("{value:.5}")).collect();
        writeln!(out, "{}\t{}", u8::from(is_right(row, &answer.text)), values.join("\t")).expect("stdout");
    }
}
