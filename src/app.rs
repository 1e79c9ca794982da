//! The application as a value: built from a configuration, run until it is stopped. The only file
//! that sees every layer.

use std::{net::SocketAddr, sync::Arc};

use anyhow::Context as _;
use embedded_postgres::PrivatePostgres;
use minilm::WordPiece;
use secrecy::SecretString;
use sqlx::postgres::PgConnectOptions;
use tokio::net::TcpListener;

use crate::{
    config::{Config, Database},
    http::{self, Services},
    lifecycle::Tasks,
    providers::{
        BuiltInEmbedder, Embedder,
        chat::{CallRole, ChatModels},
        openai::{EmbeddingSettings, OpenAiEmbedder},
        outbound::Outbound,
        reranker::Reranker,
        web_search::WebSearch,
    },
    server,
    service::{
        ask::{AskParts, AskService},
        audit::AuditService,
        background::{BackgroundTask, Heartbeats},
        check::{CheckParts, CheckService},
        citations::CitationService,
        collections::CollectionService,
        context::Context,
        daily_budget::DailyBudget,
        documents::DocumentService,
        embedders::Embedders,
        indexes::IndexService,
        ingest::{ContextWriter, IngestService, Notifier, Processor, Signal, Worker},
        readiness::Readiness,
        retrieval::Retriever,
        search::SearchService,
        sweep::Sweeper,
        vector_graphs::GraphKeeper,
    },
    shutdown::Shutdown,
    store::{Store, connect_options},
};

/// Everything that is built before anything listens.
pub struct Core {
    /// The use cases.
    pub(crate) services: Services,
    /// A worker on the queue.
    pub(crate) worker: Worker,
    background: Background,
    store: Store,
    postgres: Option<PrivatePostgres>,
}

/// Tasks that run in the background, besides requests and workers.
struct Background {
    notifier: Option<Notifier>,
    sweeper: Sweeper,
    graphs: GraphKeeper,
    heartbeats: Heartbeats,
}

/// A service that listens but does not serve yet.
pub struct App {
    core: Core,
    router: axum::Router,
    listener: TcpListener,
    acceptance: server::Acceptance,
}

impl Core {
    /// Starts or reaches the database, brings it up to date, loads the models.
    ///
    /// # Errors
    /// If any of that fails; the error describes how to resolve it.
    pub async fn build(config: &Config, context: Context) -> anyhow::Result<Self> {
        // Another part of the process may have chosen one already; either will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (postgres, primary, replica) = open_database(&config.database).await?;
        match Self::assemble(config, context, &primary, replica.as_ref()).await {
            Ok((services, worker, background, store)) => Ok(Self { services, worker, background, store, postgres }),
            Err(error) => {
                if let Some(postgres) = postgres {
                    postgres.stop().await.context("the private Postgres could not be stopped")?;
                }
                Err(error)
            }
        }
    }

    async fn assemble(
        config: &Config,
        context: Context,
        primary: &PgConnectOptions,
        replica: Option<&PgConnectOptions>,
    ) -> anyhow::Result<(Services, Worker, Background, Store)> {
        Store::migrate(primary).await.context("the database could not be prepared")?;
        let embedder = embedder(config, config.embedding.as_ref()).await?;
        let tokenizer = Arc::new(WordPiece::load()?);
        let models = Arc::new(ChatModels::new(&config.chat, tokenizer)?);
        let profile = Store::ensure_profile(primary, embedder.profile()).await?;
        let mut others = Vec::new();
        for settings in &config.further_embeddings {
            let further = self::embedder(config, settings.as_ref()).await?;
            others.push((Store::ensure_profile(primary, further.profile()).await?, further));
        }
        let embedders = Embedders::new((profile, Arc::clone(&embedder)), others);
        let store =
            Store::connect(primary, replica, &config.pools).await.context("the database could not be opened")?;
        let signal = Arc::new(Signal::default());
        let reranker = config.reranker.clone().map(Reranker::new).transpose()?;
        let retriever = Retriever::new(store.clone(), embedders.clone(), reranker, config.fetch_k);
        let defaults = config.ingest.collection_defaults();
        let outbound = Arc::new(Outbound::new(config.outbound.clone())?);
        let webhooks = config.webhook_key.as_ref().map(|_| Arc::clone(&outbound));
        let ingest = IngestService::new(
            store.clone(),
            embedders.clone(),
            defaults,
            config.ingest.queue,
            webhooks,
            context.clone(),
            Arc::clone(&signal),
        );
        let notifier = config.webhook_key.clone().map(|key| Notifier::new(ingest.clone(), Arc::clone(&outbound), key));
        let heartbeats = Heartbeats::default();
        let sweeper = Sweeper::new(store.clone(), context.clone(), config.audit_retention);
        let graphs = GraphKeeper::new(store.clone(), config.vector_graph_from);
        let writers = models.chain(CallRole::Context, &[]);
        let daily_budget = DailyBudget::new(store.clone(), config.ask.daily_cost);
        let told = config.instructions.of(CallRole::Context).cloned();
        let writer =
            ContextWriter::new(context.clone(), writers.clone(), told, config.ingest.contexts, daily_budget.clone());
        let check = CheckService::new(CheckParts {
            retriever: retriever.clone(),
            citations: CitationService::new(store.clone()),
            models: Arc::clone(&models),
            instructions: config.instructions.clone(),
            settings: config.ask.clone(),
            daily_budget: daily_budget.clone(),
            context: context.clone(),
        });
        let services = Services {
            check,
            ask: AskService::new(AskParts {
                store: store.clone(),
                retriever: retriever.clone(),
                embedder: Arc::clone(&embedder),
                models,
                instructions: config.instructions.clone(),
                web: config.web_search.clone().map(|settings| Arc::new(WebSearch::new((*outbound).clone(), settings))),
                settings: config.ask.clone(),
                daily_budget,
                context: context.clone(),
            }),
            audit: AuditService::new(store.clone()),
            citations: CitationService::new(store.clone()),
            search: SearchService::new(retriever),
            ingest,
            documents: DocumentService::new(store.clone(), context.clone()),
            collections: CollectionService::new(store.clone(), profile, defaults, writers.is_some(), context.clone()),
            indexes: IndexService::new(
                store.clone(),
                embedders.clone(),
                writers.is_some(),
                context.clone(),
                Arc::clone(&signal),
            ),
            readiness: Readiness::new(store.clone(), heartbeats.clone(), context.clone()),
        };
        let processor = Processor::new(store.clone(), embedders, outbound, writer, config.ingest.clone(), context);
        let worker = Worker::new(processor, signal, heartbeats.clone());
        Ok((services, worker, Background { notifier, sweeper, graphs, heartbeats }, store))
    }

    /// Closes the pools, then stops the private Postgres, in this order. Does not wait for running statements when
    /// everything is to be dropped.
    async fn close(self, shutdown: &Shutdown) -> anyhow::Result<()> {
        tokio::select! {
            () = self.store.close() => {}
            () = shutdown.hard.cancelled() => {}
        }
        if let Some(postgres) = self.postgres {
            postgres.stop().await.context("the private Postgres could not be stopped")?;
        }
        Ok(())
    }

    /// Everything that runs in the background while the service does, except requests.
    fn tasks(&self, shutdown: &Shutdown) -> Tasks {
        let mut tasks = Tasks::new(shutdown.clone());
        let stop = &shutdown.soft;
        let Background { notifier, sweeper, graphs, heartbeats } = &self.background;
        let notifier = notifier.clone().map(|notifier| notifier.task(heartbeats, stop.clone()));
        let others = [
            sweeper.clone().task(stop.clone()),
            graphs.clone().task(stop.clone()),
            self.services.readiness.watch(stop.clone()),
        ];
        for BackgroundTask { name, run } in self.worker.tasks(stop).into_iter().chain(notifier).chain(others) {
            tasks.spawn(name, run);
        }
        let store = self.store.failed();
        tasks.watch(async { anyhow::Error::msg(store.await) });
        if let Some(postgres) = &self.postgres {
            let postgres = postgres.failed();
            tasks.watch(async { postgres.await.into() });
        }
        tasks
    }

    /// Processes the queue until it is told to stop.
    ///
    /// # Errors
    /// If a background task dies, or the private Postgres cannot be kept running.
    pub async fn work_until_stopped(self, shutdown: Shutdown) -> anyhow::Result<()> {
        let result = self.tasks(&shutdown).run().await;
        self.close(&shutdown).await.and(result)
    }
}

impl App {
    /// Builds everything and listens; requests wait until [`App::run_until_stopped`].
    ///
    /// # Errors
    /// If any part cannot be built or the address is taken.
    pub async fn build(config: &Config, context: Context) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(config.listen)
            .await
            .with_context(|| format!("cannot listen on {}; set CITED_LISTEN to a free address", config.listen))?;
        let acceptance = server::Acceptance::load(&config.server)?;
        // The largest part of starting; on the stack it would be too large for those who start several services.
        let core = Box::pin(Core::build(config, context.clone())).await?;
        let router = http::router(core.services.clone(), &config.http, context);
        Ok(Self { core, router, listener, acceptance })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// If the socket is closed.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address().map_or(0, |address| address.port())
    }

    /// Serves requests and processes the queue until it is told to stop; then finishes the work in progress, closes the
    /// pools and stops the private Postgres.
    ///
    /// # Errors
    /// If a background task dies, or the private Postgres cannot be kept running.
    pub async fn run_until_stopped(self, shutdown: Shutdown) -> anyhow::Result<()> {
        let Self { core, router, listener, acceptance } = self;
        let mut tasks = core.tasks(&shutdown);
        tasks.spawn("HTTP server", server::serve(listener, acceptance, router, shutdown.clone()));
        let result = tasks.run().await;
        core.close(&shutdown).await.and(result)
    }
}

/// The database to connect to; includes the private Postgres if that is configured.
async fn open_database(
    database: &Database,
) -> anyhow::Result<(Option<PrivatePostgres>, PgConnectOptions, Option<PgConnectOptions>)> {
    let parse =
        |name: &str, url: &SecretString| connect_options(url).with_context(|| format!("{name} is not a Postgres URL"));
    match database {
        Database::Server { primary, replica } => {
            let replica = replica.as_ref().map(|url| parse("DATABASE_READ_URL", url)).transpose()?;
            Ok((None, parse("DATABASE_URL", primary)?, replica))
        }
        Database::Private(settings) => {
            let postgres = PrivatePostgres::start(settings).await?;
            let options = postgres.connect_options();
            Ok((Some(postgres), options, None))
        }
    }
}

/// The model configured by these settings; the built-in one if there are none.
async fn embedder(config: &Config, settings: Option<&EmbeddingSettings>) -> anyhow::Result<Arc<dyn Embedder>> {
    match settings {
        None => Ok(Arc::new(BuiltInEmbedder::start(config.embedding_threads)?)),
        Some(settings) => {
            let tokenizer = Arc::new(WordPiece::load()?);
            let connected = OpenAiEmbedder::connect(settings.clone(), tokenizer).await.context(
                "the embedding server did not answer; start it, or set CITED_EMBEDDING_DIMENSION so that it is not asked at start",
            )?;
            Ok(Arc::new(connected))
        }
    }
}
