//! A database that is split up by tenants, beside a plain one: what asks and uploads cost each server.

mod servers;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use hyper::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use self::servers::{Servers, citus};
use crate::{
    arguments::{number, release_build},
    asks::percentile_ms,
    client::Client,
    corpus::Corpus,
    model_server::ModelServer,
    posts::per_second,
    progress,
    report::machine,
    service::{KEYS, OPERATOR, Service, Setup, open_to_postgres},
    single::UPLOAD,
};

/// Usage of the command.
pub const USAGE: &str = "\
Measures asks and uploads on a plain Postgres and on clusters, and the CPU time of each server. CITED_TEST_CITUS names the
Postgres with Citus (scripts/ensure-citus prints it). Usage:

  cargo run --release -p cited-bench -- cluster [OPTIONS]

  --binary PATH      the service (target/release/cited)
  --nodes N,N        servers with rows of tenants; 0 is a plain Postgres (0,1,2,3)
  --tenants N,N      tenants who share the documents, as many on each server (1,100)
  --documents N      documents, sent one by one (1000)
  --asks N           asks (1000)";

const SEED: u64 = 27;
const CLIENTS: usize = 8;
/// Requests before the clock runs.
const WARM_UP: usize = 100;

/// The measurements to run.
#[derive(Clone, Debug)]
pub struct ClusterArguments {
    binary: PathBuf,
    nodes: Vec<usize>,
    tenants: Vec<usize>,
    documents: usize,
    asks: usize,
}

impl ClusterArguments {
    /// Reads what follows `cluster`.
    pub fn read(mut given: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut arguments = Self {
            binary: release_build(),
            nodes: vec![0, 1, 2, 3],
            tenants: vec![1, 100],
            documents: 1_000,
            asks: 1_000,
        };
        let numbers = |text: &str| text.split(',').map(number).collect::<anyhow::Result<Vec<usize>>>();
        while let Some(name) = given.next() {
            match (name.as_str(), given.next()) {
                ("--binary", Some(value)) => arguments.binary = value.into(),
                ("--nodes", Some(value)) => arguments.nodes = numbers(&value)?,
                ("--tenants", Some(value)) => arguments.tenants = numbers(&value)?,
                ("--documents", Some(value)) => arguments.documents = number(&value)?,
                ("--asks", Some(value)) => arguments.asks = number(&value)?,
                _ => bail!("{USAGE}"),
            }
        }
        Ok(arguments)
    }
}

/// How requests of one kind went.
struct Went {
    elapsed: Duration,
    /// Ascending.
    latencies: Vec<Duration>,
    /// CPU seconds of each server.
    cpu: Vec<f64>,
}

/// Runs the measurements and prints a table.
pub async fn run(arguments: &ClusterArguments) -> anyhow::Result<()> {
    let citus = citus()?;
    println!("{}\n", machine());
    println!(
        "| servers | tenants | requests | a second | p50 ms | p95 ms | first server, CPU s for 1,000 | others, CPU s for 1,000 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for tenants in &arguments.tenants {
        for nodes in &arguments.nodes {
            progress(&format!("cluster: {nodes} nodes, {tenants} tenants"));
            let folder = tempfile::Builder::new().prefix("cited-cluster-").tempdir()?;
            open_to_postgres(folder.path())?;
            let servers = Servers::start(&citus, folder.path(), *nodes).await?;
            measure(arguments, &servers, folder.path(), (*nodes, *tenants)).await?;
        }
    }
    Ok(())
}

async fn measure(
    arguments: &ClusterArguments,
    servers: &Servers,
    folder: &Path,
    (nodes, tenants): (usize, usize),
) -> anyhow::Result<()> {
    let url = servers.url()?;
    carry_out(&arguments.binary, &url, &["migrate"]).await?;
    if nodes > 0 {
        carry_out(&arguments.binary, &url, &["cluster", "init", "--shards", "12"]).await?;
    }
    let models = ModelServer::start(0).await?;
    let setup =
        Setup { binary: arguments.binary.clone(), data_dir: folder.join("service"), models: Some(models.base_url()) };
    let settings = [KEYS.as_slice(), &[("DATABASE_URL", url.as_str())]].concat();
    let service = Service::start_with_settings(&setup, &settings).await?;
    let keys = make_tenants(&service, servers, tenants).await?;

    let corpus = Corpus::generate(arguments.documents.max(tenants), SEED);
    let upload = |number: usize, text: &str| {
        let documents = json!([{"source": format!("{number}.txt"), "text": text}]);
        json!({"collection": "bench", "documents": documents})
    };
    let uploads: Vec<Value> =
        corpus.paragraphs.iter().enumerate().map(|(number, paragraph)| upload(number, &paragraph.text)).collect();
    let went = post_all(&service, servers, (UPLOAD, &keys), &uploads).await?;
    print_row(nodes, tenants, "uploads", &went);
    let asks: Vec<Value> = corpus
        .questions
        .iter()
        .cycle()
        .take(arguments.asks + WARM_UP)
        .map(|question| json!({"question": question, "collections": ["bench"]}))
        .collect();
    let (first, rest) = asks.split_at(WARM_UP);
    post_all(&service, servers, ("/v1/ask", &keys), first).await?;
    let went = post_all(&service, servers, ("/v1/ask", &keys), rest).await?;
    print_row(nodes, tenants, "asks", &went);
    service.stop().await
}

/// Runs a command of the service.
async fn carry_out(binary: &Path, url: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(binary).args(arguments).env("DATABASE_URL", url).output().await?;
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Makes tenants, as many on each server; returns a key of each.
async fn make_tenants(service: &Service, servers: &Servers, tenants: usize) -> anyhow::Result<Vec<String>> {
    let nodes = servers.nodes().max(1);
    let mut wanted: Vec<usize> = (0..nodes).map(|node| tenants / nodes + usize::from(node < tenants % nodes)).collect();
    let mut kept = Vec::with_capacity(tenants);
    let mut made = 0;
    while kept.len() < tenants {
        let numbers: Vec<usize> = (made..made + tenants - kept.len()).collect();
        made += numbers.len();
        let ids = by_clients(service, &numbers, async |operator: &mut Client, number: &usize| {
            let tenant = json!({"name": format!("tenant{number}")});
            let made = operator.json(Method::POST, "/v1/tenants", Some(&tenant)).await?;
            Ok(made["id"].as_str().context("an id")?.to_owned())
        })
        .await?;
        for (id, node) in servers.nodes_of(&ids).await? {
            if let Some(left) = wanted.get_mut(node).filter(|left| **left > 0) {
                *left -= 1;
                kept.push(id);
            }
        }
    }
    by_clients(service, &kept, async |operator: &mut Client, id: &String| {
        let wanted = json!({"name": "bench", "scopes": ["ask", "ingest", "read"]});
        let key = operator.json(Method::POST, &format!("/v1/tenants/{id}/keys"), Some(&wanted)).await?;
        Ok(key["secret"].as_str().context("a secret")?.to_owned())
    })
    .await
}

/// Does something for each of these, by several clients of the operator at once.
async fn by_clients<T>(
    service: &Service,
    each: &[T],
    request: impl AsyncFn(&mut Client, &T) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<String>> {
    let clients = (0..CLIENTS).map(async |client| {
        let mut operator = Client::connect(service.address).await?.with_key(OPERATOR);
        let mut replies = Vec::new();
        for one in each.iter().skip(client).step_by(CLIENTS) {
            replies.push(request(&mut operator, one).await?);
        }
        anyhow::Ok(replies)
    });
    Ok(futures::future::try_join_all(clients).await?.concat())
}

/// Sends each body once, each with the key of the next tenant, from several clients at once.
async fn post_all(
    service: &Service,
    servers: &Servers,
    (path, keys): (&'static str, &[String]),
    bodies: &[Value],
) -> anyhow::Result<Went> {
    let before = servers.cpu_seconds()?;
    let started = Instant::now();
    let clients = (0..CLIENTS).map(async |client| {
        let mut connection = Client::connect(service.address).await?;
        let mut latencies = Vec::new();
        for (number, body) in bodies.iter().enumerate().skip(client).step_by(CLIENTS) {
            connection = connection.with_key(keys.get(number % keys.len()).context("a key")?);
            let sent = Instant::now();
            connection.json(Method::POST, path, Some(body)).await?;
            latencies.push(sent.elapsed());
        }
        anyhow::Ok(latencies)
    });
    let mut latencies = futures::future::try_join_all(clients).await?.concat();
    let elapsed = started.elapsed();
    latencies.sort_unstable();
    let cpu = servers.cpu_seconds()?.iter().zip(before).map(|(after, before)| after - before).collect();
    Ok(Went { elapsed, latencies, cpu })
}

fn print_row(nodes: usize, tenants: usize, kind: &str, went: &Went) {
    let servers = if nodes == 0 { "plain Postgres".to_owned() } else { format!("coordinator and {nodes}") };
    #[expect(clippy::cast_precision_loss, reason = "a count for a table")]
    let thousands = went.latencies.len() as f64 / 1_000.0;
    let per_thousand: Vec<String> = went.cpu.iter().map(|seconds| format!("{:.2}", seconds / thousands)).collect();
    let (first, others) = per_thousand
        .split_first()
        .map_or((String::new(), String::new()), |(first, others)| (first.clone(), others.join(", ")));
    println!(
        "| {servers} | {tenants} | {kind} | {:.0} | {:.1} | {:.1} | {first} | {others} |",
        per_second(went.latencies.len(), went.elapsed),
        percentile_ms(&went.latencies, 0.5),
        percentile_ms(&went.latencies, 0.95),
    );
}
