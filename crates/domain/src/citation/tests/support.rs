use proptest::prelude::*;

use crate::citation::{LexicalScorer, MissingKind, PreparedSource, SUPPORT_THRESHOLD, Support, SupportScorer};

const LEAVE: &str = "# Leave policy\n\nEvery employee gets 25 days of paid annual leave per year. Up to five days \
    may be carried over until March 31, 2024. Requests go to Marie Curie, who answers within two weeks. \
    The fee is $1,000.50 in Germany.";

fn support(claim: &str, sources: &[&str]) -> Support {
    let sources: Vec<_> = sources.iter().map(|text| PreparedSource::new(text)).collect();
    let indices: Vec<_> = (0..sources.len()).collect();
    LexicalScorer::new(&sources).support(claim, &indices)
}

#[test]
fn tells_supported_claims_from_others() {
    // (claim, whether the source supports it)
    let cases = [
        ("Every employee gets 25 days of paid annual leave per year.", true),
        ("Employees receive 25 days of annual leave each year.", true),
        ("Employees receive 30 days of annual leave each year.", false),
        // There is a 31 in the source, of March.
        ("Every employee gets 31 days of paid annual leave per year.", false),
        ("Five days can be carried over until 31 March 2024.", true),
        ("5 days can be carried over until 2024-03-31.", true),
        ("Five days can be carried over until 31 May 2024.", false),
        ("Requests are answered by Marie Curie within 2 weeks.", true),
        ("Requests are answered by Pierre Curie within two weeks.", false),
        ("The fee is 1000.5 in France.", false),
        ("The fee is $1000.5 in Germany.", true),
        ("Bananas grow on tall plants in the tropics.", false),
        // Reversed statements.
        ("Every employee does not get 25 days of paid annual leave per year.", false),
        ("Every employee gets 25 weeks of paid annual leave per year.", false),
        ("Only some employees get 25 days of paid annual leave per year.", false),
        ("Requests never go to Marie Curie, who answers within two weeks.", false),
    ];
    for (claim, expected) in cases {
        let support = support(claim, &[LEAVE]);
        assert_eq!(support.is_enough(), expected, "{claim}: {support:?}");
        assert_eq!(support.score >= SUPPORT_THRESHOLD, expected, "{claim}: {support:?}");
    }
}

#[test]
fn a_number_that_is_shared_by_chance_proves_nothing() {
    let text = "Requests are answered within ten working days. A loan laptop is yours for ten days. The archive of \
        Max Weber (1864 to 10 December 1920) is copied every night at 02:30.";
    for claim in ["Ten may be sold.", "10 may be sold.", "Up to ten days may be sold."] {
        assert!(!support(claim, &[text]).is_enough(), "{claim}: {:?}", support(claim, &[text]));
    }
    let said = ["There are ten.", "Requests take ten days.", "A laptop may be lent for ten days."];
    let dates = ["He died on December 10, 1920.", "Backups run at 02:30."];
    for claim in said.into_iter().chain(dates) {
        assert!(support(claim, &[text]).is_enough(), "{claim}: {:?}", support(claim, &[text]));
    }
}

#[test]
fn reports_what_is_missing() {
    let support = support("In 2019 the committee of Paris met in May with 25 people.", &[LEAVE]);
    let missing: Vec<_> = support.missing.iter().map(|missing| (missing.kind, missing.text.as_str())).collect();
    assert_eq!(missing, [(MissingKind::Number, "2019"), (MissingKind::Name, "Paris"), (MissingKind::Date, "May")]);
}

#[test]
fn the_context_holds_names_but_is_never_quoted() {
    let sources = [PreparedSource::with_context("Leave is 25 days.", "Handbook of Acme")];
    let support = LexicalScorer::new(&sources).support("Leave at Acme is 25 days.", &[0]);
    assert_eq!(support.missing, []);
    assert_eq!(support.quote.unwrap().text, "Leave is 25 days.");
    let support = LexicalScorer::new(&sources).support("Acme", &[0]);
    assert_eq!(support.quote, None);
}

#[test]
fn quotes_the_best_sentences() {
    let one = support("Employees get 25 days of annual leave.", &[LEAVE]).quote.unwrap();
    assert_eq!(one.text, "Every employee gets 25 days of paid annual leave per year.");
    let two = support("Employees get 25 days of annual leave and five may be carried over until March.", &[LEAVE]);
    assert!(two.quote.unwrap().text.ends_with("March 31, 2024."));
    let source = [PreparedSource::new(LEAVE).starting_at(100)];
    let shifted = LexicalScorer::new(&source).support("Employees get 25 days of annual leave.", &[0]).quote.unwrap();
    assert_eq!((shifted.text, shifted.start, shifted.end), (one.text, one.start + 100, one.end + 100));
    assert_eq!(support("Bananas grow.", &[LEAVE]).quote, None);
    assert_eq!(support("", &[LEAVE]), Support::default());
    assert_eq!(support("Bananas grow.", &[]).quote, None);
}

#[test]
fn an_overlong_sentence_is_cut_around_its_best_part() {
    let padding = "lorem ipsum dolor ".repeat(200);
    let source = format!("{padding} employees get 25 days of leave {padding}");
    let quote = support("Employees get 25 days of leave.", &[&source]).quote.unwrap();
    assert!(quote.text.len() <= 480 && quote.text.contains("employees get 25 days of leave"), "{quote:?}");
}

#[test]
fn two_sources_support_what_neither_does_alone() {
    let claim = "The leave is 25 days and the fee is 40 euros.";
    let (leave, fee) = ("The leave is 25 days.", "The fee is 40 euros.");
    assert!(support(claim, &[leave]).score < SUPPORT_THRESHOLD);
    assert!(support(claim, &[fee]).score < SUPPORT_THRESHOLD);
    assert!(support(claim, &[leave, fee]).score >= SUPPORT_THRESHOLD);
}

proptest! {
    #[test]
    fn quotes_are_exact_slices(claim in "[A-Ca-c1-3é. ]{0,60}|\\PC*", text in "([A-Ca-c1-3é.\n -]|the |25 ){0,200}|\\PC*") {
        let support = support(&claim, &[&text]);
        prop_assert!((0.0..=1.0).contains(&support.score));
        if let Some(quote) = support.quote {
            let words: String = text.chars().skip(quote.start).take(quote.end - quote.start).collect();
            prop_assert_eq!(words, quote.text);
        }
    }
}

/// Pairs of (source, claim, whether the source supports it), to read denials by.
const DENIALS: &[(&str, &str, bool)] = &[
    // Taken out and put in.
    ("Contractors may not carry over unused leave.", "Contractors may carry over unused leave.", false),
    ("Contractors may carry over unused leave.", "Contractors may not carry over unused leave.", false),
    ("Contractors may not carry over unused leave.", "Contractors may not carry over unused leave.", true),
    ("Contractors can't carry over unused leave.", "Contractors cannot carry over unused leave.", true),
    ("Contractors can’t carry over unused leave.", "Contractors can carry over unused leave.", false),
    ("Contractors never carry over unused leave.", "Contractors carry over unused leave.", false),
    ("Contractors don't carry over unused leave.", "Contractors do carry over unused leave.", false),
    ("No contractor may carry over unused leave.", "Contractors may carry over unused leave.", false),
    ("No contractor may carry over unused leave.", "Contractors may not carry over unused leave.", true),
    ("Contractors may not carry over unused leave.", "No contractor may carry over unused leave.", true),
    ("Contractors are not allowed to carry over unused leave.", "Contractors may carry over unused leave.", false),
    ("Contractors are no longer paid for travel.", "Contractors are still paid for travel.", false),
    ("Neither interns nor contractors carry over leave.", "Interns and contractors carry over leave.", false),
    ("Neither interns nor contractors carry over leave.", "Interns do not carry over leave.", true),
    ("There is no evidence that coffee causes cancer.", "Coffee causes cancer.", false),
    ("None of the interns carries over leave.", "The interns carry over leave.", false),
    ("Travel does not require approval.", "Travel requires approval.", false),
    ("Travel requires approval.", "Travel does not require approval.", false),
    // The sentence that is about the same decides.
    (
        "Employees may carry over unused leave. Contractors may not carry over unused leave.",
        "Contractors may carry over unused leave.",
        false,
    ),
    (
        "Employees may carry over unused leave. Contractors may not carry over unused leave.",
        "Employees may not carry over unused leave.",
        false,
    ),
    (
        "Employees may carry over unused leave. Contractors may not carry over unused leave.",
        "Employees may carry over unused leave.",
        true,
    ),
    (
        "Employees may carry over unused leave. Contractors may not carry over unused leave.",
        "Employees may carry over unused leave, but contractors may not carry over unused leave.",
        true,
    ),
    (
        "Employees may carry over unused leave. Contractors may not carry over unused leave.",
        "Employees may not carry over unused leave, but contractors may carry over unused leave.",
        false,
    ),
    (
        "Employees may carry over unused leave, but contractors may not.",
        "Contractors may carry over unused leave.",
        false,
    ),
    (
        "Employees may carry over unused leave, but contractors may not.",
        "Contractors may not carry over unused leave.",
        true,
    ),
    (
        "Contractors get 20 days of leave. They may not carry over unused leave.",
        "Contractors get 20 days of leave and may carry over unused leave.",
        false,
    ),
    (
        "Contractors get 20 days of leave. They may not carry over unused leave.",
        "Contractors get 20 days of leave and may not carry over unused leave.",
        true,
    ),
    (
        "The canteen opens at noon. It does not serve alcohol. The office is in Berlin.",
        "The canteen opens at noon and serves alcohol.",
        false,
    ),
    ("Contractors who do not work full time may carry over leave.", "Contractors may carry over leave.", true),
    // Words that deny nothing, or something else.
    ("Not only employees but also contractors carry over leave.", "Employees and contractors carry over leave.", true),
    ("Reports are due no later than Friday.", "Reports are due on Friday.", true),
    ("Reports are due no later than Friday.", "Reports are due later than Friday.", false),
    ("Leave is no more than 30 days a year.", "Leave is more than 30 days a year.", false),
    ("Leave is up to 30 days a year.", "Leave is no more than 30 days a year.", true),
    ("Whether or not they travel, employees keep their leave.", "Employees keep their leave.", true),
    // A line ends where the text was wrapped.
    (
        "Take the small jar if you don't\ncare what it is made of.",
        "Take the small jar if you don't care what it is made of.",
        true,
    ),
    (
        "Take the small jar if you don't\ncare what it is made of.",
        "Take the small jar if you care what it is made of.",
        false,
    ),
    // Exceptions.
    ("Leave may not be taken without approval.", "Leave may be taken with approval.", true),
    ("Leave may not be taken without approval.", "Leave may be taken without approval.", false),
    ("Leave may not be taken without approval.", "Leave may not be taken without approval.", true),
    ("Leave may be taken without approval.", "Leave may be taken with approval.", false),
    ("Leave may not be taken unless the manager approves.", "Leave may be taken if the manager approves.", true),
    ("Leave may not be taken unless the manager approves.", "Leave may be taken unless the manager approves.", false),
    ("All staff except contractors carry over leave.", "Contractors carry over leave.", false),
    ("The door may not be opened before May.", "The door may be opened before May.", false),
];

#[test]
fn days_of_the_week_are_exact() {
    let sources = [PreparedSource::new("Tuesdays are office days. Der Vorstand besteht aus fünf Personen.")];
    for (claim, expected) in [
        ("Tuesdays are office days.", true),
        ("Thursdays are office days.", false),
        ("Der Vorstand besteht aus fünf Personen.", true),
    ] {
        assert_eq!(LexicalScorer::new(&sources).support(claim, &[0]).is_enough(), expected, "{claim}");
    }
}

#[test]
fn a_denial_on_one_side_only_is_not_supported() {
    let judged = DENIALS.iter().map(|(source, claim, expected)| (source, claim, expected, support(claim, &[source])));
    let wrong: Vec<_> = judged.filter(|(.., expected, support)| support.is_enough() != **expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
