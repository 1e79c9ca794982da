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

use domain::answering::{AnswerSource, candidates, compose};
use domain::citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate};
use domain::corrective::Grade;
use domain::grading::calibrated;

use calibrate::{Collection, Round, cosine, read_json_lines, read_vectors};

fn main() {
    let folder = std::env::args().nth(1).expect("a prepared folder");
    let top_k = std::env::args().nth(2).map_or(5, |top_k| top_k.parse().expect("TOP_K"));
    let collection = Collection::read(&folder, None, 0);
    let questions = read_json_lines(&format!("{folder}/qa.jsonl"));
    let vectors = read_vectors(&format!("{folder}/questions.f32"));
    let sentences: HashMap<String, Vec<f32>> = read_json_lines(&format!("{folder}/sentences.jsonl"))
        .iter()
        .map(|text| text.as_str().expect("a string").split_whitespace().collect::<Vec<_>>().join(" "))
        .zip(read_vectors(&format!("{folder}/sentences.f32")))
        .collect();
    for mode in ["all passages", "correct", "candidates"] {
        for with_cosines in [true, false] {
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
                let Round { question: parsed, passages, evidence, .. } = collection.round(text, vector, top_k);
                let verdicts = calibrated::grade(&parsed, &passages, &evidence).verdicts;
                let (mut sources, mut kept) = (Vec::new(), Vec::new());
                for ((passage, verdict), evidence) in passages.iter().zip(&verdicts).zip(&evidence) {
                    let admitted = match mode {
                        "correct" => verdict.grade == Grade::Correct,
                        "candidates" => verdict.grade != Grade::Incorrect,
                        _ => true,
                    };
                    if admitted {
                        let probability = verdict.probability.unwrap_or(0.5);
                        sources.push(AnswerSource { probability, ..AnswerSource::alone(passage.text) });
                        kept.push(evidence.clone());
                    }
                }
                let found = candidates(&parsed, &sources, &kept);
                let cosines: Vec<f32> = found
                    .iter()
                    .map(|candidate| {
                        let embedded = sentences.get(candidate.text());
                        embedded.map_or(0.0, |sentence| cosine(vector, sentence))
                    })
                    .collect();
                let Some(answer) = compose(&parsed, &found, with_cosines.then_some(&cosines)) else {
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
                if with_cosines {
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
            print!("{mode:13} cosines {with_cosines:5}");
            for (name, count) in figures {
                print!("  {name} {:.3}", *count as f64 / asked);
            }
            println!();
        }
    }
}
