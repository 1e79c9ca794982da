//! The built-in embedding model behind the common trait.

use std::num::NonZeroUsize;

use async_trait::async_trait;
use minilm::{MiniLm, MiniLmError};
use tracing::Instrument;

use super::{Embedder, ProviderError, ProviderErrorKind};
use crate::{
    domain::{
        budget::{Allowance, Embedding, Usage},
        cost::NanoUsd,
        fusion::DenseWeight,
        identity::EmbeddingProfile,
        late_interaction::TextVectors,
        split::{TokenCounter, Window},
    },
    spans,
};

/// Model id of the built-in embedder.
pub(crate) const BUILT_IN_EMBEDDER: &str = "minilm";
/// `[CLS]` and `[SEP]`.
const SPECIAL_TOKENS: usize = 2;

/// all-MiniLM-L6-v2, in process.
pub(crate) struct BuiltInEmbedder {
    model: MiniLm,
    profile: EmbeddingProfile,
}

impl BuiltInEmbedder {
    /// Loads the model and starts its threads.
    ///
    /// # Errors
    /// When the compiled-in files are damaged or no thread can be had.
    pub(crate) fn start(threads: NonZeroUsize) -> Result<Self, MiniLmError> {
        let profile = EmbeddingProfile { model: BUILT_IN_EMBEDDER.to_owned(), dimension: MiniLm::DIMENSION };
        Ok(Self { model: MiniLm::start(threads)?, profile })
    }
}

fn failed(error: &MiniLmError) -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::Internal,
        provider: "built-in".to_owned(),
        model: BUILT_IN_EMBEDDER.to_owned(),
        detail: error.to_string(),
        retry_after: None,
    }
}

impl TokenCounter for BuiltInEmbedder {
    fn count(&self, text: &str) -> usize {
        self.model.count_tokens(text)
    }
}

#[async_trait]
impl Embedder for BuiltInEmbedder {
    fn profile(&self) -> &EmbeddingProfile {
        &self.profile
    }

    fn window(&self) -> Window {
        Window { tokens: MiniLm::WINDOW, special_tokens: SPECIAL_TOKENS }
    }

    fn dense_weight(&self) -> Option<DenseWeight> {
        None
    }

    async fn embed_query(&self, text: &str, allowance: Allowance<Embedding>) -> Result<Vec<f32>, ProviderError> {
        settled(self.model.embed_query(text), 1, allowance).await
    }

    async fn embed_passages(
        &self,
        texts: Vec<String>,
        allowance: Allowance<Embedding>,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let count = texts.len();
        settled(self.model.embed_passages(texts), count, allowance).await
    }

    async fn query_vectors(&self, text: &str, allowance: Allowance<Embedding>) -> Result<TextVectors, ProviderError> {
        settled(self.model.embed_query_tokens(text), 1, allowance).await
    }

    async fn passage_vectors(
        &self,
        texts: Vec<String>,
        allowance: Allowance<Embedding>,
    ) -> Result<Vec<TextVectors>, ProviderError> {
        let count = texts.len();
        settled(self.model.embed_passages_tokens(texts), count, allowance).await
    }
}

/// The vectors of some texts, in a span of their own; they cost nothing.
async fn settled<T>(
    vectors: impl Future<Output = Result<T, MiniLmError>>,
    texts: usize,
    allowance: Allowance<Embedding>,
) -> Result<T, ProviderError> {
    let span = spans::embeddings(BUILT_IN_EMBEDDER, texts);
    let vectors = vectors.instrument(span).await.map_err(|error| failed(&error))?;
    allowance.settle(Usage::default(), NanoUsd::ZERO);
    Ok(vectors)
}
