//! Maintenance of the lexical index.

use crate::store::{Collections, StoreError};

impl Collections<'_> {
    /// Flushes the pending list of the lexical index, which every search has to read in full.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn settle_lexical_index(&self) -> Result<(), StoreError> {
        sqlx::query!("SELECT settle_lexical_index()").fetch_one(self.store.writer()).await?;
        Ok(())
    }
}
