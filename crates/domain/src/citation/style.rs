//! Citations in the notations that chat clients show.
//!
//! A client that renders `[1]` as a link to a source knows nothing of `[^1]`, and a Markdown reader knows nothing of
//! `[1]`. The markers of a checked answer are rewritten here, numbered by their first appearance, as clients number the
//! sources that they receive.

use std::str::FromStr;

use super::answer::Citation;
use crate::span::Span;

/// A notation of citations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkerStyle {
    /// `[1]`; the same in words of the documents is escaped.
    #[default]
    Bracket,
    /// `[^1]`, with a definition at the end: footnotes of GitHub-flavoured Markdown.
    Footnote,
    /// `[1](url)`.
    Link,
    /// No markers: the citations stand beside the text alone.
    None,
}

impl FromStr for MarkerStyle {
    type Err = UnknownStyle;

    fn from_str(name: &str) -> Result<Self, UnknownStyle> {
        match name {
            "bracket" => Ok(Self::Bracket),
            "footnote" => Ok(Self::Footnote),
            "link" => Ok(Self::Link),
            "none" => Ok(Self::None),
            _ => Err(UnknownStyle),
        }
    }
}

/// A name that is no notation of citations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the notations of citations are bracket, footnote, link and none")]
pub struct UnknownStyle;

/// Rewrites the markers of an answer, piece by piece.
#[derive(Debug, Default)]
pub struct Restyler {
    style: MarkerStyle,
    /// The sources cited so far, by index, in the order of their numbers.
    cited: Vec<usize>,
    /// Code points written so far.
    written: usize,
    /// The sign written last.
    last: Option<char>,
    /// Whether that is the end of a marker.
    is_behind_marker: bool,
}

/// A rewritten piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Restyled {
    /// The text.
    pub text: String,
    /// Its markers, in order.
    pub markers: Vec<RestyledMarker>,
}

/// A marker in its new notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestyledMarker {
    /// The citation, by its index among those given.
    pub citation: usize,
    /// The number, from 1.
    pub number: usize,
    /// Where it stands in the whole rewritten text, in code points; empty where markers are left out.
    pub span: Span,
}

impl Restyler {
    /// A restyler for an answer from its beginning.
    #[must_use]
    pub fn new(style: MarkerStyle) -> Self {
        Self { style, ..Self::default() }
    }

    /// Adds text without markers, such as a notice.
    pub fn add_plain(&mut self, text: &str) -> Restyled {
        self.note(text);
        Restyled { text: text.to_owned(), markers: Vec::new() }
    }

    /// Rewrites the words of `answer` at `part`. `citations` are those of the answer in order; those outside the part
    /// are skipped. `url` gives the address of a source by its index.
    pub fn rewrite(
        &mut self,
        answer: &str,
        part: Span,
        citations: &[Citation],
        url: impl Fn(usize) -> String,
    ) -> Restyled {
        let mut restyled = Restyled::default();
        let mut read = part.start;
        for (index, citation) in citations.iter().enumerate() {
            if citation.span.start < read || !part.contains(citation.span) {
                continue;
            }
            self.write_words(words_at(answer, read, citation.span.start), &mut restyled);
            read = citation.span.end;
            let number = self.number_of(citation.source_index);
            let marker = match self.style {
                MarkerStyle::Bracket => format!("[{number}]"),
                MarkerStyle::Footnote => format!("[^{number}]"),
                MarkerStyle::Link => format!("[{number}]({})", url(citation.source_index)),
                MarkerStyle::None => {
                    self.drop_space(&mut restyled);
                    String::new()
                }
            };
            if self.style == MarkerStyle::Link && self.last == Some('!') {
                // Else it would be an image.
                self.write(" ", &mut restyled);
            }
            let start = self.written;
            self.write(&marker, &mut restyled);
            self.is_behind_marker |= !marker.is_empty();
            restyled.markers.push(RestyledMarker { citation: index, number, span: Span::new(start, self.written) });
        }
        self.write_words(words_at(answer, read, part.end), &mut restyled);
        restyled
    }

    /// The sources cited so far, by index, in the order of their numbers.
    #[must_use]
    pub fn cited(&self) -> &[usize] {
        &self.cited
    }

    /// The notation.
    #[must_use]
    pub const fn style(&self) -> MarkerStyle {
        self.style
    }

    fn number_of(&mut self, source_index: usize) -> usize {
        let known = self.cited.iter().position(|cited| *cited == source_index);
        known.unwrap_or_else(|| {
            self.cited.push(source_index);
            self.cited.len() - 1
        }) + 1
    }

    fn write_words(&mut self, words: &str, restyled: &mut Restyled) {
        let words = if self.style == MarkerStyle::Bracket { without_bracket_numbers(words) } else { words.to_owned() };
        if self.is_behind_marker && self.style != MarkerStyle::Link && words.starts_with('(') {
            // Else the marker would be the text of a link.
            self.write("\\", restyled);
        }
        self.write(&words, restyled);
    }

    fn write(&mut self, text: &str, restyled: &mut Restyled) {
        self.note(text);
        restyled.text.push_str(text);
    }

    /// Takes note of text that is written.
    fn note(&mut self, text: &str) {
        self.written += text.chars().count();
        if let Some(last) = text.chars().last() {
            self.last = Some(last);
            self.is_behind_marker = false;
        }
    }

    /// Drops the space before a marker that is left out.
    fn drop_space(&mut self, restyled: &mut Restyled) {
        let kept = restyled.text.trim_end_matches(' ').len();
        self.written -= restyled.text.len() - kept;
        restyled.text.truncate(kept);
    }
}

/// The words between two code points.
fn words_at(text: &str, start: usize, end: usize) -> &str {
    Span::new(start, end).slice(text).unwrap_or_default()
}

/// The text with numbers in brackets escaped: they are words of a document, and a client would link them to a source.
fn without_bracket_numbers(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        escaped.push_str(before);
        let inside = after.split_once(']').map(|(inside, _)| inside);
        let is_number = inside.is_some_and(|inside| {
            inside.bytes().any(|sign| sign.is_ascii_digit())
                && inside.bytes().all(|sign| sign.is_ascii_digit() || b", #-".contains(&sign))
        });
        escaped.push_str(if is_number && !before.ends_with('\\') { "\\[" } else { "[" });
        rest = after;
    }
    escaped.push_str(rest);
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A citation of a source at each `[^N]` of the text.
    fn citations(text: &str) -> Vec<Citation> {
        let chars: Vec<char> = text.chars().collect();
        let mut found = Vec::new();
        for start in 0..chars.len() {
            if chars[start..].starts_with(&['[', '^']) {
                let end = start + chars[start..].iter().position(|sign| *sign == ']').expect("an end") + 1;
                let marker: u32 = chars[start + 2..end - 1].iter().collect::<String>().parse().expect("a number");
                found.push(Citation {
                    marker,
                    span: Span::new(start, end),
                    claim: Span::new(0, start),
                    source_index: usize::try_from(marker).expect("small") - 1,
                    support: 1.0,
                    quote: None,
                });
            }
        }
        found
    }

    fn whole(style: MarkerStyle, text: &str) -> Restyled {
        let part = Span::new(0, text.chars().count());
        Restyler::new(style).rewrite(text, part, &citations(text), |source| format!("u{source}"))
    }

    #[test]
    fn markers_are_numbered_by_appearance() {
        let text = "Ä day. [^3][^1] Again. [^3]";
        assert_eq!(whole(MarkerStyle::Bracket, text).text, "Ä day. [1][2] Again. [1]");
        assert_eq!(whole(MarkerStyle::Footnote, text).text, "Ä day. [^1][^2] Again. [^1]");
        assert_eq!(whole(MarkerStyle::Link, text).text, "Ä day. [1](u2)[2](u0) Again. [1](u2)");
        assert_eq!(whole(MarkerStyle::None, text).text, "Ä day. Again.");
    }

    #[test]
    fn numbers_of_documents_are_no_markers() {
        let text = "See [1], [2, 3] and [a] or \\[4]. [^2]";
        assert_eq!(whole(MarkerStyle::Bracket, text).text, "See \\[1], \\[2, 3] and [a] or \\[4]. [1]");
        assert_eq!(whole(MarkerStyle::Footnote, text).text, "See [1], [2, 3] and [a] or \\[4]. [^1]");
    }

    #[test]
    fn a_marker_is_no_part_of_a_link_or_an_image() {
        let text = "28 days![^1](https://a.example)";
        assert_eq!(whole(MarkerStyle::Bracket, text).text, "28 days![1]\\(https://a.example)");
        assert_eq!(whole(MarkerStyle::Footnote, text).text, "28 days![^1]\\(https://a.example)");
        assert_eq!(whole(MarkerStyle::Link, text).text, "28 days! [1](u0)(https://a.example)");
        assert_eq!(whole(MarkerStyle::None, text).text, "28 days!(https://a.example)");
    }

    proptest! {
        /// However an answer is cut between its markers, the pieces are the whole; and each span holds its marker.
        #[test]
        fn pieces_make_the_whole(parts in prop::collection::vec(("[(!a-zä ]{0,6}", 1_u32..5), 0..6), tail in "[(a-z ]{0,6}") {
            let sentences: Vec<String> = parts.iter().map(|(words, marker)| format!("{words}[^{marker}]")).collect();
            let text = sentences.concat() + &tail;
            for style in [MarkerStyle::Bracket, MarkerStyle::Footnote, MarkerStyle::Link] {
                let mut restyler = Restyler::new(style);
                let (mut pieces, mut start) = (Restyled::default(), 0);
                for part in sentences.iter().chain([&tail]) {
                    let end = start + part.chars().count();
                    let piece = restyler.rewrite(&text, Span::new(start, end), &citations(&text), |source| format!("u{source}"));
                    pieces.text.push_str(&piece.text);
                    pieces.markers.extend(piece.markers);
                    start = end;
                }
                prop_assert_eq!(&pieces, &whole(style, &text));
                for marker in &pieces.markers {
                    let shown = marker.span.slice(&pieces.text).expect("inside");
                    prop_assert!(shown.starts_with('[') && shown.contains(&marker.number.to_string()), "{}", shown);
                }
            }
        }
    }
}
