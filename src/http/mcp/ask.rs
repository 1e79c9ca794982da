//! The tool `ask`: `POST /v1/ask`.

use std::collections::HashSet;
use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, Resource, Tool};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    super::{
        answer::OutcomeBody,
        ask::{AskBody, failed},
        filter::FilterBody,
        json_object::object,
        problem::ApiError,
        reply::{Annotation, Delivered, Writer},
        schema::{AbstainReasonSchema, AnswerFormSchema, CollectionName, Question},
    },
    session::Session,
    tool::{ToolName, define, reads, structured},
};
use crate::domain::{answer_form::AnswerForm, citation::MarkerStyle, corrective::AbstainReason};

/// A question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AskArguments {
    /// The question in words. It stands alone: nothing of the conversation is known.
    #[schema(value_type = Question)]
    question: String,
    /// Names of the collections that the answer may come from; all if left out.
    #[serde(default)]
    #[schema(value_type = Vec<CollectionName>)]
    collections: Vec<String>,
    /// Limits which passages may be found.
    #[serde(default, deserialize_with = "object")]
    filter: FilterBody,
    /// Form of the text. Answers quote documents, which may hold images and links of others: `safe_markdown` has no images
    /// and no HTML, and links to cited sources only; `markdown` is the text as it was written; `plain` has no links and no
    /// emphasis.
    #[serde(default = "default_format")]
    #[schema(value_type = AnswerFormSchema, default = "safe_markdown")]
    format: AnswerForm,
}

/// Applications show what they receive as Markdown, and load the images in it.
const fn default_format() -> AnswerForm {
    AnswerForm::SafeMarkdown
}

/// An answer, or an abstention with its reason.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Answered {
    /// Id of this ask, by which the audit finds it.
    id: Uuid,
    /// Outcome of the ask.
    outcome: OutcomeBody,
    /// Reason for an abstention.
    #[schema(value_type = Option<AbstainReasonSchema>)]
    reason: Option<AbstainReason>,
    /// The answer with a marker such as `[1]` at each claim, or a sentence that there is none.
    text: String,
    /// The parts of the question that the documents do not answer.
    missing: Vec<String>,
    /// The sources of the answer, by number.
    citations: Vec<CitedSource>,
}

/// A source of an answer.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CitedSource {
    /// Number in the markers.
    number: usize,
    /// The document, with its page.
    title: String,
    /// Address of the page that shows the passage in its document.
    url: String,
    /// Permanent name of the passage, for `fetch`.
    id: String,
    /// The words that support the first claim that cites it.
    quote: Option<String>,
    /// How well they support it, 0 to 1.
    support: f32,
}

pub(super) fn definition() -> Tool {
    let description = "Answers a question from the documents. Each claim has a marker that was checked against the exact words \
        of a source. The outcome abstained means that the documents do not answer it.";
    // Where the operator has set a search engine up, the web is searched for what the documents do not say.
    let hints = reads().open_world(true);
    define::<AskArguments, Answered>(ToolName::Ask, "Ask the documents", description, hints)
}

pub(super) async fn call(session: &Session, arguments: AskArguments) -> Result<CallToolResult, ApiError> {
    let AskArguments { question, collections, filter, format } = arguments;
    let body = AskBody::of_question(question, session.collections(collections).await?, filter);
    let (request, include) = body.read(&session.granted)?;
    let report = Box::pin(session.granted.ask(&request)).await.map_err(|ask| failed(ask, &include))?;
    let mut writer = Writer::new(MarkerStyle::Bracket, format, session.base.clone());
    let delivered = writer.whole(&report);
    let text = writer.formed(&with_sources(&delivered), &report);
    let answered = Answered {
        id: report.id,
        outcome: OutcomeBody::of(&report),
        reason: report.outcome.abstain_reason(),
        citations: first_of_each(&delivered.annotations).map(CitedSource::from).collect(),
        text: delivered.text,
        missing: report.missing,
    };
    let mut content = vec![ContentBlock::text(text)];
    content.extend(answered.citations.iter().map(CitedSource::link).map(ContentBlock::resource_link));
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(structured(&answered)?);
    Ok(result)
}

/// The first citation of each source that markers name.
fn first_of_each(annotations: &[Annotation]) -> impl Iterator<Item = &Annotation> {
    let mut seen = HashSet::new();
    annotations.iter().filter(move |annotation| seen.insert(annotation.number))
}

impl From<&Annotation> for CitedSource {
    fn from(annotation: &Annotation) -> Self {
        let Annotation { number, url, title, quote, urn, support, .. } = annotation.clone();
        Self { number, title, url, id: urn, quote, support }
    }
}

/// The text, with a list of its sources: applications show it as it is.
fn with_sources(delivered: &Delivered) -> String {
    let mut text = delivered.text.clone();
    for (place, Annotation { number, title, url, .. }) in first_of_each(&delivered.annotations).enumerate() {
        text.push_str(if place == 0 { "\n\nSources:" } else { "" });
        let _ = write!(text, "\n[{number}] {title}: {url}");
    }
    text
}

impl CitedSource {
    /// The passage as a resource that can be read.
    fn link(&self) -> Resource {
        let link = Resource::new(&self.id, &self.title).with_mime_type("text/plain");
        match &self.quote {
            Some(quote) => link.with_description(quote),
            None => link,
        }
    }
}
