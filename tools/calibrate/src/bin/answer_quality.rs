//! How often the extractive answerer quotes a sentence that holds a gold answer.
//!
//! `answer_quality FOLDER [TOP_K [LIST]]` prints for a prepared set: the share of answerable
//! questions whose best sentence, and whose whole answer, contains one; whether each answer
//! passes the validator at level `cited`; and how many questions would be given passages instead, right and wrong
//! answers apart. With `LIST` it writes to that file how each question is answered. See `tools/calibrate/README.md`.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_precision_loss,
    reason = "a tool: it may stop on a bad input"
)]

use std::collections::HashMap;
use std::io::Write as _;
use std::num::NonZeroUsize;

use domain::answering::{Material, candidates, closest, compose, passages};
use domain::citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate};
use domain::corrective::Grade;
use domain::planning::plan;
use minilm::MiniLm;

use calibrate::{Collection, is_right, likenesses, read_json_lines, read_vectors};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = std::env::args().nth(1).expect("a prepared folder");
    let top_k = std::env::args().nth(2).map_or(5, |top_k| top_k.parse().expect("TOP_K"));
    let mut list = std::env::args().nth(3).map(|path| std::fs::File::create(path).expect("LIST"));
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
                let material = Material { question: &round.question, sources, evidence: &admitted.evidence };
                let with = with_vectors.then_some(&*likenesses);
                let given = passages(&material, plan(text).question_type, &found, with)
                    .or_else(|| closest(&material, &found, with, Some(&answer)).filter(|_| answer.is_doubtful()));
                let best = answer.best().expect("a sentence");
                count("best sentence holds it", is_right(question, &sources[best.source].text[best.range.clone()]));
                let holds = is_right(question, &answer.text);
                count("answer holds it", holds);
                let outcome = match (&given, holds) {
                    (Some(_), true) => "passages for a right answer",
                    (Some(_), false) => "passages for a wrong answer",
                    (None, true) => "given as answer, right",
                    (None, false) => "given as answer, wrong",
                };
                count(outcome, true);
                if let Some(list) = list.as_mut().filter(|_| with_vectors && mode == "candidates") {
                    let shown = given.as_ref().map_or(&answer.text, |given| &given.text).replace('\n', " / ");
                    let reason = given.as_ref().and_then(|given| given.passages.first()).map(|passage| passage.reason);
                    let golds = &question["answers"];
                    writeln!(list, "{outcome}\t{reason:?}\t{text}\t{golds}\t{shown}").expect("LIST");
                }
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
