//! Embedding profiles and their vector indexes.

use sqlx::{AssertSqlSafe, Executor, PgConnection};

use crate::domain::identity::EmbeddingProfile;
use crate::store::StoreError;

/// Number of a profile in this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfileId(pub i32);

/// Most rows that [`nearest_chunks`] returns: pgvector's largest `hnsw.ef_search`.
pub(in crate::store) const NEAREST_LIMIT: i64 = 1_000;

/// Largest dimension that pgvector can index as `halfvec`.
const MAX_DIMENSION: usize = 4_000;

/// Finds or registers a profile and makes sure that it has its HNSW index: a partial index over the
/// profile's rows, because vectors of other profiles have other dimensions.
pub(in crate::store) async fn ensure(
    connection: &mut PgConnection,
    profile: &EmbeddingProfile,
) -> Result<ProfileId, StoreError> {
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
    // Two services that start together would race to create the index and the function; the lock ends with the
    // transaction.
    let index = format!(
        "BEGIN; SELECT pg_advisory_xact_lock(20000 + {id}); \
         CREATE INDEX IF NOT EXISTS chunk_embedding_hnsw_{id} ON chunk_embedding \
         USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) WHERE profile_id = {id}; {}; COMMIT",
        nearest_chunks(id, dimension)
    );
    connection.execute(sqlx::raw_sql(AssertSqlSafe(index))).await?;
    Ok(ProfileId(id))
}

/// Returns the name of the [`nearest_chunks`] function for a profile.
pub(in crate::store) fn nearest_chunks_name(profile: ProfileId) -> String {
    format!("nearest_chunks_{}", profile.0)
}

/// Returns the SQL of a function for the usual vector search, the one without a filter. Like the read functions in the
/// migrations, it sets the tenant itself and reads only the rows that the policies then allow. Profile and dimension
/// are literals in its text, which is how the planner recognises the partial index, and its plan is cached. Sorting is
/// off because a fresh table has no statistics, and the planner would assume a table so small that comparing all its
/// vectors looks cheapest.
fn nearest_chunks(id: i32, dimension: i32) -> String {
    let name = nearest_chunks_name(ProfileId(id));
    let distance = format!("(e.embedding::halfvec({dimension})) <=> query");
    format!(
        "CREATE OR REPLACE FUNCTION {name}(in_tenant uuid, in_indexes uuid[], query halfvec, max_rows integer, ef_search integer) \
         RETURNS TABLE (document_id uuid, ordinal integer, similarity double precision) LANGUAGE plpgsql VOLATILE \
         SET enable_sort = off SET plan_cache_mode = force_generic_plan AS $$ \
         BEGIN \
             PERFORM set_config('cited.tenant', in_tenant::text, true), \
                     set_config('hnsw.ef_search', ef_search::text, true); \
             RETURN QUERY SELECT e.document_id, e.ordinal, 1 - ({distance}) FROM chunk_embedding e \
                 WHERE e.profile_id = {id} AND e.index_id = ANY (in_indexes) \
                 ORDER BY {distance} LIMIT max_rows; \
         END $$; \
         REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC; \
         GRANT EXECUTE ON FUNCTION {name} TO cited_app"
    )
}
