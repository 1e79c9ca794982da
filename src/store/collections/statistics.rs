//! Lexical statistics: document frequencies, updated together with the chunks.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{StoreError, Tx};

/// Changes that a transaction makes to the lexical statistics of an index.
#[derive(Debug, Default)]
pub(in crate::store) struct StatisticChanges {
    /// Change in the number of documents that have chunks in it.
    pub(in crate::store) documents: i64,
    pub(in crate::store) chunks: i64,
    /// Change in the number of chunks without a vector.
    pub(in crate::store) unembedded_chunks: i64,
    // Ordered, so that transactions lock the terms they share in the same order.
    terms: BTreeMap<i32, i32>,
}

impl StatisticChanges {
    pub(in crate::store) fn count(&mut self, terms: impl Iterator<Item = i32>, sign: i32) {
        self.chunks += i64::from(sign);
        for term in terms {
            *self.terms.entry(term).or_default() += sign;
        }
    }

    /// Writes the changes, and returns the terms that they touched. Call it last in a transaction: the rows of common
    /// terms are locked from here to the commit, and every other writer of the index waits for them.
    pub(in crate::store) async fn apply(
        self,
        transaction: &mut Tx,
        tenant: TenantId,
        index: Uuid,
    ) -> Result<Vec<i32>, StoreError> {
        let (terms, changes): (Vec<i32>, Vec<i32>) = self.terms.into_iter().filter(|(_, change)| *change != 0).unzip();
        sqlx::query!(
            "INSERT INTO term_statistic (tenant_id, index_id, term_id, document_frequency)
             SELECT k.tenant_id, k.index_id, new.* FROM collection_index k CROSS JOIN UNNEST($3::int[], $4::int[]) AS new (term_id, change)
             WHERE k.tenant_id = $1 AND k.index_id = $2
             ON CONFLICT (tenant_id, index_id, term_id)
             DO UPDATE SET document_frequency = term_statistic.document_frequency + EXCLUDED.document_frequency",
            tenant.0,
            index,
            &terms,
            &changes,
        )
        .execute(&mut **transaction)
        .await?;
        sqlx::query!(
            "UPDATE index_statistic SET documents = documents + $3, chunks = chunks + $4,
                    unembedded_chunks = unembedded_chunks + $5
             WHERE tenant_id = $1 AND index_id = $2",
            tenant.0,
            index,
            self.documents,
            self.chunks,
            self.unembedded_chunks,
        )
        .execute(&mut **transaction)
        .await?;
        Ok(terms)
    }
}
