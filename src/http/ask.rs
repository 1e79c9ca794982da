//! `POST /v1/ask`.

use std::{collections::HashSet, time::Duration};

use axum::{Extension, Json, extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{
    AppState,
    answer::{AnswerBody, FindingBody, draft_json, trace_json},
    extract::ValidJson,
    fields::{Faults, FilterBody},
    problem::{ApiError, Problem},
    search::{MAX_TOP_K, default_collections},
    source::SourceBody,
    stages::{ModeBody, StagesBody},
};
use crate::{
    domain::{budget::Spent, citation::Level, corrective::OnInsufficient, identity::TenantId},
    providers::chat::{ChatModels, ModelName},
    service::ask::{AskError, AskRequest, Rejection},
};

/// Largest sampling temperature that providers take.
const MAX_TEMPERATURE: f32 = 2.0;
/// Longest list of models that are tried one after the other.
const MAX_MODELS: usize = 8;

/// A question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"question": "How many days of paid leave do I have?", "collections": ["handbook"]}))]
pub(super) struct AskBody {
    /// In words.
    question: String,
    /// Where the answer may come from; all must exist.
    #[serde(default = "default_collections")]
    #[schema(default = json!(["default"]))]
    collections: Vec<String>,
    /// Passages that are retrieved and graded per round, 1 to 100.
    #[serde(default = "default_top_k")]
    #[schema(default = 8, minimum = 1, maximum = 100)]
    top_k: usize,
    /// Passages below this fused score are left out.
    #[serde(default)]
    min_score: f64,
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
    /// How strictly the answer is checked.
    #[serde(default)]
    #[schema(value_type = LevelBody)]
    validation: Level,
    /// Only `false` in this version: the answer comes whole.
    #[serde(default)]
    stream: bool,
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
    #[schema(value_type = OnInsufficientBody)]
    on_insufficient: OnInsufficient,
    /// Tighter limits than the deployment's.
    #[serde(default)]
    limits: LimitsBody,
    /// What to add to the answer.
    #[serde(default)]
    include: HashSet<IncludeBody>,
    /// Retrieve, grade and plan, but generate nothing.
    #[serde(default)]
    dry_run: bool,
}

const fn default_top_k() -> usize {
    8
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

/// How strictly an answer is checked.
#[derive(ToSchema)]
#[schema(as = ValidationLevel, rename_all = "snake_case")]
#[expect(dead_code, reason = "names the levels in the OpenAPI document; the domain knows nothing of that")]
pub(super) enum LevelBody {
    Off,
    Structural,
    Cited,
    Supported,
}

/// What to do when only doubtful passages are found.
#[derive(ToSchema)]
#[schema(as = OnInsufficient, rename_all = "snake_case")]
#[expect(dead_code, reason = "names the choices in the OpenAPI document; the domain knows nothing of that")]
pub(super) enum OnInsufficientBody {
    Abstain,
    Generate,
}

impl AskBody {
    fn read(self, configured: &ChatModels) -> Result<(AskRequest, HashSet<IncludeBody>), ApiError> {
        let mut faults = Faults::default();
        faults.question("/question", &self.question);
        faults.collections("/collections", &self.collections);
        faults.range("/top_k", self.top_k, 1, MAX_TOP_K);
        let models = read_models(&self.models, configured, &mut faults);
        faults.range("/temperature", self.temperature, 0.0, MAX_TEMPERATURE);
        if !self.min_score.is_finite() {
            faults.add("/min_score", "must be a number");
        }
        if self.stream {
            faults.add("/stream", "this version answers whole; leave stream out or set it to false");
        }
        if self.limits.timeout_ms == Some(0) {
            faults.add("/limits/timeout_ms", "must be 1 or more");
        }
        let filter = self.filter.read("/filter", &mut faults);
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
            models,
            temperature: self.temperature,
            seed: self.seed,
            on_insufficient: self.on_insufficient,
            max_llm_calls: self.limits.max_llm_calls,
            timeout: self.limits.timeout_ms.map(Duration::from_millis),
            dry_run: self.dry_run,
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

/// Ask
///
/// Answers from the documents: each claim carries a `[^N]` marker that the server has checked and that leads to
/// the exact words. What the documents do not say is answered with `outcome: "abstained"` and a reason.
#[utoipa::path(
    post, path = "/v1/ask", tag = "ask", operation_id = "ask", request_body = AskBody,
    responses(
        (status = 200, description = "An answer, or an honest abstention", body = AnswerBody),
        (status = 400, description = "The body is not JSON", body = Problem, content_type = "application/problem+json"),
        (status = 401, description = "No valid key", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "A collection does not exist", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "A collection lives in another vector space", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large, or the prompt is over the budget (`budget_exceeded`)", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "The body is not declared as JSON", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "A value is wrong (`invalid_request`), or the citations were wrong after the retry (`citation_validation`)", body = Problem, content_type = "application/problem+json",
            example = json!({
                "type": "urn:cited:problem:citation_validation", "title": "The answer's citations do not hold", "status": 422,
                "detail": "the model's answer failed validation at level \"cited\" after 2 attempts", "code": "citation_validation",
                "instance": "/v1/ask", "request_id": "0199c1f0-a1b2-7c3d-8e4f-5a6b7c8d9e0f",
                "validation": {"ok": false, "level": "cited", "effective_level": "cited", "attempts": 2, "warnings": [],
                    "errors": [{"kind": "out_of_range", "detail": "source 7 does not exist; there are 3 sources", "marker": 7, "span": [41, 45]}]},
                "usage": {"llm_calls": 2, "prompt_tokens": 912, "completion_tokens": 80, "estimated": false, "cost_usd": 0.0}, "sources": []
            })),
        (status = 503, description = "Model provider or database not available", body = Problem, content_type = "application/problem+json"),
        (status = 504, description = "The time limit was reached", body = Problem, content_type = "application/problem+json"),
    ),
    security(("bearer" = []), ()),
)]
pub(super) async fn ask(
    State(state): State<AppState>,
    Extension(tenant): Extension<TenantId>,
    ValidJson(body): ValidJson<AskBody>,
) -> Result<Json<AnswerBody>, ApiError> {
    let (request, include) = body.read(state.services.ask.models())?;
    match state.services.ask.ask(tenant, &request).await {
        Ok(report) => {
            let trace = include.contains(&IncludeBody::Trace).then(|| trace_json(&report.trace));
            Ok(Json(AnswerBody::new(report, trace)))
        }
        Err(AskError::Rejected(rejection)) => {
            let draft = include.contains(&IncludeBody::Draft).then(|| draft_json(&rejection.draft));
            let problem = rejection_problem(*rejection);
            Err(match draft {
                Some(draft) => problem.with("draft", draft),
                None => problem,
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// What was spent, as the API shows it.
pub(super) fn usage_json(usage: &Spent) -> Value {
    json!({
        "llm_calls": usage.llm_calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "estimated": usage.has_estimates,
        "cost_usd": usage.cost.usd(),
    })
}

/// 422 after the retry: what was wrong, over which sources, at what cost.
pub(super) fn rejection_problem(rejection: Rejection) -> ApiError {
    let level = rejection.level;
    let detail = format!(
        "the answer of {} ({}) failed validation at level {:?} after {} attempts; validation.errors lists what was wrong",
        rejection.by.model,
        rejection.by.provider,
        level.as_str(),
        rejection.attempts
    );
    let warnings: Vec<FindingBody> = rejection.warnings.iter().map(FindingBody::from).collect();
    let sources: Vec<SourceBody> =
        rejection.sources.into_iter().map(|graded| SourceBody::new(graded.hit, Some(graded.verdict.grade))).collect();
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "citation_validation", "The answer's citations do not hold", detail)
        .with(
            "validation",
            json!({
                "ok": false, "level": level, "effective_level": level, "attempts": rejection.attempts,
                "warnings": warnings, "errors": rejection.errors,
            }),
        )
        .with("model", json!(rejection.by.model))
        .with("provider", json!(rejection.by.provider))
        .with("usage", usage_json(&rejection.usage))
        .with("sources", json!(sources))
}
