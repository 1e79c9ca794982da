//! API keys and tenants.

mod find;
mod keys;
mod principals;
mod quotas;
pub(in crate::store) mod storage;
mod tenants;

pub(crate) use find::FoundKey;
pub(crate) use keys::{KeyRow, NewKey, Rotation};
pub(crate) use quotas::KeyUse;
pub(crate) use tenants::TenantRow;

use crate::store::Store;

/// API keys and tenants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'s> {
    pub(in crate::store) store: &'s Store,
}
