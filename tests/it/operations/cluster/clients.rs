//! Clients of tenants of different servers, who send documents and ask until they are told to stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};

use super::{Cluster, OPERATOR, PEPPER};
use crate::{
    database,
    harness::{client, client_with},
    process::{Log, Process, ended_job_of},
    scripted::{DIMENSION, ModelServer},
    wait,
};

/// Pause of a client between two requests.
pub(super) const PAUSE: Duration = Duration::from_millis(40);
/// Nobody fails.
const NONE: usize = usize::MAX;
/// Anybody may fail.
const ANYBODY: usize = NONE - 1;
/// A word of the documents of each tenant.
const WORDS: [&str; 3] = ["red", "green", "blue"];

/// A tenant whose rows are on the server of its number.
#[derive(Clone)]
pub(super) struct Tenant {
    number: usize,
    pub(super) id: String,
    key: String,
}

/// State that clients share with the course of events.
#[derive(Clone)]
struct Shared {
    doors: Vec<String>,
    /// The logs of the services behind these.
    logs: Vec<Log>,
    stop: Arc<AtomicBool>,
    /// The server that fails.
    failing: Arc<AtomicUsize>,
    /// How often each server has begun to fail.
    failures: Arc<Vec<AtomicUsize>>,
}

impl Shared {
    /// Whether the server of a tenant fails, and how often it has begun to.
    fn failures(&self, tenant: usize) -> (bool, usize) {
        let fails = [tenant, ANYBODY].contains(&self.failing.load(Ordering::SeqCst));
        (fails, self.failures[tenant].load(Ordering::SeqCst))
    }

    /// The services' logs of a request that was refused.
    fn logged(&self, refusal: &Value) -> Vec<String> {
        let request = refusal["request_id"].as_str().unwrap_or_default();
        let lines = self.logs.iter().flat_map(|log| log.lock().expect("lock").clone());
        lines.filter(|line| line.contains(request)).collect()
    }
}

/// Two services and two workers over a cluster.
pub(super) struct Processes {
    settings: Vec<(&'static str, String)>,
    services: Vec<Process>,
    workers: Vec<Process>,
}

impl Processes {
    pub(super) async fn start(cluster: &Cluster, models: &ModelServer) -> Self {
        let settings = vec![
            ("CITED_EMBEDDING_BASE_URL", models.base_url()),
            ("CITED_EMBEDDING_MODEL", "scripted-embedding".to_owned()),
            ("CITED_EMBEDDING_DIMENSION", DIMENSION.to_string()),
            ("CITED_WORKERS", "1".to_owned()),
            ("CITED_API_KEYS", OPERATOR.to_owned()),
            ("CITED_KEY_PEPPER", PEPPER.to_owned()),
            ("DATABASE_URL", cluster.url()),
        ];
        let mut processes = Self { settings, services: Vec::new(), workers: Vec::new() };
        for _ in 0..2 {
            processes.services.push(Process::serve(&processes.settings()).await);
            processes.start_worker().await;
        }
        processes
    }

    fn settings(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    fn doors(&self) -> Vec<String> {
        self.services.iter().map(|service| service.base.clone()).collect()
    }

    pub(super) async fn kill_worker(&mut self) {
        self.workers.remove(0).kill().await;
    }

    /// Starts workers until there are two again.
    pub(super) async fn replace_worker(&mut self) {
        if self.workers.len() < 2 {
            self.start_worker().await;
        }
    }

    async fn start_worker(&mut self) {
        let worker = Process::worker(&self.settings()).await;
        self.workers.push(worker);
    }

    pub(super) async fn stop(self) {
        for process in self.services.into_iter().chain(self.workers) {
            assert!(process.stop().await.1);
        }
    }
}

/// Clients at work: one of each tenant sends documents, and one asks.
pub(super) struct Clients {
    shared: Shared,
    pub(super) tenants: Vec<Tenant>,
    senders: Vec<JoinHandle<Vec<(String, String)>>>,
    askers: Vec<JoinHandle<Asked>>,
}

impl Clients {
    /// Those of a tenant on each of the servers that are reached at these ports.
    pub(super) async fn start(cluster: &Cluster, processes: &Processes, ports: &[u16]) -> Self {
        let doors = processes.doors();
        let tenants = tenants(cluster, ports, &doors[0]).await;
        let logs = processes.services.iter().map(Process::log).collect();
        let failures = Arc::new(tenants.iter().map(|_| AtomicUsize::new(0)).collect());
        let shared = Shared { doors, logs, failures, stop: Arc::default(), failing: Arc::new(AtomicUsize::new(NONE)) };
        let senders = tenants.iter().map(|tenant| tokio::spawn(send(shared.clone(), tenant.clone()))).collect();
        let askers = tenants.iter().map(|tenant| tokio::spawn(ask(shared.clone(), tenant.clone()))).collect();
        Self { shared, tenants, senders, askers }
    }

    /// From now on the tenant of a server may be refused.
    pub(super) fn may_fail(&self, node: usize) {
        self.shared.failing.store(node, Ordering::SeqCst);
        for (number, failures) in self.shared.failures.iter().enumerate() {
            if [number, ANYBODY].contains(&node) {
                failures.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// From now on each tenant may be refused, as at the moment when its rows are moved.
    pub(super) fn anybody_may_fail(&self) {
        self.may_fail(ANYBODY);
    }

    /// Waits until the tenant of a server is served again by each service. From then on it is not refused.
    pub(super) async fn wait_for(&self, node: usize) {
        let query = json!({"query": "ferry", "collections": ["c"], "mode": "lexical"});
        for door in &self.shared.doors {
            // Each service has connections to the server that is back.
            for _ in 0..8 {
                wait::until("the tenant is served again", async || {
                    let answer = post(door, &self.tenants[node], "/v1/search", None, &query).await;
                    answer.is_some_and(|(status, _)| status.is_success())
                })
                .await;
            }
        }
        self.may_fail(NONE);
        self.assert_at_work();
    }

    /// None of them has found a fault.
    pub(super) fn assert_at_work(&self) {
        assert!(self.senders.iter().all(|sender| !sender.is_finished()));
        assert!(self.askers.iter().all(|asker| !asker.is_finished()));
    }

    /// Ends them: each was answered more often than so many times, all that was accepted is stored, no commit is left half done.
    pub(super) async fn end(self, cluster: &Cluster, least: usize) {
        self.shared.stop.store(true, Ordering::SeqCst);
        for (asker, tenant) in self.askers.into_iter().zip(&self.tenants) {
            let asked = asker.await.expect("nothing is answered wrongly");
            eprintln!("{}: {asked:?}", WORDS[tenant.number]);
            assert!(asked.answered > least, "{asked:?}");
        }
        // Those that a document failed by are among them.
        eprintln!("{:#?}", cluster.servers.coordinator.errors());
        let mut all_accepted = Vec::new();
        for (sender, tenant) in self.senders.into_iter().zip(&self.tenants) {
            let accepted = sender.await.expect("the client ends");
            eprintln!("{}: {} documents were accepted", WORDS[tenant.number], accepted.len());
            let door = client_with(&tenant.key);
            for (source, job) in &accepted {
                let ended = ended_job_of(&door, &self.shared.doors[0], job, Duration::from_mins(2)).await;
                assert_eq!(ended["state"], "succeeded", "{source}: {ended}");
            }
            all_accepted.extend(accepted.into_iter().map(|(source, _)| source));
        }
        // A job has ended a moment before the server of the tenant has finished the commit.
        for server in cluster.servers.servers() {
            let unfinished = "SELECT count(*) FROM pg_prepared_xacts";
            wait::until_count(&server.options("cited"), unfinished, |unfinished| unfinished == 0).await;
        }
        let mut stored = cluster.texts("SELECT source FROM document WHERE source <> 'first'").await;
        stored.sort_unstable();
        all_accepted.sort_unstable();
        let lost: Vec<&String> = all_accepted.iter().filter(|source| stored.binary_search(source).is_err()).collect();
        assert!(lost.is_empty() && stored.len() == all_accepted.len(), "lost: {lost:?}");
        database::assert_consistent(&cluster.options()).await;
    }
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
        let (failed_before, failures) = shared.failures(tenant.number);
        let answer = post(door, &tenant, path, None, &body).await;
        // On a busy machine a server may fail and be back while a request is under way.
        let may_fail = failed_before || shared.failures(tenant.number).1 > failures;
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
                if !may_fail || status != 503 {
                    // The service writes its log beside its answers.
                    sleep(PAUSE).await;
                    panic!("{word} got {status}, may fail: {may_fail}: {path} {body} {:#?}", shared.logged(&body));
                }
                asked.refused += 1;
            }
            None => panic!("{word}: the service does not answer"),
        }
        sleep(PAUSE).await;
    }
    asked
}

/// A tenant on each of the servers that are reached at these ports, with a document.
async fn tenants(cluster: &Cluster, ports: &[u16], door: &str) -> Vec<Tenant> {
    let operator = async |path: &str, body: Value| {
        let request = client().post(format!("{door}{path}")).bearer_auth(OPERATOR).json(&body);
        request.send().await.expect("an answer").json::<Value>().await.expect("JSON")
    };
    let mut tenants: Vec<Option<Tenant>> = vec![None; ports.len()];
    for number in 0.. {
        let made = operator("/v1/tenants", json!({"name": format!("t{number}")})).await;
        let id = made["id"].as_str().expect("an id").to_owned();
        let port = cluster
            .number(&format!(
                "SELECT n.nodeport::bigint FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
                 WHERE p.shardid = get_shard_id_for_distribution_column('collection', '{id}'::uuid)"
            ))
            .await;
        let node = ports.iter().position(|one| i64::from(*one) == port).expect("a server");
        if tenants[node].is_none() {
            let wanted = json!({"name": "all", "scopes": ["ask", "ingest", "read"]});
            let key = operator(&format!("/v1/tenants/{id}/keys"), wanted).await;
            let key = key["secret"].as_str().expect("a secret").to_owned();
            tenants[node] = Some(Tenant { number: node, id, key });
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
