//! Tables that go on beyond a source: they are completed where a question is over all of their rows. Of one that is too long for
//! that no row is known to be that with the most of something.

use std::{collections::HashMap, sync::Arc};

use super::{Hit, Retriever};
use crate::{
    domain::identity::{ChunkKey, TenantId},
    service::ServiceError,
    store::{FoundPassage, Passage, WantedPassage},
};

/// Most chunks of a table before those that were found, and after them, that are read for a question over all of its rows.
const MOST_CHUNKS: u32 = 12;

impl Retriever {
    /// The hit with the whole of the table that it is a part of. `None` if it has all of it, or if the table is longer than
    /// a few chunks.
    ///
    /// The rest is of the same document, which the caller sees.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn with_whole_table(&self, tenant: TenantId, hit: &Hit) -> Result<Option<Hit>, ServiceError> {
        let key = hit.passage.key;
        let [before, after] = beside_rows(hit);
        let first = before.map_or(key.ordinal, |_| key.ordinal.saturating_sub(MOST_CHUNKS));
        let last = after.map_or(hit.last_ordinal, |_| hit.last_ordinal.saturating_add(MOST_CHUNKS));
        let beside = (first..key.ordinal).chain(hit.last_ordinal + 1..=last);
        let mut read = self.read_chunks(tenant, beside.map(|ordinal| ChunkKey { ordinal, ..key })).await?;
        let above = take_rest_of_table(Side::Above, hit, &mut read);
        let (Some(above), Some(below)) = (above, take_rest_of_table(Side::Below, hit, &mut read)) else {
            return Ok(None);
        };
        let member =
            |passage: Passage| Hit { last_ordinal: passage.key.ordinal, passage: Arc::new(passage), ..hit.clone() };
        let above = above.into_iter().rev().map(member);
        let members: Vec<Hit> = above.chain([hit.clone()]).chain(below.into_iter().map(member)).collect();
        self.join_members(tenant, hit, &members.iter().collect::<Vec<_>>()).await
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

/// The chunks before and after a hit, where it begins or ends with a row.
fn beside_rows(hit: &Hit) -> [Option<ChunkKey>; 2] {
    let key = |ordinal| ChunkKey { ordinal, ..hit.passage.key };
    let text = hit.passage.text.as_str();
    let before = hit.passage.key.ordinal.checked_sub(1).filter(|_| begins_with_row(text));
    let after = hit.last_ordinal.checked_add(1).filter(|_| ends_with_row(text));
    [before.map(key), after.map(key)]
}

/// A side of a hit on which its table goes on.
#[derive(Clone, Copy)]
enum Side {
    Above,
    Below,
}

/// Takes the chunks of a table beyond one side of a hit from those that were read, the nearest first. `None` if the table is longer
/// than what was read.
fn take_rest_of_table(side: Side, hit: &Hit, read: &mut HashMap<ChunkKey, Passage>) -> Option<Vec<Passage>> {
    let mut rest: Vec<Passage> = Vec::new();
    loop {
        let (text, key) =
            rest.last().map_or((&hit.passage.text, hit.passage.key), |passage| (&passage.text, passage.key));
        let next = match side {
            Side::Above => key.ordinal.checked_sub(1).filter(|_| begins_with_row(text)),
            Side::Below if rest.is_empty() => hit.last_ordinal.checked_add(1).filter(|_| ends_with_row(text)),
            Side::Below => key.ordinal.checked_add(1).filter(|_| ends_with_row(text)),
        };
        let Some(ordinal) = next else { return Some(rest) };
        let goes_on = |text: &str| match side {
            Side::Above => ends_with_row(text),
            Side::Below => begins_with_row(text),
        };
        let found = read.remove(&ChunkKey { ordinal, ..key });
        match found.filter(|found| found.version == hit.passage.version && goes_on(&found.text)) {
            Some(found) => rest.push(found),
            None => return (rest.len() < MOST_CHUNKS as usize).then_some(rest),
        }
    }
}

fn begins_with_row(text: &str) -> bool {
    text.trim_start().starts_with('|')
}

fn ends_with_row(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(begins_with_row)
}
