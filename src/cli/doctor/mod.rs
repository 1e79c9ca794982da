//! `cited doctor`: prints the settings that the service would run with, and whether it would start and answer.

mod findings;
mod models;

use std::{process::Command, time::Duration};

use anyhow::Context as _;
use confine::Lock;
use embedded_postgres::PrivatePostgresError;
use secrecy::SecretString;
use tokio::net::TcpListener;

use self::findings::Findings;
use super::output::print_line;
use crate::{
    config::{Config, ConfigError, Database, Origin},
    providers::remote,
    server::Acceptance,
    service::{
        error_chain,
        ingest::{ExtractionSettings, RecognitionSettings},
    },
    store,
};

/// Longest wait for a service that runs at the address.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints the settings in force, the models and what the database is like, with what to do about each fault, and a verdict.
///
/// # Errors
/// If the service would not start.
pub(super) async fn run(config: Result<Config, ConfigError>) -> anyhow::Result<()> {
    let config = config.context("the service would not start")?;
    let mut findings = Findings::default();
    print_line("Configuration")?;
    print_settings(&config, &mut findings);
    print_line("\nAddress")?;
    check_address(&config, &mut findings).await;
    check_metrics_address(&config, &mut findings).await;
    if let Err(error) = Acceptance::load(&config.server) {
        findings.fault(error_chain(error.as_ref()));
    }
    print_line("\nModels")?;
    models::check(&config, &mut findings).await;
    print_line("\nText recognition (OCR)")?;
    check_recognition(config.ingest.extraction.recognition.as_ref(), &mut findings);
    print_line("\nLocks of the process that reads documents")?;
    check_locks(&config.ingest.extraction, &mut findings).await;
    print_line("\nDatabase")?;
    match &config.database {
        Database::Server { primary, replicas, direct } => {
            match direct {
                None => check_server("DATABASE_URL", primary, &mut findings).await,
                // The pooler lets the roles of the service in, and perhaps nobody else.
                Some(direct) => check_server("DATABASE_DIRECT_URL", direct, &mut findings).await,
            }
            for replica in replicas {
                print_line("\nReplica")?;
                check_server("DATABASE_READ_URL", replica, &mut findings).await;
            }
        }
        Database::Private(settings) => check_private(settings, &mut findings),
    }
    findings.verdict()
}

fn print_settings(config: &Config, findings: &mut Findings) {
    for value in config.effective() {
        let origin = match value.origin {
            Origin::Environment => "environment",
            Origin::File => "file",
            Origin::Default => "default",
        };
        // Instructions to models may have several lines.
        Findings::good(&value.name, format_args!("{:<48} {origin}", value.value.replace(['\n', '\r'], " ")));
    }
    for unknown in config.unknown_variables() {
        findings.warning(unknown);
    }
    if let Some(exposure) = config.exposure() {
        findings.warning(exposure);
    }
}

/// Checks whether the address is free, or that of a service which runs already.
async fn check_address(config: &Config, findings: &mut Findings) {
    let address = config.listen;
    let Err(error) = TcpListener::bind(address).await else {
        return Findings::good("listen", format_args!("{address}, free"));
    };
    let client = remote::Client::here(address, config.server.tls.is_some(), PATIENCE).ok();
    let answer = match &client {
        Some(client) => client.get("/livez").await.ok(),
        None => None,
    };
    if answer.is_some_and(|answer| answer.status == 200 && answer.body.get("status").is_some()) {
        Findings::good("listen", format_args!("{address}, where a Cited runs already"));
        findings.note_running();
    } else {
        Findings::good("listen", format_args!("{address}: {error}"));
        findings.fault("set CITED_LISTEN to a free address of this machine");
    }
}

/// Checks whether the address of the metrics is free; that of a service that runs already is not.
async fn check_metrics_address(config: &Config, findings: &mut Findings) {
    let Some(address) = config.metrics_listen.filter(|_| !findings.is_running()) else { return };
    let taken = match TcpListener::bind(address).await {
        Ok(_) if address == config.listen && address.port() != 0 => "the same as CITED_LISTEN".to_owned(),
        Ok(_) => return Findings::good("metrics", format_args!("{address}, free")),
        Err(error) => error.to_string(),
    };
    Findings::good("metrics", format_args!("{address}: {taken}"));
    findings.fault("set CITED_METRICS_LISTEN to a free address of this machine");
}

/// Prints whether text in pictures is recognised, and by which program.
fn check_recognition(settings: Option<&RecognitionSettings>, findings: &mut Findings) {
    let Some(RecognitionSettings { program, languages, .. }) = settings else {
        let found = "off, or no tesseract is installed: pictures and scans fail as no_text_layer";
        return Findings::good("CITED_OCR", found);
    };
    Findings::good(program.display(), languages);
    let known = match Command::new(program).arg("--list-langs").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => {
            return findings
                .warning(format_args!("it cannot be run ({error}); install tesseract, or change CITED_OCR"));
        }
    };
    let missing: Vec<&str> = languages.split('+').filter(|name| !known.lines().any(|line| line == *name)).collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        findings.warning(format_args!("it does not have {missing}; install that, or change CITED_OCR_LANGUAGES"));
    }
}

/// Prints which locks the kernel gives the process that reads documents.
async fn check_locks(extraction: &ExtractionSettings, findings: &mut Findings) {
    let locks = match extraction.locks().await {
        Ok(locks) => locks,
        Err(error) => return findings.fault(format_args!("{error:#}")),
    };
    for Lock { name, missing } in locks {
        match missing {
            None => Findings::good(name, "holds"),
            Some(missing) => {
                Findings::good(name, missing);
                if extraction.needs_locks {
                    findings.fault("set CITED_EXTRACT_LOCKS=available to read documents without it");
                } else {
                    findings.warning("a document that takes over its reader gets further than it should");
                }
            }
        }
    }
}

/// Prints the findings about a server.
async fn check_server(setting: &str, url: &SecretString, findings: &mut Findings) {
    let options = match store::connect_options(url) {
        Ok(options) => options,
        Err(error) => {
            Findings::good(setting, error_chain(&error));
            return findings.fault(format_args!("set {setting} to the URL of a Postgres database"));
        }
    };
    let found = match store::examine(&options).await {
        Ok(found) => found,
        Err(error) => {
            let told = error_chain(&error);
            let remedy = remedy_for_server(setting, &told);
            Findings::good("server", told);
            return findings.fault(remedy);
        }
    };
    for store::Finding { about, found, remedy } in found {
        Findings::good(about, found);
        match remedy {
            None => {}
            Some(store::Remedy::Needed(remedy)) => findings.fault(remedy),
            Some(store::Remedy::Advised(remedy)) => findings.warning(remedy),
        }
    }
}

/// How to get on with a server that cannot be examined.
fn remedy_for_server(setting: &str, told: &str) -> String {
    if told.contains("certificate") {
        format!(
            "name the authority of the server's certificate with sslrootcert= in {setting}, and the host as the certificate does"
        )
    } else {
        format!("the server at {setting} does not answer; start it, or correct the URL")
    }
}

fn check_private(settings: &embedded_postgres::Settings, findings: &mut Findings) {
    Findings::good("embedded", format_args!("data in {}", settings.data_dir.display()));
    match embedded_postgres::examine(settings) {
        // It is that of the service which runs.
        Err(PrivatePostgresError::InUse { holder, .. }) if findings.is_running() => {
            Findings::good("", format_args!("in use by {holder}"));
        }
        Err(error) => findings.fault(error),
        Ok(()) => {}
    }
    match embedded_postgres::find_binaries(settings) {
        Ok(binaries) => Findings::good("binaries", binaries),
        Err(error) => findings.fault(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_prove_its_name_is_not_taken_for_one_that_is_away() {
        let told = "error communicating with database: invalid peer certificate: UnknownIssuer";
        assert!(remedy_for_server("DATABASE_URL", told).contains("sslrootcert= in DATABASE_URL"));
        assert!(remedy_for_server("DATABASE_URL", "Connection refused").contains("does not answer"));
    }
}
