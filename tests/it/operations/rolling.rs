//! Processes of one database that are replaced one after the other while documents come in.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    database,
    harness::client,
    process::{Process, ended_job},
    scripted::{DIMENSION, ModelServer},
};

/// Clients that send documents all the time.
const CLIENTS: usize = 3;
/// How often every process is replaced.
const ROUNDS: usize = 2;

/// The doors that are open, as a balancer knows them.
type Doors = Arc<Mutex<Vec<String>>>;

/// Sends documents one after the other until it is told to stop; returns those that were accepted, with their jobs.
async fn send_until(stop: Arc<AtomicBool>, doors: Doors, name: usize) -> Vec<(String, String)> {
    let (client, mut accepted) = (client(), Vec::new());
    let mut tries: usize = name;
    while !stop.load(Ordering::SeqCst) {
        let source = format!("client-{name}-{}", accepted.len());
        let body = json!({"collection": "c", "documents": [{"source": source, "text": format!("Words of {source}.")}]});
        let job = loop {
            tries += 1;
            let door = {
                let open = doors.lock().expect("lock");
                open[tries % open.len()].clone()
            };
            // A door that closes gives no answer, or says that it closes; the other one is tried, with the same key.
            let request = client.post(format!("{door}/v1/documents")).header("idempotency-key", &source).json(&body);
            let Ok(answer) = request.send().await else { continue };
            let status = answer.status().as_u16();
            assert!(matches!(status, 200 | 202 | 503), "{source}: {status}");
            let Ok(answer) = answer.json::<Value>().await else { continue };
            if status != 503 {
                break answer["id"].as_str().expect("an id").to_owned();
            }
        };
        accepted.push((source, job));
    }
    accepted
}

async fn end_well(process: Process, name: &str) {
    process.signal(Signal::SIGTERM);
    let (code, log) = process.ended().await;
    assert_eq!(code, Some(0), "{name}: {log:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_are_replaced_lose_nothing() {
    let server = ModelServer::start().await;
    let database = database::create().await;
    let (url, embedding, dimension) = (database::url(&database), server.base_url(), DIMENSION.to_string());
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", embedding.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_EMBEDDING_DIMENSION", dimension.as_str()),
        ("CITED_WORKERS", "1"),
        ("CITED_DATABASE_CONNECTIONS", "3"),
        ("DATABASE_URL", url.as_str()),
    ];
    let mut services = Vec::from([Process::serve(&settings).await, Process::serve(&settings).await]);
    let mut workers = Vec::from([Process::worker(&settings).await, Process::worker(&settings).await]);
    let doors = Doors::new(Mutex::new(services.iter().map(|service| service.base.clone()).collect()));
    let stop = Arc::<AtomicBool>::default();
    let clients: Vec<_> =
        (0..CLIENTS).map(|name| tokio::spawn(send_until(Arc::clone(&stop), Arc::clone(&doors), name))).collect();
    for _ in 0..ROUNDS {
        for place in 0..2 {
            // The new one is open before the old one is told to go, which the clients are not told.
            let old = std::mem::replace(&mut services[place], Process::serve(&settings).await);
            doors.lock().expect("lock").push(services[place].base.clone());
            let closing = old.base.clone();
            end_well(old, "the service").await;
            doors.lock().expect("lock").retain(|door| *door != closing);
            let old = std::mem::replace(&mut workers[place], Process::worker(&settings).await);
            end_well(old, "the worker").await;
        }
    }
    stop.store(true, Ordering::SeqCst);
    let mut accepted = Vec::new();
    for client in clients {
        accepted.extend(client.await.expect("the client ends"));
    }
    assert!(accepted.len() > CLIENTS * ROUNDS, "documents came in all the time: {}", accepted.len());
    for (source, job) in &accepted {
        let job = ended_job(&services[0].base, job, std::time::Duration::from_mins(1)).await;
        assert_eq!(job["state"], "succeeded", "{source}: {job}");
    }
    let stored = "SELECT count(*) FROM document WHERE source LIKE 'client-%' AND version = 1";
    assert_eq!(database::number(&database, stored).await, i64::try_from(accepted.len()).expect("few"));
    for (service, worker) in services.into_iter().zip(workers) {
        end_well(service, "the service").await;
        end_well(worker, "the worker").await;
    }
    database::assert_consistent(&database).await;
}
