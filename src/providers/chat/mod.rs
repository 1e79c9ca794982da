//! Chat with models: requests and replies, whole or piece by piece.
//!
//! A [`ChatChain`] is the only way to call a model from outside this folder. It takes the right to spend, tries its
//! models in order and records the usage.

mod capability;
mod chain;
mod circuit;
mod failover;
mod models;
mod stream;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr, time::Duration};

use async_trait::async_trait;
use futures::stream::BoxStream;
use serde::{Deserialize, Serialize, Serializer};
use tokio::time::Instant;

pub(crate) use capability::{Capabilities, CapabilityOverrides};
pub use chain::ChatChain;
pub use models::ChatModels;
pub(crate) use models::{ChatSettings, ModelSettings, ProviderKind, ProviderSettings};
pub(super) use stream::whole;

use super::{FailedAttempt, ProviderError, ProvidersUnavailable};
use crate::domain::{
    budget::Usage,
    cost::NanoUsd,
    prompt::{Message, ReplyFormat},
};

/// The purpose of a call. Each role may have models of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CallRole {
    /// Making the message of a conversation a question that stands alone.
    Condense,
    /// Grading passages.
    Grade,
    /// Rewriting the query.
    Rewrite,
    /// Planning how to answer.
    Plan,
    /// Writing the answer.
    Generate,
    /// Judging whether sources support a claim.
    Verify,
    /// Describing how a chunk relates to its document, at ingest.
    Context,
}

impl CallRole {
    /// All roles.
    pub(crate) const ALL: [Self; 7] =
        [Self::Condense, Self::Grade, Self::Rewrite, Self::Plan, Self::Generate, Self::Verify, Self::Context];

    /// Whether the role is used only with models of its own: it needs an additional call, which should cost nothing
    /// unless it was requested.
    #[must_use]
    pub(crate) const fn is_optional(self) -> bool {
        matches!(self, Self::Plan | Self::Verify)
    }

    /// Name in the trace and in the configuration.
    #[must_use]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Condense => "condense",
            Self::Grade => "grade",
            Self::Rewrite => "rewrite",
            Self::Plan => "plan",
            Self::Generate => "generate",
            Self::Verify => "verify",
            Self::Context => "context",
        }
    }
}

/// A model of a configured provider, written `provider:model`. The model's own name may hold colons.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    /// Provider, as configured.
    pub(crate) provider: String,
    /// Model id, as the provider knows it.
    pub(crate) model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.provider, self.model)
    }
}

impl FromStr for ModelName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            _ => Err("write it as \"provider:model\""),
        }
    }
}

impl Serialize for ModelName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A request to a chat model.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Sampling temperature; not sent to models that do not accept one.
    pub temperature: f32,
    /// Seed, for models that support reproducible replies.
    pub seed: Option<u64>,
    /// JSON schema of the reply; a model that cannot be constrained to it is instructed in the prompt alone.
    pub format: Option<ReplyFormat>,
    /// Bytes at the beginning of the last message that other calls share, and that are worth caching for them; 0 for
    /// none.
    pub shared_bytes: usize,
    /// Deadline, after which the answer is of no use. All attempts share it.
    pub deadline: Instant,
}

/// The sampling parameters that were sent, for models that accept fewer than requested.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sampling {
    /// Temperature, if the model accepts one.
    pub(crate) temperature: Option<f32>,
    /// Seed, if the model accepts one.
    pub(crate) seed: Option<u64>,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The reply is complete.
    Stop,
    /// The token limit was reached; the text is cut.
    Length,
    /// Another reason, which the provider does not explain.
    Other,
}

/// The reply of a chat model.
#[derive(Clone, Debug)]
pub struct ChatReply {
    /// The text.
    pub text: String,
    /// The model that wrote it.
    pub(crate) model: ModelName,
    /// The reason why it ended.
    pub finish: FinishReason,
    /// Tokens as the provider counted them, or as estimated.
    pub usage: Usage,
    /// The cost of these tokens; 0 without a price.
    pub cost: NanoUsd,
    /// Temperature and seed as they were sent.
    pub(crate) sampling: Sampling,
    /// Whether the model writes `[N]` for `[^N]`.
    pub(crate) has_loose_markers: bool,
    /// Attempts that failed before this one.
    pub failed: Vec<FailedAttempt>,
}

impl ChatReply {
    /// Whether the model stopped because the token limit was reached.
    #[must_use]
    pub(crate) fn is_cut(&self) -> bool {
        self.finish == FinishReason::Length
    }
}

/// An event of a reply that is being written.
#[derive(Clone, Debug)]
pub enum ChatEvent {
    /// A model has begun; its first piece follows.
    Started(ModelName),
    /// The next piece of its text, never empty.
    Delta(String),
    /// The model failed before the end of its reply. All pieces since [`ChatEvent::Started`] are void.
    Void(FailedAttempt),
    /// The whole reply, equal to the joined pieces. No event follows.
    Done(Box<ChatReply>),
}

/// A reply piece by piece. It ends with [`ChatEvent::Done`] or with an error. The provider's reply is read no faster
/// than this stream; dropping it ends the call.
pub(crate) type ChatStream = BoxStream<'static, Result<ChatEvent, ProvidersUnavailable>>;

/// One call in the form that is sent to one model.
#[derive(Clone, Copy, Debug)]
pub(super) struct WireCall<'a> {
    pub(crate) messages: &'a [Message],
    /// Bytes at the beginning of the last message that other calls share.
    pub(crate) shared_bytes: usize,
    pub(crate) sampling: Sampling,
    pub(crate) completion_tokens: u32,
    pub(crate) format: Option<&'a ReplyFormat>,
}

/// Tokens as a provider reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReportedUsage {
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplyEnd {
    pub(crate) finish: FinishReason,
    pub(crate) usage: Option<ReportedUsage>,
}

/// A piece of a reply in a provider's stream; the end is the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReplyPart {
    Text(String),
    End(ReplyEnd),
}

/// Pieces of a reply. A reply that does not end in [`ReplyPart::End`] ends in an error.
pub(super) type ReplyParts = BoxStream<'static, Result<ReplyPart, ProviderError>>;

/// A model behind a provider's protocol. Dropping a future or a stream ends the call.
#[async_trait]
pub(super) trait ChatModel: Send + Sync {
    /// Returns one whole reply.
    async fn complete(&self, call: WireCall<'_>) -> Result<(String, ReplyEnd), ProviderError>;

    /// Returns one reply piece by piece. The call itself fails only for reasons known before the first piece.
    async fn stream(&self, call: WireCall<'_>) -> Result<ReplyParts, ProviderError>;

    /// Longest call, from connecting to the last byte.
    fn timeout(&self) -> Duration;

    /// Builds an error that names this model.
    fn fail(&self, kind: super::ProviderErrorKind, detail: String) -> ProviderError;
}
