//! Tools of clients, none of which is called.

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::super::problem::ApiError;

/// Whether tools are to be called. None is ever called: a request may leave the choice to the model, and may not demand a
/// call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be a text or an object with a type")]
#[schema(as = ToolChoice)]
pub(super) enum ToolChoiceBody {
    /// `auto` or `none`.
    Mode(String),
    /// Tools of the type `allowed_tools` with the mode `auto`.
    Tools(Map<String, Value>),
}

impl ToolChoiceBody {
    /// Refuses a choice that demands a call. Tools that are merely offered are passed over: front ends offer theirs with
    /// every message, and a model is free to call none.
    ///
    /// # Errors
    /// An unsupported parameter.
    pub(super) fn refuse_demand(choice: Option<&Self>) -> Result<(), ApiError> {
        if choice.is_none_or(Self::leaves_free) {
            return Ok(());
        }
        let detail = "answers come from documents, and no tools are called; leave it out, or choose auto";
        Err(ApiError::unsupported_parameter("/tool_choice", detail))
    }

    fn leaves_free(&self) -> bool {
        let mode = match self {
            Self::Mode(mode) => Some(mode.as_str()),
            Self::Tools(choice) => mode_of_allowed(choice),
        };
        mode.is_some_and(|mode| ["auto", "none"].contains(&mode))
    }
}

/// The mode of a set of allowed tools. It stands beside the type in responses, and one level below in chat completions.
fn mode_of_allowed(choice: &Map<String, Value>) -> Option<&str> {
    if choice.get("type")?.as_str()? != "allowed_tools" {
        return None;
    }
    let holder = choice.get("allowed_tools").and_then(Value::as_object).unwrap_or(choice);
    holder.get("mode")?.as_str()
}
