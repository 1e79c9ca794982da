//! The passages that a text is held against.

use std::collections::HashSet;

use futures::{StreamExt, TryStreamExt, stream};

use super::{Against, CheckParts, CheckSource};
use crate::{
    domain::{
        access::Grant,
        budget::{Budget, Limits},
        citation::Urn,
        filter::Filter,
        identity::TenantId,
    },
    service::{
        ServiceError,
        citations::{CitedPassage, CitedState},
        retrieval::{Hit, RetrievalQuery, Stages, full_title},
    },
    store::{Passage, SearchedCollection},
};

/// Searches that run at the same time.
const SEARCHES_AT_ONCE: usize = 4;

/// The passages, in marker order; those that searches found in the order of the claims, each once.
///
/// # Errors
/// When something that is named does not exist, or a search fails.
pub(super) async fn resolve(
    parts: &CheckParts,
    grant: &Grant,
    against: Against,
    claims: &[String],
) -> Result<Vec<CheckSource>, ServiceError> {
    match against {
        Against::Passages(passages) => Ok(passages),
        Against::Urns(urns) => {
            let mut sources = Vec::with_capacity(urns.len());
            for (place, urn) in urns.into_iter().enumerate() {
                sources.push(cited(parts, grant, urn, place).await?);
            }
            Ok(sources)
        }
        Against::Collections { names, filter, top_k } => {
            let (collections, filter) = parts.retriever.bind(grant, &names, &filter).await?;
            let search = Search { parts, tenant: grant.tenant(), collections: &collections, filter: &filter, top_k };
            let searches: Vec<_> = claims.iter().map(|claim| search.find(claim)).collect();
            let found: Vec<Vec<CheckSource>> = stream::iter(searches).buffered(SEARCHES_AT_ONCE).try_collect().await?;
            let mut known = HashSet::new();
            let is_new = |source: &CheckSource| known.insert(source.urn.as_ref().map(ToString::to_string));
            Ok(found.into_iter().flatten().filter(is_new).collect())
        }
    }
}

/// The passage of a URN as it was cited.
async fn cited(parts: &CheckParts, grant: &Grant, urn: Urn, place: usize) -> Result<CheckSource, ServiceError> {
    let unkept = |detail: &str| ServiceError::Invalid {
        pointer: format!("/urns/{place}"),
        detail: format!("{urn} names a passage whose text is no longer kept: {detail}"),
    };
    let passage = match parts.citations.get(grant, &urn).await? {
        CitedState::Current(passage) | CitedState::Superseded { passage: Some(passage), .. } => passage,
        CitedState::Superseded { passage: None, .. } => return Err(unkept("its document was replaced")),
        CitedState::Deleted { .. } => return Err(unkept("its document was deleted")),
    };
    let CitedPassage { title, heading, table_header, text, start_char, .. } = passage;
    let title = title_of(&title, &heading, table_header.as_deref());
    Ok(CheckSource { urn: Some(urn), id: None, title, table_header, text, start: offset(start_char) })
}

/// A search for the evidence of claims.
struct Search<'a> {
    parts: &'a CheckParts,
    tenant: TenantId,
    collections: &'a [SearchedCollection],
    filter: &'a Filter,
    top_k: usize,
}

impl Search<'_> {
    async fn find(&self, claim: &str) -> Result<Vec<CheckSource>, ServiceError> {
        let query = RetrievalQuery {
            tenant: self.tenant,
            collections: self.collections,
            text: claim,
            other_wording: None,
            stages: Stages::default(),
            top_k: self.top_k,
            min_score: None,
            filter: self.filter,
        };
        let found = self.parts.retriever.retrieve(&query, &Budget::new(Limits::ask())).await?;
        let source = |hit: &Hit| {
            let Passage { title, heading, table_header, text, start_char, .. } = hit.passage.as_ref();
            let title = title_of(title, heading, table_header.as_deref());
            CheckSource {
                urn: Some(hit.urn()),
                id: None,
                title,
                table_header: table_header.clone(),
                text: text.clone(),
                start: offset(*start_char),
            }
        };
        Ok(found.hits.iter().map(source).collect())
    }
}

/// Title of the document and the headings below it, and the header of the table that the passage begins in. The first
/// heading is left out where it is the title.
fn title_of(document: &str, heading: &[String], table_header: Option<&str>) -> String {
    let below = match heading {
        [first, below @ ..] if first == document => below,
        all => all,
    };
    full_title(document, below, table_header)
}

fn offset(start: u32) -> usize {
    usize::try_from(start).unwrap_or(usize::MAX)
}
