//! Requests of a connection: counted until their response is passed on, with bodies that have to move, and responses that
//! their clients have to read.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{Version, header},
    response::Response,
};
use futures::{StreamExt, future::BoxFuture};
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::{
    runtime::Handle,
    time::{Sleep, sleep},
};
use tower::{Service, ServiceExt, service_fn};

use super::connections::{Connection, InProgress};
use crate::http::PeerAddress;

/// Bytes of a body that must arrive in each interval in which they are waited for.
pub(super) const LEAST_PROGRESS: usize = 1024;
/// Longest that the rest of a body is read which nobody wants any more.
const LONGEST_DISCARD: Duration = Duration::from_secs(30);

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
        let left = Unread::of(&request);
        let mut request: Request = request.map(|body| Body::new(MovingBody::new(body, interval, left)));
        request.extensions_mut().insert(peer);
        Box::pin(async move {
            let response = router.oneshot(request).await?;
            Ok(response.map(|body| Body::new(ResponseBody::new(body, in_progress))))
        })
    })
}

/// The body of a response, whose request is in progress while the service makes it, and not while its client takes none of it:
/// by HTTP/2 a client may leave all responses of a connection unread and keep it all the same.
struct ResponseBody {
    body: Body,
    request: InProgress,
}

impl ResponseBody {
    fn new(body: Body, mut request: InProgress) -> Self {
        request.wait_for_client();
        Self { body, request }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.request.go_on();
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        self.request.wait_for_client();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The rest of a body that its request was answered without.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unread {
    /// Is read and thrown away: closing a connection of HTTP/1 with bytes on their way resets it, which may cost the
    /// client the response (RFC 9112, 9.6).
    Discarded,
    /// As before, but its client waits to be told to send it, which nothing has done yet (RFC 9110, 10.1.1).
    NotAskedFor,
    /// Is left: HTTP/2 ends a stream without its connection.
    Left,
}

impl Unread {
    fn of<B>(request: &axum::http::Request<B>) -> Self {
        if request.version() >= Version::HTTP_2 {
            Self::Left
        } else if request.headers().contains_key(header::EXPECT) {
            Self::NotAskedFor
        } else {
            Self::Discarded
        }
    }

    /// As some of the body has arrived.
    const fn begun(self) -> Self {
        match self {
            Self::Discarded | Self::NotAskedFor => Self::Discarded,
            Self::Left => Self::Left,
        }
    }
}

/// A body as it arrives.
trait RequestBody: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Unpin + Send + 'static {}

impl<B: HttpBody<Data = Bytes, Error: Into<axum::BoxError>> + Unpin + Send + 'static> RequestBody for B {}

/// The body of a request, which fails if it is waited for and too little of it arrives.
struct MovingBody<B: RequestBody> {
    /// None after its end or a failure.
    body: Option<B>,
    unread: Unread,
    /// Bytes that arrived since an interval was last completed.
    received: usize,
    interval: Duration,
    /// End of the current interval; there is none as long as nothing is waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl<B: RequestBody> MovingBody<B> {
    const fn new(body: B, interval: Duration, unread: Unread) -> Self {
        Self { body: Some(body), unread, received: 0, interval, end: None }
    }
}

impl<B: RequestBody> Drop for MovingBody<B> {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) else { return };
        if let (Unread::Discarded, Ok(runtime)) = (self.unread, Handle::try_current()) {
            let mut rest = Body::new(MovingBody::new(body, self.interval, Unread::Left)).into_data_stream();
            let discard = async move { while let Some(Ok(_)) = rest.next().await {} };
            runtime.spawn(tokio::time::timeout(LONGEST_DISCARD, discard));
        }
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

impl<B: RequestBody> HttpBody for MovingBody<B> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = match Pin::new(body).poll_frame(context) {
            Poll::Ready(frame) => frame.map(|frame| frame.map_err(axum::Error::new)),
            Poll::Pending => {
                let interval = self.interval;
                let end = self.end.get_or_insert_with(|| Box::pin(sleep(interval)));
                ready!(end.as_mut().poll(context));
                Some(Err(axum::Error::new(TooSlow(interval))))
            }
        };
        if let Some(Ok(frame)) = &frame {
            self.received += frame.data_ref().map_or(0, Bytes::len);
            self.unread = self.unread.begun();
        } else {
            self.body = None;
        }
        if self.received >= LEAST_PROGRESS {
            self.received = 0;
            self.end = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

#[cfg(test)]
mod tests {
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
        let body = Body::new(MovingBody::new(body, INTERVAL, Unread::Left));
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
