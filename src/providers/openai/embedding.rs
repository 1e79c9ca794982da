//! Embeddings.

use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use minilm::WordPiece;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    domain::{
        budget::{Allowance, Embedding, Usage},
        cost::Price,
        fusion::DenseWeight,
        identity::EmbeddingProfile,
        split::{TokenCounter, Window},
    },
    metrics::{CallMeter, ModelLabel},
    providers::{Embedder, Endpoint, ProviderError, ProviderErrorKind, server::Server},
    spans,
};

/// Tokens that a model is assumed to read when nothing is configured: the window of most embedding models.
pub(crate) const DEFAULT_EMBEDDING_WINDOW: usize = 512;
/// Smallest window: below this no sentence fits next to a title.
pub(crate) const MINIMUM_EMBEDDING_WINDOW: usize = 64;
/// Tokens reserved for the special tokens of any model.
const SPECIAL_TOKENS: usize = 8;
/// Most texts of one request, …
const MOST_TEXTS: usize = 64;
/// … and fewest, if there are as many: a smaller number does not justify a separate request.
const FEWEST_TEXTS: usize = 16;
/// Concurrent requests of one caller.
const CONCURRENT_BATCHES: usize = 8;

/// Name of the provider in errors.
const PROVIDER: &str = "openai";

/// A server, its model, and the properties that the API does not report.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddingSettings {
    /// The endpoint.
    pub(crate) endpoint: Endpoint,
    /// Dimension of the vectors; determined by a request when not given.
    pub(crate) dimension: Option<usize>,
    /// Tokens that the model reads.
    pub(crate) window: usize,
    /// Price of the tokens.
    pub(crate) price: Price,
    /// Its share in the weighted fusion of both rankings.
    pub(crate) dense_weight: DenseWeight,
}

/// A model behind `POST {base}/embeddings`.
///
/// The API has no tokenizer; tokens are counted by `WordPiece`, which rarely counts fewer than the
/// larger vocabularies of newer models.
pub(crate) struct OpenAiEmbedder {
    server: Server,
    profile: EmbeddingProfile,
    window: usize,
    price: Price,
    dense_weight: DenseWeight,
    tokenizer: Arc<WordPiece>,
    meter: CallMeter,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Item>,
    usage: Option<ReportedUsage>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct ReportedUsage {
    prompt_tokens: Option<u64>,
}

impl OpenAiEmbedder {
    /// Prepares the connection pool and, unless the dimension is given, embeds one word to learn it.
    ///
    /// # Errors
    /// When the server does not answer that one request.
    pub(crate) async fn connect(
        settings: EmbeddingSettings,
        tokenizer: Arc<WordPiece>,
        meter: CallMeter,
    ) -> Result<Self, ProviderError> {
        let server = Server::of(PROVIDER, settings.endpoint)?;
        let dimension = if let Some(dimension) = settings.dimension {
            dimension
        } else {
            let (vectors, _) = request(&server, &["dimension".to_owned()], None).await?;
            vectors.first().map_or(0, Vec::len)
        };
        let profile = EmbeddingProfile { model: server.model().to_owned(), dimension };
        Ok(Self {
            server,
            profile,
            window: settings.window,
            price: settings.price,
            dense_weight: settings.dense_weight,
            tokenizer,
            meter,
        })
    }

    /// Vectors of the texts of one request, and the tokens that it took, counted here if the server does not report
    /// them.
    async fn embed(&self, texts: &[String]) -> Result<(Vec<Vec<f32>>, Usage), ProviderError> {
        let label = ModelLabel { provider: PROVIDER, model: &self.profile.model };
        let started = Instant::now();
        let span = spans::embeddings(&self.profile.model, texts.len());
        let answer = request(&self.server, texts, Some(self.profile.dimension)).instrument(span).await;
        let (vectors, reported) = answer.inspect_err(|error| self.meter.count(label, error.kind.as_str()))?;
        let counted = || texts.iter().map(|text| self.tokenizer.count(text) as u64).sum();
        let usage = Usage {
            prompt_tokens: reported.unwrap_or_else(counted),
            is_estimated: reported.is_none(),
            ..Usage::default()
        };
        self.meter.answered(label, usage, self.price.of(usage), started.elapsed());
        Ok((vectors, usage))
    }
}

/// Sends one request: unit vectors in the order of the texts, and the tokens that the server counted, if it reports
/// them.
async fn request(
    server: &Server,
    texts: &[String],
    dimension: Option<usize>,
) -> Result<(Vec<Vec<f32>>, Option<u64>), ProviderError> {
    let body = Body { model: server.model(), input: texts, encoding_format: "float" };
    let reply: Reply = server.post("embeddings", &body).await?;
    if reply.data.len() != texts.len() {
        let detail = format!("{} texts were sent, {} vectors came back", texts.len(), reply.data.len());
        return Err(server.fail(ProviderErrorKind::InvalidReply, detail));
    }
    let mut items = reply.data;
    if items.iter().all(|item| item.index.is_some()) {
        items.sort_by_key(|item| item.index);
        if items.iter().enumerate().any(|(place, item)| item.index != Some(place)) {
            return Err(server.fail(
                ProviderErrorKind::InvalidReply,
                "the indices of the vectors are not those of the texts".to_owned(),
            ));
        }
    }
    let vectors = items
        .into_iter()
        .map(|item| {
            unit(item.embedding, dimension).map_err(|detail| server.fail(ProviderErrorKind::InvalidReply, detail))
        })
        .collect::<Result<_, _>>()?;
    Ok((vectors, reply.usage.and_then(|usage| usage.prompt_tokens)))
}

/// Number of texts per request for this many texts: uses as many concurrent requests as allowed rather than full ones,
/// so that the server's latency is paid once.
fn batch_size(texts: usize) -> usize {
    texts.div_ceil(CONCURRENT_BATCHES).clamp(FEWEST_TEXTS, MOST_TEXTS)
}

fn unit(mut vector: Vec<f32>, dimension: Option<usize>) -> Result<Vec<f32>, String> {
    if let Some(expected) = dimension.filter(|expected| *expected != vector.len()) {
        return Err(format!("a vector has {} dimensions, expected {expected}", vector.len()));
    }
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !norm.is_finite() || norm == 0.0 {
        return Err("a vector is zero or not finite".to_owned());
    }
    for value in &mut vector {
        *value /= norm;
    }
    Ok(vector)
}

impl TokenCounter for OpenAiEmbedder {
    fn count(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn profile(&self) -> &EmbeddingProfile {
        &self.profile
    }

    fn window(&self) -> Window {
        Window { tokens: self.window, special_tokens: SPECIAL_TOKENS }
    }

    fn dense_weight(&self) -> Option<DenseWeight> {
        Some(self.dense_weight)
    }

    async fn embed_query(&self, text: &str, allowance: Allowance<Embedding>) -> Result<Vec<f32>, ProviderError> {
        let texts = [text.to_owned()];
        let (vectors, usage) = self.embed(&texts).await?;
        allowance.settle(usage, self.price.of(usage));
        vectors
            .into_iter()
            .next()
            .ok_or_else(|| self.server.fail(ProviderErrorKind::InvalidReply, "no vector came back".to_owned()))
    }

    async fn embed_passages(
        &self,
        texts: Vec<String>,
        allowance: Allowance<Embedding>,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let requests: Vec<_> = texts.chunks(batch_size(texts.len())).map(|batch| self.embed(batch)).collect();
        let mut replies = stream::iter(requests).buffered(CONCURRENT_BATCHES);
        let (mut vectors, mut usage) = (Vec::with_capacity(texts.len()), Usage::default());
        let outcome = loop {
            match replies.try_next().await {
                Ok(Some((more, used))) => {
                    vectors.extend(more);
                    usage = usage.plus(used);
                }
                Ok(None) => break Ok(vectors),
                Err(error) => break Err(error),
            }
        };
        // Requests that were answered before another one failed are billed as well.
        allowance.settle(usage, self.price.of(usage));
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_spread_over_the_requests_that_may_be_under_way() {
        assert_eq!([1, 16, 128, 129, 256, 512, 5_000].map(batch_size), [16, 16, 16, 17, 32, 64, 64]);
    }

    #[test]
    fn vectors_get_unit_length_or_are_refused() {
        assert_eq!(unit(vec![3.0, 4.0], Some(2)), Ok(vec![0.6, 0.8]));
        assert!(unit(vec![3.0, 4.0], Some(3)).is_err());
        assert!(unit(vec![0.0, 0.0], None).is_err());
        assert!(unit(vec![f32::NAN], None).is_err());
    }
}
