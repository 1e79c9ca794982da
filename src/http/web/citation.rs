//! `/c/{urn}`: a page for each citation, made by the service so that it works without script, in previews of links and
//! with text fragments.

use askama::Template;
use axum::{
    extract::Request,
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use time::{OffsetDateTime, macros::format_description};
use url::Url;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    super::{AppState, citations::parse_urn, extract::ValidPath, problem::ApiError, problem::Problem},
    stylesheet,
};
use crate::{
    domain::{citation::Urn, comparison::Comparison},
    service::{
        citations::{Around, CitedInDocument, CitedPassage, CitedState},
        granted::Granted,
    },
};

/// The page of a passage.
#[derive(Template)]
#[template(path = "citation.html")]
struct CitationPage {
    stylesheet: String,
    urn: String,
    collection: String,
    /// Name of the state, as in the API.
    status: &'static str,
    /// State of the passage, in a sentence or two.
    told: String,
    passage: Option<CitedPassage>,
    /// Link to the original, at its page where the format can say so.
    original: Option<String>,
    around: Around,
    now: Option<Comparison>,
}

/// The page of an error.
#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    stylesheet: String,
    problem: &'a Problem,
    /// The citation in the web page, where a key can be entered.
    in_app: Option<String>,
}

/// Show a citation
///
/// A page for people: the passage marked in its document, with title, headings and page, and what became of it. It
/// needs no script. A client that does not ask for `text/html` gets errors as problem documents.
#[utoipa::path(
    get, path = "/c/{urn}", tag = "ask",
    params(("urn" = String, Path, description = "`urn` of a citation or source, percent-encoded",
        example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")),
    responses(
        (status = 200, description = "The passage and what became of it", body = String, content_type = "text/html"),
        (status = 404, description = "There never was a passage of this name"),
        (status = 422, description = "This is no URN of a passage"),
    ),
)]
async fn show_citation(granted: Granted, ValidPath(urn): ValidPath<String>) -> Result<Response, ApiError> {
    let urn = parse_urn(&urn)?;
    let cited = granted.citation_in_document(&urn).await?;
    Ok(page(StatusCode::OK, &CitationPage::new(&urn, cited)))
}

/// The page of a citation, which needs a key like the citation itself.
pub(in crate::http) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(show_citation))
}

/// Shows errors as pages to clients that ask for pages.
pub(in crate::http) async fn as_pages(request: Request, next: Next) -> Response {
    let wants_page = accepts_html(request.headers());
    let in_app = request.uri().path().strip_prefix("/c/").map(|urn| format!("/#/c/{urn}"));
    let mut response = next.run(request).await;
    if !wants_page {
        return response;
    }
    let Some(problem) = response.extensions_mut().remove::<Problem>() else { return response };
    let in_app = in_app.filter(|_| response.status() == StatusCode::UNAUTHORIZED);
    page(response.status(), &ProblemPage { stylesheet: stylesheet(), problem: &problem, in_app })
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT);
    accepted.iter().any(|value| value.to_str().is_ok_and(|value| value.contains("text/html")))
}

fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => ApiError::internal(format!("a page cannot be rendered: {error}")).into_response(),
    }
}

impl CitationPage {
    fn new(urn: &Urn, CitedInDocument { state, around, now }: CitedInDocument) -> Self {
        let (status, told) = (status_of(&state), told(urn, &state));
        let passage = match state {
            CitedState::Current(passage) => Some(passage),
            CitedState::Superseded { passage, .. } => passage,
            CitedState::Deleted { .. } => None,
        };
        Self {
            stylesheet: stylesheet(),
            urn: urn.to_string(),
            collection: urn.collection().to_owned(),
            status,
            told,
            original: passage.as_ref().and_then(original),
            passage,
            around: around.unwrap_or_default(),
            now,
        }
    }
}

const fn status_of(state: &CitedState) -> &'static str {
    match state {
        CitedState::Current(_) => "current",
        CitedState::Superseded { .. } => "superseded",
        CitedState::Deleted { .. } => "deleted",
    }
}

fn told(urn: &Urn, state: &CitedState) -> String {
    match state {
        CitedState::Current(passage) => {
            format!("The document still has the version that was cited, stored on {}.", date(passage.stored_at))
        }
        CitedState::Superseded { current_version, superseded_at, is_still_said, passage } => {
            let when = superseded_at.map(|at| format!(" on {}", date(at))).unwrap_or_default();
            let still = match is_still_said {
                Some(true) => " The passage stands in it word for word.",
                Some(false) => " The passage no longer stands in it word for word.",
                None => "",
            };
            let kept = if passage.is_none() { " Of the version that was cited no text is kept." } else { "" };
            let cited = urn.version();
            format!("Version {cited} was replaced{when}; the document has version {current_version} now.{still}{kept}")
        }
        CitedState::Deleted { deleted_at } => {
            format!("The document was deleted on {}. Nothing of its text is kept.", date(*deleted_at))
        }
    }
}

fn date(at: OffsetDateTime) -> String {
    at.format(format_description!("[day padding:none] [month repr:long] [year]")).unwrap_or_default()
}

/// Only addresses of the web are links: a document may name anything as its URI.
fn original(passage: &CitedPassage) -> Option<String> {
    let mut url = passage.uri.parse::<Url>().ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    if let Some(page) = passage.page
        && url.path().to_ascii_lowercase().ends_with(".pdf")
    {
        url.set_fragment(Some(&format!("page={page}")));
    }
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(uri: &str, page: Option<i32>) -> CitedPassage {
        CitedPassage {
            source: "a".to_owned(),
            uri: uri.to_owned(),
            title: "A".to_owned(),
            content_hash: Vec::new(),
            stored_at: OffsetDateTime::UNIX_EPOCH,
            page,
            heading: Vec::new(),
            table_header: None,
            text: "Words.".to_owned(),
            start_char: 0,
            end_char: 6,
        }
    }

    #[test]
    fn only_the_web_is_linked_to_at_its_page() {
        let link = |uri, page| original(&passage(uri, page));
        assert_eq!(link("https://example.org/a.PDF", Some(4)).as_deref(), Some("https://example.org/a.PDF#page=4"));
        assert_eq!(link("https://example.org/a", Some(4)).as_deref(), Some("https://example.org/a"));
        for uri in ["javascript:alert(1)", "leave.md", "file:///etc/passwd", "data:text/html,x", "//example.org"] {
            assert_eq!(link(uri, None), None, "{uri}");
        }
    }

    #[test]
    fn a_page_is_for_clients_that_ask_for_one() {
        let accepts = |value: &'static str| {
            accepts_html(&HeaderMap::from_iter([(header::ACCEPT, axum::http::HeaderValue::from_static(value))]))
        };
        assert!(accepts("text/html,application/xhtml+xml,*/*;q=0.8"));
        assert!(!accepts("*/*") && !accepts("application/json") && !accepts_html(&HeaderMap::new()));
    }
}
