//! Turns ranked chunks into sources: passages are fetched, reranked, collapsed and merged.

use std::{collections::HashMap, sync::Arc};

use super::{GroupedHit, Hit, RetrievalQuery, Retrieved, Retriever};
use crate::{
    domain::{
        budget::Budget,
        evidence::Question,
        fusion::Fused,
        grouping::{
            Group, Grouping, Ranked, group,
            join::{Stretch, gaps, join},
        },
        identity::{ChunkKey, TenantId},
        lexical::{
            analyzer::Analyzer,
            phrase::{self, Phrase},
        },
        subject::AskedSubjects,
    },
    service::ServiceError,
    store::{Passage, TextRange},
};

impl Retriever {
    /// Returns the best sources of a fused ranking. Passages are fetched as far down as needed to fill all results,
    /// which takes one fetch unless there are many duplicates.
    pub(super) async fn best_sources(
        &self,
        query: &RetrievalQuery<'_>,
        fused: Vec<Fused<ChunkKey>>,
        found: &mut Retrieved,
        budget: &Budget,
    ) -> Result<Vec<Hit>, ServiceError> {
        let phrases = phrase::quoted(query.text);
        let total = fused.len();
        let mut fused = fused.into_iter();
        let first: Vec<Fused<ChunkKey>> = fused.by_ref().take(first_fetch(query, &phrases, self.fetch_k)).collect();
        let mut fetched = first.len();
        let mut hits = self.fetch(query, first).await?;
        if query.stages.rerank {
            self.rerank(query, &mut hits, found, budget).await?;
        }
        others_last(&found.weigh(found.analyzer, query.text), found.analyzer, &mut hits);
        found.stages.quoted = quoted_first(&phrases, &mut hits);
        let mut grouped = places(query);
        loop {
            let best = hits.get(..grouped).unwrap_or(&hits);
            let groups = group(&ranked(best), query.stages.grouping, query.top_k);
            // If the last passage examined duplicates a result, the next one may do so too.
            let last = best.len().saturating_sub(1);
            let ends_in_duplicate = groups.iter().any(|group| group.duplicates.contains(&last));
            if (groups.len() >= query.top_k && !ends_in_duplicate) || grouped >= total {
                found.stages.collapsed = groups.iter().map(|group| group.duplicates.len()).sum();
                found.stages.merged = groups.iter().map(|group| group.members.len() - 1).sum();
                let sources = self.merge(query.tenant, best, groups).await?;
                return Ok(sources.into_iter().map(|source| source.hit).collect());
            }
            grouped *= 2;
            if grouped > fetched {
                let next: Vec<Fused<ChunkKey>> = fused.by_ref().take(grouped - fetched).collect();
                fetched += next.len();
                hits.extend(self.fetch(query, next).await?);
            }
        }
    }

    /// Groups hits of several searches, best first, into at most `limit` sources.
    ///
    /// # Errors
    /// Store failures.
    pub(crate) async fn group(
        &self,
        tenant: TenantId,
        hits: &[Hit],
        grouping: Grouping,
        limit: usize,
    ) -> Result<Vec<GroupedHit>, ServiceError> {
        let groups = group(&ranked(hits), grouping, limit);
        self.merge(tenant, hits, groups).await
    }

    /// Joins hits that follow each other in a document into one with the scores of `leader`; `None` if there is nothing to join, or
    /// if the document was replaced.
    ///
    /// # Errors
    /// Store failures.
    pub(super) async fn join_members(
        &self,
        tenant: TenantId,
        leader: &Hit,
        members: &[&Hit],
    ) -> Result<Option<Hit>, ServiceError> {
        let gap_texts = match gaps_between(members).as_slice() {
            [] => Vec::new(),
            ranges => self.store.documents().text_ranges(tenant, ranges).await?,
        };
        Ok(merged(leader, members, &gap_texts))
    }

    async fn fetch(&self, query: &RetrievalQuery<'_>, items: Vec<Fused<ChunkKey>>) -> Result<Vec<Hit>, ServiceError> {
        let known = self.passages.look_up(items.iter().map(|item| item.key), query);
        let (wanted, caller) = (known.wanted(), query.filter.caller.as_deref());
        let found = match wanted.as_slice() {
            [] => Vec::new(),
            wanted => self.store.search().passages(query.tenant, wanted, caller).await?,
        };
        let passages = known.merge(&self.passages, query.collections, found).into_iter();
        let mut passages: HashMap<ChunkKey, Arc<Passage>> = passages.map(|passage| (passage.key, passage)).collect();
        let hit = |item: Fused<ChunkKey>| {
            Some(Hit {
                passage: passages.remove(&item.key)?,
                dense: item.dense,
                lexical: item.lexical,
                fused: item.fused,
                reranked: None,
                last_ordinal: item.key.ordinal,
                duplicates: Vec::new(),
            })
        };
        Ok(items.into_iter().filter_map(hit).collect())
    }

    /// Merges each group into one hit. Chunks do not contain the white space between them, so it is read where chunks
    /// do not overlap.
    async fn merge(&self, tenant: TenantId, hits: &[Hit], groups: Vec<Group>) -> Result<Vec<GroupedHit>, ServiceError> {
        let members =
            |group: &Group| -> Vec<&Hit> { group.members.iter().filter_map(|place| hits.get(*place)).collect() };
        let ranges: Vec<TextRange> = groups.iter().flat_map(|group| gaps_between(&members(group))).collect();
        let mut gap_texts =
            if ranges.is_empty() { Vec::new() } else { self.store.documents().text_ranges(tenant, &ranges).await? }
                .into_iter();
        let mut sources = Vec::with_capacity(groups.len());
        for group in groups {
            let Some(leader) = hits.get(group.leader) else { continue };
            let members = members(&group);
            let texts: Vec<String> = gap_texts.by_ref().take(gaps_between(&members).len()).collect();
            // A document that was replaced in between cannot be merged: the leader alone becomes the source.
            let mut source = merged(leader, &members, &texts).unwrap_or_else(|| leader.clone());
            let same = group.duplicates.iter().filter_map(|place| hits.get(*place));
            source.duplicates = members.iter().flat_map(|hit| hit.duplicates.iter().cloned()).collect();
            source.duplicates.extend(same.map(|hit| Arc::clone(&hit.passage)));
            sources.push(GroupedHit { leader: group.leader, hit: source });
        }
        Ok(sources)
    }
}

/// Moves passages that are about another subject than the one that the question names behind all others. The order is otherwise
/// kept.
fn others_last(question: &Question, analyzer: &Analyzer, hits: &mut Vec<Hit>) {
    let subjects = AskedSubjects::of(question, hits.iter().map(Hit::label));
    let (others, own): (Vec<Hit>, Vec<Hit>) = hits.drain(..).partition(|hit| hit.is_elsewhere(analyzer, &subjects));
    hits.extend(own.into_iter().chain(others));
}

/// Moves passages that contain the quoted phrases of the query before all others, those that contain most of them
/// first; returns their number. The order is otherwise kept.
fn quoted_first(phrases: &[Phrase], hits: &mut Vec<Hit>) -> usize {
    if phrases.is_empty() {
        return 0;
    }
    let held_by = |hit: &Hit| {
        let words = format!("{} {}", hit.title(), hit.passage.text);
        phrases.iter().filter(|phrase| phrase.is_in(&words)).count()
    };
    let mut counted: Vec<(usize, Hit)> = hits.drain(..).map(|hit| (held_by(&hit), hit)).collect();
    counted.sort_by_key(|(held, _)| std::cmp::Reverse(*held));
    let holding = counted.iter().filter(|(held, _)| *held > 0).count();
    hits.extend(counted.into_iter().map(|(_, hit)| hit));
    holding
}

/// Number of the best passages that are grouped at first. It exceeds the number of results, because some are duplicates
/// or neighbours of others. Duplicates have nearly equal scores and are close together in the ranking.
fn places(query: &RetrievalQuery<'_>) -> usize {
    let spare = if query.stages.grouping.is_none() { 0 } else { query.top_k / 2 + 2 };
    (query.top_k + spare).max(1)
}

/// Number of passages that are read at first: those that the reranker scores; for a query with a quotation, all that
/// were found.
fn first_fetch(query: &RetrievalQuery<'_>, phrases: &[Phrase], fetch_k: usize) -> usize {
    if !phrases.is_empty() {
        return usize::MAX;
    }
    let reranked = if query.stages.rerank { fetch_k } else { 0 };
    places(query).max(reranked)
}

fn ranked(hits: &[Hit]) -> Vec<Ranked<'_>> {
    hits.iter()
        .map(|hit| Ranked {
            key: hit.passage.key,
            last_ordinal: hit.last_ordinal,
            heading: &hit.passage.heading,
            table_header: hit.passage.table_header.as_deref(),
            text: &hit.passage.text,
        })
        .collect()
}

fn stretches<'h>(members: &[&'h Hit]) -> Vec<Stretch<'h>> {
    members
        .iter()
        .map(|hit| {
            let passage = &hit.passage;
            Stretch { start: passage.start_char, end: passage.end_char, text: &passage.text }
        })
        .collect()
}

fn gaps_between(members: &[&Hit]) -> Vec<TextRange> {
    let Some(first) = members.first() else { return Vec::new() };
    let (document_id, version) = (first.passage.key.document_id, first.passage.version);
    gaps(&stretches(members)).into_iter().map(|range| TextRange { document_id, version, range }).collect()
}

/// The leader's scores over the text of all members. `None` if there is nothing to merge.
fn merged(leader: &Hit, members: &[&Hit], gap_texts: &[String]) -> Option<Hit> {
    let (first, last) = (members.first()?, members.last()?);
    if members.len() < 2 || members.iter().any(|hit| hit.passage.version != leader.passage.version) {
        return None;
    }
    let text = join(&stretches(members), gap_texts)?;
    let end_char = members.iter().map(|hit| hit.passage.end_char).max()?;
    let page_of = |hit: &&&Hit| Some((hit.passage.start_char, hit.passage.page?));
    let later_pages = members.iter().skip(1).filter_map(|hit| page_of(&hit)).collect();
    let passage = Passage { later_pages, text, end_char, ..Passage::clone(&first.passage) };
    Some(Hit { passage: Arc::new(passage), last_ordinal: last.last_ordinal, ..leader.clone() })
}
