//! The route as a table. A round is written as `correct/ambiguous/incorrect+new`, with `!` where nothing is missing.

use proptest::prelude::*;

use super::*;

const BUILT_IN: StepCalls = StepCalls { grade: 0, rewrite: 0, generate: 0 };
const MODELS: StepCalls = StepCalls { grade: 1, rewrite: 1, generate: 1 };
const CORRECT: Step = Step::Generate { over: Evidence::Correct };
const BOTH: Step = Step::Generate { over: Evidence::CorrectAndAmbiguous };
const AMBIGUOUS: Step = Step::Generate { over: Evidence::Ambiguous };

fn round(written: &str) -> Round {
    let (grades, new) = written.trim_end_matches('!').split_once('+').unwrap();
    let counts: Vec<usize> = grades.split('/').map(|count| count.parse().unwrap()).collect();
    Round {
        correct: counts[0],
        ambiguous: counts[1],
        incorrect: counts[2],
        new: new.parse().unwrap(),
        is_complete: written.ends_with('!'),
    }
}

fn state(rounds: &[Round]) -> Situation<'_> {
    Situation {
        settings: LoopSettings::default(),
        has_content: true,
        rounds,
        rewriter_is_exhausted: false,
        fallback: Fallback::None,
        calls: BUILT_IN,
        calls_left: None,
    }
}

/// A change that a row of a table makes to the default state.
type Change = fn(&mut Situation<'_>);

/// Checks each row: a name, the rounds so far, a change to the default state, the step expected.
fn check(rows: &[(&str, &str, Change, Step)]) {
    for (name, written, change, expected) in rows {
        let rounds: Vec<Round> = written.split_whitespace().map(round).collect();
        let mut state = state(&rounds);
        change(&mut state);
        assert_eq!(next_step(&state), *expected, "{name}: {state:?}");
    }
}

#[test]
fn routes_by_verdicts_and_attempts() {
    check(&[
        ("first of all retrieve", "", |_| {}, Step::Retrieve),
        ("all correct", "8/0/0+8", |_| {}, CORRECT),
        ("half correct, literally", "4/0/4+8", |_| {}, CORRECT),
        ("half of the candidates", "2/2/4+8", |_| {}, CORRECT),
        ("one correct among padding", "1/0/7+8", |_| {}, CORRECT),
        ("one correct, more doubtful", "1/2/5+8", |_| {}, Step::Rewrite),
        ("one correct that leaves nothing open", "1/4/3+8!", |_| {}, CORRECT),
        ("doubtful ones that leave nothing open", "0/4/4+8!", |_| {}, Step::Rewrite),
        ("nothing retrieved", "0/0/0+0", |_| {}, Step::Rewrite),
        ("all incorrect", "0/0/8+8", |_| {}, Step::Rewrite),
        ("all ambiguous", "0/8/0+8", |_| {}, Step::Rewrite),
        ("found by a rewrite", "0/0/8+8 1/0/7+3", |_| {}, CORRECT),
        ("a later round is judged by itself", "1/7/0+8 0/1/7+4", |_| {}, Step::Rewrite),
        ("two attempts made", "0/0/8+8 0/0/8+8 0/0/8+8", |_| {}, Step::Rewrite),
    ]);
}

#[test]
fn routes_when_attempts_are_used_up() {
    check(&[
        ("all incorrect", "0/0/8+8 0/0/8+8 0/0/8+8 0/0/8+8", |_| {}, abstain(AbstainReason::NoRelevantContent)),
        ("nothing retrieved", "0/0/0+0 0/0/0+0 0/0/0+0 0/0/0+0", |_| {}, abstain(AbstainReason::NoRelevantContent)),
        ("only ambiguous", "0/8/0+8 0/1/7+8 0/0/8+8 0/0/8+8", |_| {}, abstain(AbstainReason::LowSupport)),
        ("one correct long ago", "1/7/0+8 0/0/8+8 0/0/8+8 0/0/8+8", |_| {}, BOTH),
        (
            "only ambiguous, answer wanted",
            "0/8/0+8 0/0/8+8 0/0/8+8 0/0/8+8",
            |state| state.settings.on_insufficient = OnInsufficient::Generate,
            AMBIGUOUS,
        ),
        (
            "all incorrect, answer wanted",
            "0/0/8+8 0/0/8+8 0/0/8+8 0/0/8+8",
            |state| state.settings.on_insufficient = OnInsufficient::Generate,
            abstain(AbstainReason::NoRelevantContent),
        ),
        ("no rewrites allowed", "1/3/0+4", |state| state.settings.max_rewrite_attempts = 0, BOTH),
        ("no query left", "1/3/0+4", |state| state.rewriter_is_exhausted = true, BOTH),
        (
            "no query left, none correct",
            "0/0/4+4",
            |state| state.rewriter_is_exhausted = true,
            abstain(AbstainReason::NoRelevantContent),
        ),
        ("converged on some correct", "1/3/0+4 1/3/0+0", |_| {}, BOTH),
        ("converged on ambiguous", "0/4/0+4 0/4/0+0", |_| {}, abstain(AbstainReason::LowSupport)),
        ("repeats what is incorrect", "0/0/8+8 0/0/8+0", |_| {}, Step::Rewrite),
    ]);
}

#[test]
fn routes_by_settings_and_content() {
    check(&[
        ("empty before anything", "", |state| state.has_content = false, abstain(AbstainReason::EmptyCollection)),
        ("emptied meanwhile", "8/0/0+8", |state| state.has_content = false, abstain(AbstainReason::EmptyCollection)),
        ("all must be correct", "7/1/0+8", |state| state.settings.min_correct_fraction = 1.0, Step::Rewrite),
        ("all are correct", "7/0/1+8", |state| state.settings.min_correct_fraction = 1.0, CORRECT),
        ("fraction 0 still needs one", "0/8/0+8", |state| state.settings.min_correct_fraction = 0.0, Step::Rewrite),
        ("fraction 0 and one", "1/7/0+8", |state| state.settings.min_correct_fraction = 0.0, CORRECT),
    ]);
}

fn with_models(state: &mut Situation<'_>, left: u32) {
    state.calls = MODELS;
    state.calls_left = Some(left);
}

#[test]
fn routes_within_the_budget() {
    check(&[
        ("nothing left to generate with", "1/0/7+8", |s| with_models(s, 0), abstain(AbstainReason::OutOfBudget)),
        ("last call generates", "1/0/7+8", |s| with_models(s, 1), CORRECT),
        ("a rewrite leaves a generation", "0/0/8+8", |s| with_models(s, 3), Step::Rewrite),
        ("a rewrite would leave none", "0/0/8+8", |s| with_models(s, 2), abstain(AbstainReason::OutOfBudget)),
        ("one correct keeps the retry too", "1/3/0+4", |s| with_models(s, 4), Step::Rewrite),
        ("rather generate than risk the retry", "1/3/0+4", |s| with_models(s, 3), BOTH),
        ("calls are free when built in", "0/0/8+8", |s| s.calls_left = Some(0), Step::Rewrite),
        (
            "ambiguous and answer wanted",
            "0/4/0+4",
            |s| {
                with_models(s, 1);
                s.settings.on_insufficient = OnInsufficient::Generate;
            },
            AMBIGUOUS,
        ),
    ]);
}

#[test]
fn a_grading_model_that_finds_nothing_correct_ends_the_search_after_two_rewrites() {
    check(&[
        ("after one", "0/0/8+8 0/0/8+8", |s| with_models(s, 9), Step::Rewrite),
        ("after two", "0/0/8+8 0/0/8+8 0/0/8+8", |s| with_models(s, 9), abstain(AbstainReason::NoRelevantContent)),
        ("on the subject", "0/1/7+8 0/2/6+8 0/0/8+8", |s| with_models(s, 9), abstain(AbstainReason::LowSupport)),
        ("something correct", "1/7/0+8 0/0/8+8 0/0/8+8", |s| with_models(s, 9), Step::Rewrite),
    ]);
}

/// With models in all roles the default limit of 8 calls pays for all rewrites and for the
/// generation that the last of them may earn.
#[test]
fn default_budget_covers_the_whole_loop() {
    let mut left = 8;
    let mut rounds = Vec::new();
    loop {
        left -= 1;
        rounds.push(round("0/0/8+8"));
        let mut state = state(&rounds);
        with_models(&mut state, left);
        match next_step(&state) {
            Step::Rewrite => left -= 1,
            other => break assert_eq!(other, abstain(AbstainReason::NoRelevantContent)),
        }
    }
    assert_eq!((rounds.len(), left), (3, 3));
}

fn any_round() -> impl Strategy<Value = Round> {
    (0usize..9, 0usize..9, 0usize..9, 0usize..9, any::<bool>()).prop_map(
        |(correct, ambiguous, incorrect, new, is_complete)| Round { correct, ambiguous, incorrect, new, is_complete },
    )
}

proptest! {
    #[test]
    fn obeys_its_laws(
        rounds in prop::collection::vec(any_round(), 0..7),
        min_correct_fraction in 0.0f32..=1.0,
        max_rewrite_attempts in 0u32..5,
        generate_anyway in any::<bool>(),
        has_content in any::<bool>(),
        rewriter_is_exhausted in any::<bool>(),
        fallback in prop::sample::select(vec![Fallback::None, Fallback::Ready, Fallback::Used]),
        uses_models in any::<bool>(),
        calls_left in prop::option::of(0u32..10),
    ) {
        let on_insufficient = if generate_anyway { OnInsufficient::Generate } else { OnInsufficient::Abstain };
        let state = Situation {
            settings: LoopSettings { min_correct_fraction, max_rewrite_attempts, on_insufficient },
            has_content,
            rounds: &rounds,
            rewriter_is_exhausted,
            fallback,
            calls: if uses_models { MODELS } else { BUILT_IN },
            calls_left,
        };
        let correct: usize = rounds.iter().map(|round| round.correct).sum();
        let ambiguous: usize = rounds.iter().map(|round| round.ambiguous).sum();
        match next_step(&state) {
            Step::Retrieve => prop_assert!(rounds.is_empty() && has_content),
            Step::Generate { over } => {
                prop_assert!(has_content && state.calls_left.is_none_or(|left| left >= state.calls.generate));
                prop_assert!(!over.admits(Grade::Incorrect));
                match over {
                    Evidence::Correct | Evidence::CorrectAndAmbiguous => prop_assert!(correct > 0),
                    Evidence::Ambiguous => prop_assert!(correct == 0 && ambiguous > 0 && generate_anyway),
                }
            }
            Step::Rewrite => {
                prop_assert!(!rewriter_is_exhausted && rounds.len() <= max_rewrite_attempts as usize);
            }
            Step::Search => prop_assert!(has_content && fallback == Fallback::Ready && !rounds.is_empty()),
            Step::Abstain { .. } => prop_assert!(
                !has_content || correct == 0 || state.calls_left.is_some_and(|left| left < state.calls.generate)
            ),
        }
    }
}

#[test]
fn the_search_elsewhere_comes_last_and_once() {
    const LOW: Step = Step::Abstain { reason: AbstainReason::LowSupport };
    const NOTHING: Step = Step::Abstain { reason: AbstainReason::NoRelevantContent };
    let rows: [(&str, &str, Change, Step); 9] = [
        ("enough", "1/0/7+8", |state| state.fallback = Fallback::Ready, CORRECT),
        ("a rewrite first", "0/0/8+8", |state| state.fallback = Fallback::Ready, Step::Rewrite),
        (
            "then elsewhere",
            "0/0/8+8",
            |state| {
                state.fallback = Fallback::Ready;
                state.rewriter_is_exhausted = true;
            },
            Step::Search,
        ),
        (
            "also beside a few correct ones",
            "1/5/2+8",
            |state| {
                state.fallback = Fallback::Ready;
                state.rewriter_is_exhausted = true;
            },
            Step::Search,
        ),
        ("found there", "0/0/8+8 2/1/2+5", |state| state.fallback = Fallback::Used, CORRECT),
        ("not enough there", "1/5/2+8 0/0/5+5", |state| state.fallback = Fallback::Used, BOTH),
        ("doubtful there", "0/0/8+8 0/2/3+5", |state| state.fallback = Fallback::Used, LOW),
        ("nothing there", "0/0/8+8 0/0/5+5", |state| state.fallback = Fallback::Used, NOTHING),
        (
            "it cannot be paid for",
            "0/0/8+8",
            |state| {
                state.fallback = Fallback::Ready;
                state.calls = MODELS;
                state.calls_left = Some(1);
            },
            Step::Abstain { reason: AbstainReason::OutOfBudget },
        ),
    ];
    check(&rows);
}
