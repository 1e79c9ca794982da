use proptest::prelude::*;

use super::super::{Budget, ChatSize};
use super::*;

/// Small ones, so that calls fall on both sides of them.
fn limits() -> impl Strategy<Value = Limits> {
    let calls = || prop::option::of(0..5_u32);
    (calls(), calls(), calls(), prop::option::of(0..9_u32), 0..9_u32, prop::option::of(0..9_u64)).prop_map(
        |(llm_calls, embedding_calls, rerank_calls, prompt_tokens, completion_tokens, source_bytes)| Limits {
            llm_calls,
            embedding_calls,
            rerank_calls,
            prompt_tokens,
            completion_tokens,
            source_bytes,
        },
    )
}

fn tighter() -> impl Strategy<Value = TighterLimits> {
    let limit = || prop::option::of(0..9_u32);
    (limit(), limit(), limit(), prop::option::of(0..9_u64)).prop_map(
        |(llm_calls, prompt_tokens, completion_tokens, source_bytes)| TighterLimits {
            llm_calls,
            prompt_tokens,
            completion_tokens,
            source_bytes,
        },
    )
}

fn size() -> impl Strategy<Value = ChatSize> {
    (0..12_u32, 0..12_u32, 0..12_u64).prop_map(|(prompt_tokens, completion_tokens, source_bytes)| ChatSize {
        prompt_tokens,
        completion_tokens,
        source_bytes,
        ..ChatSize::default()
    })
}

proptest! {
    #[test]
    fn a_call_within_all_limits_is_granted_and_any_other_counts_for_nothing(
        limits in limits(),
        sizes in prop::collection::vec(size(), 0..8),
    ) {
        let budget = Budget::new(limits);
        let mut granted = 0;
        for size in sizes {
            let reply = if size.completion_tokens == 0 { limits.completion_tokens } else { size.completion_tokens };
            let fits = reply <= limits.completion_tokens
                && limits.prompt_tokens.is_none_or(|limit| size.prompt_tokens <= limit)
                && limits.source_bytes.is_none_or(|limit| size.source_bytes <= limit)
                && limits.llm_calls.is_none_or(|limit| granted < limit);
            let before = budget.spent();
            match budget.reserve_chat(size) {
                Ok(allowance) => {
                    prop_assert!(fits);
                    prop_assert_eq!(allowance.completion_tokens(), reply);
                    granted += 1;
                }
                Err(refused) => {
                    prop_assert!(!fits && refused.asked > refused.value);
                    prop_assert_eq!(budget.spent(), before);
                }
            }
            prop_assert_eq!(budget.llm_calls_left(), limits.llm_calls.map(|limit| limit - granted));
        }
    }

    #[test]
    fn no_sequence_of_calls_goes_over_a_limit_of_calls(
        limits in limits(),
        kinds in prop::collection::vec(0..4_u8, 0..30),
    ) {
        let budget = Budget::new(limits);
        for kind in kinds {
            match kind {
                0 => drop(budget.reserve_chat(ChatSize::default())),
                1 => drop(budget.reserve_embedding(1)),
                2 => drop(budget.reserve_reranking()),
                _ => {
                    if let Ok(unmade) = budget.reserve_chat(ChatSize::default()) {
                        unmade.take_back();
                    }
                }
            }
            let spent = budget.spent();
            for (made, limit) in [
                (spent.llm_calls, limits.llm_calls),
                (spent.embedding_calls, limits.embedding_calls),
                (spent.rerank_calls, limits.rerank_calls),
            ] {
                prop_assert!(limit.is_none_or(|limit| made <= limit));
            }
        }
    }

    #[test]
    fn a_request_gets_nothing_by_its_own_limits_that_it_would_not_get_without_them(
        limits in limits(),
        tighter in tighter(),
        size in size(),
    ) {
        let tightened = limits.tightened(tighter);
        if Budget::new(tightened).reserve_chat(size).is_ok() {
            prop_assert!(Budget::new(limits).reserve_chat(size).is_ok());
        }
    }

    #[test]
    fn of_many_limits_the_lowest_holds_whichever_comes_first(
        limits in limits(),
        one in tighter(),
        two in tighter(),
    ) {
        let both = limits.tightened(one).tightened(two);
        prop_assert_eq!(both, limits.tightened(two).tightened(one));
        prop_assert_eq!(both, both.tightened(one));
        prop_assert_eq!(limits.tightened(TighterLimits::default()), limits);
    }
}
