//! Sources from the web, when the documents fall short and the deployment has a search engine for that.

use std::sync::Arc;

use serde_json::json;
use uuid::Builder;

use super::{AskError, AskParts, AskRequest, AskWarning, Reach, run::Ask, stage::Stage};
use crate::{
    domain::{corrective::Fallback, evidence::Inquiry, fingerprint::content_hash, identity::ChunkKey, origin::Origin},
    providers::{outbound::OutboundError, web_search::WebPage},
    service::retrieval::{Hit, Retrieved},
    store::Passage,
};

impl AskParts {
    /// Whether the web may be searched. A filter asks for certain documents, which the web has none of.
    pub(super) fn fallback(&self, request: &AskRequest) -> Fallback {
        let may_search =
            self.web.is_some() && request.execution.reach == Reach::DocumentsAndWeb && request.filter.is_empty();
        if may_search { Fallback::Ready } else { Fallback::None }
    }
}

impl Ask<'_> {
    /// Adds what the web says to the passages, graded like them. A search that fails is a warning: the documents
    /// decide alone then.
    pub(super) async fn search_web(&mut self) -> Result<(), AskError> {
        self.fallback = Fallback::Used;
        let Some(web) = self.service.web.clone() else { return Ok(()) };
        self.clock.enter(Stage::Retrieve);
        match web.search(&self.request.question).await {
            Ok(pages) if pages.is_empty() => Ok(()),
            Ok(pages) => {
                let found = self.retrieved_from(pages).await?;
                let question = self.request.question.clone();
                self.grade_round(&question, &found).await
            }
            Err(error) => {
                tracing::warn!(error = %error, "the web could not be searched");
                self.warnings.push(AskWarning::WebSearchFailed { detail: detail(&error) });
                Ok(())
            }
        }
    }

    async fn retrieved_from(&self, pages: Vec<WebPage>) -> Result<Retrieved, AskError> {
        let texts: Vec<String> = pages.iter().map(|page| page.extract.clone()).collect();
        let cosines = self.cosines(&texts).await?;
        let analyzer = self.analyzer;
        let hit = |(page, cosine): (WebPage, f32)| {
            let inquiry: Option<&Inquiry> = self.inquiry.as_deref();
            let words = format!("{} {}", page.title, page.extract);
            let terms = inquiry.map(|inquiry| (&inquiry.terms, inquiry.terms.mask_of(analyzer, &words)));
            // A word that occurs once in a text of average length has about its idf as its BM25 score.
            let lexical = terms.map_or(0.0, |(terms, mask)| terms.weight_of(mask));
            let share = terms.map_or(0.0, |(terms, mask)| terms.share(mask));
            Hit {
                dense: Some(f64::from(cosine)),
                lexical: Some(f64::from(lexical)),
                fused: f64::from(f32::midpoint(cosine.max(0.0), share)),
                reranked: None,
                last_ordinal: 0,
                duplicates: Vec::new(),
                passage: Arc::new(passage(page)),
            }
        };
        let hits = pages.into_iter().zip(cosines).map(hit).collect();
        Ok(Retrieved { hits, chunks: 1, ..Retrieved::default() })
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
        heading: Vec::new(),
        start_char: 0,
        end_char: u32::try_from(page.extract.chars().count()).unwrap_or(u32::MAX),
        text: page.extract,
        context: None,
    }
}

/// What whoever asks is told. Addresses of the deployment are the operator's, and stand in the log.
fn detail(error: &OutboundError) -> String {
    match error {
        OutboundError::Refused(_) => {
            "the search engine's reply, or where it leads, is refused; the log says why".to_owned()
        }
        OutboundError::Unreachable(_) => "the search engine cannot be reached".to_owned(),
        OutboundError::Timeout(_) | OutboundError::Status { .. } | OutboundError::TooLarge { .. } => error.to_string(),
    }
}
