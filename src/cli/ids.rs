//! Ids on the command line: whoever gives a name instead is told where the ids are listed.

use uuid::Uuid;

/// Reads the id of a tenant.
///
/// # Errors
/// In words for the user, if it is none.
pub(super) fn tenant(text: &str) -> Result<Uuid, String> {
    id(text, "tenant", "cited tenants list")
}

/// Reads the id of a job.
///
/// # Errors
/// In words for the user, if it is none.
pub(super) fn job(text: &str) -> Result<Uuid, String> {
    id(text, "job", "cited jobs list")
}

/// Reads the id of a document.
///
/// # Errors
/// In words for the user, if it is none.
pub(super) fn document(text: &str) -> Result<Uuid, String> {
    id(text, "document", "cited documents")
}

fn id(text: &str, thing: &str, listed_by: &str) -> Result<Uuid, String> {
    text.parse().map_err(|_| format!("this is not the id of a {thing}; {listed_by} prints the ids"))
}
