//! Asks with models of the usual speed, over prose: the sample handbook and questions that it answers.

use std::{
    fs,
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use anyhow::bail;
use hyper::Method;
use serde_json::{Value, json};

use crate::{
    arguments::Arguments,
    asks::{self, Questions},
    client::Client,
    ingest::COLLECTION,
    model_server::ModelServer,
    progress,
    report::{AskTarget, Report},
    service::{Service, Setup},
};

/// What each chat completion takes.
const DELAY_MS: u64 = 200;
const QUESTIONS: &str = include_str!("../questions.txt");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/handbook");

/// One client asks all questions, with answers that are begun while the sources are graded and without.
pub async fn run(arguments: &Arguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    let models = ModelServer::start(0).await?;
    let data_dir = folder.join("slow-models");
    let setup = Setup { binary: arguments.binary.clone(), data_dir, models: Some(models.base_url()) };
    let service = Service::start_with_chat(&setup).await?;
    load_sample(&service).await?;
    let questions: Vec<&str> = QUESTIONS.lines().collect();
    models.calls.delay_ms.store(DELAY_MS, Ordering::Relaxed);
    for (speculative, target_ms) in [("off", 460.0), ("on", 260.0)] {
        let name = format!("models that take {DELAY_MS} ms, speculative {speculative}");
        progress(&name);
        let before = models.calls.chats();
        let asked =
            asks::run(&service, &Arc::new(Questions::new(&questions, speculative)), 1, Duration::from_secs(600))
                .await?;
        report.asks(&name, &asked, Some(AskTarget::MedianMs(target_ms)));
        let calls = models.calls.chats() - before;
        report.note(format!("{name}: model calls"), format!("{calls} for {} asks", asked.asks));
    }
    service.stop().await
}

async fn load_sample(service: &Service) -> anyhow::Result<()> {
    let mut documents = Vec::new();
    for entry in fs::read_dir(SAMPLE)? {
        let path = entry?.path();
        documents.push(json!({"source": path.to_string_lossy(), "text": fs::read_to_string(&path)?}));
    }
    let body: Value = json!({"collection": COLLECTION, "documents": documents});
    let mut client = Client::connect(service.address).await?;
    let job = client.json(Method::POST, "/v1/documents?wait=true", Some(&body)).await?;
    if job["state"] != "succeeded" {
        bail!("the sample was not taken in: {job}");
    }
    Ok(())
}
