//! Documents and collections as they are stored.

mod deletes;
mod erasures;
mod export;
mod reading;
