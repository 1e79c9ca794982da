//! The reranking model: the `CITED_RERANK_*` variables.

use std::time::Duration;

use super::reader::Reader;
use crate::providers::reranker::Settings;

/// Longest call unless configured otherwise: a search waits for it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The model; none leaves reranking to the built-in one.
pub(super) fn read(reader: &mut Reader) -> Option<Settings> {
    let base_url = reader.url("CITED_RERANK_BASE_URL");
    let model = reader.optional::<String>("CITED_RERANK_MODEL");
    let api_key = reader.secret("CITED_RERANK_API_KEY");
    let timeout = reader.seconds("CITED_RERANK_TIMEOUT_S", TIMEOUT);
    match (base_url, model) {
        (Some(base_url), Some(model)) => Some(Settings { base_url, model, api_key, timeout }),
        (None, None) => None,
        _ => {
            reader
                .fault("CITED_RERANK_BASE_URL and CITED_RERANK_MODEL belong together; set both or neither".to_owned());
            None
        }
    }
}
