use proptest::prelude::*;

use super::*;

/// The verdicts as letters: `c`, `a`, `i`.
fn letters(reply: &str, sources: usize) -> String {
    read(reply, sources).iter().filter_map(|verdict| verdict.grade.as_str().chars().next()).collect()
}

#[test]
fn reads_every_shape() {
    let rows = [
        ("as asked", "1: correct - states it\n2: incorrect - other town\n3: ambiguous", "cia"),
        (
            "fenced, with preamble",
            "Here you go:\n```\n1: correct\n2: incorrect\n3: incorrect\n```\nHope it helps.",
            "cii",
        ),
        ("bullets and bold", "- **Source 1**: Correct\n- **Source 2**: Incorrect\n- **Source 3**: Incorrect.", "cii"),
        ("upside down", "3) correct\n2) incorrect\n1) AMBIGUOUS", "aic"),
        ("markers", "[^1] correct\n[^2] incorrect\n[3]: correct", "cic"),
        ("json object", r#"{"1": "correct", "2": "incorrect", "3": "ambiguous"}"#, "cia"),
        ("json list", r#"["incorrect", "correct", "incorrect"]"#, "ici"),
        (
            "json objects",
            r#"[{"source": 3, "grade": "correct", "reason": "x"}, {"source": 1, "grade": "incorrect"}]"#,
            "iac",
        ),
        ("json nested", "```json\n{\"grades\": [{\"id\": \"source 2\", \"verdict\": \"Correct\"}]}\n```", "aca"),
        (
            "json lines",
            "{\"id\":1,\"grade\":\"correct\"}\n{\"id\":2,\"grade\":\"incorrect\"}\n{\"id\":3,\"grade\":\"correct\"}",
            "cic",
        ),
        ("json keyed by name", r#"{"source_1": {"grade": "correct"}, "source_2": {"grade": "incorrect"}}"#, "cia"),
        ("broken json", "{\"1\": \"correct\", \"2\": \"incorr", "caa"),
        ("all on one line", "1: correct, 2: incorrect; 3: correct", "cic"),
        ("a list in a reason", "1: correct - names 2, 3 and 4\n2: incorrect, 3 is better\n3: correct", "cic"),
        ("no numbers", "correct\nincorrect\nambiguous", "cia"),
        ("no numbers, wrong count", "correct\nincorrect", "aaa"),
        ("two lines each", "Source 1:\nincorrect, since...\nSource 2:\ncorrect\nSource 3:\nincorrect", "ici"),
        ("one word for all", "Incorrect.", "iii"),
        ("prose", "All of them look correct to me, or at least not wrong.", "aaa"),
        ("missing one", "1: correct\n3: correct", "cac"),
        ("number out of range", "1: correct\n4: correct\n0: correct\n99999999999999999999999: correct", "caa"),
        ("said twice", "1: incorrect\n2: incorrect\n3: incorrect\n\n1: correct would need a date", "iii"),
        ("negated", "1: not correct\n2: irrelevant\n3: partially relevant", "iia"),
        ("begins with its grade", "1: correct - the date included\n2: hardly correct, rather incorrect\n3: ???", "cia"),
        (
            "takes its grade back",
            "1: correct - though the date is incorrect\n2: correct, but only in part\n3: correct. No.",
            "aaa",
        ),
        ("nothing", "", "aaa"),
        ("table", "| 1 | correct |\n|---|---|\n| 2 | incorrect |\n| 3 | correct |", "cic"),
    ];
    for (name, reply, expected) in rows {
        assert_eq!(letters(reply, 3), expected, "{name}");
    }
}

#[test]
fn a_single_source_may_be_graded_in_prose() {
    assert_eq!(letters("The passage is incorrect, not correct.", 1), "i");
    assert_eq!(letters("Yes, it is relevant.", 1), "c");
    assert_eq!(letters("maybe", 1), "a");
    assert_eq!(letters("1: correct", 0), "");
}

#[test]
fn keeps_the_reason() {
    let verdicts = read("1: correct - states the opening date.\n2: incorrect", 3);
    let reasons: Vec<&str> = verdicts.iter().map(|verdict| verdict.reason.as_str()).collect();
    assert_eq!(reasons, ["states the opening date", "", "the reply does not grade this source"]);
    assert!(verdicts.iter().all(|verdict| verdict.probability.is_none()));
    assert!(read(&format!("1: correct - {}", "é".repeat(900)), 1)[0].reason.chars().count() <= 200);
}

proptest! {
    #[test]
    fn any_reply_gives_one_verdict_per_source(reply in any::<String>(), sources in 0usize..20) {
        prop_assert_eq!(read(&reply, sources).len(), sources);
    }

    #[test]
    fn pieces_of_replies_are_harmless(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "1", ":", "correct", "incorrect", "\n", "{", "}", "[", "]", "\"", ",", "source", " ", "é", "```", "2", "not",
        ]), 0..40),
        sources in 0usize..4,
    ) {
        prop_assert_eq!(read(&pieces.concat(), sources).len(), sources);
    }

    #[test]
    fn what_is_written_as_asked_is_read_back(grades in prop::collection::vec(0usize..3, 1..20)) {
        let all = [Grade::Incorrect, Grade::Ambiguous, Grade::Correct];
        let reply: String = grades.iter().enumerate()
            .map(|(index, grade)| format!("{}: {} - because\n", index + 1, all[*grade].as_str())).collect();
        let read: Vec<Grade> = read(&reply, grades.len()).into_iter().map(|verdict| verdict.grade).collect();
        prop_assert_eq!(read, grades.iter().map(|grade| all[*grade]).collect::<Vec<_>>());
    }
}
