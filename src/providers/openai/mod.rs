//! Servers that speak the `OpenAI` API: `OpenAI`, Ollama, vLLM, llama.cpp, Groq, Together, `OpenRouter`, …
//!
//! Only the common core is used: `POST {base}/chat/completions` and `POST {base}/embeddings`.

mod chat;
mod chunk;
mod embedding;

pub(super) use chat::OpenAiChat;
#[cfg(test)]
pub(super) use chunk::ChunkReader;
pub(crate) use embedding::{DEFAULT_EMBEDDING_WINDOW, EmbeddingSettings, MINIMUM_EMBEDDING_WINDOW, OpenAiEmbedder};
