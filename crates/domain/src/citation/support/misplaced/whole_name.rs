//! Values of a row of a table whose name differs from the claim's by words that carry no content alone: "Other receivables" and
//! "Trade receivables".

use super::{MOST_RIVALS, Value, Values};
use crate::citation::source::{SourceParts, SourceSentence};
use crate::citation::support::place::Place;
use crate::citation::term::TermKind;
use crate::markdown::cells;
use crate::wording::lower_case;

impl<'v> Values<'v> {
    /// The other value of a row that the claim names word for word, where it names none of those with this value.
    pub(super) fn of_row_named_whole(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        let claim = lower_case(self.claim.text);
        let is_of_table = |place: &Place<'_>| !place.sentence.header.is_empty();
        let first = places.first()?;
        if !places.iter().all(|place| is_of_table(place) && !names(&claim, place.source, place.sentence)) {
            return None;
        }
        let rows = first.source.sentences.iter().filter(|row| row.header == first.sentence.header);
        let mut named =
            rows.filter(|row| begins_without_content(first.source, row) && names(&claim, first.source, row));
        named.by_ref().take(MOST_RIVALS).find_map(|row| {
            let at = self.rivals(first.source, row, value).next()?;
            Some(Place { sentence: row, at, ..*first })
        })
    }
}

/// Whether the words of the first cell of a row stand in a claim, which is in lower case.
fn names(claim: &str, source: &SourceParts, row: &SourceSentence) -> bool {
    let words = source.word(&row.bytes).unwrap_or_default();
    let name = cells(words).next().map(|(_, name)| lower_case(name)).filter(|name| !name.is_empty());
    let is_apart = |sign: Option<char>| sign.is_none_or(|sign| !sign.is_alphanumeric());
    name.is_some_and(|name| {
        claim.match_indices(name.as_ref()).any(|(at, _)| {
            let before = claim.get(..at).and_then(|before| before.chars().next_back());
            let after = claim.get(at + name.len()..).and_then(|after| after.chars().next());
            is_apart(before) && is_apart(after)
        })
    })
}

fn begins_without_content(source: &SourceParts, row: &SourceSentence) -> bool {
    let first = row.tokens.clone().next().and_then(|at| source.tokens.get(at));
    first.is_some_and(|first| first.kind == TermKind::Stop && first.column == 1)
}
