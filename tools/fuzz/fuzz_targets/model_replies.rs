//! Reads arbitrary text as the reply of a model that plans, grades, rewrites, condenses or describes, and as an answer with
//! loose markers.
//!
//! Checks what must hold whatever the text: nothing panics, and what is read keeps the bounds of what was asked for.
#![no_main]

use domain::{
    citation::loose_marker,
    contextual,
    conversation::{self, Condensed, Speaker, Turn},
    grading::{missing, reply as grades},
    lexical::analyzer::Analyzer,
    planning,
    rewriting::{self, LONGEST_QUERY, Tried},
};
use libfuzzer_sys::fuzz_target;

fn is_on_one_line(text: &str) -> bool {
    !text.trim().is_empty() && text.lines().count() == 1
}

fuzz_target!(|reply: &str| {
    if let Some(plan) = planning::read_reply(reply) {
        assert!(plan.sub_questions.len() <= planning::MOST_SUB_QUESTIONS);
        assert!(plan.sub_questions.iter().all(|question| is_on_one_line(question)));
    }
    let tried = Tried::new("How long is leave?");
    if let Ok(query) = rewriting::read_reply(reply, &tried) {
        assert!(is_on_one_line(&query) && query.chars().count() <= LONGEST_QUERY && !tried.contains(&query));
    }
    assert!(contextual::read_reply(reply).is_none_or(|sentence| is_on_one_line(&sentence)));
    for sources in [0, 1, 3] {
        assert_eq!(grades::read(reply, sources).len(), sources);
        if let Some(normal) = loose_marker::normalised(reply, sources) {
            assert_eq!(loose_marker::normalised(&normal, sources), None, "{normal:?}");
        }
    }
    assert!(missing::read(reply).iter().all(|aspect| !aspect.trim().is_empty()));
    let history = [Turn { speaker: Speaker::User, text: "How long is leave?".to_owned() }];
    match conversation::read_reply(Analyzer::english(), reply, "And in Denmark?", &history) {
        Ok(Condensed::Question(text) | Condensed::Unclear(text)) => assert!(is_on_one_line(&text)),
        Err(_) => {}
    }
});
