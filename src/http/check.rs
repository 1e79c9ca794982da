//! `POST /v1/check`.

use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    answer::{CitationBody, ContradictionBody, FindingBody, UsageBody},
    extract::ValidJson,
    fields::{Faults, MAX_CHECKED_TEXT},
    filter::FilterBody,
    json_object::object,
    number::shortest,
    problem::ApiError,
    schema::{CheckedText, ClaimVerdictSchema, CollectionNames, PlainText, ShortText, ValidationLevelSchema},
};
use crate::{
    domain::citation::{CheckedClaim, ClaimVerdict, Level, Urn},
    service::{
        check::{Against, CheckReport, CheckRequest, CheckSource},
        granted::Granted,
    },
};

/// Largest number of passages and of URNs.
const MAX_PASSAGES: usize = 64;
/// Most passages that a claim is held against in collections.
const MAX_TOP_K: usize = 20;
/// The members of which exactly one is given.
const ONE_OF: &str = "give exactly one of passages, urns and collections to hold the text against";

/// A text to be checked, and what it is held against: `passages`, `urns` or `collections`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CheckRequest)]
pub(super) struct CheckBody {
    /// The text, with markers `[^N]` that name passages or URNs in order from 1, or without.
    #[schema(value_type = CheckedText)]
    text: String,
    /// Passages to hold the text against.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 64, nullable = false)]
    passages: Option<Vec<CheckPassageBody>>,
    /// URNs of passages to hold the text against, as citations and sources have them.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 64, nullable = false, example = json!(["cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3"]))]
    urns: Option<Vec<String>>,
    /// Collections to search for the evidence of each claim; all must exist.
    #[serde(default)]
    #[schema(value_type = Option<CollectionNames>, nullable = false)]
    collections: Option<Vec<String>>,
    /// Limits which passages may be found in collections.
    #[serde(default, deserialize_with = "object")]
    filter: FilterBody,
    /// Maximum number of passages that are searched for each claim in collections, 1 to 20.
    #[serde(default = "default_top_k")]
    #[schema(default = 5, minimum = 1, maximum = 20)]
    top_k: usize,
    /// How strictly the text is checked, as in an ask.
    #[serde(default = "default_level")]
    #[schema(value_type = ValidationLevelSchema, default = "supported")]
    level: Level,
}

/// A passage to hold a text against.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = CheckPassage, example = json!({"id": "leave.md", "title": "Leave", "text": "Everyone has 28 days of paid leave a year."}))]
pub(super) struct CheckPassageBody {
    /// The passage.
    #[schema(value_type = CheckedText)]
    text: String,
    /// Title of its document. A claim may name something that only the title contains.
    #[serde(default)]
    #[schema(value_type = PlainText)]
    title: String,
    /// The caller's own name for it, which the response repeats.
    #[schema(value_type = Option<ShortText>)]
    id: Option<String>,
}

const fn default_top_k() -> usize {
    5
}

const fn default_level() -> Level {
    Level::Supported
}

/// A text that was checked, claim by claim.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Check)]
pub(super) struct CheckReportBody {
    /// Whether the text has no fault at this level.
    ok: bool,
    /// How strictly it was checked.
    #[schema(value_type = ValidationLevelSchema)]
    level: Level,
    /// Its factual sentences, in order of appearance. Headings, questions and other sentences that state nothing are
    /// left out; what they state nevertheless is among the errors.
    claims: Vec<CheckedClaimBody>,
    /// Its faults at this level, as the 422 of an ask lists them.
    errors: Vec<FindingBody>,
    /// Faults that a stricter level would refuse, and other notices such as `model_skipped`.
    warnings: Vec<FindingBody>,
    /// The sources it was checked against, in marker order.
    sources: Vec<CheckSourceBody>,
    /// Calls, tokens and cost of verifying models.
    usage: UsageBody,
}

/// A factual sentence that was checked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckedClaim)]
pub(super) struct CheckedClaimBody {
    /// Position in the text: start and end in Unicode code points.
    #[schema(value_type = [usize; 2])]
    span: (usize, usize),
    /// Its words, without markers.
    #[schema(example = "Everyone has 28 days of paid leave a year.")]
    text: String,
    /// The verdict of its sources on it.
    #[schema(value_type = ClaimVerdictSchema)]
    verdict: ClaimVerdict,
    /// Probability that its sources support it, 0 to 1.
    #[schema(example = 0.97)]
    support: f64,
    /// Numbers of the sources that cover it: by markers, or the one that supports it best.
    markers: Vec<u32>,
    /// One for each of these sources. Where no marker stands in the claim, `span` is the place after it.
    citations: Vec<CitationBody>,
    /// The words that contradict it; null unless it is contradicted.
    contradiction: Option<ContradictionBody>,
}

/// A passage that a text was held against.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckSource)]
pub(super) struct CheckSourceBody {
    /// Permanent name of a stored passage; null for a passage of the request.
    #[schema(example = "cited:handbook/0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f@2#3")]
    urn: Option<String>,
    /// The caller's own name for a passage of the request, if it has one.
    id: Option<String>,
    /// Title, with the headings above the passage.
    title: String,
}

/// Check a text
///
/// Holds any text against passages, cited passages or collections, claim by claim, with the validator and the scorer of
/// an ask. With markers each claim is held against the sources that its markers name, and one without a marker is a
/// fault. Without markers, and against collections, each claim is held against all sources, and the one that supports it
/// best counts. No model is needed; models that the deployment configures to verify are asked about claims that words
/// leave in doubt. If one of them has a price, the check counts as an ask against the limits of its key.
#[utoipa::path(
    post, path = "/v1/check", tag = "ask", request_body = CheckBody,
    responses(
        (status = 200, description = "The claims with their verdicts, also if some are not supported", body = CheckReportBody),
        (status = 404, description = "A collection or a passage does not exist"),
        (status = 409, description = "A collection lives in another vector space"),
        (status = 503, description = "Database or embedding provider not available"),
    ),
)]
pub(super) async fn check(
    granted: Granted,
    ValidJson(body): ValidJson<CheckBody>,
) -> Result<Json<CheckReportBody>, ApiError> {
    let report = granted.check(body.read()?).await?;
    Ok(Json(report.into()))
}

impl CheckBody {
    fn read(self) -> Result<CheckRequest, ApiError> {
        let mut faults = Faults::default();
        faults.checked_text("/text", &self.text);
        faults.range("/top_k", self.top_k, 1, MAX_TOP_K);
        let filter = self.filter.read("/filter", &mut faults);
        if self.collections.is_none() && !filter.is_empty() {
            faults.add("/filter", "limits what is found in collections; leave it out, or name collections");
        }
        let against = match (self.passages, self.urns, self.collections) {
            (Some(passages), None, None) => Some(Against::Passages(read_passages(passages, &mut faults))),
            (None, Some(urns), None) => Some(Against::Urns(read_urns(&urns, &mut faults))),
            (None, None, Some(names)) => {
                faults.collections("/collections", &names);
                Some(Against::Collections { names, filter, top_k: self.top_k })
            }
            (None, None, None) => {
                faults.add("/passages", ONE_OF);
                None
            }
            (passages, urns, collections) => {
                let given = [
                    ("/passages", passages.is_some()),
                    ("/urns", urns.is_some()),
                    ("/collections", collections.is_some()),
                ];
                given
                    .into_iter()
                    .filter(|(_, is_given)| *is_given)
                    .skip(1)
                    .for_each(|(pointer, _)| faults.add(pointer, ONE_OF));
                None
            }
        };
        faults.finish()?;
        let against = against.ok_or_else(|| ApiError::invalid_field("/passages", ONE_OF))?;
        Ok(CheckRequest { text: self.text, against, level: self.level })
    }
}

fn read_passages(passages: Vec<CheckPassageBody>, faults: &mut Faults) -> Vec<CheckSource> {
    faults.range("/passages", passages.len(), 1, MAX_PASSAGES);
    let read = |(index, passage): (usize, CheckPassageBody)| {
        let CheckPassageBody { text, title, id } = passage;
        faults.checked_text(&format!("/passages/{index}/text"), &text);
        if title.chars().count() > MAX_CHECKED_TEXT || title.contains('\0') {
            faults.add(format!("/passages/{index}/title"), "must hold no NUL, and no more than the passage may");
        }
        if let Some(id) = &id {
            faults.short_text(&format!("/passages/{index}/id"), id);
        }
        CheckSource { urn: None, id, title, table_header: None, text, start: 0 }
    };
    passages.into_iter().enumerate().map(read).collect()
}

fn read_urns(urns: &[String], faults: &mut Faults) -> Vec<Urn> {
    faults.range("/urns", urns.len(), 1, MAX_PASSAGES);
    let mut read = Vec::with_capacity(urns.len());
    for (index, name) in urns.iter().enumerate() {
        match name.parse::<Urn>() {
            Ok(urn) if urn.web_url().is_some() => {
                faults.add(format!("/urns/{index}"), "of pages of the web nothing is kept; send the passage itself");
            }
            Ok(urn) => read.push(urn),
            Err(error) => faults.add(format!("/urns/{index}"), format!("{name:?} names no passage: {error}")),
        }
    }
    read
}

impl From<CheckReport> for CheckReportBody {
    fn from(report: CheckReport) -> Self {
        let CheckReport { level, claims, findings, warning, sources, usage } = report;
        let warnings = warning.iter().map(FindingBody::from).chain(findings.warnings.iter().map(FindingBody::from));
        Self {
            ok: findings.errors.is_empty(),
            level,
            claims: claims.into_iter().map(|claim| CheckedClaimBody::new(claim, &sources)).collect(),
            errors: findings.errors.iter().map(FindingBody::from).collect(),
            warnings: warnings.collect(),
            usage: UsageBody::from(&usage),
            sources: sources.into_iter().map(CheckSourceBody::from).collect(),
        }
    }
}

impl CheckedClaimBody {
    fn new(checked: CheckedClaim, sources: &[CheckSource]) -> Self {
        let CheckedClaim { claim, words, citations, contradiction } = checked;
        let urn = |index: usize| {
            let urn = sources.get(index).and_then(|source| source.urn.as_ref());
            urn.map(ToString::to_string).unwrap_or_default()
        };
        Self {
            span: claim.span.into(),
            text: words,
            verdict: claim.verdict,
            support: shortest(claim.support),
            markers: claim.markers,
            citations: citations
                .iter()
                .map(|citation| CitationBody::of(citation, urn(citation.source_index)))
                .collect(),
            contradiction: contradiction.map(ContradictionBody::from),
        }
    }
}

impl From<CheckSource> for CheckSourceBody {
    fn from(source: CheckSource) -> Self {
        Self { urn: source.urn.map(|urn| urn.to_string()), id: source.id, title: source.title }
    }
}
