//! `cited eval`.
use clap::Args;
use crate::config::Config;
#[derive(Debug, Args)]
pub(super) struct Arguments {}
pub(super) async fn run(_config: &Config, _arguments: Arguments) -> anyhow::Result<()> { Ok(()) }
