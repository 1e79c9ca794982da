//! Models, and the only outgoing HTTP.
//!
//! Every call consumes an [`Allowance`], which only a [`crate::domain::budget::Budget`] hands out.

mod anthropic;
mod builtin;
pub(crate) mod chat;
mod error;
pub(crate) mod local_models;
pub(crate) mod openai;
pub(crate) mod outbound;
pub(crate) mod remote;
pub(crate) mod reranker;
mod retry_after;
mod server;
mod sse;
pub(crate) mod token_issuer;
pub(crate) mod web_search;

use async_trait::async_trait;

pub(crate) use builtin::{BUILT_IN_EMBEDDER, BuiltInEmbedder};
pub(crate) use error::innermost;
pub(crate) use error::{FailedAttempt, ProviderError};
pub use error::{ProviderErrorKind, ProvidersUnavailable};
pub(crate) use server::Endpoint;

use crate::domain::{
    budget::{Allowance, Embedding},
    fusion::DenseWeight,
    identity::EmbeddingProfile,
    late_interaction::TextVectors,
    split::{TokenCounter, Window},
};

/// Turns texts into unit vectors of one space.
#[async_trait]
pub(crate) trait Embedder: TokenCounter + Send + Sync {
    /// The space.
    fn profile(&self) -> &EmbeddingProfile;

    /// How much of a text the model reads.
    fn window(&self) -> Window;

    /// Its share in the weighted fusion of both rankings; `None` if it follows each query by the spread of its scores.
    fn dense_weight(&self) -> Option<DenseWeight>;

    /// The vector of a query. Queries do not wait behind passages.
    ///
    /// # Errors
    /// A classified [`ProviderError`].
    async fn embed_query(&self, text: &str, allowance: Allowance<Embedding>) -> Result<Vec<f32>, ProviderError>;

    /// The vectors of passages, in their order.
    ///
    /// # Errors
    /// A classified [`ProviderError`].
    async fn embed_passages(
        &self,
        texts: Vec<String>,
        allowance: Allowance<Embedding>,
    ) -> Result<Vec<Vec<f32>>, ProviderError>;

    /// The vectors of a query, those of its tokens with it if the model gives them.
    ///
    /// # Errors
    /// As of [`Self::embed_query`].
    async fn query_vectors(&self, text: &str, allowance: Allowance<Embedding>) -> Result<TextVectors, ProviderError> {
        Ok(TextVectors::of_whole(self.embed_query(text, allowance).await?))
    }

    /// The same of passages, in their order.
    ///
    /// # Errors
    /// As of [`Self::embed_passages`].
    async fn passage_vectors(
        &self,
        texts: Vec<String>,
        allowance: Allowance<Embedding>,
    ) -> Result<Vec<TextVectors>, ProviderError> {
        Ok(self.embed_passages(texts, allowance).await?.into_iter().map(TextVectors::of_whole).collect())
    }
}
