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
    asks::{self, Course, Questions, Way},
    client::Client,
    comparison,
    ingest::COLLECTION,
    model_server::ModelServer,
    progress,
    report::{AskTarget, Report},
    service::{Service, Setup},
};

/// Duration of each chat completion.
const DELAY_MS: u64 = 200;
/// More than all questions take one client.
const LONGEST: Duration = Duration::from_mins(10);
const QUESTIONS: &str = include_str!("../questions.txt");
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/handbook");

/// With answers that are begun while the sources are graded, without, and by the naive loop.
pub async fn run(arguments: &Arguments, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    let models = ModelServer::start(0).await?;
    let data_dir = folder.join("slow-models");
    let setup = Setup { binary: arguments.binary.clone(), data_dir, models: Some(models.base_url()) };
    let service = Service::start_with_chat(&setup).await?;
    load_sample(&service).await?;
    models.calls.delay_ms.store(DELAY_MS, Ordering::Relaxed);
    for clients in &arguments.clients {
        for (name, way, target) in ways(&models) {
            let name = format!("models that take {DELAY_MS} ms, {name}");
            progress(&format!("{name}, {clients} clients"));
            let (questions, time) = questions(*clients, arguments.run);
            let course = Course { service: &service, models: Some(&models), questions: &questions, way: &way };
            let asked = asks::run(course, *clients, time).await?;
            if *clients == 1 && target.is_some() {
                report.asks(&name, &asked, target);
            }
            report.comparison.add(name, asked);
        }
    }
    service.stop().await
}

/// How is asked, and the aim for one client.
fn ways(models: &ModelServer) -> [(&'static str, Way, Option<AskTarget>); 3] {
    let ask = |speculative| Way::Ask(json!({"speculative": speculative}));
    [
        ("`/v1/ask`, `speculative: off`", ask("off"), Some(AskTarget::MedianMs(460.0))),
        ("`/v1/ask`, `speculative: on`", ask("on"), Some(AskTarget::MedianMs(260.0))),
        ("naive loop", comparison::naive(models), None),
    ]
}

/// One client asks each question once, however long that takes; more ask them again and again for `time`.
fn questions(clients: usize, time: Duration) -> (Arc<Questions>, Duration) {
    let all: Vec<&str> = QUESTIONS.lines().collect();
    if clients == 1 { (Arc::new(Questions::once(&all)), LONGEST) } else { (Arc::new(Questions::repeated(&all)), time) }
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
