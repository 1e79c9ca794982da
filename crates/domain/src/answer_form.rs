//! Forms of an answer for those who show it without a check of their own: what a reader's program would load, run or
//! follow is taken out.

use std::{collections::BTreeSet, ops::Range};

use linkify::{LinkFinder, LinkKind};
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde::{Deserialize, Serialize};

use crate::{prompt::fence::is_smuggled, span::Span};

/// Most rounds until nothing is left to take out: what is around something that is taken out can make another.
const ROUNDS: usize = 8;
/// Constructs beside those of plain Markdown that are known.
const READ: Options = Options::ENABLE_FOOTNOTES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TABLES);

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// As it was written.
    #[default]
    Markdown,
    /// Markdown without images and HTML, and with links to cited sources only.
    SafeMarkdown,
    /// Words without links, images, HTML, emphasis and headings.
    Plain,
}

impl AnswerForm {
    /// Whether words may be shown before those behind them are known: they have this form, and nothing in them waits for
    /// an end. Markers of citations are not among the words, unless a colon is behind them.
    #[must_use]
    pub fn is_settled(self, words: &str) -> bool {
        match self {
            Self::Markdown => true,
            Self::SafeMarkdown => opens_nothing(words),
            Self::Plain => false,
        }
    }
}

/// Whether no image, link, code or HTML begins in a text, apart from code that ends in it.
fn opens_nothing(text: &str) -> bool {
    let mut words = text.to_owned();
    for (event, range) in Parser::new_ext(text, READ).into_offset_iter() {
        if matches!(event, Event::Code(_)) {
            words.replace_range(range.clone(), &" ".repeat(range.len()));
        }
    }
    let lower = words.to_ascii_lowercase();
    !words.contains(['[', '<', '`'])
        && !words.contains("~~~")
        && !lower.contains("://")
        && !lower.contains("www.")
        && !text.contains(is_smuggled)
}

/// An answer in another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormedAnswer {
    text: String,
    /// Of each code point of the original, and of its end, the place in the text.
    places: Vec<usize>,
}

/// A part of a text, and what comes in its place.
#[derive(Debug)]
struct Edit {
    range: Range<usize>,
    with: &'static str,
}

impl FormedAnswer {
    /// Brings an answer into a form, in which links may lead to these URLs only.
    #[must_use]
    pub fn new(answer: &str, form: AnswerForm, linked: &BTreeSet<String>) -> Self {
        let mut formed = Self { text: answer.to_owned(), places: (0..=answer.chars().count()).collect() };
        if form == AnswerForm::Markdown {
            return formed;
        }
        formed.apply(smuggled(answer));
        for _ in 0..ROUNDS {
            let edits = Reading { form, linked }.edits(&formed.text);
            if edits.is_empty() {
                return formed;
            }
            formed.apply(edits);
        }
        // Made to have no end: no sign of it is left.
        formed.disarm_signs();
        formed
    }

    /// Brings the rest of a text into a form, of which the beginning was shown already. Where the rest would change the
    /// beginning, it is a paragraph of its own without any sign of Markdown that could.
    #[must_use]
    pub fn after(shown: &str, rest: &str, form: AnswerForm, linked: &BTreeSet<String>) -> Self {
        let whole = Self::new(&format!("{shown}{rest}"), form, linked);
        if let Some(text) = whole.text.strip_prefix(shown) {
            let length = shown.chars().count();
            let places = whole.places.iter().skip(length).map(|place| place.saturating_sub(length));
            return Self { text: text.to_owned(), places: places.collect() };
        }
        let mut alone = Self::new(rest, AnswerForm::Markdown, linked);
        alone.apply(smuggled(rest));
        alone.disarm_signs();
        alone.apply(vec![Edit { range: 0..0, with: "\n\n" }]);
        alone
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a part of the original is in the text.
    #[must_use]
    pub fn span(&self, original: Span) -> Span {
        let (start, end) = original.into();
        let place = |at: usize| self.places.get(at).or(self.places.last()).copied().unwrap_or_default();
        Span::new(place(start), place(end))
    }

    /// Takes the signs of Markdown out that could make something of the text.
    fn disarm_signs(&mut self) {
        self.apply(openers(&self.text));
        self.apply(joints(&self.text));
    }

    /// Makes edits; of two that overlap the first.
    fn apply(&mut self, mut edits: Vec<Edit>) {
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut edits = edits.into_iter().peekable();
        let mut text = String::with_capacity(self.text.len());
        let (mut written, mut left_out_to) = (0, 0);
        let mut moved = Vec::with_capacity(self.places.len());
        let end = self.text.len();
        for (at, character) in self.text.char_indices().map(|(at, one)| (at, Some(one))).chain([(end, None)]) {
            while let Some(Edit { range, with }) = edits.next_if(|edit| edit.range.start <= at) {
                if range.start >= left_out_to {
                    text.push_str(with);
                    written += with.chars().count();
                    left_out_to = range.end;
                }
            }
            moved.push(written);
            if let Some(character) = character.filter(|_| at >= left_out_to) {
                text.push(character);
                written += 1;
            }
        }
        for place in &mut self.places {
            *place = moved.get(*place).copied().unwrap_or(written);
        }
        self.text = text;
    }
}

/// Edits that take out what is invisible.
fn smuggled(text: &str) -> Vec<Edit> {
    let parts = text.char_indices().filter(|(_, character)| is_smuggled(*character));
    parts.map(|(at, character)| cut(at..at + character.len_utf8())).collect()
}

/// Edits that take out signs which begin images, HTML and code.
fn openers(text: &str) -> Vec<Edit> {
    text.match_indices(['<', '`', '!', '~']).map(|(at, sign)| cut(at..at + sign.len())).collect()
}

/// Edits that part signs which together make links; only then nothing is one any more, whatever is around it.
fn joints(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (at, _) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        if ["](", "][", "]:", "://"].iter().any(|sign| rest.starts_with(sign)) {
            edits.push(Edit { range: at + 1..at + 1, with: " " });
        } else if rest.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www.")) {
            edits.push(Edit { range: at + 3..at + 3, with: " " });
        }
    }
    edits
}

const fn cut(range: Range<usize>) -> Edit {
    Edit { range, with: "" }
}

/// Something in Markdown that has begun.
struct Open {
    is_kept: bool,
    is_code: bool,
    range: Range<usize>,
    /// From the first to the last thing in it.
    inner: Option<Range<usize>>,
}

impl Open {
    /// Cuts what is around the things in it.
    fn unwrapped(self) -> Vec<Edit> {
        match self.inner {
            None => vec![cut(self.range)],
            Some(inner) => vec![cut(self.range.start..inner.start), cut(inner.end..self.range.end)],
        }
    }
}

/// Reads Markdown for what has no place in a form.
#[derive(Clone, Copy)]
struct Reading<'a> {
    form: AnswerForm,
    linked: &'a BTreeSet<String>,
}

impl Reading<'_> {
    fn edits(self, text: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        for (event, range) in Parser::new_ext(text, READ).into_offset_iter() {
            if !matches!(event, Event::End(_))
                && let Some(outer) = open.last_mut()
            {
                let inner = outer.inner.get_or_insert(range.clone());
                *inner = inner.start.min(range.start)..inner.end.max(range.end);
            }
            match event {
                Event::Start(tag) => {
                    if matches!(tag, Tag::FootnoteDefinition(_)) {
                        self.quote_target(text, range.clone(), &mut edits);
                    }
                    let is_code = matches!(tag, Tag::CodeBlock(_));
                    // The end of its last line is not a part of a heading.
                    let words = text.get(range.clone()).unwrap_or_default().trim_end_matches(['\n', '\r']);
                    let range = range.start..range.start + words.len();
                    open.push(Open { is_kept: self.keeps(&tag), is_code, range, inner: None });
                }
                Event::End(_) => {
                    let ended = open.pop().filter(|ended| !ended.is_kept);
                    edits.extend(ended.map(Open::unwrapped).unwrap_or_default());
                }
                Event::Html(_) | Event::InlineHtml(_) => self.disarm(text, range, &mut edits),
                Event::Text(_) if !open.last().is_some_and(|outer| outer.is_code) => {
                    self.quote_urls(text, range, &mut edits);
                }
                _ => {}
            }
        }
        edits.retain(|edit| !edit.range.is_empty() || !edit.with.is_empty());
        edits
    }

    fn keeps(self, tag: &Tag<'_>) -> bool {
        match tag {
            Tag::Image { .. } => false,
            Tag::Link { dest_url, .. } => self.form == AnswerForm::SafeMarkdown && self.may_lead_to(dest_url),
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Heading { .. } => self.form != AnswerForm::Plain,
            _ => true,
        }
    }

    fn may_lead_to(self, url: &str) -> bool {
        (url.starts_with("https://") || url.starts_with("http://")) && self.linked.contains(url)
    }

    /// Makes words of HTML.
    fn disarm(self, text: &str, range: Range<usize>, edits: &mut Vec<Edit>) {
        let with = if self.form == AnswerForm::Plain { "" } else { "&lt;" };
        let start = range.start;
        let brackets = text.get(range).unwrap_or_default().match_indices('<');
        edits.extend(brackets.map(|(at, _)| Edit { range: start + at..start + at + 1, with }));
    }

    /// Makes code of the first word of a footnote where that could be the target of a link: programs without footnotes read
    /// `[^1]: //example.org` as one.
    fn quote_target(self, text: &str, range: Range<usize>, edits: &mut Vec<Edit>) {
        if self.form == AnswerForm::Plain {
            return;
        }
        let Some((label, note)) = text.get(range.clone()).and_then(|footnote| footnote.split_once("]:")) else {
            return;
        };
        let target = note.split_whitespace().next().unwrap_or_default();
        let from = range.start + label.len() + "]:".len() + note.find(target).unwrap_or_default();
        let has_scheme = target.split_once(':').is_some_and(|(_, rest)| !rest.is_empty());
        // URLs become code wherever they stand.
        let is_target = (target.contains('/') || has_scheme) && !target.contains("://");
        if is_target && !target.starts_with(['`', '[', '<']) {
            let quoted = [from, from + target.len()].map(|at| Edit { range: at..at, with: "`" });
            edits.extend(quoted);
        }
    }

    /// Makes code of the URLs in a text, of which programs make links of their own accord.
    fn quote_urls(self, text: &str, range: Range<usize>, edits: &mut Vec<Edit>) {
        if self.form == AnswerForm::Plain {
            return;
        }
        let start = range.start;
        let mut finder = LinkFinder::new();
        finder.kinds(&[LinkKind::Url]).url_must_have_scheme(false);
        for link in finder.links(text.get(range).unwrap_or_default()) {
            let url = link.as_str();
            let is_followed = url.contains("://") || url.get(..4).is_some_and(|www| www.eq_ignore_ascii_case("www."));
            if is_followed && !self.may_lead_to(url) {
                let [from, to] = [link.start(), link.end()].map(|at| start + at);
                edits.extend([from, to].map(|at| Edit { range: at..at, with: "`" }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            (
                "at https://example.org/cited now",
                "at https://example.org/cited now",
                "at https://example.org/cited now",
            ),
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
}
