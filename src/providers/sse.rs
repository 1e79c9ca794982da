//! Server-sent events of model servers, and the pieces of a reply read from them.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use sse_stream::SseByteStream;

use super::{
    ProviderError, ProviderErrorKind,
    chat::{ReplyEnd, ReplyPart, ReplyParts},
};

/// Longest wait for further events once the model has reported why it stopped: some servers send the usage after that,
/// others leave the connection open.
const GRACE: Duration = Duration::from_secs(2);

/// The meaning of an event of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Another piece of text, not empty.
    Text(String),
    /// An event without text for the caller.
    Nothing,
    /// The last event.
    Over,
}

/// Reads the events of one reply in a provider's protocol.
pub(super) trait EventReader: Send + 'static {
    /// Interprets the data of the next event.
    fn read(&mut self, data: &str) -> Result<Reading, ProviderError>;

    /// Whether the model has reported why it stopped, so that later events are dispensable.
    fn is_complete(&self) -> bool;

    /// The end of the reply, or an error if the reply is incomplete.
    fn end(&mut self) -> Result<ReplyEnd, ProviderError>;
}

/// The data of each event in a stream of bytes, however these are split. Where it is not UTF-8 the stream ends in an
/// error: the standard would put replacement characters there, and they would appear in an answer as if a model had
/// written them. An unfinished event at the end is dropped.
pub(super) fn events(
    bytes: impl Stream<Item = Result<Bytes, ProviderError>> + Send + 'static,
    broken: impl Fn(ProviderErrorKind, String) -> ProviderError + Send + 'static,
) -> impl Stream<Item = Result<String, ProviderError>> + Send + 'static {
    SseByteStream::new(Box::pin(bytes)).filter_map(move |event| {
        let data = match event {
            Ok(event) => event.data.map(Ok),
            Err(sse_stream::Error::Body(error)) => Some(Err(match error.downcast::<ProviderError>() {
                Ok(error) => *error,
                Err(error) => broken(ProviderErrorKind::Interrupted, error.to_string()),
            })),
            Err(error) => Some(Err(broken(ProviderErrorKind::InvalidReply, error.to_string()))),
        };
        std::future::ready(data)
    })
}

/// The pieces of a reply. The end comes after the last event or, once the model has reported its own end, after a
/// broken connection or a short time without events.
pub(super) fn parts(
    events: impl Stream<Item = Result<String, ProviderError>> + Send + 'static,
    reader: impl EventReader,
    broken: impl Fn(ProviderErrorKind, String) -> ProviderError + Send + 'static,
) -> ReplyParts {
    let state = (Box::pin(events), reader, broken);
    stream::try_unfold(Some(state), |state| async {
        let Some((mut events, mut reader, broken)) = state else { return Ok(None) };
        loop {
            let event = if reader.is_complete() {
                tokio::time::timeout(GRACE, events.next()).await.ok().flatten()
            } else {
                events.next().await
            };
            let reading = match event {
                Some(Ok(data)) => reader.read(&data)?,
                Some(Err(_)) | None if reader.is_complete() => Reading::Over,
                Some(Err(error)) => return Err(error),
                None => {
                    let detail = "the reply broke off before its end".to_owned();
                    return Err(broken(ProviderErrorKind::Interrupted, detail));
                }
            };
            match reading {
                Reading::Text(text) => return Ok(Some((ReplyPart::Text(text), Some((events, reader, broken))))),
                Reading::Nothing => {}
                Reading::Over => return Ok(Some((ReplyPart::End(reader.end()?), None))),
            }
        }
    })
    .boxed()
}

#[cfg(test)]
#[path = "sse_tests.rs"]
mod tests;
