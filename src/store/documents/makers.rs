//! Makers of jobs from whom documents are hidden: uploads of theirs must not tell what stands in those.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::{
    domain::identity::TenantId,
    store::{Documents, StoreError},
};

/// Numbers of the users and groups that made jobs, by job. Jobs of makers from whom nothing is hidden are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Makers(HashMap<Uuid, Vec<i32>>);

impl Makers {
    /// Users and groups of the maker of a job; `None` where nothing is hidden from it.
    pub(crate) fn of(&self, job: Uuid) -> Option<&[i32]> {
        self.0.get(&job).map(Vec::as_slice)
    }

    /// All makers, each once.
    pub(crate) fn distinct(&self) -> HashSet<&[i32]> {
        self.0.values().map(Vec::as_slice).collect()
    }
}

impl FromIterator<(Uuid, Vec<i32>)> for Makers {
    fn from_iter<T: IntoIterator<Item = (Uuid, Vec<i32>)>>(makers: T) -> Self {
        Self(makers.into_iter().collect())
    }
}

impl Documents<'_> {
    /// Returns the makers of jobs.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn makers(&self, tenant: TenantId, jobs: &[Uuid]) -> Result<Makers, StoreError> {
        let mut transaction = self.store.begin_look_up(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT job_id, maker_principals AS "principals!" FROM job
               WHERE tenant_id = $1 AND job_id = ANY ($2) AND maker_principals IS NOT NULL"#,
            tenant.0,
            jobs,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(|row| (row.job_id, row.principals)).collect())
    }
}
