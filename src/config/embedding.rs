//! Embedding models: the `CITED_EMBEDDING_*` variables for the model of new collections, and the `embeddings` tables of
//! the file for other models that collections were made with or move to.

use std::time::Duration;

use super::{reader::Reader, table::Table};
use crate::{
    domain::{cost::Price, fusion::DenseWeight},
    providers::{BUILT_IN_EMBEDDER, Endpoint, openai},
};

/// Time limit of a call unless configured otherwise.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The model of new collections; `None` is the built-in model.
pub(super) fn read(reader: &mut Reader) -> Option<openai::EmbeddingSettings> {
    let base_url = reader.url("CITED_EMBEDDING_BASE_URL");
    let model = reader.optional::<String>("CITED_EMBEDDING_MODEL");
    let api_key = reader.secret("CITED_EMBEDDING_API_KEY");
    let dimension = reader.optional::<usize>("CITED_EMBEDDING_DIMENSION");
    let window = reader.value("CITED_EMBEDDING_WINDOW", openai::DEFAULT_EMBEDDING_WINDOW);
    let timeout = reader.seconds("CITED_EMBEDDING_TIMEOUT_S", TIMEOUT);
    let usd = reader.optional::<f64>("CITED_EMBEDDING_USD_PER_MILLION");
    let price = checked(usd, price, |why| reader.fault(format!("CITED_EMBEDDING_USD_PER_MILLION {why}")));
    let share = reader.optional::<f64>("CITED_EMBEDDING_DENSE_WEIGHT");
    let dense_weight =
        checked(share, DenseWeight::new, |why| reader.fault(format!("CITED_EMBEDDING_DENSE_WEIGHT: {why}")));
    if window < openai::MINIMUM_EMBEDDING_WINDOW {
        reader.fault(format!(
            "CITED_EMBEDDING_WINDOW is {window}; it must be {} or more",
            openai::MINIMUM_EMBEDDING_WINDOW
        ));
    }
    let (base_url, model) = reader.both("CITED_EMBEDDING_BASE_URL", base_url, "CITED_EMBEDDING_MODEL", model)?;
    Some(openai::EmbeddingSettings {
        endpoint: Endpoint { base_url, model, api_key, timeout },
        dimension,
        window,
        price,
        dense_weight,
    })
}

/// The additional models; `None` is the built-in model.
pub(super) fn read_further(
    reader: &mut Reader,
    first: Option<&openai::EmbeddingSettings>,
) -> Vec<Option<openai::EmbeddingSettings>> {
    let name_of = |settings: Option<&openai::EmbeddingSettings>| {
        settings.map_or(BUILT_IN_EMBEDDER, |settings| settings.endpoint.model.as_str()).to_owned()
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
    let api_key = table.api_key();
    let dimension = table.whole("dimension");
    let window = table.whole("window").unwrap_or(openai::DEFAULT_EMBEDDING_WINDOW);
    if window < openai::MINIMUM_EMBEDDING_WINDOW {
        table.fault("window", format!("must be {} or more", openai::MINIMUM_EMBEDDING_WINDOW));
    }
    let timeout = table.seconds("timeout_s", TIMEOUT);
    let price = checked(table.number("usd_per_million"), price, |why| table.fault("usd_per_million", why));
    let dense_weight = checked(table.number("dense_weight"), DenseWeight::new, |why| {
        table.fault("dense_weight", format_args!("is refused: {why}"));
    });
    let (Some(base_url), Some(model)) = (base_url, model) else {
        table.fault("model", "and base_url must both be set, or built_in = true");
        return None;
    };
    Some(openai::EmbeddingSettings {
        endpoint: Endpoint { base_url, model, api_key, timeout },
        dimension,
        window,
        price,
        dense_weight,
    })
}

/// Price of tokens at this many dollars per million.
fn price(usd_per_million: f64) -> Result<Price, &'static str> {
    Price::per_million(usd_per_million, 0.0).ok_or("must be US dollars for a million tokens, from 0 to 1,000,000")
}

/// Converts a configured number; the default if none is set or if it is refused, which is reported as a fault.
fn checked<Value: Default, Why>(
    set: Option<f64>,
    read: impl FnOnce(f64) -> Result<Value, Why>,
    fault: impl FnOnce(Why),
) -> Value {
    set.map_or_else(|| Ok(Value::default()), read).unwrap_or_else(|why| {
        fault(why);
        Value::default()
    })
}
