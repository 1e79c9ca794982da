//! The excerpt of a document that a model reads with its chunks: all of it, or if that is too long, a part around them.

use std::ops::Range;

/// The beginning of a long document gets at most this part of what can be shown.
const SHARE_OF_OPENING: u32 = 8;

/// The text shown with consecutive pieces. Pieces with the same excerpt have prompts that begin alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Byte ranges of the text, in order; between two of them something is left out.
    pub parts: Vec<Range<usize>>,
    /// The pieces, by their index.
    pub pieces: Range<usize>,
}

/// Returns the excerpts to show with the pieces of a text, given where the pieces begin (in bytes, rising) and the cost
/// function of a text.
///
/// A text within the budget is shown whole, and all pieces share it. Of a longer one, its beginning is shown, which
/// states its subject, and a stretch around the pieces: consecutive pieces of up to half of the stretch share it, with
/// equal amounts of text before and after them. Only a piece that is larger than the budget by itself makes an excerpt
/// that exceeds it.
#[must_use]
pub fn excerpts(text: &str, starts: &[usize], budget: u32, cost: &dyn Fn(&str) -> u32) -> Vec<Excerpt> {
    let segments = segments(text, starts);
    let costs: Vec<u32> = segments.iter().map(|segment| cost(text.get(segment.clone()).unwrap_or_default())).collect();
    let sum = |range: Range<usize>| costs.get(range).unwrap_or_default().iter().copied().fold(0, u32::saturating_add);
    if sum(0..costs.len()) <= budget {
        return vec![Excerpt { parts: std::iter::once(0..text.len()).collect(), pieces: 0..starts.len() }];
    }
    let opening = reach(&costs, budget / SHARE_OF_OPENING);
    let stretch = budget.saturating_sub(sum(0..opening));
    let mut excerpts = Vec::new();
    let mut first = 0;
    while first < segments.len() {
        let rest = costs.get(first..).unwrap_or_default();
        let pieces = first..first + reach(rest, stretch / 2).max(1);
        let shown = around(&costs, &pieces, stretch.saturating_sub(sum(pieces.clone())));
        let bytes = |range: Range<usize>| {
            let start = segments.get(range.start).map_or(0, |segment| segment.start);
            let end = range.end.checked_sub(1).and_then(|last| segments.get(last)).map_or(start, |segment| segment.end);
            start..end
        };
        let parts = if opening == 0 || shown.start <= opening {
            vec![bytes(if opening == 0 { shown } else { 0..shown.end })]
        } else {
            vec![bytes(0..opening), bytes(shown)]
        };
        first = pieces.end;
        excerpts.push(Excerpt { parts, pieces });
    }
    excerpts
}

/// The text cut where pieces begin.
fn segments(text: &str, starts: &[usize]) -> Vec<Range<usize>> {
    let begins = std::iter::once(0).chain(starts.iter().skip(1).copied());
    let ends = starts.iter().skip(1).copied().chain(std::iter::once(text.len()));
    begins.zip(ends).take(starts.len()).map(|(start, end)| start..end).collect()
}

/// How many of the costs, from the first on, fit.
fn reach(costs: &[u32], limit: u32) -> usize {
    let mut sum = 0_u32;
    costs
        .iter()
        .take_while(|cost| {
            sum = sum.saturating_add(**cost);
            sum <= limit
        })
        .count()
}

/// The segments with as many before and after them as `room` holds: half of it on each side, or what one side leaves.
fn around(costs: &[u32], inner: &Range<usize>, room: u32) -> Range<usize> {
    let before: Vec<u32> = costs.get(..inner.start).unwrap_or_default().iter().rev().copied().collect();
    let after = costs.get(inner.end..).unwrap_or_default();
    let sum = |costs: &[u32], count: usize| costs.iter().take(count).copied().fold(0, u32::saturating_add);
    let half = reach(&before, room / 2);
    let right = reach(after, room.saturating_sub(sum(&before, half)));
    let left = reach(&before, room.saturating_sub(sum(after, right)));
    inner.start.saturating_sub(left)..inner.end + right
}
