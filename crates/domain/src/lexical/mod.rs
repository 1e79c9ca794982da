//! Lexical retrieval on stock Postgres: text to terms, terms to ids, BM25 on both sides.
//!
//! The document side of BM25 is computed once, when a chunk is written, and stored as a
//! `sparsevec`; the query side carries the inverse document frequencies. Their inner product is the
//! BM25 score, so that the database needs no extension beyond pgvector.

pub mod analyzer;
pub mod bm25;
pub(crate) mod calendar;
pub mod candidates;
mod compound;
pub(crate) mod function_words;
pub mod language;
pub mod openings;
pub mod phrase;
pub mod question_words;
mod stop_words;
pub mod term_id;
pub(crate) mod unspaced;
mod word_forms;
mod words;
mod written_otherwise;

pub(crate) use stop_words::is_empty_in_claims;
pub(crate) use word_forms::other_forms;
