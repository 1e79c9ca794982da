use proptest::prelude::*;
use pulldown_cmark::Tag;

use super::*;

const CITED: &str = "https://example.org/cited";

fn formed(answer: &str, form: AnswerForm) -> FormedAnswer {
    FormedAnswer::new(answer, form, &BTreeSet::from([CITED.to_owned(), "javascript:alert(1)".to_owned()]))
}

#[test]
fn nothing_is_left_that_would_be_loaded_run_or_followed() {
    for (answer, safe, plain) in [
        ("28 days. [^1]", "28 days. [^1]", "28 days. [^1]"),
        ("See ![a *chart*](https://evil.example/?q=1) [^1]", "See a *chart* [^1]", "See a chart [^1]"),
        ("![](https://evil.example)x", "x", "x"),
        ("[here](https://evil.example) [^1]", "here [^1]", "here [^1]"),
        ("[here](https://example.org/cited) [^1]", "[here](https://example.org/cited) [^1]", "here [^1]"),
        ("[here](javascript:alert(1))", "here", "here"),
        ("[![a](b)](https://evil.example)", "a", "a"),
        (
            "[here][x]\n\n[x]: https://evil.example",
            "here\n\n[x]: https://evil.example",
            "here\n\n[x]: https://evil.example",
        ),
        ("<https://evil.example>", "`https://evil.example`", "https://evil.example"),
        ("at https://evil.example/a now", "at `https://evil.example/a` now", "at https://evil.example/a now"),
        ("at www.evil.example now", "at `www.evil.example` now", "at www.evil.example now"),
        ("at https://example.org/cited now", "at https://example.org/cited now", "at https://example.org/cited now"),
        ("a <img src=x onerror=y> b", "a &lt;img src=x onerror=y> b", "a img src=x onerror=y> b"),
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>", "script>alert(1)/script>"),
        ("`<b>` and ![x](y)", "`<b>` and x", "`<b>` and x"),
        ("# Title\n\n**bold** ~~no~~", "# Title\n\n**bold** ~~no~~", "Title\n\nbold no"),
        ("a\u{202e}b\u{e0041}\u{1b}[0m", "ab[0m", "ab[0m"),
    ] {
        assert_eq!(formed(answer, AnswerForm::SafeMarkdown).text(), safe);
        assert_eq!(formed(answer, AnswerForm::Plain).text(), plain);
        assert_eq!(formed(answer, AnswerForm::Markdown).text(), answer);
    }
}

#[test]
fn signs_that_come_together_when_others_are_taken_out_make_no_link() {
    let answer = "[^1]~~()\\https://evil.example/";
    assert_eq!(active(formed(answer, AnswerForm::SafeMarkdown).text()), Vec::<String>::new());
}

#[test]
fn places_move_with_the_words() {
    let answer = "Sée ![x](y) **that** [^1].";
    let formed = formed(answer, AnswerForm::Plain);
    assert_eq!(formed.text(), "Sée x that [^1].");
    let shown = |original: &str| {
        let (before, _) = answer.split_once(original).expect("a part");
        let start = before.chars().count();
        let span = formed.span(Span::new(start, start + original.chars().count()));
        span.slice(formed.text()).expect("a part").to_owned()
    };
    assert_eq!(shown("[^1]"), "[^1]");
    assert_eq!(shown(answer), formed.text());
    assert_eq!(shown("**that**"), "that");
    assert_eq!(shown("![x](y)"), "x");
}

#[test]
fn a_footnote_is_no_target_of_a_link_where_there_are_no_footnotes() {
    let without_footnotes = |text: &str| {
        let mut events = Parser::new_ext(text, Options::empty());
        events.any(|event| matches!(event, Event::Start(Tag::Image { dest_url, .. } | Tag::Link { dest_url, .. }) if !dest_url.starts_with('`')))
    };
    for target in ["//evil.example/p.png", "/leave", "javascript:alert(1)", "https://evil.example"] {
        let text = format!("28 days. ![^1]\n\n[^1]: {target}");
        assert!(without_footnotes(&text), "{text}");
        let safe = formed(&text, AnswerForm::SafeMarkdown);
        assert!(!without_footnotes(safe.text()) && safe.text().contains(target), "{}", safe.text());
    }
    let note = "28 days. [^1]\n\n[^1]: Note: from May.";
    assert_eq!(formed(note, AnswerForm::SafeMarkdown).text(), note);
}

#[test]
fn words_are_settled_that_nothing_behind_them_changes() {
    for words in
        ["28 days. ", "**28** days! And *more*\n- `a[0]`, ``<b>`` and `www.x.example`\n", "# Title\n\na ~ b ~~no~~"]
    {
        assert!(AnswerForm::SafeMarkdown.is_settled(words), "{words}");
        assert!(AnswerForm::Markdown.is_settled(words) && !AnswerForm::Plain.is_settled(words), "{words}");
    }
    for words in ["see ![x](y", "see [", "a `b", "a <b", "https://a.example", "at WWW.", "a\u{202e}", "~~~\na"] {
        assert!(!AnswerForm::SafeMarkdown.is_settled(words), "{words}");
        assert!(AnswerForm::Markdown.is_settled(words), "{words}");
    }
}

#[test]
fn the_rest_follows_what_was_shown() {
    let linked = BTreeSet::from([CITED.to_owned()]);
    let rest = " See ![x](https://evil.example) and [1](https://example.org/cited).";
    let after = FormedAnswer::after("28 days [1].", rest, AnswerForm::SafeMarkdown, &linked);
    assert_eq!(after.text(), " See x and [1](https://example.org/cited).");
    assert_eq!(after.span(Span::new(36, 39)).slice(after.text()), Some("[1]"));
    let after =
        FormedAnswer::after("28 days [1]", "(https://evil.example) ![x](y) [2]", AnswerForm::SafeMarkdown, &linked);
    assert_eq!(after.text(), "\n\n(https: //evil.example) [x] (y) [2]");
    assert_eq!(after.span(Span::new(31, 34)).slice(after.text()), Some("[2]"));
    assert_eq!(FormedAnswer::after("a", "![x](y)", AnswerForm::Markdown, &linked).text(), "![x](y)");
}

/// The parts that a program that shows Markdown would load, run or follow.
fn active(text: &str) -> Vec<String> {
    let options = Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES;
    let shown = Parser::new_ext(text, options).filter_map(|event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(format!("image {dest_url}")),
        Event::Start(Tag::Link { dest_url, .. }) if dest_url.as_ref() != CITED => Some(format!("link {dest_url}")),
        Event::Html(html) | Event::InlineHtml(html) => Some(format!("html {html}")),
        _ => None,
    });
    shown.collect()
}

/// Texts made of signs that mean something in Markdown.
fn signs_of_markdown() -> impl Strategy<Value = String> {
    let sign = prop::sample::select(vec![
        "[",
        "]",
        "(",
        ")",
        "!",
        "<",
        ">",
        "`",
        "```",
        "*",
        "**",
        "_",
        "~~",
        "\\",
        "#",
        " ",
        "\n",
        "\n\n",
        "a",
        "&lt;",
        "<!--",
        "-->",
        "<b>",
        "</b>",
        "<a href=x>",
        "https://evil.example/",
        "www.evil.example",
        "javascript:alert(1)",
        "[^1]",
        "]: ",
        "](",
        "![",
        CITED,
        "|",
        "- ",
        "> ",
        "    ",
        "\u{202e}",
        "é",
        "[1]",
        "[1]: ",
        "~~~",
        "|-|-|",
        "//",
        ":",
        "www",
        ".evil.example",
    ]);
    prop::collection::vec(sign, 0..24).prop_map(|signs| signs.concat())
}

proptest! {
    #[test]
    fn whatever_follows_what_was_shown_is_made_safe(
        parts in prop::collection::vec(prop::sample::select(vec![
            "a", " ", "\n", "\n\n", "`a`", "``<b>``", "`a|b`", "|", "- ", "> ", "    ", "!", "*", "**", "_", "~", "\\", "#", "é", ":", "www", "[1]",
        ]), 0..16),
        rest in signs_of_markdown(),
    ) {
        let shown = parts.concat();
        // Its markers are not held against it, unless they are the beginning of a definition.
        let words = shown.replace("[1]:", "[").replace("[1]", " ");
        if !AnswerForm::SafeMarkdown.is_settled(&words) {
            return Ok(());
        }
        let linked = BTreeSet::from([CITED.to_owned()]);
        let after = FormedAnswer::after(&shown, &rest, AnswerForm::SafeMarkdown, &linked);
        let whole = format!("{shown}{}", after.text());
        prop_assert_eq!(active(&whole), Vec::<String>::new(), "{:?} of {:?} and {:?}", whole, shown, rest);
        let length = rest.chars().count();
        prop_assert!(after.span(Span::new(0, length)).slice(after.text()).is_some());
    }

    #[test]
    fn whatever_is_written_is_made_safe(answer in signs_of_markdown()) {
        for form in [AnswerForm::SafeMarkdown, AnswerForm::Plain] {
            let formed = formed(&answer, form);
            prop_assert_eq!(active(formed.text()), Vec::<String>::new(), "{:?} of {:?}", formed.text(), answer);
            let length = answer.chars().count();
            let whole = formed.span(Span::new(0, length));
            prop_assert!(whole.slice(formed.text()).is_some());
            let places: Vec<_> = (0..=length).map(|at| formed.span(Span::new(at, at))).collect();
            prop_assert!(places.windows(2).all(|pair| <(usize, usize)>::from(pair[0]).0 <= <(usize, usize)>::from(pair[1]).0));
        }
    }
}
