use proptest::prelude::*;

use super::passage::{PassageEvidence, SentenceEvidence};
use super::*;
use crate::markdown::BlockKind;

/// Words that questions and texts share, markup, and other characters that a file may contain: NUL, right-to-left,
/// emoji.
fn text() -> impl Strategy<Value = String> {
    "([a-d]{1,3}[ .,?\n-]{1,2}){0,12}\
    |[a-d1-9A-D .,'’?!#>|*`\n\u{0}\u{202e}\u{5d0}\u{639}\u{301}\u{200d}😀👩İß漢字-]{0,40}\
    |(?s:.{0,40})"
}

/// A question to 100 chunks, some of whose terms none of them holds.
fn terms_of(question: &str) -> QuestionTerms {
    QuestionTerms::new(Analyzer::english(), question, 100, |stem| u64::from(stem.as_bytes()[0] % 4) * 20)
}

/// In one order and in another.
fn shuffled(of: &'static str) -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    prop::collection::vec(of, 1..8).prop_flat_map(|list| (Just(list.clone()), Just(list).prop_shuffle()))
}

proptest! {
    #[test]
    fn shares_lie_between_0_and_1_and_grow_with_what_is_found(
        question in text(),
        some in any::<TermMask>(),
        more in any::<TermMask>(),
    ) {
        let terms = terms_of(&question);
        prop_assert!(0.0 <= terms.share(some) && terms.share(some) <= terms.share(some | more));
        prop_assert!(0.0 <= terms.pair_share(some) && terms.pair_share(some) <= terms.pair_share(some | more));
        prop_assert!(terms.share(some | more) <= 1.0 && terms.pair_share(some | more) <= 1.0);
        let whole = if terms.mass() > 0.0 { 1.0 } else { 0.0 };
        prop_assert!((terms.share(TermMask::MAX) - whole).abs() < 1e-6);
    }

    #[test]
    fn a_term_weighs_no_more_for_being_in_more_chunks(
        question in text(),
        chunks in 0..1_000_u64,
        few in 0..1_000_u64,
        more in 0..1_000_u64,
    ) {
        let weighed = |frequency: u64| QuestionTerms::new(Analyzer::english(), &question, chunks, |_| frequency);
        let (rare, common) = (weighed(few), weighed(few + more));
        prop_assert!(rare.terms().iter().zip(common.terms()).all(|(rare, common)| rare.weight >= common.weight));
        prop_assert!(common.terms().iter().all(|term| term.weight >= 0.0 && term.weight.is_finite()));
    }

    #[test]
    fn skipping_words_that_nobody_asked_for_hides_no_other(question in text(), text in text()) {
        let analyzer = Analyzer::english();
        // Terms that some chunk holds: no other spelling of them is looked for.
        let terms = QuestionTerms::new(analyzer, &question, 100, |stem| 1 + u64::from(stem.as_bytes()[0] % 4) * 20);
        let read_in_full = |text: &str| -> (TermMask, usize) {
            let stems = analyzer.terms(text);
            let found = stems.iter().filter_map(|stem| terms.position(stem));
            (found.fold(0, |mask, position| mask | 1 << position), stems.len())
        };
        prop_assert_eq!(terms.mask_of(analyzer, &text), read_in_full(&text).0);
        for sentence in PassageEvidence::new(analyzer, &terms, "", &text).sentences {
            let words = text.get(sentence.range.clone()).expect("bytes of the text");
            // An amount is also held by a range that it lies in, a month by its dates.
            let (mask, length) = read_in_full(words);
            let otherwise = terms.in_ranges_of(words) | terms.in_months_of(words);
            prop_assert_eq!((sentence.mask, sentence.length), (mask | otherwise, length));
        }
    }

    #[test]
    fn sentences_stand_in_order_and_hold_only_what_the_passage_holds(
        question in text(),
        title in text(),
        text in text(),
    ) {
        let terms = terms_of(&question);
        let passage = PassageEvidence::new(Analyzer::english(), &terms, &title, &text);
        let unasked = (0..terms.terms().len()).fold(TermMask::MAX, |mask, position| mask & !(1 << position));
        prop_assert_eq!(passage.mask() & unasked, 0);
        let mut end = 0;
        for sentence in &passage.sentences {
            prop_assert!(sentence.range.start >= end && sentence.range.end > sentence.range.start);
            prop_assert!(!matches!(sentence.kind, BlockKind::Code | BlockKind::Rule));
            prop_assert_eq!(sentence.mask & !passage.text_mask, 0);
            prop_assert_eq!((sentence.pairs | sentence.pairs << 1) & !sentence.mask, 0, "both of a pair are there");
            end = sentence.range.end;
        }
    }

    #[test]
    fn the_best_sentence_is_the_first_that_covers_most(question in text(), text in text()) {
        let terms = terms_of(&question);
        let passage = PassageEvidence::new(Analyzer::english(), &terms, "", &text);
        let weight = |sentence: &SentenceEvidence| terms.weight_of(sentence.mask);
        let best = passage.best_sentence(&terms);
        prop_assert_eq!(best.is_none(), passage.sentences.is_empty());
        let Some(best) = best else { return Ok(()) };
        let (before, after): (Vec<_>, Vec<_>) =
            passage.sentences.iter().partition(|sentence| sentence.range.start < best.range.start);
        prop_assert!(before.iter().all(|sentence| weight(sentence) < weight(best)));
        prop_assert!(after.iter().all(|sentence| weight(sentence) <= weight(best)));
    }

    #[test]
    fn no_order_of_words_or_paragraphs_changes_what_is_covered(
        (words, other_words) in shuffled("[a-d]{2,3}"),
        (paragraphs, other_paragraphs) in shuffled("[a-d]{2,3}( [a-d]{2,3}){0,3}"),
    ) {
        let covered = |words: &[String], paragraphs: &[String]| {
            let terms = terms_of(&words.join(" "));
            terms.share(PassageEvidence::new(Analyzer::english(), &terms, "", &paragraphs.join("\n\n")).mask())
        };
        let difference = covered(&words, &paragraphs) - covered(&other_words, &other_paragraphs);
        prop_assert!(difference.abs() < 1e-5, "{difference}");
    }
}
