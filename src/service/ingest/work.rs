//! The work that queue items describe.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::unreadable;
use crate::store::{AttachedTo, ClaimedItem, ItemFailure, ItemKey};

/// Work of an item; versioned because it outlives the process that queued it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "v")]
enum Versioned {
    #[serde(rename = "1")]
    V1(Work),
}

/// Work on one document.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub(super) enum Work {
    /// Stores a document that was submitted; its bytes are the content of the item.
    Upload(Upload),
    /// Fetches a document and stores it.
    Fetch(Fetch),
    /// Computes the vectors of a document that is stored and can be found lexically.
    Embed,
    /// Builds a stored document into the next index of its collection.
    Build,
}

/// A submitted document, without its bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Upload {
    pub(super) uri: String,
    pub(super) title: Option<String>,
    pub(super) media_type: String,
    pub(super) metadata: Value,
    pub(super) loader: String,
    /// Set for a document that was found in a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attached_to: Option<AttachedTo>,
}

/// A document at a URL.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fetch {
    pub(super) url: String,
    pub(super) title: Option<String>,
    /// Media type, if the caller knows better than the server.
    pub(super) media_type: Option<String>,
    pub(super) metadata: Value,
    pub(super) loader: String,
}

impl Work {
    /// The form in which an item stores it.
    pub(super) fn store(self) -> Value {
        serde_json::to_value(Versioned::V1(self)).expect("work of plain values is JSON")
    }

    pub(super) fn read(stored: Value) -> serde_json::Result<Self> {
        serde_json::from_value(stored).map(|Versioned::V1(work)| work)
    }
}

/// Work of the items of a job that builds an index.
#[must_use]
pub(crate) fn build_work() -> Value {
    Work::Build.store()
}

/// The items of a claim by the kind of their work.
#[derive(Debug, Default)]
pub(super) struct ItemsByWork {
    pub(super) uploads: Vec<(ClaimedItem, Upload)>,
    pub(super) fetches: Vec<(ClaimedItem, Fetch)>,
    pub(super) embeds: Vec<ClaimedItem>,
    pub(super) builds: Vec<ClaimedItem>,
    /// Items that a different version of the service queued.
    pub(super) unreadable: Vec<(ItemKey, ItemFailure)>,
}

impl ItemsByWork {
    /// Parses the work of each item.
    pub(super) fn of(items: Vec<ClaimedItem>) -> Self {
        let mut sorted = Self::default();
        for mut item in items {
            match Work::read(std::mem::take(&mut item.payload)) {
                Ok(Work::Upload(upload)) => sorted.uploads.push((item, upload)),
                Ok(Work::Fetch(fetch)) => sorted.fetches.push((item, fetch)),
                Ok(Work::Embed) => sorted.embeds.push(item),
                Ok(Work::Build) => sorted.builds.push(item),
                Err(error) => sorted.unreadable.push((item.key, unreadable(&error.to_string()))),
            }
        }
        sorted
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn work_says_its_kind_and_version() {
        assert_eq!(Work::Build.store(), json!({"v": "1", "work": "build"}));
        assert_eq!(Work::Embed.store(), json!({"v": "1", "work": "embed"}));
        let upload = json!({
            "v": "1", "work": "upload", "uri": "a.md", "title": null, "media_type": "text/plain",
            "metadata": {"year": 2024}, "loader": "json",
        });
        let Ok(Work::Upload(read)) = Work::read(upload.clone()) else { panic!("an upload") };
        assert_eq!(read.metadata["year"], 2024);
        assert_eq!(Work::Upload(read).store(), upload);
        assert!(Work::read(json!({"v": "2", "work": "build"})).is_err());
        assert!(Work::read(json!({"v": "1", "work": "paint"})).is_err());
    }
}
