//! Settings of ingest, and of the requests that it makes.

use std::{env, ffi::OsString, path::PathBuf, time::Duration};

use super::reader::{LONGEST_TIME, Reader};
use crate::{
    providers::outbound::{self, Destination, Rule},
    service::{ingest, vector_graphs},
    store::{GraphSizes, QueueLimits},
};

/// Requests to URLs that tenants name.
#[derive(Clone, Debug)]
pub(crate) struct OutboundSettings {
    /// Where documents by URL are fetched from.
    pub(crate) fetches: Rule,
    /// Where webhooks are sent to.
    pub(crate) webhooks: Rule,
    /// Longest request, from connecting to the last byte.
    pub(crate) timeout: Duration,
}

/// Reads the settings of ingest.
pub(super) fn read(reader: &mut Reader) -> ingest::Settings {
    let defaults = ingest::Settings::default();
    let settings = ingest::Settings {
        workers: reader.value("CITED_WORKERS", defaults.workers),
        lease: reader.seconds_within("CITED_LEASE_S", defaults.lease, ingest::MINIMUM_LEASE..=LONGEST_TIME),
        chunk_tokens: reader.value("CITED_CHUNK_TOKENS", defaults.chunk_tokens),
        language: reader.value("CITED_LANGUAGE", defaults.language),
        queue: QueueLimits {
            items: reader.value("CITED_QUEUE_MAX_DOCUMENTS", defaults.queue.items),
            bytes: reader.value("CITED_QUEUE_MAX_BYTES", defaults.queue.bytes),
        },
        fetch_max_bytes: reader.value("CITED_FETCH_MAX_BYTES", defaults.fetch_max_bytes),
        extraction: read_extraction(reader, defaults.extraction),
        contexts: read_contexts(reader, defaults.contexts),
        ..defaults
    };
    if let Err(fault) = settings.collection_defaults().splitter.check() {
        reader.fault(format!("CITED_CHUNK_TOKENS {fault}"));
    }
    settings
}

/// Reads whether the process that reads documents must have all locks, or does with those that the system has.
fn read_needs_locks(reader: &mut Reader) -> bool {
    let wanted = reader.value("CITED_EXTRACT_LOCKS", "available".to_owned());
    if !["available", "required"].contains(&wanted.as_str()) {
        reader.fault(format!("CITED_EXTRACT_LOCKS is {wanted:?}; write available or required"));
    }
    wanted == "required"
}

fn read_extraction(reader: &mut Reader, defaults: ingest::ExtractionSettings) -> ingest::ExtractionSettings {
    let settings = ingest::ExtractionSettings {
        program: reader.optional("CITED_EXTRACT_PROGRAM").unwrap_or(defaults.program),
        timeout: reader.seconds("CITED_EXTRACT_TIMEOUT_S", defaults.timeout),
        memory_mib: reader.value("CITED_EXTRACT_MEMORY_MIB", defaults.memory_mib),
        needs_locks: read_needs_locks(reader),
        recognition: read_recognition(reader),
    };
    if settings.memory_mib < ingest::MINIMUM_EXTRACTION_MEMORY_MIB {
        reader.fault(format!("CITED_EXTRACT_MEMORY_MIB must be {} or more", ingest::MINIMUM_EXTRACTION_MEMORY_MIB));
    }
    settings
}

/// Reads which program recognises text in pictures: `auto` is tesseract where it is installed.
fn read_recognition(reader: &mut Reader) -> Option<ingest::RecognitionSettings> {
    let wanted = reader.value("CITED_OCR", "auto".to_owned());
    let languages = reader.value("CITED_OCR_LANGUAGES", "eng".to_owned());
    let timeout = reader.seconds("CITED_OCR_TIMEOUT_S", Duration::from_mins(5));
    let is_name = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '/' | '-' | '+');
    if languages.is_empty() || languages.starts_with('-') || !languages.chars().all(is_name) {
        reader.fault(format!("CITED_OCR_LANGUAGES is {languages:?}; name languages of tesseract, such as eng+deu"));
    }
    let program = match wanted.as_str() {
        "off" => None,
        "auto" => {
            let folders = reader.environment.get("PATH").map(OsString::from).unwrap_or_default();
            env::split_paths(&folders).map(|folder| folder.join("tesseract")).find(|program| program.is_file())
        }
        path => {
            let program = PathBuf::from(path);
            if !program.is_file() {
                reader.fault(format!("CITED_OCR is {path:?}; write auto, off, or the path of the program tesseract"));
            }
            Some(program)
        }
    };
    program.map(|program| ingest::RecognitionSettings { program, languages, timeout })
}

fn read_contexts(reader: &mut Reader, defaults: ingest::ContextSettings) -> ingest::ContextSettings {
    let settings = ingest::ContextSettings {
        calls: reader.value("CITED_CONTEXT_CALLS", defaults.calls),
        prompt_tokens: reader.value("CITED_CONTEXT_PROMPT_TOKENS", defaults.prompt_tokens),
        timeout: reader.seconds("CITED_CONTEXT_TIMEOUT_S", defaults.timeout),
    };
    if settings.prompt_tokens < ingest::MINIMUM_CONTEXT_PROMPT_TOKENS {
        reader.fault(format!("CITED_CONTEXT_PROMPT_TOKENS must be {} or more", ingest::MINIMUM_CONTEXT_PROMPT_TOKENS));
    }
    settings
}

/// Reads where requests of one purpose may go in addition.
pub(super) fn read_destinations(reader: &mut Reader, setting: &'static str) -> Vec<Destination> {
    let form = "hosts or networks with their port, like wiki.internal:8080 or 10.1.0.0/16:443";
    reader.list(setting, form, |entry| entry.parse().ok())
}

/// Reads the settings of requests that documents by URL and webhooks cause.
pub(super) fn read_outbound(reader: &mut Reader) -> OutboundSettings {
    let mut rule = |setting| Rule::for_tenants(setting, read_destinations(reader, setting));
    OutboundSettings {
        fetches: rule("CITED_FETCH_ALLOW"),
        webhooks: rule("CITED_WEBHOOK_ALLOW"),
        timeout: reader.seconds("CITED_OUTBOUND_TIMEOUT_S", outbound::TIMEOUT),
    }
}

/// Reads the numbers of vectors from which a collection has a graph, and one of bits.
pub(super) fn read_vector_graphs(reader: &mut Reader) -> GraphSizes {
    let from = reader.value("CITED_VECTOR_GRAPH_FROM", vector_graphs::GRAPH_FROM);
    if from < vector_graphs::LEAST_GRAPH_FROM {
        reader.fault(format!("CITED_VECTOR_GRAPH_FROM must be {} or more", vector_graphs::LEAST_GRAPH_FROM));
    }
    let bits_from = reader.value("CITED_VECTOR_BITS_FROM", vector_graphs::BITS_FROM);
    if bits_from < vector_graphs::LEAST_GRAPH_FROM {
        reader.fault(format!("CITED_VECTOR_BITS_FROM must be {} or more", vector_graphs::LEAST_GRAPH_FROM));
    }
    GraphSizes { from, bits_from }
}
