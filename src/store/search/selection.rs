//! Estimates how much a filter lets through, and decides whether a search starts from the passing documents or from its
//! index.

use sqlx::{Postgres, QueryBuilder, Row};

use crate::domain::{
    filter::{Filter, Part},
    identity::TenantId,
};
use crate::store::{
    Scope, Search, StoreError,
    search::filter::{is_indexed, push_document_filter, push_document_test, push_page_filter},
};

/// Number of sampled documents per collection that a filter is tested on.
const SAMPLE: i64 = 500;

/// Up to this many chunks, examining each costs no more than a walk through an index.
const FEW_CHUNKS: u64 = 1_000;

/// A walk through the vector index visits `limit * chunks / matching` vectors to find `limit` that pass, each at about
/// six times the cost of examining one chunk of a known document. So for the fifty hits that fusion reads, the two cost
/// the same when `matching` squared is this many times `chunks`.
const WALK_COST: u64 = 300;

/// A filter, with an estimate of the chunks that pass it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection<'a> {
    /// The filter.
    pub(crate) filter: &'a Filter,
    /// Number of chunks in the collections.
    pub(crate) chunks: u64,
    /// Estimated number of those that pass; `None` if it is not needed.
    pub(crate) matching: Option<u64>,
    /// The most selective part of the filter.
    pub(in crate::store) start: Option<Part<'a>>,
}

impl<'a> Selection<'a> {
    /// A filter of which it is known how many chunks pass.
    #[must_use]
    pub(crate) fn counted(filter: &'a Filter, chunks: u64, matching: u64) -> Self {
        let start = filter.parts().into_iter().find(|part| is_indexed(*part));
        Self { filter, chunks, matching: Some(matching), start }
    }

    /// Returns whether so few chunks pass that a search examines each of them.
    #[must_use]
    pub(crate) fn is_narrow(&self) -> bool {
        let few = |chunks: u64| chunks <= FEW_CHUNKS;
        !self.filter.is_empty()
            && (few(self.chunks)
                || self.matching.is_some_and(|matching| {
                    few(matching) || matching.saturating_mul(matching) <= self.chunks.saturating_mul(WALK_COST)
                }))
    }

    /// Returns the number of chunks per passing chunk, at least 1.
    #[must_use]
    pub(crate) fn chunks_per_match(&self) -> u64 {
        self.matching.map_or(1, |matching| self.chunks / matching.max(1)).max(1)
    }
}

impl Search<'_> {
    /// Estimates how much a filter lets through: tests it on a random sample of the documents; documents that are named
    /// by id are counted.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn select<'a>(
        &self,
        tenant: TenantId,
        scope: &Scope,
        chunks: u64,
        filter: &'a Filter,
    ) -> Result<Selection<'a>, StoreError> {
        let parts = filter.parts();
        let mut selection = Selection { filter, chunks, matching: None, start: None };
        if parts.is_empty() {
            return Ok(selection);
        }
        if chunks <= FEW_CHUNKS {
            selection.start = parts.into_iter().find(|part| is_indexed(*part));
            return Ok(selection);
        }
        let mut reading = self.store.begin_read(tenant).await?;
        let row = estimate(tenant, scope, filter, &parts).build().fetch_one(&mut *reading).await?;
        reading.end().await?;
        let estimates: Vec<i64> = (0..=parts.len()).map(|column| row.try_get(column)).collect::<Result<_, _>>()?;
        selection.matching = estimates.iter().min().map(|least| least.unsigned_abs());
        // If no sampled document passes, one in `SAMPLE` may still pass.
        let unseen = i64::try_from(chunks).unwrap_or(i64::MAX) / SAMPLE;
        let most = |(part, estimate): &(Part<'_>, i64)| match part {
            Part::DocumentIds(_) => *estimate,
            Part::Metadata(_) | Part::SourcePrefix(_) | Part::Pages(_) | Part::Caller(_) => (*estimate).max(unseen),
        };
        let indexed = parts.into_iter().zip(estimates).filter(|(part, _)| is_indexed(*part));
        selection.start = indexed.min_by_key(most).map(|(part, _)| part);
        Ok(selection)
    }
}

/// Returns a query for one row: the number of chunks that each part lets through, and last of those that pass the whole
/// filter.
fn estimate(tenant: TenantId, scope: &Scope, filter: &Filter, parts: &[Part<'_>]) -> QueryBuilder<Postgres> {
    let mut builder = QueryBuilder::new(
        "WITH sample AS MATERIALIZED (
             SELECT d.*, s.chunks * d.chunks / sum(d.chunks) OVER (PARTITION BY s.index_id) AS weight
             FROM collection l JOIN index_statistic s USING (tenant_id, index_id) CROSS JOIN LATERAL (
                 SELECT d.document_id, d.source, d.metadata, d.allowed, d.denied, d.chunks::double precision, ",
    );
    if filter.pages.is_empty() {
        builder.push("1");
    } else {
        builder.push(
            "(SELECT count(*) FROM chunk c WHERE c.tenant_id = d.tenant_id AND c.index_id = s.index_id \
             AND c.document_id = d.document_id",
        );
        push_page_filter(&mut builder, filter);
        builder.push(") / d.chunks::double precision");
    }
    builder.push(
        " AS share FROM document d WHERE d.tenant_id = s.tenant_id AND d.collection_id = l.collection_id
                 ORDER BY \"right\"(d.document_id::text, 8) LIMIT ",
    );
    builder.push_bind(SAMPLE).push(") d WHERE l.tenant_id = ").push_bind(tenant.0);
    builder.push(" AND l.collection_id = ANY (").push_bind(scope.collections.clone()).push(")) SELECT ");
    // Documents named by id are rarely in the sample: their part is counted.
    let sampled = Filter { document_ids: Vec::new(), ..filter.clone() };
    for part in parts {
        match part {
            // Of those that are searched and pass the rest: how a search is carried out must not tell of any other.
            Part::DocumentIds(ids) => {
                builder.push("(SELECT COALESCE(sum(d.chunks), 0) FROM document d WHERE d.tenant_id = ");
                builder.push_bind(tenant.0).push(" AND d.document_id = ANY (").push_bind(ids.to_vec());
                builder.push(") AND d.collection_id = ANY (").push_bind(scope.collections.clone()).push(")");
                push_document_filter(&mut builder, &sampled);
                builder.push(")::bigint, ");
            }
            Part::Pages(_) => {
                builder.push("COALESCE(sum(weight * share), 0)::bigint, ");
            }
            Part::Metadata(_) | Part::SourcePrefix(_) | Part::Caller(_) => {
                builder.push("COALESCE(sum(weight) FILTER (WHERE ");
                push_document_test(&mut builder, *part);
                builder.push("), 0)::bigint, ");
            }
        }
    }
    builder.push("COALESCE(sum(weight * share) FILTER (WHERE true");
    push_document_filter(&mut builder, &sampled);
    builder.push("), 0)::bigint FROM sample d");
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_narrow(chunks: u64, matching: u64) -> bool {
        let filter = Filter { source_prefix: Some("a".to_owned()), ..Filter::default() };
        Selection { filter: &filter, chunks, matching: Some(matching), start: None }.is_narrow()
    }

    #[test]
    fn where_a_search_starts_follows_from_how_many_pass_of_how_many() {
        let cases = [
            (1_000_000, vec![(0, true), (1, true), (1_000, true), (10_000, true), (20_000, false), (1_000_000, false)]),
            (100_000, vec![(1, true), (5_000, true), (6_000, false), (100_000, false)]),
            (10_000, vec![(1_000, true), (2_000, false), (10_000, false)]),
            (900, vec![(900, true)]),
        ];
        for (chunks, expected) in cases {
            for (matching, narrow) in expected {
                assert_eq!(is_narrow(chunks, matching), narrow, "{matching} of {chunks}");
            }
        }
        let empty = Filter::default();
        assert!(!Selection { filter: &empty, chunks: 10, matching: None, start: None }.is_narrow());
    }

    #[test]
    fn more_candidates_are_looked_at_when_fewer_of_them_pass() {
        let filter = Filter::default();
        let per_match =
            |matching| Selection { filter: &filter, chunks: 1_000, matching, start: None }.chunks_per_match();
        assert_eq!([None, Some(1_000), Some(250), Some(0)].map(per_match), [1, 1, 4, 1_000]);
    }
}
