//! Export of traces, by the standard variables of OpenTelemetry. Those that are not read here (headers, sampler, batches,
//! attributes of the resource) are read by its library.

use super::reader::Reader;
use crate::telemetry::TraceSettings;

/// The protocol that is spoken.
const PROTOCOL: &str = "http/protobuf";
/// Path of traces at a collector.
const PATH: &str = "v1/traces";

/// Where traces are sent; `None` if nowhere.
pub(super) fn read(reader: &mut Reader) -> Option<TraceSettings> {
    let collector = reader.url("OTEL_EXPORTER_OTLP_ENDPOINT");
    let endpoint = reader.url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    let is_off = reader.value("OTEL_SDK_DISABLED", false);
    let service_name = reader.value("OTEL_SERVICE_NAME", "cited".to_owned());
    let protocol = reader.value("OTEL_EXPORTER_OTLP_PROTOCOL", PROTOCOL.to_owned());
    let for_collector = collector.and_then(|mut url| {
        url.path_segments_mut().ok()?.pop_if_empty().extend(PATH.split('/'));
        Some(url)
    });
    let endpoint = endpoint.or(for_collector).filter(|_| !is_off)?;
    if protocol != PROTOCOL {
        reader.fault(format!(
            "OTEL_EXPORTER_OTLP_PROTOCOL is {protocol:?}; only {PROTOCOL} is spoken, which collectors take at port 4318"
        ));
    }
    Some(TraceSettings { endpoint, service_name })
}
