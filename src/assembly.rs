//! Builds the use cases, the worker and the background tasks from the configuration: every dependency is passed in here.

use std::sync::Arc;

use anyhow::Context as _;
use minilm::WordPiece;
use sqlx::postgres::PgConnectOptions;

use crate::{
    app::Background,
    config::{Config, Database},
    http::Services,
    metrics::Metrics,
    providers::{
        BuiltInEmbedder, Embedder,
        chat::{CallRole, ChatModels},
        openai::{EmbeddingSettings, OpenAiEmbedder},
        outbound::{Outbound, Rule},
        reranker::Reranker,
        web_search::WebSearch,
    },
    service::{
        access::{self, AccessService, Pepper},
        ask::{AskParts, AskService},
        audit::AuditService,
        background::Heartbeats,
        check::{CheckParts, CheckService},
        citations::CitationService,
        collections::CollectionService,
        context::Context,
        daily_budget::DailyBudget,
        documents::DocumentService,
        embedders::{Embedders, Space},
        erasures::ErasureService,
        granted::{UseCaseParts, UseCases},
        indexes::IndexService,
        ingest::{
            Acceptance, ContextWriter, IngestParts, IngestService, Notifier, Processor, Signal, Webhooks, Worker,
        },
        measurements::Measurements,
        quotas::Quotas,
        readiness::Readiness,
        retrieval::Retriever,
        search::SearchService,
        security_record::{SealKey, SecurityRecord},
        sweep::Sweeper,
        vector_graphs::GraphKeeper,
    },
    store::Store,
};

/// The components that several use cases share, and the settings of all.
pub(crate) struct Assembly<'a> {
    config: &'a Config,
    context: Context,
    store: Store,
    embedders: Embedders,
    models: Arc<ChatModels>,
    fetches: Arc<Outbound>,
    webhooks: Option<Webhooks>,
    quotas: Quotas,
    web: Option<Arc<WebSearch>>,
    retriever: Retriever,
    daily_budget: DailyBudget,
    signal: Arc<Signal>,
    heartbeats: Heartbeats,
    access: AccessService,
    security_record: SecurityRecord,
    metrics: Metrics,
}

impl<'a> Assembly<'a> {
    /// Builds the shared components.
    ///
    /// # Errors
    /// If a component cannot be built from its settings; the error describes how to resolve it.
    pub(crate) fn new(
        config: &'a Config,
        context: Context,
        store: Store,
        embedders: Embedders,
        metrics: Metrics,
    ) -> anyhow::Result<Self> {
        let access = access_settings(config)?;
        let seal_key = SealKey::new(access.pepper.as_ref());
        let reranker = |endpoint| Reranker::new(endpoint, metrics.calls_as("rerank"));
        let reranker = config.reranker.clone().map(reranker).transpose()?;
        let outbound = |rule: &Rule| anyhow::Ok(Arc::new(Outbound::new(rule.clone(), config.outbound.timeout)?));
        let webhooks = |secret| anyhow::Ok(Webhooks::new(outbound(&config.outbound.webhooks)?, secret));
        Ok(Self {
            models: Arc::new(ChatModels::new(&config.chat, Arc::new(WordPiece::load()?), metrics.clone())?),
            fetches: outbound(&config.outbound.fetches)?,
            webhooks: config.webhook_secret.clone().map(webhooks).transpose()?,
            web: config.web_search.clone().map(WebSearch::new).transpose()?.map(Arc::new),
            retriever: Retriever::new(store.clone(), embedders.clone(), reranker, config.retrieval),
            daily_budget: DailyBudget::new(store.clone(), config.ask.daily_cost),
            signal: Arc::new(Signal::default()),
            heartbeats: Heartbeats::default(),
            quotas: Quotas::new(store.clone(), config.quotas, context.clone()),
            access: AccessService::new(store.clone(), &access, context.clone())?,
            security_record: SecurityRecord::new(store.clone(), seal_key, context.clone()),
            config,
            context,
            store,
            embedders,
            metrics,
        })
    }

    /// The services behind the routes.
    pub(crate) fn services(&self, ingest: &IngestService) -> Services {
        Services {
            access: self.access.clone(),
            use_cases: UseCases::new(self.use_cases(ingest)),
            security_record: self.security_record.clone(),
            readiness: Readiness::new(self.store.clone(), self.heartbeats.clone(), self.context.clone()),
            measurements: self.measurements(),
        }
    }

    fn measurements(&self) -> Measurements {
        Measurements::new(self.store.clone(), self.heartbeats.clone(), self.metrics.clone())
    }

    fn use_cases(&self, ingest: &IngestService) -> UseCaseParts {
        let Self { config, context, store, .. } = self;
        let defaults = config.ingest.collection_defaults();
        let writes_contexts = self.models.chain(CallRole::Context, &[]).is_some();
        let (profile, _) = self.embedders.primary();
        UseCaseParts {
            access: self.access.clone(),
            security_record: self.security_record.clone(),
            ask: self.ask(),
            check: self.check(),
            search: SearchService::new(self.retriever.clone()),
            audit: AuditService::new(store.clone()),
            citations: CitationService::new(store.clone()),
            ingest: ingest.clone(),
            erasures: ErasureService::new(store.clone(), config.retention, context.clone()),
            documents: DocumentService::new(store.clone(), context.clone()),
            collections: CollectionService::new(store.clone(), profile, defaults, writes_contexts, context.clone()),
            indexes: IndexService::new(
                store.clone(),
                self.embedders.clone(),
                writes_contexts,
                context.clone(),
                Arc::clone(&self.signal),
            ),
        }
    }

    /// Accepts documents, for requests and for the messages about their jobs.
    pub(crate) fn ingest(&self) -> IngestService {
        let acceptance = Acceptance {
            defaults: self.config.ingest.collection_defaults(),
            limits: self.config.ingest.queue,
            webhooks: self.webhooks.clone(),
            quotas: self.quotas.clone(),
            record: self.security_record.clone(),
        };
        IngestService::new(self.ingest_parts(), acceptance, self.processor(), Arc::clone(&self.signal))
    }

    fn ask(&self) -> AskService {
        AskService::new(AskParts {
            access: self.access.clone(),
            quotas: self.quotas.clone(),
            store: self.store.clone(),
            retriever: self.retriever.clone(),
            embedder: Arc::clone(self.embedders.primary().1),
            models: Arc::clone(&self.models),
            instructions: self.config.instructions.clone(),
            web: self.web.clone(),
            settings: self.config.ask.clone(),
            daily_budget: self.daily_budget.clone(),
            context: self.context.clone(),
            metrics: self.metrics.clone(),
        })
    }

    fn check(&self) -> CheckService {
        CheckService::new(CheckParts {
            access: self.access.clone(),
            quotas: self.quotas.clone(),
            retriever: self.retriever.clone(),
            citations: CitationService::new(self.store.clone()),
            models: Arc::clone(&self.models),
            instructions: self.config.instructions.clone(),
            settings: self.config.ask.clone(),
            daily_budget: self.daily_budget.clone(),
            context: self.context.clone(),
        })
    }

    fn ingest_parts(&self) -> IngestParts {
        IngestParts { store: self.store.clone(), embedders: self.embedders.clone(), context: self.context.clone() }
    }

    /// A worker on the queue.
    pub(crate) fn worker(&self) -> Worker {
        Worker::new(self.processor(), self.heartbeats.clone())
    }

    fn processor(&self) -> Processor {
        let writer = ContextWriter::new(
            self.context.clone(),
            self.models.chain(CallRole::Context, &[]),
            self.config.instructions.of(CallRole::Context).cloned(),
            self.config.ingest.contexts,
            self.daily_budget.clone(),
        );
        Processor::new(
            self.ingest_parts(),
            Arc::clone(&self.fetches),
            writer,
            self.config.ingest.clone(),
            Arc::clone(&self.signal),
        )
    }

    /// The tasks that run in the background.
    pub(crate) fn background(&self, ingest: &IngestService) -> Background {
        let notifier = |webhooks| Notifier::new(ingest.clone(), webhooks);
        Background {
            notifier: self.webhooks.clone().map(notifier),
            sweeper: Sweeper::new(
                self.store.clone(),
                self.context.clone(),
                self.security_record.clone(),
                self.config.retention,
            ),
            security_record: self.security_record.clone(),
            graphs: GraphKeeper::new(self.store.clone(), self.config.vector_graphs),
            heartbeats: self.heartbeats.clone(),
        }
    }

    /// Releases everything but the store.
    pub(crate) fn into_store(self) -> Store {
        self.store
    }
}

/// The keys of the configuration. An embedded database keeps a pepper beside it, so that nobody needs to set one.
fn access_settings(config: &Config) -> anyhow::Result<access::Settings> {
    let mut settings = config.access.clone();
    if let (None, Database::Private(database)) = (&settings.pepper, &config.database) {
        let pepper = Pepper::kept_in(&database.data_dir);
        let failed = || format!("the pepper of the keys cannot be kept in {}", database.data_dir.display());
        settings.pepper = Some(pepper.with_context(failed)?);
    }
    Ok(settings)
}

/// The models of this service, with the vector spaces that the database has for them.
///
/// # Errors
/// If a model cannot be loaded or reached, or the database fails.
pub(crate) async fn open_embedders(
    config: &Config,
    primary: &PgConnectOptions,
    metrics: &Metrics,
) -> anyhow::Result<Embedders> {
    let mut spaces = Vec::new();
    for settings in std::iter::once(&config.embedding).chain(&config.further_embeddings) {
        let embedder = embedder(config, settings.as_ref(), metrics).await?;
        spaces.push(Space { profile: Store::ensure_profile(primary, embedder.profile()).await?, embedder });
    }
    let others = spaces.split_off(1);
    Ok(Embedders::new(spaces.remove(0), others))
}

/// The model configured by these settings; the built-in one if there are none.
async fn embedder(
    config: &Config,
    settings: Option<&EmbeddingSettings>,
    metrics: &Metrics,
) -> anyhow::Result<Arc<dyn Embedder>> {
    match settings {
        None => Ok(Arc::new(BuiltInEmbedder::start(config.embedding_threads)?)),
        Some(settings) => {
            let tokenizer = Arc::new(WordPiece::load()?);
            let meter = metrics.calls_as("embed");
            let connected = OpenAiEmbedder::connect(settings.clone(), tokenizer, meter).await.context(
                "the embedding server did not answer; start it, or set CITED_EMBEDDING_DIMENSION so that it is not asked at start",
            )?;
            Ok(Arc::new(connected))
        }
    }
}
