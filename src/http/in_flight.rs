//! Bytes of large bodies that are held in memory at once. One is read when those before it have been stored;
//! until then its sender waits, and HTTP lets it.
//!
//! A tenant has half of the room: uploads of one that never end leave the other half to the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use axum::{
    extract::{FromRequest, Request},
    http::{StatusCode, header},
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use super::{
    AppState,
    extract::{BodyLimit, ValidJson},
    problem::ApiError,
};
use crate::domain::identity::TenantId;

/// Bytes of a permit: a semaphore counts up to 2^29 on small machines.
const UNIT: usize = 1024;
/// Bytes that a request may hold without room for them.
pub(super) const ALLOWANCE: usize = 64 * 1024;
/// Seconds after which to send an upload again that was not taken.
const RETRY_AFTER_S: &str = "10";

/// Bodies that room is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// Those of requests.
    Uploads,
    /// Texts of documents in responses.
    Downloads,
}

/// Room for large bodies.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    held: Held,
    units: Arc<Semaphore>,
    most_units: usize,
    /// Of tenants with bodies that are held or wait.
    shares: Arc<Mutex<HashMap<TenantId, Weak<Semaphore>>>>,
    longest_wait: Duration,
}

/// Room for one body, of its tenant's share and of all, until this is dropped.
#[derive(Debug)]
pub(super) struct Room(#[expect(dead_code, reason = "dropped to give the room back")] [OwnedSemaphorePermit; 2]);

impl InFlight {
    pub(super) fn new(held: Held, most_bytes: usize, longest_wait: Duration) -> Self {
        let most_units = most_bytes.div_ceil(UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { held, units: Arc::new(Semaphore::new(most_units)), most_units, shares: Arc::default(), longest_wait }
    }

    /// Waits for room for the body of a request; one that does not say how long it is needs as much as its route
    /// accepts, and one that needs more than the share of its tenant has all of that. First come, first served, within a
    /// tenant and among those for whom their tenant has room.
    ///
    /// # Errors
    /// 503 if others hold the room for too long.
    pub(super) fn room(&self, request: &Request) -> impl Future<Output = Result<Room, ApiError>> + Send + use<> {
        let tenant = request.extensions().get().copied().unwrap_or(TenantId::DEFAULT);
        self.room_for(tenant, bytes_of(request))
    }

    /// Waits for room for bytes of a tenant.
    ///
    /// # Errors
    /// 503 if others hold the room for too long.
    pub(super) fn room_for(
        &self,
        tenant: TenantId,
        bytes: usize,
    ) -> impl Future<Output = Result<Room, ApiError>> + Send + use<> {
        let units = self.units_of(bytes);
        let of_tenant = self.share_of(tenant);
        let all = Arc::clone(&self.units);
        let permits = async move {
            let of_tenant = of_tenant.acquire_many_owned(units).await?;
            Ok::<_, AcquireError>([of_tenant, all.acquire_many_owned(units).await?])
        };
        let waiting = tokio::time::timeout(self.longest_wait, permits);
        let busy = self.busy(bytes);
        async move {
            match waiting.await {
                Ok(Ok(permits)) => Ok(Room(permits)),
                Ok(Err(_)) | Err(_) => Err(busy),
            }
        }
    }

    /// Room for bytes of a tenant, if there is some now.
    pub(super) fn try_room(&self, tenant: TenantId, bytes: usize) -> Option<Room> {
        let units = self.units_of(bytes);
        let of_tenant = self.share_of(tenant).try_acquire_many_owned(units).ok()?;
        Some(Room([of_tenant, Arc::clone(&self.units).try_acquire_many_owned(units).ok()?]))
    }

    /// Waits for room for the text of a document, and for the response that is made of it; small ones need none.
    ///
    /// # Errors
    /// 503 if others hold the room for too long.
    pub(super) async fn room_of_text(&self, tenant: TenantId, characters: u32) -> Result<Option<Room>, ApiError> {
        let bytes = usize::try_from(characters).unwrap_or(usize::MAX).saturating_mul(2);
        if bytes <= ALLOWANCE { Ok(None) } else { self.room_for(tenant, bytes).await.map(Some) }
    }

    /// Units of bytes, at most those of a tenant.
    fn units_of(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT).min(self.share())).unwrap_or(u32::MAX)
    }

    /// Units of a tenant.
    fn share(&self) -> usize {
        self.most_units.div_ceil(2)
    }

    fn share_of(&self, tenant: TenantId) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&tenant).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.share()));
        shares.insert(tenant, Arc::downgrade(&share));
        share
    }

    fn busy(&self, asked: usize) -> ApiError {
        let value = self.most_units * UNIT;
        let error = match self.held {
            Held::Uploads => {
                let detail = format!(
                    "other large bodies are being read and stored, of which {value} bytes are held at once, half of them of \
                     one tenant, and this one brings {asked}; it was not taken, send it again, or the operator raises \
                     CITED_MAX_BYTES_IN_FLIGHT"
                );
                let title = "Too much is being uploaded at once";
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "uploads_busy", title, detail)
            }
            Held::Downloads => {
                let detail = format!(
                    "other large texts are being sent, of which {value} bytes are held at once, half of them of one tenant, \
                     and this one takes {asked}; read those that are open to their end and send this again, or the operator \
                     raises CITED_MAX_BYTES_IN_FLIGHT"
                );
                let title = "Too much is being downloaded at once";
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "downloads_busy", title, detail)
            }
        };
        error
            .retry_after(RETRY_AFTER_S)
            .with("limit", json!("bytes_in_flight"))
            .with("value", json!(value))
            .with("asked", json!(asked))
    }
}

/// Bytes of the body of a request: as many as its route accepts, if it does not say.
fn bytes_of(request: &Request) -> usize {
    let BodyLimit(most) = BodyLimit::of(request);
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    announced.unwrap_or(most).min(most)
}

/// Extracts a JSON body that is small as a rule, with the room that it takes if it is large.
pub(super) struct LargeJson<T>(pub(super) T, pub(super) Option<Room>);

impl<T: DeserializeOwned + Send + 'static> FromRequest<AppState> for LargeJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let is_large = bytes_of(&request) > ALLOWANCE;
        let room = if is_large { Some(state.in_flight.room(&request).await?) } else { None };
        let ValidJson(body) = ValidJson::from_request(request, state).await?;
        Ok(Self(body, room))
    }
}

/// Extracts a JSON body of an upload, with the room that it takes.
pub(super) struct RoomyJson<T>(pub(super) T, pub(super) Room);

impl<T: DeserializeOwned + Send + 'static> FromRequest<AppState> for RoomyJson<T> {
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

    fn request(tenant: TenantId, length: Option<usize>) -> Request {
        let mut request = Request::new(Body::empty());
        request.extensions_mut().insert(BodyLimit(64 * UNIT));
        request.extensions_mut().insert(tenant);
        if let Some(length) = length {
            request.headers_mut().insert(header::CONTENT_LENGTH, length.into());
        }
        request
    }

    const ONE: TenantId = TenantId::DEFAULT;
    const OTHER: TenantId = TenantId(uuid::Uuid::from_u128(7));

    #[tokio::test]
    async fn bodies_wait_until_there_is_room() {
        let in_flight = InFlight::new(Held::Uploads, 200 * UNIT, Duration::from_millis(50));
        let first = in_flight.room(&request(ONE, Some(60 * UNIT))).await.expect("room");
        let refused = in_flight.room(&request(ONE, Some(60 * UNIT))).await.expect_err("no room").into_response();
        assert_eq!(refused.headers()[header::RETRY_AFTER], "10");
        let problem = refused.extensions().get::<Problem>().expect("a problem");
        assert_eq!((problem.status, problem.code.as_str()), (503, "uploads_busy"));
        assert_eq!(problem.extensions["value"], 200 * UNIT);
        assert_eq!(problem.extensions["asked"], 60 * UNIT);
        let small = in_flight.room(&request(ONE, Some(40 * UNIT))).await.expect("what is left");
        drop((first, small));
        in_flight.room(&request(ONE, Some(60 * UNIT))).await.expect("it was given back");
    }

    #[tokio::test]
    async fn what_one_tenant_holds_and_waits_for_keeps_no_other_waiting() {
        let in_flight = InFlight::new(Held::Uploads, 100 * UNIT, Duration::from_mins(1));
        let mut held = Vec::new();
        for _ in 0..5 {
            held.push(in_flight.room(&request(ONE, Some(10 * UNIT))).await.expect("half of it"));
        }
        let waiting: Vec<_> = (0..20).map(|_| tokio::spawn(in_flight.room(&request(ONE, Some(10 * UNIT))))).collect();
        tokio::task::yield_now().await;
        let of_other = in_flight.room(&request(OTHER, Some(64 * UNIT))).await.expect("the other half");
        assert!(waiting.iter().all(|one| !one.is_finished()));
        drop((of_other, held));
        for one in waiting {
            one.await.expect("no panic").expect("its turn");
        }
        drop(in_flight.room(&request(OTHER, None)).await);
        assert!(in_flight.shares.lock().expect("lock").len() <= 2, "shares of tenants without bodies are forgotten");
    }

    #[tokio::test]
    async fn room_that_is_not_waited_for_is_there_or_not() {
        let in_flight = InFlight::new(Held::Uploads, 200 * UNIT, Duration::from_millis(50));
        let held = in_flight.try_room(ONE, 60 * UNIT).expect("60 of 100");
        assert!(in_flight.try_room(ONE, 60 * UNIT).is_none());
        let of_other = in_flight.try_room(OTHER, 100 * UNIT).expect("its half");
        assert!(in_flight.try_room(ONE, 40 * UNIT).is_some(), "what was tried in vain is given back");
        drop((held, of_other));
        assert!(in_flight.try_room(ONE, 1_000 * UNIT).is_some(), "all of its half");
    }

    #[tokio::test]
    async fn a_body_of_unknown_length_takes_what_its_route_accepts() {
        let in_flight = InFlight::new(Held::Uploads, 200 * UNIT, Duration::from_millis(50));
        let _first = in_flight.room(&request(ONE, None)).await.expect("64 of 100");
        assert!(in_flight.room(&request(ONE, Some(37 * UNIT))).await.is_err());
        assert!(in_flight.room(&request(ONE, Some(36 * UNIT))).await.is_ok());
    }

    #[tokio::test]
    async fn one_that_needs_more_than_its_tenant_has_takes_all_of_that() {
        let in_flight = InFlight::new(Held::Uploads, 20 * UNIT, Duration::from_millis(50));
        let all = in_flight.room(&request(ONE, Some(1_000_000 * UNIT))).await.expect("alone");
        assert!(in_flight.room(&request(ONE, Some(1))).await.is_err());
        assert!(in_flight.room(&request(OTHER, Some(1))).await.is_ok());
        drop(all);
        assert!(in_flight.room(&request(ONE, Some(1))).await.is_ok());
    }
}
