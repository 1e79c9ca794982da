//! Collections: create, find, list and count.

use sqlx::types::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::domain::{
    contextual::Contextual,
    identity::{EmbeddingProfile, TenantId},
    job::Indexing,
    lexical::language::Language,
    security_event::SecurityEvent,
    split::SplitterSettings,
    storage::Growth,
};
use crate::store::{
    Collections, GraphKind, ProfileId, Seen, StoreError,
    access::storage::{own_quotas, settle_growth},
    security_events::record,
};

/// A collection with the fields that every query needs.
#[derive(Clone, Debug)]
pub struct Collection {
    /// Identity.
    pub(crate) id: Uuid,
    /// The selected index: the active one, unless the next one is being built. Also the salt of its term ids.
    pub(crate) index: Uuid,
    /// Name in requests and URNs.
    pub(crate) name: String,
    /// Id of that index's vector space in this database.
    pub(crate) profile_id: ProfileId,
    /// The same vector space, identified by its model.
    pub(crate) profile: EmbeddingProfile,
    /// Language used to stem its words.
    pub(crate) language: Language,
    /// When its documents become searchable, unless a request overrides it.
    pub(crate) indexing: Indexing,
    /// Whether a document of it may have an access control list.
    pub(crate) is_restricted: bool,
    /// When it was created.
    pub(crate) created_at: OffsetDateTime,
}

/// A collection that is about to be searched.
#[derive(Clone, Debug)]
pub(crate) struct SearchedCollection {
    /// The collection.
    pub(crate) collection: Collection,
    /// Number of chunks in it.
    pub(crate) chunks: u64,
    /// Number of those chunks that have a vector.
    pub(crate) embedded_chunks: u64,
    /// How much of it the caller may see.
    pub(crate) seen: Seen,
    /// The graph that its vectors can be searched by a walk through, if it has one.
    pub(crate) graph: Option<GraphKind>,
    /// Another one after each change of what can be found in its index.
    pub(crate) revision: Uuid,
}

/// A collection with its counts.
#[derive(Clone, Debug)]
pub(crate) struct CollectionSummary {
    /// The collection.
    pub(crate) collection: Collection,
    /// Number of documents, each in its current version.
    pub(crate) documents: u64,
    /// Number of chunks of those documents.
    pub(crate) chunks: u64,
    /// Number of those chunks that have a vector.
    pub(crate) embedded_chunks: u64,
    /// Settings that decide how its documents are split and indexed.
    pub(crate) settings: CollectionSettings,
    /// Whether questions to it may be sent to a search engine.
    pub(crate) web_search: bool,
    /// The index next to the active one: either being built, or active earlier.
    pub(crate) next_index: Option<Uuid>,
}

/// A collection to create, unless one with its name exists.
#[derive(Clone, Copy, Debug)]
pub struct NewCollection<'a> {
    /// Identity to create it with.
    pub id: Uuid,
    /// Its name.
    pub name: &'a str,
    /// Its vector space.
    pub profile: ProfileId,
    /// Settings that decide its chunks and terms.
    pub settings: CollectionSettings,
    /// Whether questions to it may be sent to a search engine.
    pub web_search: bool,
    /// The event that records it.
    pub event: &'a SecurityEvent,
}

/// Settings that a collection is created with and keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionSettings {
    /// How its documents are split.
    pub splitter: SplitterSettings,
    /// Language used to stem its words.
    pub language: Language,
    /// How to write the sentences that relate a chunk to its document; `None` writes none.
    pub context: Option<Contextual>,
    /// When its documents become searchable, unless a request overrides it.
    pub indexing: Indexing,
}

struct Row {
    collection_id: Uuid,
    index_id: Uuid,
    name: String,
    language: String,
    profile_id: i32,
    created_at: OffsetDateTime,
    indexing: String,
    is_restricted: bool,
    model: String,
    dimension: i32,
}

impl TryFrom<Row> for Collection {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let unknown = |what: &str| StoreError::Inconsistent(format!("{what} is nothing that this version knows"));
        Ok(Self {
            language: Language::from_code(&row.language).ok_or_else(|| unknown(&row.language))?,
            indexing: Indexing::from_name(&row.indexing).ok_or_else(|| unknown(&row.indexing))?,
            id: row.collection_id,
            is_restricted: row.is_restricted,
            index: row.index_id,
            name: row.name,
            profile_id: ProfileId(row.profile_id),
            profile: EmbeddingProfile { model: row.model, dimension: usize::try_from(row.dimension).unwrap_or(0) },
            created_at: row.created_at,
        })
    }
}

/// Builds the collection from a row that has the columns of [`Row`] among others; each query has its own row type.
macro_rules! collection_of {
    ($row:ident) => {
        Collection::try_from(Row {
            collection_id: $row.collection_id,
            index_id: $row.index_id,
            name: $row.name,
            language: $row.language,
            profile_id: $row.profile_id,
            created_at: $row.created_at,
            indexing: $row.indexing,
            is_restricted: $row.is_restricted,
            model: $row.model,
            dimension: $row.dimension,
        })
    };
}

impl Collections<'_> {
    /// Creates a collection unless one with that name exists; returns `true` if it was created.
    ///
    /// # Errors
    /// [`StoreError::OverQuota`]; any other [`StoreError`].
    pub async fn ensure_collection(
        &self,
        tenant: TenantId,
        new: NewCollection<'_>,
        now: OffsetDateTime,
    ) -> Result<(Collection, bool), StoreError> {
        let NewCollection { id, name, profile, settings, web_search, event } = new;
        let CollectionSettings { splitter, language, indexing, context } = settings;
        if let Some(collection) = self.collection(tenant, name).await? {
            return Ok((collection, false));
        }
        let mut transaction = self.store.begin(tenant).await?;
        // The first index of a collection has the collection's identity.
        let made = sqlx::query!(
            "INSERT INTO collection (tenant_id, collection_id, index_id, name, created_at, language, indexing, web_search)
             VALUES ($1, $2, $2, $3, $4, $5, $6, $7)
             ON CONFLICT ON CONSTRAINT collection_name_unique DO NOTHING",
            tenant.0,
            id,
            name,
            now,
            language.code(),
            indexing.as_str(),
            web_search,
        )
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        if made == 1 {
            sqlx::query!(
                "INSERT INTO collection_index (tenant_id, index_id, collection_id, splitter, context, profile_id, created_at)
                 VALUES ($1, $2, $2, $3, $4, $5, $6)",
                tenant.0,
                id,
                Json(splitter) as Json<SplitterSettings>,
                context.map(Json) as Option<Json<Contextual>>,
                profile.0,
                now,
            )
            .execute(&mut *transaction)
            .await?;
            sqlx::query!("INSERT INTO index_statistic (tenant_id, index_id) VALUES ($1, $2)", tenant.0, id)
                .execute(&mut *transaction)
                .await?;
            record(&mut transaction, event).await?;
            let quotas = own_quotas(&mut transaction, tenant).await?.or(*self.store.quotas);
            let growth = Growth { collections: 1, ..Growth::default() };
            settle_growth(&mut transaction, tenant, quotas, growth).await?;
        }
        transaction.commit().await?;
        let collection = self
            .collection(tenant, name)
            .await?
            .ok_or_else(|| StoreError::Inconsistent(format!("collection {name} vanished while it was made")))?;
        Ok((collection, made == 1))
    }

    /// Returns the collection with that name.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn collection(&self, tenant: TenantId, name: &str) -> Result<Option<Collection>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row = sqlx::query_as!(
            Row,
            "SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing, c.is_restricted, p.model,
                    p.dimension
             FROM collection c JOIN collection_index i USING (tenant_id, index_id) JOIN embedding_profile p USING (profile_id)
             WHERE c.tenant_id = $1 AND c.name = $2",
            tenant.0,
            name,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        row.map(Collection::try_from).transpose()
    }

    /// Returns the collections with these names, in any order; names without a collection are left out.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn find_collections(
        &self,
        tenant: TenantId,
        names: &[String],
    ) -> Result<Vec<SearchedCollection>, StoreError> {
        // The first read of every search.
        self.store.catch_up().await?;
        let mut reading = self.store.first_reading(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT collection_id AS "collection_id!", index_id AS "index_id!", name AS "name!", language AS "language!", profile_id AS "profile_id!",
                      created_at AS "created_at!", indexing AS "indexing!", is_restricted AS "is_restricted!", model AS "model!",
                      dimension AS "dimension!", chunks AS "chunks!", unembedded_chunks AS "unembedded_chunks!",
                      graph, revision AS "revision!"
               FROM find_collections($1, $2)"#,
            tenant.0,
            names,
        )
        .fetch_all(&mut *reading)
        .await?;
        reading.end().await?;
        rows.into_iter()
            .map(|row| {
                let (chunks, bare) = (row.chunks.unsigned_abs(), row.unembedded_chunks.unsigned_abs());
                Ok(SearchedCollection {
                    chunks,
                    embedded_chunks: chunks.saturating_sub(bare),
                    seen: Seen::Uncounted,
                    graph: row.graph.as_deref().map(GraphKind::of_name),
                    revision: row.revision,
                    collection: collection_of!(row)?,
                })
            })
            .collect()
    }

    /// Returns a collection by identity, with the settings for processing its documents.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub async fn collection_by_id(
        &self,
        tenant: TenantId,
        id: Uuid,
    ) -> Result<Option<(Collection, CollectionSettings)>, StoreError> {
        self.collection_with_settings(tenant, Some(id), None).await
    }

    /// Returns the collection of a name, with the settings of its active index.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn collection_by_name(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<(Collection, CollectionSettings)>, StoreError> {
        self.collection_with_settings(tenant, None, Some(name)).await
    }

    async fn collection_with_settings(
        &self,
        tenant: TenantId,
        id: Option<Uuid>,
        name: Option<&str>,
    ) -> Result<Option<(Collection, CollectionSettings)>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let row = sqlx::query!(
            r#"SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing, c.is_restricted, p.model,
                    p.dimension, i.splitter AS "splitter: Json<SplitterSettings>", i.context AS "context: Json<Contextual>"
             FROM collection c JOIN collection_index i USING (tenant_id, index_id) JOIN embedding_profile p USING (profile_id)
             WHERE c.tenant_id = $1 AND (c.collection_id = $2 OR c.name = $3)"#,
            tenant.0,
            id,
            name,
        )
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        row.map(|row| {
            let collection = collection_of!(row)?;
            let context = row.context.map(|context| context.0);
            let (language, indexing) = (collection.language, collection.indexing);
            let settings = CollectionSettings { splitter: row.splitter.0, language, indexing, context };
            Ok((collection, settings))
        })
        .transpose()
    }

    /// Returns up to `limit` collections whose name sorts after `after`, with their counts; or the one named `only`.
    ///
    /// # Errors
    /// Any [`StoreError`].
    pub(crate) async fn collection_summaries(
        &self,
        tenant: TenantId,
        among: Option<&[String]>,
        after: Option<&str>,
        limit: i64,
    ) -> Result<Vec<CollectionSummary>, StoreError> {
        let mut transaction = self.store.begin(tenant).await?;
        let rows = sqlx::query!(
            r#"SELECT c.collection_id, c.index_id, c.name, c.language, i.profile_id, c.created_at, c.indexing, c.is_restricted, p.model,
                      p.dimension, i.splitter AS "splitter: Json<SplitterSettings>", i.context AS "context: Json<Contextual>",
                      c.web_search, COALESCE(s.documents, 0) AS "documents!", COALESCE(s.chunks, 0) AS "chunks!",
                      COALESCE(s.chunks - s.unembedded_chunks, 0) AS "embedded_chunks!",
                      (SELECT n.index_id FROM collection_index n WHERE n.tenant_id = $1 AND n.collection_id = c.collection_id
                           AND n.index_id <> c.index_id) AS next_index
               FROM collection c
               JOIN collection_index i USING (tenant_id, index_id)
               JOIN embedding_profile p USING (profile_id)
               LEFT JOIN index_statistic s USING (tenant_id, index_id)
               WHERE c.tenant_id = $1 AND ($2::text[] IS NULL OR c.name = ANY ($2)) AND ($3::text IS NULL OR c.name > $3)
               ORDER BY c.name LIMIT $4"#,
            tenant.0,
            among,
            after,
            limit,
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter()
            .map(|row| {
                let collection = collection_of!(row)?;
                let context = row.context.map(|context| context.0);
                Ok(CollectionSummary {
                    documents: row.documents.unsigned_abs(),
                    chunks: row.chunks.unsigned_abs(),
                    embedded_chunks: row.embedded_chunks.unsigned_abs(),
                    settings: CollectionSettings {
                        splitter: row.splitter.0,
                        language: collection.language,
                        indexing: collection.indexing,
                        context,
                    },
                    web_search: row.web_search,
                    next_index: row.next_index,
                    collection,
                })
            })
            .collect()
    }
}
