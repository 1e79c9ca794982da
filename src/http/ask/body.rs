//! What is asked, as the API takes it.

use std::{collections::HashSet, time::Duration};

use axum::http::{HeaderMap, header};
use serde::Deserialize;
use utoipa::ToSchema;

use super::super::{
    fields::Faults,
    filter::FilterBody,
    problem::ApiError,
    schema::{CollectionNames, OnInsufficientSchema, Question, SpeculationSchema, ValidationLevelSchema},
    search::default_collections,
    stages::{ModeBody, StagesBody},
};
use crate::{
    domain::{budget::TighterLimits, citation::Level, corrective::OnInsufficient, speculation::Speculation},
    service::ask::{
        AskExecution, AskRequest, AskService, ChatModels, LONGEST_CACHE_LIFE, ModelName, Reach, StreamMode,
    },
};

/// Largest sampling temperature that providers take.
const MAX_TEMPERATURE: f32 = 2.0;
/// Most passages of a round.
const MAX_TOP_K: usize = 100;
/// Longest list of models that are tried one after the other.
const MAX_MODELS: usize = 8;

/// A question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = AskRequest, example = json!({"question": "How many days of paid leave do I have?", "collections": ["handbook"]}))]
pub(in crate::http) struct AskBody {
    /// In words, not all space.
    #[schema(value_type = Question)]
    question: String,
    /// Where the answer may come from; all must exist.
    #[serde(default = "default_collections")]
    #[schema(value_type = CollectionNames, default = json!(["default"]))]
    collections: Vec<String>,
    /// Passages that are retrieved and graded per round, 1 to 100.
    #[serde(default = "default_top_k")]
    #[schema(default = 8, minimum = 1, maximum = 100)]
    top_k: usize,
    /// Passages below this score are left out: the fused one, or with one half alone its own. Without it none are.
    min_score: Option<f64>,
    /// What may be found.
    #[serde(default)]
    filter: FilterBody,
    /// Which halves of retrieval run.
    #[serde(default)]
    mode: ModeBody,
    /// What happens to what was found.
    #[serde(default)]
    stages: StagesBody,
    /// How other queries are made for a question that found too little.
    #[serde(default)]
    rewrite: RewriteBody,
    /// How strictly the answer is checked: `structural` refuses malformed and out-of-range markers, `cited` also
    /// statements without a marker, `supported` also statements that their sources do not support; `off` refuses
    /// nothing and warns.
    #[serde(default)]
    #[schema(value_type = ValidationLevelSchema)]
    validation: Level,
    /// `true` answers with server-sent events as the model writes; `"validated"` likewise, but no word is sent before
    /// its claim is confirmed. Without it an `Accept: text/event-stream` header means `true`.
    #[serde(default)]
    stream: Option<StreamBody>,
    /// Models as `provider:model`, tried in this order; all must be configured. Without any, those of the
    /// deployment. Roles that the deployment gives models of their own, such as grading, keep them.
    #[serde(default)]
    #[schema(max_items = 8, example = json!(["groq:llama-3.3-70b-versatile", "openai:gpt-4o-mini"]))]
    models: Vec<String>,
    /// Sampling temperature of the answering model, 0 to 2. Models that take none are asked without.
    #[serde(default)]
    #[schema(default = 0, minimum = 0, maximum = 2)]
    temperature: f32,
    /// Seed for the models that take one; otherwise made from question and sources.
    seed: Option<u64>,
    /// What to do when only doubtful passages are found: `abstain`, or `generate` over them. Nothing is ever
    /// generated when every passage is incorrect.
    #[serde(default)]
    #[schema(value_type = OnInsufficientSchema)]
    on_insufficient: OnInsufficient,
    /// Whether the web may be searched where the documents fall short, with the question as it is. It is only where
    /// the deployment names a search engine, and never with a `filter`. Sources from there have `origin: "web"`.
    #[serde(default = "default_web")]
    #[schema(default = true)]
    web: bool,
    /// Whether the model that answers is shown only those sentences of each source that bear on the question, with
    /// their neighbours. Answers are checked against the whole sources, and citations lead there.
    #[serde(default)]
    refine: bool,
    /// Whether the answer is begun while a model still grades: `auto` when the grades can be told in advance, `on`
    /// whenever a source is surely good, or `off`. What was begun over other sources than the grades confirm is thrown
    /// away; `usage.wasted` says what it cost.
    #[serde(default)]
    #[schema(value_type = SpeculationSchema)]
    speculative: Speculation,
    /// Tighter limits than the deployment's.
    #[serde(default)]
    limits: LimitsBody,
    /// Whether the answer may be one that was given before to the same question over the same passages, and be
    /// kept for that. Without it the deployment decides.
    cache: Option<CacheBody>,
    /// What to add to the answer: `trace`, the whole path (queries, verdicts with reasons, steps, model calls);
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

const fn default_top_k() -> usize {
    8
}

/// Whether the answer comes piece by piece.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be true, false or \"validated\"")]
#[schema(as = Stream)]
pub(super) enum StreamBody {
    /// Whether at all.
    Switch(bool),
    /// How.
    Mode(StreamModeBody),
}

/// How the answer comes piece by piece.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = StreamMode)]
pub(super) enum StreamModeBody {
    /// No word before its claim is confirmed.
    Validated,
}

/// Tighter limits than the deployment's.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
#[schema(as = AskLimits)]
pub(super) struct LimitsBody {
    /// Most calls of a configured model, retry included.
    max_llm_calls: Option<u32>,
    /// Longest time in milliseconds.
    timeout_ms: Option<u64>,
    /// Most tokens of one prompt.
    max_prompt_tokens: Option<u32>,
    /// Most tokens of one reply, 1 or more.
    #[schema(minimum = 1)]
    max_completion_tokens: Option<u32>,
    /// Most bytes of source text in one prompt.
    max_source_bytes: Option<u64>,
}

/// Whether an answer may be given again.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Cache)]
pub(super) struct CacheBody {
    /// How long, in seconds, up to 30 days; 0 neither looks for one nor keeps it.
    #[schema(maximum = 2_592_000, example = 300)]
    ttl_s: u64,
}

/// How other queries are made for a question that found too little.
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

/// What to add to an answer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Include)]
pub(super) enum IncludeBody {
    /// The whole path: queries, verdicts with reasons, steps, model calls, drafts' errors.
    Trace,
    /// The rejected draft, with a 422.
    Draft,
}

impl AskBody {
    /// How the answer is to come piece by piece; `None` if it comes whole.
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

    pub(super) fn read(self, service: &AskService) -> Result<(AskRequest, HashSet<IncludeBody>), ApiError> {
        let mut faults = Faults::default();
        faults.question("/question", &self.question);
        faults.collections("/collections", &self.collections);
        faults.range("/top_k", self.top_k, 1, MAX_TOP_K);
        let models = read_models(&self.models, service.models(), &mut faults);
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
            None => service.settings().cache.life,
        };
        if cache_life.is_some_and(|life| life > LONGEST_CACHE_LIFE) {
            faults.add("/cache/ttl_s", format!("must be at most {}", LONGEST_CACHE_LIFE.as_secs()));
        }
        faults.finish()?;
        let request = AskRequest {
            question: self.question,
            collections: self.collections,
            top_k: self.top_k,
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

/// The models named; those that are not configured are faults.
fn read_models(names: &[String], configured: &ChatModels, faults: &mut Faults) -> Vec<ModelName> {
    if names.len() > MAX_MODELS {
        faults.add("/models", format!("at most {MAX_MODELS} models"));
    }
    let mut models = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let pointer = format!("/models/{index}");
        match name.parse::<ModelName>() {
            Ok(model) if configured.contains(&model) => models.push(model),
            Ok(_) => {
                let known: Vec<String> = configured.names().map(ToString::to_string).collect();
                let choice = if known.is_empty() {
                    "this service has none; leave models out".to_owned()
                } else {
                    format!("choose among {}", known.join(", "))
                };
                faults.add(pointer, format!("{name:?} is not a configured model; {choice}"));
            }
            Err(form) => faults.add(pointer, format!("{name:?} does not name a model; {form}")),
        }
    }
    models
}
