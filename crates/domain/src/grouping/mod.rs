//! From ranked passages to results: duplicates share one result, neighbouring chunks of one section are merged into one
//! source.
//!
//! Both operate on the ranking as given and change no order: a group has the rank of its best passage.

pub mod duplicate;
pub mod join;

use serde::Serialize;

use self::duplicate::Shingles;
use super::identity::ChunkKey;
use super::split::named_row;

/// Chunks that one source is merged from at most: more would be a document, not a passage.
pub const MOST_MERGED: usize = 4;

/// The kinds of grouping to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Grouping {
    /// A passage whose words stand in a better one is no result of its own and is listed as its duplicate.
    pub collapse_duplicates: bool,
    /// Neighbouring chunks under the same headings become one source.
    pub merge_neighbours: bool,
}

impl Grouping {
    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_none(self) -> bool {
        !self.collapse_duplicates && !self.merge_neighbours
    }
}

impl Default for Grouping {
    fn default() -> Self {
        Self { collapse_duplicates: true, merge_neighbours: true }
    }
}

/// A ranked chunk. The key's document names one version: a new version replaces all chunks of the old.
#[derive(Clone, Copy, Debug)]
pub struct Ranked<'p> {
    /// First chunk.
    pub key: ChunkKey,
    /// Ordinal of the last chunk: that of `key` unless chunks were merged before.
    pub last_ordinal: u32,
    /// The headings above it: neighbours under different ones are different sources.
    pub heading: &'p [String],
    /// The header of the table that it begins in, if that stands before it.
    pub table_header: Option<&'p str>,
    /// Its text.
    pub text: &'p str,
}

impl Ranked<'_> {
    const fn chunks(&self) -> usize {
        (self.last_ordinal.saturating_sub(self.key.ordinal) as usize).saturating_add(1)
    }
}

/// A result: positions in the list of ranked passages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The best passage, which gives the group its rank.
    pub leader: usize,
    /// The passages that make up the source, in the order of the document; the leader is among them.
    pub members: Vec<usize>,
    /// Passages elsewhere with the same content, best first.
    pub duplicates: Vec<usize>,
}

/// Groups passages, best first, into at most `limit` results.
///
/// A passage that ranks after the last result joins none as a neighbour, because it was no hit within the limit; it is
/// still listed as a duplicate.
#[must_use]
pub fn group(ranked: &[Ranked<'_>], grouping: Grouping, limit: usize) -> Vec<Group> {
    let mut grouper = Grouper { ranked, grouping, shingles: Vec::new(), groups: Vec::new() };
    for place in 0..ranked.len() {
        grouper.add(place, limit);
    }
    grouper.groups
}

struct Grouper<'r> {
    ranked: &'r [Ranked<'r>],
    grouping: Grouping,
    /// Of the passages so far, in their order.
    shingles: Vec<Shingles>,
    groups: Vec<Group>,
}

impl Grouper<'_> {
    fn add(&mut self, place: usize, limit: usize) {
        if self.grouping.collapse_duplicates {
            let shingles = Shingles::of(self.text(place));
            if let Some(known) = self.group_saying(&shingles, place) {
                known.duplicates.push(place);
                self.shingles.push(shingles);
                return;
            }
            self.shingles.push(shingles);
        }
        if self.groups.len() >= limit {
            return;
        }
        if !self.grouping.merge_neighbours || !self.merge(place) {
            self.groups.push(Group { leader: place, members: vec![place], duplicates: Vec::new() });
        }
    }

    fn text(&self, place: usize) -> &str {
        self.ranked.get(place).map_or("", |passage| passage.text)
    }

    /// The group with a passage that contains everything in this one.
    fn group_saying(&mut self, wanted: &Shingles, place: usize) -> Option<&mut Group> {
        let Self { ranked, shingles, groups, .. } = self;
        let overlaps = |member: &usize| match (ranked.get(*member), ranked.get(place)) {
            // Neighbours share a few sentences but are not duplicates because of that.
            (Some(one), Some(two)) => distance(one, two) == Some(1),
            _ => false,
        };
        groups.iter_mut().find(|group| {
            let mut members = group.members.iter().filter(|member| !overlaps(member));
            members.any(|member| shingles.get(*member).is_some_and(|known| known.holds(wanted)))
        })
    }

    /// Adds a passage to the groups of its neighbours, possibly joining two groups; returns whether there was one.
    fn merge(&mut self, place: usize) -> bool {
        let touching: Vec<usize> = (0..self.groups.len()).filter(|group| self.is_beside(*group, place)).collect();
        let mut home = None;
        for index in touching {
            match home {
                None if self.chunks_of(index) + self.chunks_at(place) <= MOST_MERGED => {
                    self.put(index, &[place]);
                    home = Some(index);
                }
                Some(home) if self.chunks_of(home) + self.chunks_of(index) <= MOST_MERGED => {
                    let joined = self.groups.remove(index);
                    self.put(home, &joined.members);
                    if let Some(group) = self.groups.get_mut(home) {
                        group.duplicates.extend(joined.duplicates);
                    }
                    break;
                }
                None | Some(_) => {}
            }
        }
        home.is_some()
    }

    fn put(&mut self, index: usize, places: &[usize]) {
        let ranked = self.ranked;
        let Some(group) = self.groups.get_mut(index) else { return };
        group.members.extend_from_slice(places);
        group.members.sort_by_key(|member| ranked.get(*member).map(|passage| passage.key.ordinal));
    }

    fn is_beside(&self, index: usize, place: usize) -> bool {
        let members = self.groups.get(index).map_or(&[][..], |group| &group.members);
        members.iter().any(|member| match (self.ranked.get(*member), self.ranked.get(place)) {
            (Some(one), Some(two)) => {
                distance(one, two) == Some(1) && one.heading == two.heading && !ends_row(one, two)
            }
            _ => false,
        })
    }

    fn chunks_of(&self, index: usize) -> usize {
        let members = self.groups.get(index).map_or(&[][..], |group| &group.members);
        members.iter().map(|member| self.chunks_at(*member)).sum()
    }

    fn chunks_at(&self, place: usize) -> usize {
        self.ranked.get(place).map_or(0, Ranked::chunks)
    }
}

/// Whether the first of two neighbours begins within a row that the second does not go on with: the name of the row would
/// stand above both.
fn ends_row(one: &Ranked<'_>, two: &Ranked<'_>) -> bool {
    let (first, second) = if one.key.ordinal <= two.key.ordinal { (one, two) } else { (two, one) };
    let row = first.table_header.and_then(named_row);
    row.is_some() && row != second.table_header.and_then(named_row)
}

/// Chunks from the end of one to the start of the other, 1 for neighbours; `None` across documents.
fn distance(one: &Ranked<'_>, two: &Ranked<'_>) -> Option<u32> {
    (one.key.document_id == two.key.document_id).then(|| {
        let (first, second) = if one.key.ordinal <= two.key.ordinal { (one, two) } else { (two, one) };
        second.key.ordinal.saturating_sub(first.last_ordinal)
    })
}

#[cfg(test)]
mod tests;
