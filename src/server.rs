//! The listener: limits on headers, and a shutdown that lets requests finish.

use std::time::Duration;

use axum::Router;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::net::TcpListener;

use crate::{http, shutdown::Shutdown};

/// Time limit for a client to send its headers; after it the connection is closed.
const HEADER_TIMEOUT: Duration = Duration::from_secs(15);
/// Largest part of a request's head that is read, in bytes: enough to refuse one that is too large with a problem
/// document. Beyond it the response is a bare 431.
const MAX_HEAD_BYTES: usize = 4 * http::MAX_HEADER_BYTES;
/// Pause after a failed accept, such as one caused by a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until told to stop; connections then finish the request they are in.
pub async fn serve(listener: TcpListener, router: Router, shutdown: Shutdown) {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).unwrap_or(u32::MAX));
    let graceful = GracefulShutdown::new();
    loop {
        let (stream, _) = tokio::select! {
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
        // Responses are small and should be sent without delay.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error = %error, "a connection ended early");
            }
        });
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = shutdown.hard.cancelled() => {}
    }
}
