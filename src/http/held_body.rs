//! A body that holds something until it has been passed on or given up.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// A body, and what it holds.
pub(crate) struct HeldBody<T> {
    body: Body,
    _held: T,
}

impl<T: Send + Unpin + 'static> HeldBody<T> {
    /// The same body, which drops `held` at its end.
    pub(crate) fn wrap(body: Body, held: T) -> Body {
        Body::new(Self { body, _held: held })
    }
}

impl<T: Unpin> HttpBody for HeldBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body of which the size is not told: it holds something until nearly all of it was sent, as the end is looked for only then. One
/// whose size is known is let go as soon as it was handed over.
pub(super) fn until_sent<T: Send + Unpin + 'static>(body: Body, held: T) -> Body {
    Body::from_stream(HeldBody::wrap(body, held).into_data_stream())
}
