use proptest::prelude::*;

use super::built_in::rewrite;
use super::*;
use crate::evidence::Question;
use crate::lexical::analyzer::Analyzer;

fn parsed(question: &str) -> Question {
    Question::new(Analyzer::english(), question, 100, |stem| match stem {
        "zyx" => 0,
        "leav" => 20,
        "polici" => 60,
        _ => 4,
    })
}

#[test]
fn cleans_replies() {
    let tried = Tried::new("How long is leave?");
    let rows = [
        ("  parental leave weeks \n", Ok("parental leave weeks")),
        ("\"parental leave weeks\"", Ok("parental leave weeks")),
        ("“parental leave”", Ok("parental leave")),
        ("'\"parental leave\"'", Ok("\"parental leave\"")),
        ("\"parental leave\" weeks", Ok("\"parental leave\" weeks")),
        ("parental\nleave", Ok("parental leave")),
        ("{\"query\": \" \\\"parental leave\\\" \"}", Ok("parental leave")),
        ("Here you are:\n```json\n{\"query\": \"parental leave\"}\n```", Ok("parental leave")),
        ("```\nparental leave\n```", Ok("parental leave")),
        ("```text\nparental leave\n```\nHope it helps!", Ok("parental leave")),
        ("parental leave {weeks}", Ok("parental leave {weeks}")),
        ("{\"query\": \"\"}", Err(RewriteError::Empty)),
        ("", Err(RewriteError::Empty)),
        (" \"\" ", Err(RewriteError::Empty)),
        ("\"", Err(RewriteError::Empty)),
        ("...", Err(RewriteError::Empty)),
        ("how  LONG is leave", Err(RewriteError::Repeated)),
        ("\"How long is leave?\"", Err(RewriteError::Repeated)),
    ];
    for (reply, expected) in rows {
        assert_eq!(read_reply(reply, &tried), expected.map(str::to_owned), "{reply:?}");
    }
    assert_eq!(read_reply(&"word ".repeat(300), &tried), Err(RewriteError::TooLong));
}

#[test]
fn remembers_what_was_tried() {
    let mut tried = Tried::new("How long?");
    assert_eq!(tried.add("leave weeks".to_owned()), Ok("leave weeks"));
    assert_eq!(tried.add(" Leave  WEEKS. ".to_owned()), Err(RewriteError::Repeated));
    assert_eq!(tried.queries(), ["How long?", "leave weeks"]);
    assert_eq!(tried.rewrites(), ["leave weeks"]);
}

#[test]
fn varies_the_question_until_nothing_is_new() {
    let analyzer = Analyzer::english();
    let parsed = parsed("What kind of leave policy covers zyx parents abroad?");
    let mut tried = Tried::new(&parsed.text);
    let feedback = ["Maternity leave abroad: maternity rules.", "Rules on maternity in embassies."];
    while let Some(query) = rewrite(analyzer, &parsed, &tried, &feedback) {
        tried.add(query).unwrap();
    }
    assert_eq!(
        tried.rewrites(),
        [
            "covers zyx parents abroad",
            "kind leave policy covers parents abroad",
            "kind leave policy covers parents abroad Maternity rules",
            "covers parents abroad",
        ]
    );
}

#[test]
fn has_nothing_to_say_without_words() {
    let parsed = parsed("What is it?");
    assert_eq!(rewrite(Analyzer::english(), &parsed, &Tried::new("What is it?"), &[]), None);
}

proptest! {
    #[test]
    fn never_repeats_and_ends(question in ".{0,80}|([a-z]{1,8} ){1,12}", feedback in prop::collection::vec(".{0,60}", 0..4)) {
        let analyzer = Analyzer::english();
        let parsed = parsed(&question);
        let feedback: Vec<&str> = feedback.iter().map(String::as_str).collect();
        let mut tried = Tried::new(&question);
        for _ in 0..10 {
            match rewrite(analyzer, &parsed, &tried, &feedback) {
                Some(query) => prop_assert!(tried.add(query).is_ok()),
                None => return Ok(()),
            }
        }
        prop_assert!(false, "the rewriter never ends");
    }

    #[test]
    fn replies_are_clean_or_refused(reply in any::<String>()) {
        let tried = Tried::new("q");
        if let Ok(query) = read_reply(&reply, &tried) {
            prop_assert!(!query.is_empty() && query.trim() == query && !tried.contains(&query));
        }
    }
}
