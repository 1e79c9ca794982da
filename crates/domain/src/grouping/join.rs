//! Joins the text of neighbouring chunks.

use std::ops::Range;

/// A stretch of a document's text, its range in code points.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'t> {
    /// First code point in the document.
    pub start: u32,
    /// End, exclusive.
    pub end: u32,
    /// The text between them.
    pub text: &'t str,
}

/// The gaps between chunks that follow each other without touching: white space that no chunk holds.
#[must_use]
pub fn gaps(stretches: &[Stretch<'_>]) -> Vec<Range<u32>> {
    let mut end = stretches.first().map_or(0, |first| first.end);
    let mut gaps = Vec::new();
    for stretch in stretches {
        if end < stretch.start {
            gaps.push(end..stretch.start);
        }
        end = end.max(stretch.end);
    }
    gaps
}

/// Joins stretches in the order of the document, each of their code points once. `gap_texts` holds the texts of
/// [`gaps`], in order. Returns `None` if the stretches are not in order or a gap's text is missing or of another
/// length: the result is always an exact copy of the document's text.
#[must_use]
pub fn join(stretches: &[Stretch<'_>], gap_texts: &[String]) -> Option<String> {
    let mut gap_texts = gap_texts.iter();
    let (first, rest) = stretches.split_first()?;
    let (mut joined, start, mut end) = (first.text.to_owned(), first.start, first.end);
    for stretch in rest {
        if stretch.start < start {
            return None;
        }
        if stretch.start > end {
            let gap = gap_texts.next().filter(|gap| length(gap) == Some(stretch.start - end))?;
            joined.push_str(gap);
        }
        let known = end.saturating_sub(stretch.start);
        let new: String = stretch.text.chars().skip(usize::try_from(known).ok()?).collect();
        joined.push_str(&new);
        end = end.max(stretch.end);
    }
    (length(&joined) == end.checked_sub(start)).then_some(joined)
}

fn length(text: &str) -> Option<u32> {
    u32::try_from(text.chars().count()).ok()
}
