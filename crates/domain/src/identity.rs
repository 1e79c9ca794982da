//! Identities that all parts of the service share.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Grant;

/// Owner of data. Every store transaction is bound to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(pub Uuid);

impl TenantId {
    /// The tenant that the first migration creates and that keys belong to by default.
    pub const DEFAULT: Self = Self(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001));
    /// Owner of the record of what concerns the deployment and no tenant. It owns nothing else.
    pub const DEPLOYMENT: Self = Self(Uuid::nil());
}

/// The caller of a request, as far as the service knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Rights of the caller.
    pub grant: Grant,
    /// Name of the key presented: its id; of a key of the operator the first hexadecimal digits of its SHA-256. `None`
    /// where no key is required.
    pub key_id: Option<String>,
    /// Address that the request came from.
    pub address: Option<IpAddr>,
    /// Identity of the request, as in the logs.
    pub request_id: Option<String>,
}

/// A chunk: a document and the chunk's ordinal in it (from 0). Orders results whose scores tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChunkKey {
    /// The document, the same over all its versions.
    pub document_id: Uuid,
    /// Place in the document's text order, from 0.
    pub ordinal: u32,
}

/// A vector space: vectors are compared only when model, dimension and distance are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmbeddingProfile {
    /// Model id as its provider knows it.
    pub model: String,
    /// Numbers in a vector.
    pub dimension: usize,
}

impl EmbeddingProfile {
    /// The one distance there is: vectors are stored with unit length.
    pub const DISTANCE: &'static str = "cosine";
}
