//! Access control lists of documents: who may see a document, and who may not.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::Serialize;
use thiserror::Error;

use crate::unseen::unfit_in_a_name;

/// Most characters of a principal, its kind included.
pub const MAX_PRINCIPAL_CHARS: usize = 256;
/// Most principals of one list.
pub const MAX_PRINCIPALS: usize = 256;

/// A user or a group, as access control lists name them: `user:ada@example.org`, `group:people`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Principal(String);

/// Error: a text does not name a principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "must be user: or group: with a name after it, no control, invisible or bidirectional characters, no space at the ends of \
     the name, and at most {MAX_PRINCIPAL_CHARS} characters"
)]
pub struct MalformedPrincipal;

impl Principal {
    /// The user of this name, as its identity provider writes it.
    ///
    /// # Errors
    /// [`MalformedPrincipal`].
    pub fn user(name: &str) -> Result<Self, MalformedPrincipal> {
        format!("user:{name}").parse()
    }

    /// The group of this name, as its identity provider writes it.
    ///
    /// # Errors
    /// [`MalformedPrincipal`].
    pub fn group(name: &str) -> Result<Self, MalformedPrincipal> {
        format!("group:{name}").parse()
    }

    /// The written form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Principal {
    type Err = MalformedPrincipal;

    fn from_str(text: &str) -> Result<Self, MalformedPrincipal> {
        let name = text.strip_prefix("user:").or_else(|| text.strip_prefix("group:")).ok_or(MalformedPrincipal)?;
        let is_well_formed = !name.is_empty()
            && name.trim() == name
            && unfit_in_a_name(name).is_none()
            && text.chars().count() <= MAX_PRINCIPAL_CHARS;
        if is_well_formed { Ok(Self(text.to_owned())) } else { Err(MalformedPrincipal) }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The people who may see a document. A denial outweighs every permission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Acl {
    /// Those who may see it; `None` for everybody of the tenant whose key reaches the collection.
    pub allow: Option<BTreeSet<Principal>>,
    /// Those who may not.
    pub deny: BTreeSet<Principal>,
}

/// A change of an access control list; `None` keeps a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AclChange {
    /// Those who may see the document; `Some(None)` for everybody.
    pub allow: Option<Option<BTreeSet<Principal>>>,
    /// Those who may not.
    pub deny: Option<BTreeSet<Principal>>,
}

impl From<Acl> for AclChange {
    fn from(acl: Acl) -> Self {
        Self { allow: Some(acl.allow), deny: Some(acl.deny) }
    }
}

impl AclChange {
    /// The list after the change.
    #[must_use]
    pub fn apply(self, current: Acl) -> Acl {
        Acl { allow: self.allow.unwrap_or(current.allow), deny: self.deny.unwrap_or(current.deny) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principals(names: &[&str]) -> BTreeSet<Principal> {
        names.iter().map(|name| name.parse().expect("a principal")).collect()
    }

    #[test]
    fn a_principal_is_a_user_or_a_group_with_a_name() {
        for text in ["user:ada@example.org", "group:people of the north", "user:ключ", "group:a:b"] {
            assert_eq!(text.parse::<Principal>().map(|principal| principal.to_string()), Ok(text.to_owned()));
        }
        let long = format!("user:{}", "x".repeat(MAX_PRINCIPAL_CHARS));
        for text in
            ["", "ada", "user:", "role:ada", "User:ada", "user: ada", "user:ada ", "user:a\0b", "group:a\nb", &long]
        {
            assert_eq!(text.parse::<Principal>(), Err(MalformedPrincipal), "{text:?}");
        }
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let current = Acl { allow: Some(principals(&["user:a"])), deny: principals(&["user:b"]) };
        assert_eq!(AclChange::default().apply(current.clone()), current);
        let opened = AclChange { allow: Some(None), deny: None }.apply(current.clone());
        assert_eq!(opened, Acl { allow: None, deny: principals(&["user:b"]) });
        let other = Acl { allow: None, deny: principals(&["group:c"]) };
        assert_eq!(AclChange::from(other.clone()).apply(current), other);
    }
}
