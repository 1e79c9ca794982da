//! A filter as SQL conditions over `document d` and, for pages, `chunk c`.

use sqlx::{Postgres, QueryBuilder};

use crate::domain::filter::Filter;

/// Appends ` AND …` for each part of the filter; values are bound, never written into the text.
pub(super) fn push_filter(builder: &mut QueryBuilder<Postgres>, filter: &Filter) {
    if let Some(path) = filter.metadata_path() {
        builder.push(" AND d.metadata @@ ").push_bind(path).push("::jsonpath");
    }
    if let Some(prefix) = &filter.source_prefix {
        builder.push(" AND starts_with(d.source, ").push_bind(prefix.clone()).push(")");
    }
    if !filter.document_ids.is_empty() {
        builder.push(" AND d.document_id = ANY (").push_bind(filter.document_ids.clone()).push(")");
    }
    if !filter.pages.is_empty() {
        builder.push(" AND c.page = ANY (").push_bind(filter.pages.clone()).push(")");
    }
}
