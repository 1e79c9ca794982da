#![expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]

use std::cell::Cell;

use proptest::prelude::*;

use super::*;

mod structure;

const WINDOW: Window = Window { tokens: 256, special_tokens: 2 };
const KINDS: [SplitterKind; 4] =
    [SplitterKind::Recursive, SplitterKind::Markdown, SplitterKind::Code, SplitterKind::Tokens];
/// Larger than any piece.
const ENDLESS: Window = Window { tokens: 1 << 40, special_tokens: 2 };

/// Counts roughly as `WordPiece` does: four characters a token, each CJK character and punctuation
/// mark one, a single unknown token for a very long word, nothing for control characters.
fn word_pieces(text: &str) -> usize {
    text.split(|character: char| character.is_whitespace() || character.is_control())
        .flat_map(|word| word.split_inclusive(|character: char| !character.is_alphanumeric() || character > '\u{2e80}'))
        .map(|word| match word.chars().count() {
            101.. => 1,
            length => length.div_ceil(4),
        })
        .sum()
}

/// Counts in a way that the sum over the parts of a text does not predict.
fn erratic(text: &str) -> usize {
    text.split_whitespace().count() * 2 + text.len() % 7
}

struct Recorder<'counter> {
    inner: &'counter dyn TokenCounter,
    calls: Cell<usize>,
    bytes: Cell<usize>,
}

impl TokenCounter for Recorder<'_> {
    fn count(&self, text: &str) -> usize {
        self.calls.set(self.calls.get() + 1);
        self.bytes.set(self.bytes.get() + text.len());
        self.inner.count(text)
    }
}

fn settings(kind: SplitterKind, size: usize, overlap: Option<usize>) -> SplitterSettings {
    SplitterSettings { kind, unit: SizeUnit::Tokens, size, overlap }
}

fn in_characters(kind: SplitterKind, size: usize, overlap: Option<usize>) -> SplitterSettings {
    SplitterSettings { unit: SizeUnit::Characters, ..settings(kind, size, overlap) }
}

fn split_titled(
    text: &str,
    title: &str,
    settings: &SplitterSettings,
    window: Window,
    counter: &dyn TokenCounter,
) -> Vec<Piece> {
    let outline = Outline::of(settings.kind, text);
    split(&SplitSource { text, title, outline: &outline, pages: &PageMap::default() }, settings, window, counter)
}

fn pieces_of(text: &str, kind: SplitterKind, max_tokens: usize, overlap: usize) -> Vec<(String, Vec<String>)> {
    split_titled(text, "", &settings(kind, max_tokens, Some(overlap)), WINDOW, &word_pieces)
        .into_iter()
        .map(|piece| (text[piece.bytes].to_owned(), piece.heading_path))
        .collect()
}

fn texts_of(text: &str, kind: SplitterKind, max_tokens: usize, overlap: usize) -> Vec<String> {
    pieces_of(text, kind, max_tokens, overlap).into_iter().map(|(piece, _)| piece).collect()
}

/// Checks every law that does not depend on how good the cuts are.
fn assert_laws(text: &str, title: &str, settings: &SplitterSettings, window: Window, counter: &dyn TokenCounter) {
    let pieces = split_titled(text, title, settings, window, counter);
    assert_eq!(pieces, split_titled(text, title, settings, window, counter), "deterministic");
    assert_eq!(pieces.is_empty(), text.trim().is_empty());
    let outline = Outline::of(settings.kind, text);
    let fronts = FrontComposer::new(title, window, counter);
    let characters: Vec<char> = text.chars().collect();
    let (mut covered, mut last_start) = (0, None);
    for piece in &pieces {
        let slice = &text[piece.bytes.clone()];
        assert!(!slice.is_empty() && slice == slice.trim());
        assert_eq!(slice, characters[piece.start..piece.end].iter().collect::<String>());
        assert!(last_start < Some(piece.start), "starts increase");
        assert!(piece.end > covered, "each piece has something new");
        if piece.start > covered {
            assert_no_words(text, &outline, covered..piece.start);
        }
        assert_eq!(piece.tokens, counter.count(slice));
        assert_headings_are_true(text, &outline, piece);
        let front = fronts.compose(&piece.heading_path, piece.table_header.as_deref());
        assert!(front.tokens <= window.front_limit());
        let (most_tokens, most_characters) = match settings.unit {
            SizeUnit::Tokens => (settings.size, usize::MAX),
            SizeUnit::Characters => (usize::MAX, settings.size),
        };
        let budget = window.piece_budget(front.tokens, most_tokens);
        let length = slice.chars().count();
        assert!(piece.tokens <= budget || length == 1, "{} > {budget}: {slice:?}", piece.tokens);
        assert!(length <= most_characters.max(1), "{length} > {most_characters}: {slice:?}");
        (covered, last_start) = (piece.end, Some(piece.start));
    }
    assert_no_words(text, &outline, covered..characters.len());
}

/// The characters are white space, or not seen by a reader, or a heading right before much of that.
fn assert_no_words(text: &str, outline: &Outline, characters: Range<usize>) {
    let is_unread = |byte: usize| outline.unread().iter().any(|range| range.contains(&byte));
    let gap = text.char_indices().skip(characters.start).take(characters.len());
    let has_unread = gap.clone().any(|(byte, _)| is_unread(byte));
    for (byte, character) in gap {
        let is_heading = || outline.heading_lines_at(byte).is_some_and(|lines| byte < lines.end);
        let is_covered = character.is_whitespace() || is_unread(byte) || has_unread && is_heading();
        assert!(is_covered, "{:?}", &text[byte..]);
    }
}

/// The headings above each character are those of the piece and maybe more, or its words are the line of one of them. The
/// last one may be the entry that it begins within, which is the last one that begins before it.
fn assert_headings_are_true(text: &str, outline: &Outline, piece: &Piece) {
    let are_true = |path: &[String]| {
        let mut characters = text[piece.bytes.clone()].char_indices().filter(|(_, sign)| !sign.is_whitespace());
        characters.all(|(offset, _)| {
            let byte = piece.bytes.start + offset;
            let above = outline.path_at(byte);
            let is_heading = outline.heading_lines_at(byte).is_some_and(|lines| byte < lines.end);
            above.starts_with(path) || is_heading && path.starts_with(&above)
        })
    };
    let is_entry = |name: &String| {
        let before = &text[..piece.bytes.start];
        let begins_line = |at: usize| before[..at].trim_end_matches([' ', '\t']).ends_with('\n');
        before.rfind(&format!("{name}: ")).is_some_and(begins_line)
    };
    let path = &piece.heading_path;
    let is_below_entry = || path.split_last().is_some_and(|(name, above)| is_entry(name) && are_true(above));
    assert!(are_true(path) || is_below_entry(), "{piece:?}");
}

fn nasty_text() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        4 => "[a-zA-Z]{1,9} ",
        2 => "[A-Z][a-z]{2,8}\\. ",
        1 => "\\PC{0,12}",
        1 => "[漢字仮名。、あいう]{1,30}",
        1 => "[שלוםمرحبا ]{1,12}",
        1 => prop::sample::select(vec![
            "\r\n", "\n", "\n\n", "\r\n\r\n", "\u{c}", "\u{2028}", "\u{0}", "\t ", "    ", "👨‍👩‍👧‍👦🏳️‍🌈🇩🇪🇫🇷", "e\u{301}\u{302}",
            "# A\n", "\n## B c\n", "### D\n", "Title\n====\n", "```\n# x\n", "```\n", "- item\n", "1. item\n", "| a | b |\n", "| c |  |\n", "|---|---|\n", "a | b\n",
            "fn f() {\n", "    def g(x):\n", "class A {\n", "}\n", "  // note\n", "X = 1\n", "---\n", "U.S. e.g. 3.14 ", "...!?", "\u{200b}\u{ad}\u{feff}",
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "\n\nlid_limit (integer): ", "\n\n-f, --force: ", "\n\nlids: ", "\n\n[a]: https://host.example/paint\n", "\n[b]: c\n", "\n\n[![a](b)](c)\n\n", "[^1]: a\n", "\n\n<p>\n", "</p>\n\n",
            "<!-- a -->\n", "\n\n[![a jar of paint](https://host.example/jar-of-paint.png)](https://host.example/paint/jars/of/every/colour)\n\n",
        ]).prop_map(str::to_owned),
        1 => (1..300_usize).prop_map(|length| "x".repeat(length)),
        1 => (1..60_usize).prop_map(|length| "\u{301}".repeat(length)),
    ];
    prop::collection::vec(fragment, 0..60).prop_map(|fragments| fragments.concat())
}

proptest! {
    #[test]
    fn no_piece_lies_on_two_pages(
        pages in prop::collection::vec(prop::collection::vec("[A-Z][a-z]{1,9}( [a-z]{1,9}){0,9}[.\n]", 0..12), 1..8),
        size in 4..60_usize,
    ) {
        let (mut text, mut map) = (String::new(), PageMap::default());
        for page in pages {
            map.begin(text.len());
            text.push_str(&page.join(" "));
            text.push_str("\n\n");
        }
        let outline = Outline::of(SplitterKind::Recursive, &text);
        let source = SplitSource { text: &text, title: "", outline: &outline, pages: &map };
        let pieces = split(&source, &settings(SplitterKind::Recursive, size, None), WINDOW, &word_pieces);
        let mut covered = 0;
        for piece in pieces {
            prop_assert_eq!(map.page_at(piece.bytes.start), map.page_at(piece.bytes.end - 1));
            prop_assert!(text.get(covered..piece.bytes.start).unwrap_or_default().trim().is_empty());
            covered = piece.bytes.end;
        }
        prop_assert!(text[covered..].trim().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn laws_hold(
        text in nasty_text(),
        title in "(\\PC{0,10}|[a-z ]{0,200})",
        kind in prop::sample::select(KINDS.to_vec()),
        max_tokens in 1..80_usize,
        overlap in prop::option::of(0..40_usize),
        window_tokens in 3..120_usize,
    ) {
        let settings = settings(kind, max_tokens, overlap);
        let window = Window { tokens: window_tokens, special_tokens: 2 };
        assert_laws(&text, &title, &settings, window, &word_pieces);
        assert_laws(&text, &title, &settings, window, &str::len);
        assert_laws(&text, &title, &settings, window, &erratic);
        assert_laws(&text, &title, &settings, window, &|_: &str| 0);
        let settings = in_characters(kind, max_tokens * 3, overlap.map(|overlap| overlap * 3));
        assert_laws(&text, &title, &settings, window, &word_pieces);
        assert_laws(&text, &title, &settings, ENDLESS, &word_pieces);
        assert_laws(&text, &title, &settings, window, &erratic);
        assert_laws(&text, &title, &settings, window, &|_: &str| 0);
    }
}

#[test]
fn white_space_has_no_pieces() {
    for text in ["", " ", "\r\n\t\u{a0}\u{2003}\n"] {
        for kind in KINDS {
            assert_eq!(texts_of(text, kind, 10, 0), Vec::<String>::new());
        }
    }
    assert_eq!(texts_of("\u{0}\u{0}", SplitterKind::Recursive, 10, 0), ["\u{0}\u{0}"]);
}

#[test]
fn a_text_within_budget_is_one_piece() {
    let text = " \nOne.\n\n- A\n- B\n\n```\nTwo\n```\n";
    for kind in KINDS {
        assert_eq!(texts_of(text, kind, 50, 5), [text.trim()]);
    }
}

#[test]
fn paragraphs_are_kept_together() {
    let text = "Aaaa bbbb cccc. Dddd eeee.\n\nFfff gggg hhhh iiii.\n\nJjjj kkkk llll mmmm nnnn.";
    let expected = ["Aaaa bbbb cccc. Dddd eeee.", "Ffff gggg hhhh iiii.", "Jjjj kkkk llll mmmm nnnn."];
    assert_eq!(texts_of(text, SplitterKind::Recursive, 8, 0), expected);
    assert_eq!(
        texts_of(text, SplitterKind::Recursive, 13, 0),
        ["Aaaa bbbb cccc. Dddd eeee.\n\nFfff gggg hhhh iiii.", expected[2]]
    );
}

#[test]
fn lines_wrapped_in_mid_sentence_are_poor_places_to_cut() {
    let text = "Aaaa bbbb cccc dddd. Eeee ffff\ngggg hhhh iiii jjjj kkkk llll mmmm nnnn.";
    assert_eq!(texts_of(text, SplitterKind::Recursive, 9, 0)[0], "Aaaa bbbb cccc dddd.");
}

#[test]
fn overlap_repeats_whole_sentences() {
    let text = "Aaaa bbbb cccc dddd. Eeee ffff. Gggg hhhh iiii jjjj kkkk.";
    assert_eq!(
        texts_of(text, SplitterKind::Recursive, 9, 3),
        ["Aaaa bbbb cccc dddd. Eeee ffff.", "Eeee ffff. Gggg hhhh iiii jjjj kkkk."]
    );
}

#[test]
fn markdown_cuts_before_headings_and_knows_the_path() {
    let text = "# Handbook\n\nAaaa bbbb cccc dddd.\n\n## Leave\n\nEeee ffff gggg hhhh.\n\n### Sick\n\nIiii jjjj kkkk llll mmmm nnnn oooo.\n";
    let path = |headings: &[&str]| headings.iter().map(|heading| (*heading).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        pieces_of(text, SplitterKind::Markdown, 12, 4),
        [
            ("# Handbook\n\nAaaa bbbb cccc dddd.".to_owned(), path(&["Handbook"])),
            ("## Leave\n\nEeee ffff gggg hhhh.".to_owned(), path(&["Handbook", "Leave"])),
            ("### Sick\n\nIiii jjjj kkkk llll mmmm nnnn oooo.".to_owned(), path(&["Handbook", "Leave", "Sick"])),
        ]
    );
}

fn table_of(rows: usize) -> String {
    let row = |number: usize| format!("| P{number} Q | Cccc dddd. Eeee | ffff {number}\\|g |\n");
    format!("Staff list:\n\n| Name | Work | Phone |\n|---|---|---|\n{}", (0..rows).map(row).collect::<String>())
}

#[test]
fn headings_found_elsewhere_serve_any_kind() {
    let text = "Leave\nAaaa bbbb cccc dddd eeee ffff gggg hhhh.";
    let heading = Heading { bytes: 0..6, level: 2, text: "Leave".to_owned() };
    let outline = Outline::from_headings(text, [heading.clone(), Heading { bytes: 3..9, ..heading }]);
    let source = SplitSource { text, title: "", outline: &outline, pages: &PageMap::default() };
    let pieces = split(&source, &settings(SplitterKind::Recursive, 6, Some(0)), WINDOW, &word_pieces);
    assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.heading_path == ["Leave"]));
}

#[test]
fn one_enormous_word() {
    let text = "x".repeat(200_000);
    for kind in KINDS {
        assert_laws(&text, "Title", &settings(kind, 512, None), WINDOW, &word_pieces);
        let longest = texts_of(&text, kind, 512, 0).iter().map(String::len).max();
        assert!(longest <= Some(512 * 16), "{longest:?}");
    }
}

#[test]
fn sizes_may_count_characters() {
    let text = "Aaaa bbbb cccc dddd. Eeee ffff gggg. Hhhh iiii jjjj kkkk llll. ".repeat(20);
    let lengths = |settings: &SplitterSettings, window| {
        let pieces = split_titled(&text, "", settings, window, &word_pieces);
        pieces.iter().map(|piece| piece.end - piece.start).collect::<Vec<_>>()
    };
    let settings = in_characters(SplitterKind::Recursive, 200, Some(0));
    let within = lengths(&settings, ENDLESS);
    assert!(within.iter().all(|length| (100..=200).contains(length)), "{within:?}");
    // The window of the embedder holds as well, and fills as it does when it is the only bound.
    let settings = in_characters(SplitterKind::Recursive, 5_000, None);
    let bounded = lengths(&settings, Window { tokens: 52, special_tokens: 2 });
    let (_, full) = bounded.split_last().expect("several");
    assert!(full.iter().all(|length| (100..=260).contains(length)), "{bounded:?}");
}

#[test]
fn code_is_cut_between_definitions() {
    let uses = (0..8).map(|number| format!("use a::b{number};\n")).collect::<String>();
    let function = |name: &str| {
        let lines = (0..4).map(|number| format!("    let x{number} = compute(y),\n\n    z;\n")).collect::<String>();
        format!("/// Documented.\nfn {name}(y: u8) -> u8 {{\n{lines}}}\n")
    };
    let text = format!("{uses}\n{}\n{}", function("first"), function("second"));
    let pieces = pieces_of(&text, SplitterKind::Code, 76, 0);
    let expected = [
        (uses.trim().to_owned(), vec![]),
        (function("first").trim().to_owned(), vec!["fn first(y: u8) -> u8".to_owned()]),
        (function("second").trim().to_owned(), vec!["fn second(y: u8) -> u8".to_owned()]),
    ];
    assert_eq!(pieces, expected);
}

#[test]
fn settings_are_checked() {
    assert_eq!(SplitterSettings::default().check(), Ok(()));
    assert!(matches!(settings(SplitterKind::Tokens, 4, None).check(), Err(SplitterSettingsError::Size { .. })));
    assert_eq!(settings(SplitterKind::Tokens, 40, Some(21)).check(), Err(SplitterSettingsError::Overlap));
    assert!(in_characters(SplitterKind::Tokens, 63, None).check().is_err());
    assert_eq!(in_characters(SplitterKind::Code, 100_000, Some(50_000)).check(), Ok(()));
}

/// Every text, however built, is counted a bounded number of times over.
#[test]
fn counting_is_linear() {
    let prose = "The leave policy covers everyone, from the first day on. It is short.\n";
    let texts = [
        ("prose", prose.repeat(4000)),
        ("paragraphs", format!("{prose}\n").repeat(4000)),
        ("one far paragraph break", format!("{}\n\nend", prose.replace('\n', " ").repeat(4000))),
        ("no sentences", "leave policy ".repeat(20_000)),
        ("one word", "x".repeat(200_000)),
        ("characters without spaces", "漢字仮名".repeat(25_000)),
        ("emoji", "👨‍👩‍👧‍👦".repeat(10_000)),
        ("combining marks", "\u{301}".repeat(100_000)),
        ("empty headings", "#\n".repeat(100_000)),
        ("punctuation", ". ".repeat(100_000)),
        ("a table", table_of(4000)),
        ("a wide table", format!("| a | b |\n|---|---|\n{}", "| c ".repeat(50_000))),
        ("short sections", "# A\nb.\n".repeat(20_000)),
        ("nothing", "\u{0}".repeat(200_000)),
    ];
    for (name, text) in texts {
        assert_counted(name, &text, 60);
    }
}

/// So is text that wears parsers out: signs that open what never closes, and nesting without end. Each sign is counted once.
#[test]
fn counting_what_never_closes_is_linear() {
    let texts: [(&str, String); 14] = [
        ("quotes in quotes", format!("{} end", "> ".repeat(100_000))),
        ("lists in lists", (0..600).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect()),
        ("open brackets", "[".repeat(200_000)),
        ("links in links", format!("{}{}", "[a](".repeat(40_000), ")".repeat(40_000))),
        ("open images and emphasis", "![*_**a ".repeat(25_000)),
        ("backticks of all lengths", (1..600).map(|length| format!("{} a ", "`".repeat(length))).collect()),
        ("fences that do not end", "```a\n~~~b\n".repeat(20_000)),
        ("definitions of links", (0..10_000).map(|number| format!("[{number}]: /{number}\n")).collect()),
        ("open tags and comments", "<a b='<!-- <![CDATA[ ".repeat(10_000)),
        ("entities", "&amp;&#x26;&nosuch;".repeat(10_000)),
        ("line ends of all kinds", "a\r\nb\rc\u{2028}d\u{85}e\u{b}f\u{c}".repeat(10_000)),
        ("directions and nothing to see", "\u{202e}a\u{200b}\u{2066}b\u{feff}".repeat(20_000)),
        ("one line of JSON", format!("{}1{}", "{\"a\":[".repeat(20_000), "]}".repeat(20_000))),
        ("headings of all depths", (0..40_000).map(|number| format!("{} a\n", "#".repeat(number % 6 + 1))).collect()),
    ];
    for (name, text) in texts {
        assert_counted(name, &text, 110);
    }
}

/// Splitters count no more than this many times for a hundred bytes, and no byte more than five times over.
fn assert_counted(name: &str, text: &str, for_a_hundred: usize) {
    for settings in KINDS.iter().flat_map(|kind| [settings(*kind, 512, None), in_characters(*kind, 600, None)]) {
        let counter = Recorder { inner: &word_pieces, calls: Cell::new(0), bytes: Cell::new(0) };
        let pieces = split_titled(text, "A title", &settings, WINDOW, &counter);
        let (calls, times) = (counter.calls.get(), counter.bytes.get() / text.len());
        assert!(times <= 5, "{name} {settings:?}: counted {times} times over");
        let most = text.len() * for_a_hundred / 100 + 8 * pieces.len() + 100;
        assert!(calls <= most, "{name} {settings:?}: {calls} calls of at most {most}");
    }
}
