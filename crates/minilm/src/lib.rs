//! The built-in embedding model: all-MiniLM-L6-v2 with int8 weights, compiled into the binary.
//!
//! The forward pass is written out here on top of `rten-gemm`'s matrix products and `rten-simd`'s portable vectors,
//! which pick the processor's best instructions at run time; `docs/decisions/0003-built-in-minilm.md` has the
//! alternatives and their measured speed. `tools/minilm` makes the weights.

#![expect(
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "kernels over arrays whose shapes are checked once, when the weights are read"
)]

mod error;
mod kernels;
mod model;
mod normalise;
mod product;
mod tokenizer;
mod weights;
mod workers;

use std::num::NonZeroUsize;
use std::sync::Arc;

pub use error::MiniLmError;
use model::{Model, Output, Scratch};
use tokenizer::Tokenizer;
use weights::Reader;
use workers::Workers;

use domain::late_interaction::TextVectors;
use domain::split::TokenCounter;

static WEIGHTS: &[u8] = include_bytes!("../../../assets/minilm/model.safetensors");
static VOCABULARY: &str = include_str!("../../../assets/minilm/vocab.txt");

/// The built-in embedder: its model and its threads, which end when it is dropped.
///
/// The same text gives the same vector, regardless of the other texts being embedded and of the thread.
pub struct MiniLm {
    tokenizer: Arc<Tokenizer>,
    workers: Workers,
}

impl MiniLm {
    /// Length of every vector.
    pub const DIMENSION: usize = model::WIDTH;

    /// Wordpieces that the model reads of a text, `[CLS]` and `[SEP]` included; the rest is cut off.
    pub const WINDOW: usize = model::WINDOW;

    /// Reads the model compiled into the binary and starts `threads` threads for passages, and one more that is kept
    /// for queries, so that a query never waits behind documents.
    ///
    /// # Errors
    ///
    /// [`MiniLmError::Asset`] if the compiled-in files do not belong together, [`MiniLmError::Thread`] if a thread
    /// cannot be had.
    pub fn start(threads: NonZeroUsize) -> Result<Self, MiniLmError> {
        let model = Arc::new(Model::read(&Reader::new(WEIGHTS)?)?);
        let tokenizer = Arc::new(Tokenizer::read(VOCABULARY)?);
        let reader = Arc::clone(&tokenizer);
        let workers = Workers::start(threads, move || {
            let (model, tokenizer) = (Arc::clone(&model), Arc::clone(&reader));
            let mut scratch = Scratch::new();
            move |text: &str, output| model.embed(&tokenizer.encode(text, Self::WINDOW), output, &mut scratch)
        })?;
        Ok(Self { tokenizer, workers })
    }

    /// The unit vector of a query.
    ///
    /// # Errors
    ///
    /// [`MiniLmError::Panicked`] if the computation failed on this text; others are not affected.
    ///
    /// # Cancel safety
    ///
    /// A dropped future's query is not computed, unless a thread has already begun it.
    pub async fn embed_query(&self, text: &str) -> Result<Vec<f32>, MiniLmError> {
        self.workers.query(text, Output::Whole).await
    }

    /// The unit vectors of passages, in their order. Few are handed over at a time, so that concurrent callers
    /// advance side by side.
    ///
    /// # Errors
    ///
    /// [`MiniLmError::Panicked`] if the computation failed on one of the texts.
    ///
    /// # Cancel safety
    ///
    /// A dropped future's texts are not computed, except those that a thread has already begun.
    pub async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, MiniLmError> {
        self.workers.passages(texts, Output::Whole).await
    }

    /// The vectors of a query and of its wordpieces.
    ///
    /// # Errors
    ///
    /// As of [`Self::embed_query`].
    pub async fn embed_query_tokens(&self, text: &str) -> Result<TextVectors, MiniLmError> {
        Ok(text_vectors(self.workers.query(text, Output::Tokens).await?))
    }

    /// The vectors of passages and of their wordpieces, in their order.
    ///
    /// # Errors
    ///
    /// As of [`Self::embed_passages`].
    pub async fn embed_passages_tokens(&self, texts: Vec<String>) -> Result<Vec<TextVectors>, MiniLmError> {
        let vectors = self.workers.passages(texts, Output::Tokens).await?;
        Ok(vectors.into_iter().map(text_vectors).collect())
    }

    /// Number of wordpieces of a text, `[CLS]` and `[SEP]` not counted: at most [`Self::WINDOW`] less two fit.
    #[must_use]
    pub fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }
}

/// The vectors of a text as its computation writes them: that of all of it, then those of its wordpieces.
fn text_vectors(mut whole: Vec<f32>) -> TextVectors {
    let tokens = whole.split_off(MiniLm::DIMENSION);
    TextVectors { whole, tokens }
}

/// The built-in model's tokenizer alone, for counting tokens.
pub struct WordPiece(Tokenizer);

impl WordPiece {
    /// Reads the vocabulary compiled into the binary.
    ///
    /// # Errors
    ///
    /// [`MiniLmError::Asset`] if it is damaged.
    pub fn load() -> Result<Self, MiniLmError> {
        Tokenizer::read(VOCABULARY).map(Self)
    }

    /// Number of wordpieces of a text, special ones not counted.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }
}

impl TokenCounter for WordPiece {
    fn count(&self, text: &str) -> usize {
        self.0.count(text)
    }
}

#[cfg(test)]
mod tests;
