use proptest::prelude::*;
use uuid::Uuid;

use super::duplicate::Shingles;
use super::join::{Stretch, gaps, join};
use super::*;

const NOTICE: &str = "Employees may carry over at most five days of unused leave into the next calendar year, \
                      provided that the line manager has agreed to it in writing before the end of December.";

fn holds(shown: &str, hidden: &str) -> bool {
    Shingles::of(shown).holds(&Shingles::of(hidden))
}

#[test]
fn copies_are_duplicates_whatever_their_form() {
    let reflowed = NOTICE.replace(", ", ",\n  ").to_lowercase();
    assert!(holds(NOTICE, NOTICE));
    assert!(holds(NOTICE, &reflowed));
    assert!(holds(&format!("Appendix C. {NOTICE} See also page 7."), NOTICE), "the shown one may say more");
    assert!(holds(NOTICE, &NOTICE.replace("in writing", "by letter")), "two words of thirty");
    assert!(holds("Closed.", "closed"));
}

#[test]
fn what_differs_in_meaning_is_no_duplicate() {
    let rows = [
        ("a number", NOTICE.replace("five", "5")),
        ("a negation", NOTICE.replace("has agreed", "has not agreed")),
        ("a name", NOTICE.replace("the line manager", "Ms Ahmadi")),
        ("a month", NOTICE.replace("December", "March")),
        ("a sentence more", format!("{NOTICE} Leave that is not taken by then is paid out.")),
        (
            "another notice",
            "Employees who fall ill on holiday get these days back if a doctor has certified it.".into(),
        ),
    ];
    for (what, other) in rows {
        assert!(!holds(NOTICE, &other), "{what}");
    }
    assert!(!holds("Closed on Monday.", "Closed on Sunday."));
    let years = ["2023", "2024"].map(|year| format!("{NOTICE} This holds for {year}."));
    assert!(!holds(&years[0], &years[1]) && !holds(&years[1], &years[0]));
}

const A: Uuid = Uuid::from_u128(1);
const B: Uuid = Uuid::from_u128(2);

fn chunk(document_id: Uuid, ordinal: u32, text: &str) -> Ranked<'_> {
    Ranked { key: ChunkKey { document_id, ordinal }, last_ordinal: ordinal, heading: &[], table_header: None, text }
}

#[test]
fn chunks_of_different_sections_are_no_neighbours() {
    let (leave, pay) = (["Leave".to_owned()], ["Pay".to_owned()]);
    let under = |ordinal, heading| Ranked { heading, ..chunk(A, ordinal, ["one", "two", "three"][ordinal as usize]) };
    let ranked = [under(1, &leave), under(2, &pay), under(0, &leave)];
    assert_eq!(grouped(&ranked, Grouping::default(), 10), [(0, vec![2, 0], vec![]), (1, vec![1], vec![])]);
}

#[test]
fn the_rest_of_a_row_is_joined_to_nothing_but_its_own_row() {
    let headers = [None, Some("| Ann: |"), Some("| Ann: |"), None, Some("| Bo: |")];
    let texts = ["| Ann | one |", "| two |", "| three |", "| Bo | four |", "| five |"];
    let below = |ordinal: u32| {
        let at = ordinal as usize;
        Ranked { table_header: headers[at], ..chunk(A, ordinal, texts[at]) }
    };
    let ranked = [2, 3, 1, 4, 0].map(below);
    assert_eq!(grouped(&ranked, Grouping::default(), 10), [(0, vec![4, 2, 0], vec![]), (1, vec![1, 3], vec![])]);
}

/// Leader, members and duplicates of each group.
fn grouped(ranked: &[Ranked<'_>], grouping: Grouping, limit: usize) -> Vec<(usize, Vec<usize>, Vec<usize>)> {
    group(ranked, grouping, limit).into_iter().map(|group| (group.leader, group.members, group.duplicates)).collect()
}

#[test]
fn neighbours_and_duplicates_find_their_groups() {
    let ranked = [
        chunk(A, 5, "five"),
        chunk(B, 0, "other"),
        chunk(A, 3, "three"),
        chunk(B, 7, "five"),
        chunk(A, 4, "four"),
        chunk(A, 9, "nine"),
    ];
    let all = Grouping::default();
    assert_eq!(
        grouped(&ranked, all, 10),
        [(0, vec![2, 4, 0], vec![3]), (1, vec![1], vec![]), (5, vec![5], vec![])],
        "the fourth chunk joins the third to the fifth"
    );
    assert_eq!(grouped(&ranked, all, 1), [(0, vec![0], vec![3])], "nothing after the last result is a neighbour");
    let merging = Grouping { collapse_duplicates: false, ..all };
    assert_eq!(grouped(&ranked, merging, 2), [(0, vec![0], vec![]), (1, vec![1], vec![])]);
    let collapsing = Grouping { merge_neighbours: false, ..all };
    assert_eq!(grouped(&ranked, collapsing, 3), [(0, vec![0], vec![3]), (1, vec![1], vec![]), (2, vec![2], vec![])]);
    assert_eq!(
        grouped(&ranked, Grouping { collapse_duplicates: false, merge_neighbours: false }, 9).len(),
        ranked.len()
    );
}

#[test]
fn a_source_does_not_grow_into_a_document() {
    let texts: Vec<String> = (0..20).map(|number| format!("part {number}")).collect();
    let ranked: Vec<Ranked<'_>> = texts.iter().zip(0..).map(|(text, ordinal)| chunk(A, ordinal, text)).collect();
    let groups = group(&ranked, Grouping::default(), 100);
    assert!(groups.iter().all(|group| group.members.len() <= MOST_MERGED), "{groups:?}");
    assert_eq!(groups.iter().map(|group| group.members.len()).sum::<usize>(), 20);
}

proptest! {
    /// Groups hold every passage at most once, members are in order without a gap, leaders in rank order.
    #[test]
    fn groups_are_sound(keys in prop::collection::hash_set((0..3u128, 0..9u32), 0..20), limit in 0..12usize) {
        let texts: Vec<String> = keys.iter().map(|(_, ordinal)| format!("text {}", ordinal % 4)).collect();
        let ranked: Vec<Ranked<'_>> =
            keys.iter().zip(&texts).map(|((document, ordinal), text)| chunk(Uuid::from_u128(*document), *ordinal, text)).collect();
        let groups = group(&ranked, Grouping::default(), limit);
        prop_assert!(groups.len() <= limit && groups.is_sorted_by_key(|group| group.leader));
        let mut seen: Vec<usize> = groups.iter().flat_map(|group| group.members.iter().chain(&group.duplicates)).copied().collect();
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        prop_assert_eq!(count, seen.len());
        for group in &groups {
            prop_assert!(group.members.contains(&group.leader) && group.members.len() <= MOST_MERGED);
            let ordinals: Vec<u32> = group.members.iter().map(|place| ranked[*place].key.ordinal).collect();
            prop_assert!(ordinals.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{:?}", ordinals);
        }
    }

    /// Stretches cut out of a text, overlapping or apart, join to the slice from the first to the last.
    #[test]
    fn joined_text_is_the_documents(text in "[a-zäß漢 ]{1,60}", cuts in prop::collection::vec((0..60usize, 1..20usize), 1..5)) {
        let characters: Vec<char> = text.chars().collect();
        let slice = |range: std::ops::Range<usize>| characters[range].iter().collect::<String>();
        let mut ranges: Vec<_> = cuts.iter().map(|(start, length)| {
            let start = (*start).min(characters.len() - 1);
            start..(start + length).min(characters.len())
        }).collect();
        ranges.sort_by_key(|range| range.start);
        let texts: Vec<String> = ranges.iter().map(|range| slice(range.clone())).collect();
        let narrow = |offset: usize| u32::try_from(offset).unwrap();
        let stretches: Vec<Stretch<'_>> = ranges.iter().zip(&texts)
            .map(|(range, text)| Stretch { start: narrow(range.start), end: narrow(range.end), text }).collect();
        let end = ranges.iter().map(|range| range.end).max().unwrap();
        let gap_ranges = gaps(&stretches);
        let gap_texts: Vec<String> = gap_ranges.iter().map(|gap| slice(gap.start as usize..gap.end as usize)).collect();
        let joined = join(&stretches, &gap_texts);
        prop_assert_eq!(joined, Some(slice(ranges[0].start..end)));
        if !gap_texts.is_empty() {
            prop_assert_eq!(join(&stretches, &gap_texts[1..]), None);
        }
    }
}

#[test]
fn stretches_out_of_order_are_not_joined() {
    let stretch = |start, text: &'static str| Stretch { start, end: start + 2, text };
    assert_eq!(join(&[stretch(4, "ef"), stretch(0, "ab")], &[]), None);
    assert_eq!(join(&[], &[]), None);
    assert_eq!(join(&[stretch(0, "ab"), stretch(3, "de")], &["c".to_owned()]), Some("abcde".to_owned()));
    assert_eq!(join(&[stretch(0, "ab"), stretch(3, "de")], &["cc".to_owned()]), None);
}
