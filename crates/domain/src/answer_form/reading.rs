//! What of an answer has no place in a form.

use std::{collections::BTreeSet, ops::Range};

use linkify::{LinkFinder, LinkKind};
use pulldown_cmark::{Event, Parser, Tag};

use super::{AnswerForm, Edit, READ, cut};

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
pub(super) struct Reading<'a> {
    pub(super) form: AnswerForm,
    pub(super) linked: &'a BTreeSet<String>,
}

impl Reading<'_> {
    pub(super) fn edits(self, text: &str) -> Vec<Edit> {
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
