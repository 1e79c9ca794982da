//! The origin of a passage.

use serde::{Deserialize, Serialize};

/// The origin of a passage. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A document of the tenant's own.
    #[default]
    Document,
    /// A search of the web: nothing of it is stored.
    Web,
}
