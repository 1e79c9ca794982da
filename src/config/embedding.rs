//! Embedding models: the `CITED_EMBEDDING_*` variables for the one of new collections, and the tables `embeddings` of the
//! file for others that collections were made with or move to.

use std::time::Duration;

use super::{reader::Reader, table::Table};
use crate::providers::{BUILT_IN_EMBEDDER, openai};

/// Longest call unless configured otherwise.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The model of new collections; none is the built-in one.
pub(super) fn read(reader: &mut Reader) -> Option<openai::EmbeddingSettings> {
    let base_url = reader.url("CITED_EMBEDDING_BASE_URL");
    let model = reader.optional::<String>("CITED_EMBEDDING_MODEL");
    let api_key = reader.secret("CITED_EMBEDDING_API_KEY");
    let dimension = reader.optional::<usize>("CITED_EMBEDDING_DIMENSION");
    let window = reader.value("CITED_EMBEDDING_WINDOW", openai::DEFAULT_EMBEDDING_WINDOW);
    let timeout = reader.seconds("CITED_EMBEDDING_TIMEOUT_S", TIMEOUT);
    if window < openai::MINIMUM_EMBEDDING_WINDOW {
        reader.fault(format!(
            "CITED_EMBEDDING_WINDOW is {window}; it must be {} or more",
            openai::MINIMUM_EMBEDDING_WINDOW
        ));
    }
    match (base_url, model) {
        (Some(base_url), Some(model)) => {
            Some(openai::EmbeddingSettings { base_url, model, api_key, timeout, dimension, window })
        }
        (None, None) => None,
        _ => {
            reader.fault(
                "CITED_EMBEDDING_BASE_URL and CITED_EMBEDDING_MODEL belong together; set both or neither".to_owned(),
            );
            None
        }
    }
}

/// The models beside it; none is the built-in one.
pub(super) fn read_further(
    reader: &mut Reader,
    first: Option<&openai::EmbeddingSettings>,
) -> Vec<Option<openai::EmbeddingSettings>> {
    let name_of = |settings: Option<&openai::EmbeddingSettings>| {
        settings.map_or(BUILT_IN_EMBEDDER, |settings| settings.model.as_str()).to_owned()
    };
    let mut models = vec![name_of(first)];
    let mut further = Vec::new();
    for (name, values) in reader.tables("embeddings") {
        let path = format!("embeddings.{name}");
        let mut table = Table::new(reader, path.clone(), values);
        let settings =
            if table.flag("built_in") == Some(true) { Some(None) } else { read_server(&mut table).map(Some) };
        table.finish();
        let Some(settings) = settings else { continue };
        let model = name_of(settings.as_ref());
        if models.contains(&model) {
            reader.fault(format!("{path} is the model {model:?}, which is there already; a model has one place"));
            continue;
        }
        models.push(model);
        further.push(settings);
    }
    further
}

fn read_server(table: &mut Table<'_>) -> Option<openai::EmbeddingSettings> {
    let (base_url, model) = (table.url("base_url"), table.parsed::<String>("model"));
    let api_key = match (table.secret("api_key"), table.secret_from_environment("api_key_env")) {
        (Some(_), Some(_)) => {
            table.fault("api_key", "and api_key_env are both set; use one of them");
            None
        }
        (given, from_environment) => given.or(from_environment),
    };
    let dimension = table.whole("dimension");
    let window = table.whole("window").unwrap_or(openai::DEFAULT_EMBEDDING_WINDOW);
    if window < openai::MINIMUM_EMBEDDING_WINDOW {
        table.fault("window", format!("must be {} or more", openai::MINIMUM_EMBEDDING_WINDOW));
    }
    let timeout = table.seconds("timeout_s", TIMEOUT);
    let (Some(base_url), Some(model)) = (base_url, model) else {
        table.fault("model", "and base_url must both be set, or built_in = true");
        return None;
    };
    Some(openai::EmbeddingSettings { base_url, model, api_key, timeout, dimension, window })
}
