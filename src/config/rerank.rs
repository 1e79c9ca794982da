//! The reranking model: the `CITED_RERANK_*` variables.

use std::time::Duration;

use super::reader::Reader;
use crate::providers::Endpoint;

/// Time limit of a call unless configured otherwise: a search waits for it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The reranking model; `None` leaves reranking to the built-in features.
pub(super) fn read(reader: &mut Reader) -> Option<Endpoint> {
    let base_url = reader.url("CITED_RERANK_BASE_URL");
    let model = reader.optional::<String>("CITED_RERANK_MODEL");
    let api_key = reader.secret("CITED_RERANK_API_KEY");
    let timeout = reader.seconds("CITED_RERANK_TIMEOUT_S", TIMEOUT);
    let (base_url, model) = reader.both(("CITED_RERANK_BASE_URL", base_url), ("CITED_RERANK_MODEL", model))?;
    Some(Endpoint { base_url, model, api_key, timeout })
}
