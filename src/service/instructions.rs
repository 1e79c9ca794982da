//! Instructions of the deployment to the models of each role.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    domain::{
        fingerprint::{Hash, fingerprint},
        prompt::instructions::Instructions,
    },
    providers::chat::CallRole,
};

/// The instructions by role. A role without an entry has only the rules of its prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RoleInstructions(BTreeMap<CallRole, Instructions>);

impl RoleInstructions {
    /// The instructions of a role.
    #[must_use]
    pub(crate) fn of(&self, role: CallRole) -> Option<&Instructions> {
        self.0.get(&role)
    }

    /// Identifies all of them, for the audit; `None` if there are none.
    #[must_use]
    pub(crate) fn fingerprint(&self) -> Option<Hash> {
        let parts: Vec<&[u8]> = self
            .0
            .iter()
            .flat_map(|(role, instructions)| [role.as_str().as_bytes(), instructions.as_str().as_bytes()])
            .collect();
        (!parts.is_empty()).then(|| fingerprint(&parts))
    }
}

impl FromIterator<(CallRole, Instructions)> for RoleInstructions {
    fn from_iter<T: IntoIterator<Item = (CallRole, Instructions)>>(instructions: T) -> Self {
        Self(instructions.into_iter().collect())
    }
}
