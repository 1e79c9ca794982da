//! Reads ranges of document texts.

use std::ops::Range;

use uuid::Uuid;

use crate::domain::identity::TenantId;
use crate::store::{Documents, StoreError};

/// Returns the text in a form that Postgres can store: without NUL characters.
#[must_use]
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// A range in the text of one version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextRange {
    /// The document.
    pub(crate) document_id: Uuid,
    /// Its version.
    pub(crate) version: u32,
    /// Range in its text, code points.
    pub(crate) range: Range<u32>,
}

impl Documents<'_> {
    /// Returns the texts of these ranges, in the same order. A text is empty if its document does not exist any more or
    /// has another version now.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn text_ranges(&self, tenant: TenantId, ranges: &[TextRange]) -> Result<Vec<String>, StoreError> {
        let documents: Vec<Uuid> = ranges.iter().map(|wanted| wanted.document_id).collect();
        let versions: Vec<i32> = ranges.iter().map(|wanted| narrow(wanted.version)).collect();
        let starts: Vec<i32> = ranges.iter().map(|wanted| narrow(wanted.range.start)).collect();
        let ends: Vec<i32> = ranges.iter().map(|wanted| narrow(wanted.range.end)).collect();
        let mut reading = self.store.reading(tenant).await?;
        let rows = sqlx::query_scalar!(
            r#"SELECT text FROM find_text_ranges($1, $2, $3, $4, $5)"#,
            tenant.0,
            &documents,
            &versions,
            &starts,
            &ends,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        Ok(rows.into_iter().map(Option::unwrap_or_default).collect())
    }
}

fn narrow(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
