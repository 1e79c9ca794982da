//! Rights by the claims of a token.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::TokenIdentity;
use crate::domain::{
    access::{Grant, Principal, Scope},
    identity::TenantId,
};

/// Most groups of a caller that are read.
const MAX_GROUPS: usize = 1_000;

/// Names of the claims that rights are read from. A name with dots leads into objects (`realm_access.roles`).
#[derive(Clone, Debug)]
pub(crate) struct ClaimNames {
    /// Id of the tenant; `None`: every token is for the default tenant.
    pub(crate) tenant: Option<String>,
    /// Groups of the caller.
    pub(crate) groups: String,
    /// Scopes, in a text or a list; values that are no scopes of this service are passed over.
    pub(crate) scopes: String,
    /// Collections that the caller is limited to; `None`: no token is limited.
    pub(crate) collections: Option<String>,
}

impl Default for ClaimNames {
    fn default() -> Self {
        Self { tenant: None, groups: "groups".to_owned(), scopes: "scope".to_owned(), collections: None }
    }
}

/// The rights of a token whose signature, issuer, audience and times are right.
///
/// # Errors
/// The fault in its claims.
pub(super) fn read_claims(names: &ClaimNames, claims: &Map<String, Value>) -> Result<TokenIdentity, &'static str> {
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    let user = Principal::user(subject).map_err(|_| "has a subject (sub) that cannot name a user")?;
    let tenant = match &names.tenant {
        None => TenantId::DEFAULT,
        Some(name) => {
            let id = claim(claims, name).and_then(Value::as_str).and_then(|id| Uuid::parse_str(id).ok());
            TenantId(id.ok_or("does not say by its claims which tenant it is for")?)
        }
    };
    let scopes = texts(claim(claims, &names.scopes)).filter_map(Scope::from_name).collect();
    // A token that lacks the list of its collections is limited to none.
    let collections: Option<BTreeSet<String>> =
        names.collections.as_ref().map(|name| texts(claim(claims, name)).map(str::to_owned).collect());
    let groups = texts(claim(claims, &names.groups)).take(MAX_GROUPS).filter_map(|name| Principal::group(name).ok());
    let name = user.to_string();
    let principals = groups.chain([user]).collect();
    Ok(TokenIdentity { grant: Grant::of_tenant(tenant, scopes, collections).as_principals(principals), name })
}

/// A claim by its name, or by the path that its name is.
fn claim<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c Value> {
    if let Some(found) = claims.get(name) {
        return Some(found);
    }
    let (first, rest) = name.split_once('.')?;
    claim(claims.get(first)?.as_object()?, rest)
}

/// The texts of a list, or the words of a text.
fn texts(value: Option<&Value>) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Some(Value::String(text)) => Box::new(text.split_whitespace()),
        Some(Value::Array(list)) => Box::new(list.iter().filter_map(Value::as_str)),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(names: &ClaimNames, claims: &Value) -> Result<Grant, &'static str> {
        read_claims(names, claims.as_object().expect("an object")).map(|identity| identity.grant)
    }

    fn names(grant: &Grant) -> Vec<String> {
        grant.principals().expect("bound by lists").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_token_grants_what_its_claims_say() {
        let claims = json!({"sub": "ada", "scope": "openid ask read", "groups": ["people", 7, "north", "\n"]});
        let grant = read(&ClaimNames::default(), &claims).expect("rights");
        let scopes = BTreeSet::from([Scope::Ask, Scope::Read]);
        assert_eq!(
            grant,
            Grant::of_tenant(TenantId::DEFAULT, scopes, None).as_principals(grant.principals().expect("some").clone())
        );
        assert_eq!(names(&grant), ["group:north", "group:people", "user:ada"]);
    }

    #[test]
    fn names_of_claims_may_lead_into_objects_and_a_missing_limit_is_no_freedom() {
        let names_of = ClaimNames {
            tenant: Some("org.id".to_owned()),
            groups: "realm_access.roles".to_owned(),
            scopes: "https://cited.example/scopes".to_owned(),
            collections: Some("collections".to_owned()),
        };
        let id = "019ee0a1-6f0b-7d52-9a40-5f1b8f0f6a11";
        let claims = json!({"sub": "ada", "org": {"id": id}, "realm_access": {"roles": ["staff"]},
                            "https://cited.example/scopes": ["ask"]});
        let grant = read(&names_of, &claims).expect("rights");
        assert_eq!(grant.tenant().0.to_string(), id);
        assert_eq!(names(&grant), ["group:staff", "user:ada"]);
        assert!(!grant.reaches("anything"));
        assert!(read(&names_of, &json!({"sub": "ada", "org": {"id": "acme"}})).is_err(), "no tenant");
        assert!(read(&ClaimNames::default(), &json!({"sub": " "})).is_err(), "no user");
    }

    #[test]
    fn a_token_without_scopes_opens_nothing() {
        let grant =
            read(&ClaimNames::default(), &json!({"sub": "ada", "scope": "openid operator ADMIN"})).expect("rights");
        assert!(grant.check(crate::domain::access::Need::AnyOf(&[Scope::Ask])).is_err());
    }
}
