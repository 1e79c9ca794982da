use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::split::embedding_text;

const WINDOW: Window = Window { tokens: 42, special_tokens: 2 };

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn cost(text: &str) -> u32 {
    u32::try_from(words(text)).expect("small")
}

#[test]
fn a_sentence_has_room_of_its_own_in_the_window() {
    assert_eq!(beside_sentence(WINDOW), Window { tokens: 32, special_tokens: 2 });
    let long = "word ".repeat(30);
    assert_eq!(words(fit(&long, WINDOW, &words)), 10);
    assert_eq!(fit("It is short.", WINDOW, &words), "It is short.");
    let wide = Window { tokens: 8_192, special_tokens: 0 };
    assert_eq!(beside_sentence(wide).tokens, 8_192 - MOST_TOKENS, "two sentences, not a quarter of a book");
}

#[test]
fn a_sentence_stands_between_front_and_piece() {
    assert_eq!(embedding_text("Title\nA > B", Some("Of May."), "Text."), "Title\nA > B\nOf May.\nText.");
    assert_eq!(embedding_text("", Some("Of May."), "Text."), "Of May.\nText.");
}

#[test]
fn replies_are_read_whatever_is_around_them() {
    for (reply, read) in [
        ("It is about May.", Some("It is about May.")),
        (" \"It is\n about May.\"\n", Some("It is about May.")),
        ("«It\u{0}is»", Some("It is")),
        ("\u{202e}It is\u{200b} short.\u{feff}", Some("It is short.")),
        ("…\n", None),
        ("", None),
    ] {
        assert_eq!(read_reply(reply).as_deref(), read, "{reply:?}");
    }
}

#[test]
fn an_occasion_is_told_by_everything_that_the_model_is_asked_about() {
    let headings = ["A".to_owned()];
    let occasion = Occasion { models: &[1; 32], title: "T", heading_path: &headings, piece: "P", earlier: 0 };
    let others = [
        Occasion { models: &[2; 32], ..occasion },
        Occasion { title: "U", ..occasion },
        Occasion { heading_path: &[], ..occasion },
        Occasion { piece: "Q", ..occasion },
        Occasion { earlier: 1, ..occasion },
    ];
    assert_eq!(occasion.key(), occasion.key());
    assert!(others.iter().all(|other| other.key() != occasion.key()));
}

#[test]
fn what_fits_is_shown_whole() {
    let whole = Excerpt { parts: std::iter::once(0..7).collect(), pieces: 0..2 };
    assert_eq!(excerpts("a b c d", &[0, 4], 4, &cost), [whole]);
}

#[test]
fn of_a_long_text_its_beginning_and_a_stretch_around_the_pieces_are_shown() {
    // 32 pieces of one word; 16 words can be shown: 2 of the beginning, and 14 in the stretch, shared by 7 pieces.
    let text = "w ".repeat(32);
    let starts: Vec<usize> = (0..32).map(|place| place * 2).collect();
    let shown = excerpts(&text, &starts, 16, &cost);
    let pieces: Vec<Range<usize>> = shown.iter().map(|excerpt| excerpt.pieces.clone()).collect();
    assert_eq!(pieces, [0..7, 7..14, 14..21, 21..28, 28..32]);
    assert_eq!((shown[0].parts.len(), &shown[0].parts[0]), (1, &(0..28)), "nothing before it: more after it");
    assert_eq!(shown[2].parts, [0..4, 22..50], "three before, four after");
    assert_eq!(shown[4].parts, [0..4, 36..64], "nothing after it: more before it");
}

proptest! {
    #[test]
    fn each_piece_is_shown_once_within_its_part_and_within_the_budget(
        lengths in prop::collection::vec(1_usize..12, 1..60),
        budget in 24_u32..200,
    ) {
        let text: String = lengths.iter().map(|length| "w ".repeat(*length)).collect();
        let starts: Vec<usize> = lengths.iter().scan(0, |at, length| {
            let start = *at;
            *at += length * 2;
            Some(start)
        }).collect();
        let shown = excerpts(&text, &starts, budget, &cost);
        let listed: Vec<usize> = shown.iter().flat_map(|excerpt| excerpt.pieces.clone()).collect();
        prop_assert_eq!(listed, (0..starts.len()).collect::<Vec<_>>());
        for excerpt in &shown {
            let last = excerpt.parts.last().unwrap();
            let ends = starts.get(excerpt.pieces.end).copied().unwrap_or(text.len());
            prop_assert!(last.end >= ends);
            prop_assert!(excerpt.parts.iter().any(|part| part.start <= starts[excerpt.pieces.start]));
            prop_assert!(excerpt.parts.windows(2).all(|pair| pair[0].end < pair[1].start));
            let words: u32 = excerpt.parts.iter().map(|part| cost(text.get(part.clone()).unwrap())).sum();
            prop_assert!(words <= budget, "{words} of {budget}");
        }
    }
}
