//! Models of the OpenAI-compatible routes: a model is the collections that answers come from.

use axum::Json;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde::Serialize;
use utoipa::ToSchema;

use super::super::{extract::ValidPath, fields::MAX_COLLECTIONS, problem::ApiError};
use crate::{
    domain::citation::MarkerStyle,
    service::{collections::CollectionSummary, granted::Granted},
};

/// Name of the model that answers from all collections, and owner of all models.
const ALL: &str = "cited";
/// Number of collections that are read at once.
const PAGE: i64 = 100;
/// Characters that separate the parts of a model's name, and the one that escapes them in the names of collections.
const SEPARATORS: &AsciiSet = &CONTROLS.add(b'+').add(b':').add(b'/').add(b'%');

/// A model's name: `cited` for all collections, or `cited/NAME`, or `NAME`; several names joined by `+`; at the end `:`
/// and a notation of citations. Other characters of these kinds in a name are percent-encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelRef {
    /// The collections; none for all.
    collections: Vec<String>,
    pub(super) style: MarkerStyle,
}

impl ModelRef {
    /// Reads a name.
    ///
    /// # Errors
    /// 422 if the part after `:` is no notation of citations.
    pub(super) fn read(name: &str) -> Result<Self, ApiError> {
        let (name, style) = match name.rsplit_once(':') {
            None => (name, MarkerStyle::default()),
            Some((name, style)) => {
                let style = style.parse().map_err(|unknown| {
                    ApiError::invalid_field("/model", format!("ends with {:?}; {unknown}", format!(":{style}")))
                })?;
                (name, style)
            }
        };
        if name == ALL {
            return Ok(Self { collections: Vec::new(), style });
        }
        let names = name.strip_prefix(ALL).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
        let decoded = |name: &str| percent_decode_str(name).decode_utf8_lossy().into_owned();
        Ok(Self { collections: names.split('+').map(decoded).collect(), style })
    }

    /// The names of its collections.
    ///
    /// # Errors
    /// 422 if all are meant, and there are more than one ask may name; store errors.
    pub(super) async fn collections(self, granted: &Granted) -> Result<Vec<String>, ApiError> {
        if !self.collections.is_empty() {
            return Ok(self.collections);
        }
        let limit = i64::try_from(MAX_COLLECTIONS).unwrap_or(i64::MAX).saturating_add(1);
        let all = granted.collections(None, limit).await?;
        if all.len() > MAX_COLLECTIONS {
            let detail = format!(
                "there are more than {MAX_COLLECTIONS} collections, the most that one question may be put to; name \
                 some of them, as in cited/handbook+policies"
            );
            return Err(ApiError::invalid_field("/model", detail));
        }
        Ok(all.into_iter().map(|summary| summary.collection.name).collect())
    }
}

/// The models: one for each collection, and one for all of them.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModelList)]
pub(in crate::http) struct ModelListBody {
    #[schema(example = "list")]
    object: &'static str,
    /// The models, `cited` first.
    data: Vec<ModelBody>,
}

/// A collection, or all of them, as a model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Model)]
pub(in crate::http) struct ModelBody {
    /// Name of the model in requests.
    #[schema(example = "cited/handbook")]
    id: String,
    #[schema(example = "model")]
    object: &'static str,
    /// When the collection was created, in seconds since 1970; 0 for all collections.
    created: i64,
    #[schema(example = "cited")]
    owned_by: &'static str,
    /// Name for people.
    #[schema(example = "handbook (12 documents)")]
    name: String,
}

impl ModelBody {
    fn all() -> Self {
        Self { id: ALL.to_owned(), object: "model", created: 0, owned_by: ALL, name: "All collections".to_owned() }
    }

    fn of(summary: &CollectionSummary) -> Self {
        let CollectionSummary { collection, documents, .. } = summary;
        let plural = if *documents == 1 { "" } else { "s" };
        Self {
            id: format!("{ALL}/{}", utf8_percent_encode(&collection.name, SEPARATORS)),
            object: "model",
            created: collection.created_at.unix_timestamp(),
            owned_by: ALL,
            name: format!("{} ({documents} document{plural})", collection.name),
        }
    }
}

/// List models
///
/// OpenAI-compatible. Each collection is a model, and `cited` is all of them.
#[utoipa::path(get, path = "/v1/models", tag = "openai", responses((status = 200, description = "The models", body = ModelListBody)))]
pub(in crate::http) async fn list_models(granted: Granted) -> Result<Json<ModelListBody>, ApiError> {
    let mut data = vec![ModelBody::all()];
    let mut after: Option<String> = None;
    loop {
        let page = granted.collections(after.as_deref(), PAGE).await?;
        data.extend(page.iter().map(ModelBody::of));
        let is_full = i64::try_from(page.len()).is_ok_and(|rows| rows == PAGE);
        match page.last().filter(|_| is_full) {
            Some(last) => after = Some(last.collection.name.clone()),
            None => return Ok(Json(ModelListBody { object: "list", data })),
        }
    }
}

/// Get a model
///
/// OpenAI-compatible. `/` in the name is percent-encoded.
#[utoipa::path(
    get, path = "/v1/models/{model}", tag = "openai",
    params(("model" = String, Path, description = "Name of the model, percent-encoded", example = "cited/handbook")),
    responses((status = 200, description = "The model", body = ModelBody)),
)]
pub(in crate::http) async fn get_model(
    granted: Granted,
    ValidPath(model): ValidPath<String>,
) -> Result<Json<ModelBody>, ApiError> {
    let ModelRef { collections, .. } = ModelRef::read(&model)?;
    let mut bodies = Vec::new();
    for name in &collections {
        bodies.push(ModelBody::of(&granted.collection(name).await?));
    }
    let body = match bodies.pop() {
        None => ModelBody::all(),
        Some(only) if bodies.is_empty() => only,
        Some(_) => ModelBody { id: model, name: collections.join(" + "), ..ModelBody::all() },
    };
    Ok(Json(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> (Vec<String>, MarkerStyle) {
        let ModelRef { collections, style } = ModelRef::read(name).expect("a model");
        (collections, style)
    }

    #[test]
    fn a_name_tells_collections_and_notation() {
        assert_eq!(read("cited"), (vec![], MarkerStyle::Bracket));
        assert_eq!(read("cited:footnote"), (vec![], MarkerStyle::Footnote));
        assert_eq!(read("cited/handbook"), (vec!["handbook".to_owned()], MarkerStyle::Bracket));
        assert_eq!(read("a+b:none"), (vec!["a".to_owned(), "b".to_owned()], MarkerStyle::None));
        assert_eq!(read("cited/a%2Bb%3Ac"), (vec!["a+b:c".to_owned()], MarkerStyle::Bracket));
        let fault = ModelRef::read("cited/handbook:bold").expect_err("unknown");
        assert!(fault.detail().contains("bracket, footnote, link and none"), "{}", fault.detail());
    }
}
