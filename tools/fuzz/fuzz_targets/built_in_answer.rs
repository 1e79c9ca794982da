//! Asks arbitrary text of arbitrary passages and has the built-in answerer quote them.
//!
//! Checks what must hold whatever the texts: nothing panics, what is quoted stands in its source, and the judge accepts
//! the answer at its default level.
#![no_main]

use domain::{
    answering::{AnswerSource, Material, candidates, closest, compose, passages},
    asked_part::{asking_part, story},
    citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate},
    conversation::{self, Rarity, Speaker, Turn},
    evidence::{Question, passage::PassageEvidence},
    lexical::analyzer::Analyzer,
    planning::{QuestionType, plan},
    spelling,
};
use libfuzzer_sys::fuzz_target;

fn assert_accepted(answer: &str, texts: &[&str]) {
    let prepared: Vec<PreparedSource> = texts.iter().map(|text| PreparedSource::new(text)).collect();
    let verdict = validate(&Draft::new(answer, &prepared), Level::Cited, Attempt::First);
    assert!(matches!(verdict, Verdict::Accept(_)), "{answer:?}: {verdict:?}");
}

fuzz_target!(|text: &str| {
    // The part before the first NUL is the question, what comes after the second one another passage.
    let (question, sources) = text.split_once('\0').unwrap_or(("How long is parental leave and who grants it?", text));
    let (first, second) =
        sources.split_once('\0').unwrap_or((sources, "Parental leave lasts 26 weeks. Ann grants it."));
    let analyzer = Analyzer::english();
    let asked = asking_part(question);
    assert_eq!(asked.trim().is_empty(), question.trim().is_empty());
    let plan = plan(&asked);
    story(question);
    let parsed = Question::new(analyzer, &asked, 100, |stem| u64::try_from(stem.len() % 4).unwrap_or_default() * 20);
    let corrections = spelling::corrections(analyzer, &parsed, [first, second], |_| false);
    let corrected = spelling::corrected(&asked, &corrections);
    assert_eq!(corrections.is_empty(), corrected == asked);
    let rarity = Rarity { chunks: 100, ..Rarity::default() };
    let history = [Turn { speaker: Speaker::User, text: second.to_owned() }];
    conversation::expand(analyzer, question, &conversation::recent(&history), &rarity);

    let texts = [first, second];
    let sources = texts.map(AnswerSource::alone);
    let evidence = texts.map(|text| PassageEvidence::new(analyzer, &parsed.terms, "", text));
    let found = candidates(&parsed, &sources, &evidence);
    let answer = compose(&parsed, &found, None);
    if let Some(answer) = &answer {
        for sentence in &answer.sentences {
            assert!(texts[sentence.source].get(sentence.range.clone()).is_some());
        }
        assert_accepted(&answer.text, &texts);
    }
    let material = Material { question: &parsed, sources: &sources, evidence: &evidence };
    let all = [QuestionType::Lookup, plan.question_type].map(|kind| passages(&material, kind, &found, None));
    for given in all.into_iter().chain([closest(&material, &found, None, answer.as_ref())]).flatten() {
        assert!(given.passages.iter().all(|passage| passage.source_index < texts.len()));
        assert_accepted(&given.text, &texts);
    }
});
