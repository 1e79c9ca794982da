//! Reranking models behind `POST {base}/rerank`, in the format that Cohere and Jina introduced and that vLLM,
//! llama.cpp, Infinity, `LocalAI` and others implement: <https://docs.cohere.com/reference/rerank>,
//! <https://jina.ai/reranker>.

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{Endpoint, ProviderError, ProviderErrorKind, server::Server};
use crate::{
    domain::{
        budget::{Allowance, Reranking, Usage},
        cost::NanoUsd,
    },
    metrics::{CallMeter, ModelLabel},
};

/// Name of the provider in errors.
pub(crate) const PROVIDER: &str = "reranker";

/// A model that scores a query and a passage together.
#[derive(Clone)]
pub(crate) struct Reranker {
    server: Server,
    meter: CallMeter,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
    top_n: usize,
    return_documents: bool,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(alias = "data")]
    results: Vec<Scored>,
}

#[derive(Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "score")]
    relevance_score: f64,
}

impl Reranker {
    /// Prepares the connection pool; nothing is sent.
    ///
    /// # Errors
    /// When no HTTP client can be made.
    pub(crate) fn new(endpoint: Endpoint, meter: CallMeter) -> Result<Self, ProviderError> {
        Ok(Self { server: Server::of(PROVIDER, endpoint)?, meter })
    }

    /// Scores how well each passage answers the query, in the order of the passages: higher is better, on the model's
    /// own scale. The call consumes the allowance.
    ///
    /// # Errors
    /// A classified [`ProviderError`], also if not every passage has exactly one finite score.
    pub(crate) async fn score(
        &self,
        query: &str,
        passages: &[String],
        _allowance: Allowance<Reranking>,
    ) -> Result<Vec<f64>, ProviderError> {
        let body = Body {
            model: self.server.model(),
            query,
            documents: passages,
            top_n: passages.len(),
            return_documents: false,
        };
        let label = ModelLabel { provider: PROVIDER, model: self.server.model() };
        let started = Instant::now();
        let reply = self.server.post("rerank", &body).await;
        let scores = reply.and_then(|Reply { results }| {
            in_order(results, passages.len())
                .map_err(|detail| self.server.fail(ProviderErrorKind::InvalidReply, detail))
        });
        match &scores {
            Ok(_) => self.meter.answered(label, Usage::default(), NanoUsd::ZERO, started.elapsed()),
            Err(error) => self.meter.count(label, error.kind.as_str()),
        }
        scores
    }
}

/// The scores by position.
fn in_order(results: Vec<Scored>, passages: usize) -> Result<Vec<f64>, String> {
    if results.len() != passages {
        return Err(format!("{passages} passages were sent, {} scores came back", results.len()));
    }
    let mut scores = vec![None; passages];
    for Scored { index, relevance_score } in results {
        if !relevance_score.is_finite() {
            return Err("a score is not finite".to_owned());
        }
        match scores.get_mut(index) {
            Some(slot @ None) => *slot = Some(relevance_score),
            _ => return Err("the indices of the scores are not those of the passages".to_owned()),
        }
    }
    Ok(scores.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<f64>, String> {
        in_order(serde_json::from_str::<Reply>(body).map_err(|error| error.to_string())?.results, 2)
    }

    #[test]
    fn scores_come_back_in_the_order_of_the_passages() {
        let replies = [
            r#"{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": -3.5}], "usage": {}}"#,
            r#"{"object": "list", "data": [{"index": 0, "relevance_score": -3.5}, {"index": 1, "relevance_score": 0.9}]}"#,
            r#"{"results": [{"index": 0, "score": -3.5, "document": {"text": "x"}}, {"index": 1, "score": 0.9}]}"#,
        ];
        for reply in replies {
            assert_eq!(read(reply), Ok(vec![-3.5, 0.9]), "{reply}");
        }
    }

    #[test]
    fn what_is_not_one_score_each_is_refused() {
        let replies = [
            r#"{"results": [{"index": 0, "relevance_score": 1}]}"#,
            r#"{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}"#,
            r#"{"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]}"#,
            r#"{"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": null}]}"#,
            r#"{"error": "no"}"#,
        ];
        for reply in replies {
            assert!(read(reply).is_err(), "{reply}");
        }
        let infinite = || Scored { index: 0, relevance_score: f64::INFINITY };
        assert!(in_order(vec![infinite()], 1).is_err());
    }
}
