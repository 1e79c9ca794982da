//! The listener: which connections are taken, how long they may do nothing, and a shutdown that lets requests finish.

mod connections;
mod descriptors;
mod tls;
mod tracked;

use std::{num::NonZeroUsize, pin::pin, sync::Arc, time::Duration};

use axum::Router;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};
use tokio_util::task::TaskTracker;

pub(crate) use self::tls::TlsFiles;
use self::{
    connections::{Connections, Limits, Place},
    tls::TlsServer,
};
use crate::{
    http::{self, PeerAddress},
    shutdown::{Notices, Shutdown},
};

/// How long connections may do nothing.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Time limit for a client to send its headers, and for a connection to be without a request: the first of a
    /// silent one, the next of an idle one, of any version of HTTP. After it the connection is closed.
    idle: Duration,
    /// Time in which a client must have taken some of its response once its connection is idle.
    last_read: Duration,
    /// Time in which the next part of a body must arrive, see [`tracked::LEAST_PROGRESS`].
    progress: Duration,
}

const TIMES: Times =
    Times { idle: Duration::from_secs(15), last_read: Duration::from_mins(5), progress: Duration::from_mins(1) };
/// Interval of HTTP/2 pings, and the time limit for their replies: a peer that is gone leaves its requests open.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// Most requests at once over one HTTP/2 connection.
const MAX_STREAMS: u32 = 100;
/// Largest part of a request's head that is read, in bytes: enough to refuse one that is too large with a problem
/// document. Beyond it the response is a bare 431.
const MAX_HEAD_BYTES: usize = 4 * http::MAX_HEADER_BYTES;
/// Pause after a failed accept, such as one caused by a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Settings of the listener.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Most connections at once; by default as many as the file descriptors allow, up to
    /// [`connections::MOST_BY_DEFAULT`].
    pub max_connections: Option<NonZeroUsize>,
    /// Certificate and key, if the service speaks TLS itself.
    pub tls: Option<TlsFiles>,
}

/// How connections are accepted: settings that have been loaded.
#[derive(Clone)]
pub(crate) struct Acceptance {
    max_connections: Option<NonZeroUsize>,
    tls: Option<TlsServer>,
    times: Times,
}

impl Acceptance {
    /// Reads the certificate, if there is one.
    ///
    /// # Errors
    /// If certificate or key cannot be read or do not go together.
    pub(crate) fn load(settings: &Settings) -> anyhow::Result<Self> {
        let tls = settings.tls.as_ref().map(TlsServer::load).transpose()?;
        Ok(Self { max_connections: settings.max_connections, tls, times: TIMES })
    }
}

/// Serves the requests of all connections.
struct Server {
    http: auto::Builder<TokioExecutor>,
    tls: Option<TlsServer>,
    times: Times,
    router: Router,
    shutdown: Shutdown,
}

/// Serves until told to stop; connections then finish the request they are in.
pub(crate) async fn serve(listener: TcpListener, acceptance: Acceptance, router: Router, shutdown: Shutdown) {
    let Acceptance { max_connections, tls, times } = acceptance;
    let connections = Arc::new(Connections::new(Limits::of(max_connections, descriptors::raise())));
    let server = Arc::new(Server { http: builder(times.idle), tls, times, router, shutdown: shutdown.clone() });
    let tasks = TaskTracker::new();
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = shutdown.soft.cancelled() => break,
        };
        // One that finds no place is closed by dropping it.
        if let Some(place) = connections.admit(peer.ip()) {
            let server = Arc::clone(&server);
            tasks.spawn(async move { server.open(stream, PeerAddress(peer.ip()), place).await });
        }
    }
    drop(listener);
    tasks.close();
    let mut notices = Notices::new(shutdown.clone());
    loop {
        tokio::select! {
            () = tasks.wait() => return,
            left = notices.next() => {
                let requests = connections.in_progress();
                tracing::info!(requests, gives_up_in_s = left.as_secs(), "stopping: requests are being answered");
            }
            () = shutdown.hard.cancelled() => {
                let requests = connections.in_progress();
                tracing::warn!(requests, "requests are dropped unanswered");
                return;
            }
        }
    }
}

fn builder(header_timeout: Duration) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX));
    builder
}

impl Server {
    async fn open(&self, stream: TcpStream, peer: PeerAddress, place: Place) {
        // Responses are small and should be sent without delay.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return self.converse(stream, peer, place).await };
        let encrypted = tokio::select! {
            encrypted = tokio::time::timeout(self.times.idle, tls.accept(stream)) => encrypted,
            () = place.evicted() => return,
            () = self.shutdown.soft.cancelled() => return,
        };
        match encrypted {
            Ok(Ok(stream)) => self.converse(stream, peer, place).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    /// Serves the requests of a connection until it ends, is idle for too long, or has to give way to another.
    async fn converse(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: PeerAddress,
        place: Place,
    ) {
        let service = tracked::service(self.router.clone(), place.connection(), peer, self.times.progress);
        let service = TowerToHyperService::new(service);
        let mut http = pin!(self.http.serve_connection_with_upgrades(TokioIo::new(stream), service));
        let mut ending = false;
        loop {
            tokio::select! {
                result = http.as_mut() => {
                    if let Err(error) = result {
                        tracing::debug!(error = %error, "a connection ended early");
                    }
                    return;
                }
                () = place.evicted() => return,
                () = place.idle(self.times.idle), if !ending => {}
                () = self.shutdown.soft.cancelled(), if !ending => {}
                () = place.idle(self.times.idle + self.times.last_read) => return,
            }
            ending = true;
            http.as_mut().graceful_shutdown();
        }
    }
}

#[cfg(test)]
mod tests;
