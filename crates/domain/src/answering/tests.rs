#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use proptest::prelude::*;

use super::*;
use crate::citation::{Attempt, Draft, Level, PreparedSource, Verdict, validate};
use crate::evidence::Question;
use crate::evidence::passage::PassageEvidence;
use crate::late_interaction::{Likeness, TokenLikeness};
use crate::lexical::analyzer::Analyzer;

pub(super) fn parsed(question: &str) -> Question {
    Question::new(Analyzer::english(), question, 100, |_| 5)
}

pub(super) fn answer(question: &str, texts: &[&str], cosine: Option<fn(&str) -> f32>) -> Option<ExtractiveAnswer> {
    let likeness = |text: &str| cosine.map(|cosine| Likeness::of_cosine(cosine(text)));
    answer_by(question, texts, likeness)
}

fn answer_by(question: &str, texts: &[&str], likeness: impl Fn(&str) -> Option<Likeness>) -> Option<ExtractiveAnswer> {
    let parsed = parsed(question);
    let sources: Vec<AnswerSource<'_>> = texts.iter().map(|text| AnswerSource::alone(text)).collect();
    let evidence: Vec<PassageEvidence> =
        texts.iter().map(|text| PassageEvidence::new(Analyzer::english(), &parsed.terms, "", text)).collect();
    let found = candidates(&parsed, &sources, &evidence);
    assert!(found.len() <= MAX_CANDIDATES);
    let likenesses: Option<Vec<Likeness>> = found.iter().map(|candidate| likeness(candidate.text())).collect();
    compose(&parsed, &found, likenesses.as_deref())
}

pub(super) fn text(question: &str, texts: &[&str]) -> String {
    answer(question, texts, None).map_or_else(String::new, |answer| answer.text)
}

/// The answer from a text that stands below headings.
pub(super) fn answer_below(question: &str, headings: &[&str], text: &str) -> String {
    let parsed = parsed(question);
    let heading: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    let source =
        AnswerSource { title: headings.first().unwrap_or(&""), heading: &heading, ..AnswerSource::alone(text) };
    let evidence = [PassageEvidence::new(Analyzer::english(), &parsed.terms, &heading.join(" "), text)];
    let found = candidates(&parsed, &[source], &evidence);
    compose(&parsed, &found, None).map_or_else(String::new, |answer| answer.text)
}

#[test]
fn quotes_the_sentence_that_answers() {
    let leave = "The handbook was printed in 2019. Parental leave lasts\n26 weeks. Coffee is free.";
    let other = "The pension plan is generous.";
    assert_eq!(text("How many weeks is parental leave?", &[other, leave]), "Parental leave lasts 26 weeks. [^2]");
}

#[test]
fn the_yes_or_no_under_a_question_stands_before_what_explains_it() {
    let page =
        "## Can jars be sold by post?\n\nNo.\n\nJars that are sold by post break in more than half of all parcels.";
    assert_eq!(
        text("Can jars be sold by post?", &[page]),
        "No. [^1] Jars that are sold by post break in more than half of all parcels. [^1]"
    );
    let brief = "## Can jars be sold by post?\n\nNot by itself, no. See the list of carriers that take jars by post.";
    assert!(text("Can jars be sold by post?", &[brief]).starts_with("Not by itself, no."));
}

#[test]
fn a_number_may_be_told_by_another_one() {
    let page = "By default, the press uses the same number of lids as there are jars.";
    let answer = answer("How many lids does the press use by default?", &[page], None).expect("an answer");
    assert!(answer.text.starts_with(page) && !answer.lacks_kind, "{answer:?}");
}

#[test]
fn the_number_of_an_issue_counts_nothing() {
    let lacks = |page: &str| answer("How many lids does the press use?", &[page], None).expect("an answer").lacks_kind;
    assert!(lacks("The lids that the press uses are of tin (see #4250)."));
    assert!(!lacks("The press uses 40 lids (see #4250)."));
}

#[test]
fn gives_the_range_of_each_quote() {
    let leave = "Hello there, reader. Parental leave lasts\n26 weeks.";
    let answer = answer("How long is parental leave?", &[leave], None).unwrap();
    assert_eq!(&leave[answer.sentences[0].range.clone()], "Parental leave lasts\n26 weeks.");
    assert_eq!(answer.sentences[0].source, 0);
}

#[test]
fn brings_the_sentence_that_a_pronoun_points_back_at() {
    let curie = "Marie Curie was born in Warsaw in 1867. She won the Nobel Prize in Physics in 1903.";
    let answer = answer("Who won the Nobel Prize in Physics in 1903?", &[curie], None).unwrap();
    assert_eq!(
        answer.text,
        "Marie Curie was born in Warsaw in 1867. [^1] She won the Nobel Prize in Physics in 1903. [^1]"
    );
    assert!(answer.sentences[0].is_context && !answer.sentences[1].is_context);
}

#[test]
fn what_names_its_subject_comes_before_what_points_at_it() {
    let scripts = "```\nfill\nseal\n```\n\nThese all run after the actual filling of the jar folder, in order.\n\nIf there is a jar folder already, it is removed before jar fill begins.";
    let said = text("What happens to the jar folder when I run jar fill?", &[scripts]);
    assert!(said.starts_with("If there is a jar folder"), "{said}");
}

#[test]
fn prefers_the_kind_of_thing_asked_for() {
    let castle = "The construction of the castle was a matter of pride. The castle, whose construction was slow, opened in 1432 to visitors.";
    assert!(text("When was the construction of the castle?", &[castle]).contains("1432"));
}

#[test]
fn drops_what_was_said_already() {
    let one = "Parental leave lasts 26 weeks.";
    let two = "Parental leave lasts 26 full weeks.";
    assert_eq!(text("How long is parental leave?", &[one, two]).matches("[^").count(), 1);
}

#[test]
fn leaves_out_what_only_touches_the_subject() {
    let leave = "Parental leave lasts 26 weeks. The canteen was rebuilt. The form for parental leave is blue.";
    assert_eq!(text("How many weeks does parental leave last?", &[leave]), "Parental leave lasts 26 weeks. [^1]");
}

#[test]
fn answers_a_question_for_one_thing_from_one_source() {
    let (leave, plan) = ("Parental leave lasts 26 weeks.", "Parental leave of the Berlin office lasts 30 weeks.");
    assert_eq!(text("How many weeks does parental leave last?", &[leave, plan]).matches("[^").count(), 1);
}

#[test]
fn quotes_lists_for_those_who_ask_for_one() {
    let fees = "The fees are due on arrival. The fees are the visa fee, the stamp fee and the courier fee.";
    assert!(text("What are the fees?", &[fees]).contains("courier"));
}

/// Number of parts that an answer names as missing from the sources.
fn lacking(answer: &ExtractiveAnswer) -> usize {
    answer.text.matches("None of the passages answers").count()
}

#[test]
fn answers_each_part_or_names_what_is_missing() {
    let acme = "Acme was founded in Leeds in 1952. The canteen of Acme is blue.";
    let founder = "The company owes its founder, Ada Byron, a great deal. Ada Byron started the company alone.";
    let question = "When was Acme founded and who started the company?";
    let both = answer(question, &[acme, founder], None).unwrap();
    assert!(both.text.contains("1952. [^1]") && both.text.contains("Ada Byron") && lacking(&both) == 0, "{both:?}");
    let one = answer(question, &[acme], None).unwrap();
    assert_eq!(lacking(&one), 1, "{one:?}");
    let named = answer(
        "How long is annual leave, and who repairs broken laptops?",
        &["Annual leave is 28 days.", "Mira repairs broken laptops in the workshop."],
        None,
    )
    .unwrap();
    assert!(named.text.contains("Mira") && lacking(&named) == 0, "a name may begin a sentence: {named:?}");
    assert!(
        one.text.ends_with("\n\nNone of the passages answers “who started the company” in one sentence."),
        "{}",
        one.text
    );
}

#[test]
fn what_stands_around_a_sentence_counts_for_its_part() {
    let question = "How many days of annual leave can I carry over, and when do they lapse?";
    let parsed = Question::new(Analyzer::english(), question, 100, |term| if term == "annual" { 1 } else { 20 });
    let text = "You can carry over up to five unused days into the next year. Carried days must be taken by 31 March; \
                after that they lapse.";
    let source = AnswerSource { title: "Annual leave", ..AnswerSource::alone(text) };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, source.title, text);
    let answer = compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).unwrap();
    assert!(answer.text.contains("five unused days") && answer.text.contains("31 March"), "{answer:?}");
    assert_eq!(lacking(&answer), 0, "{answer:?}");
}

#[test]
fn compares_or_says_what_it_cannot_compare() {
    let plans = "The Basic plan costs 5 euros. The Premium plan costs 9 euros and has support.";
    let question = "What is the difference between the Basic plan and the Premium plan?";
    let both = text(question, &[plans]);
    assert!(both.contains("5 euros") && both.contains("9 euros"), "{both}");
    let one = text("What is the difference between the Basic plan and the Enterprise plan?", &[plans]);
    assert!(
        one.contains("5 euros") && one.ends_with("The sources do not say anything about the Enterprise plan."),
        "{one}"
    );
}

#[test]
fn cosines_decide_among_equal_words() {
    let texts = ["The leave policy mentions holidays of all sorts.", "The leave policy grants five free weeks."];
    let cosine: fn(&str) -> f32 = |text| if text.contains("grants") { 0.8 } else { 0.1 };
    let answer = answer("What is the leave policy?", &texts, Some(cosine)).unwrap();
    assert_eq!(answer.sentences[0].source, 1);
}

#[test]
fn the_vectors_of_tokens_decide_where_they_are_known() {
    let texts = ["The leave policy mentions holidays of all sorts.", "The leave policy grants five free weeks."];
    let tokens = |least| TokenLikeness { mean: 0.6, least, opening: 0.3, opening_mean: 0.1 };
    for (nearer, source) in [("mentions", 0), ("grants", 1)] {
        let likeness = |text: &str| {
            let is_nearer = text.contains(nearer);
            // The cosine says the opposite, and does not count.
            let cosine = if is_nearer { 0.4 } else { 0.8 };
            Some(Likeness { cosine, tokens: Some(tokens(if is_nearer { 0.6 } else { 0.1 })) })
        };
        let answer = answer_by("What is the leave policy?", &texts, likeness).unwrap();
        assert_eq!(answer.sentences[0].source, source);
        assert!(answer.features.tokens.is_some_and(|tokens| tokens.least > 0.5));
    }
}

#[test]
fn the_title_of_the_document_is_embedded_with_the_sentence() {
    let parsed = parsed("How long is parental leave?");
    let text = "It is 26 weeks of leave.";
    let source = AnswerSource { title: "Parental leave", ..AnswerSource::alone(text) };
    for (source, expected) in [(source, "Parental leave: It is 26 weeks of leave."), (AnswerSource::alone(text), text)]
    {
        let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, source.title, text);
        let found = candidates(&parsed, &[source], &[evidence]);
        assert_eq!((found[0].embedded(), found[0].text()), (expected, text));
    }
}

#[test]
fn says_nothing_without_evidence() {
    assert_eq!(answer("How long is parental leave?", &["Coffee is free for everybody."], None), None);
    assert_eq!(answer("How long is parental leave?", &[], None), None);
    let distant: fn(&str) -> f32 = |_| 0.1;
    assert_eq!(answer("How long is parental leave?", &["Coffee is free for everybody."], Some(distant)), None);
}

#[test]
fn strips_markup_and_escapes_markers() {
    let rows = [
        ("## Leave\n\n- Parental leave lasts 26 weeks [^4].", "Parental leave lasts 26 weeks \\[^4]. [^1]"),
        ("> Parental leave lasts 26 weeks \\[^4].", "Parental leave lasts 26 weeks \\[^4]. [^1]"),
        ("Parental leave lasts 26 weeks \\\\[^4].", "Parental leave lasts 26 weeks \\\\\\[^4]. [^1]"),
        ("Parental leave lasts 26 weeks \\", "Parental leave lasts 26 weeks \\\\ [^1]"),
        ("| a | b |\n|---|---|\n| Parental leave | 26 weeks |", "a: Parental leave | b: 26 weeks [^1]"),
        ("```\nparental leave = 26 weeks\n```", ""),
        ("How long is parental leave, one may ask?", ""),
    ];
    for (source, expected) in rows {
        assert_eq!(text("How long is parental leave?", &[source]), expected, "{source:?}");
    }
}

#[test]
fn answers_from_a_table_are_single_rows_with_the_names_of_their_columns() {
    let question = "What is Bob's phone number?";
    let row = |name: &str, number: u8| format!("| {name} | 555-01{number:02} |\n");
    let rows = format!("{}{}{}", row("Ann", 1), row("Bob", 2), row("Cyd", 3));
    let table = format!("Our people:\n\n| Name | Phone number |\n|---|---|\n{rows}");
    let expected = "Name: Bob | Phone number: 555-0102 [^1]";
    assert_eq!(text(question, &[&table]), expected);
    let labelled = "| name: Ann | phone: 555-0101 |\n| name: Bob | phone: 555-0102 |\n| name: Cyd | phone: 555-0103 |";
    assert_eq!(text(question, &[labelled]), "name: Bob | phone: 555-0102 [^1]");

    let parsed = parsed(question);
    let header = "Our people:\n| Name | Phone number |";
    let source = AnswerSource { table_header: Some(header), ..AnswerSource::alone(&rows) };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, header, &rows);
    let answer = compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).expect("an answer");
    assert_eq!(answer.text, expected);
}

#[test]
fn the_row_of_another_number_is_not_added() {
    let page = "| severity | acknowledge within |\n|---|---|\n| SEV2 | 15 minutes |\n\n\
        The primary acknowledges a SEV1 page within 5 minutes.";
    let near = |sentence: &str| if sentence.contains("SEV2") { 0.95 } else { 0.5 };
    let answer = answer("How fast must a SEV1 be acknowledged?", &[page], Some(near)).expect("an answer");
    assert!(answer.text.contains("within 5 minutes") && !answer.text.contains("SEV2"), "{}", answer.text);
}

#[test]
fn a_row_is_about_what_its_first_cell_names() {
    let rows = "| Ann | 2016 | Dora Dale |\n| Dora Dale | 2012 |  |\n| Eli | 2018 | Dora Dale |\n";
    let table = format!("Our people:\n\n| Name | Joined | Mentor |\n|---|---|---|\n{rows}");
    assert_eq!(text("When did Dora Dale join?", &[&table]), "Name: Dora Dale | Joined: 2012 [^1]");
}

#[test]
fn a_default_is_told_with_its_entry() {
    let settings = "SleepSec=\n    The time between two rounds. Takes a number of seconds. Defaults to 100ms.\n\n\
        StopSec=\n    The time to wait for the end. Takes a number of seconds. Defaults to 90s.\n";
    let stop = text("What is the default of StopSec?", &[settings]);
    assert_eq!(stop, "StopSec= The time to wait for the end. [^1] Defaults to 90s. [^1]");
    assert!(text("How long is SleepSec by default?", &[settings]).ends_with("Defaults to 100ms. [^1]"));
}

#[test]
fn a_time_is_told_from_other_numbers() {
    let office = "The office is at 18 Tarn Street, see office(5). The office opens at 06:30. The office has 20 desks.";
    assert_eq!(text("When does the office open?", &[office]), "The office opens at 06:30. [^1]");
    assert_eq!(text("What is the number of desks of the office?", &[office]), "The office has 20 desks. [^1]");
}

#[test]
fn an_option_is_answered_by_its_entry() {
    let page = "TAR(1)  GNU TAR Manual  TAR(1)\n\n       The option -z of tar is old, and the options of tar do a lot.\n\n       -Z, --compress\n              Filter the archive through compress.\n\n       -z, --gzip, --gunzip\n              Filter the archive through gzip.\n";
    let found = text("What does the option -z of tar do?", &[page]);
    assert_eq!(found, "-z, --gzip, --gunzip Filter the archive through gzip. [^1]");
}

#[test]
fn numbers_and_definitions_are_about_what_is_asked() {
    let page = "The weeks of parental leave are many weeks of leave for each parent.\n\nParental leave: 26 weeks.";
    assert_eq!(text("How many weeks of parental leave?", &[page]), "Parental leave: 26 weeks. [^1]");
    let page = "The meaning of leave is a holiday, which means what it means.\n\nSome sabbatical follows.";
    assert_eq!(text("What does sabbatical mean?", &[page]), "Some sabbatical follows. [^1]");
}

#[test]
fn a_short_yes_comes_with_its_sentence() {
    let page = "1. Is parental leave paid?\n\nYes. However, parental leave lasts 26 weeks only.";
    let found = text("Is parental leave paid?", &[page]);
    assert_eq!(found, "Yes. [^1] However, parental leave lasts 26 weeks only. [^1]");
}

#[test]
fn a_sentence_that_begins_before_its_passage_is_not_quoted() {
    let parsed = parsed("How many weeks is parental leave?");
    let rest = "weeks of parental leave are paid. Parental leave lasts 26 weeks.";
    let alone = AnswerSource::alone(rest);
    let later = AnswerSource { key: ChunkKey { ordinal: 3, ..alone.key }, ..alone };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "", rest);
    let answer = compose(&parsed, &candidates(&parsed, &[later], &[evidence]), None).expect("an answer");
    assert_eq!(answer.text, "Parental leave lasts 26 weeks. [^1]");
}

#[test]
fn the_heading_on_the_line_before_is_not_quoted() {
    let page = "DESCRIPTION\n       Parental leave lasts 26 weeks.\n\nLeave\nAnnual leave lasts 5 weeks.";
    assert_eq!(text("How many weeks is parental leave?", &[page]), "Parental leave lasts 26 weeks. [^1]");
    let parsed = parsed("How long is annual leave?");
    let heading = ["Leave".to_owned()];
    let source = AnswerSource { heading: &heading, ..AnswerSource::alone("Leave\nAnnual leave lasts 5 weeks.") };
    let evidence = PassageEvidence::new(Analyzer::english(), &parsed.terms, "", source.text);
    let answer = compose(&parsed, &candidates(&parsed, &[source], &[evidence]), None).expect("an answer");
    assert_eq!(answer.text, "Annual leave lasts 5 weeks. [^1]");
}

#[test]
fn titles_and_lead_ins_are_no_answers() {
    let page = "The Printers Of Parental Leave\n\nThe weeks of parental leave:\n\nIt lasts for half a year.";
    assert_eq!(text("How many weeks of parental leave?", &[page]), "");
}

#[test]
fn is_bounded() {
    let long = "Parental leave lasts 26 weeks here. ".repeat(500);
    let answer = answer("How long is parental leave?", &[&long], None).unwrap();
    assert_eq!(answer.sentences.len(), 1);
}

pub(super) fn hostile_source() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "Parental leave lasts 26 weeks",
        "leave",
        "weeks of parental leave",
        ". ",
        "! ",
        "? ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "# ",
        "> ",
        "| ",
        "|---|",
        "```",
        "~~~",
        "`",
        "[^1]",
        "[^9]",
        "[^",
        "]",
        "\\",
        "[",
        "^",
        "He ",
        "It was 1990",
        "e.g. ",
        "Dr. ",
        "\"",
        ")",
        "…",
        "你好。",
        " ",
        "\t",
        ":",
        "* ",
        "**",
        "<b>",
        "=== ",
        "---",
        "\u{200b}",
        "&",
        "no source says",
    ]);
    prop_oneof![
        4 => prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// The validator accepts every answer at its default level, by construction, for any sources.
    #[test]
    fn every_answer_is_accepted(
        sources in prop::collection::vec(hostile_source(), 1..4),
        question in prop::sample::select(vec!["How long is parental leave and who grants weeks?", "Compare leave with weeks", "How long is parental leave?", "When was it?", "Who said leave?", "你好 leave"]),
        cosine in prop::sample::select(vec![None, Some((|_| 0.9) as fn(&str) -> f32)]),
    ) {
        let texts: Vec<&str> = sources.iter().map(String::as_str).collect();
        if let Some(answer) = answer(question, &texts, cosine) {
            let prepared: Vec<PreparedSource> = texts.iter().map(|text| PreparedSource::new(text)).collect();
            let draft = Draft::new(answer.text.clone(), &prepared);
            let verdict = validate(&draft, Level::Cited, Attempt::First);
            prop_assert!(matches!(verdict, Verdict::Accept(_)), "{:?}: {verdict:?}", answer.text);
            for sentence in &answer.sentences {
                prop_assert!(texts[sentence.source].get(sentence.range.clone()).is_some());
            }
        }
    }
}
