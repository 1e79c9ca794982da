//! Chat completions as they are returned, whole and in chunks.

use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::super::{
    answer::AnswerBody,
    reply::{Annotation, Delivered},
};
use crate::domain::budget::Spent;

/// Identity of a completion, the same in each of its chunks.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) id: String,
    /// Seconds since 1970.
    pub(super) created: i64,
    /// The model as the request names it.
    pub(super) model: String,
}

/// An answer as a chat completion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatCompletion)]
pub(in crate::http) struct CompletionBody {
    /// Id of the completion.
    id: String,
    #[schema(example = "chat.completion")]
    object: &'static str,
    /// Seconds since 1970.
    created: i64,
    /// The model as the request names it.
    #[schema(example = "cited/handbook")]
    model: String,
    /// One choice.
    choices: Vec<ChoiceBody>,
    /// Tokens of configured models; 0 without one.
    usage: CompletionUsageBody,
    /// Addresses of the cited passages, in the order of their numbers.
    citations: Vec<String>,
    /// The same with titles and quotes.
    search_results: Vec<SearchResultBody>,
    /// The answer as `POST /v1/ask` returns it; null for a prompt of a chat front end about the conversation itself.
    cited: Option<Box<AnswerBody>>,
}

/// A choice of a completion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatChoice)]
pub(super) struct ChoiceBody {
    index: u32,
    message: CompletionMessageBody,
    #[schema(example = "stop")]
    finish_reason: &'static str,
    #[schema(value_type = Option<Map<String, Value>>)]
    logprobs: Option<Value>,
}

/// The message of a completion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatCompletionMessage)]
pub(super) struct CompletionMessageBody {
    #[schema(example = "assistant")]
    role: &'static str,
    /// The answer with its markers, or a sentence that there is none.
    #[schema(example = "Everyone has 28 days of paid leave a year. [1]")]
    content: String,
    refusal: Option<String>,
    /// A citation for each marker.
    annotations: Vec<AnnotationBody>,
}

/// A citation at a marker.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatAnnotation)]
pub(super) struct AnnotationBody {
    #[serde(rename = "type")]
    #[schema(example = "url_citation")]
    kind: &'static str,
    url_citation: UrlCitationBody,
}

/// A cited passage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UrlCitation)]
pub(super) struct UrlCitationBody {
    /// Start of the marker in the content, in Unicode code points.
    #[schema(example = 43)]
    pub(super) start_index: usize,
    /// End of the marker, exclusive, in Unicode code points.
    #[schema(example = 46)]
    pub(super) end_index: usize,
    /// Address of the page that shows the passage in its document.
    url: String,
    /// The document, with its page.
    #[schema(example = "Leave, p. 4")]
    title: String,
    /// The words that support the claim.
    content: Option<String>,
    /// Permanent name of the passage.
    urn: String,
    /// How well the passage supports the claim, 0 to 1.
    support: f32,
}

impl From<Annotation> for UrlCitationBody {
    fn from(annotation: Annotation) -> Self {
        let Annotation { span, url, title, quote, urn, support, .. } = annotation;
        Self { start_index: span.start, end_index: span.end, url, title, content: quote, urn, support }
    }
}

impl From<Annotation> for AnnotationBody {
    fn from(annotation: Annotation) -> Self {
        Self { kind: "url_citation", url_citation: annotation.into() }
    }
}

/// A cited passage as search engines return it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ChatSearchResult)]
pub(super) struct SearchResultBody {
    title: String,
    url: String,
    /// Always null.
    date: Option<String>,
    /// The words that support the claim.
    snippet: Option<String>,
}

/// Tokens of a completion.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
#[schema(as = ChatUsage)]
pub(super) struct CompletionUsageBody {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl From<&Spent> for CompletionUsageBody {
    fn from(spent: &Spent) -> Self {
        let (prompt_tokens, completion_tokens) = (spent.prompt_tokens, spent.completion_tokens);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens.saturating_add(completion_tokens) }
    }
}

impl CompletionBody {
    pub(super) fn new(
        identity: Identity,
        delivered: Delivered,
        usage: CompletionUsageBody,
        cited: Option<Box<AnswerBody>>,
    ) -> Self {
        let search_results = search_results(&delivered.annotations);
        let Identity { id, created, model } = identity;
        let message = CompletionMessageBody {
            role: "assistant",
            content: delivered.text,
            refusal: None,
            annotations: delivered.annotations.into_iter().map(AnnotationBody::from).collect(),
        };
        Self {
            id,
            object: "chat.completion",
            created,
            model,
            choices: vec![ChoiceBody { index: 0, message, finish_reason: "stop", logprobs: None }],
            usage,
            citations: search_results.iter().map(|result| result.url.clone()).collect(),
            search_results,
            cited,
        }
    }
}

/// The cited passages, each once, in the order of their numbers.
fn search_results(annotations: &[Annotation]) -> Vec<SearchResultBody> {
    let mut results: Vec<SearchResultBody> = Vec::new();
    for Annotation { title, url, quote, .. } in annotations {
        if !results.iter().any(|known| known.url == *url) {
            results.push(SearchResultBody {
                title: title.clone(),
                url: url.clone(),
                date: None,
                snippet: quote.clone(),
            });
        }
    }
    results
}

/// A part of a streamed completion.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatCompletionChunk)]
pub(in crate::http) struct ChunkBody {
    id: String,
    #[schema(example = "chat.completion.chunk")]
    object: &'static str,
    created: i64,
    model: String,
    /// One choice; none in the chunk with the usage.
    choices: Vec<ChunkChoiceBody>,
    /// Tokens, in a chunk of their own before the end, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<CompletionUsageBody>,
    /// Addresses of the cited passages, in the order of their numbers; in the chunk that ends the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    citations: Option<Vec<String>>,
    /// The same with titles and quotes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    search_results: Option<Vec<SearchResultBody>>,
    /// The answer as `POST /v1/ask` returns it; in the chunk that ends the choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cited: Option<Box<AnswerBody>>,
}

/// A choice of a chunk.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatChunkChoice)]
pub(super) struct ChunkChoiceBody {
    index: u32,
    delta: DeltaBody,
    finish_reason: Option<&'static str>,
}

/// The next words of a streamed completion.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = ChatDelta)]
pub(super) struct DeltaBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content: Option<String>,
    /// Citations of the words sent so far; their places count from the start of the whole content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    annotations: Vec<AnnotationBody>,
}

impl ChunkBody {
    fn new(identity: &Identity, delta: DeltaBody) -> Self {
        let Identity { id, created, model } = identity.clone();
        let choices = vec![ChunkChoiceBody { index: 0, delta, finish_reason: None }];
        let object = "chat.completion.chunk";
        Self { id, object, created, model, choices, usage: None, citations: None, search_results: None, cited: None }
    }

    /// The first chunk.
    pub(super) fn first(identity: &Identity) -> Self {
        let delta = DeltaBody { role: Some("assistant"), content: Some(String::new()), ..DeltaBody::default() };
        Self::new(identity, delta)
    }

    /// The next words.
    pub(super) fn words(identity: &Identity, words: String) -> Self {
        Self::new(identity, DeltaBody { content: Some(words), ..DeltaBody::default() })
    }

    /// Citations of the words sent last.
    pub(super) fn annotations(identity: &Identity, annotations: &[Annotation]) -> Self {
        let annotations = annotations.iter().cloned().map(AnnotationBody::from).collect();
        Self::new(identity, DeltaBody { annotations, ..DeltaBody::default() })
    }

    /// The end of the choice.
    pub(super) fn last(identity: &Identity, annotations: &[Annotation], cited: Option<Box<AnswerBody>>) -> Self {
        let mut chunk = Self::new(identity, DeltaBody::default());
        for choice in &mut chunk.choices {
            choice.finish_reason = Some("stop");
        }
        let search_results = search_results(annotations);
        chunk.citations = Some(search_results.iter().map(|result| result.url.clone()).collect());
        chunk.search_results = Some(search_results);
        chunk.cited = cited;
        chunk
    }

    /// The usage.
    pub(super) fn usage(identity: &Identity, usage: CompletionUsageBody) -> Self {
        let chunk = Self::new(identity, DeltaBody::default());
        Self { choices: Vec::new(), usage: Some(usage), ..chunk }
    }
}
