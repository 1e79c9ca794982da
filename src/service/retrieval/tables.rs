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
        let [before, after] = beside_rows(hit);
        let key = hit.passage.key;
        let first = before.map_or(key.ordinal, |_| key.ordinal.saturating_sub(MOST_CHUNKS));
        let last = after.map_or(hit.last_ordinal, |_| hit.last_ordinal.saturating_add(MOST_CHUNKS));
        let beside = (first..key.ordinal).chain(hit.last_ordinal + 1..=last);
        let mut rest = self.read_chunks(tenant, beside.map(|ordinal| ChunkKey { ordinal, ..key })).await?;
        let mut take = |ordinal: Option<u32>| {
            let passage = rest.remove(&ChunkKey { ordinal: ordinal?, ..key })?;
            (passage.version == hit.passage.version).then(|| Arc::new(passage))
        };
        let mut members = vec![hit.clone()];
        while begins_with_row(members.first().map_or("", |hit| hit.passage.text.as_str())) {
            let ordinal = members.first().map_or(0, |hit| hit.passage.key.ordinal);
            match take(ordinal.checked_sub(1)).filter(|above| ends_with_row(&above.text)) {
                Some(above) => {
                    members.insert(0, Hit { last_ordinal: above.key.ordinal, passage: above, ..hit.clone() });
                }
                None if ordinal > first || ordinal == 0 => break,
                None => return Ok(None),
            }
        }
        while ends_with_row(members.last().map_or("", |hit| hit.passage.text.as_str())) {
            let ordinal = members.last().map_or(0, |hit| hit.last_ordinal);
            match take(ordinal.checked_add(1)).filter(|below| begins_with_row(&below.text)) {
                Some(below) => members.push(Hit { last_ordinal: below.key.ordinal, passage: below, ..hit.clone() }),
                None if ordinal < last => break,
                None => return Ok(None),
            }
        }
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

fn begins_with_row(text: &str) -> bool {
    text.trim_start().starts_with('|')
}

fn ends_with_row(text: &str) -> bool {
    text.trim_end().lines().next_back().is_some_and(begins_with_row)
}
