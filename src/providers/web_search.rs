//! Searches of the web, by the JSON API of `SearXNG` (<https://docs.searxng.org/dev/search_api.html>).

use std::{collections::HashSet, time::Duration};

use serde::Deserialize;
use url::Url;

use crate::domain::{identity::TenantId, unseen::seen};

use super::outbound::{Fetched, Outbound, OutboundError, Rule, Validators};

/// Largest reply of a search engine.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// Longest extract that is kept of a page, in characters.
const LONGEST_EXTRACT: usize = 2_000;
/// Longest title, in characters.
const LONGEST_TITLE: usize = 300;
/// Longest URL of a page, in bytes.
const LONGEST_URL: usize = 2_048;

/// A search engine.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Base URL; queries are sent to `/search` below it.
    pub(crate) endpoint: Url,
    /// Where the search may lead: to the engine, its redirects, and the pages that it names.
    pub(crate) destinations: Rule,
    /// Most pages that are used of a search.
    pub(crate) results: usize,
    /// Longest duration of a search.
    pub(crate) timeout: Duration,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebPage {
    /// Its URL, which the outbound rules permit.
    pub(crate) url: String,
    /// Its title.
    pub(crate) title: String,
    /// The extract that the search engine shows of it; never empty.
    pub(crate) extract: String,
}

/// Searches the web under the rules of outgoing requests. The rules apply to the search engine itself, to its
/// redirects, and to the pages that it names.
#[derive(Clone, Debug)]
pub(crate) struct WebSearch {
    outbound: Outbound,
    settings: Settings,
}

#[derive(Deserialize)]
struct Reply {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
}

impl WebSearch {
    /// A search engine behind the outbound guard.
    ///
    /// # Errors
    /// [`OutboundError::Unreachable`] when the machine has no root certificates to check servers with.
    pub(crate) fn new(settings: Settings) -> Result<Self, OutboundError> {
        let outbound = Outbound::new(settings.destinations.clone(), settings.timeout)?;
        Ok(Self { outbound, settings })
    }

    /// Returns the first pages found for a tenant, each once.
    ///
    /// # Errors
    /// A classified [`OutboundError`]; also [`OutboundError::Refused`] for a reply that is not a search result.
    pub(crate) async fn search(&self, tenant: TenantId, query: &str) -> Result<Vec<WebPage>, OutboundError> {
        let mut url = self.settings.endpoint.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("search");
        }
        url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        let nothing_known = Validators::default();
        let search = self.outbound.fetch(tenant, url.as_str(), &nothing_known, MAX_BYTES);
        let timeout = self.settings.timeout;
        let found = tokio::time::timeout(timeout, search).await.map_err(|_| OutboundError::Timeout(timeout))??;
        let Fetched::Document(document) = found else { return Ok(Vec::new()) };
        let reply: Reply = serde_json::from_slice(&document.content).map_err(|error| {
            OutboundError::Refused(format!(
                "the search engine does not answer in the JSON of SearXNG ({error}); enable its format \"json\""
            ))
        })?;
        Ok(self.pages(reply))
    }

    fn pages(&self, reply: Reply) -> Vec<WebPage> {
        let mut seen = HashSet::new();
        let page = |found: Found| {
            let url = self.outbound.check(found.url.as_deref()?).ok()?.to_string();
            let extract = plain(found.content.as_deref()?, LONGEST_EXTRACT);
            let title = plain(found.title.as_deref().unwrap_or_default(), LONGEST_TITLE);
            let is_new = !extract.is_empty() && url.len() <= LONGEST_URL && seen.insert(url.clone());
            is_new.then_some(WebPage { url, title, extract })
        };
        reply.results.into_iter().filter_map(page).take(self.settings.results).collect()
    }
}

/// One line without characters that nobody sees.
fn plain(text: &str, longest: usize) -> String {
    let text: String = seen(text).chars().take(longest).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
