//! Values that a row of a table has in another column than the one that the claim names.

use std::collections::HashSet;

use super::{MOST_RIVALS, Value, Values};
use crate::citation::columns::{column_of, heads_of};
use crate::citation::support::place::{Class, Place, content};
use crate::citation::term::Term;
use crate::citation::unit::is_unit;

/// Most columns of a table whose heads are looked for in a claim.
const MOST_COLUMNS: usize = 64;

impl<'v> Values<'v> {
    /// The value of the claim's column in a row that has this one in a column which the claim does not name.
    pub(super) fn of_another_column(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        let held = |place: &Place<'_>| self.mask(place.index, place.sentence.entry).count_ones();
        let most = places.iter().map(held).max().unwrap_or_default();
        let mut found = places.iter().filter(|place| held(place) == most).map(|place| {
            let Place { source, sentence, .. } = *place;
            if sentence.header.is_empty() {
                return None;
            }
            // The number of a model is the name of its row.
            let column = column_of(source, place.at).filter(|column| *column > 1)?;
            // A cell of several words tells itself what its value is of.
            let is_own = |at: &usize| *at != place.at && column_of(source, *at) == Some(column);
            let names_it = |at: usize| content(source, at).is_some_and(|term| self.claims_term(source, term));
            if sentence.tokens.clone().filter(is_own).any(names_it) {
                return None;
            }
            let own = heads_of(source, sentence, column);
            let names = |some: &HashSet<u32>, others: &HashSet<u32>| {
                // "12 GB" names no column for being headed "SSD (GB)".
                let mut stems = some.difference(others).filter_map(|term| source.stem(*term));
                stems.any(|stem| self.has_fact(stem) && !is_unit(stem))
            };
            let is_whole = |label: &HashSet<u32>| {
                let mut stems = label.iter().filter_map(|term| source.stem(*term));
                !label.is_empty() && stems.all(|stem| self.has_fact(stem))
            };
            // "Change 2019 to 2018" heads neither the values of 2019 nor those of 2018.
            let is_part = |short: &HashSet<u32>, long: &HashSet<u32>| {
                short.len() < long.len() && short.is_subset(long) && is_whole(short) && !is_whole(long)
            };
            let is_named = |column: usize| {
                let other = heads_of(source, sentence, column);
                is_part(&other, &own) || (names(&other, &own) && !names(&own, &other) && !is_part(&own, &other))
            };
            let mut rivals = self.rivals(source, sentence, value);
            let rival = rivals.find(|at| column_of(source, *at).is_some_and(is_named));
            // The claim names another column of such values, and says nothing of what the row has in it.
            let has_such = |column: usize| {
                let rows = source.sentences.iter().filter(|row| row.header == sentence.header);
                rows.take(MOST_RIVALS).any(|row| {
                    row.tokens.clone().any(|at| {
                        let token = source.tokens.get(at);
                        let class = token.and_then(|token| Class::of(token.kind, token.unit, source.stem(token.term)?));
                        class == Some(value.class) && column_of(source, at) == Some(column)
                    })
                })
            };
            let unsaid = || {
                let last = sentence.tokens.end.checked_sub(1).and_then(|last| column_of(source, last))?;
                (2..=last).find_map(|column| {
                    let mut cell = sentence.tokens.clone().filter(|at| column_of(source, *at) == Some(column));
                    let first = cell.clone().next()?;
                    let is_said = |at: usize| content(source, at).is_some_and(|term| self.claims_term(source, term));
                    (is_named(column) && !cell.any(is_said) && has_such(column)).then_some(first)
                })
            };
            let at = rival.or_else(unsaid)?;
            Some(Place { at, ..*place })
        });
        let first = found.next()??;
        // One place where it is the claim's is enough.
        found.all(|other| other.is_some()).then_some(first)
    }

    /// The column of a row that the claim names next to one of its values.
    pub(super) fn column_named_beside(&self, term: &Term, row: Place<'_>) -> Option<usize> {
        let Place { source, sentence, .. } = row;
        let last = sentence.tokens.end.checked_sub(1).and_then(|last| column_of(source, last))?;
        let last = last.min(MOST_COLUMNS);
        let heads: Vec<HashSet<u32>> = (1..=last).map(|column| heads_of(source, sentence, column)).collect();
        // "Change 2019 to 2018" is named by its own word.
        let is_of_part = |term: &u32, long: &HashSet<u32>| {
            heads.iter().any(|short| short.len() < long.len() && short.is_subset(long) && short.contains(term))
        };
        let own = |label: &HashSet<u32>| label.iter().filter(|term| !is_of_part(term, label)).copied().collect();
        let heads: Vec<HashSet<u32>> = heads.iter().map(own).collect();
        let terms = &self.claim.terms;
        let at = terms.iter().position(|other| other.range == term.range)?;
        // A value behind a colon is named by its label, and not by the next one: "2019: $12 | 2018: $9".
        let before = self.claim.text.get(..term.range.start)?.trim_end_matches([' ', '(', '-', '$', '€', '£', '¥']);
        let naming = if before.ends_with(':') { at } else { terms.len() };
        let named = terms.iter().enumerate().take(naming).filter_map(|(other, word)| {
            let word = source.term(&word.stem)?;
            let mut columns = (1..=last).zip(&heads).filter(|(_, heads)| heads.contains(&word));
            let (column, _) = columns.next().filter(|_| columns.next().is_none())?;
            Some((other.abs_diff(at), other < at, column))
        });
        named.min().map(|(.., column)| column)
    }
}
