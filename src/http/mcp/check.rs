//! The tool `check`: `POST /v1/check`.

use axum::Json;
use rmcp::model::{CallToolResult, Tool};

use super::{
    super::{
        check::{CheckBody, CheckReportBody, check},
        extract::ValidJson,
        problem::ApiError,
    },
    session::Session,
    tool::{ToolName, define, reads, structured},
};

pub(super) fn definition() -> Tool {
    let description = "Holds a text against passages, URNs or collections, sentence by sentence: which are supported, which \
        are contradicted, and by which words. Use it before you state what sources say.";
    define::<CheckBody, CheckReportBody>(ToolName::Check, "Check a text", description, reads())
}

pub(super) async fn call(session: &Session, arguments: CheckBody) -> Result<CallToolResult, ApiError> {
    let Json(report) = check(session.granted.clone(), ValidJson(arguments)).await?;
    Ok(CallToolResult::structured(structured(&report)?))
}
