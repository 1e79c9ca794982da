//! Knowledge refinement (CRAG, arXiv:2401.15884, 4.4): splits a passage into strips, keeps those that are relevant to
//! the question, and joins them again.
//!
//! A strip is a sentence, a heading, a list item, or a whole table or code block. Kept strips are exact ranges of the
//! passage; checks and citations continue to use the passage as a whole.

use std::ops::Range;

use super::evidence::Question;
use super::lexical::analyzer::Analyzer;
use super::markdown::BlockKind;
use super::sentence::{Sentence, sentences};

/// Least share of a question's idf mass that a strip must hold to be kept for its own sake.
const MIN_SHARE: f32 = 0.1;
/// Longest strip, in bytes, that is kept because it is next to a kept one: an answer often follows the words that were
/// asked for.
const LONGEST_NEIGHBOUR: usize = 400;
/// Share of the passage above which removing the rest is not worth the gaps.
const MAX_KEPT: f32 = 0.8;
/// Marks the omitted text.
const GAP: &str = " … ";

/// The ranges of a passage, in bytes, that are relevant to one of the questions; `None` if it is better left whole: by
/// words alone, no part is relevant, or nearly all of it is.
#[must_use]
pub fn strips(analyzer: &Analyzer, questions: &[&Question], text: &str) -> Option<Vec<Range<usize>>> {
    let parts = sentences(text);
    let bears = |sentence: &Sentence| {
        let words = text.get(sentence.words()).unwrap_or_default();
        let share = |question: &&Question| question.terms.share(question.terms.mask_of(analyzer, words));
        sentence.kind != BlockKind::Heading && questions.iter().any(|question| share(question) >= MIN_SHARE)
    };
    let bearing: Vec<bool> = parts.iter().map(bears).collect();
    if !bearing.contains(&true) {
        return None;
    }
    let kept: Vec<bool> = (0..parts.len()).map(|place| is_kept(&parts, &bearing, place)).collect();
    let ranges = joined(&parts, &kept);
    let bytes: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    #[expect(clippy::cast_precision_loss, reason = "passages are small")]
    let share = bytes as f32 / text.trim().len().max(1) as f32;
    (share <= MAX_KEPT).then_some(ranges)
}

/// The strips as one text.
#[must_use]
pub fn recompose(text: &str, strips: &[Range<usize>]) -> String {
    let mut whole = String::new();
    let mut end = 0;
    for strip in strips {
        let skipped = text.get(end..strip.start).unwrap_or_default();
        if skipped.chars().any(char::is_alphanumeric) {
            whole.push_str(GAP);
        } else if !whole.is_empty() {
            whole.push('\n');
        }
        whole.push_str(text.get(strip.clone()).unwrap_or_default());
        end = strip.end;
    }
    if text.get(end..).is_some_and(|rest| rest.chars().any(char::is_alphanumeric)) {
        whole.push_str(GAP);
    }
    whole.trim().to_owned()
}

fn is_kept(parts: &[Sentence], bearing: &[bool], place: usize) -> bool {
    let Some(part) = parts.get(place) else { return false };
    let bears = |place: usize| bearing.get(place).copied().unwrap_or_default();
    let is_near = bears(place + 1) || place.checked_sub(1).is_some_and(bears);
    match part.kind {
        BlockKind::Paragraph => bears(place) || (is_near && part.range.len() <= LONGEST_NEIGHBOUR),
        // A row has no meaning without the rest of its table, and code none in parts.
        BlockKind::TableHeader | BlockKind::TableRow => {
            let is_row = |kind| matches!(kind, BlockKind::TableHeader | BlockKind::TableRow | BlockKind::Rule);
            let before = (0..place).rev().take_while(|place| parts.get(*place).is_some_and(|part| is_row(part.kind)));
            let after = (place..).take_while(|place| parts.get(*place).is_some_and(|part| is_row(part.kind)));
            before.chain(after).any(bears)
        }
        BlockKind::Code => bears(place) || is_near,
        // Kept text below a heading keeps its heading.
        BlockKind::Heading => {
            let below =
                (place + 1..).take_while(|place| parts.get(*place).is_some_and(|part| part.kind != BlockKind::Heading));
            below.into_iter().any(bears)
        }
        BlockKind::Rule => false,
    }
}

/// Joins neighbouring strips, with the text between them.
fn joined(parts: &[Sentence], kept: &[bool]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut is_after_kept = false;
    for (part, is_kept) in parts.iter().zip(kept) {
        if *is_kept {
            match ranges.last_mut().filter(|_| is_after_kept) {
                Some(last) => last.end = part.range.end,
                None => ranges.push(part.range.clone()),
            }
        }
        is_after_kept = *is_kept;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(question: &str) -> Question {
        Question::new(Analyzer::english(), question, 100, |_| 1)
    }

    fn refined(question: &str, text: &str) -> Option<String> {
        let question = parsed(question);
        strips(Analyzer::english(), &[&question], text).map(|strips| recompose(text, &strips))
    }

    #[test]
    fn what_bears_on_the_question_is_kept_with_what_stands_beside_it() {
        let text = "# Handbook\n\nThe office opens at nine. The canteen is on the second floor. Bicycles go to the \
                    yard.\n\n## Leave\n\nEveryone has paid annual leave. It is 28 days a year. Forms are green.\n\n## \
                    Parking\n\nCars park behind the house. Visitors ring the bell. Trucks use the gate.";
        assert_eq!(
            refined("How long is annual leave?", text).as_deref(),
            Some("… ## Leave\n\nEveryone has paid annual leave. It is 28 days a year. …")
        );
        assert_eq!(refined("Who painted the ceiling?", text), None, "nothing bears on it by its words");
        assert_eq!(refined("How long is annual leave?", "Annual leave is 28 days."), None, "all of it does");
    }

    #[test]
    fn tables_stay_whole_and_go_whole() {
        let text = "The prices follow here as a table for everybody to read. Nothing is negotiable at all.\n\n| kind | \
                    price |\n|---|---|\n| tea | 2 |\n| coffee | 3 |\n\nThe house was built long ago by people who \
                    are forgotten. Its walls are thick and its windows are small.";
        let kept = refined("What does coffee cost?", text).expect("strips");
        assert!(kept.contains("| kind | price |") && kept.contains("| tea | 2 |"), "{kept}");
        assert!(!kept.contains("walls"), "{kept}");
        let other = refined("How thick are the walls?", text).expect("strips");
        assert!(!other.contains("| tea"), "{other}");
    }

    #[test]
    fn each_of_several_questions_keeps_its_part() {
        let text = "Annual leave is 28 days. Forms for it are green. The yard is swept on Fridays by the caretaker. \
                    Nobody knows the caretaker's name. The bell rings at noon. Mira repairs laptops. She sits upstairs.";
        let (leave, laptops) = (parsed("How long is annual leave?"), parsed("Who repairs laptops?"));
        let ranges = strips(Analyzer::english(), &[&leave, &laptops], text).expect("strips");
        let kept = recompose(text, &ranges);
        assert!(kept.contains("28 days") && kept.contains("Mira") && !kept.contains("swept"), "{kept}");
    }

    proptest! {
        #[test]
        fn strips_are_ordered_exact_ranges_and_hold_every_bearing_sentence(
            text in "([A-Za-z]{1,9}[ .?\n|#-]{1,2}){0,60}",
            question in "[a-z]{1,9} [a-z]{1,9}\\?",
        ) {
            let parsed = parsed(&question);
            let analyzer = Analyzer::english();
            if let Some(ranges) = strips(analyzer, &[&parsed], &text) {
                prop_assert!(!ranges.is_empty());
                let mut end = 0;
                for range in &ranges {
                    prop_assert!(range.start >= end && range.end > range.start && text.get(range.clone()).is_some());
                    end = range.end;
                }
                prop_assert_eq!(
                    parsed.terms.mask_of(analyzer, &recompose(&text, &ranges)) != 0,
                    true,
                    "what was asked for is still there"
                );
            }
        }
    }
}
