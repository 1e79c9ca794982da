//! Quotas on what a tenant keeps.

use std::fmt;

/// Most that a tenant may keep; `None` is any amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageQuotas {
    /// Documents.
    pub documents: Option<u64>,
    /// UTF-8 bytes of text and metadata, former versions included.
    pub bytes: Option<u64>,
    /// Collections.
    pub collections: Option<u64>,
    /// Former versions of each document. It refuses nothing: of more the oldest are deleted.
    pub former_versions: Option<u64>,
}

/// Amount that a tenant keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageUse {
    /// Documents.
    pub documents: u64,
    /// UTF-8 bytes of text and metadata, former versions included.
    pub bytes: u64,
    /// Collections.
    pub collections: u64,
    /// Former versions of all documents.
    pub former_versions: u64,
    /// Bytes of them.
    pub former_bytes: u64,
}

/// A change of quotas; `None` leaves one as it is, `Some(None)` takes that of the deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageQuotaChange {
    /// Documents.
    pub documents: Option<Option<u64>>,
    /// Bytes.
    pub bytes: Option<Option<u64>>,
    /// Collections.
    pub collections: Option<Option<u64>>,
    /// Former versions of each document.
    pub former_versions: Option<Option<u64>>,
}

/// Amount that is to be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Documents.
    pub documents: u64,
    /// Bytes.
    pub bytes: u64,
    /// Collections.
    pub collections: u64,
}

/// Error: a tenant would keep more than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverQuota {
    /// Name of the quota: `documents`, `bytes` or `collections`.
    pub quota: &'static str,
    /// The quota.
    pub limit: u64,
    /// Amount that is kept.
    pub used: u64,
    /// Amount that was to be added.
    pub asked: u64,
}

impl fmt::Display for OverQuota {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quota, limit, used, asked } = self;
        write!(
            formatter,
            "the tenant keeps {used} of at most {limit} {quota}, and this adds {asked}; delete documents or \
             collections that are not needed, or have the operator raise the quota (cited tenants quota)"
        )
    }
}

impl StorageQuotas {
    /// These quotas, with those of the deployment where there is none.
    #[must_use]
    pub fn or(self, deployment: Self) -> Self {
        Self {
            documents: self.documents.or(deployment.documents),
            bytes: self.bytes.or(deployment.bytes),
            collections: self.collections.or(deployment.collections),
            former_versions: self.former_versions.or(deployment.former_versions),
        }
    }

    /// Whether one of them may refuse documents.
    #[must_use]
    pub const fn limit_documents(&self) -> bool {
        self.documents.is_some() || self.bytes.is_some()
    }

    /// Whether one of them may refuse this growth.
    #[must_use]
    pub const fn may_refuse(&self, growth: Growth) -> bool {
        (self.documents.is_some() && growth.documents > 0)
            || (self.bytes.is_some() && growth.bytes > 0)
            || (self.collections.is_some() && growth.collections > 0)
    }

    /// Refuses a growth by the first quota that it would exceed. A tenant that keeps more than it may, because its quota was lowered,
    /// may do all that adds nothing.
    ///
    /// # Errors
    /// [`OverQuota`].
    pub fn allow(&self, used: &StorageUse, growth: Growth) -> Result<(), OverQuota> {
        let measures = [
            ("documents", self.documents, used.documents, growth.documents),
            ("bytes", self.bytes, used.bytes, growth.bytes),
            ("collections", self.collections, used.collections, growth.collections),
        ];
        for (quota, limit, used, asked) in measures {
            if let Some(limit) = limit
                && asked > 0
                && used.saturating_add(asked) > limit
            {
                return Err(OverQuota { quota, limit, used, asked });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: StorageUse =
        StorageUse { documents: 10, bytes: 1_000, collections: 2, former_versions: 3, former_bytes: 300 };

    #[test]
    fn a_quota_is_filled_to_the_last_and_not_further() {
        let quotas = StorageQuotas { documents: Some(12), bytes: Some(1_000), ..StorageQuotas::default() };
        assert_eq!(quotas.allow(&USED, Growth { documents: 2, ..Growth::default() }), Ok(()));
        let over = quotas.allow(&USED, Growth { documents: 3, ..Growth::default() }).expect_err("one too many");
        assert_eq!((over.quota, over.limit, over.used, over.asked), ("documents", 12, 10, 3));
        let over = quotas.allow(&USED, Growth { documents: 1, bytes: 1, collections: 0 }).expect_err("it is full");
        assert_eq!(over.quota, "bytes");
    }

    #[test]
    fn what_adds_nothing_is_allowed_beyond_a_quota_that_was_lowered() {
        let quotas = StorageQuotas { documents: Some(1), bytes: Some(1), collections: Some(1), former_versions: None };
        assert_eq!(quotas.allow(&USED, Growth::default()), Ok(()));
        assert!(quotas.allow(&USED, Growth { collections: 1, ..Growth::default() }).is_err());
    }

    #[test]
    fn a_tenant_without_a_quota_has_that_of_the_deployment() {
        let deployment = StorageQuotas { documents: Some(5), bytes: Some(7), ..StorageQuotas::default() };
        let own = StorageQuotas { documents: Some(9), ..StorageQuotas::default() };
        assert_eq!(
            own.or(deployment),
            StorageQuotas { documents: Some(9), bytes: Some(7), ..StorageQuotas::default() }
        );
    }
}
