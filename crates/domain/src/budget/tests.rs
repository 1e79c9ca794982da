use super::*;

fn size(prompt_tokens: u32, completion_tokens: u32, source_bytes: u64) -> ChatSize {
    ChatSize { prompt_tokens, completion_tokens, source_bytes, ..ChatSize::default() }
}

#[test]
fn each_limit_is_named_when_exceeded() {
    let rows = [
        (size(8193, 10, 0), LimitKind::PromptTokens, 8192, 8193),
        (size(1, 1025, 0), LimitKind::CompletionTokens, 1024, 1025),
        (size(1, 1, 262_145), LimitKind::SourceBytes, 262_144, 262_145),
    ];
    for (size, limit, value, asked) in rows {
        let budget = Budget::new(Limits::ask());
        let refused = budget.reserve_chat(size).unwrap_err();
        assert_eq!(refused, BudgetExceeded { limit, value, asked });
        assert_eq!(budget.spent(), Spent::default(), "a refused call costs nothing");
    }
    assert_eq!(
        Budget::new(Limits::ask()).reserve_chat(size(9000, 0, 0)).unwrap_err().to_string(),
        "prompt_tokens would be 9000, over the limit of 8192"
    );
}

#[test]
fn limits_are_inclusive() {
    let budget = Budget::new(Limits::ask());
    assert!(budget.reserve_chat(size(8192, 1024, 262_144)).is_ok());
}

#[test]
fn the_ninth_chat_call_of_an_ask_is_refused() {
    let budget = Budget::new(Limits::ask());
    for made in 0..8 {
        assert_eq!(budget.llm_calls_left(), Some(8 - made));
        budget.reserve_chat(size(100, 0, 0)).unwrap().settle(Usage::default(), NanoUsd::ZERO);
    }
    let refused = budget.reserve_chat(size(100, 0, 0)).unwrap_err();
    assert_eq!(refused, BudgetExceeded { limit: LimitKind::LlmCalls, value: 8, asked: 9 });
    assert!(budget.reserve_embedding(100).is_ok(), "embedding calls have a limit of their own");
}

#[test]
fn ingest_has_no_call_limit() {
    let budget = Budget::new(Limits::ingest());
    for _ in 0..1000 {
        let usage = Usage { prompt_tokens: 2, ..Usage::default() };
        budget.reserve_embedding(1).unwrap().settle(usage, NanoUsd::new(3));
        drop(budget.reserve_chat(size(1, 0, 1 << 40)).unwrap());
    }
    assert_eq!(budget.llm_calls_left(), None);
    let spent = budget.spent();
    assert_eq!((spent.embedding_calls, spent.embedding.tokens, spent.llm_calls), (1000, 2000, 1000));
    assert_eq!(
        (spent.embedding.cost, spent.cost),
        (NanoUsd::new(3000), NanoUsd::ZERO),
        "each kind is summed up by itself"
    );
}

#[test]
fn settling_replaces_the_estimate() {
    let budget = Budget::new(Limits::ask());
    let first = budget.reserve_chat(size(100, 50, 0)).unwrap();
    let second = budget.reserve_chat(size(200, 0, 0)).unwrap();
    assert_eq!((first.completion_tokens(), second.completion_tokens()), (50, 1024));
    assert_eq!(budget.spent().prompt_tokens, 300);
    first.settle(Usage { prompt_tokens: 90, completion_tokens: 7, is_estimated: false }, NanoUsd::new(5));
    drop(second);
    let spent = budget.spent();
    assert_eq!((spent.prompt_tokens, spent.completion_tokens, spent.llm_calls), (290, 7, 2));
}

#[test]
fn concurrent_calls_never_overrun_together() {
    let budget = Budget::new(Limits::ask());
    let granted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                let budget = budget.clone();
                scope.spawn(move || usize::from(budget.reserve_chat(size(10, 0, 0)).is_ok()))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((granted, budget.spent().llm_calls), (8, 8));
}

#[test]
fn lost_attempts_are_added_to_what_the_last_one_used() {
    let budget = Budget::new(Limits::ask());
    let allowance = budget.reserve_chat(size(100, 0, 0)).unwrap();
    allowance.add_lost_attempt(Usage { prompt_tokens: 80, completion_tokens: 3, is_estimated: true }, NanoUsd::new(7));
    allowance.settle(Usage { prompt_tokens: 90, completion_tokens: 10, is_estimated: false }, NanoUsd::new(20));
    let spent = budget.spent();
    assert_eq!((spent.llm_calls, spent.prompt_tokens, spent.completion_tokens), (1, 170, 13));
    assert_eq!((spent.cost, spent.has_estimates), (NanoUsd::new(27), true));
}

#[test]
fn what_was_for_nothing_is_spent_and_told_apart() {
    let budget = Budget::new(Limits::ask());
    let priced = ChatSize { most_cost: NanoUsd::new(70), ..size(100, 50, 0) };
    let used = Usage { prompt_tokens: 90, completion_tokens: 20, is_estimated: false };
    budget.reserve_chat(priced).unwrap().settle(used, NanoUsd::new(30));
    budget.reserve_chat(priced).unwrap().settle(used, NanoUsd::new(30));
    budget.note_waste(used, NanoUsd::new(30));
    drop(budget.reserve_chat(priced).unwrap());
    assert_eq!((budget.spent().cost, budget.spent().unsettled), (NanoUsd::new(60), NanoUsd::new(70)));
    budget.write_off(priced.most_cost);
    let spent = budget.spent();
    assert_eq!((spent.cost, spent.unsettled, spent.has_estimates), (NanoUsd::new(130), NanoUsd::ZERO, true));
    assert_eq!(spent.wasted, Waste { llm_calls: 1, prompt_tokens: 90, completion_tokens: 20, cost: NanoUsd::new(30) });
    let before = budget.spent();
    budget.reserve_chat(priced).unwrap().take_back();
    assert_eq!(budget.spent(), before, "as if it had never been reserved");
}
