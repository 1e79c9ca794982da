//! Fills a database with as many chunks as asked for, much faster than the service would.

use std::{path::Path, time::Instant};

use anyhow::{Context as _, ensure};
use domain::lexical::{
    analyzer::Analyzer,
    bm25::{TermCounts, document_weights},
    term_id::{MAX_TERM_ID, TermSalt},
};
use pgvector::{HalfVector, SparseVector};
use sqlx::{AssertSqlSafe, PgConnection, Row};
use uuid::Uuid;

use super::{
    facts::Facts,
    indexes::{self, run as run_sql},
    superuser,
};
use crate::{
    SEED,
    corpus::{Paragraph, Writing, Written},
    ingest, progress,
    random::Random,
    service::Service,
    vectors::Vectors,
};

/// Documents that the service stores itself: the pattern for the others.
const PATTERN: usize = 1_000;
const BATCH: usize = 2_000;
/// Distinct questions that are asked in turn while time is measured.
const QUESTIONS: usize = 4_000;
/// Spreads ranks over the documents: a prime, so that no two have the same.
const RANK_STRIDE: usize = 7_919;
/// Ids are like those of the service, version 7: a time that ascends, and random bits.
const FIRST_ID: u128 = 0x019a_0000_0000_7000_8000_0000_0000_0000;
/// Halves and single precision: what is made here and what the service stored differ by less.
const TOLERANCE: f64 = 1e-4;

/// Makes the collection and its indexes. The first `measured` questions are those whose recall is measured.
pub async fn run(service: &Service, data_dir: &Path, chunks: usize, measured: usize) -> anyhow::Result<Facts> {
    ensure!(chunks > PATTERN && chunks >= measured, "a size needs more than {PATTERN} chunks");
    progress(&format!("{chunks} chunks: the first through the service"));
    let mut writing = Writing::new(chunks, SEED);
    let first: Vec<Written> = writing.by_ref().take(PATTERN).collect();
    let paragraphs: Vec<Paragraph> = first.iter().map(|written| written.paragraph.clone()).collect();
    ingest::run(service, ingest::COLLECTION, &paragraphs).await?;
    let mut connection = superuser(data_dir).await?;
    let dropped = indexes::drop_all(&mut connection).await?;
    // Rows are made whole, so that no reference is to be checked; no job is told of them.
    run_sql(&mut connection, "SET session_replication_role = replica".to_owned()).await?;
    let rows = Rows::new(&mut connection, chunks - PATTERN).await?;
    let step = (chunks / QUESTIONS).max(1);
    let mut asked: Vec<Vec<usize>> = Vec::new();
    let mut batch = Batch::default();
    let started = Instant::now();
    progress(&format!("{chunks} chunks: the rest by SQL"));
    for (number, written) in first.into_iter().chain(writing.by_ref()).enumerate() {
        if number % step == 0 {
            asked.push(written.asked[0].clone());
        }
        batch.add(&rows, number, &written.paragraph);
        if number + 1 == PATTERN {
            rows.compare(&mut connection, std::mem::take(&mut batch)).await?;
        } else if batch.ids.len() == BATCH || number + 1 == chunks {
            rows.insert(&mut connection, std::mem::take(&mut batch)).await?;
        }
    }
    rows.count(&mut connection).await?;
    let rows_s = started.elapsed().as_secs_f64();
    let mut index_s = indexes::build_all(&mut connection, &dropped).await?;
    index_s.extend(indexes::build_graph(&mut connection, rows.collection, chunks).await?);
    run_sql(&mut connection, "VACUUM ANALYZE".to_owned()).await?;
    run_sql(&mut connection, "CHECKPOINT".to_owned()).await?;
    let bytes = sizes(&mut connection).await?;
    // Those that are measured are spread over the whole corpus.
    let mut questions: Vec<String> = asked.iter().map(|words| writing.question(words)).collect();
    let stride = (questions.len() / measured.max(1)).max(1);
    let chosen: Vec<String> = questions.iter().step_by(stride).take(measured).cloned().collect();
    questions.retain(|question| !chosen.contains(question));
    questions.splice(0..0, chosen);
    Ok(Facts { collection: rows.collection, rows_s, index_s, bytes, questions, exact: Vec::new() })
}

/// Rows that are to be stored, by column.
#[derive(Default)]
struct Batch {
    ids: Vec<Uuid>,
    sources: Vec<String>,
    titles: Vec<String>,
    texts: Vec<String>,
    ranks: Vec<i32>,
    terms: Vec<String>,
    weights: Vec<SparseVector>,
    vectors: Vec<HalfVector>,
}

impl Batch {
    fn add(&mut self, rows: &Rows, number: usize, paragraph: &Paragraph) {
        let indexed = format!("{}\n{}", paragraph.title, paragraph.text);
        let counts = TermCounts::of_text(Analyzer::english(), rows.salt, &indexed);
        let terms: Vec<String> = counts.ids().map(|id| id.to_string()).collect();
        // Term ids count from 1, the vector's indices in this constructor from 0.
        let weights: Vec<(i32, f32)> =
            document_weights(&counts).into_iter().map(|(id, weight)| (id - 1, weight)).collect();
        let random = u128::from(Random::new(number as u64).bits() >> 2);
        self.ids.push(Uuid::from_u128(FIRST_ID + ((number as u128) << 80) + random));
        self.sources.push(paragraph.source.clone());
        self.titles.push(paragraph.title.clone());
        self.texts.push(paragraph.text.clone());
        self.ranks.push(rows.rank(number));
        self.terms.push(format!("{{{}}}", terms.join(",")));
        self.weights.push(SparseVector::from_map(weights.iter().map(|(id, weight)| (id, weight)), MAX_TERM_ID));
        self.vectors.push(HalfVector::from_f32_slice(&rows.vectors.unit(&indexed)));
    }
}

/// How rows of this collection are made.
struct Rows {
    collection: Uuid,
    /// How many of the documents have a rank to filter by.
    ranked: usize,
    salt: TermSalt,
    vectors: Vectors,
    /// One statement for each table.
    statements: [String; 3],
}

impl Rows {
    /// Takes the collection that the service has begun for a pattern.
    async fn new(connection: &mut PgConnection, ranked: usize) -> anyhow::Result<Self> {
        let collection: Uuid = sqlx::query_scalar("SELECT index_id FROM collection WHERE name = $1")
            .bind(ingest::COLLECTION)
            .fetch_one(&mut *connection)
            .await?;
        let hash = "sha256(convert_to(n.title || n.text, 'UTF8'))";
        let statements = [
            insertion(
                connection,
                "document",
                &[
                    ("document_id", "n.id"),
                    ("source", "n.source"),
                    ("uri", "n.source"),
                    ("content_hash", hash),
                    ("fingerprint", hash),
                    ("title", "n.title"),
                    ("text", "n.text"),
                    ("characters", "length(n.text)"),
                    ("metadata", "jsonb_build_object('rank', n.rank)"),
                    ("chunks", "1"),
                ],
            )
            .await?,
            insertion(
                connection,
                "chunk",
                &[
                    ("document_id", "n.id"),
                    ("ordinal", "0"),
                    ("weights", "n.weights"),
                    ("start_char", "0"),
                    ("end_char", "length(n.text)"),
                    ("text", "n.text"),
                    ("terms", "n.terms::integer[]"),
                ],
            )
            .await?,
            insertion(
                connection,
                "chunk_embedding",
                &[("document_id", "n.id"), ("ordinal", "0"), ("embedding_hash", hash), ("embedding", "n.vector")],
            )
            .await?,
        ];
        Ok(Self { collection, ranked, salt: TermSalt::new(collection.as_bytes()), vectors: Vectors::new(), statements })
    }

    /// A number of its own for each document that is stored by SQL, in no order.
    fn rank(&self, number: usize) -> i32 {
        let place = number.saturating_sub(PATTERN) * RANK_STRIDE % self.ranked;
        i32::try_from(place).unwrap_or(i32::MAX)
    }

    async fn insert(&self, connection: &mut PgConnection, batch: Batch) -> anyhow::Result<()> {
        self.stage(connection, batch).await?;
        for statement in &self.statements {
            run_sql(connection, statement.clone()).await?;
        }
        Ok(())
    }

    async fn stage(&self, connection: &mut PgConnection, batch: Batch) -> anyhow::Result<()> {
        run_sql(
            connection,
            "CREATE TEMPORARY TABLE IF NOT EXISTS staged (id uuid, source text, title text, text text,
                 rank integer, terms text, weights sparsevec, vector halfvec); TRUNCATE staged"
                .to_owned(),
        )
        .await?;
        sqlx::query(
            "INSERT INTO staged SELECT * FROM UNNEST($1::uuid[], $2::text[], $3::text[], $4::text[], $5::integer[],
                 $6::text[], $7::sparsevec[], $8::halfvec[])",
        )
        .bind(batch.ids)
        .bind(batch.sources)
        .bind(batch.titles)
        .bind(batch.texts)
        .bind(batch.ranks)
        .bind(batch.terms)
        .bind(batch.weights)
        .bind(batch.vectors)
        .execute(connection)
        .await?;
        Ok(())
    }

    /// Proves that rows made here are those that the service makes.
    async fn compare(&self, connection: &mut PgConnection, batch: Batch) -> anyhow::Result<()> {
        self.stage(connection, batch).await?;
        let equal: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM staged n
             JOIN document d ON d.source = n.source AND d.title = n.title AND d.text = n.text
             JOIN chunk c ON c.document_id = d.document_id AND c.text = n.text
                 AND c.terms = n.terms::integer[] AND (c.weights <-> n.weights) < $1
             JOIN chunk_embedding e ON e.document_id = d.document_id AND (e.embedding <=> n.vector) < $1",
        )
        .bind(TOLERANCE)
        .fetch_one(connection)
        .await?;
        ensure!(equal == i64::try_from(PATTERN)?, "only {equal} of {PATTERN} rows are as the service stores them");
        Ok(())
    }

    /// The collection's statistics, counted afresh, and its metadata by field.
    async fn count(&self, connection: &mut PgConnection) -> anyhow::Result<()> {
        run_sql(
            connection,
            "SET work_mem = '512MB'; TRUNCATE term_statistic;
             INSERT INTO term_statistic (tenant_id, index_id, term_id, document_frequency)
                 SELECT tenant_id, index_id, term, count(*) FROM chunk, UNNEST(terms) AS term
                 GROUP BY tenant_id, index_id, term;
             UPDATE index_statistic s SET documents = t.chunks, chunks = t.chunks
                 FROM (SELECT count(*) AS chunks FROM chunk) t;
             INSERT INTO document_field (tenant_id, collection_id, document_id, key, number, text)
                 SELECT d.tenant_id, d.collection_id, d.document_id, f.key, f.number, f.text
                 FROM document d CROSS JOIN LATERAL metadata_fields(d.metadata) f"
                .to_owned(),
        )
        .await
    }
}

/// A statement that stores staged rows in a table: given columns as given, all others as in its first row.
async fn insertion(connection: &mut PgConnection, table: &str, given: &[(&str, &str)]) -> anyhow::Result<String> {
    let columns: Vec<String> = sqlx::query_scalar(
        "SELECT column_name::text FROM information_schema.columns
         WHERE table_schema = 'public' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position",
    )
    .bind(table)
    .fetch_all(&mut *connection)
    .await?;
    let value = |column: &String| {
        let known = given.iter().find(|(name, _)| name == column);
        known.map_or_else(|| format!("p.{column}"), |(_, value)| (*value).to_owned())
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let key: String = sqlx::query_scalar(AssertSqlSafe(format!("SELECT min(document_id::text) FROM {table}")))
        .fetch_one(connection)
        .await
        .with_context(|| format!("the service has stored nothing in {table}"))?;
    Ok(format!(
        "INSERT INTO {table} ({}) SELECT {} FROM staged n, {table} p WHERE p.document_id = '{key}'",
        columns.join(", "),
        values.join(", ")
    ))
}

/// Bytes of every table (without indexes) and index of the service.
async fn sizes(connection: &mut PgConnection) -> anyhow::Result<Vec<(String, i64)>> {
    let rows = sqlx::query(
        "SELECT relname::text, CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END
         FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') ORDER BY relname",
    )
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}
