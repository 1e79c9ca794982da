//! A service in this process that runs for the duration of an evaluation.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{app::App, config::Config, service::context::Context, shutdown::Shutdown};

/// A running service.
pub(super) struct LocalService {
    address: SocketAddr,
    shutdown: Shutdown,
    task: JoinHandle<anyhow::Result<()>>,
}

impl LocalService {
    /// Starts the service that the configuration describes, on a free port that only this machine can reach. `hard`
    /// cuts its shutdown short.
    ///
    /// # Errors
    /// When the service cannot be built.
    pub(super) async fn start(config: &Config, hard: CancellationToken) -> anyhow::Result<Self> {
        let mut config = config.clone();
        config.listen = (Ipv4Addr::LOCALHOST, 0).into();
        let app = App::build(&config, Context::system()).await?;
        let address = app.address()?;
        let shutdown = Shutdown { hard, ..Shutdown::default() };
        let task = tokio::spawn(app.run_until_stopped(shutdown.clone()));
        Ok(Self { address, shutdown, task })
    }

    /// The address that the service listens on.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the service and waits until it has stopped.
    ///
    /// # Errors
    /// The error that the service failed with, also if it ended by itself before.
    pub(super) async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.stop();
        self.task.await.context("the service died")?
    }
}
