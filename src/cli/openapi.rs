//! `cited openapi`.

/// Prints the `OpenAPI` document.
pub(super) fn print() -> anyhow::Result<()> {
    println!("{}", crate::http::openapi_document().to_pretty_json()?);
    Ok(())
}
