use crate::citation::{
    Attempt, Attribution, Basis, ClaimVerdict, Contradiction, ContradictionKind, Draft, ErrorKind, Level,
    LexicalScorer, PreparedSource, Ruling, SupportScorer, Verdict, validate,
};

const LEAVE: &str = "Employees get 25 days of paid leave a year. The Oslo office opened in 1998 with eleven employees. \
    Interns may not carry over unused leave. Energy costs of the Oslo office increased last year. Anna Berg leads the \
    Turku office. The report is due on 3 March.";

fn contradiction(claim: &str) -> Option<Contradiction> {
    LexicalScorer::new(&[PreparedSource::new(LEAVE)]).support(claim, &[0]).contradiction
}

#[test]
fn another_value_in_the_same_frame_contradicts() {
    let cases = [
        ("Employees get 30 days of paid leave a year.", ContradictionKind::Number, "25 days"),
        ("The Oslo office opened in 1989 with eleven employees.", ContradictionKind::Date, "1998"),
        ("The report is due on 3 May.", ContradictionKind::Date, "March"),
        ("Anna Berg leads the Paris office.", ContradictionKind::Name, "Turku"),
        ("Interns may carry over unused leave.", ContradictionKind::Denial, "may not carry"),
        ("Employees do not get 25 days of paid leave a year.", ContradictionKind::Denial, "25 days"),
        ("Energy costs of the Oslo office decreased last year.", ContradictionKind::Opposite, "increased"),
    ];
    for (claim, kind, words) in cases {
        let found = contradiction(claim).unwrap_or_else(|| panic!("nothing contradicts {claim:?}"));
        assert_eq!((found.kind, found.source_index), (kind, 0), "{claim}");
        assert!(found.quote.text.contains(words), "{claim}: {:?}", found.quote);
        assert_eq!(LEAVE.get(found.quote.start..found.quote.end), Some(found.quote.text.as_str()), "{claim}");
    }
}

#[test]
fn other_words_do_not_contradict() {
    let cases = [
        // Said so.
        "Employees get 25 days of paid leave a year.",
        "Interns may not carry over unused leave.",
        // About something else.
        "Contractors pay 30 euros for parking.",
        "The canteen opened in 1989.",
        "Carl Dahl founded the Paris choir.",
        "Bananas grow on tall plants.",
        // Rounded, or a reference mark.
        "The Oslo office opened in 1998 with eleven employees [7].",
        // Of another unit.
        "Employees get 30 euros of paid leave a year.",
    ];
    for claim in cases {
        assert_eq!(contradiction(claim), None, "{claim}");
    }
}

#[test]
fn a_number_that_may_be_rounded_does_not_contradict() {
    let source = [PreparedSource::new("The lake covers 1987 km of the northern county.")];
    let of = |claim: &str| LexicalScorer::new(&source).support(claim, &[0]).contradiction.map(|found| found.kind);
    assert_eq!(of("The lake covers 2000 km of the northern county."), None);
    assert_eq!(of("The lake covers 2500 km of the northern county."), Some(ContradictionKind::Number));
}

#[test]
fn a_source_that_holds_the_value_of_something_else_hides_no_contradiction() {
    let sources = [
        PreparedSource::new("The notice period is 30 days. Everyone has a badge."),
        PreparedSource::new("Everyone has 28 days of paid annual leave."),
    ];
    let support = LexicalScorer::new(&sources).support("Everyone has 30 days of annual leave.", &[0, 1]);
    let found = support.contradiction.as_ref().expect("the second source says 28");
    assert_eq!((found.kind, found.source_index), (ContradictionKind::Number, 1));
    assert_eq!(support.verdict(), ClaimVerdict::Contradicted);
    let agreeing = [sources[1].clone(), PreparedSource::new("Everyone has 20 days of annual leave in Oslo.")];
    let support = LexicalScorer::new(&agreeing).support("Everyone has 28 days of paid annual leave.", &[0, 1]);
    assert_eq!((support.verdict(), support.contradiction), (ClaimVerdict::Supported, None));
}

#[test]
fn the_fault_says_that_and_by_which_words_a_claim_is_contradicted() {
    let text = "Employees get 30 days of paid leave a year [^2]. Contractors pay 30 euros for parking [^2].";
    let sources = [PreparedSource::new("Nothing of the kind."), PreparedSource::new(LEAVE).starting_at(1000)];
    let draft = Draft::new(text, &sources);
    let Verdict::Reject(faults) = validate(&draft, Level::Supported, Attempt::Retry) else { panic!("it passed") };
    let verdicts: Vec<_> = faults.iter().map(|fault| (fault.kind, fault.verdict)).collect();
    let unsupported = ErrorKind::UnsupportedClaim;
    assert_eq!(
        verdicts,
        [(unsupported, Some(ClaimVerdict::Contradicted)), (unsupported, Some(ClaimVerdict::Unsupported))]
    );
    let found = faults[0].contradiction.as_ref().expect("the words");
    assert_eq!((found.source_index, found.quote.start), (1, 1000));
    assert!(faults[0].detail.starts_with("[^2] contradicts this statement: it has another number"), "{:?}", faults[0]);
    assert_eq!(faults[1].contradiction, None);
}

#[test]
fn without_markers_the_source_that_supports_a_claim_best_is_its_own() {
    let basis = Basis::new(vec![PreparedSource::new("Parking costs 9 euros a day."), PreparedSource::new(LEAVE)], "");
    let text = "Employees get 25 days of paid leave a year. Parking costs 9 euros a day. Parking costs 12 euros a day. \
        Whales sing.";
    let draft = Draft::read(text, &basis, Attribution::Best);
    let checked = draft.checked_claims(&basis);
    let verdicts: Vec<_> = checked.iter().map(|checked| checked.claim.verdict).collect();
    let (supported, unsupported) = (ClaimVerdict::Supported, ClaimVerdict::Unsupported);
    assert_eq!(verdicts, [supported, supported, ClaimVerdict::Contradicted, unsupported]);
    let sources: Vec<_> = checked.iter().map(|checked| checked.citations[0].source_index).collect();
    assert_eq!(sources[..3], [1, 0, 0]);
    assert_eq!(
        checked[1].citations[0].quote.as_ref().map(|quote| quote.text.as_str()),
        Some("Parking costs 9 euros a day.")
    );
    let end = checked[1].claim.span.end;
    assert_eq!((checked[1].citations[0].span.start, checked[1].citations[0].span.end), (end, end));
    assert!(checked[2].contradiction.is_some() && checked[3].contradiction.is_none());
    let Verdict::Reject(faults) = validate(&draft, Level::Supported, Attempt::Retry) else { panic!("it passed") };
    assert!(faults.iter().all(|fault| fault.kind == ErrorKind::UnsupportedClaim) && faults.len() == 2, "{faults:?}");
}

#[test]
fn without_support_the_source_that_is_about_the_same_contradicts_the_claim() {
    let (backups, abroad) = (
        "The database is backed up every night at 03:00. Backups are kept for 35 days.",
        "You may work from another country of the European Economic Area for up to 30 days a year.",
    );
    let claim = "Backups are kept for 30 days.";
    for texts in [[backups, abroad], [abroad, backups]] {
        let basis = Basis::new(texts.map(PreparedSource::new).into(), "");
        let checked = Draft::read(claim, &basis, Attribution::Best).checked_claims(&basis);
        assert_eq!(checked[0].claim.verdict, ClaimVerdict::Contradicted, "{checked:?}");
        let words = checked[0].contradiction.as_ref().map(|found| found.quote.text.as_str());
        assert_eq!(words, Some("Backups are kept for 35 days."));
    }
    let basis = Basis::new(vec![PreparedSource::new(abroad)], "");
    let checked = Draft::read(claim, &basis, Attribution::Best).checked_claims(&basis);
    assert_eq!(checked[0].claim.verdict, ClaimVerdict::Unsupported);
}

#[test]
fn without_any_source_every_claim_is_unsupported() {
    let basis = Basis::new(Vec::new(), "");
    let draft = Draft::read("Whales sing.", &basis, Attribution::Best);
    let checked = draft.checked_claims(&basis);
    assert_eq!((checked[0].claim.verdict, checked[0].citations.len()), (ClaimVerdict::Unsupported, 0));
    let Verdict::Reject(faults) = validate(&draft, Level::Supported, Attempt::Retry) else { panic!("it passed") };
    assert!(faults[0].detail.starts_with("no source supports this statement"), "{faults:?}");
    assert!(matches!(
        validate(&Draft::read("What is a whale?", &basis, Attribution::Best), Level::Supported, Attempt::Retry),
        Verdict::Accept(_)
    ));
}

#[test]
fn with_markers_a_claim_has_the_sources_that_cover_it() {
    let basis = Basis::new(vec![PreparedSource::new(LEAVE), PreparedSource::new("Parking costs 9 euros a day.")], "");
    let text = "Employees get 25 days of paid leave a year. Interns may not carry over unused leave [^1]. Parking costs 9 \
        euros a day.";
    let checked = Draft::over(text, &basis).checked_claims(&basis);
    let of = |place: usize| {
        let checked = &checked[place];
        let citation = checked.citations.first().map(|citation| (citation.marker, citation.quote.is_some()));
        (checked.claim.verdict, checked.claim.markers.clone(), citation)
    };
    assert_eq!(of(0), (ClaimVerdict::Supported, vec![1], Some((1, true))), "a later marker covers it");
    assert_eq!(of(1), (ClaimVerdict::Supported, vec![1], Some((1, true))));
    assert_eq!(of(2), (ClaimVerdict::Unsupported, vec![], None), "another source holds it, which it does not cite");
}

#[test]
fn a_model_may_find_that_the_opposite_word_contradicts_nothing() {
    let source = [PreparedSource::new(LEAVE)];
    let draft = Draft::new("Energy costs of the Oslo office decreased last year [^1].", &source);
    assert_eq!(draft.claims()[0].verdict, ClaimVerdict::Contradicted);
    assert_eq!(draft.doubts().len(), 1);
    let ruled = draft.with_rulings(&[Some(Ruling::Supported)]);
    assert_eq!(ruled.claims()[0].verdict, ClaimVerdict::Supported);
}
