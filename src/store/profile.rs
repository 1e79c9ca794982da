//! Embedding profiles and their vector indexes.

use sqlx::{AssertSqlSafe, Executor, PgConnection};

use super::StoreError;
use crate::domain::identity::EmbeddingProfile;

/// Number of a profile in this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfileId(pub i32);

/// Largest dimension that pgvector can index as `halfvec`.
const MAX_DIMENSION: usize = 4_000;

/// Finds or registers a profile and makes sure that it has its HNSW index: a partial index over the
/// profile's rows, because vectors of other profiles have other dimensions.
pub(super) async fn ensure(connection: &mut PgConnection, profile: &EmbeddingProfile) -> Result<ProfileId, StoreError> {
    let dimension = i32::try_from(profile.dimension)
        .ok()
        .filter(|_| (1..=MAX_DIMENSION).contains(&profile.dimension))
        .ok_or_else(|| {
            StoreError::Unsuitable(format!(
                "embedding model {} has {} dimensions; at most {MAX_DIMENSION} can be indexed",
                profile.model, profile.dimension
            ))
        })?;
    sqlx::query!(
        "INSERT INTO embedding_profile (model, dimension, distance) VALUES ($1, $2, $3)
         ON CONFLICT ON CONSTRAINT embedding_profile_space DO NOTHING",
        profile.model,
        dimension,
        EmbeddingProfile::DISTANCE,
    )
    .execute(&mut *connection)
    .await?;
    let id = sqlx::query_scalar!(
        "SELECT profile_id FROM embedding_profile WHERE model = $1 AND dimension = $2 AND distance = $3",
        profile.model,
        dimension,
        EmbeddingProfile::DISTANCE,
    )
    .fetch_one(&mut *connection)
    .await?;
    // Two services that start together would race for the index; the lock ends with the transaction.
    let index = format!(
        "BEGIN; SELECT pg_advisory_xact_lock(20000 + {id}); \
         CREATE INDEX IF NOT EXISTS chunk_embedding_hnsw_{id} ON chunk_embedding \
         USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) WHERE profile_id = {id}; COMMIT"
    );
    connection.execute(sqlx::raw_sql(AssertSqlSafe(index))).await?;
    Ok(ProfileId(id))
}
