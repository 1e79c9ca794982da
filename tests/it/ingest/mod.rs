//! Documents from upload or URL to stored chunks with vectors.

mod attachments;
mod bulk;
mod bytes_held;
pub(crate) mod contextual;
mod contextual_cost;
mod corpus;
mod corpus_files;
mod embed_phase;
mod embedding_load;
pub(crate) mod fetch;
mod hostile;
mod hostile_text;
mod oversized;
mod progressive;
pub(crate) mod recognition;
mod same_source;
mod uploads;
