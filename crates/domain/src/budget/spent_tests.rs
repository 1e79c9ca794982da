use proptest::prelude::*;

use super::*;

fn cost() -> impl Strategy<Value = NanoUsd> {
    (0..1_000_u64).prop_map(NanoUsd::new)
}

fn size() -> impl Strategy<Value = ChatSize> {
    (0..1_000_u32, cost()).prop_map(|(prompt_tokens, most_cost)| ChatSize {
        prompt_tokens,
        most_cost,
        ..ChatSize::default()
    })
}

fn used() -> impl Strategy<Value = (Usage, NanoUsd)> {
    (0..1_000_u64, 0..1_000_u64, any::<bool>(), cost()).prop_map(
        |(prompt_tokens, completion_tokens, is_estimated, cost)| {
            (Usage { prompt_tokens, completion_tokens, is_estimated }, cost)
        },
    )
}

/// How a chat call ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Settled(Usage, NanoUsd),
    TakenBack,
    Dropped,
    WrittenOff,
}

fn end() -> impl Strategy<Value = End> {
    let settled = used().prop_map(|(usage, cost)| End::Settled(usage, cost));
    prop_oneof![settled, Just(End::TakenBack), Just(End::Dropped), Just(End::WrittenOff)]
}

impl End {
    /// Ends a call.
    fn happen(self, budget: &Budget, allowance: Allowance<Chat>, size: ChatSize) {
        match self {
            Self::Settled(usage, cost) => allowance.settle(usage, cost),
            Self::TakenBack => allowance.take_back(),
            Self::Dropped => drop(allowance),
            Self::WrittenOff => {
                drop(allowance);
                budget.write_off(size.most_cost);
            }
        }
    }

    /// Adds the amounts expected for the call in that case.
    fn add_to(self, spent: &mut Spent, size: ChatSize) {
        let (usage, cost, unsettled) = match self {
            Self::TakenBack => return,
            Self::Settled(usage, cost) => (usage, cost, NanoUsd::ZERO),
            Self::Dropped => (reserved(size, false), NanoUsd::ZERO, size.most_cost),
            Self::WrittenOff => (reserved(size, true), size.most_cost, NanoUsd::ZERO),
        };
        spent.llm_calls += 1;
        spent.prompt_tokens += usage.prompt_tokens;
        spent.completion_tokens += usage.completion_tokens;
        spent.cost = spent.cost.plus(cost);
        spent.unsettled = spent.unsettled.plus(unsettled);
        spent.has_estimates |= usage.is_estimated;
    }
}

fn reserved(size: ChatSize, is_estimated: bool) -> Usage {
    Usage { prompt_tokens: u64::from(size.prompt_tokens), completion_tokens: 0, is_estimated }
}

fn sum(costs: impl Iterator<Item = NanoUsd>) -> NanoUsd {
    costs.fold(NanoUsd::ZERO, NanoUsd::plus)
}

proptest! {
    #[test]
    fn chat_calls_add_up_in_whatever_order_they_end(
        calls in prop::collection::vec((any::<u8>(), size(), end()), 0..8),
    ) {
        let budget = Budget::new(Limits::ingest());
        let mut expected = Spent::default();
        let mut under_way = Vec::new();
        for (turn, size, end) in calls {
            end.add_to(&mut expected, size);
            under_way.push((turn, budget.reserve_chat(size).unwrap(), size, end));
        }
        let most = sum(under_way.iter().map(|(_, _, size, _)| size.most_cost));
        prop_assert_eq!((budget.spent().cost, budget.spent().unsettled), (NanoUsd::ZERO, most));
        under_way.sort_by_key(|(turn, ..)| *turn);
        for (_, allowance, size, end) in under_way {
            end.happen(&budget, allowance, size);
        }
        prop_assert_eq!(budget.spent(), expected);
    }

    #[test]
    fn a_lost_attempt_counts_as_if_the_one_that_answered_had_used_it_too(
        size in size(),
        (first, first_cost) in used(),
        (second, second_cost) in used(),
    ) {
        let (in_two, in_one) = (Budget::new(Limits::ingest()), Budget::new(Limits::ingest()));
        let allowance = in_two.reserve_chat(size).unwrap();
        allowance.add_lost_attempt(first, first_cost);
        allowance.settle(second, second_cost);
        in_one.reserve_chat(size).unwrap().settle(first.plus(second), first_cost.plus(second_cost));
        prop_assert_eq!(in_two.spent(), in_one.spent());
    }

    #[test]
    fn a_call_that_nobody_answered_costs_what_its_lost_attempts_did(
        size in size(),
        attempts in prop::collection::vec(used(), 0..4),
    ) {
        let budget = Budget::new(Limits::ingest());
        let allowance = budget.reserve_chat(size).unwrap();
        for (usage, cost) in &attempts {
            allowance.add_lost_attempt(*usage, *cost);
        }
        allowance.give_up();
        let cost = sum(attempts.iter().map(|(_, cost)| *cost));
        prop_assert_eq!((budget.spent().cost, budget.spent().unsettled), (cost, NanoUsd::ZERO));
    }

    #[test]
    fn embedding_calls_add_up_and_leave_chat_calls_alone(
        calls in prop::collection::vec((0..1_000_u32, prop::option::of(used())), 0..8),
    ) {
        let budget = Budget::new(Limits::ingest());
        let mut expected = Spent::default();
        for (estimate, settled) in calls {
            let allowance = budget.reserve_embedding(estimate).unwrap();
            // A dropped allowance stays counted as reserved.
            let mut took = EmbeddingSpent { tokens: u64::from(estimate), ..EmbeddingSpent::default() };
            if let Some((usage, cost)) = settled {
                allowance.settle(usage, cost);
                took = EmbeddingSpent { tokens: usage.prompt_tokens, cost, has_estimates: usage.is_estimated };
            }
            expected.embedding_calls += 1;
            expected.embedding = expected.embedding.plus(took);
        }
        prop_assert_eq!(budget.spent(), expected);
    }
}
