//! Configuration: environment first, then `cited.toml`, then defaults. The only file that reads the
//! environment. Everything is checked at start and all faults are reported at once.

mod access;
mod ask;
mod chat;
mod embedding;
mod http;
mod ingest;
mod misspelt;
mod reader;
mod retrieval;
mod table;
mod traces;

use std::{
    collections::BTreeMap, ffi::OsString, fmt, net::SocketAddr, num::NonZeroUsize, os::unix::fs::PermissionsExt as _,
    path::PathBuf,
};

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use self::reader::{Reader, Readings, entries};
pub(crate) use self::{misspelt::UnknownVariable, table::hide_secrets};
use crate::{
    domain::storage::StorageQuotas,
    providers::{Endpoint, chat::ChatSettings, openai, outbound::WebhookSecret, web_search},
    server,
    service::{
        self, ask::Settings as AskSettings, instructions::RoleInstructions, quotas, retrieval::RetrievalSettings,
        sweep::Retention,
    },
    store::{GraphSizes, PoolSettings},
    telemetry,
};

/// Name of the variable that holds the path of the configuration file.
const FILE_VARIABLE: &str = "CITED_CONFIG";
/// The file that is read if [`FILE_VARIABLE`] is not set and the file exists.
const DEFAULT_FILE: &str = "cited.toml";
/// Most connections of a pool with the embedded database: three pools share them, one of them half as large, with what
/// listens, watches and migrates.
const MOST_EMBEDDED_CONNECTIONS: u32 = (embedded_postgres::MAX_CONNECTIONS - 10) * 2 / 5;

/// All settings of the service.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// Address of a listener of the metrics alone, which needs no key.
    pub metrics_listen: Option<SocketAddr>,
    /// Location of the database.
    pub database: Database,
    /// Connection pools of the database.
    pub pools: PoolSettings,
    /// Numbers of vectors from which a collection has a vector graph of its own.
    pub vector_graphs: GraphSizes,
    /// Settings of the listener.
    pub server: server::Settings,
    /// Keys of the operator, and the secret of all other keys.
    pub(crate) access: service::access::Settings,
    /// Limits of the HTTP layer.
    pub http: crate::http::Settings,
    /// Chat providers for grading, rewriting and answering; without any, the built-in parts do this.
    pub chat: ChatSettings,
    /// Whether model servers on this machine are looked for, to name them, if no provider is configured.
    pub(crate) looks_for_models: bool,
    /// Instructions of the deployment to the chat models, by role.
    pub(crate) instructions: RoleInstructions,
    /// The embedding provider of new collections; `None` is the built-in model.
    pub(crate) embedding: Option<openai::EmbeddingSettings>,
    /// Additional embedding models, for collections that were made with them or move to them; `None` is the built-in
    /// model.
    pub(crate) further_embeddings: Vec<Option<openai::EmbeddingSettings>>,
    /// Settings of retrieval.
    pub retrieval: RetrievalSettings,
    /// A reranking model; without one, the built-in features order the best passages.
    pub(crate) reranker: Option<Endpoint>,
    /// Number of threads of the built-in embedding model for documents.
    pub embedding_threads: NonZeroUsize,
    /// Settings of ingest.
    pub(crate) ingest: service::ingest::Settings,
    /// Requests to URLs that come from outside.
    pub(crate) outbound: ingest::OutboundSettings,
    /// A search engine that is used if the documents do not suffice.
    pub(crate) web_search: Option<web_search::Settings>,
    /// How much a key may do in a day.
    pub(crate) quotas: quotas::Settings,
    /// How much a tenant may keep that has no quotas of its own.
    pub(crate) storage_quotas: StorageQuotas,
    /// The service that commands connect to, if it is not the one on this machine, and its key.
    pub remote: Remote,
    /// Secret that those of the receivers of webhooks are derived from; if `None`, no webhooks are sent.
    pub(crate) webhook_secret: Option<WebhookSecret>,
    /// Defaults and limits of an ask.
    pub(crate) ask: AskSettings,
    /// How long rows of the records are kept.
    pub retention: Retention,
    /// Settings of the log.
    pub(crate) log: telemetry::Settings,
    /// Where traces are sent; `None` if nowhere.
    pub(crate) traces: Option<telemetry::TraceSettings>,
    effective: Vec<EffectiveValue>,
    unknown_variables: Vec<UnknownVariable>,
    /// The configuration file, if it holds a secret and other users of the machine may read it.
    exposed_file: Option<String>,
}

/// A service on another machine.
#[derive(Clone, Debug)]
pub struct Remote {
    /// URL of the service.
    pub server: Option<Url>,
    /// Key for the service.
    pub key: Option<SecretString>,
}

/// Location of the database.
#[derive(Clone, Debug)]
pub enum Database {
    /// A server that the operator runs.
    Server {
        /// Connection URL for everything.
        primary: SecretString,
        /// Connection URLs of the replicas for retrieval.
        replicas: Vec<SecretString>,
        /// Connection URL of Postgres itself, if the others lead through a pooler in transaction mode.
        direct: Option<SecretString>,
    },
    /// A private server that starts and stops with the service.
    Private(embedded_postgres::Settings),
}

/// A setting as it is in force, for `cited doctor`.
#[derive(Clone, Debug)]
pub struct EffectiveValue {
    /// Name of the variable, or path in the file.
    pub name: String,
    /// Its value; secrets are not shown.
    pub value: String,
    /// Source of the value.
    pub origin: Origin,
}

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The environment.
    Environment,
    /// The configuration file.
    File,
    /// The default: the setting is not configured.
    Default,
}

/// All faults of a configuration.
#[derive(Debug)]
pub struct ConfigError {
    faults: Vec<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.faults.len() == 1 { "" } else { "s" };
        write!(formatter, "the configuration has {} fault{plural}:", self.faults.len())?;
        self.faults.iter().try_for_each(|fault| write!(formatter, "\n  - {fault}"))
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads environment and file.
    ///
    /// # Errors
    /// All faults at once.
    pub fn load() -> Result<Self, ConfigError> {
        let environment: BTreeMap<String, String> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = environment.get(FILE_VARIABLE).cloned();
        let path = named.clone().unwrap_or_else(|| DEFAULT_FILE.to_owned());
        let file = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if named.is_none() => String::new(),
            Err(error) => {
                return Err(ConfigError {
                    faults: vec![format!("{FILE_VARIABLE} names {path}, which cannot be read: {error}")],
                });
            }
        };
        Ok(Self::from_sources(environment, &file)?.read_from(path))
    }

    /// The same with the path of its file, which may be readable by others though it holds a secret.
    fn read_from(self, path: String) -> Self {
        let exposed_file = (self.file_has_secret() && is_readable_by_others(&path)).then_some(path);
        Self { exposed_file, ..self }
    }

    /// Whether a secret stands in the configuration file itself.
    fn file_has_secret(&self) -> bool {
        self.effective.iter().any(|value| value.origin == Origin::File && value.value == reader::NOT_SHOWN)
    }

    /// Reads from given sources: variables by name, and the text of a configuration file.
    ///
    /// # Errors
    /// All faults at once.
    pub fn from_sources(environment: BTreeMap<String, String>, file: &str) -> Result<Self, ConfigError> {
        let mut reader = Reader::new(environment, file);
        let listen = reader.value("CITED_LISTEN", SocketAddr::from(([127, 0, 0, 1], 8080)));
        let metrics_listen = reader.optional("CITED_METRICS_LISTEN");
        let database = read_database(&mut reader);
        let pools = read_pools(&mut reader, &database);
        let vector_graphs = ingest::read_vector_graphs(&mut reader);
        let server = http::read_server(&mut reader);
        let access = access::read(&mut reader, listen);
        let quotas = access::read_quotas(&mut reader);
        let storage_quotas = access::read_storage_quotas(&mut reader);
        let http = http::read(&mut reader, listen, &server, !access.operator_keys.is_empty());
        let chat = chat::read(&mut reader);
        let looks_for_models = reader.value("CITED_LOOK_FOR_MODELS", true);
        let instructions = chat::read_instructions(&mut reader);
        let embedding = embedding::read(&mut reader);
        let further_embeddings = embedding::read_further(&mut reader, embedding.as_ref());
        let retrieval = retrieval::read(&mut reader);
        let reranker = retrieval::read_reranker(&mut reader);
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let embedding_threads = reader.value("CITED_EMBEDDING_THREADS", cores);
        let ingest = ingest::read(&mut reader);
        let outbound = ingest::read_outbound(&mut reader);
        let web_search = ask::read_web_search(&mut reader);
        let remote =
            Remote { server: http::read_address(&mut reader, "CITED_SERVER"), key: reader.secret("CITED_API_KEY") };
        let webhook_secret = read_webhook_secret(&mut reader);
        let ask = ask::read(&mut reader);
        let retention = ask::read_retention(&mut reader);
        let log = telemetry::Settings {
            filter: reader.value("CITED_LOG", telemetry::LogFilter::default()),
            format: reader.value("CITED_LOG_FORMAT", telemetry::Format::default()),
        };
        let traces = traces::read(&mut reader);
        reader.finish(|Readings { effective, unknown_variables }| Self {
            listen,
            metrics_listen,
            database,
            pools,
            vector_graphs,
            server,
            access,
            http,
            chat,
            looks_for_models,
            instructions,
            embedding,
            further_embeddings,
            retrieval,
            reranker,
            embedding_threads,
            ingest,
            outbound,
            web_search,
            quotas,
            storage_quotas,
            remote,
            webhook_secret,
            ask,
            retention,
            log,
            traces,
            effective,
            unknown_variables,
            exposed_file: None,
        })
    }

    /// Every setting as it is in force.
    #[must_use]
    pub fn effective(&self) -> &[EffectiveValue] {
        &self.effective
    }

    /// Variables of the environment that are named like settings and are none.
    #[must_use]
    pub(crate) fn unknown_variables(&self) -> &[UnknownVariable] {
        &self.unknown_variables
    }

    /// A warning about secrets in a configuration file that others may read.
    pub(crate) fn exposure(&self) -> Option<String> {
        let path = self.exposed_file.as_ref()?;
        Some(format!("{path} holds a secret, and other users of this machine may read it; chmod 600 {path}"))
    }

    /// Warnings about models that requests may name and that are not configured.
    pub(crate) fn unconfigured_choices(&self) -> impl Iterator<Item = String> {
        let named = self.ask.choice.iter().flatten().filter(|name| !self.chat.models.contains_key(name));
        named.map(|name| {
            format!("CITED_ASK_MODELS has {name}, which is not configured; configure it, or take it off the list")
        })
    }
}

/// Whether users that are neither the owner of a file nor of its group may read it.
fn is_readable_by_others(path: &str) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.permissions().mode() & 0o004 != 0)
}

fn read_database(reader: &mut Reader) -> Database {
    let primary = reader.secret("DATABASE_URL");
    let replicas = reader.secret("DATABASE_READ_URL");
    let direct = reader.secret("DATABASE_DIRECT_URL");
    let folders = reader.folders();
    let bin_dir = reader.optional::<PathBuf>("CITED_POSTGRES_BIN");
    let data_dir = reader.optional::<PathBuf>("CITED_DATA_DIR");
    if let Some(primary) = primary {
        let listed = replicas.iter().flat_map(|list| entries(list.expose_secret()));
        return Database::Server { primary, replicas: listed.map(SecretString::from).collect(), direct };
    }
    for (name, url) in [("DATABASE_READ_URL", &replicas), ("DATABASE_DIRECT_URL", &direct)] {
        if url.is_some() {
            reader.fault(format!("{name} is set without DATABASE_URL; set both, or neither for the embedded database"));
        }
    }
    let data_dir = data_dir.map_or_else(|| embedded_postgres::Settings::default_data_dir(&folders), Ok);
    let cache_dir = embedded_postgres::Settings::default_cache_dir(&folders);
    for error in [data_dir.as_ref().err(), cache_dir.as_ref().err()].into_iter().flatten() {
        reader.fault(error.to_string());
    }
    Database::Private(embedded_postgres::Settings {
        data_dir: data_dir.unwrap_or_default(),
        bin_dir,
        cache_dir: cache_dir.unwrap_or_default(),
        search_path: reader.environment.get("PATH").map(OsString::from),
        durability: embedded_postgres::Durability::Full,
    })
}

fn read_pools(reader: &mut Reader, database: &Database) -> PoolSettings {
    let defaults = PoolSettings::default();
    let max_connections = reader.value("CITED_DATABASE_CONNECTIONS", defaults.max_connections);
    if max_connections == 0 {
        reader.fault("CITED_DATABASE_CONNECTIONS must be 1 or more".to_owned());
    }
    if matches!(database, Database::Private(_)) && max_connections > MOST_EMBEDDED_CONNECTIONS {
        reader.fault(format!(
            "CITED_DATABASE_CONNECTIONS is {max_connections}; with the embedded database it must be \
             {MOST_EMBEDDED_CONNECTIONS} or less, since three pools share its {} connections; set DATABASE_URL for a \
             server that takes more",
            embedded_postgres::MAX_CONNECTIONS
        ));
    }
    PoolSettings {
        max_connections,
        write_timeout: reader.seconds("CITED_DATABASE_STATEMENT_TIMEOUT_S", defaults.write_timeout),
        lock_timeout: reader.seconds("CITED_DATABASE_LOCK_TIMEOUT_S", defaults.lock_timeout),
        ..defaults
    }
}

fn read_webhook_secret(reader: &mut Reader) -> Option<WebhookSecret> {
    let secret = reader.secret("CITED_WEBHOOK_SECRET")?;
    WebhookSecret::parse(&secret).map_err(|error| reader.fault(format!("CITED_WEBHOOK_SECRET {error}"))).ok()
}

#[cfg(test)]
mod tests;
