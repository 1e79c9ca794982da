//! The HTTP layer. Handlers translate between requests and the services; they make no decisions.

mod acl;
mod answer;
mod ask;
mod audit;
mod authentication;
mod bulk;
mod check;
mod citations;
mod client_address;
mod collections;
mod cross_origin;
mod documents;
mod erasures;
mod export;
mod extract;
mod fields;
mod filter;
mod headers;
mod health;
mod held_body;
mod in_flight;
mod indexes;
mod ingest;
mod jobs;
mod json_object;
mod keys;
mod mcp;
mod metrics;
mod middleware;
mod multipart;
mod number;
mod openai;
mod openapi;
mod operations;
mod pagination;
mod problem;
mod public_url;
mod rate_limit;
mod refusals;
mod reply;
mod schema;
mod search;
mod security_events;
mod source;
mod splitting;
mod stages;
mod storage;
mod tenants;
mod trace;
mod watched_body;
mod web;
mod webhooks;

use std::{ops::Deref, sync::Arc, time::Duration};

use axum::{Extension, Router, extract::DefaultBodyLimit, http::StatusCode, response::IntoResponse};
use tower::ServiceBuilder;
use tower_http::{
    catch_panic::CatchPanicLayer,
    request_id::{MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer},
    timeout::TimeoutLayer,
};
use url::Url;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use client_address::{PeerAddress, TrustedProxies, host_of};
pub(crate) use cross_origin::{AllowedHosts, Settings as CrossOriginSettings};
pub(crate) use held_body::HeldBody;
pub(crate) use metrics::metrics_router;
pub use openapi::openapi_document;

use self::{
    in_flight::{Held, InFlight},
    operations::Needs,
};
use crate::service::{
    access::AccessService, context::Context, granted::UseCases, measurements::Measurements, readiness::Readiness,
    security_record::SecurityRecord,
};

/// Largest total size of path, query and headers of a request, in bytes.
pub(crate) const MAX_HEADER_BYTES: usize = 32 * 1024;
/// Largest body of the routes that accept a question or a name, in bytes.
const SMALL_BODY_BYTES: usize = 256 * 1024;

/// Limits of the HTTP layer.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Names of the service, and pages that may call it.
    pub cross_origin: CrossOriginSettings,
    /// Proxies whose word about the address of a client is believed.
    pub trusted_proxies: TrustedProxies,
    /// Largest body of the routes that accept documents, in bytes.
    pub max_body_bytes: usize,
    /// Most bytes of bodies of documents that are held at once.
    pub max_bytes_in_flight: usize,
    /// Whether the service speaks TLS itself.
    pub has_tls: bool,
    /// Address by which people reach the service; if not set, links lead to the address of the request.
    pub public_url: Option<Url>,
    /// Time limit of a request, apart from an ask's own limit.
    pub request_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cross_origin: CrossOriginSettings::default(),
            trusted_proxies: TrustedProxies::default(),
            max_body_bytes: 64 * 1024 * 1024,
            max_bytes_in_flight: 64 * 1024 * 1024,
            has_tls: false,
            public_url: None,
            request_timeout: Duration::from_mins(5),
        }
    }
}

/// The services behind the routes.
#[derive(Clone)]
pub(crate) struct Services {
    /// Recognises callers.
    pub access: AccessService,
    /// The use cases, for callers that may use them.
    pub use_cases: UseCases,
    /// Records changes and refusals.
    pub security_record: SecurityRecord,
    /// Whether requests can be served.
    pub readiness: Readiness,
    /// Counters and measured values.
    pub measurements: Measurements,
}

/// State that handlers receive. Shared, since layers and extractors clone it several times for each request.
#[derive(Clone)]
pub(crate) struct AppState(Arc<SharedState>);

impl Deref for AppState {
    type Target = SharedState;

    fn deref(&self) -> &SharedState {
        &self.0
    }
}

/// State that [`AppState`] shares.
pub(crate) struct SharedState {
    access: AccessService,
    use_cases: UseCases,
    security_record: SecurityRecord,
    readiness: Readiness,
    measurements: Measurements,
    needs: Arc<Needs>,
    context: Context,
    in_flight: InFlight,
    /// Room for the texts of documents in responses.
    downloads: InFlight,
    has_tls: bool,
    public_url: Option<Url>,
    /// Time that `?wait=true` waits for a job: a little less than the time limit of a request.
    longest_wait: Duration,
}

#[derive(Clone)]
struct NewRequestId(Context);

impl MakeRequestId for NewRequestId {
    fn make_request_id<B>(&mut self, _: &axum::http::Request<B>) -> Option<RequestId> {
        self.0.ids.next().to_string().parse().ok().map(RequestId::new)
    }
}

/// The whole service as one router; a test can call it without a socket.
pub(crate) fn router(services: Services, settings: &Settings, context: Context) -> Router {
    let metrics = services.measurements.metrics().clone();
    let hardening = headers::Hardening::new(settings.has_tls, web::login_origin(&services.access).as_deref());
    let longest_wait = settings.request_timeout.mul_f32(0.5);
    let room = |held| InFlight::new(held, settings.max_bytes_in_flight, longest_wait);
    let state = AppState(Arc::new(SharedState {
        access: services.access,
        use_cases: services.use_cases,
        security_record: services.security_record,
        readiness: services.readiness,
        measurements: services.measurements,
        needs: Arc::new(Needs::of(openapi_document())),
        context: context.clone(),
        in_flight: room(Held::Uploads),
        downloads: room(Held::Downloads),
        has_tls: settings.has_tls,
        public_url: settings.public_url.clone(),
        longest_wait: settings.request_timeout.mul_f32(0.9),
    }));
    let (v1, _) = v1_routes(settings.max_body_bytes).split_for_parts();
    let (streams, _) = stream_routes().split_for_parts();
    let (openai, _) = openai::routes().split_for_parts();
    let (cited_pages, _) = web::citation_routes().split_for_parts();
    let (mcp, _) = mcp::routes().split_for_parts();
    let (open, _) = open_routes().split_for_parts();
    let limit = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, settings.request_timeout);
    let authenticated = axum::middleware::from_fn_with_state(state.clone(), authentication::authenticate);
    let v1 = v1.layer(limit).merge(streams).layer(authenticated.clone());
    let openai = openai.layer(limit).layer(authenticated.clone()).layer(axum::middleware::from_fn(openai::as_openai));
    let challenge = axum::middleware::from_fn_with_state(state.clone(), mcp::challenge);
    let mcp = mcp.layer(limit).layer(authenticated.clone()).layer(challenge);
    let cited_pages = cited_pages.layer(limit).layer(authenticated).layer(axum::middleware::from_fn(web::as_pages));
    let cross_origin = Arc::new(settings.cross_origin.clone());
    let shared = ServiceBuilder::new()
        .layer(axum::middleware::from_fn_with_state(hardening, headers::harden))
        .option_layer(cross_origin.readable_by())
        .layer(axum::middleware::from_fn_with_state(settings.trusted_proxies.clone(), client_address::find_client))
        .layer(axum::middleware::from_fn(middleware::sane_request_id))
        .layer(SetRequestIdLayer::new(middleware::REQUEST_ID.clone(), NewRequestId(context)))
        .layer(PropagateRequestIdLayer::new(middleware::REQUEST_ID.clone()))
        .layer(axum::middleware::from_fn_with_state(metrics, middleware::log_request))
        .layer(axum::middleware::from_fn(middleware::complete_problem))
        .layer(axum::middleware::from_fn_with_state(state.clone(), refusals::record_refusals))
        .layer(axum::middleware::from_fn(middleware::limit_headers))
        .layer(axum::middleware::from_fn(middleware::refuse_encoded))
        .layer(axum::middleware::from_fn_with_state(cross_origin, cross_origin::refuse_foreign))
        .layer(CatchPanicLayer::custom(|panic: Box<dyn std::any::Any + Send>| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            problem::ApiError::internal(format!("a handler panicked: {text}")).into_response()
        }));
    Router::new()
        .merge(v1)
        .merge(openai)
        .merge(cited_pages)
        .merge(mcp)
        .merge(open.merge(openapi::pages()).merge(web::files()).layer(limit))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(shared)
        .with_state(state)
}

/// The routes that need a key, with their documentation.
fn v1_routes(max_body_bytes: usize) -> OpenApiRouter<AppState> {
    let large = OpenApiRouter::new()
        .routes(routes!(ingest::create_documents, documents::list_documents, documents::delete_documents))
        .layer(body_limit(max_body_bytes));
    let small = OpenApiRouter::new()
        .routes(routes!(ask::ask))
        .routes(routes!(ask::stream_ask))
        .routes(routes!(search::search))
        .routes(routes!(check::check))
        .routes(routes!(citations::get_citation))
        .routes(routes!(audit::list_asks))
        .routes(routes!(audit::get_ask))
        .routes(routes!(security_events::list_security_events))
        .routes(routes!(security_events::verify_security_events))
        .routes(routes!(collections::create_collection, collections::list_collections))
        .routes(routes!(collections::get_collection, collections::update_collection, collections::delete_collection))
        .routes(routes!(acl::get_collection_acl, acl::set_collection_acl, acl::update_collection_acl))
        .routes(routes!(indexes::build_index, indexes::list_indexes))
        .routes(routes!(indexes::activate_index))
        .routes(routes!(indexes::drop_index))
        .routes(routes!(export::export_collection))
        .routes(routes!(erasures::create_erasure, erasures::list_erasures))
        .routes(routes!(erasures::get_erasure))
        .routes(routes!(documents::get_document, documents::delete_document))
        .routes(routes!(acl::get_document_acl, acl::set_document_acl, acl::update_document_acl))
        .routes(routes!(documents::get_document_content))
        .routes(routes!(documents::list_document_chunks))
        .routes(routes!(jobs::list_jobs))
        .routes(routes!(jobs::get_job))
        .routes(routes!(jobs::cancel_job))
        .routes(routes!(jobs::retry_job))
        .routes(routes!(jobs::follow_job))
        .routes(routes!(keys::create_key, keys::list_keys))
        .routes(routes!(keys::get_key, keys::revoke_key))
        .routes(routes!(keys::rotate_key))
        .routes(routes!(webhooks::get_webhook_secret))
        .routes(routes!(tenants::create_tenant, tenants::list_tenants))
        .routes(routes!(tenants::get_tenant, tenants::update_tenant, tenants::delete_tenant))
        .routes(routes!(storage::get_storage))
        .routes(routes!(tenants::create_tenant_key))
        .routes(routes!(metrics::get_metrics))
        .layer(body_limit(SMALL_BODY_BYTES));
    let replace = OpenApiRouter::new().routes(routes!(ingest::replace_document)).layer(body_limit(max_body_bytes));
    large.merge(small).merge(replace)
}

/// Limits the bodies of these routes and makes the limit available to their handlers.
fn body_limit(bytes: usize) -> (DefaultBodyLimit, Extension<extract::BodyLimit>) {
    (DefaultBodyLimit::max(bytes), Extension(extract::BodyLimit(bytes)))
}

/// Routes that need a key and run as long as the client sends: they enforce their own time limits.
fn stream_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(bulk::stream_documents))
}

/// Routes that never need a key.
fn open_routes() -> OpenApiRouter<AppState> {
    let probes = OpenApiRouter::new().routes(routes!(health::livez)).routes(routes!(health::readyz));
    probes.merge(mcp::metadata_routes())
}
