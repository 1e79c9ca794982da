//! Errors of the built-in embedder.

/// Why the built-in embedder did not start or did not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MiniLmError {
    /// The model compiled into the binary is not the one this code reads.
    #[error("the built-in model does not fit this build: {0}")]
    Asset(String),
    /// The operating system gave no thread.
    #[error("cannot start an embedding thread")]
    Thread(#[from] rayon::ThreadPoolBuildError),
    /// The computation panicked; the embedder goes on.
    #[error("the built-in embedder panicked on a text")]
    Panicked,
    /// The embedder was dropped while the text waited.
    #[error("the built-in embedder was stopped")]
    Stopped,
}
