#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use proptest::prelude::*;

use super::*;

fn split_words(text: &str) -> Vec<&str> {
    sentences(text).into_iter().map(|sentence| &text[sentence.words()]).collect()
}

/// Each case is written with `|` where a sentence must end; the bar is taken out before splitting.
#[test]
fn ordinary_prose() {
    let cases = [
        "It is so.| It is not so!| Is it?| Yes.",
        "Dr. Smith met Mr. J. R. Jones, e.g. in the U.S. Senate, i.e. there.| They talked.",
        "He lives in the U.S.| The weather is fine.",
        "It rose by 3.5 percent to 1.234.567 at 10.30 a.m.| Nobody knew why.",
        "See Fig. 3 and Sec. 4.2, pp. 12 ff. for it.| No. 5 is alive.",
        "Acme Inc. Chairman Bob left.| Acme Inc. is fine.",
        "He works for Acme Inc.| The firm is large.",
        "Wait... what?| Well...| Then it ended.",
        "Der Rest verfällt am 31. März des Folgejahres.| Danach nicht.",
        "Das Lager ist im 3. Stock.| Es hat 31.| Der Hof hat 4.",
        "Am 2. April oder am 3. August ist frei.",
        "Am Samstag, 11. November wird gefegt.| Um neun geht es los.",
        "Questions: Olaf Petersen, ext. 104.| He is in at nine.",
        "It works at −10 … +50 °C.| It may freeze.",
        "“It is so.”| She said it.| (It was late.)| He left.",
        "\"Really?\" he asked.| \"Yes.\"| He left.",
        "He said “hello!” and left.",
        "Smith et al. (2019) found it.| See Jones et al.| The end.",
        "Open example.com or v1.2.3 now.| Done.",
        "In Torcaso v. Watkins it held.| It did.",
        "In 1999.| 15 people came.",
        "iPhone sales rose.| iPhone prices fell.",
        "これは文です。|それも文です！|「そうですか？」|はい。",
        "你好。|世界！",
        "It cost $5.| We paid on Jan. 5 in full.| In Feb.| Nobody paid.",
        "1. The first point.| The second.",
        "We chose plan B.| It worked.",
        "He got a Ph.D. in physics.| Good.",
        "It checks rest and hours (max. 55 in seven days).| It needs min. 5 litres.| The swap closes at 12:00.",
        "It takes 45 min.| 30 people came.",
        "The tram leaves, dep. Mill Lane 0115.| It is wet.",
    ];
    for case in cases {
        let text = case.replace('|', "");
        let expected: Vec<_> = case.split('|').map(str::trim).collect();
        let got = split_words(&text);
        let expected: Vec<_> = expected.iter().map(|part| part.trim_start_matches("1. ")).collect();
        assert_eq!(got, expected);
    }
}

#[test]
fn markers_belong_to_the_sentence_before() {
    let cases = [
        "It is so.[^1]| It is not. [^2][^3]| Why. [^2], [^1]| End [^4].",
        "It is so.[^1]|It is not.\n[^2]|\nEnd.",
        "It is so. [^1].| Then more.",
        "It is **so.**[^1]| Then more.",
        "It is so.[^1]| eBay grew.",
        "It is so.[^x]| More.",
    ];
    for case in cases {
        let text = case.replace('|', "");
        let expected: Vec<_> = case.split('|').map(str::trim).collect();
        assert_eq!(split_words(&text), expected);
    }
}

#[test]
fn lines_and_blocks() {
    let cases: [(&str, &[&str]); 8] = [
        (
            "Annual leave\nEmployees get 25 days of paid leave.",
            &["Annual leave", "Employees get 25 days of paid leave."],
        ),
        (
            "The committee met the delegation of the Republic in New\nYork and then in the old town of\nGeneva. It ended.",
            &[
                "The committee met the delegation of the Republic in New\nYork and then in the old town of\nGeneva.",
                "It ended.",
            ],
        ),
        ("Annual: 25 days\nSick: 10 days", &["Annual: 25 days", "Sick: 10 days"]),
        ("Leave is 25 days [^1]\nSick leave is 10 days [^2]", &["Leave is 25 days [^1]", "Sick leave is 10 days [^2]"]),
        ("Hard break  \nnext line", &["Hard break", "next line"]),
        ("# Title. More\n\n- one. Two.\n- three", &["Title. More", "one.", "Two.", "three"]),
        ("| a. B | c |\n| d | e |", &["| a. B | c |", "| d | e |"]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(split_words(text), expected, "{text:?}");
    }
}

#[test]
fn lines_with_a_second_column_at_one_place_are_a_list() {
    let options = "--quiet          say less\n--rate=LITRES    stop after\n                 so many litres\n-v               say more";
    assert_eq!(
        split_words(options),
        [
            "--quiet          say less",
            "--rate=LITRES    stop after\n                 so many litres",
            "-v               say more"
        ]
    );
    assert_eq!(split_words("start\topens the gate\nstop\tcloses it").len(), 2);
    // Blanks after a comma are no gap.
    assert_eq!(split_words("these words,  then\nother words,  and\nfinal words,  all").len(), 1);
    assert_eq!(split_words("one  two\nthree  four").len(), 1);
}

#[test]
fn items_and_lines_with_a_label_are_apart() {
    let cases: [(&str, &[&str]); 7] = [
        (
            "a) Report the wet paint at once. The first\n   report holds for a day.\nb) Tins without a lid are thrown\n   away",
            &[
                "a) Report the wet paint at once.",
                "The first\n   report holds for a day.",
                "b) Tins without a lid are thrown\n   away",
            ],
        ),
        (
            "(1) the tins that have a lid\n(2) the pots that have none",
            &["(1) the tins that have a lid", "(2) the pots that have none"],
        ),
        (
            "The tins are kept under the rules of section\nb) of the law, which holds for all of the pots.",
            &["The tins are kept under the rules of section\nb) of the law, which holds for all of the pots."],
        ),
        ("It holds for the tins of a),\nb) and c).", &["It holds for the tins of a),\nb) and c)."]),
        (
            "24 Dec: the shop is open, and the last tin is sold at noon (not at one as it was last year)\n25 Dec: nothing\n26 Dec: two of the painters are there, so that the shop is open",
            &[
                "24 Dec: the shop is open, and the last tin is sold at noon (not at one as it was last year)",
                "25 Dec: nothing",
                "26 Dec: two of the painters are there, so that the shop is open",
            ],
        ),
        (
            "Tins: the rule for tins of which the lid is lost is told in\nChapter: it is the last one",
            &["Tins: the rule for tins of which the lid is lost is told in\nChapter: it is the last one"],
        ),
        (
            "The tins that have lost their lid are sold under the new rule\n2024: they were sold before",
            &["The tins that have lost their lid are sold under the new rule\n2024: they were sold before"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(split_words(text), expected, "{text:?}");
    }
}

#[test]
fn settings_stand_each_on_its_line() {
    let cases: [(&str, &[&str]); 4] = [
        (
            "lids:\n  most: 6 # default 15\n  - first_lid: 5s\n    last.lid: 9s",
            &["lids:", "most: 6 # default 15", "first_lid: 5s", "last.lid: 9s"],
        ),
        ("most_lids = 6\nleast_lids = 5", &["most_lids = 6", "least_lids = 5"]),
        (
            "most: 6 # 15 at first. Nobody needs more\nleast: 5",
            &["most: 6 # 15 at first.", "Nobody needs more", "least: 5"],
        ),
        (
            "The tins are kept in one\nplace: the shelf of the yard",
            &["The tins are kept in one\nplace: the shelf of the yard"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(split_words(text), expected, "{text:?}");
    }
}

#[test]
fn lines_that_begin_with_the_number_of_a_section_are_apart() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "Art. 3 The tins of the town are red, and those of the county blue [until May: green]\nArt. 4 Pots are free for the painters of the town",
            &[
                "Art. 3 The tins of the town are red, and those of the county blue [until May: green]",
                "Art. 4 Pots are free for the painters of the town",
            ],
        ),
        (
            "§ 7 Whoever paints a wall by night has to tell the neighbours of it\n§ 8 Whoever paints a door\ntells nobody",
            &[
                "§ 7 Whoever paints a wall by night has to tell the neighbours of it",
                "§ 8 Whoever paints a door\ntells nobody",
            ],
        ),
        ("See No. 4 of the list and Art. 5 of the law.", &["See No. 4 of the list and Art. 5 of the law."]),
        (
            "It holds for the tins that are named in the annex under\nNo. 4 Pots and for others.",
            &["It holds for the tins that are named in the annex under\nNo. 4 Pots and for others."],
        ),
        (
            "Das gilt für alle Töpfe (auch die alten) nach\n§ 4 Abs. 2 der Ordnung.",
            &["Das gilt für alle Töpfe (auch die alten) nach\n§ 4 Abs. 2 der Ordnung."],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(split_words(text), expected, "{text:?}");
    }
}

#[test]
fn text_without_capitals() {
    let text = "an experimental study of a wing in a slipstream was made . the results e.g. the lift were small. it was j. smith who did it .";
    assert_eq!(split_words(text).len(), 3);
}

#[test]
fn each_line_of_a_quotation_begins_behind_its_mark() {
    let text = "> The gale came at four.\n> The mast broke. It fell\n> on the deck.\n> > Damage: none.";
    let words = |sentence: &Sentence| text[sentence.words()].to_owned();
    let found: Vec<String> = sentences(text).iter().map(words).collect();
    assert_eq!(found, ["The gale came at four.", "The mast broke.", "It fell\n> on the deck.", "Damage: none."]);
}

#[test]
fn a_sentence_that_begins_within_a_line_is_wrapped_with_it() {
    let text = "The tool checks jars. It does not, however, do this by providing a nice\nCover or lid for the pump, since the\nones there are fit well enough for all of the jars that are sold today.";
    assert_eq!(split_words(text).len(), 2);
}

#[test]
fn stays_linear() {
    for unit in [".", ". ", "[^", ".[^1] ", "- ", ">", "a.\n", "?)", ". (", "\n", "|-|\n", "```\n", " . [^a"] {
        let text = unit.repeat(400_000 / unit.len());
        let started = std::time::Instant::now();
        let _ = sentences(&text);
        assert!(started.elapsed().as_secs() < 5, "{unit:?} took {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn cover_the_text_in_order(text in "[-a-cA-C.!?…。 \t\n\"')(\\[\\]^1|#>*`]{0,200}|\\PC*") {
        let mut end = 0;
        for sentence in sentences(&text) {
            prop_assert!(!sentence.range.is_empty());
            prop_assert!(text[end..sentence.range.start].trim().is_empty());
            prop_assert!(sentence.range.start <= sentence.content && sentence.content <= sentence.range.end);
            let words = &text[sentence.range.clone()];
            prop_assert_eq!(words, words.trim());
            end = sentence.range.end;
        }
        prop_assert!(text[end..].trim().is_empty());
    }
}
