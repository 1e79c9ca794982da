use super::*;

fn question(answers: &[&str], gold: &[&str]) -> SetQuestion {
    SetQuestion {
        id: "q".to_owned(),
        text: "which tea?".to_owned(),
        answers: answers.iter().map(|&answer| answer.to_owned()).collect(),
        spans: Vec::new(),
        is_answerable: !gold.is_empty(),
        gold_documents: gold.iter().map(|&document| document.to_owned()).collect(),
    }
}

/// Of the sources the first is graded correct.
fn reply(end: ReplyEnd, sources: &[(&str, &str)]) -> Reply {
    let seen = |(place, &(document, text)): (usize, &(&str, &str))| SourceSeen {
        document: document.to_owned(),
        title: String::new(),
        table_header: None,
        text: text.to_owned(),
        grade: Some(if place == 0 { Grade::Correct } else { Grade::Ambiguous }),
        probability: None,
        is_doubtful: None,
    };
    let answerability = if matches!(end, ReplyEnd::Abstained) { 0.25 } else { 0.75 };
    let sources = sources.iter().enumerate().map(seen).collect();
    Reply { end, sources, duration_ms: 4.0, llm_calls: 1, cost_usd: 0.5, answerability: Some(answerability) }
}

fn answered(text: &str) -> ReplyEnd {
    ReplyEnd::Answered(text.to_owned())
}

#[test]
fn each_share_has_its_denominator() {
    let green = question(&["green tea"], &["d1", "d2"]);
    let never = question(&[], &[]);
    let tea = "The guests drink green tea.";
    let found = ["x".to_owned(), "d1".to_owned()];
    let asked = [
        QuestionFigures::of(
            &green,
            &found,
            &reply(answered("The guests drink green tea [^1][^2]."), &[("d1", tea), ("x", "Oats grow in the field.")]),
        ),
        QuestionFigures::of(
            &green,
            &found,
            &reply(
                answered("The guests drink milk [^1][^2]."),
                &[("d1", "The guests drink milk."), ("d2", "Oats grow in the field."), ("d3", tea)],
            ),
        ),
        QuestionFigures::of(&green, &[], &reply(ReplyEnd::Abstained, &[("d", "Oats.")])),
        QuestionFigures::of(&green, &found, &reply(ReplyEnd::Rejected, &[("d", tea)])),
        QuestionFigures::of(&never, &found, &reply(ReplyEnd::Abstained, &[("d", "Oats.")])),
        QuestionFigures::of(
            &never,
            &found,
            &reply(answered("Barley grows in the field [^1]."), &[("d", "Rye is mown in autumn.")]),
        ),
    ];
    let figures = AnswerFigures::of(&asked);
    let third = Some(1.0 / 3.0);
    let expected = AnswerFigures {
        questions: 6,
        answerable: 4,
        unanswerable: 2,
        first_source_holds_answer: Some(0.5),
        first_five_hold_answer: Some(0.75),
        gold_found: Some(0.75),
        answered_from_gold: Some(0.5),
        answered_from_gold_of_found: Some(2.0 / 3.0),
        answered: Some(0.5),
        given_passages: Some(0.0),
        answer_holds_answer: Some(0.25),
        given_answer_holds_answer: Some(0.5),
        abstention_precision: Some(0.5),
        abstention_recall: Some(0.5),
        near_miss_auc: Some(0.625),
        citation_precision: Some(0.75),
        citation_recall: Some(0.75),
        claims_per_answer: Some(1.0),
        claim_citation_recall: Some(2.0 / 3.0),
        claim_citation_precision: Some(0.4),
        // How it is measured has its own tests.
        support: figures.support,
        // Right are both of the first question and two of the second: the answer stands in no document of theirs.
        grader_accuracy: Some(4.0 / 9.0),
        grader_gold_above_hardest: None,
        grader_calibration_error: None,
        grader_doubtful: None,
        accuracy_at_coverage: [Some(1.0), Some(0.5), Some(0.5), third, third, None, None, None, None, None],
        rejected: 1,
        timed_out: 0,
        mean_ms: Some(4.0),
        llm_calls_per_ask: Some(1.0),
        cost_usd_per_ask: Some(0.5),
    };
    assert_eq!(figures, expected);
}

#[test]
fn passages_cite_and_are_no_answer() {
    let green = question(&["green"], &["d"]);
    let given = reply(ReplyEnd::Passages("Barley is green [^1].".to_owned()), &[("d", "Barley is green.")]);
    let figures = AnswerFigures::of(&[QuestionFigures::of(&green, &["d".to_owned()], &given)]);
    assert_eq!((figures.answered, figures.given_passages), (Some(0.0), Some(1.0)));
    assert_eq!((figures.answer_holds_answer, figures.answered_from_gold), (Some(0.0), Some(1.0)));
}

#[test]
fn without_cases_there_is_no_figure() {
    let unlabelled = question(&[], &["d"]);
    let figures = AnswerFigures::of(&[QuestionFigures::of(&unlabelled, &[], &reply(ReplyEnd::TimedOut, &[]))]);
    assert_eq!(figures.first_source_holds_answer, None);
    assert_eq!(figures.answer_holds_answer, None);
    assert_eq!(figures.abstention_precision, None);
    assert_eq!(figures.abstention_recall, None);
    assert_eq!((figures.grader_accuracy, figures.claim_citation_recall), (None, None));
    assert_eq!(figures.accuracy_at_coverage, [None; CURVE_POINTS]);
    assert_eq!((figures.answered, figures.timed_out), (Some(0.0), 1));
    assert_eq!(OffCorpusFigures::of(&[], &[]).abstained, None);
    let green = question(&["green tea"], &["d"]);
    let own = [QuestionFigures::of(&green, &[], &reply(answered("Green tea [^1]."), &[("d", "Green tea.")]))];
    let foreign = OffCorpusFigures::of(&[reply(ReplyEnd::Abstained, &[]), reply(ReplyEnd::Rejected, &[])], &own);
    assert_eq!((foreign.abstained, foreign.auc), (Some(0.5), Some(0.75)));
}
