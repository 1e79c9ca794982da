//! Whether requests can be served.

use super::ServiceError;
use crate::store::Store;

/// The use case.
#[derive(Clone)]
pub struct Readiness {
    store: Store,
}

impl Readiness {
    /// That of this store.
    #[must_use]
    pub const fn new(store: Store) -> Self {
        Self { store }
    }

    /// Asks the database.
    ///
    /// # Errors
    /// Store failures: it does not answer.
    pub async fn check(&self) -> Result<(), ServiceError> {
        Ok(self.store.ping().await?)
    }
}
