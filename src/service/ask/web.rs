//! Sources from the web, used when the documents are insufficient and the deployment has a search engine.

use std::sync::Arc;

use serde_json::json;
use uuid::Builder;

use super::{AskError, AskWarning, context::AskContext, record::Stage, retrieve, state::LoopState};
use crate::{
    domain::{fingerprint::content_hash, identity::ChunkKey, origin::Origin},
    providers::{outbound::OutboundError, web_search::WebPage},
    service::retrieval::{Hit, Retrieved},
    store::Passage,
};

/// Searches the web for the question. Its results are graded like passages of documents; `None` if there are none. A
/// failed search is a warning: the answer then depends on the documents alone.
///
/// # Errors
/// When the embedding model fails.
#[tracing::instrument(target = "cited::trace", name = "search_web", skip_all)]
pub(super) async fn search(ask: &AskContext, state: &LoopState) -> Result<Option<Retrieved>, AskError> {
    let Some(web) = &ask.services.web else { return Ok(None) };
    ask.record.enter(Stage::Retrieve);
    match web.search(ask.caller.grant.tenant(), ask.asked()).await {
        Ok(pages) if pages.is_empty() => Ok(None),
        Ok(pages) => Ok(Some(retrieved_from(ask, state, pages).await?)),
        Err(error) => {
            tracing::warn!(error = %error, ask_id = %ask.id, "the web could not be searched; the documents decide alone");
            ask.record.warn(AskWarning::WebSearchFailed { detail: detail(&error) });
            Ok(None)
        }
    }
}

async fn retrieved_from(ask: &AskContext, state: &LoopState, pages: Vec<WebPage>) -> Result<Retrieved, AskError> {
    let likenesses = retrieve::likenesses(ask, pages.iter().map(|page| page.extract.clone()).collect()).await?;
    let hits = pages.into_iter().zip(likenesses).map(|(page, likeness)| hit(state, page, likeness.cosine)).collect();
    Ok(Retrieved { hits, chunks: 1, ..Retrieved::default() })
}

fn hit(state: &LoopState, page: WebPage, cosine: f32) -> Hit {
    let terms = &state.question.terms;
    let mask = terms.mask_of(state.analyzer, &format!("{} {}", page.title, page.extract));
    Hit {
        dense: Some(f64::from(cosine)),
        // A word that occurs once in a text of average length has about its idf as its BM25 score.
        lexical: Some(f64::from(terms.weight_of(mask))),
        fused: f64::from(f32::midpoint(cosine.max(0.0), terms.share(mask))),
        reranked: None,
        last_ordinal: 0,
        duplicates: Vec::new(),
        passage: Arc::new(passage(page)),
    }
}

fn passage(page: WebPage) -> Passage {
    let mut identity = [0; 16];
    for (byte, hashed) in identity.iter_mut().zip(content_hash(page.url.as_bytes())) {
        *byte = hashed;
    }
    Passage {
        key: ChunkKey { document_id: Builder::from_custom_bytes(identity).into_uuid(), ordinal: 0 },
        origin: Origin::Web,
        collection: String::new(),
        version: 1,
        source: page.url.clone(),
        uri: page.url,
        title: page.title,
        metadata: json!({}),
        content_hash: content_hash(page.extract.as_bytes()).to_vec(),
        page: None,
        later_pages: Vec::new(),
        heading: Vec::new(),
        table_header: None,
        start_char: 0,
        end_char: u32::try_from(page.extract.chars().count()).unwrap_or(u32::MAX),
        text: page.extract,
        context: None,
    }
}

/// The cause as a caller may see it. Addresses of the deployment are for the operator only, and are in the log.
fn detail(error: &OutboundError) -> String {
    match error {
        OutboundError::Refused(_) => {
            "the search engine's reply, or where it leads, is refused; the log says why".to_owned()
        }
        OutboundError::Unreachable(_) => "the search engine cannot be reached".to_owned(),
        OutboundError::Timeout(_)
        | OutboundError::Hanging { .. }
        | OutboundError::Status { .. }
        | OutboundError::TooLarge { .. } => error.to_string(),
    }
}
