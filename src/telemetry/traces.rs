//! Export of spans by OTLP, as protobuf over HTTP.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracer, SdkTracerProvider},
};
use tokio::runtime::Handle;
use url::Url;

/// Longest request to the collector.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest wait at the end for the collector to take what is left.
const LAST_EXPORT: Duration = Duration::from_secs(5);

/// Where traces are sent.
#[derive(Clone, Debug)]
pub(crate) struct TraceSettings {
    /// URL of the collector for traces.
    pub(crate) endpoint: Url,
    /// Name of the service in the traces.
    pub(crate) service_name: String,
}

/// Sends spans in batches, from a thread of its own; what the collector does not take in time is dropped.
pub(super) struct TraceExport(SdkTracerProvider);

impl TraceExport {
    pub(super) fn start(settings: &TraceSettings) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let collector = Collector { http, runtime: Handle::current(), is_away: AtomicBool::new(false) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(collector)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(settings.endpoint.as_str())
            .build()?;
        let resource = Resource::builder()
            .with_service_name(settings.service_name.clone())
            .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build());
        Ok(Self(provider.build()))
    }

    pub(super) fn tracer(&self) -> SdkTracer {
        self.0.tracer("cited")
    }

    /// Sends what is left.
    pub(super) async fn end(self) {
        let ending = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(LAST_EXPORT));
        if !matches!(ending.await, Ok(Ok(()))) {
            tracing::warn!("the last traces could not be sent to the collector; they are dropped");
        }
    }
}

/// The collector. The thread that exports has no runtime, so requests are made on that of the service.
#[derive(Debug)]
struct Collector {
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last request failed: only changes are logged.
    is_away: AtomicBool,
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let http = self.http.clone();
        let result = self.runtime.spawn(async move { send(&http, request).await }).await?;
        match &result {
            Ok(response) if response.status().is_success() => {
                if self.is_away.swap(false, Ordering::Relaxed) {
                    tracing::info!("the collector of traces takes them again");
                }
            }
            Ok(response) => self.note_failure(&format!("it answers HTTP {}", response.status().as_u16())),
            Err(error) => self.note_failure(&error.to_string()),
        }
        result
    }
}

impl Collector {
    fn note_failure(&self, reason: &str) {
        if !self.is_away.swap(true, Ordering::Relaxed) {
            tracing::warn!(reason, "the collector of traces does not take them; they are dropped until it does");
        }
    }
}

async fn send(http: &reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let response = http.execute(request.try_into()?).await.map_err(reqwest::Error::without_url)?;
    let (status, body) = (response.status(), response.bytes().await?);
    Ok(Response::builder().status(status).body(body)?)
}
