//! Bytes of bodies that are held in memory at once. A large upload is read when those before it have been stored;
//! until then its sender waits, and HTTP lets it.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{FromRequest, Request},
    http::{StatusCode, header},
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    AppState,
    extract::{BodyLimit, ValidJson},
    problem::ApiError,
};

/// Bytes of a permit: a semaphore counts up to 2^29 on small machines.
const UNIT: usize = 1024;
/// Seconds after which to send an upload again that was not taken.
const RETRY_AFTER_S: &str = "10";

/// Room for the bodies of uploads.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    units: Arc<Semaphore>,
    most_units: usize,
    longest_wait: Duration,
}

/// Room for one body, until this is dropped.
#[derive(Debug)]
pub(super) struct Room(#[expect(dead_code, reason = "dropped to give the room back")] OwnedSemaphorePermit);

impl InFlight {
    pub(super) fn new(most_bytes: usize, longest_wait: Duration) -> Self {
        let most_units = most_bytes.div_ceil(UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(most_units)), most_units, longest_wait }
    }

    /// Waits for room for the body of a request; one that does not say how long it is needs as much as its route
    /// accepts, and one that needs more than there is has all of it. First come, first served.
    ///
    /// # Errors
    /// 503 if others hold the room for too long.
    pub(super) fn room(&self, request: &Request) -> impl Future<Output = Result<Room, ApiError>> + Send + use<> {
        let BodyLimit(most) = BodyLimit::of(request);
        let announced =
            request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let units = announced.unwrap_or(most).min(most).div_ceil(UNIT).min(self.most_units);
        let permit = Arc::clone(&self.units).acquire_many_owned(u32::try_from(units).unwrap_or(u32::MAX));
        let waiting = tokio::time::timeout(self.longest_wait, permit);
        let busy = self.busy(units * UNIT);
        async move {
            match waiting.await {
                Ok(Ok(permit)) => Ok(Room(permit)),
                Ok(Err(_)) | Err(_) => Err(busy),
            }
        }
    }

    fn busy(&self, asked: usize) -> ApiError {
        let value = self.most_units * UNIT;
        let detail = format!(
            "other uploads are being read and stored, of which {value} bytes are held at once, and this one brings \
             {asked}; nothing was accepted, send it again, or the operator raises CITED_MAX_BYTES_IN_FLIGHT"
        );
        ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "uploads_busy", "Too much is being uploaded at once", detail)
            .retry_after(RETRY_AFTER_S)
            .with("limit", json!("bytes_in_flight"))
            .with("value", json!(value))
            .with("asked", json!(asked))
    }
}

/// Extracts a JSON body of an upload, with the room that it takes.
pub(super) struct RoomyJson<T>(pub(super) T, pub(super) Room);

impl<T: DeserializeOwned> FromRequest<AppState> for RoomyJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let room = state.in_flight.room(&request).await?;
        let ValidJson(body) = ValidJson::from_request(request, state).await?;
        Ok(Self(body, room))
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, response::IntoResponse};

    use super::*;
    use crate::http::problem::Problem;

    fn request(length: Option<usize>) -> Request {
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(BodyLimit(64 * UNIT));
        if let Some(length) = length {
            request.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        request
    }

    #[tokio::test]
    async fn bodies_wait_until_there_is_room() {
        let in_flight = InFlight::new(100 * UNIT, Duration::from_millis(50));
        let first = in_flight.room(&request(Some(60 * UNIT))).await.expect("room");
        let refused = in_flight.room(&request(Some(60 * UNIT))).await.expect_err("no room").into_response();
        assert_eq!(refused.headers()[header::RETRY_AFTER], "10");
        let problem = refused.extensions().get::<Problem>().expect("a problem");
        assert_eq!((problem.status, problem.code.as_str()), (503, "uploads_busy"));
        assert_eq!(problem.extensions["value"], 100 * UNIT);
        assert_eq!(problem.extensions["asked"], 60 * UNIT);
        let small = in_flight.room(&request(Some(40 * UNIT))).await.expect("what is left");
        drop((first, small));
        in_flight.room(&request(Some(60 * UNIT))).await.expect("it was given back");
    }

    #[tokio::test]
    async fn a_body_of_unknown_length_takes_what_its_route_accepts() {
        let in_flight = InFlight::new(100 * UNIT, Duration::from_millis(50));
        let _first = in_flight.room(&request(None)).await.expect("64 of 100");
        assert!(in_flight.room(&request(Some(37 * UNIT))).await.is_err());
        assert!(in_flight.room(&request(Some(36 * UNIT))).await.is_ok());
    }

    #[tokio::test]
    async fn one_that_needs_more_than_there_is_has_all() {
        let in_flight = InFlight::new(10 * UNIT, Duration::from_millis(50));
        let all = in_flight.room(&request(Some(1_000_000 * UNIT))).await.expect("alone");
        assert!(in_flight.room(&request(Some(1))).await.is_err());
        drop(all);
        assert!(in_flight.room(&request(Some(1))).await.is_ok());
    }
}
