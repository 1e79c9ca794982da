use proptest::prelude::*;

use super::{Strategy, *};
use crate::lexical::analyzer::Analyzer;

#[test]
fn questions_are_planned_by_their_words() {
    use QuestionType::{Compare, Exploratory, Lookup, MultiHop, Summary};
    use Strategy::{BroadThenRerank, Decompose, Direct};
    let rows: [(&str, QuestionType, Strategy, &[&str]); 12] = [
        ("How long is annual leave?", Lookup, Direct, &[]),
        (
            "How long is annual leave, and who repairs lost laptops?",
            Lookup,
            Decompose,
            &["How long is annual leave?", "who repairs lost laptops?"],
        ),
        ("Who founded Acme, and when did they sell it?", MultiHop, Direct, &[]),
        ("Compare annual leave with sick leave.", Compare, Decompose, &["annual leave", "sick leave"]),
        ("What is the difference between tea and coffee?", Compare, Decompose, &["tea", "coffee"]),
        ("Postgres vs MySQL", Compare, Decompose, &["Postgres", "MySQL"]),
        (
            "What was the revenue for 2019 vs 2018?",
            Compare,
            Decompose,
            &["What was the revenue for 2019", "What was the revenue for 2018"],
        ),
        (
            "page size of exceptions vs matches?",
            Compare,
            Decompose,
            &["page size of exceptions", "page size of matches"],
        ),
        ("Summarise the security policy", Summary, BroadThenRerank, &[]),
        ("Tell me about backups.", Exploratory, BroadThenRerank, &[]),
        ("Wie viele Tage Urlaub habe ich und wann verfallen sie?", Lookup, Direct, &[]),
        ("", Lookup, Direct, &[]),
    ];
    for (question, question_type, strategy, sub_questions) in rows {
        let plan = plan(question);
        assert_eq!((plan.question_type, plan.strategy), (question_type, strategy), "{question}");
        assert_eq!(plan.sub_questions, sub_questions, "{question}");
        assert_eq!(plan.by, PlannedBy::BuiltIn);
    }
}

#[test]
fn a_models_plan_is_read_wherever_it_stands() {
    let reply = "Here is my plan:\n```json\n{\"type\": \"multi_hop\", \"strategy\": \"decompose\", \
                 \"sub_questions\": [\"Who founded  Acme?\", \"When was it sold?\", \"Who founded Acme?\", 7, \" \"]}\n```";
    let plan = read_reply(reply).expect("a plan");
    assert_eq!(
        (plan.question_type, plan.strategy, plan.by),
        (QuestionType::MultiHop, Strategy::Decompose, PlannedBy::Model)
    );
    assert_eq!(plan.sub_questions, ["Who founded Acme?", "When was it sold?"]);
    let direct =
        read_reply("{\"type\": \"lookup\", \"strategy\": \"direct\", \"sub_questions\": [\"x\"]}").expect("a plan");
    assert!(direct.sub_questions.is_empty(), "a direct plan has none");
    let many: Vec<String> = (0..9).map(|number| format!("\"question {number}\"")).collect();
    let many =
        format!("{{\"type\": \"lookup\", \"strategy\": \"decompose\", \"sub_questions\": [{}]}}", many.join(","));
    assert_eq!(read_reply(&many).expect("a plan").sub_questions.len(), MOST_SUB_QUESTIONS);
}

#[test]
fn names_of_a_plan_are_read_in_any_case_and_form() {
    for (question_type, strategy) in
        [("multi_hop", "decompose"), ("MultiHop", "Decompose"), ("multihop", "DECOMPOSE"), ("MULTI-HOP", "decompose ")]
    {
        let reply =
            format!(r#"{{"type": "{question_type}", "strategy": "{strategy}", "sub_questions": ["a?", "b?"]}}"#);
        let plan = read_reply(&reply).expect(&reply);
        assert_eq!((plan.question_type, plan.strategy), (QuestionType::MultiHop, Strategy::Decompose), "{reply}");
    }
}

#[test]
fn a_models_plan_carries_its_reasoning() {
    let reasoning_of = |reasoning: &str| {
        let reply = format!("{{{reasoning} \"type\": \"lookup\", \"strategy\": \"direct\", \"sub_questions\": []}}");
        read_reply(&reply).expect("a plan").reasoning
    };
    assert_eq!(reasoning_of("\"reasoning\": \" One fact\\n decides. \","), Some("One fact decides.".to_owned()));
    let long = "ä".repeat(900);
    assert_eq!(reasoning_of(&format!("\"reasoning\": \"{long}\",")).map(|text| text.chars().count()), Some(500));
    for none in ["", "\"reasoning\": \" \",", "\"reasoning\": 7,"] {
        assert_eq!(reasoning_of(none), None, "{none}");
    }
    assert_eq!(plan("How long is annual leave?").reasoning, None);
}

#[test]
fn what_is_no_plan_is_none() {
    for reply in [
        "",
        "I would look it up.",
        "{\"type\": \"lookup\"}",
        "{\"type\": \"guess\", \"strategy\": \"direct\", \"sub_questions\": []}",
        "{\"type\": \"lookup\", \"strategy\": \"decompose\", \"sub_questions\": [\"only one\"]}",
        "{\"type\": \"lookup\", \"strategy\": \"rewrite\", \"sub_questions\": []}",
    ] {
        assert_eq!(read_reply(reply), None, "{reply}");
    }
}

const LEAVE: &str = "Everyone has 28 days of annual leave a year.";

/// The parts missing for a question in two parts; no passage mentions the second one if `is_found` is false.
fn lacks(is_found: bool, claims: &str, admission: &str) -> Vec<String> {
    let parts = ["How long is annual leave?".to_owned(), "Who repairs lost laptops?".to_owned()];
    let without_evidence: &[usize] = if is_found { &[] } else { &[1] };
    let admissions: Vec<String> = Some(admission.to_owned()).filter(|text| !text.is_empty()).into_iter().collect();
    let said = Said { claims, admissions: &admissions };
    missing(
        Analyzer::english(),
        "How long is annual leave, and who repairs lost laptops?",
        &parts,
        without_evidence,
        said,
    )
}

#[test]
fn a_part_without_evidence_is_missing_unless_a_claim_speaks_of_it() {
    assert_eq!(lacks(false, LEAVE, ""), ["Who repairs lost laptops?"]);
    assert!(lacks(false, &format!("{LEAVE} A lost laptop is repaired by Mira."), "").is_empty());
    assert!(lacks(true, LEAVE, "").is_empty(), "what was found may have been said in other words");
}

#[test]
fn words_that_frame_a_part_need_not_be_said() {
    let parts = ["What does the foundry tour cost?".to_owned(), "how many people can join?".to_owned()];
    let open = |claims| {
        let said = Said { claims, admissions: &[] };
        missing(Analyzer::english(), &parts.join(" "), &parts, &[1], said)
    };
    assert_eq!(open("Tour: Foundry | Max. people: 6 | Price: 20"), Vec::<String>::new());
    assert_eq!(open("Tour: Foundry | Price: 20"), parts[1..]);
}

#[test]
fn what_an_answer_admits_to_lack_is_missing_whatever_was_found() {
    for admission in [
        "The sources do not say who repairs lost laptops.",
        "There is no information about the repair of laptops in the sources.",
    ] {
        assert_eq!(lacks(true, LEAVE, admission), ["Who repairs lost laptops?"], "{admission}");
    }
    let near = format!("{LEAVE} Lost laptops are reported to the desk.");
    assert_eq!(lacks(true, &near, "The sources do not say who repairs lost laptops."), ["Who repairs lost laptops?"]);
    let general = "The sources do not answer all parts of the question.";
    assert_eq!(lacks(true, LEAVE, general), [general]);
    assert!(lacks(true, LEAVE, "The documents do not mention pets.").is_empty(), "nobody asked");
    assert!(lacks(true, LEAVE, "The sources do not say more about annual leave.").is_empty());
    let unplanned = |admission: &str| {
        let said = Said { claims: LEAVE, admissions: &[admission.to_owned()] };
        missing(Analyzer::english(), "How long is annual leave and its notice?", &[], &[], said)
    };
    assert_eq!(unplanned("The sources do not state a notice."), ["The sources do not state a notice."]);
    assert!(unplanned("The sources do not say anything else.").is_empty());
}

proptest! {
    #[test]
    fn every_question_has_a_plan_within_bounds(question in "[a-zA-Z ,?.;]{0,200}|.{0,80}") {
        let plan = plan(&question);
        prop_assert!(plan.sub_questions.len() <= MOST_SUB_QUESTIONS);
        prop_assert_ne!(plan.is_decomposed(), plan.sub_questions.is_empty());
    }

    #[test]
    fn no_reply_makes_the_reader_panic(reply in ".{0,200}") {
        if let Some(plan) = read_reply(&reply) {
            prop_assert!(plan.sub_questions.len() <= MOST_SUB_QUESTIONS);
        }
    }
}
