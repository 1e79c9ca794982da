//! The application as a value: built from a configuration, run until it is stopped.

use std::net::SocketAddr;

use anyhow::Context as _;
use embedded_postgres::PrivatePostgres;
use secrecy::SecretString;
use sqlx::postgres::PgConnectOptions;
use tokio::net::TcpListener;

use crate::{
    assembly::{Assembly, open_embedders},
    config::{Config, Database},
    http::{self, Services},
    lifecycle::Tasks,
    metrics::Metrics,
    server,
    service::{
        background::{BackgroundTask, Heartbeats},
        context::Context,
        ingest::{Notifier, Worker},
        security_record::SecurityRecord,
        sweep::Sweeper,
        vector_graphs::GraphKeeper,
    },
    shutdown::Shutdown,
    store::{PoolSettings, Store, connect_options},
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
    /// Listener of the metrics alone.
    metrics: Option<MetricsListener>,
}

/// A listener that serves the metrics and nothing else.
struct MetricsListener {
    listener: TcpListener,
    acceptance: server::Acceptance,
    /// Names of the service.
    hosts: http::AllowedHosts,
}

/// Tasks that run in the background, besides requests and workers.
pub(crate) struct Background {
    pub(crate) notifier: Option<Notifier>,
    pub(crate) sweeper: Sweeper,
    pub(crate) security_record: SecurityRecord,
    pub(crate) graphs: GraphKeeper,
    pub(crate) heartbeats: Heartbeats,
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
        let metrics = MetricsListener::open(config).await?;
        let databases = open_databases(&config.database).await?;
        let assembled = Self::assemble(config, context, &databases).await;
        let postgres = databases.postgres;
        match assembled {
            Ok(core) => Ok(Self { postgres, metrics, ..core }),
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
        Databases { primary, replicas, direct, .. }: &Databases,
    ) -> anyhow::Result<Self> {
        let metrics = Metrics::default();
        let owner = direct.as_ref().unwrap_or(primary);
        Store::migrate(owner).await.context("the database could not be prepared")?;
        let embedders = open_embedders(config, owner, &metrics).await?;
        let pools = PoolSettings { direct: direct.clone().map(Box::new), ..config.pools.clone() };
        let store = Store::connect(primary, replicas, &pools).await.context("the database could not be opened")?;
        let store = store.with_quotas(config.storage_quotas);
        let assembly = Assembly::new(config, context, store, embedders, metrics)?;
        let ingest = assembly.ingest();
        Ok(Self {
            worker: assembly.worker(),
            background: assembly.background(&ingest),
            services: assembly.services(&ingest),
            store: assembly.into_store(),
            postgres: None,
            metrics: None,
        })
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
    fn tasks(&mut self, shutdown: &Shutdown) -> Tasks {
        let mut tasks = Tasks::new(shutdown.clone());
        let stop = &shutdown.soft;
        let Background { notifier, sweeper, security_record, graphs, heartbeats } = &self.background;
        let notifier = notifier.clone().map(|notifier| notifier.task(heartbeats, stop.clone()));
        let others = [
            sweeper.clone().task(stop.clone()),
            security_record.clone().task(stop.clone()),
            graphs.clone().task(stop.clone()),
            self.services.readiness.watch(stop.clone()),
        ];
        for BackgroundTask { name, run } in self.worker.tasks(stop).into_iter().chain(notifier).chain(others) {
            tasks.spawn(name, run);
        }
        if let Some(MetricsListener { listener, acceptance, hosts }) = self.metrics.take() {
            let router = http::metrics_router(self.services.measurements.clone(), &hosts);
            tasks.spawn("metrics listener", server::serve(listener, acceptance, router, shutdown.clone()));
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
    pub async fn work_until_stopped(mut self, shutdown: Shutdown) -> anyhow::Result<()> {
        let result = self.tasks(&shutdown).run().await;
        Box::pin(self.close(&shutdown)).await.and(result)
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
        let Self { mut core, router, listener, acceptance } = self;
        let mut tasks = core.tasks(&shutdown);
        tasks.spawn("HTTP server", server::serve(listener, acceptance, router, shutdown.clone()));
        let result = tasks.run().await;
        Box::pin(core.close(&shutdown)).await.and(result)
    }
}

impl MetricsListener {
    /// Listens on the address of the configuration, if there is one.
    ///
    /// # Errors
    /// If the address is taken.
    async fn open(config: &Config) -> anyhow::Result<Option<Self>> {
        let Some(address) = config.metrics_listen else { return Ok(None) };
        let taken = || format!("cannot listen on {address}; set CITED_METRICS_LISTEN to a free address");
        let listener = TcpListener::bind(address).await.with_context(taken)?;
        let acceptance = server::Acceptance::load(&server::Settings::default())?;
        Ok(Some(Self { listener, acceptance, hosts: config.http.cross_origin.hosts.clone() }))
    }
}

/// The databases to connect to, with the private Postgres if that is configured.
struct Databases {
    postgres: Option<PrivatePostgres>,
    primary: PgConnectOptions,
    replicas: Vec<PgConnectOptions>,
    /// Postgres itself, if the others lead through a pooler.
    direct: Option<PgConnectOptions>,
}

async fn open_databases(database: &Database) -> anyhow::Result<Databases> {
    let parse =
        |name: &str, url: &SecretString| connect_options(url).with_context(|| format!("{name} is not a Postgres URL"));
    match database {
        Database::Server { primary, replicas, direct } => {
            let replicas = replicas.iter().map(|url| parse("DATABASE_READ_URL", url)).collect::<Result<_, _>>()?;
            let direct = direct.as_ref().map(|url| parse("DATABASE_DIRECT_URL", url)).transpose()?;
            Ok(Databases { postgres: None, primary: parse("DATABASE_URL", primary)?, replicas, direct })
        }
        Database::Private(settings) => {
            let postgres = PrivatePostgres::start(settings).await?;
            let primary = postgres.connect_options();
            Ok(Databases { postgres: Some(postgres), primary, replicas: Vec::new(), direct: None })
        }
    }
}
