//! Embedding profiles: the vector spaces of this database.

use sqlx::PgConnection;

use crate::domain::identity::EmbeddingProfile;
use crate::store::StoreError;

/// Number of a profile in this database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProfileId(pub i32);

/// Largest dimension that pgvector can index as `halfvec`.
const MAX_DIMENSION: usize = 4_000;

/// Finds or registers a profile.
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
    Ok(ProfileId(id))
}
