//! Other wordings of a question that retrieval failed on: read from a model's reply, or built in.

pub mod built_in;

use std::collections::BTreeSet;

use super::json_in_text;

/// Longest query accepted from a model, in characters: a longer text is an explanation.
pub const LONGEST_QUERY: usize = 1000;

/// Pairs of quotes of which one layer is taken off.
const QUOTES: [(char, char); 9] =
    [('"', '"'), ('\'', '\''), ('“', '”'), ('‘', '’'), ('«', '»'), ('„', '“'), ('`', '`'), ('「', '」'), ('‹', '›')];

/// Why a rewriter's reply is not a new query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RewriteError {
    /// Nothing is left of the reply.
    #[error("the rewriter replied with an empty query")]
    Empty,
    /// The query was tried before; the loop goes on without it.
    #[error("the rewriter repeated a query that was tried before")]
    Repeated,
    /// The reply is too long for a query: it is an explanation.
    #[error("the rewriter replied with more than {LONGEST_QUERY} characters")]
    TooLong,
}

/// The queries tried so far, the original question first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    queries: Vec<String>,
    keys: BTreeSet<String>,
}

impl Tried {
    /// Only the question was tried.
    #[must_use]
    pub fn new(question: &str) -> Self {
        Self { queries: vec![question.to_owned()], keys: BTreeSet::from([key(question)]) }
    }

    /// Adds a query that was just made.
    ///
    /// # Errors
    ///
    /// When it equals an earlier one but for case, blanks and the punctuation at its ends.
    pub fn add(&mut self, query: String) -> Result<&str, RewriteError> {
        if !self.keys.insert(key(&query)) {
            return Err(RewriteError::Repeated);
        }
        self.queries.push(query);
        Ok(self.queries.last().map_or("", String::as_str))
    }

    /// Whether a query was tried.
    #[must_use]
    pub fn contains(&self, query: &str) -> bool {
        self.keys.contains(&key(query))
    }

    /// All queries, the question first.
    #[must_use]
    pub fn queries(&self) -> &[String] {
        &self.queries
    }

    /// The queries after the question, oldest first: these are shown to a rewriting model.
    #[must_use]
    pub fn rewrites(&self) -> &[String] {
        self.queries.get(1..).unwrap_or_default()
    }
}

/// The normalised form of a query, equal for queries that differ only in case, blanks or punctuation at the ends.
fn key(query: &str) -> String {
    let lowered = query.to_lowercase();
    let words = lowered.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_matches(|c: char| c.is_whitespace() || "?.!,;:".contains(c)).to_owned()
}

/// Extracts the query from a model's reply: the member `query` if it is or contains JSON, otherwise the text without a
/// code fence. Surrounding space and one layer of quotes are removed, line breaks become blanks.
///
/// # Errors
///
/// When nothing is left, when it is too long, or when it was tried before.
pub fn read_reply(reply: &str, tried: &Tried) -> Result<String, RewriteError> {
    let in_json = json_in_text::values(reply).iter().find_map(|value| Some(value.get("query")?.as_str()?.to_owned()));
    let trimmed = in_json.as_deref().unwrap_or_else(|| without_fence(reply)).trim();
    let unquoted =
        QUOTES.iter().find_map(|(open, close)| trimmed.strip_prefix(*open)?.strip_suffix(*close)).unwrap_or(trimmed);
    let query = unquoted.split_whitespace().collect::<Vec<_>>().join(" ");
    if !query.chars().any(char::is_alphanumeric) {
        return Err(RewriteError::Empty);
    }
    if query.chars().count() > LONGEST_QUERY {
        return Err(RewriteError::TooLong);
    }
    if tried.contains(&query) {
        return Err(RewriteError::Repeated);
    }
    Ok(query)
}

/// The content of the first code fence of a text; the text itself if it has none.
fn without_fence(text: &str) -> &str {
    let fenced = text.split_once("```").and_then(|(_, after)| {
        let (_language, content) = after.split_once('\n')?;
        Some(content.split("```").next().unwrap_or(content))
    });
    fenced.unwrap_or(text)
}

#[cfg(test)]
mod tests;
