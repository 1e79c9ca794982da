//! Whether collections and topics are found beside larger ones: recall of dense search against comparing every vector
//! that may be found, by the service and by one graph over all vectors, before and after a fifth was replaced.

use std::{path::Path, time::Instant};

use hyper::Method;
use pgvector::HalfVector;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    indexes::run as run_sql,
    superuser,
    truth::{RESULTS, half_alone, reaching, recall_of, scores_of},
};
use crate::{
    SEED,
    asks::percentile_ms,
    client::Client,
    corpus::{Paragraph, Writing},
    ingest::{self, COLLECTION},
    progress,
    random::Random,
    service::Service,
    vectors::{DIMENSION, Vectors},
};

/// Chunks of the smallest collection, of a small one and of the topic.
const TINY: usize = 30;
const SMALL: usize = 300;
/// Small collections of the tenant that has many.
const MANY: usize = 100;
/// Most collections that one search takes.
const TOGETHER: usize = 32;
/// Questions of each case.
const QUESTIONS: usize = 100;
/// Words of the topic, and of one of its passages and questions.
const TOPIC_WORDS: usize = 40;
const PASSAGE_WORDS: usize = 60;
const QUESTION_WORDS: usize = 5;
/// One of so many documents is replaced.
const REPLACED: usize = 5;

/// How one case was answered.
pub struct Answered {
    pub recall: f64,
    pub p50_ms: f64,
    /// CPU seconds of the database for 1,000 searches.
    pub database_cpu_s: f64,
}

/// A case, and how it was answered.
pub struct Neighbourhood {
    pub case: &'static str,
    pub service: Answered,
    pub one_graph: Answered,
    pub service_replaced: Answered,
    pub one_graph_replaced: Answered,
}

struct Case {
    name: &'static str,
    collections: Vec<String>,
    questions: Vec<String>,
}

/// Measures every case beside a large collection that is stored already.
pub async fn run(service: &Service, data_dir: &Path, chunks: usize) -> anyhow::Result<Vec<Neighbourhood>> {
    progress(&format!("{chunks} chunks: the neighbours"));
    let cases = store_neighbours(service, chunks).await?;
    let mut database = superuser(data_dir).await?;
    let (service_before, graph_before) = measure(service, &mut database, &cases).await?;
    progress(&format!("{chunks} chunks: a fifth is replaced"));
    let others = Writing::new(chunks, SEED + 1).step_by(REPLACED).map(|written| written.paragraph);
    for part in others.collect::<Vec<_>>().chunks(20_000) {
        ingest::run(service, COLLECTION, part).await?;
    }
    let (service_after, graph_after) = measure(service, &mut database, &cases).await?;
    let answered = service_before.into_iter().zip(graph_before).zip(service_after.into_iter().zip(graph_after));
    Ok(cases
        .iter()
        .zip(answered)
        .map(|(case, ((service, one_graph), (service_replaced, one_graph_replaced)))| Neighbourhood {
            case: case.name,
            service,
            one_graph,
            service_replaced,
            one_graph_replaced,
        })
        .collect())
}

/// Stores the small collections and, in the large one, the passages of the topic; returns what is asked of them.
async fn store_neighbours(service: &Service, chunks: usize) -> anyhow::Result<Vec<Case>> {
    let mut random = Random::new(SEED);
    let words: Vec<String> = (0..TOPIC_WORDS).map(|number| format!("subject{number:02}")).collect();
    let mut draw =
        |count: usize| (0..count).map(|_| words[random.below(TOPIC_WORDS)].as_str()).collect::<Vec<_>>().join(" ");
    let topic: Vec<Paragraph> = (0..SMALL)
        .map(|number| Paragraph {
            source: format!("topic-{number}.txt"),
            title: format!("Topic {number}"),
            text: format!("{}.", draw(PASSAGE_WORDS)),
            media_type: "text/plain",
        })
        .collect();
    let of_topic: Vec<String> = (0..QUESTIONS).map(|_| draw(QUESTION_WORDS)).collect();
    ingest::run(service, COLLECTION, &topic).await?;
    let mut writing = Writing::new(TINY + SMALL * (MANY + 1), SEED + 2);
    let mut asked = Vec::new();
    let mut names = Vec::new();
    for number in 0..MANY + 2 {
        let (name, count) = if number == 0 { ("tiny".to_owned(), TINY) } else { (format!("small-{number}"), SMALL) };
        let written: Vec<_> = writing.by_ref().take(count).collect();
        asked.push(written.iter().map(|written| writing.question(&written.asked[0])).collect::<Vec<_>>());
        let paragraphs: Vec<Paragraph> = written.into_iter().map(|written| written.paragraph).collect();
        ingest::run(service, &name, &paragraphs).await?;
        names.push(name);
    }
    let of = |number: usize| asked[number].iter().cycle().take(QUESTIONS).cloned().collect::<Vec<_>>();
    let beside = |name: &str| vec![name.to_owned(), COLLECTION.to_owned()];
    let large = Writing::new(chunks, SEED);
    let of_all = (0..QUESTIONS).map(|number| asked[2 + number % TOGETHER][number].clone()).collect();
    let first: Vec<Vec<usize>> =
        Writing::new(chunks, SEED).take(QUESTIONS).map(|written| written.asked[0].clone()).collect();
    let of_large: Vec<String> = first.iter().map(|words| large.question(words)).collect();
    let case = |name, collections, questions| Case { name, collections, questions };
    Ok(vec![
        case("the 30 alone", vec!["tiny".to_owned()], of(0)),
        case("the 30 beside the large one", beside("tiny"), of(0)),
        case("the 300 alone", vec![names[1].clone()], of(1)),
        case("the 300 beside the large one", beside(&names[1]), of(1)),
        case("300 of a topic of their own in the large one", vec![COLLECTION.to_owned()], of_topic),
        case("the large one alone", vec![COLLECTION.to_owned()], of_large),
        case("one of a hundred of 300", vec![names[2].clone()], of(2)),
        case("32 of the hundred together", names[2..2 + TOGETHER].to_vec(), of_all),
    ])
}

/// Each case by the service, then by one graph over all vectors.
async fn measure(
    service: &Service,
    database: &mut PgConnection,
    cases: &[Case],
) -> anyhow::Result<(Vec<Answered>, Vec<Answered>)> {
    let (mut by_service, mut by_graph, mut tenths) = (Vec::new(), Vec::new(), Vec::new());
    for case in cases {
        let exact = exact(database, case).await?;
        by_service.push(ask(service, case, &exact).await?);
        tenths.push(exact);
    }
    // Only now: the service must not walk it.
    let vectors = count(database).await?;
    run_sql(
        database,
        format!(
            "SET maintenance_work_mem = '4GB'; SET max_parallel_maintenance_workers = 2;
         CREATE INDEX one_graph ON chunk_embedding USING hnsw ((embedding::halfvec({DIMENSION})) halfvec_cosine_ops);
         SET enable_sort = off; SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = {}",
            ef_search(vectors)
        ),
    )
    .await?;
    for (case, exact) in cases.iter().zip(&tenths) {
        by_graph.push(walk(service, database, case, exact).await?);
    }
    run_sql(database, "RESET enable_sort; DROP INDEX one_graph".to_owned()).await?;
    Ok((by_service, by_graph))
}

/// 50 candidates for 10,000 vectors and twice as many for ten times as many, as one graph was walked.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "50 to 1,000")]
fn ef_search(vectors: i64) -> u32 {
    (50.0 * 2_f64.powf((vectors as f64 / 10_000.0).log10())).clamp(40.0, 1_000.0) as u32
}

async fn count(database: &mut PgConnection) -> anyhow::Result<i64> {
    Ok(sqlx::query_scalar("SELECT count(*) FROM chunk_embedding").fetch_one(database).await?)
}

/// The cosine of the tenth nearest of all vectors that may be found, for each question.
async fn exact(database: &mut PgConnection, case: &Case) -> anyhow::Result<Vec<f64>> {
    run_sql(database, "SET enable_indexscan = off; SET max_parallel_workers_per_gather = 2".to_owned()).await?;
    let indexes = indexes(database, case).await?;
    let vectors = Vectors::new();
    let mut tenths = Vec::with_capacity(case.questions.len());
    for question in &case.questions {
        let found = nearest(database, &indexes, &vectors.unit(question)).await?;
        tenths.push(found.last().copied().unwrap_or_default());
    }
    run_sql(database, "RESET enable_indexscan".to_owned()).await?;
    Ok(tenths)
}

async fn indexes(database: &mut PgConnection, case: &Case) -> anyhow::Result<Vec<Uuid>> {
    Ok(sqlx::query_scalar("SELECT index_id FROM collection WHERE name = ANY ($1)")
        .bind(&case.collections)
        .fetch_all(database)
        .await?)
}

/// Cosines of the nearest vectors of these indexes.
async fn nearest(database: &mut PgConnection, indexes: &[Uuid], vector: &[f32]) -> anyhow::Result<Vec<f64>> {
    let statement = format!(
        "SELECT 1 - (embedding::halfvec({DIMENSION}) <=> $1) FROM chunk_embedding WHERE index_id = ANY ($2)
         ORDER BY embedding::halfvec({DIMENSION}) <=> $1 LIMIT {RESULTS}"
    );
    Ok(sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
        .bind(HalfVector::from_f32_slice(vector))
        .bind(indexes)
        .fetch_all(database)
        .await?)
}

/// Asks twice; the first round only brings pages into memory and prepares statements.
async fn ask(service: &Service, case: &Case, tenths: &[f64]) -> anyhow::Result<Answered> {
    let mut client = Client::connect(service.address).await?;
    let mut tally = Tally::default();
    for _ in 0..2 {
        tally = Tally { database_cpu_s: service.cpu_seconds()?.1, ..Tally::default() };
        for (question, tenth) in case.questions.iter().zip(tenths) {
            let mut body = half_alone(question, "dense");
            body["collections"] = case.collections.clone().into();
            let started = Instant::now();
            let reply = client.json(Method::POST, "/v1/search", Some(&body)).await?;
            tally.latencies.push(started.elapsed());
            tally.found += reaching(&scores_of(&reply, "dense"), *tenth);
        }
    }
    tally.sum(service)
}

async fn walk(service: &Service, database: &mut PgConnection, case: &Case, tenths: &[f64]) -> anyhow::Result<Answered> {
    let indexes = indexes(database, case).await?;
    let vectors = Vectors::new();
    let mut tally = Tally::default();
    for _ in 0..2 {
        tally = Tally { database_cpu_s: service.cpu_seconds()?.1, ..Tally::default() };
        for (question, tenth) in case.questions.iter().zip(tenths) {
            let vector = vectors.unit(question);
            let started = Instant::now();
            let scores = nearest(database, &indexes, &vector).await?;
            tally.latencies.push(started.elapsed());
            tally.found += reaching(&scores, *tenth);
        }
    }
    tally.sum(service)
}

#[derive(Default)]
struct Tally {
    found: usize,
    latencies: Vec<std::time::Duration>,
    /// CPU seconds of the database before the round.
    database_cpu_s: f64,
}

impl Tally {
    fn sum(mut self, service: &Service) -> anyhow::Result<Answered> {
        self.latencies.sort_unstable();
        let searches = self.latencies.len();
        #[expect(clippy::cast_precision_loss, reason = "a hundred")]
        let thousands = searches as f64 / 1_000.0;
        Ok(Answered {
            recall: recall_of(self.found, searches),
            p50_ms: percentile_ms(&self.latencies, 0.5),
            database_cpu_s: (service.cpu_seconds()?.1 - self.database_cpu_s) / thousands,
        })
    }
}
