//! Findings of the citation validator, and the warnings reported together with them.

use serde::Serialize;
use utoipa::ToSchema;

use super::{
    super::{
        number::shortest,
        schema::{ClaimVerdictSchema, ContradictionKindSchema},
    },
    QuoteBody,
    form::moved,
};
use crate::{
    domain::{
        answer_form::FormedAnswer,
        citation::{CitationError, ClaimVerdict, Contradiction, ContradictionKind},
    },
    service::ask::{AskWarning, SkipCause},
};

/// A finding of the validator.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Finding)]
pub(in crate::http) struct FindingBody {
    /// `malformed`, `out_of_range`, `uncited_claim`, `unsupported_claim` or `empty_answer`; as a warning also
    /// `length_cut` (the model's tokens were used up), `mode_fallback` (no model can cite; nothing was demanded),
    /// `markers_normalised` (the model wrote `[N]` for `[^N]`, and its table of capabilities lets that be rewritten),
    /// `model_skipped` (a configured model was not asked or not understood, and the built-in one stood in),
    /// `source_replaced` (a document that was found was replaced by another one, or says so),
    /// `instructions_ignored` (the conversation has instructions to the assistant, which are not followed) or
    /// `web_search_failed` (the documents fall short, and the web could not be searched).
    #[schema(example = "uncited_claim")]
    kind: &'static str,
    /// The finding described in words.
    detail: String,
    /// Number in the marker, if the finding concerns one.
    marker: Option<u32>,
    /// Range of the answer that the finding concerns.
    #[schema(value_type = Option<[usize; 2]>)]
    span: Option<(usize, usize)>,
    /// How well the cited sources support the claim, 0 to 1; with `unsupported_claim` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    support: Option<f64>,
    /// Whether the cited sources contradict the claim or merely do not say it; with `unsupported_claim` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ClaimVerdictSchema>, nullable = false)]
    verdict: Option<ClaimVerdict>,
    /// The words of a source that contradict the claim; with the verdict `contradicted` only, and not in the audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    contradiction: Option<ContradictionBody>,
}

/// A place of a source that contradicts a claim.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Contradiction)]
pub(in crate::http) struct ContradictionBody {
    /// The kind of difference.
    #[schema(value_type = ContradictionKindSchema)]
    kind: ContradictionKind,
    /// Index of the source in `sources`, from 0.
    source_index: usize,
    /// Its words.
    quote: QuoteBody,
}

impl From<Contradiction> for ContradictionBody {
    fn from(found: Contradiction) -> Self {
        let Contradiction { kind, source_index, quote } = found;
        Self { kind, source_index, quote: quote.into() }
    }
}

impl FindingBody {
    /// Moves its range to where that is in another form of the answer.
    pub(super) fn move_spans(&mut self, formed: &FormedAnswer) {
        self.span = self.span.map(|span| moved(formed, span));
    }
}

impl From<&AskWarning> for FindingBody {
    fn from(warning: &AskWarning) -> Self {
        let detail = match warning {
            AskWarning::ModeFallback { models } => {
                format!("{} cannot cite, so nothing was demanded of the answer", models.join(", "))
            }
            AskWarning::LengthCut { model, tokens } => {
                format!("the answer ends where {model} had used up its {tokens} tokens; it may not be complete")
            }
            AskWarning::MarkersNormalised { model } => {
                format!("{model} wrote [N] for [^N]; its markers were rewritten before they were checked")
            }
            AskWarning::ModelSkipped { role, cause } => {
                let role = role.as_str();
                match cause {
                    SkipCause::NoCallLeft => format!(
                        "the model of the role {role} was not asked, because the calls left are needed for the answer; \
                         allow more model calls, or take the role from it"
                    ),
                    SkipCause::OverLimit => format!(
                        "the model of the role {role} was not asked, because the call would have exceeded a limit; the \
                         built-in one stood in"
                    ),
                    SkipCause::Failed => {
                        format!("no model of the role {role} answered; the built-in one stood in")
                    }
                    SkipCause::UnusableReply => {
                        format!(
                            "the model of the role {role} gave no reply that can be used; the built-in one stood in"
                        )
                    }
                    SkipCause::UnreadVerdicts { missing, of } => format!(
                        "the reply of the model of the role {role} has no readable verdict on {missing} of {of} items"
                    ),
                }
            }
            AskWarning::InstructionsIgnored => {
                "messages of the role system are not followed; instructions are those of the deployment".to_owned()
            }
            AskWarning::SourceReplaced { source, by: Some(by), is_used: _ } => {
                format!("{source} was left out, since {by} replaces it; name its year to ask about it")
            }
            AskWarning::SourceReplaced { source, by: None, is_used: false } => {
                format!("{source} was left out, since it says that it was replaced; name its year to ask about it")
            }
            AskWarning::SourceReplaced { source, by: None, is_used: true } => {
                format!("{source} says that it was replaced, and no other document says as much about this")
            }
            AskWarning::WebSearchFailed { detail } => format!("the documents fall short, and the web: {detail}"),
        };
        Self {
            kind: warning.kind(),
            detail,
            marker: None,
            span: None,
            support: None,
            verdict: None,
            contradiction: None,
        }
    }
}

impl From<&CitationError> for FindingBody {
    fn from(error: &CitationError) -> Self {
        Self {
            kind: error.kind.as_str(),
            detail: error.detail.clone(),
            marker: error.marker,
            span: error.span.map(Into::into),
            support: error.support.map(shortest),
            verdict: error.verdict,
            contradiction: error.contradiction.clone().map(ContradictionBody::from),
        }
    }
}
