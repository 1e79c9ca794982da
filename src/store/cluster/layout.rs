//! Where each table belongs in a database that is split up by tenants.

/// Where the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// With the other rows of their tenant, on one node.
    OfTenant,
    /// On every node.
    Everywhere,
    /// On the coordinator.
    Coordinator,
}

impl Place {
    /// Its name for operators.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::OfTenant => "distributed by tenant",
            Self::Everywhere => "on every node",
            Self::Coordinator => "on the coordinator",
        }
    }
}

/// Every table of the schema, in the order in which they are moved, with the reason for its place.
pub(super) const TABLES: [(&str, Place, &str); 35] = [
    ("tenant", Place::Everywhere, "small, and referred to by rows of tenants on all nodes"),
    ("embedding_profile", Place::Everywhere, "a vector space is the same for everybody"),
    ("collection", Place::OfTenant, DOCUMENTS),
    ("collection_index", Place::OfTenant, DOCUMENTS),
    ("index_statistic", Place::OfTenant, DOCUMENTS),
    ("term_statistic", Place::OfTenant, DOCUMENTS),
    ("document", Place::OfTenant, DOCUMENTS),
    ("document_reader", Place::OfTenant, DOCUMENTS),
    ("document_index", Place::OfTenant, DOCUMENTS),
    ("document_field", Place::OfTenant, DOCUMENTS),
    ("document_version", Place::OfTenant, DOCUMENTS),
    ("deleted_document", Place::OfTenant, DOCUMENTS),
    ("chunk", Place::OfTenant, DOCUMENTS),
    ("chunk_embedding", Place::OfTenant, DOCUMENTS),
    ("collection_storage", Place::OfTenant, DOCUMENTS),
    ("tenant_quota", Place::OfTenant, "read with what the tenant keeps"),
    ("answer_cache", Place::OfTenant, "compared with the documents that answers were written from"),
    ("answer_source", Place::OfTenant, "compared with the documents that answers were written from"),
    ("usage_daily", Place::OfTenant, "written by each ask of the tenant"),
    ("key_usage_daily", Place::OfTenant, "written by each ask of the tenant"),
    ("erasure", Place::OfTenant, "receipts about documents of the tenant"),
    ("api_key", Place::Coordinator, "a key is looked up before its tenant is known"),
    ("principal", Place::Coordinator, "numbered by one sequence, and written together with the queue"),
    ("job", Place::Coordinator, QUEUE),
    ("job_item", Place::Coordinator, QUEUE),
    ("job_tally", Place::Coordinator, QUEUE),
    ("job_stage", Place::Coordinator, QUEUE),
    ("job_context", Place::Coordinator, QUEUE),
    ("job_embedding", Place::Coordinator, QUEUE),
    ("idempotency_key", Place::Coordinator, QUEUE),
    ("webhook", Place::Coordinator, QUEUE),
    ("ask_audit", Place::Coordinator, "rows of several tenants are written together"),
    ("security_event", Place::Coordinator, "rows of several tenants are written together"),
    ("security_event_waiting", Place::Coordinator, "rows of several tenants are written together"),
    ("security_seal", Place::Coordinator, "rows of several tenants are written together"),
];

const DOCUMENTS: &str = "read and written together with the documents of the tenant";
const QUEUE: &str = "the queue is one for all tenants";

/// The tables of a place.
pub(super) fn tables_of(place: Place) -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().filter(move |(_, of_table, _)| *of_table == place).map(|(table, _, _)| table)
}

/// The table that the others are next to.
pub(super) const FIRST: &str = "collection";
