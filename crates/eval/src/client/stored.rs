//! Documents that a collection holds already.

use std::collections::HashSet;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use super::Client;
use crate::{evaluation::EvaluationError, set::SetDocument};

/// A page of a list of documents.
#[derive(Deserialize)]
struct PageReply {
    documents: Vec<StoredReply>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct StoredReply {
    source: String,
}

impl Client {
    /// Name of a document of the collection that is none of these; `None` if there is none.
    pub(crate) async fn foreign_document(
        &self,
        collection: &str,
        documents: &[SetDocument],
    ) -> Result<Option<String>, EvaluationError> {
        let own: HashSet<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        let mut query = format!("collection={}", encoded(collection));
        loop {
            let answer = self.send(self.http.get(self.url(&format!("/v1/documents?limit=200&{query}")))).await?;
            let page: PageReply = self.read(answer, &[200])?;
            let mut stored = page.documents.into_iter().map(|document| document.source);
            let foreign = stored.find(|source| !own.contains(source.as_str()));
            let Some(next) = page.next_cursor.filter(|_| foreign.is_none()) else { return Ok(foreign) };
            query = format!("collection={}&cursor={}", encoded(collection), encoded(&next));
        }
    }
}

fn encoded(value: &str) -> String {
    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
}
