//! `cited doctor`: what the service would run with, and whether it could.

use anyhow::bail;
use secrecy::ExposeSecret;
use sqlx::{ConnectOptions, postgres::PgConnectOptions};

use crate::{
    config::{Config, Database, Origin},
    providers::chat::{CallRole, ChatSettings},
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
    print_models(&config.chat);
    println!("\nDatabase");
    match &config.database {
        Database::Server { primary, .. } => check_server(primary.expose_secret()).await,
        Database::Private(settings) => check_private(settings),
    }
}

/// Who does what, and what each model can do.
fn print_models(chat: &ChatSettings) {
    println!("\nModels");
    for role in CallRole::ALL {
        let names: Vec<String> =
            chat.roles.get(&role).unwrap_or(&chat.default).iter().map(ToString::to_string).collect();
        let shown = if names.is_empty() { "built in".to_owned() } else { names.join(", then ") };
        println!("  {:<32} {shown}", role.as_str());
    }
    for name in chat.models.keys() {
        let Some(can) = chat.capabilities(name) else { continue };
        let each = [
            ("citations", can.citations),
            ("seed", can.seed),
            ("temperature_zero", can.temperature_zero),
            ("streaming", can.streaming),
            ("structured_output", can.structured_output),
        ];
        let shown: Vec<&str> = each.iter().filter(|(_, is_able)| *is_able).map(|(capability, _)| *capability).collect();
        println!("  {:<32} {}", name.to_string(), shown.join(", "));
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
