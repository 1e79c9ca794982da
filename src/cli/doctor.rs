//! `cited doctor`: what the service would run with, and whether it could.

use anyhow::bail;
use secrecy::ExposeSecret;
use sqlx::{ConnectOptions, postgres::PgConnectOptions};

use crate::{
    config::{Config, Database, Origin},
    store::private_postgres,
};

/// Prints the settings in force and checks the database.
pub(super) async fn run(config: &Config) -> anyhow::Result<()> {
    println!("Configuration");
    for value in config.effective() {
        let origin = match value.origin {
            Origin::Environment => "environment",
            Origin::File => "file",
            Origin::Default => "default",
        };
        println!("  {:<32} {:<48} {origin}", value.name, value.value);
    }
    println!("\nDatabase");
    match &config.database {
        Database::Server { primary, .. } => check_server(primary.expose_secret()).await,
        Database::Private(settings) => check_private(settings),
    }
}

async fn check_server(url: &str) -> anyhow::Result<()> {
    let options: PgConnectOptions = url.parse()?;
    match options.connect().await {
        Ok(_) => {
            println!("  the server at DATABASE_URL answers");
            Ok(())
        }
        Err(error) => bail!("the server at DATABASE_URL does not answer: {error}"),
    }
}

fn check_private(settings: &private_postgres::Settings) -> anyhow::Result<()> {
    let binaries = private_postgres::find_binaries(settings)?;
    println!("  embedded, data in {}", settings.data_dir.display());
    println!("  {binaries}");
    Ok(())
}
