//! Headings, lists, code and tables decide where a text is cut.

use super::*;
use crate::markdown::{BlockKind, blocks};

const SENTENCE: &str = "Aaaa bbbb cccc dddd eeee ffff gggg hhhh.";

#[test]
fn each_heading_opens_a_piece() {
    let text = format!("# Handbook\n\n## Leave\n\n{SENTENCE}\n\n### Sick\n\n{SENTENCE}\n\n## Pay\n\n{SENTENCE}\n");
    let paths: Vec<_> = pieces_of(&text, SplitterKind::Markdown, 60, 0).into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, [["Handbook", "Leave"].as_slice(), &["Handbook", "Leave", "Sick"], &["Handbook", "Pay"]]);
}

#[test]
fn very_short_sections_share_a_piece_under_what_is_above_them_all() {
    let text = format!(
        "# Terms\n\n{SENTENCE}\n\n## Ann\n\nA cat.\n\n## Bo\n\nA dog.\n\n## Cy\n\n{SENTENCE}\n\n# Last\n\nA cow.\n"
    );
    let expected = [
        (format!("# Terms\n\n{SENTENCE}"), vec!["Terms".to_owned()]),
        ("## Ann\n\nA cat.\n\n## Bo\n\nA dog.".to_owned(), vec!["Terms".to_owned()]),
        (format!("## Cy\n\n{SENTENCE}"), vec!["Terms".to_owned(), "Cy".to_owned()]),
        ("# Last\n\nA cow.".to_owned(), vec!["Last".to_owned()]),
    ];
    assert_eq!(pieces_of(&text, SplitterKind::Markdown, 160, 0), expected);
}

#[test]
fn nothing_is_made_of_what_no_reader_sees() {
    let badge = "[![build status](https://host.example/badge.svg)](https://host.example/build)";
    let links: String = (0..40).map(|number| format!("[#{number}]: https://host.example/pull/{number}\n")).collect();
    let text = format!(
        "# Paint\n\n{badge}\n{badge}\n\n{SENTENCE}\n\n## 1.1\n\n{SENTENCE}\n\n{links}\n## 1.0\n\n{SENTENCE}\n\n{links}"
    );
    let pieces = texts_of(&text, SplitterKind::Markdown, 60, 0);
    assert_eq!(pieces, [SENTENCE.to_owned(), format!("## 1.1\n\n{SENTENCE}"), format!("## 1.0\n\n{SENTENCE}")]);
    // A single definition is not worth a cut.
    let text = format!("{SENTENCE}\n\n[a]: https://host.example\n\n{SENTENCE}\n\n[b]: https://host.example\n");
    let whole = format!("{SENTENCE}\n\n[a]: https://host.example\n\n{SENTENCE}");
    assert_eq!(texts_of(&text, SplitterKind::Markdown, 60, 0), [whole]);
    assert_eq!(texts_of("[a]: https://host.example\n", SplitterKind::Markdown, 60, 0), ["[a]: https://host.example"]);
}

#[test]
fn a_paragraph_in_bold_heads_the_text_below_it() {
    let text = format!(
        "# Paint\n\n**Oil and lime**\n\n{SENTENCE}\n\n__Brushes:__\n\n- {SENTENCE}\n\n**Wait for a day.**\n\n{SENTENCE}\n\n\
        **Chalk** dries soon, and so it is used often.\n\n## Walls\n\n{SENTENCE}\n"
    );
    let paths: Vec<String> =
        pieces_of(&text, SplitterKind::Markdown, 60, 0).into_iter().map(|(_, path)| path.join(">")).collect();
    let expected = ["Paint>Oil and lime", "Paint>Brushes", "Paint>Brushes", "Paint>Walls"];
    assert_eq!(paths, expected);
    // Directly above each other, at the end, and in a list they head nothing.
    for text in
        [format!("**Oil**\n\n# Paint\n\n{SENTENCE}\n\n**End**\n"), format!("# Paint\n\n- **Oil**\n\n  {SENTENCE}\n")]
    {
        let paths = pieces_of(&text, SplitterKind::Markdown, 300, 0);
        assert!(paths.iter().all(|(_, path)| path.iter().all(|heading| heading == "Paint")), "{paths:?}");
    }
}

#[test]
fn questions_head_their_answers() {
    // Lists of two questions, and how each begins.
    let cases = [
        ("**Is it dry?**\n", "\n\n**Where do I buy it? Who asks?** "),
        ("**Is it dry?** ", "\n\n**Where do I buy it? Who asks?**\n\n"),
        ("* **1.1 Is it dry?**\n\n  ", "\n\n* **1.2 Where do I buy it? Who asks?**\n\n  "),
        ("1. Is it dry?\n\n   ", "\n\n2. Where do I buy it? Who asks?\n   "),
        ("Q: Is it dry?\n\nA: ", "\n\nQ: Where do I buy it?\n   Who asks?\n\nA: "),
        ("- **Q:** Is it dry?\n  **A:** ", "\n- **Q:** Where do I buy it? Who asks?\n  **A:** "),
    ];
    for (first, second) in cases {
        let text = format!("# Paint\n\n{first}{SENTENCE}{second}{SENTENCE} {SENTENCE}\n\n{SENTENCE}\n");
        let pieces = pieces_of(&text, SplitterKind::Markdown, 140, 0);
        let last = |path: &[String]| path.last().cloned().unwrap_or_default();
        let mut headings: Vec<String> = pieces.iter().map(|(_, path)| last(path)).collect();
        headings.dedup();
        let names: Vec<&str> = headings
            .iter()
            .map(|it| it.trim_start_matches(|sign: char| sign.is_ascii_digit() || ". ".contains(sign)))
            .collect();
        assert_eq!(names, ["Is it dry?", "Where do I buy it? Who asks?"], "{text}");
        assert!(pieces.iter().all(|(piece, _)| piece.contains(SENTENCE) && piece.contains('?')), "{pieces:?}");
        // Both parts of a long answer stand below its question.
        let cut = pieces_of(&text, SplitterKind::Markdown, 28, 0);
        assert!(
            cut.len() > 2 && cut.iter().all(|(_, path)| path.last().is_some_and(|it| it.ends_with('?'))),
            "{cut:?}"
        );
    }
}

/// The innermost heading of the piece that holds each of these words.
fn headings_over(text: &str, words: &[&str]) -> Vec<String> {
    let pieces = pieces_of(text, SplitterKind::Markdown, 200, 0);
    let over = |words: &&str| pieces.iter().find(|(piece, _)| piece.contains(words)).expect("a piece").1.join(">");
    words.iter().map(over).collect()
}

#[test]
fn paragraphs_in_a_series_begin_with_their_heads() {
    let body = format!("{SENTENCE} {SENTENCE} {SENTENCE} {SENTENCE}");
    let text = format!(
        "# Paint\n\n**Oil:** red {body}\n\n**Brushes**\n\nbrown {body}\n\nlong {body}\n\n**Old lime, chalk** Blue {body}\n\n\
        **Is it dry?** Green {body}\n\n**Note:** wet {body}\n\n## Walls\n\n**Brick** is {body}\n"
    );
    assert_eq!(
        headings_over(&text, &["red", "brown", "long", "Blue", "Green", "wet", "is Aaaa"]),
        [
            "Paint>Oil",
            "Paint>Brushes",
            "Paint>Brushes",
            "Paint>Old lime, chalk",
            "Paint>Is it dry?",
            "Paint>Is it dry?",
            "Paint>Walls"
        ]
    );
    let text = format!(
        "# Rules\n\n**4.1 Oil.** red {body}\n\n**4.2 Tins (old)**\n\n| Tin | Lid |\n|---|---|\n| brown {body} | 1 |\n\n\
        **4.3 Monday and Friday** are free {body}\n"
    );
    assert_eq!(
        headings_over(&text, &["red", "brown", "are free"]),
        ["Rules>4.1 Oil", "Rules>4.2 Tins (old)", "Rules>4.3 Monday and Friday"]
    );
    // Below titles that come first, heads are parts of theirs.
    let text = format!(
        "**Oil**\n\n**Kinds:** red {body}\n\n**Prices:** brown {body}\n\n**Lime**\n\nold {body}\n\n**Prices of it:** blue {body}\n"
    );
    assert_eq!(
        headings_over(&text, &["red", "brown", "old", "blue"]),
        ["Oil>Kinds", "Oil>Prices", "Lime", "Lime>Prices of it"]
    );
}

#[test]
fn other_words_in_bold_head_nothing() {
    let body = format!("{SENTENCE} {SENTENCE} {SENTENCE}");
    for text in [
        // Subjects, speakers, fields, and emphasis here and there.
        format!("# Paint\n\n**Oil** dries {body}\n\n**Lime** shines {body}\n\n**Chalk** is {body}\n"),
        format!("# Paint\n\n**Ann:** So {body}\n\n**Bo:** No {body}\n\n**Ann:** Yes {body}\n\n**Bo:** Or {body}\n"),
        "# Paint\n\n**Owner:** Ann\n\n**Since:** May\n\n**Colour:** red\n".to_owned(),
        format!(
            "# Paint\n\n**Oil:** {body}\n\n{0}**Lime:** {body}\n\n{0}**Chalk:** {body}\n",
            format!("{body}\n\n").repeat(8)
        ),
        format!("# Paint\n\n- **Oil:** {body}\n- **Lime:** {body}\n- **Chalk:** {body}\n"),
        format!("# Paint\n\n**Oil:** {body}\n\n**Lime:** {body}\n"),
    ] {
        let pieces = pieces_of(&text, SplitterKind::Markdown, 120, 0);
        assert!(pieces.iter().all(|(_, path)| path == &["Paint"]), "{pieces:?}");
    }
}

#[test]
fn a_question_in_passing_heads_nothing() {
    for text in [
        format!("# Paint\n\n**Is it dry?** {SENTENCE}\n\n{SENTENCE}\n"),
        format!("# Paint\n\nAsk yourself:\n\n1. Is it dry?\n2. Is it clean?\n3. Is it flat?\n\n{SENTENCE}\n"),
        format!("# Paint\n\n**Note**\n\n{SENTENCE}\n\n**Hint**\n\n{SENTENCE}\n"),
        format!("# Paint\n\nQ: {SENTENCE}\n\nQ: {SENTENCE}\n"),
        format!("# Paint\n\n```\nQ: Is it?\nA: Yes.\nQ: Is it?\nA: No.\n```\n\n{SENTENCE}\n"),
    ] {
        let paths: Vec<_> =
            pieces_of(&text, SplitterKind::Markdown, 100, 0).into_iter().map(|(_, path)| path).collect();
        assert_eq!(paths, [["Paint"]], "{text}");
    }
}

#[test]
fn what_introduces_a_text_stays_with_it() {
    // Two parts, of which the second begins a piece.
    let cases = [
        (SENTENCE, "You need this:\n\n- Aaaa bbbb cccc.\n- Dddd eeee ffff gggg."),
        (SENTENCE, "Run it so:\n\n```\naaaa bbbb cccc\n```"),
        ("-a, --all\n       Aaaa bbbb cccc dddd eeee ffff.", "-b, --brief\n       Aaaa bbbb cccc dddd eeee ffff."),
        ("Aaaa\n  Bbbb cccc dddd eeee ffff gggg.", "Bbbb\n  Cccc dddd eeee ffff gggg hhhh."),
    ];
    for (first, second) in cases {
        for gap in ["\n", "\n\n"] {
            let text = format!("{first}{gap}{second}");
            assert_eq!(texts_of(&text, SplitterKind::Markdown, 15, 0), [first, second], "{text}");
        }
    }
}

#[test]
fn a_table_is_cut_between_rows_and_its_header_is_repeated() {
    let text = format!("{SENTENCE}\n\n{}\nAfter it.", table_of(20));
    for kind in [SplitterKind::Recursive, SplitterKind::Markdown, SplitterKind::Tokens] {
        let pieces = split_titled(&text, "", &settings(kind, 64, None), WINDOW, &word_pieces);
        assert!(pieces.len() > 3);
        for (number, piece) in pieces.iter().enumerate() {
            let slice = &text[piece.bytes.clone()];
            let is_later = slice.starts_with("| P");
            assert_eq!(piece.table_header.as_deref(), is_later.then_some("Staff list:\n| Name | Work | Phone |"));
            assert!(is_later || number == 0 || slice.starts_with("Staff list:\n\n| Name"), "{slice}");
            for line in slice.lines().filter(|line| line.starts_with('|')) {
                assert!(text.lines().any(|row| row == line), "{line}");
            }
        }
    }
}

#[test]
fn only_a_row_that_fits_in_no_piece_is_cut_and_between_its_cells() {
    let cells: Vec<String> = (0..8).map(|number| format!("Col {number}: aaaa. Bb {number}")).collect();
    let text = format!("| a | b |\n| {} |\n| c | d |", cells.join(" | "));
    let whole = texts_of(&text, SplitterKind::Recursive, 64, 0);
    assert_eq!(whole, ["| a | b |", &format!("| {} |\n| c | d |", cells.join(" | "))]);
    for size in [50, 40, 24] {
        let pieces = texts_of(&text, SplitterKind::Recursive, size, 0);
        assert!(pieces.len() >= 3 && pieces[0] == "| a | b |", "{pieces:?}");
        let shown = pieces.iter().flat_map(|piece| cells.iter().filter(|cell| piece.contains(cell.as_str())));
        assert!(shown.eq(&cells) && pieces.iter().all(|piece| piece.starts_with("| ")), "{pieces:?}");
    }
}

#[test]
fn each_part_of_a_cut_row_is_of_that_row_alone() {
    let cells = |name: &str| (1..30).map(|number| format!(" {name}{number} |")).collect::<String>();
    let row = |name: &str| format!("| {name} |{}", cells(name));
    let header = format!("| Name |{}", cells("Col"));
    let text = format!("{header}\n{}\n{}\n{}\n\nAfter.", "|---".repeat(30) + "|", row("Ann"), row("Bo"));
    let pieces = split_titled(&text, "", &settings(SplitterKind::Markdown, 40, None), WINDOW, &word_pieces);
    for name in ["Ann", "Bo"] {
        let named = format!("| {name}: |");
        let parts: Vec<&Piece> =
            pieces.iter().filter(|it| it.table_header.as_deref().and_then(named_row) == Some(&named)).collect();
        assert!(!parts.is_empty(), "{pieces:?}");
        for part in parts {
            let (header, own) = (part.table_header.as_deref().expect("a header"), &text[part.bytes.clone()]);
            let above = header.lines().last().expect("names of columns").split('|');
            let pairs: Vec<_> = above.zip(own.split('|')).filter(|(_, cell)| !cell.trim().is_empty()).collect();
            assert!(!own.contains('\n') && !pairs.is_empty(), "{own}");
            assert!(pairs.iter().all(|(column, cell)| column.trim().replace("Col", name) == cell.trim()), "{pairs:?}");
        }
    }
}

proptest! {
    #[test]
    fn rows_are_whole(
        rows in prop::collection::vec("[A-Z][a-z]{1,9}[.]?( [a-z]{1,7}){0,2}", 1..60),
        before in "([A-Z][a-z ]{0,30}[.:]\n\n){0,3}",
        size in 80..160_usize,
    ) {
        let lines: Vec<String> = rows.iter().map(|row| format!("| {} | x |", row.trim())).collect();
        let text = format!("{before}| Name | Value |\n|---|---|\n{}\n\nEnd.", lines.join("\n"));
        for piece in split_titled(&text, "", &settings(SplitterKind::Markdown, size, None), WINDOW, &word_pieces) {
            let header = piece.table_header.as_deref();
            prop_assert!(header.is_none() || text[piece.bytes.clone()].starts_with('|'));
            for line in text[piece.bytes].lines().filter(|line| line.starts_with('|')) {
                prop_assert!(line.ends_with('|'), "{line}");
            }
        }
    }

    #[test]
    fn text_after_code_is_read_as_text_in_every_piece(
        parts in prop::collection::vec((1..40_usize, any::<bool>()), 1..12),
        size in 40..120_usize,
        overlap in 0..30_usize,
    ) {
        let part = |(lines, is_code): (usize, bool)| {
            if is_code {
                format!("```\n{}```\n", "aa bb; cc\n".repeat(lines))
            } else {
                format!("{}\n", "Words dry in a day. ".repeat(lines.div_ceil(4)))
            }
        };
        // Longer code may fit in no piece.
        let is_cut = parts.iter().any(|(lines, is_code)| *is_code && *lines > 4);
        let text = parts.into_iter().map(part).collect::<Vec<_>>().join("\n");
        for kind in [SplitterKind::Markdown, SplitterKind::Recursive] {
            let outline = Outline::of(kind, &text);
            let source = SplitSource { text: &text, title: "", outline: &outline, pages: &PageMap::default() };
            for piece in split(&source, &settings(kind, size, Some(overlap)), WINDOW, &word_pieces) {
                let own = &text[piece.bytes];
                for block in blocks(own).into_iter().filter(|block| block.kind == BlockKind::Code) {
                    prop_assert!(!own[block.range].contains("Words"), "{own}");
                }
                let fences = own.lines().filter(|line| *line == "```").count();
                prop_assert!(fences % 2 == 0 || is_cut, "{own}");
            }
        }
    }
}

#[test]
fn what_is_left_of_an_entry_is_named_by_it() {
    let filler = |word: &str| format!("It keeps {word} in a jar of its own for as long as the lid is on. ").repeat(3);
    let text = format!(
        "# Settings\n\njar_limit (integer): Sets how many jars there are. {}\n\nThe default value is three jars.\n\nlid_limit (integer): Sets how many lids there are. {}\n\nThe default value is four lids.\n\nnote_limit (integer): Sets how many notes there are.\n\nBelow the list.",
        filler("paint"),
        filler("glue"),
    );
    let outline = Outline::of(SplitterKind::Markdown, &text);
    let source = SplitSource { text: &text, title: "", outline: &outline, pages: &PageMap::default() };
    let pieces = split(&source, &settings(SplitterKind::Markdown, 44, Some(0)), WINDOW, &word_pieces);
    let path_of = |words: &str| {
        let piece = pieces.iter().find(|piece| text[piece.bytes.clone()].contains(words)).expect("a piece");
        (text[piece.bytes.clone()].to_owned(), piece.heading_path.clone())
    };
    for (words, name) in [("three jars", "jar_limit (integer)"), ("four lids", "lid_limit (integer)")] {
        let (piece, path) = path_of(words);
        assert_eq!(path, ["Settings", name], "{piece}");
        assert!(!piece.contains("_limit"), "{piece}");
    }
    assert_eq!(path_of("Below the list").1, ["Settings"]);
}

#[test]
fn numbered_paragraphs_leave_an_entry_that_does_not_announce_them() {
    let item =
        |number: usize| format!("{number}. Jars. They are dry. They are cold. They are full of air. They are shut.");
    let items = (1..=8).map(item).collect::<Vec<_>>().join("\n\n");
    let window = Window { tokens: 256, special_tokens: 2 };
    let path_of = |opening: &str| {
        let text = format!("# Minutes\n\n{opening}\n\n{items}\n\nNext: 19 January.");
        let outline = Outline::of(SplitterKind::Markdown, &text);
        let source = SplitSource { text: &text, title: "", outline: &outline, pages: &PageMap::default() };
        let pieces = split(&source, &settings(SplitterKind::Markdown, 80, Some(0)), window, &word_pieces);
        pieces.into_iter().find(|piece| text[piece.bytes.clone()].contains("6. Jars")).expect("a piece").heading_path
    };
    assert_eq!(path_of("There: Mira, Jan, Olaf."), ["Minutes"]);
    assert_eq!(path_of("There: Mira, Jan, Olaf"), ["Minutes"]);
    assert_eq!(path_of("Modes: Jars have these:"), ["Minutes", "Modes"]);
}

#[test]
fn an_entry_right_after_a_page_break_names_nothing() {
    let text = "\u{c}jar_limit: It is low.\nMost jars are small ones.\n\nlid_limit (integer): It is high.";
    let window = Window { tokens: 256, special_tokens: 2 };
    let outline = Outline::of(SplitterKind::Recursive, text);
    let source = SplitSource { text, title: "", outline: &outline, pages: &PageMap::default() };
    let pieces = split(&source, &settings(SplitterKind::Recursive, 3, None), window, &word_pieces);
    assert!(pieces.iter().all(|piece| !piece.heading_path.contains(&"jar_limit".to_owned())), "{pieces:?}");
}
