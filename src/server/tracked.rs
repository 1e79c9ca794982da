//! Requests of a connection: counted until their response is passed on, with bodies that have to move.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
    response::Response,
};
use futures::future::BoxFuture;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::time::{Sleep, sleep};
use tower::{Service, ServiceExt, service_fn};

use super::connections::Connection;
use crate::http::{HeldBody, PeerAddress};

/// Bytes of a body that must arrive in each interval in which they are waited for.
pub(super) const LEAST_PROGRESS: usize = 1024;

/// The router for one connection, from this peer; bodies make progress in each `interval`.
pub(super) fn service(
    router: Router,
    connection: Arc<Connection>,
    peer: PeerAddress,
    interval: Duration,
) -> impl Service<
    axum::http::Request<Incoming>,
    Response = Response,
    Error = Infallible,
    Future = BoxFuture<'static, Result<Response, Infallible>>,
> + Clone
+ Send
+ 'static {
    service_fn(move |request: axum::http::Request<Incoming>| -> BoxFuture<'static, Result<Response, Infallible>> {
        let in_progress = connection.begin();
        let router = router.clone();
        let mut request: Request = request.map(|body| Body::new(MovingBody::new(body, interval)));
        request.extensions_mut().insert(peer);
        Box::pin(async move {
            let response = router.oneshot(request).await?;
            Ok(response.map(|body| HeldBody::wrap(body, in_progress)))
        })
    })
}

/// The body of a request, which fails if it is waited for and too little of it arrives.
struct MovingBody<B> {
    body: B,
    /// Bytes that arrived since an interval was last completed.
    received: usize,
    interval: Duration,
    /// End of the current interval; there is none as long as nothing is waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl<B> MovingBody<B> {
    const fn new(body: B, interval: Duration) -> Self {
        Self { body, received: 0, interval, end: None }
    }
}

#[derive(Debug)]
struct TooSlow(Duration);

impl fmt::Display for TooSlow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "less than {LEAST_PROGRESS} bytes arrived in {:?}", self.0)
    }
}

impl std::error::Error for TooSlow {}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Unpin> HttpBody for MovingBody<B> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => {
                if let Some(Ok(frame)) = &frame {
                    self.received += frame.data_ref().map_or(0, Bytes::len);
                }
                if self.received >= LEAST_PROGRESS {
                    self.received = 0;
                    self.end = None;
                }
                Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new)))
            }
            Poll::Pending => {
                let interval = self.interval;
                let end = self.end.get_or_insert_with(|| Box::pin(sleep(interval)));
                end.as_mut().poll(context).map(|()| Some(Err(axum::Error::new(TooSlow(interval)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use tokio::{sync::mpsc, time::Instant};

    use super::*;

    const INTERVAL: Duration = Duration::from_millis(500);

    /// Reads a body that gets `bytes` each time `every` has passed.
    async fn receive(bytes: usize, every: Duration, times: usize) -> (Result<usize, String>, Duration) {
        let (sender, mut parts) = mpsc::channel::<Bytes>(1);
        tokio::spawn(async move {
            for _ in 0..times {
                tokio::time::sleep(every).await;
                let _ = sender.send(Bytes::from(vec![b'x'; bytes])).await;
            }
        });
        let parts = futures::stream::poll_fn(move |context| parts.poll_recv(context));
        let body = Body::from_stream(parts.map(Ok::<_, Infallible>));
        let body = Body::new(MovingBody::new(body, INTERVAL));
        let started = Instant::now();
        let read = axum::body::to_bytes(body, usize::MAX).await;
        (read.map(|bytes| bytes.len()).map_err(|error| error.to_string()), started.elapsed())
    }

    #[tokio::test]
    async fn a_body_that_moves_may_take_its_time() {
        let (read, time) = receive(LEAST_PROGRESS, INTERVAL / 5, 12).await;
        assert_eq!(read, Ok(12 * LEAST_PROGRESS));
        assert!(time > 2 * INTERVAL, "{time:?}");
        let (read, _) = receive(1, Duration::ZERO, 50).await;
        assert_eq!(read, Ok(50), "a small body is whole before it is too slow");
    }

    #[tokio::test]
    async fn a_body_that_trickles_or_stops_is_given_up() {
        for (bytes, every) in [(1, INTERVAL / 10), (LEAST_PROGRESS / 4, INTERVAL / 2), (LEAST_PROGRESS, 40 * INTERVAL)]
        {
            let (read, time) = receive(bytes, every, 1_000).await;
            assert_eq!(read, Err("less than 1024 bytes arrived in 500ms".to_owned()));
            assert!(time < 10 * INTERVAL, "{time:?}");
        }
    }
}
