//! Scopes: kinds of work that a key is made for.

use serde::{Deserialize, Serialize};

/// A kind of work that a key is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Asks, searches, checks, and looks citations up.
    Ask,
    /// Submits, replaces and deletes documents, and follows jobs.
    Ingest,
    /// Reads stored documents.
    Read,
    /// Manages collections and keys, reads the audit, and does everything that the other scopes do.
    Admin,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Ask, Self::Ingest, Self::Read, Self::Admin];

    /// The name in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Ingest => "ingest",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }

    /// The scope of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}
