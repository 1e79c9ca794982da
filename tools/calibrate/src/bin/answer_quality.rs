//! How often the extractive answerer quotes a sentence that holds a gold answer.
//!
//! `answer_quality FOLDER [TOP_K [PASSES]]` prints for a prepared set: the share of answerable
//! questions whose best sentence, and whose whole answer, contains one; and whether each answer
//! passes the validator at level `cited`. See `tools/calibrate/README.md`.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a tool: it may stop on a bad input"
)]

use std::collections::HashMap;
use std::num::NonZeroUsize;

use domain::answering::{candidates, compose};
use domain::citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate};
use domain::corrective::Grade;
use minilm::MiniLm;

use calibrate::{Collection, likenesses, read_json_lines, read_vectors};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).expect("a prepared folder");
    let top_k = std::env::args().nth(2).map_or(5, |top_k| top_k.parse().expect("TOP_K"));
    let collection = Collection::read(&folder, None, 0);
    let questions = read_json_lines(&format!("{folder}/qa.jsonl"));
    let vectors = read_vectors(&format!("{folder}/questions.f32"));
    let model = MiniLm::start(NonZeroUsize::MIN.saturating_add(1)).expect("the built-in model");
    for mode in ["all passages", "correct", "candidates"] {
        for with_vectors in [true, false] {
            let mut tally: HashMap<&str, usize> = HashMap::new();
            for (question, vector) in questions.iter().zip(&vectors) {
                if question["answerable"] != serde_json::Value::Bool(true) {
                    continue;
                }
                let mut count = |name: &'static str, yes: bool| *tally.entry(name).or_default() += usize::from(yes);
                count("questions", true);
                let text = question["question"].as_str().expect("question");
                let answers: Vec<String> = question["answers"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|answer| answer.as_str().expect("answer").to_lowercase())
                    .collect();
                let round = collection.round(text, vector, top_k);
                let admitted = round.sources(&collection, |grade| match mode {
                    "correct" => grade == Grade::Correct,
                    "candidates" => grade != Grade::Incorrect,
                    _ => true,
                });
                let sources = &admitted.sources;
                let found = candidates(&round.question, sources, &admitted.evidence);
                let likenesses = if with_vectors { likenesses(&model, text, &found).await } else { Vec::new() };
                let Some(answer) = compose(&round.question, &found, with_vectors.then_some(&likenesses)) else {
                    continue;
                };
                count("answered", true);
                let holds = |text: &str| {
                    let text = text.to_lowercase();
                    answers.iter().any(|answer| text.contains(answer))
                };
                let best = answer
                    .sentences
                    .iter()
                    .filter(|sentence| !sentence.is_context)
                    .max_by(|one, two| one.score.total_cmp(&two.score))
                    .expect("a sentence");
                count("best sentence holds it", holds(&sources[best.source].text[best.range.clone()]));
                count(
                    "answer holds it",
                    answer.sentences.iter().any(|s| holds(&sources[s.source].text[s.range.clone()])),
                );
                count("sentences", false);
                *tally.entry("sentences").or_default() += answer.sentences.len();
                if with_vectors {
                    let prepared: Vec<PreparedSource> =
                        sources.iter().map(|source| PreparedSource::new(source.text)).collect();
                    let draft = Draft::new(answer.text.clone(), &prepared);
                    let accepted = matches!(validate(&draft, Level::Cited, Attempt::First), Verdict::Accept(_));
                    *tally.entry("accepted").or_default() += usize::from(accepted);
                    let supported = matches!(validate(&draft, Level::Supported, Attempt::First), Verdict::Accept(_));
                    *tally.entry("accepted as supported").or_default() += usize::from(supported);
                    if !accepted && tally["answered"] < 400 {
                        eprintln!("REJECTED: {}", answer.text);
                    }
                }
            }
            let asked = tally["questions"] as f64;
            let mut figures: Vec<_> = tally.iter().collect();
            figures.sort();
            print!("{mode:13} vectors {with_vectors:5}");
            for (name, count) in figures {
                print!("  {name} {:.3}", *count as f64 / asked);
            }
            println!();
        }
    }
}
