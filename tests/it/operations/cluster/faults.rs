//! Servers of a cluster that crash or are cut off, one after the other, while documents come in and questions are asked.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Cluster, OPERATOR, PEPPER, line::Line};
use crate::{
    database,
    harness::{client, client_with},
    process::{Process, ended_job_of},
    scripted::{DIMENSION, ModelServer},
    wait,
};

const NODES: usize = 3;
/// How many servers fail, one after the other, where nothing else is said.
const ROUNDS: usize = 4;
/// Nobody fails.
const NONE: usize = usize::MAX;
/// How long a server is away.
const AWAY: Duration = Duration::from_millis(1500);
/// Pause of a client between two requests.
const PAUSE: Duration = Duration::from_millis(40);
const WORDS: [&str; NODES] = ["red", "green", "blue"];

/// A tenant whose rows are on the server of its number.
#[derive(Clone)]
struct Tenant {
    number: usize,
    key: String,
}

/// State that clients share with the course of faults.
#[derive(Clone)]
struct Shared {
    doors: Vec<String>,
    stop: Arc<AtomicBool>,
    /// The server that fails.
    failing: Arc<AtomicUsize>,
}

/// Sends a request; returns status and body, or nothing if the service did not answer. A refusal says when to come back.
async fn post(door: &str, tenant: &Tenant, path: &str, key: Option<&str>, body: &Value) -> Option<(StatusCode, Value)> {
    let mut request = client().post(format!("{door}{path}")).bearer_auth(&tenant.key).json(body);
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let answer = request.send().await.ok()?;
    let status = answer.status();
    let has_retry_after = answer.headers().contains_key("retry-after");
    let body = answer.json::<Value>().await.ok()?;
    assert!(status != StatusCode::SERVICE_UNAVAILABLE || has_retry_after, "{path}: {body}");
    Some((status, body))
}

/// Sends documents one after the other until it is told to stop; returns the jobs that were accepted.
async fn send(shared: Shared, tenant: Tenant) -> Vec<(String, String)> {
    let mut accepted = Vec::new();
    while !shared.stop.load(Ordering::SeqCst) {
        let word = WORDS[tenant.number];
        let source = format!("{word}-{}", accepted.len());
        let text = format!("The {word} ferry number {} leaves at nine.", accepted.len());
        let body = json!({"collection": "c", "documents": [{"source": source, "text": text}]});
        for tries in 0.. {
            let door = &shared.doors[tries % shared.doors.len()];
            match post(door, &tenant, "/v1/documents", Some(&source), &body).await {
                Some((status, job)) if status.is_success() => {
                    accepted.push((source, job["id"].as_str().expect("an id").to_owned()));
                    break;
                }
                Some((status, refusal)) => assert_eq!(status, 503, "{source}: {refusal}"),
                None => {}
            }
            sleep(PAUSE).await;
        }
        sleep(PAUSE).await;
    }
    accepted
}

/// How the asks of a tenant ended.
#[derive(Default, Debug)]
struct Asked {
    answered: usize,
    refused: usize,
}

/// Asks and searches until it is told to stop. A tenant whose server works gets what it asks for, one whose server does not
/// that or 503, and nobody gets what is another's.
async fn ask(shared: Shared, tenant: Tenant) -> Asked {
    let word = WORDS[tenant.number];
    let mut asked = Asked::default();
    for turn in 0.. {
        if shared.stop.load(Ordering::SeqCst) {
            break;
        }
        let door = &shared.doors[turn % shared.doors.len()];
        let (path, list, body) = if turn % 2 == 0 {
            ("/v1/search", "results", json!({"query": "ferry leaves", "collections": ["c"], "mode": "lexical"}))
        } else {
            (
                "/v1/ask",
                "sources",
                json!({"question": format!("When does the {word} ferry leave?"), "collections": ["c"]}),
            )
        };
        let failed_before = shared.failing.load(Ordering::SeqCst) == tenant.number;
        let answer = post(door, &tenant, path, None, &body).await;
        let may_fail = failed_before || shared.failing.load(Ordering::SeqCst) == tenant.number;
        match answer {
            Some((StatusCode::OK, body)) => {
                let found = body[list].as_array().expect("a list");
                assert!(!found.is_empty(), "{word}: {body}");
                for one in found {
                    let text = one["text"].as_str().expect("a text");
                    assert!(text.contains(&format!("The {word} ferry")), "{word} was answered by {one}");
                }
                asked.answered += 1;
            }
            Some((status, body)) => {
                assert!(may_fail && status == 503, "{word} got {status} while its server works: {path} {body}");
                asked.refused += 1;
            }
            None => panic!("{word}: the service does not answer"),
        }
        sleep(PAUSE).await;
    }
    asked
}

/// A tenant on each server, with a document.
async fn tenants(cluster: &Cluster, lines: &[Line], door: &str) -> Vec<Tenant> {
    let operator = async |path: &str, body: Value| {
        let request = client().post(format!("{door}{path}")).bearer_auth(OPERATOR).json(&body);
        request.send().await.expect("an answer").json::<Value>().await.expect("JSON")
    };
    let mut tenants: Vec<Option<Tenant>> = vec![None; NODES];
    for number in 0.. {
        let made = operator("/v1/tenants", json!({"name": format!("t{number}")})).await;
        let id = made["id"].as_str().expect("an id");
        let port = cluster
            .number(&format!(
                "SELECT n.nodeport::bigint FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
                 WHERE p.shardid = get_shard_id_for_distribution_column('collection', '{id}'::uuid)"
            ))
            .await;
        let node = lines.iter().position(|line| i64::from(line.port()) == port).expect("a server");
        if tenants[node].is_none() {
            let wanted = json!({"name": "all", "scopes": ["ask", "ingest", "read"]});
            let key = operator(&format!("/v1/tenants/{id}/keys"), wanted).await;
            tenants[node] = Some(Tenant { number: node, key: key["secret"].as_str().expect("a secret").to_owned() });
        }
        if tenants.iter().all(Option::is_some) {
            break;
        }
    }
    let tenants: Vec<Tenant> = tenants.into_iter().flatten().collect();
    for tenant in &tenants {
        let text = format!("The {} ferry leaves at nine.", WORDS[tenant.number]);
        let body = json!({"collection": "c", "documents": [{"source": "first", "text": text}]});
        let stored = post(door, tenant, "/v1/documents?wait=true", None, &body).await;
        let (_, job) = stored.expect("an answer");
        assert_eq!(job["state"], "succeeded", "{job}");
    }
    tenants
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a Postgres with Citus, named by CITED_TEST_CITUS"]
async fn a_server_that_fails_takes_nothing_from_tenants_of_others_and_loses_nothing() {
    let rounds = std::env::var_os("CITED_TEST_FAULT_ROUNDS")
        .map_or(ROUNDS, |rounds| rounds.to_str().and_then(|rounds| rounds.parse().ok()).expect("a number"));
    let (mut cluster, lines) = Cluster::start_behind_lines(NODES).await;
    cluster.run(&["migrate"]).await;
    cluster.run(&["cluster", "init", "--shards", "6"]).await;
    let models = ModelServer::start().await;
    let (url, embedding, dimension) = (cluster.url(), models.base_url(), DIMENSION.to_string());
    let settings = [
        ("CITED_EMBEDDING_BASE_URL", embedding.as_str()),
        ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
        ("CITED_EMBEDDING_DIMENSION", dimension.as_str()),
        ("CITED_WORKERS", "1"),
        ("CITED_API_KEYS", OPERATOR),
        ("CITED_KEY_PEPPER", PEPPER),
        ("DATABASE_URL", url.as_str()),
    ];
    let services = [Process::serve(&settings).await, Process::serve(&settings).await];
    let mut workers = Vec::from([Process::worker(&settings).await, Process::worker(&settings).await]);
    let doors: Vec<String> = services.iter().map(|service| service.base.clone()).collect();
    let tenants = tenants(&cluster, &lines, &doors[0]).await;
    let shared = Shared { doors, stop: Arc::default(), failing: Arc::new(AtomicUsize::new(NONE)) };
    let senders: Vec<_> = tenants.iter().map(|tenant| tokio::spawn(send(shared.clone(), tenant.clone()))).collect();
    let askers: Vec<_> = tenants.iter().map(|tenant| tokio::spawn(ask(shared.clone(), tenant.clone()))).collect();

    for round in 0..rounds {
        let node = round % NODES;
        shared.failing.store(node, Ordering::SeqCst);
        let crashes = (round / NODES).is_multiple_of(2);
        if crashes {
            cluster.servers.nodes[node].crash().await;
        } else {
            lines[node].cut();
        }
        // A worker dies with it.
        if round % 4 == 3 {
            workers.remove(0).kill().await;
        }
        if round % 5 == 4 {
            let status = cluster.run(&["cluster", "status"]).await;
            assert!(status.contains("does not answer"), "{status}");
        }
        sleep(AWAY).await;
        if crashes {
            cluster.servers.nodes[node].start().await;
        } else {
            lines[node].mend();
        }
        if workers.len() < 2 {
            workers.push(Process::worker(&settings).await);
        }
        let tenant = &tenants[node];
        let query = json!({"query": "ferry", "collections": ["c"], "mode": "lexical"});
        for door in &shared.doors {
            // Each service has connections to the server that is back.
            for _ in 0..8 {
                wait::until("the tenant is served again", async || {
                    post(door, tenant, "/v1/search", None, &query).await.is_some_and(|(status, _)| status.is_success())
                })
                .await;
            }
        }
        shared.failing.store(NONE, Ordering::SeqCst);
        assert!(senders.iter().all(|sender| !sender.is_finished()) && askers.iter().all(|asker| !asker.is_finished()));
        sleep(PAUSE * 10).await;
    }

    shared.stop.store(true, Ordering::SeqCst);
    for (asker, tenant) in askers.into_iter().zip(&tenants) {
        let asked = asker.await.expect("nothing is answered wrongly");
        eprintln!("{}, {rounds} rounds: {asked:?}", WORDS[tenant.number]);
        assert!(asked.answered > rounds, "{asked:?}");
    }
    for (sender, tenant) in senders.into_iter().zip(&tenants) {
        let accepted = sender.await.expect("the client ends");
        eprintln!("{}: {} documents were accepted", WORDS[tenant.number], accepted.len());
        let door = client_with(&tenant.key);
        for (source, job) in &accepted {
            let ended = ended_job_of(&door, &shared.doors[0], job, Duration::from_mins(2)).await;
            assert_eq!(ended["state"], "succeeded", "{source}: {ended}");
        }
        let stored = format!("SELECT count(*) FROM document WHERE source LIKE '{}-%'", WORDS[tenant.number]);
        assert_eq!(cluster.number(&stored).await, i64::try_from(accepted.len()).expect("few"));
    }
    for server in cluster.servers.servers() {
        let unfinished = "SELECT count(*) FROM pg_prepared_xacts";
        wait::until_count(&server.options("cited"), unfinished, |unfinished| unfinished == 0).await;
    }
    for process in services.into_iter().chain(workers) {
        assert!(process.stop().await.1);
    }
    database::assert_consistent(&cluster.options()).await;
}
