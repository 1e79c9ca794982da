use crate::citation::{
    Attempt, Draft, ErrorKind, Level, PreparedSource, Ruling, Verdict, Verifier, read_rulings, validate,
};

const OFFICES: &str = "Anna Berg leads the Oslo office. Carl Dahl leads the Turku office. Whoever is ill for more than \
    three days sends a doctor's note to the personnel department.";
/// Words of the source, rearranged into a falsehood that the words alone hardly reveal.
const SWAPPED: &str = "Anna Berg, who leads an office, leads the one of Turku [^1].";
/// Paraphrases the source.
const PARAPHRASED: &str = "Those off sick longer hand in a medical certificate to personnel [^1].";
/// Says it in the source's words.
const QUOTED: &str = "Anna Berg leads the Oslo office [^1].";
/// Contains a name that the source does not hold.
const FOREIGN: &str = "Anna Berg leads the Paris office [^1].";

fn draft(text: &str) -> Draft {
    Draft::new(text, &[PreparedSource::new(OFFICES)])
}

fn is_accepted(draft: &Draft) -> bool {
    matches!(validate(draft, Level::Supported, Attempt::First), Verdict::Accept(_))
}

#[test]
fn only_what_words_leave_in_doubt_is_a_doubt() {
    for (text, is_doubtful) in [(SWAPPED, true), (PARAPHRASED, true), (QUOTED, false), (FOREIGN, false)] {
        let doubts = draft(text).doubts();
        assert_eq!(doubts.len(), usize::from(is_doubtful), "{text}: {:?}", draft(text).claims());
        assert!(doubts.iter().all(|doubt| doubt.markers == [1] && !doubt.claim.contains('^')), "{doubts:?}");
    }
    assert_eq!(draft("Nobody knows how ill Carl Dahl is.").doubts(), [], "nothing is cited");
}

#[test]
fn a_ruling_settles_it_either_way() {
    for text in [SWAPPED, PARAPHRASED] {
        let before = is_accepted(&draft(text));
        assert!(is_accepted(&draft(text).with_rulings(&[Some(Ruling::Supported)])), "{text}");
        assert_eq!(is_accepted(&draft(text).with_rulings(&[None])), before, "without one the scorer's stands: {text}");
        let ruled_out = draft(text).with_rulings(&[Some(Ruling::Unsupported)]);
        let Verdict::Reject(errors) = validate(&ruled_out, Level::Supported, Attempt::Retry) else {
            panic!("{text} passed");
        };
        assert_eq!(errors[0].kind, ErrorKind::UnsupportedClaim);
        assert_eq!(errors[0].span, Some(ruled_out.claims()[0].span));
        assert_eq!(errors[0].detail, "[^1] does not say all of this statement, the verifying model finds");
    }
    for (text, is_passed) in [(SWAPPED, true), (PARAPHRASED, false)] {
        assert_eq!(is_accepted(&draft(text)), is_passed, "the scorer is wrong: {:?}", draft(text).claims());
    }
}

#[test]
fn rulings_go_to_their_claims_and_never_to_others() {
    let whole = format!("{FOREIGN} {PARAPHRASED} {QUOTED} {SWAPPED}");
    let claims: Vec<String> = draft(&whole).doubts().into_iter().map(|doubt| doubt.claim).collect();
    assert_eq!(claims.len(), 2);
    assert!(claims[0].starts_with("Those off sick") && claims[1].starts_with("Anna Berg, who"));
    let ruled =
        draft(&whole).with_rulings(&[Some(Ruling::Supported), Some(Ruling::Unsupported), Some(Ruling::Supported)]);
    let Verdict::Reject(errors) = validate(&ruled, Level::Supported, Attempt::Retry) else { panic!("it passed") };
    let starts: Vec<usize> = errors.iter().filter_map(|error| Some(error.span?.start)).collect();
    let claims = ruled.claims();
    assert_eq!(starts, [claims[0].span.start, claims[3].span.start], "a wrong name is past help: {errors:?}");
}

#[test]
fn a_claim_that_a_model_is_to_be_asked_about_is_not_settled_before() {
    let text = format!("{QUOTED} {PARAPHRASED} {QUOTED} And much more of the like follows here, without an end");
    let settled = |level, verifier| draft(&text).settled_claims(level, verifier).len();
    assert_eq!(settled(Level::Cited, Verifier::Scorer), 3);
    assert_eq!(settled(Level::Supported, Verifier::Model), 1);
}

#[test]
fn reads_rulings_however_they_are_put() {
    let (yes, no) = (Some(Ruling::Supported), Some(Ruling::Unsupported));
    let cases = [
        ("1: supported - says so\n2: unsupported - another office", [yes, no]),
        ("1. Not supported by source 1.\n2. Fully supported.", [no, yes]),
        ("Statement 1: partially supported\nStatement 2: supported", [no, yes]),
        (r#"{"verdicts": [{"statement": 2, "verdict": "unsupported", "reason": "no"}]}"#, [None, no]),
        ("```json\n[{\"claim\": 1, \"verdict\": \"supported\"}]\n```", [yes, None]),
        ("I cannot help with that.", [None, None]),
        ("", [None, None]),
    ];
    for (reply, expected) in cases {
        let rulings: Vec<_> = read_rulings(reply, 2).into_iter().map(|read| read.map(|read| read.ruling)).collect();
        assert_eq!(rulings, expected, "{reply}");
    }
    assert_eq!(read_rulings("1: supported - in other words", 1)[0].as_ref().unwrap().reason, "in other words");
}
