use crate::citation::{Draft, PreparedSource, Role};

fn roles(text: &str) -> Vec<Role> {
    let draft = Draft::new(text, &[PreparedSource::new("Leave is 25 days.")]);
    draft.statements().iter().map(|statement| statement.role).collect()
}

#[test]
fn words_hold_no_marker_however_many_backslashes_stand_before_it() {
    let words =
        |text: &str| Draft::new(text, &[PreparedSource::new("Leave is 25 days.")]).statements()[0].words.clone();
    for text in ["It is in C:\\\\[^1].", "It is 28 days\\*[^1].", "It is so[^1]."] {
        assert!(!words(text).contains("[^"), "{text}: {}", words(text));
    }
    assert!(words("It is so \\[^1] here.").contains("[^1]"), "an escaped one is text");
}

#[test]
fn signs_between_digits_make_no_other_number() {
    let words = |text: &str| {
        let draft = Draft::new(text, &[PreparedSource::new("Leave is 25 days.")]);
        draft.statements()[0].words.clone()
    };
    for (text, expected) in [
        ("It is 3*4 or `3`**4** days. [^1]", "It is 3 4 or 3 4 days."),
        ("It is *very* **25** days, `un`usual. [^1]", "It is very 25 days, unusual."),
    ] {
        assert_eq!(words(text), expected, "{text}");
    }
}

#[test]
fn tells_claims_from_other_sentences() {
    use Role::{Claim, Code, Heading, Ignorance, LeadIn, Markup, Pleasantry, Question};
    let cases: [(&str, &[Role]); 82] = [
        ("Leave is 25 days.", &[Claim]),
        ("25 days", &[Claim]),
        ("Paris.", &[Claim]),
        ("# Leave\nIt is 25 days.", &[Heading, Claim]),
        ("# Leave is 25 days every year.", &[Claim]),
        ("**Leave**\n\nIt is 25 days.", &[Heading, Claim]),
        ("**25 days**\n\nSo it is.", &[Claim, Claim]),
        ("It is so.\n\n**Leave**", &[Claim, Claim]),
        ("The rules are:\n- 25 days\n- 5 days", &[LeadIn, Claim, Claim]),
        ("The leave is 25 days:", &[Claim]),
        ("Is it so? It is.", &[Question, Claim]),
        ("“Is it so?”", &[Question]),
        ("The documents do not say how long it is.", &[Ignorance]),
        ("The provided sources don't mention any fee.", &[Ignorance]),
        ("The sources don’t explicitly state this.", &[Ignorance]),
        ("This is not specified in the documents.", &[Ignorance]),
        ("The answer cannot be determined from the provided context.", &[Ignorance]),
        ("Not in these documents.", &[Ignorance]),
        ("I could not find an answer.", &[Ignorance]),
        ("There is no information about fees in the documents.", &[Ignorance]),
        ("None of the sources mention it.", &[Ignorance]),
        (
            "The requirements for Tier 2, Tier 3 and Tier 4, and the tools in Tier 3, are missing from the sources.",
            &[Ignorance],
        ),
        ("The first four numbered steps and those after the announcement are missing from the sources.", &[Ignorance]),
        ("The phone number is missing from the provided documents.", &[Ignorance]),
        ("The torques themselves are not in the sources.", &[Ignorance]),
        ("What was said about it in 2022 is missing from the sources, so a comparison is not possible.", &[Ignorance]),
        ("The sources do not say what is paid now, so the difference cannot be given.", &[Ignorance]),
        ("The sources contain no code to verify it.", &[Ignorance]),
        ("The sources do not say which season it is in, so I can't tell you which of these applies.", &[Ignorance]),
        ("Whether it was ordered is not stated in the sources.", &[Ignorance]),
        (
            "The sources do not show the implementation of `reallocate` or the handling of zero-sized types.",
            &[Ignorance],
        ),
        ("The sources do not otherwise specify who decides.", &[Ignorance]),
        ("The sources do not say who decides, and they do not mention a deadline.", &[Ignorance]),
        ("The sources do not go into the price.", &[Ignorance]),
        ("It is not stated whether interns are paid.", &[Ignorance]),
        ("It is not clear when the office opens.", &[Ignorance]),
        ("Further details are not given.", &[Ignorance]),
        ("Details on the fee for guests are not provided.", &[Ignorance]),
        ("No further details are given.", &[Ignorance]),
        ("The fee is 40 EUR, and the deadline is missing from the sources.", &[Claim]),
        ("The seal is missing from the document.", &[Claim]),
        ("The sources do not say when, so call the desk.", &[Claim]),
        ("The keys are not in the desk.", &[Claim]),
        ("The documents contain no seal that is valid.", &[Claim]),
        ("The sources do not say who decides, and the fee is 40 EUR.", &[Claim]),
        ("The sources do not say who decides, and they charge 40 EUR.", &[Claim]),
        ("Refunds are not provided.", &[Claim]),
        ("Information must not be disclosed.", &[Claim]),
        ("Details may not be given.", &[Claim]),
        ("The document does not go into effect before May.", &[Claim]),
        ("The texts do not bind holders of shares.", &[Claim]),
        ("The material does not supplement the contract.", &[Claim]),
        ("Details are not given to third parties, who are not staff.", &[Claim]),
        ("Information is not given to the press, which is banned.", &[Claim]),
        ("It is not stated that interns are paid.", &[Claim]),
        ("The documents do not say so, but it is 25 days.", &[Claim]),
        ("The documents do not mention it; it is 25 days.", &[Claim]),
        ("There is no evidence that it helps.", &[Claim]),
        ("Applicants cannot provide documents after 5 May.", &[Claim]),
        ("The documents are not provided to applicants.", &[Claim]),
        ("No documents are provided.", &[Claim]),
        ("Staff must not include fees in the documents.", &[Claim]),
        ("This information is not provided.", &[Ignorance]),
        ("Unfortunately, the provided documents do not contain this.", &[Ignorance]),
        ("However, the sources do not say when.", &[Ignorance]),
        ("No source mentions it.", &[Ignorance]),
        ("There is no mention of fees in the sources.", &[Ignorance]),
        ("It is unclear from the documents.", &[Ignorance]),
        ("The context does not contain enough information.", &[Ignorance]),
        ("The documents do not list fees, which are 5 euros.", &[Claim]),
        ("The study did not show any effect.", &[Claim]),
        ("However, it is not so.", &[Claim]),
        ("Yes. It is so.", &[Pleasantry, Claim]),
        ("Hello! It is so.", &[Pleasantry, Claim]),
        ("It is so. I hope this helps!", &[Claim, Pleasantry]),
        ("```\ncode\n```\nIt is so.", &[Code, Claim]),
        ("| Kind | Days |\n|---|---|\n| Leave | 25 |", &[Heading, Markup, Claim]),
        ("***\nIt is so.", &[Markup, Claim]),
        ("[^1]", &[Markup]),
        ("> It is so.", &[Claim]),
        ("1. It is so.\n2. And so.", &[Claim, Claim]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(roles(text), expected, "{text:?}");
    }
}

fn claims(text: &str) -> Vec<(String, Vec<u32>)> {
    let sources = [
        PreparedSource::new("Annual leave is 25 days. Five days may be carried over."),
        PreparedSource::new("The canteen opens at noon."),
    ];
    let draft = Draft::new(text, &sources);
    let claims = draft.claims();
    claims.into_iter().map(|claim| (claim.span.slice(text).unwrap().to_owned(), claim.markers)).collect()
}

/// The words of a claim and the markers that cover it.
type Covered = (&'static str, &'static [u32]);

#[test]
fn markers_cover_their_sentence_and_supported_ones_before() {
    let cases: [(&str, &[Covered]); 9] = [
        ("Annual leave is 25 days. [^1]", &[("Annual leave is 25 days.", &[1])]),
        ("Annual leave is 25 days [^1].", &[("Annual leave is 25 days", &[1])]),
        ("[^1] Annual leave is 25 days.", &[("Annual leave is 25 days.", &[1])]),
        (
            "Annual leave is 25 days. Five days may be carried over. [^1]",
            &[("Annual leave is 25 days.", &[1]), ("Five days may be carried over.", &[1])],
        ),
        (
            "Annual leave is 25 days. The canteen opens at noon. [^2]",
            &[("Annual leave is 25 days.", &[]), ("The canteen opens at noon.", &[2])],
        ),
        (
            "Annual leave is 25 days.\n\nFive days may be carried over. [^1]",
            &[("Annual leave is 25 days.", &[]), ("Five days may be carried over.", &[1])],
        ),
        (
            "- Annual leave is 25 days.\n- Five days may be carried over. [^1]",
            &[("Annual leave is 25 days.", &[]), ("Five days may be carried over.", &[1])],
        ),
        ("It is so [^1] and so [^2][^1].", &[("It is so [^1] and so", &[1, 2])]),
        ("It is so. [^3]", &[("It is so.", &[])]),
    ];
    for (text, expected) in cases {
        let expected: Vec<_> =
            expected.iter().map(|(words, markers)| ((*words).to_owned(), markers.to_vec())).collect();
        assert_eq!(claims(text), expected, "{text:?}");
    }
}

#[test]
fn a_marker_inside_a_sentence_is_held_against_its_own_part() {
    let sources = [PreparedSource::new("Annual leave is 25 days."), PreparedSource::new("The canteen opens at noon.")];
    let draft = Draft::new("Annual leave is 25 days [^1] and the canteen opens at noon [^2].", &sources);
    assert!(draft.citations().iter().all(|citation| citation.support > 0.9), "{:?}", draft.citations());
}
