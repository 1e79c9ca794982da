//! Retrieval for the planned question and for a rewritten query, and selection of the sources to answer from.

use std::sync::Arc;

use futures::future::try_join_all;
use uuid::Uuid;

use super::{
    AskError, GradedHit, MOST_PASSAGES,
    context::AskContext,
    grade,
    record::{RoundTrace, Stage},
    state::PlannedRetrieval,
    sub_questions::SubQuestions,
};
use crate::{
    domain::{
        answering::asks_over_rows,
        conversation::Rarity,
        corrective::Grade,
        evidence::Question,
        filter::Filter,
        grouping::Grouping,
        identity::ChunkKey,
        late_interaction::Likeness,
        lexical::analyzer::Analyzer,
        planning::{Plan, Strategy},
        release_notes,
    },
    service::{
        ServiceError,
        retrieval::{GroupedHit, Hit, RetrievalQuery, Retrieved, Stages, Whole, judging_analyzer},
    },
    store::SearchedCollection,
};

/// Factor by which a broad search examines more passages than usual.
const BREADTH: usize = 2;
/// Best passages of a sub-question that a model is shown, whatever the calibrated grades say of them.
const JUDGED_OF_PART: usize = 3;
/// Best sources of which each may be a part of what is wanted whole.
const SEARCHED_FOR_WHOLE: usize = 3;

/// The collections that an ask searches.
pub(super) struct Corpus {
    collections: Vec<SearchedCollection>,
    /// The filter of the request, bound to what the caller may see.
    pub(super) filter: Filter,
    /// Whether the web may be searched for what the collections lack.
    pub(super) may_search_web: bool,
    /// Extracts terms from texts, in the language of the collections.
    pub(super) analyzer: &'static Analyzer,
}

impl Corpus {
    /// How rare the words of a text are in it.
    ///
    /// # Errors
    /// When the database fails.
    pub(super) async fn rarity(&self, ask: &AskContext, text: &str) -> Result<Rarity, AskError> {
        Ok(ask.services.retriever.rarity(&query_for(ask, self, text, ask.request.top_k)).await?)
    }
}

/// Looks up the collections that the request names.
///
/// # Errors
/// When one does not exist, or the database fails.
pub(super) async fn find_corpus(ask: &AskContext) -> Result<Corpus, AskError> {
    let (grant, request) = (&ask.caller.grant, &ask.request);
    let (collections, filter) = ask.services.retriever.bind(grant, &request.collections, &request.filter).await?;
    let analyzer = judging_analyzer(&collections);
    let may_search_web = ask.wants_web() && allow_web_search(ask, &collections).await?;
    Ok(Corpus { collections, filter, may_search_web, analyzer })
}

async fn allow_web_search(ask: &AskContext, collections: &[SearchedCollection]) -> Result<bool, AskError> {
    let ids: Vec<Uuid> = collections.iter().map(|searched| searched.collection.id).collect();
    let tenant = ask.caller.grant.tenant();
    let allowed = ask.services.store.collections().all_allow_web_search(tenant, &ids).await;
    Ok(allowed.map_err(ServiceError::from)?)
}

/// Finds passages for a query.
///
/// # Errors
/// Those of the retriever.
#[tracing::instrument(target = "cited::trace", skip_all)]
pub(super) async fn retrieve(ask: &AskContext, corpus: &Corpus, query: &str) -> Result<Retrieved, AskError> {
    ask.record.enter(Stage::Retrieve);
    let query = query_for(ask, corpus, query, ask.request.top_k);
    Ok(ask.services.retriever.retrieve(&query, &ask.budget).await?)
}

/// Finds passages for the question that are farther than those that are answered from, unranked.
///
/// # Errors
/// Those of the retriever.
pub(super) async fn farther(ask: &AskContext, corpus: &Corpus) -> Result<Retrieved, AskError> {
    let query = query_for(ask, corpus, ask.asked(), MOST_PASSAGES);
    let stages = Stages { rerank: false, ..query.stages };
    Ok(ask.services.retriever.retrieve(&RetrievalQuery { stages, ..query }, &ask.budget).await?)
}

/// Finds passages for the question in the documents that a filter admits.
///
/// # Errors
/// Those of the retriever.
pub(super) async fn retrieve_within(
    ask: &AskContext,
    corpus: &Corpus,
    filter: &Filter,
    top_k: usize,
) -> Result<Retrieved, AskError> {
    let other_wording = ask.other_wording();
    let query = RetrievalQuery { other_wording, filter, ..query_for(ask, corpus, ask.asked(), top_k) };
    Ok(ask.services.retriever.retrieve(&query, &ask.budget).await?)
}

/// The document whose passage is nearest to a text.
///
/// # Errors
/// Those of the retriever.
pub(super) async fn document_of(ask: &AskContext, corpus: &Corpus, text: &str) -> Result<Option<Uuid>, AskError> {
    let found = ask.services.retriever.retrieve(&query_for(ask, corpus, text, 1), &ask.budget).await?;
    Ok(found.hits.first().map(|hit| hit.passage.key.document_id))
}

/// Finds passages for the question and, concurrently, for the additional queries of the plan.
///
/// # Errors
/// Those of the retriever.
#[tracing::instrument(target = "cited::trace", name = "retrieve", skip_all)]
pub(super) async fn retrieve_as_planned(
    ask: &AskContext,
    corpus: &Corpus,
    plan: &Plan,
) -> Result<PlannedRetrieval, AskError> {
    ask.record.enter(Stage::Retrieve);
    let (retriever, usual) = (&ask.services.retriever, ask.request.top_k);
    let top_k = match plan.strategy {
        Strategy::BroadThenRerank => (usual * BREADTH).min(MOST_PASSAGES).max(usual),
        Strategy::Direct | Strategy::Rewrite | Strategy::Decompose => usual,
    };
    let other_wording = ask.other_wording();
    let whole = RetrievalQuery { other_wording, ..query_for(ask, corpus, ask.asked(), top_k) };
    let parts: Vec<_> = plan.sub_questions.iter().map(|text| query_for(ask, corpus, text, usual)).collect();
    let (mut found, others) = tokio::try_join!(
        retriever.retrieve(&whole, &ask.budget),
        try_join_all(parts.iter().map(|part| retriever.retrieve(part, &ask.budget))),
    )?;
    let (mut sub_questions, mut rounds) = (SubQuestions::default(), Vec::new());
    for (position, (text, other)) in plan.sub_questions.iter().zip(others).enumerate() {
        let question = other.weigh(corpus.analyzer, text);
        let graded = grade::built_in(corpus.analyzer, &question, &other);
        let graded_hits = other.hits.iter().cloned().zip(graded.verdicts);
        let hits: Vec<GradedHit> = graded_hits.map(|(hit, verdict)| GradedHit::built_in(hit, verdict)).collect();
        rounds.push(RoundTrace::of(text, &other, &hits, graded.answerability));
        sub_questions.add(position, question, &hits);
        // For a sub-question only passages that may answer it are added: the others would be padding.
        let is_wanted = |(rank, hit): &(usize, Hit)| {
            plan.strategy == Strategy::Rewrite
                || sub_questions.are_answered_by(hit)
                || (ask.models.grade.is_some() && *rank < JUDGED_OF_PART)
        };
        add(&mut found, other.hits.into_iter().enumerate().filter(is_wanted).map(|(_, hit)| hit));
    }
    Ok(PlannedRetrieval { found, sub_questions, rounds })
}

/// Adds passages that were not found before.
pub(super) fn add(found: &mut Retrieved, hits: impl Iterator<Item = Hit>) {
    for hit in hits {
        if !found.hits.iter().any(|known| known.passage.key == hit.passage.key) {
            found.hits.push(hit);
        }
    }
}

/// Passages are graded as they were indexed; those that are used are merged afterwards.
fn query_for<'q>(ask: &'q AskContext, corpus: &'q Corpus, text: &'q str, top_k: usize) -> RetrievalQuery<'q> {
    let request = &ask.request;
    let grouping = Grouping { merge_neighbours: false, ..request.stages.grouping };
    RetrievalQuery {
        tenant: ask.caller.grant.tenant(),
        collections: &corpus.collections,
        text,
        other_wording: None,
        stages: Stages { grouping, ..request.stages },
        top_k,
        min_score: request.min_score,
        filter: &corpus.filter,
    }
}

/// Groups passages into sources: one for those that duplicate each other or are adjacent.
///
/// # Errors
/// When the database fails.
pub(super) async fn group(ask: &AskContext, chosen: &[GradedHit]) -> Result<Vec<GroupedHit>, AskError> {
    let hits: Vec<Hit> = chosen.iter().map(|graded| graded.hit.clone()).collect();
    let (grouping, limit) = (ask.request.stages.grouping, ask.request.top_k);
    Ok(ask.services.retriever.group(ask.caller.grant.tenant(), &hits, grouping, limit).await?)
}

/// Completes the best source that is a part of a table, if the question is over all rows of one, and the best sources that are
/// release notes, if it is for a change or a version: only the beginning of the notes names that. Other parts of what is completed
/// are no sources of their own then.
///
/// # Errors
/// When the database fails.
pub(super) async fn completed(
    ask: &AskContext,
    question: &Question,
    mut sources: Vec<GradedHit>,
) -> Result<Vec<GradedHit>, AskError> {
    if !may_complete(ask) {
        return Ok(sources);
    }
    if release_notes::is_latest_asked_for(&question.text)
        && let Some(latest) = latest_release(ask, &sources).await?
    {
        return Ok(vec![latest]);
    }
    let mut wants_table = asks_over_rows(question);
    let wants_release = release_notes::are_asked_for(&question.text);
    for place in 0..SEARCHED_FOR_WHOLE {
        let Some(graded) = sources.get(place).filter(|graded| graded.verdict.grade == Grade::Correct) else { break };
        let is_release = wants_release && release_notes::is_of_them(&graded.hit.passage.title);
        let whole = match (is_release, wants_table) {
            (true, _) => Whole::Release,
            (false, true) => Whole::Table,
            (false, false) => continue,
        };
        let found = ask.services.retriever.completed(ask.caller.grant.tenant(), &graded.hit, whole).await?;
        let Some(found) = found else { continue };
        wants_table &= is_release;
        sources = with_completed(sources, place, found);
    }
    Ok(sources)
}

/// Completes the best sources that begin or end within a list, for a model that writes: a step that stands in the chunk beside
/// is a part of the answer. Other parts of what is completed are no sources of their own then.
///
/// # Errors
/// When the database fails.
pub(super) async fn with_whole_lists(
    ask: &AskContext,
    mut sources: Vec<GradedHit>,
) -> Result<Vec<GradedHit>, AskError> {
    if ask.models.generate.is_none() || !may_complete(ask) {
        return Ok(sources);
    }
    for place in 0..SEARCHED_FOR_WHOLE {
        let Some(graded) = sources.get(place) else { break };
        let found = ask.services.retriever.completed(ask.caller.grant.tenant(), &graded.hit, Whole::List).await?;
        if let Some(found) = found {
            sources = with_completed(sources, place, found);
        }
    }
    Ok(sources)
}

/// Whether a source may get what stands beside it.
fn may_complete(ask: &AskContext) -> bool {
    ask.request.stages.grouping.merge_neighbours && ask.request.filter.pages.is_empty()
}

/// The notes of the latest release in place of those of another one, which are the best source.
async fn latest_release(ask: &AskContext, sources: &[GradedHit]) -> Result<Option<GradedHit>, AskError> {
    let is_one = |graded: &&GradedHit| {
        graded.verdict.grade == Grade::Correct && release_notes::is_of_them(&graded.hit.passage.title)
    };
    let Some(graded) = sources.first().filter(is_one) else { return Ok(None) };
    let latest = ask.services.retriever.latest_release(ask.caller.grant.tenant(), &graded.hit).await?;
    Ok(latest.map(|hit| GradedHit { hit, ..graded.clone() }))
}

/// The sources with a completed one in its place, without those that are parts of it.
fn with_completed(sources: Vec<GradedHit>, place: usize, completed: Hit) -> Vec<GradedHit> {
    let parts: Vec<ChunkKey> = completed.keys().collect();
    let is_part = |other: &GradedHit| other.hit.keys().all(|key| parts.contains(&key));
    let mut completed = Some(completed);
    let kept = |(at, graded): (usize, GradedHit)| match completed.take_if(|_| at == place) {
        Some(hit) => Some(GradedHit { hit, ..graded }),
        None => (!is_part(&graded)).then_some(graded),
    };
    sources.into_iter().enumerate().filter_map(kept).collect()
}

/// Assigns to each source the grade of its leading passage.
pub(super) fn with_grades(chosen: &[GradedHit], sources: Vec<GroupedHit>) -> Arc<[GradedHit]> {
    let graded = |GroupedHit { leader, hit }| Some(GradedHit { hit, ..chosen.get(leader)?.clone() });
    sources.into_iter().filter_map(graded).collect()
}

/// How near each text is to the question.
///
/// # Errors
/// When the embedding model fails.
pub(super) async fn likenesses(ask: &AskContext, texts: Vec<String>) -> Result<Vec<Likeness>, AskError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let embedder = &ask.services.embedder;
    let (question, vectors) = tokio::try_join!(
        embedder.query_vectors(ask.asked(), ask.budget.reserve_embedding(0)?),
        embedder.passage_vectors(texts, ask.budget.reserve_embedding(0)?),
    )?;
    Ok(vectors.iter().map(|vectors| Likeness::of(&question, vectors)).collect())
}
