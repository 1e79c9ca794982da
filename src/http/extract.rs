//! Extractors whose rejections are problem documents.

use std::{error::Error, fmt::Write as _, io::BufReader, iter::successors};

use axum::{
    RequestExt,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::{header, request::Parts},
};
use bytes::Buf;
use http_body_util::{BodyExt, LengthLimitError};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::de::{Deserializer, Read};

use super::{AppState, problem::ApiError};

/// Least likeness, 0 to 1, of a field that there is not to the one that was probably meant.
const LIKE: f64 = 0.7;

/// Extracts a JSON body. Syntax errors are 400; a value of the wrong type or an unknown member is 422 and is named.
pub(super) struct ValidJson<T>(pub(super) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<AppState> for ValidJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &AppState) -> Result<Self, ApiError> {
        if !is_json(request.headers().get(header::CONTENT_TYPE)) {
            return Err(ApiError::media_type("application/json"));
        }
        parse_body(request).await.map(Self)
    }
}

fn is_json(content_type: Option<&axum::http::HeaderValue>) -> bool {
    let essence = content_type.and_then(|value| value.to_str().ok()).and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| {
        let essence = essence.trim().to_ascii_lowercase();
        essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
    })
}

/// Largest body of a route, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyLimit(pub(super) usize);

impl BodyLimit {
    /// The limit of the route that the request was sent to; a route without a limit accepts any body.
    pub(super) fn of(request: &Request) -> Self {
        request.extensions().get().copied().unwrap_or(Self(usize::MAX))
    }
}

/// Bodies of this size and more are parsed as they came: what has been parsed is let go, and they are never held in one piece.
const LARGE: usize = 1024 * 1024;

/// Reads a body up to the route's limit, and parses it as a JSON object.
///
/// # Errors
/// As [`parse`], and for a body that is too large or breaks off.
pub(super) async fn parse_body<T: DeserializeOwned + Send + 'static>(request: Request) -> Result<T, ApiError> {
    let BodyLimit(limit) = BodyLimit::of(&request);
    let body = request.into_limited_body().collect().await.map_err(|error| {
        let mut chain = successors(Some(&error as &(dyn Error + 'static)), |error| (*error).source());
        if chain.any(<dyn Error>::is::<LengthLimitError>) {
            return ApiError::too_large(limit);
        }
        ApiError::unreadable(format!("Failed to buffer the request body: {error}; send the whole body"))
    })?;
    let mut parts = body.aggregate();
    if parts.remaining() >= LARGE && parts.chunk().trim_ascii_start().starts_with(b"{") {
        let reader = BufReader::new(parts.reader());
        let parsing = tokio::task::spawn_blocking(move || parse_with(Deserializer::from_reader(reader), || false));
        return parsing.await.map_err(|error| ApiError::internal(format!("a body was not parsed: {error}")))?;
    }
    let whole: Bytes = parts.copy_to_bytes(parts.remaining());
    parse(&whole)
}

/// Parses a JSON object; an error includes the position of a wrong value.
///
/// # Errors
/// 400 for a syntax error, 422 for a wrong value.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    if let Err(error) = std::str::from_utf8(body) {
        let place = error.valid_up_to();
        return Err(ApiError::unreadable(format!(
            "the body is not valid JSON: it is not UTF-8 at byte {place}, from 0"
        )));
    }
    // The elements of an array would be read as the members of an object, in their order.
    let is_object = body.trim_ascii_start().starts_with(b"{");
    if !is_object && serde_json::from_slice::<IgnoredAny>(body).is_ok() {
        return Err(ApiError::invalid_field(String::new(), "must be a JSON object"));
    }
    parse_with(Deserializer::from_slice(body), || serde_json::from_slice::<IgnoredAny>(body).is_ok())
}

/// `is_valid` tells whether the body is valid JSON, where it can be read again: serde calls it a syntax error if a value is no text
/// where one of several is expected.
fn parse_with<'de, T: DeserializeOwned>(
    mut deserializer: Deserializer<impl Read<'de>>,
    is_valid: impl Fn() -> bool,
) -> Result<T, ApiError> {
    let parsed = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let mut pointer = pointer(error.path());
        let inner = error.into_inner();
        let message = inner.to_string();
        if let Some(missing) = missing_field(&message) {
            let _ = write!(pointer, "/{missing}");
        }
        match inner.classify() {
            serde_json::error::Category::Data => ApiError::invalid_field(pointer, in_words_of_json(&message)),
            serde_json::error::Category::Syntax if is_valid() => {
                ApiError::invalid_field(pointer, "must be a text, one of those that the OpenAPI document lists")
            }
            _ => ApiError::unreadable(format!("the body is not valid JSON: {message}")),
        }
    })?;
    deserializer.end().map_err(|error| ApiError::unreadable(format!("the body is not valid JSON: {error}")))?;
    Ok(parsed)
}

/// The JSON pointer (RFC 6901) of a path; the root is the empty pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                let _ = write!(pointer, "/{index}");
            }
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Segment::Enum { variant } => {
                let _ = write!(pointer, "/{variant}");
            }
            Segment::Unknown => {}
        }
    }
    pointer
}

/// The name of a missing member; serde's path ends at the object that lacks it.
fn missing_field(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.split_once('`').map(|(name, _)| name)
}

/// The message in the words of JSON, without serde's line and column, which add nothing to the pointer; for a field that there
/// is not with the one that was probably meant.
fn in_words_of_json(message: &str) -> String {
    let text = message.rsplit_once(" at line ").map_or(message, |(text, _)| text);
    if text.ends_with("component could not be parsed") {
        return "must be a date and a time as in RFC 3339, such as 2026-01-31T12:00:00Z".to_owned();
    }
    if text.ends_with("invalid digit found in string") {
        return "must be a whole number, not negative".to_owned();
    }
    let words = [
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: object"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected an object"),
    ];
    let text = words.into_iter().fold(text.to_owned(), |text, (of_serde, of_json)| text.replace(of_serde, of_json));
    match text.rsplit_once("expected ").and_then(|(before, of_rust)| Some((before, in_words(of_rust)?))) {
        Some((before, words)) => format!("{before}expected {words}"),
        None => match meant(&text) {
            Some(meant) => format!("{text}; did you mean `{meant}`?"),
            None => text,
        },
    }
}

/// A type of the code in words.
fn in_words(of_rust: &str) -> Option<&'static str> {
    match of_rust {
        of_object if of_object.starts_with("struct ") => Some("an object"),
        "u8" | "u16" | "u32" | "u64" | "usize" => Some("a whole number, not negative"),
        "i8" | "i16" | "i32" | "i64" | "isize" => Some("a whole number"),
        "f32" | "f64" => Some("a number"),
        _ => None,
    }
}

/// The field that the unknown one of a message, or the value that the unknown one, was probably meant to be.
fn meant(message: &str) -> Option<&str> {
    let given = message.strip_prefix("unknown field `").or_else(|| message.strip_prefix("unknown variant `"))?;
    let (given, rest) = given.split_once('`')?;
    let (_, known) = rest.split_once(", expected ")?;
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(given, name);
    let near = known.split('`').skip(1).step_by(2).filter(|name| likeness(name) >= LIKE);
    near.max_by(|one, two| likeness(one).total_cmp(&likeness(two)))
}

/// Extracts query parameters.
pub(super) struct ValidQuery<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ValidQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        if let Some(name) = parts.uri.query().and_then(parameter_with_nul) {
            return Err(ApiError::invalid_field(format!("?{name}"), "must not contain NUL characters"));
        }
        let Query(value) = Query::from_request_parts(parts, state).await.map_err(|rejection| {
            let text = rejection.body_text();
            let detail = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
            // For a wrong value the message begins with the parameter's name; a missing parameter is only named within
            // it.
            let unknown = detail.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
            let named = unknown.map(|(name, _)| name).or_else(|| missing_field(detail));
            let (name, detail) = match named {
                Some(name) => (name, detail),
                None => detail.split_once(": ").filter(|(name, _)| !name.contains(' ')).unwrap_or(("", detail)),
            };
            ApiError::invalid_field(format!("?{name}"), in_words_of_json(detail))
        })?;
        Ok(Self(value))
    }
}

/// The first parameter that contains a NUL, which no text in the database can hold.
fn parameter_with_nul(query: &str) -> Option<&str> {
    let with_nul = query.split('&').find(|parameter| parameter.contains("%00"))?;
    Some(with_nul.split_once('=').map_or(with_nul, |(name, _)| name))
}

/// Extracts path parameters; a value that cannot be a valid name is treated as not found.
pub(super) struct ValidPath<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for ValidPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let unknown = || ApiError::not_found("the identity in the path is not one that this service gives out");
        if parts.uri.path().contains("%00") {
            return Err(unknown());
        }
        let Path(value) = Path::from_request_parts(parts, state).await.map_err(|_| unknown())?;
        Ok(Self(value))
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use serde::Deserialize;

    use super::*;
    use crate::http::problem::Problem;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(rename = "documents")]
        _documents: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[serde(rename = "text")]
        _text: String,
    }

    fn problem(body: &str) -> Problem {
        let response = parse::<Outer>(body.as_bytes()).expect_err("wrong").into_response();
        response.extensions().get::<Problem>().cloned().expect("a problem")
    }

    #[test]
    fn wrong_values_are_named_by_pointer() {
        let found = problem(r#"{"documents": [{"text": "a"}, {"text": 3}]}"#);
        assert_eq!((found.status, found.code.as_str()), (422, "invalid_request"));
        assert_eq!(found.errors[0].pointer, "/documents/1/text");
        let found = problem(r#"{"documents": [{"text": "a", "titel": "b"}]}"#);
        assert_eq!(found.errors[0].pointer, "/documents/0/titel");
        assert!(found.detail.starts_with("/documents/0/titel: unknown field"), "{}", found.detail);
        assert!(!found.detail.contains("did you mean"), "{}", found.detail);
        let found = problem(r#"{"documents": [{"text": "a", "txt": "b"}]}"#);
        assert!(found.detail.ends_with("; did you mean `text`?"), "{}", found.detail);
        assert_eq!(problem("{}").detail, "/documents: missing field `documents`");
        let found = problem(r#"{"documents": [{"text": "a"}, {}]}"#);
        assert_eq!(found.errors[0].pointer, "/documents/1/text");
    }

    #[test]
    fn what_is_not_utf8_is_no_json() {
        let response = parse::<Outer>(b"{\"documents\": \"\xff\"}").expect_err("wrong").into_response();
        let found = response.extensions().get::<Problem>().cloned().expect("a problem");
        assert_eq!((found.status, found.code.as_str()), (400, "unreadable_body"));
        assert!(found.detail.contains("at byte 15"), "{}", found.detail);
    }

    #[test]
    fn types_and_times_are_named_in_words() {
        for (message, expected) in [
            (
                "invalid type: integer `3`, expected struct FilterBody at line 1 column 9",
                "invalid type: integer `3`, expected an object",
            ),
            (
                "the 'separator' component could not be parsed",
                "must be a date and a time as in RFC 3339, such as 2026-01-31T12:00:00Z",
            ),
            ("invalid digit found in string", "must be a whole number, not negative"),
        ] {
            assert_eq!(in_words_of_json(message), expected);
        }
    }

    #[test]
    fn numbers_are_named_in_words() {
        assert_eq!(
            in_words_of_json("invalid value: integer `-1`, expected usize at line 1 column 9"),
            "invalid value: integer `-1`, expected a whole number, not negative"
        );
        assert_eq!(
            in_words_of_json("invalid type: string \"x\", expected f32"),
            "invalid type: string \"x\", expected a number"
        );
        assert_eq!(
            in_words_of_json("unknown variant `lexcal`, expected one of `hybrid`, `dense`, `lexical`"),
            "unknown variant `lexcal`, expected one of `hybrid`, `dense`, `lexical`; did you mean `lexical`?"
        );
    }

    #[tokio::test]
    async fn a_misspelt_parameter_names_the_one_that_was_meant() {
        let (mut parts, ()) = axum::http::Request::get("/?txt=b").body(()).expect("a request").into_parts();
        let rejected = ValidQuery::<Inner>::from_request_parts(&mut parts, &()).await.err().expect("a rejection");
        let found = rejected.into_response().extensions().get::<Problem>().cloned().expect("a problem");
        assert_eq!(found.errors[0].pointer, "?txt");
        assert!(found.detail.ends_with("; did you mean `text`?"), "{}", found.detail);
    }

    #[test]
    fn a_body_is_an_object() {
        for body in ["[]", " [[\"a\"]]", "3", "null", "\"documents\""] {
            let found = problem(body);
            assert_eq!((found.status, found.detail.as_str()), (422, "must be a JSON object"), "{body}");
        }
    }

    #[test]
    fn a_value_of_several_is_a_text() {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Colour {
            Red,
        }
        #[derive(Debug, Deserialize)]
        struct Lamp {
            #[serde(rename = "colour")]
            _colour: Colour,
        }
        let _ = Colour::Red;
        for body in [r#"{"colour": null}"#, r#"{"colour": 5}"#, r#"{"colour": []}"#, r#"{"colour": true}"#] {
            let response = parse::<Lamp>(body.as_bytes()).expect_err("wrong").into_response();
            let found = response.extensions().get::<Problem>().cloned().expect("a problem");
            assert_eq!((found.status, found.errors[0].pointer.as_str()), (422, "/colour"), "{body}");
        }
    }

    #[test]
    fn broken_syntax_is_not_a_wrong_value() {
        for body in ["{", "", "{\"documents\": []} x", "\u{feff}{}"] {
            assert_eq!(problem(body).code, "unreadable_body", "{body:?}");
        }
    }
}
