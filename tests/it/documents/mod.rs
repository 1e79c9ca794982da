//! Documents and collections as they are stored.

mod deletes;
mod reading;
