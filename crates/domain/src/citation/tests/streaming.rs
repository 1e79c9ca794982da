use proptest::prelude::*;

use crate::citation::{
    Attempt, CitedAnswer, ConfirmedClaim, Draft, Level, PreparedSource, SettledClaim, Verdict, Verifier, validate,
};

const SOURCES: [&str; 2] = [
    "Everyone has 28 days of paid leave a year. Leave lapses on 31 March. Dr. Renner approves it.",
    "Report a lost laptop to the security desk within 4 hours, e.g. by phone. The desk is open at night.",
];

/// Answers of many shapes; all pass at level `cited`.
const ANSWERS: [&str; 7] = [
    "Everyone has 28 days of paid leave a year. [^1] Leave lapses on 31 March [^1]. The desk is open at night [^2].",
    "# Leave\n\n- Everyone has 28 days of paid leave a year [^1].\n- Leave lapses on 31 March. [^1]\n\n# Laptops\n\nReport a lost laptop to the security desk within 4 hours, e.g. by phone [^2].",
    "Dr. Renner approves it [^1]. Report a lost laptop to the security desk within 4 hours [^2]! Is there more? No.",
    "Everyone has 28 days of paid leave a year. Leave lapses on 31 March [^1].\n\nThe desk is open at night [^2].",
    "| What | How long |\n|---|---|\n| Leave | 28 days of paid leave a year [^1] |\n| Laptop | within 4 hours [^2] |\n\nDr. Renner approves it. [^1]",
    "everyone has 28 days of paid leave a year [^1]. leave lapses on 31 March [^1]. the desk is open at night [^2].",
    "In short:\n\n```\n28 days of paid leave\n```\n\nEveryone has 28 days of paid leave a year [^1][^2]. 👍 Leave lapses on 31 March [^1].",
];

fn prepared() -> Vec<PreparedSource> {
    SOURCES.iter().map(|text| PreparedSource::new(text)).collect()
}

fn accepted(text: &str, sources: &[PreparedSource]) -> CitedAnswer {
    match validate(&Draft::new(text, sources), Level::Cited, Attempt::First) {
        Verdict::Accept(answer) => answer,
        other => panic!("{text}: {other:?}"),
    }
}

fn settled(text: &str, sources: &[PreparedSource]) -> Vec<SettledClaim> {
    Draft::new(text, sources).settled_claims(Level::Cited, Verifier::Scorer)
}

fn claims(settled: Vec<SettledClaim>) -> Vec<ConfirmedClaim> {
    settled.into_iter().map(|claim| claim.confirmed).collect()
}

#[test]
fn every_beginning_settles_a_beginning_of_the_answers_claims() {
    let sources = prepared();
    for text in ANSWERS {
        let all = accepted(text, &sources).confirmed_claims();
        assert!(!all.is_empty(), "{text}");
        let mut before = 0;
        let mut beginning = String::new();
        for sign in text.chars() {
            beginning.push(sign);
            let claims = claims(settled(&beginning, &sources));
            assert!(all.starts_with(&claims), "{beginning:?} settles {claims:#?}");
            assert!(claims.len() >= before, "{beginning:?} takes a claim back");
            before = claims.len();
        }
    }
}

#[test]
fn a_claim_settles_once_enough_follows_and_with_it_where_it_ends() {
    let sources = prepared();
    let first = "Everyone has 28 days of paid leave a year. [^1]";
    assert!(settled(first, &sources).is_empty(), "the sentence may go on");
    let more = format!("{first} Leave lapses on the last day of the month of March");
    let claims = settled(&more, &sources);
    assert_eq!((claims.len(), claims[0].end), (1, first.len()));
    assert_eq!(claims[0].confirmed.citations.len(), 1);
}

#[test]
fn a_claim_waits_for_markers_that_may_still_come() {
    let sources = prepared();
    let uncited = "Everyone has 28 days of paid leave a year. Leave lapses on 31 March, as everybody should know";
    assert!(settled(uncited, &sources).is_empty());
    let covered = format!("{uncited} [^1]. And here the paragraph goes on for a while");
    assert!(settled(&covered, &sources).is_empty(), "another marker may cover it too");
    let over = format!("{uncited} [^1].\n\nAnd here another paragraph begins, which goes on for a while");
    assert_eq!(settled(&over, &sources).len(), 2);
}

#[test]
fn nothing_settles_after_a_fault() {
    let sources = prepared();
    let text = "The desk is open at night [^2]. Leave lapses on 31 March [^7]. Everyone has 28 days of paid leave [^1]. \
                And so on and so forth, for quite a while.";
    let claims = settled(text, &sources);
    assert_eq!(claims.len(), 1, "{claims:#?}");
    let lax = Draft::new(text, &sources).settled_claims(Level::Off, Verifier::Scorer);
    assert_eq!(lax.len(), 3, "{lax:#?}");
}

proptest! {
    #[test]
    fn whatever_was_written_settling_never_panics(text in "[a-zA-Z .!?\\n\\[\\]^12#|*`-]{0,200}", sources in 0usize..3) {
        let sources: Vec<PreparedSource> = prepared().into_iter().take(sources).collect();
        for level in [Level::Off, Level::Structural, Level::Cited, Level::Supported] {
            for claim in Draft::new(text.as_str(), &sources).settled_claims(level, Verifier::Scorer) {
                prop_assert!(text.is_char_boundary(claim.end));
            }
        }
    }
}
