//! Users and groups by their numbers.

use crate::domain::{access::Principal, identity::TenantId};
use crate::store::{Access, StoreError};

impl Access<'_> {
    /// Returns the numbers of these principals, ascending. One that no access control list ever named has none.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn principal_numbers<'a>(
        &self,
        tenant: TenantId,
        principals: impl IntoIterator<Item = &'a Principal>,
    ) -> Result<Vec<i32>, StoreError> {
        let names: Vec<&str> = principals.into_iter().map(Principal::as_str).collect();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let mut transaction = self.store.begin(tenant).await?;
        let numbers = sqlx::query_scalar!(
            "SELECT principal_id FROM principal WHERE tenant_id = $1 AND name = ANY ($2) ORDER BY principal_id",
            tenant.0,
            &names as &[&str],
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(numbers)
    }
}
