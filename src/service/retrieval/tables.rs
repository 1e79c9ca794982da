//! Whether the tables of sources go on beyond them: then no row of them is known to be that with the most of something.

use std::collections::HashMap;

use super::{Hit, Retriever};
use crate::{
    domain::identity::{ChunkKey, TenantId},
    service::ServiceError,
    store::{FoundPassage, WantedPassage},
};

impl Retriever {
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
        let keys = beside.iter().flatten().flatten();
        let wanted: Vec<WantedPassage> = keys.map(|key| WantedPassage { key: *key, known_version: None }).collect();
        let found = match wanted.as_slice() {
            [] => Vec::new(),
            wanted => self.store.search().passages(tenant, wanted, None).await?,
        };
        let texts: HashMap<ChunkKey, String> = found
            .into_iter()
            .filter_map(|found| match found {
                FoundPassage::Read(passage) => Some((passage.key, passage.text)),
                FoundPassage::AsKnown(_) => None,
            })
            .collect();
        let text = |key: Option<ChunkKey>| key.and_then(|key| texts.get(&key)).map_or("", String::as_str);
        Ok(beside.iter().map(|[before, after]| ends_with_row(text(*before)) || begins_with_row(text(*after))).collect())
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
