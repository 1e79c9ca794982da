//! The rights of a caller, and those that an operation needs.

use std::{collections::BTreeSet, sync::Arc};

use super::{Principal, Scope};
use crate::identity::TenantId;

/// The rights of a caller: in one tenant, with some scopes, on all collections or on some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    tenant: TenantId,
    scopes: BTreeSet<Scope>,
    /// Names of the collections that it is limited to; `None` for all of the tenant.
    collections: Option<Arc<BTreeSet<String>>>,
    /// Users and groups that the caller is.
    principals: Arc<BTreeSet<Principal>>,
    is_operator: bool,
}

/// The rights that an operation needs of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing, not even a key.
    Nothing,
    /// One of these scopes. The caller's collections bound what is seen and changed.
    AnyOf(&'static [Scope]),
    /// The scope `admin` over the whole tenant: a caller that is limited to collections could otherwise lift its own
    /// limit.
    WholeTenant,
    /// The rights of the operator of the deployment.
    Operator,
}

/// Why a caller may not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It has none of these scopes.
    Scope(&'static [Scope]),
    /// It is limited to collections.
    Limited,
    /// It is not the operator.
    NotOperator,
}

impl Grant {
    /// The operator: everything in the default tenant, and the management of tenants.
    #[must_use]
    pub fn operator() -> Self {
        Self {
            tenant: TenantId::DEFAULT,
            scopes: BTreeSet::from([Scope::Admin]),
            collections: None,
            principals: Arc::default(),
            is_operator: true,
        }
    }

    /// The rights that a key or token of a tenant grants.
    #[must_use]
    pub fn of_tenant(tenant: TenantId, scopes: BTreeSet<Scope>, collections: Option<BTreeSet<String>>) -> Self {
        let collections = collections.map(Arc::new);
        Self { tenant, scopes, collections, principals: Arc::default(), is_operator: false }
    }

    /// The same rights for a caller who is these users and groups.
    #[must_use]
    pub fn as_principals(self, principals: BTreeSet<Principal>) -> Self {
        Self { principals: Arc::new(principals), ..self }
    }

    /// The tenant whose data it is about.
    #[must_use]
    pub const fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// Names of the collections that it is limited to; `None` for all of the tenant.
    #[must_use]
    pub fn collections(&self) -> Option<&BTreeSet<String>> {
        self.collections.as_deref()
    }

    /// Whether a collection of this name, if there is one, may be seen.
    #[must_use]
    pub fn reaches(&self, collection: &str) -> bool {
        self.collections.as_ref().is_none_or(|names| names.contains(collection))
    }

    /// Users and groups that the caller is, which access control lists are held against; `None` for a caller who sees every
    /// document of the collections that it reaches, whatever their lists say.
    #[must_use]
    pub fn principals(&self) -> Option<&BTreeSet<Principal>> {
        (!self.holds_any(&[])).then_some(&*self.principals)
    }

    /// Whether an operation with this need may be called.
    ///
    /// # Errors
    /// The right that is missing.
    pub fn check(&self, need: Need) -> Result<(), Denied> {
        match need {
            Need::AnyOf(scopes) if self.holds_any(scopes) => Ok(()),
            Need::AnyOf(scopes) => Err(Denied::Scope(scopes)),
            Need::WholeTenant if !self.holds_any(&[]) => Err(Denied::Scope(&[Scope::Admin])),
            Need::WholeTenant if self.collections.is_some() => Err(Denied::Limited),
            Need::Operator if !self.is_operator => Err(Denied::NotOperator),
            Need::Nothing | Need::WholeTenant | Need::Operator => Ok(()),
        }
    }

    /// Whether it has one of the scopes; `admin` stands for each.
    fn holds_any(&self, scopes: &[Scope]) -> bool {
        self.scopes.contains(&Scope::Admin) || scopes.iter().any(|scope| self.scopes.contains(scope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scope: Scope, collections: Option<&[&str]>) -> Grant {
        let collections = collections.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        Grant::of_tenant(TenantId::DEFAULT, BTreeSet::from([scope]), collections)
    }

    #[test]
    fn a_scope_suffices_where_it_is_named_and_admin_everywhere() {
        let need = Need::AnyOf(&[Scope::Ask, Scope::Read]);
        for (scope, expected) in [
            (Scope::Ask, Ok(())),
            (Scope::Read, Ok(())),
            (Scope::Admin, Ok(())),
            (Scope::Ingest, Err(Denied::Scope(&[Scope::Ask, Scope::Read]))),
        ] {
            assert_eq!(key(scope, None).check(need), expected, "{scope:?}");
            assert_eq!(key(scope, Some(&["a"])).check(need), expected, "{scope:?}");
        }
    }

    #[test]
    fn keys_are_managed_by_admins_of_the_whole_tenant_and_tenants_by_the_operator() {
        assert_eq!(key(Scope::Admin, None).check(Need::WholeTenant), Ok(()));
        assert_eq!(key(Scope::Admin, Some(&["a"])).check(Need::WholeTenant), Err(Denied::Limited));
        assert_eq!(key(Scope::Read, None).check(Need::WholeTenant), Err(Denied::Scope(&[Scope::Admin])));
        assert_eq!(key(Scope::Admin, None).check(Need::Operator), Err(Denied::NotOperator));
        for need in [Need::Nothing, Need::AnyOf(&[Scope::Ask]), Need::WholeTenant, Need::Operator] {
            assert_eq!(Grant::operator().check(need), Ok(()), "{need:?}");
        }
    }

    #[test]
    fn lists_bind_everybody_but_admins() {
        let ada = BTreeSet::from(["user:ada".parse::<Principal>().expect("a principal")]);
        assert_eq!(key(Scope::Ask, None).principals(), Some(&BTreeSet::new()));
        assert_eq!(key(Scope::Ask, None).as_principals(ada.clone()).principals(), Some(&ada));
        assert_eq!(key(Scope::Admin, Some(&["a"])).as_principals(ada).principals(), None);
        assert_eq!(Grant::operator().principals(), None);
    }

    #[test]
    fn a_list_of_collections_is_a_limit_even_if_it_is_empty() {
        assert!(key(Scope::Ask, None).reaches("a"));
        assert!(key(Scope::Ask, Some(&["a"])).reaches("a"));
        assert!(!key(Scope::Ask, Some(&["a"])).reaches("A"));
        assert!(!key(Scope::Ask, Some(&[])).reaches("a"));
    }
}
