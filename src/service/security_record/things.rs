//! Names of things in the record, as `kind:name`.

use uuid::Uuid;

/// A collection.
pub(crate) fn collection(name: &str) -> String {
    format!("collection:{name}")
}

/// A document.
pub(crate) fn document(id: Uuid) -> String {
    format!("document:{id}")
}

/// An erasure.
pub(crate) fn erasure(id: Uuid) -> String {
    format!("erasure:{id}")
}

/// An index.
pub(crate) fn index(id: Uuid) -> String {
    format!("index:{id}")
}

/// A job.
pub(crate) fn job(id: Uuid) -> String {
    format!("job:{id}")
}

/// A key.
pub(crate) fn key(id: &str) -> String {
    format!("key:{id}")
}

/// A tenant.
pub(crate) fn tenant(id: Uuid) -> String {
    format!("tenant:{id}")
}
