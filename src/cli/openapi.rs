//! `cited openapi`.

use super::output::print_line;

/// Prints the `OpenAPI` document.
pub(super) fn print() -> anyhow::Result<()> {
    print_line(crate::http::openapi_document().to_pretty_json()?)
}
