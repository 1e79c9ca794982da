//! A search: what is searched for, where, and for whom.

use std::borrow::Cow;

use super::stages::Stages;
use crate::{
    domain::{filter::Filter, identity::TenantId},
    store::{SearchedCollection, Seen},
};

/// One search.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalQuery<'a> {
    /// The owner of the documents.
    pub(crate) tenant: TenantId,
    /// The collections to search.
    pub(crate) collections: &'a [SearchedCollection],
    /// The query text.
    pub(crate) text: &'a str,
    /// Another wording of the query, searched together with it: the scores for both are added.
    pub(crate) other_wording: Option<&'a str>,
    /// Which stages run.
    pub(crate) stages: Stages,
    /// At most this many results.
    pub(crate) top_k: usize,
    /// Results below this score are left out.
    pub(crate) min_score: Option<f64>,
    /// Restricts the passages that may be found.
    pub(crate) filter: &'a Filter,
}

impl<'a> RetrievalQuery<'a> {
    /// The query text, and the other wording if there is one.
    pub(super) fn wordings(&self) -> Vec<&'a str> {
        std::iter::once(self.text).chain(self.other_wording).collect()
    }

    /// Number of chunks in the collections.
    pub(super) fn chunks(&self) -> u64 {
        self.collections.iter().map(|searched| searched.chunks).sum()
    }

    /// Number of those that the caller may see.
    pub(super) fn seen_chunks(&self) -> u64 {
        self.collections.iter().map(|searched| searched.seen_chunks().chunks).sum()
    }

    /// The filter that passages are searched by: without the caller where it may see every document. What is found is held
    /// against the lists again when it is read.
    pub(super) fn searched_filter(&self) -> Cow<'a, Filter> {
        let sees_all = self.collections.iter().all(|searched| searched.seen == Seen::All);
        if self.filter.caller.is_none() || !sees_all {
            return Cow::Borrowed(self.filter);
        }
        Cow::Owned(Filter { caller: None, ..self.filter.clone() })
    }

    /// Whether documents may have access control lists that the caller is held against.
    pub(super) fn may_hide_documents(&self) -> bool {
        self.filter.caller.is_some() && self.collections.iter().any(|searched| searched.collection.is_restricted)
    }
}
