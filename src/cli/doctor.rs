//! `cited doctor`: prints the settings that the service would run with, and checks whether it could run.

use std::process::Command;

use anyhow::{Context as _, bail};
use secrecy::SecretString;

use crate::{
    config::{Config, Database, Origin, hide_secrets},
    providers::{
        BUILT_IN_EMBEDDER, Endpoint,
        chat::{CallRole, ChatSettings},
        openai::EmbeddingSettings,
    },
    service::ingest::RecognitionSettings,
    store,
};

/// Prints the settings in force and the models, and checks the database; fails if the service could not run on it.
pub(super) async fn run(config: &Config) -> anyhow::Result<()> {
    println!("Configuration");
    for value in config.effective() {
        let origin = match value.origin {
            Origin::Environment => "environment",
            Origin::File => "file",
            Origin::Default => "default",
        };
        // Instructions to models may have several lines.
        println!("  {:<32} {:<48} {origin}", value.name, value.value.replace(['\n', '\r'], " "));
    }
    println!("\nModels");
    print_chat_models(&config.chat);
    print_embedding_models(config);
    let reranker = config.reranker.as_ref().map_or_else(|| "built in".to_owned(), place_of);
    println!("  {:<32} {reranker}", "rerank");
    println!("\nText recognition (OCR)");
    print_recognition(config.ingest.extraction.recognition.as_ref());
    println!("\nDatabase");
    match &config.database {
        Database::Server { primary, replica } => check_servers(primary, replica.as_ref()).await,
        Database::Private(settings) => check_private(settings),
    }
}

/// Prints the models of each role, and the capabilities of each model.
fn print_chat_models(chat: &ChatSettings) {
    for role in CallRole::ALL {
        let models = match chat.roles.get(&role) {
            Some(own) => own.as_slice(),
            None if role.is_optional() => &[],
            None => chat.default.as_slice(),
        };
        let names: Vec<String> = models.iter().map(ToString::to_string).collect();
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
            ("loose_markers", can.loose_markers),
        ];
        let shown: Vec<&str> = each.iter().filter(|(_, is_able)| *is_able).map(|(capability, _)| *capability).collect();
        println!("  {:<32} {}", name.to_string(), shown.join(", "));
    }
}

/// Prints the embedding model of new collections, and the models of other collections.
fn print_embedding_models(config: &Config) {
    let name = |settings: Option<&EmbeddingSettings>| {
        settings.map_or_else(|| format!("{BUILT_IN_EMBEDDER}, built in"), |settings| place_of(&settings.endpoint))
    };
    println!("  {:<32} {}", "embed", name(config.embedding.as_ref()));
    for further in &config.further_embeddings {
        println!("  {:<32} {}", "", name(further.as_ref()));
    }
}

/// Prints whether text in pictures is recognised, and by which program.
fn print_recognition(settings: Option<&RecognitionSettings>) {
    let Some(RecognitionSettings { program, languages, .. }) = settings else {
        println!("  {:<32} off, or no tesseract is installed: pictures and scans fail as no_text_layer", "CITED_OCR");
        return;
    };
    println!("  {:<32} {}", program.display(), languages);
    let known = Command::new(program).arg("--list-langs").output();
    let known = known.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let missing: Vec<&str> = languages.split('+').filter(|name| !known.lines().any(|line| line == *name)).collect();
    if !missing.is_empty() {
        println!("  {:<32} → it does not have {}; install that, or change CITED_OCR_LANGUAGES", "", missing.join(", "));
    }
}

fn place_of(endpoint: &Endpoint) -> String {
    let mut shown = endpoint.base_url.clone();
    hide_secrets(&mut shown);
    format!("{} at {shown}", endpoint.model)
}

async fn check_servers(primary: &SecretString, replica: Option<&SecretString>) -> anyhow::Result<()> {
    let mut faults = check_server("DATABASE_URL", primary).await?;
    if let Some(replica) = replica {
        println!("\nReplica");
        faults += check_server("DATABASE_READ_URL", replica).await?;
    }
    match faults {
        0 => Ok(()),
        1 => bail!("1 problem must be solved before the service can run; see the line that begins with → above"),
        more => {
            bail!("{more} problems must be solved before the service can run; see the lines that begin with → above")
        }
    }
}

/// Prints the findings about a server; returns the number of findings that must be resolved.
async fn check_server(setting: &str, url: &SecretString) -> anyhow::Result<usize> {
    let options = store::connect_options(url).with_context(|| format!("{setting} is no URL of a Postgres database"))?;
    let findings = store::examine(&options)
        .await
        .with_context(|| format!("the server at {setting} does not answer; start it, or correct the URL"))?;
    for finding in &findings {
        println!("  {:<32} {}", finding.about, finding.found);
        if let Some(remedy) = &finding.remedy {
            println!("  {:<32} → {remedy}", "");
        }
    }
    Ok(findings.iter().filter(|finding| finding.remedy.is_some()).count())
}

fn check_private(settings: &embedded_postgres::Settings) -> anyhow::Result<()> {
    let binaries = embedded_postgres::find_binaries(settings)?;
    println!("  embedded, data in {}", settings.data_dir.display());
    println!("  {binaries}");
    Ok(())
}
