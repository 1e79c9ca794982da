//! Models, and the only outgoing HTTP.
//!
//! Every call consumes an [`Allowance`], which only a [`crate::domain::budget::Budget`] hands out.

mod builtin;
mod error;
pub mod loopback;
pub mod minilm;
pub mod openai;
pub mod outbound;

use async_trait::async_trait;

pub use builtin::BuiltInEmbedder;
pub use error::{ProviderError, ProviderErrorKind};

use crate::domain::{
    budget::{Allowance, Chat, Embedding, Usage},
    identity::EmbeddingProfile,
    prompt::Message,
    split::{TokenCounter, Window},
};

/// Turns texts into unit vectors of one space.
#[async_trait]
pub trait Embedder: TokenCounter + Send + Sync {
    /// The space.
    fn profile(&self) -> &EmbeddingProfile;

    /// How much of a text the model reads.
    fn window(&self) -> Window;

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
}

/// What a chat model is asked.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Sampling temperature.
    pub temperature: f32,
    /// Seed, for providers that can repeat themselves.
    pub seed: Option<u64>,
}

/// What a chat model said.
#[derive(Clone, Debug)]
pub struct ChatReply {
    /// The text.
    pub text: String,
    /// Tokens as the provider counted them, or an estimate.
    pub usage: Usage,
    /// Whether the model stopped because its tokens were used up.
    pub is_cut: bool,
}

/// A model that continues a conversation.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Model id, as answers name it.
    fn model(&self) -> &str;

    /// Provider, as answers name it.
    fn provider(&self) -> &str;

    /// One reply. Dropping the future cancels the call.
    ///
    /// # Errors
    /// A classified [`ProviderError`].
    async fn complete(&self, request: &ChatRequest, allowance: Allowance<Chat>) -> Result<ChatReply, ProviderError>;
}
