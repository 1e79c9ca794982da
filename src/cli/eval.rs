//! `cited eval`.
use crate::config::Config;
use clap::Args;
#[derive(Debug, Args)]
pub(super) struct Arguments {}
pub(super) async fn run(_config: &Config, _arguments: Arguments) -> anyhow::Result<()> {
    Ok(())
}
