//! Facts about a filled database; they are kept beside it.

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Facts that do not depend on the searching client.
#[derive(Debug, Serialize, Deserialize)]
pub struct Facts {
    pub collection: Uuid,
    /// Seconds that storing took, indexes of keys included, large ones not.
    pub rows_s: f64,
    /// Seconds that each index took, by name.
    pub index_s: Vec<(String, f64)>,
    /// Bytes by relation.
    pub bytes: Vec<(String, i64)>,
    /// All questions; the first have exact results.
    pub questions: Vec<String>,
    pub exact: Vec<Exact>,
}

/// The exact answer to a question, as what a result must score to belong to the ten best.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Exact {
    /// BM25 of the tenth of all chunks.
    pub lexical: f32,
    /// Cosine of the tenth of all chunks.
    pub dense: f64,
}

impl Facts {
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(file)?)?)
    }

    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        Ok(fs::write(file, serde_json::to_vec(self)?)?)
    }

    pub fn bytes_of(&self, relation: &str) -> i64 {
        self.bytes.iter().filter(|(name, _)| name.starts_with(relation)).map(|(_, bytes)| bytes).sum()
    }

    pub fn seconds_of(&self, index: &str) -> f64 {
        self.index_s.iter().filter(|(name, _)| name.starts_with(index)).map(|(_, seconds)| seconds).sum()
    }
}
