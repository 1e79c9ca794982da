//! Searches that start from the documents that pass a filter and examine every chunk of them.
//!
//! `OFFSET 0` forces the planner to that order: fresh tables have no statistics, and existing statistics do not show
//! how much a filter lets through.

use sqlx::{Postgres, QueryBuilder};

use crate::domain::identity::TenantId;
use crate::store::{
    Scope, Search, Selection, StoreError,
    documents::chunk,
    search::dense::{DenseHit, DenseQuery, read_hits},
    search::filter::{push_document_filter, push_page_filter, push_page_test, push_start},
    search::lexical::LexicalQuery,
    search::passages::{LexicalHit, read_lexical_hits},
};

/// Disables sequential scans: these queries always have an index to start from.
const NO_SEQUENTIAL_SCAN: &str = "; SET LOCAL enable_seqscan = off";

impl Search<'_> {
    /// Returns the nearest of all chunks that pass.
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(in crate::store) async fn nearest_within(
        &self,
        tenant: TenantId,
        query: &DenseQuery<'_>,
    ) -> Result<Vec<DenseHit>, StoreError> {
        let mut builder = passing_documents(tenant, query.scope, query.selection);
        builder.push(", near AS MATERIALIZED (SELECT d.document_id, e.ordinal, 1 - (e.embedding <=> ");
        builder.push_bind(chunk::half(query.vector)).push(
            ") AS similarity FROM passing d CROSS JOIN LATERAL (SELECT e.ordinal, e.embedding FROM chunk_embedding e WHERE e.tenant_id = ",
        );
        builder.push_bind(tenant.0);
        builder.push(" AND e.document_id = d.document_id AND (e.index_id = ANY (");
        // Looked up by document, never by reading all vectors of the index.
        builder.push_bind(query.scope.indexes.as_slice()).push(")) IS TRUE");
        push_page_test(&mut builder, query.selection.filter);
        builder.push(" OFFSET 0) e) SELECT document_id, ordinal, similarity FROM near ORDER BY similarity DESC, document_id, ordinal LIMIT ");
        builder.push_bind(query.limit);
        let mut reading = self.store.begin_read_with(tenant, NO_SEQUENTIAL_SCAN).await?;
        let rows = builder.build().fetch_all(&mut *reading).await?;
        reading.end().await?;
        read_hits(rows)
    }

    /// Returns the best by BM25 of all chunks that pass and contain a term of the query; at most `limit`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    #[tracing::instrument(target = "cited::trace", skip_all, fields(otel.kind = "client", db.system.name = "postgresql"))]
    pub(crate) async fn lexical_within(
        &self,
        tenant: TenantId,
        scope: &Scope,
        query: &LexicalQuery,
        selection: &Selection<'_>,
        limit: i32,
    ) -> Result<Vec<LexicalHit>, StoreError> {
        let mut builder = passing_documents(tenant, scope, selection);
        builder.push(", scored AS MATERIALIZED (SELECT d.document_id, c.ordinal, (-(c.weights <#> ");
        builder.push_bind(chunk::sparse(&query.weights)).push("))::real AS score FROM passing d CROSS JOIN LATERAL (SELECT c.ordinal, c.weights FROM chunk c WHERE c.tenant_id = ");
        builder.push_bind(tenant.0).push(" AND c.document_id = d.document_id AND (c.index_id = ANY (");
        builder.push_bind(scope.indexes.as_slice()).push(")) IS TRUE");
        push_page_filter(&mut builder, selection.filter);
        builder.push(" OFFSET 0) c) SELECT document_id, ordinal, score FROM scored WHERE score > 0 ORDER BY score DESC, document_id, ordinal LIMIT ");
        builder.push_bind(limit);
        let mut reading = self.store.begin_read_with(tenant, NO_SEQUENTIAL_SCAN).await?;
        let rows = builder.build().fetch_all(&mut *reading).await?;
        reading.end().await?;
        read_lexical_hits(rows)
    }
}

/// Begins a query with `passing`: all documents that pass the filter, pages not considered.
fn passing_documents(tenant: TenantId, scope: &Scope, selection: &Selection<'_>) -> QueryBuilder<Postgres> {
    let mut builder = QueryBuilder::new("WITH start AS MATERIALIZED (SELECT DISTINCT document_id FROM (");
    push_start(&mut builder, tenant, scope, selection.start);
    builder.push(
        ") found), passing AS MATERIALIZED (SELECT s.document_id FROM start s CROSS JOIN LATERAL (SELECT FROM document d WHERE d.tenant_id = ",
    );
    builder.push_bind(tenant.0).push(" AND d.document_id = s.document_id AND d.collection_id = ANY (");
    builder.push_bind(scope.collections.clone()).push(")");
    push_document_filter(&mut builder, selection.filter);
    builder.push(" OFFSET 0) d)");
    builder
}
