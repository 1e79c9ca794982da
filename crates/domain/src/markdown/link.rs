//! Links, images and raw HTML in Markdown text, as `pulldown-cmark` finds them.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use super::leaf::with_plain_line_ends;

/// A part of a text that a reader's program follows, loads or runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) kind: ReferenceKind,
    /// Where the link or image leads, or the HTML as it is written.
    pub(crate) target: String,
    /// From its first character to its last.
    pub(crate) bytes: Range<usize>,
}

/// Kinds of references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    /// A link or an image.
    Link,
    /// A tag, a comment, or a line of an HTML block.
    Html,
}

impl Reference {
    /// The part of a link or an image of `text` behind its words: `(https://…)`, `[1]`, or all of `<https://…>`.
    pub(crate) fn address(&self, text: &str) -> Range<usize> {
        let link = text.get(self.bytes.clone()).unwrap_or_default();
        if link.starts_with('<') {
            return self.bytes.clone();
        }
        let words = link.rfind("](").or_else(|| link.rfind("][")).map_or(link.len(), |at| at + 1);
        self.bytes.start + words..self.bytes.end
    }
}

/// The references of a text, in order.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let text = &*with_plain_line_ends(text);
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    let reference = |(event, bytes)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(Reference { kind: ReferenceKind::Link, target: dest_url.into_string(), bytes })
        }
        Event::Html(html) | Event::InlineHtml(html) => {
            Some(Reference { kind: ReferenceKind::Html, target: html.into_string(), bytes })
        }
        _ => None,
    };
    events.filter_map(reference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_reader_may_follow() {
        let targets = |text: &str| references(text).into_iter().map(|found| found.target).collect::<Vec<_>>();
        let cases: [(&str, &[&str]); 8] = [
            ("It is [so](https://a.example/b) [^1].", &["https://a.example/b"]),
            ("![](http://a.example/x.png?q=1)", &["http://a.example/x.png?q=1"]),
            ("See [it][1].\n\n[1]: javascript:run()", &["javascript:run()"]),
            ("It is [^1].\n\n[^1]: //a.example", &["//a.example"]),
            ("<https://a.example>", &["https://a.example"]),
            ("a <b>c</b>", &["<b>", "</b>"]),
            ("<script>\nrun()\n</script>", &["<script>\n", "run()\n", "</script>"]),
            ("`[so](x)` [^1]", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(targets(text), expected, "{text}");
        }
    }
}
