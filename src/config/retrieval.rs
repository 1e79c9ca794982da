//! Retrieval: how many passages it looks at and keeps, and the reranking model.

use std::time::Duration;

use super::reader::Reader;
use crate::{domain::fusion::FUSION_DEPTH, providers::Endpoint, service::retrieval::RetrievalSettings};

/// Fewest and most passages that each half of retrieval can be configured to find: below, the shorter list decides
/// which passages are fused; above, an ask reads more passages than any reranker orders better.
const FETCH_K: (usize, usize) = (10, 1_000);
/// Time limit of a call unless configured otherwise: a search waits for it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Memory of the passages that are kept, in MiB: some 15,000 of usual size.
const PASSAGE_CACHE_MIB: usize = 32;

pub(super) fn read(reader: &mut Reader) -> RetrievalSettings {
    let cache_mib = reader.value("CITED_PASSAGE_CACHE_MIB", PASSAGE_CACHE_MIB);
    RetrievalSettings { fetch_k: read_fetch_k(reader), passage_cache_bytes: cache_mib.saturating_mul(1024 * 1024) }
}

/// How many passages each half finds for a query that asks for fewer, and how many of the fused ones are reranked.
fn read_fetch_k(reader: &mut Reader) -> usize {
    let (least, most) = FETCH_K;
    let fetch_k = reader.value("CITED_FETCH_K", FUSION_DEPTH);
    if !(least..=most).contains(&fetch_k) {
        reader.fault(format!("CITED_FETCH_K is {fetch_k}; it must be {least} to {most}"));
    }
    fetch_k
}

/// The reranking model; `None` leaves reranking to the built-in features.
pub(super) fn read_reranker(reader: &mut Reader) -> Option<Endpoint> {
    let base_url = reader.url("CITED_RERANK_BASE_URL");
    let model = reader.optional::<String>("CITED_RERANK_MODEL");
    let api_key = reader.secret("CITED_RERANK_API_KEY");
    let timeout = reader.seconds("CITED_RERANK_TIMEOUT_S", TIMEOUT);
    let (base_url, model) = reader.both("CITED_RERANK_BASE_URL", base_url, "CITED_RERANK_MODEL", model)?;
    Some(Endpoint { base_url, model, api_key, timeout })
}
