//! Sources that are completed from the chunks beside them: to the whole of a table where a question is over all of its rows, to
//! all notes of a release, and to the rest of a list. Of a table that is too long for that no row is known to be that with the most
//! of something.

use std::{collections::HashMap, sync::Arc};

use super::{Hit, Retriever, list};
use crate::{
    domain::{
        identity::{ChunkKey, TenantId},
        release_notes,
    },
    service::ServiceError,
    store::{FoundPassage, Passage, WantedPassage},
};

/// Most chunks before those that were found, and after them, that are read to complete a table.
const MOST_OF_TABLE: u32 = 12;

/// The same for the notes of a release.
const MOST_OF_RELEASE: u32 = 6;

/// The same for a list.
const MOST_OF_LIST: u32 = 3;

/// Chunks at the beginning of release notes among which the latest release is.
const SEARCHED_FOR_LATEST: u32 = 12;

/// The part of a document that a source is completed to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whole {
    /// The table that it begins or ends in.
    Table,
    /// The notes of the release that it is of, or as many of them as are near.
    Release,
    /// The list that it begins or ends in, or as much of it as is near.
    List,
}

impl Retriever {
    /// The hit with the whole of what it is a part of. `None` if it has all of it, or if a table is longer than a few chunks.
    ///
    /// The rest is of the same document, which the caller sees.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn completed(
        &self,
        tenant: TenantId,
        hit: &Hit,
        whole: Whole,
    ) -> Result<Option<Hit>, ServiceError> {
        let key = hit.passage.key;
        let [before, after] = whole.goes_on_beside(hit);
        let first = before.map_or(key.ordinal, |_| key.ordinal.saturating_sub(whole.most_chunks()));
        let last = after.map_or(hit.last_ordinal, |_| hit.last_ordinal.saturating_add(whole.most_chunks()));
        let beside = (first..key.ordinal).chain(hit.last_ordinal + 1..=last);
        let mut read = self.read_chunks(tenant, beside.map(|ordinal| ChunkKey { ordinal, ..key })).await?;
        let above = whole.take_rest(Side::Above, hit, &mut read);
        let (Some(above), Some(below)) = (above, whole.take_rest(Side::Below, hit, &mut read)) else {
            return Ok(None);
        };
        let member =
            |passage: Passage| Hit { last_ordinal: passage.key.ordinal, passage: Arc::new(passage), ..hit.clone() };
        let above = above.into_iter().rev().map(member);
        let members: Vec<Hit> = above.chain([hit.clone()]).chain(below.into_iter().map(member)).collect();
        let joined = self.join_members(tenant, hit, &members.iter().collect::<Vec<_>>()).await?;
        Ok(joined.map(|joined| whole.headed(joined)))
    }

    /// The notes of the latest release in the document of a hit: the first that has a version. `None` if that stands far from the
    /// beginning.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn latest_release(&self, tenant: TenantId, hit: &Hit) -> Result<Option<Hit>, ServiceError> {
        let key = hit.passage.key;
        let first = (0..SEARCHED_FOR_LATEST).map(|ordinal| ChunkKey { ordinal, ..key });
        let read = self.read_chunks(tenant, first).await?;
        let is_one = |passage: &&Passage| {
            let named = release_notes::release(&passage.heading).and_then(|place| passage.heading.get(place));
            passage.version == hit.passage.version && named.is_some_and(|named| release_notes::names_version(named))
        };
        let Some(latest) = read.values().filter(is_one).min_by_key(|passage| passage.key.ordinal) else {
            return Ok(None);
        };
        let latest = Hit { last_ordinal: latest.key.ordinal, passage: Arc::new(latest.clone()), ..hit.clone() };
        Ok(Some(self.completed(tenant, &latest, Whole::Release).await?.unwrap_or(latest)))
    }

    /// For each hit, whether a table at its beginning or its end goes on in the chunk beside it.
    ///
    /// The chunks are of documents that the caller sees, and nothing of them is passed on.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn cut_tables(
        &self,
        tenant: TenantId,
        hits: impl Iterator<Item = &Hit>,
    ) -> Result<Vec<bool>, ServiceError> {
        let beside: Vec<[Option<ChunkKey>; 2]> = hits.map(beside_rows).collect();
        let found = self.read_chunks(tenant, beside.iter().flatten().flatten().copied()).await?;
        let text =
            |key: Option<ChunkKey>| key.and_then(|key| found.get(&key)).map_or("", |passage| passage.text.as_str());
        Ok(beside.iter().map(|[before, after]| ends_with_row(text(*before)) || begins_with_row(text(*after))).collect())
    }

    async fn read_chunks(
        &self,
        tenant: TenantId,
        keys: impl Iterator<Item = ChunkKey>,
    ) -> Result<HashMap<ChunkKey, Passage>, ServiceError> {
        let wanted: Vec<WantedPassage> = keys.map(|key| WantedPassage { key, known_version: None }).collect();
        let found = match wanted.as_slice() {
            [] => Vec::new(),
            wanted => self.store.search().passages(tenant, wanted, None).await?,
        };
        let read = |found| match found {
            FoundPassage::Read(passage) => Some((passage.key, *passage)),
            FoundPassage::AsKnown(_) => None,
        };
        Ok(found.into_iter().filter_map(read).collect())
    }
}

/// A side of a hit on which what it is a part of goes on.
#[derive(Clone, Copy)]
enum Side {
    Above,
    Below,
}

impl Whole {
    /// The chunks before and after a hit, where it may go on there.
    fn goes_on_beside(self, hit: &Hit) -> [Option<ChunkKey>; 2] {
        match self {
            Self::Table => beside_rows(hit),
            Self::Release if release_notes::release(&hit.passage.heading).is_some() => beside(hit),
            Self::Release => [None, None],
            Self::List => {
                let [before, after] = beside(hit);
                let text = hit.passage.text.as_str();
                [
                    before.filter(|_| !begins_section(hit)),
                    after.filter(|_| list::goes_on_at_end(text) || list::ends_with_code(text)),
                ]
            }
        }
    }

    /// Takes the chunks beyond one side of a hit from those that were read, the nearest first. `None` if a table is longer than
    /// what was read.
    fn take_rest(self, side: Side, hit: &Hit, read: &mut HashMap<ChunkKey, Passage>) -> Option<Vec<Passage>> {
        let mut rest: Vec<Passage> = Vec::new();
        loop {
            let last = rest.last().unwrap_or(&hit.passage);
            let ordinal = match side {
                Side::Above => last.key.ordinal.checked_sub(1),
                Side::Below if rest.is_empty() => hit.last_ordinal.checked_add(1),
                Side::Below => last.key.ordinal.checked_add(1),
            };
            let next = ordinal.and_then(|ordinal| read.remove(&ChunkKey { ordinal, ..last.key }));
            let goes_on = |next: &Passage| match side {
                Side::Above => self.joins(next, last),
                Side::Below => self.joins(last, next),
            };
            let Some(next) = next.filter(|next| next.version == last.version && goes_on(next)) else {
                let may_be_cut = matches!(self, Self::Release | Self::List);
                return (may_be_cut || rest.len() < self.most_chunks() as usize).then_some(rest);
            };
            rest.push(next);
        }
    }

    /// Whether two chunks that follow each other are of one.
    fn joins(self, above: &Passage, below: &Passage) -> bool {
        match self {
            Self::Table => ends_with_row(&above.text) && begins_with_row(&below.text),
            Self::Release => {
                let path = release_notes::release(&above.heading).and_then(|place| above.heading.get(..=place));
                path.is_some_and(|path| below.heading.starts_with(path))
            }
            Self::List => {
                let goes_on = || list::goes_on_at_end(&above.text) && list::goes_on_at_beginning(&below.text);
                above.heading == below.heading && (list::ends_with_code(&above.text) || goes_on())
            }
        }
    }

    /// Most chunks that are read on one side.
    const fn most_chunks(self) -> u32 {
        match self {
            Self::Table => MOST_OF_TABLE,
            Self::Release => MOST_OF_RELEASE,
            Self::List => MOST_OF_LIST,
        }
    }

    /// A completed hit under the headings that hold for all of it.
    fn headed(self, mut hit: Hit) -> Hit {
        if let (Self::Release, Some(place)) = (self, release_notes::release(&hit.passage.heading)) {
            Arc::make_mut(&mut hit.passage).heading.truncate(place + 1);
        }
        hit
    }
}

/// The chunks before and after a hit.
fn beside(hit: &Hit) -> [Option<ChunkKey>; 2] {
    let key = |ordinal| ChunkKey { ordinal, ..hit.passage.key };
    [hit.passage.key.ordinal.checked_sub(1).map(key), hit.last_ordinal.checked_add(1).map(key)]
}

/// Whether a hit begins with its own heading: what stands before it is of another section.
fn begins_section(hit: &Hit) -> bool {
    let first_line = hit.passage.text.trim_start().lines().next().unwrap_or_default();
    hit.passage.heading.last().is_some_and(|heading| first_line.ends_with(heading.as_str()))
}

/// The same where it begins or ends with a row.
fn beside_rows(hit: &Hit) -> [Option<ChunkKey>; 2] {
    let [before, after] = beside(hit);
    let text = hit.passage.text.as_str();
    [before.filter(|_| begins_with_row(text)), after.filter(|_| ends_with_row(text))]
}

/// Whether a text begins with a row of a table.
pub(super) fn begins_with_row(text: &str) -> bool {
    text.trim_start().starts_with('|')
}

fn ends_with_row(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(begins_with_row)
}
