//! Callers as access control lists know them.

use super::ServiceError;
use crate::{domain::access::Grant, store::Store};

/// The numbers of the principals that a caller is; `None` for one who sees every document that its grant reaches.
///
/// # Errors
/// Store failures.
pub(super) async fn principal_numbers(store: &Store, grant: &Grant) -> Result<Option<Vec<i32>>, ServiceError> {
    match grant.principals() {
        None => Ok(None),
        Some(principals) => Ok(Some(store.access().principal_numbers(grant.tenant(), principals).await?)),
    }
}
