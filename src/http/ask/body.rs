//! The request body of an ask.

use std::{collections::HashSet, time::Duration};

use axum::http::{HeaderMap, header};
use serde::Deserialize;
use utoipa::ToSchema;

use super::super::{
    fields::{Faults, not_null},
    filter::FilterBody,
    json_object::{object, object_or_null},
    problem::ApiError,
    schema::{
        AnswerFormSchema, CollectionNames, OnInsufficientSchema, Question, SpeculationSchema, ValidationLevelSchema,
    },
    search::default_collections,
    stages::{ModeBody, StagesBody},
};
use super::messages::{self, ChatTurn, Conversation, MessageBody};
use crate::{
    domain::{
        answer_form::AnswerForm, budget::TighterLimits, citation::Level, corrective::OnInsufficient,
        speculation::Speculation,
    },
    service::{
        ask::{AskExecution, AskRequest, LONGEST_CACHE_LIFE, MOST_PASSAGES, ModelName, Reach, StreamMode},
        granted::Granted,
    },
};

/// Highest sampling temperature that providers accept.
const MAX_TEMPERATURE: f32 = 2.0;
/// Largest number of models that are tried one after the other.
const MAX_MODELS: usize = 8;

/// A question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AskRequest, example = json!({"question": "How many days of paid leave do I have?", "collections": ["handbook"]}))]
pub(in crate::http) struct AskBody {
    /// The question in words; must not be only white space. May be left out if `messages` end with the user's.
    #[schema(value_type = Option<Question>, nullable = false)]
    question: Option<String>,
    /// The conversation, oldest first. Its last message, or `question`, is what is asked; where that leans on the
    /// messages before it, it is made a question that stands alone. Answers among them are never sources.
    #[serde(default)]
    #[schema(max_items = 100)]
    messages: Vec<MessageBody>,
    /// Collections that the answer may come from; all must exist.
    #[serde(default = "default_collections")]
    #[schema(value_type = CollectionNames, default = json!(["default"]))]
    collections: Vec<String>,
    /// Number of passages that are retrieved and graded per round, 1 to 100; 8 unless the deployment says otherwise.
    #[schema(minimum = 1, maximum = 100, nullable = false)]
    top_k: Option<usize>,
    /// Leaves out passages below this score: the fused score, or the only score if one half of retrieval runs alone.
    /// Without it no passage is left out.
    min_score: Option<f64>,
    /// Limits which passages may be found.
    #[serde(default, deserialize_with = "object")]
    filter: FilterBody,
    /// Which halves of retrieval run: vectors, BM25, or both.
    #[serde(default)]
    mode: ModeBody,
    /// How the passages found are fused, reranked and merged.
    #[serde(default, deserialize_with = "object")]
    stages: StagesBody,
    /// How further queries are made for a question that found too little.
    #[serde(default, deserialize_with = "object")]
    rewrite: RewriteBody,
    /// How strictly the answer is checked: `structural` refuses malformed and out-of-range markers, `cited` also
    /// statements without a marker, `supported` also statements that their sources do not support; `off` refuses
    /// nothing and warns.
    #[serde(default)]
    #[schema(value_type = ValidationLevelSchema)]
    validation: Level,
    /// Form of the answer, for those who show it as it comes: answers quote documents, which may hold images, links and HTML
    /// of others. Checks and citations are the same; their spans are those in the form. With another form than `markdown` a
    /// stream has no `token` and `claim` events. In the object `cited` of the routes for clients of OpenAI the default is
    /// `safe_markdown`.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(value_type = AnswerFormSchema, default = "markdown")]
    pub(in crate::http) format: Option<AnswerForm>,
    /// `true` returns the events of `POST /v1/ask/stream` while the model writes; `"validated"` does too, but sends no
    /// word before its claim is confirmed. If left out, an `Accept: text/event-stream` header means `true`, and so does
    /// that path.
    #[serde(default)]
    stream: Option<StreamBody>,
    /// Models as `provider:model`, tried in this order; all must be configured. If left out, the models of the
    /// deployment. Roles for which the deployment configures separate models, such as grading, keep those.
    #[serde(default)]
    #[schema(max_items = 8, example = json!(["groq:llama-3.3-70b-versatile", "openai:gpt-4o-mini"]))]
    models: Vec<String>,
    /// Sampling temperature of the answering model, 0 to 2. Models that do not accept a temperature are called without
    /// it.
    #[serde(default)]
    #[schema(default = 0, minimum = 0, maximum = 2)]
    temperature: f32,
    /// Seed for models that accept one; if left out, it is derived from the question and the sources.
    seed: Option<u64>,
    /// Behavior if only doubtful passages are found: `abstain`, or `generate` an answer from them. Nothing is ever
    /// generated if every passage is incorrect.
    #[serde(default)]
    #[schema(value_type = OnInsufficientSchema)]
    on_insufficient: OnInsufficient,
    /// Whether the web may be searched, with the question as it is, if the documents do not suffice. This happens only
    /// if the deployment configures a search engine, and never with a `filter`. Sources from the web have `origin:
    /// "web"`.
    #[serde(default = "default_web")]
    #[schema(default = true)]
    web: bool,
    /// Whether the answering model receives only the sentences of each source that are relevant to the question, with
    /// their neighbours. Answers are still checked against the whole sources, and citations refer to those.
    #[serde(default)]
    refine: bool,
    /// Whether the answer is started while a model is still grading: `auto` if the passages are likely to answer the
    /// question, `on` whenever there is a passage, or `off`. An answer that cites a source that is then not graded
    /// correct is discarded; `usage.wasted` contains its cost.
    #[serde(default)]
    #[schema(value_type = SpeculationSchema)]
    speculative: Speculation,
    /// Limits for this ask; they can only be tighter than those of the deployment.
    #[serde(default, deserialize_with = "object")]
    limits: LimitsBody,
    /// Whether a cached answer to the same question over the same passages may be returned, and whether this answer may
    /// be cached. If left out, the deployment decides.
    #[serde(default, deserialize_with = "object_or_null")]
    cache: Option<CacheBody>,
    /// Additions to the response: `trace`, the full trace (queries, verdicts with reasons, steps, model calls);
    /// `draft`, the rejected draft with a 422.
    #[serde(default)]
    #[schema(value_type = Vec<IncludeBody>)]
    include: HashSet<IncludeBody>,
    /// Retrieve, grade and plan, but generate nothing.
    #[serde(default)]
    dry_run: bool,
}

const fn default_web() -> bool {
    true
}

/// Whether and how the answer is streamed.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be true, false or \"validated\"")]
#[schema(as = Stream)]
pub(super) enum StreamBody {
    /// Whether the answer is streamed.
    Switch(bool),
    /// How the answer is streamed.
    Mode(StreamModeBody),
}

/// How the answer is streamed.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = StreamMode)]
pub(super) enum StreamModeBody {
    /// No word is sent before its claim is confirmed.
    Validated,
}

/// Limits of an ask that are tighter than those of the deployment.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = AskLimits)]
pub(super) struct LimitsBody {
    /// Largest number of calls to configured models, the retry included.
    max_llm_calls: Option<u32>,
    /// Time limit in milliseconds.
    timeout_ms: Option<u64>,
    /// Largest number of tokens in one prompt.
    max_prompt_tokens: Option<u32>,
    /// Largest number of tokens in one reply, 1 or more.
    #[schema(minimum = 1)]
    max_completion_tokens: Option<u32>,
    /// Largest size of the source text in one prompt, in bytes.
    max_source_bytes: Option<u64>,
}

/// Whether and for how long an answer may be cached.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Cache)]
pub(super) struct CacheBody {
    /// Lifetime of the answer in seconds, up to 30 days; 0 neither looks up a cached answer nor stores this one.
    #[schema(maximum = 2_592_000, example = 300)]
    ttl_s: u64,
}

/// How further queries are made for a question that found too little.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = Rewrite)]
pub(super) struct RewriteBody {
    /// Whether the built-in rewriter may take words from the best passages so far (pseudo-relevance feedback).
    #[schema(default = true)]
    feedback: bool,
}

impl Default for RewriteBody {
    fn default() -> Self {
        Self { feedback: true }
    }
}

/// An addition to the response of an ask.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Include)]
pub(in crate::http) enum IncludeBody {
    /// The full trace: queries, verdicts with reasons, steps, model calls, errors of the drafts.
    Trace,
    /// The rejected draft, with a 422.
    Draft,
}

impl Default for AskBody {
    /// The body of which every member is left out.
    fn default() -> Self {
        Self {
            question: None,
            messages: Vec::new(),
            collections: default_collections(),
            top_k: None,
            min_score: None,
            filter: FilterBody::default(),
            mode: ModeBody::default(),
            stages: StagesBody::default(),
            rewrite: RewriteBody::default(),
            validation: Level::default(),
            format: None,
            stream: None,
            models: Vec::new(),
            temperature: 0.0,
            seed: None,
            on_insufficient: OnInsufficient::default(),
            web: default_web(),
            refine: false,
            speculative: Speculation::default(),
            limits: LimitsBody::default(),
            cache: None,
            include: HashSet::new(),
            dry_run: false,
        }
    }
}

impl AskBody {
    /// The body of a question of which every other member is left out.
    pub(in crate::http) fn of_question(question: String, collections: Vec<String>, filter: FilterBody) -> Self {
        Self { question: Some(question), collections, filter, ..Self::default() }
    }

    /// This body for the question and the parameters of a chat client.
    pub(in crate::http) fn of_chat(self, chat: ChatTurn) -> Self {
        let completion_tokens = chat.max_completion_tokens.or(self.limits.max_completion_tokens);
        Self {
            question: None,
            messages: chat.messages,
            collections: chat.collections,
            stream: None,
            temperature: chat.temperature.unwrap_or(self.temperature),
            seed: chat.seed.or(self.seed),
            limits: LimitsBody { max_completion_tokens: completion_tokens, ..self.limits },
            ..self
        }
    }

    /// How the answer is to be streamed by the route that streams only.
    ///
    /// # Errors
    /// 422 if the body asks for the whole answer.
    pub(super) fn required_stream_mode(&self) -> Result<StreamMode, ApiError> {
        match self.stream {
            Some(StreamBody::Switch(false)) => {
                Err(ApiError::invalid_field("/stream", "must not be false here; POST /v1/ask returns the answer whole"))
            }
            Some(StreamBody::Mode(StreamModeBody::Validated)) => Ok(StreamMode::Validated),
            Some(StreamBody::Switch(true)) | None => Ok(StreamMode::Provisional),
        }
    }

    /// How the answer is to be streamed; `None` if it is returned whole.
    pub(super) fn stream_mode(&self, headers: &HeaderMap) -> Option<StreamMode> {
        let accepts_events = || {
            let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
            accepted
                .flat_map(|value| value.split(','))
                .any(|media_type| media_type.trim().starts_with("text/event-stream"))
        };
        match self.stream {
            Some(StreamBody::Mode(StreamModeBody::Validated)) => Some(StreamMode::Validated),
            Some(StreamBody::Switch(is_on)) => is_on.then_some(StreamMode::Provisional),
            None => accepts_events().then_some(StreamMode::Provisional),
        }
    }

    /// Reads the body, with the defaults of the deployment.
    ///
    /// # Errors
    /// 422 with all faults.
    pub(in crate::http) fn read(self, granted: &Granted) -> Result<(AskRequest, HashSet<IncludeBody>), ApiError> {
        let mut faults = Faults::default();
        let Conversation { question, history, has_instructions } =
            messages::read(self.question, self.messages, &mut faults);
        faults.collections("/collections", &self.collections);
        let top_k = self.top_k.unwrap_or(granted.ask_settings().top_k);
        faults.range("/top_k", top_k, 1, MOST_PASSAGES);
        let models = read_models(&self.models, granted, &mut faults);
        faults.range("/temperature", self.temperature, 0.0, MAX_TEMPERATURE);
        faults.score("/min_score", self.min_score);
        if self.limits.timeout_ms == Some(0) {
            faults.add("/limits/timeout_ms", "must be 1 or more");
        }
        if self.limits.max_completion_tokens == Some(0) {
            faults.add("/limits/max_completion_tokens", "must be 1 or more");
        }
        let filter = self.filter.read("/filter", &mut faults);
        let cache_life = match self.cache {
            Some(CacheBody { ttl_s }) => Some(Duration::from_secs(ttl_s)).filter(|life| !life.is_zero()),
            None => granted.ask_settings().cache.life,
        };
        if cache_life.is_some_and(|life| life > LONGEST_CACHE_LIFE) {
            faults.add("/cache/ttl_s", format!("must be at most {}", LONGEST_CACHE_LIFE.as_secs()));
        }
        faults.finish()?;
        let request = AskRequest {
            question,
            history,
            has_instructions,
            collections: self.collections,
            top_k,
            min_score: self.min_score,
            filter,
            stages: self.stages.read(self.mode),
            feedback: self.rewrite.feedback,
            level: self.validation,
            temperature: self.temperature,
            seed: self.seed,
            on_insufficient: self.on_insufficient,
            refine: self.refine,
            execution: AskExecution {
                models,
                reach: if self.web { Reach::DocumentsAndWeb } else { Reach::Documents },
                limits: TighterLimits {
                    llm_calls: self.limits.max_llm_calls,
                    prompt_tokens: self.limits.max_prompt_tokens,
                    completion_tokens: self.limits.max_completion_tokens,
                    source_bytes: self.limits.max_source_bytes,
                },
                timeout: self.limits.timeout_ms.map(Duration::from_millis),
                speculation: self.speculative,
                cache_life,
                dry_run: self.dry_run,
            },
        };
        Ok((request, self.include))
    }
}

/// Reads the named models; a model that is not configured, or that requests may not name, is a fault.
fn read_models(names: &[String], granted: &Granted, faults: &mut Faults) -> Vec<ModelName> {
    let choice = granted.ask_settings().choice.as_ref();
    let may_be_named = |model: &ModelName| choice.is_none_or(|choice| choice.contains(model));
    let configured: Vec<&ModelName> = granted.chat_models().names().filter(|model| may_be_named(model)).collect();
    if names.len() > MAX_MODELS {
        faults.add("/models", format!("at most {MAX_MODELS} models"));
    }
    let mut models = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("/models/{index}");
        match name.parse::<ModelName>() {
            Ok(model) if configured.contains(&&model) => models.push(model),
            Ok(_) => {
                let known: Vec<String> = configured.iter().map(ToString::to_string).collect();
                let choice = if known.is_empty() {
                    "this service has none; leave models out".to_owned()
                } else {
                    format!("choose among {}", known.join(", "))
                };
                faults.add(pointer, format!("{name:?} is no model that requests may name here; {choice}"));
            }
            Err(form) => faults.add(pointer, format!("{name:?} does not name a model; {form}")),
        }
    }
    models
}
