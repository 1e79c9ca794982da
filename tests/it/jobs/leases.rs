//! The queue: leases, fencing, lost workers.

use cited::{
    BatchOutcome, CommitBatch, EnqueueOutcome, FollowUp, ItemKey, ItemPage, Lease, NewJob, Phase, PoolSettings,
    QueueLimits, RequestKey, Store, UnchangedItem,
};
use domain::{identity::TenantId, security_event::SecurityEvent};
use serde_json::json;
use time::{Duration, OffsetDateTime};

use crate::{database, harness::TestApp, scripted::ModelServer};

pub(super) const LEASE: Lease = Lease {
    duration: Duration::seconds(30),
    max_items: 10,
    max_bytes: 1 << 20,
    below_bytes: None,
    max_shared_bytes: Some(1_000),
    max_losses: 3,
    max_claims: None,
    beside_others: false,
};

pub(super) fn at(seconds: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + Duration::days(20_000) + Duration::seconds(seconds)
}

/// A store with one queued job of `count` documents and nobody to work on it.
pub(super) async fn queued(count: usize) -> (Store, sqlx::postgres::PgConnectOptions) {
    let options = database::create().await;
    let profile = domain::identity::EmbeddingProfile { model: "m".to_owned(), dimension: 4 };
    let profile = Store::ensure_profile(&options, &profile).await.expect("profile");
    let store = Store::connect(&options, &[], &PoolSettings { max_connections: 4, ..PoolSettings::default() })
        .await
        .expect("store");
    let new = cited::NewCollection {
        event: &event(uuid(1), "create_collection"),
        id: uuid(1),
        name: "c",
        profile,
        web_search: false,
        settings: cited::CollectionSettings {
            splitter: domain::split::SplitterSettings::default(),
            language: domain::lexical::language::Language::default(),
            context: None,
            indexing: domain::job::Indexing::Complete,
        },
    };
    store.collections().ensure_collection(TenantId::DEFAULT, new, at(0)).await.expect("collection");
    queue(&store, uuid(2), count).await;
    (store, options)
}

/// Queues a job of `count` documents.
pub(super) async fn queue(store: &Store, id: uuid::Uuid, count: usize) {
    let (items, event) = (items(count), event(id, "create_documents"));
    let outcomes = store.jobs().enqueue(TenantId::DEFAULT, &[(&new_job(id, &event), &items)]).await.expect("queued");
    assert!(matches!(outcomes.as_slice(), [EnqueueOutcome::Queued]), "{outcomes:?}");
}

fn items(count: usize) -> Vec<cited::NewJobItem> {
    let item = |number| cited::NewJobItem {
        source: format!("s{number}"),
        payload: json!({"v": "1"}),
        content: vec![b'x'; 100].into(),
        phase: Phase::Store,
        acl: None,
    };
    (0..count).map(item).collect()
}

fn new_job(id: uuid::Uuid, event: &SecurityEvent) -> NewJob<'_> {
    NewJob {
        id,
        collection: uuid(1),
        collection_name: "c",
        indexing: domain::job::Indexing::Complete,
        key: None,
        webhook: None,
        created_by: None,
        maker_principals: None,
        limits: QueueLimits { items: 100, bytes: 1 << 20 },
        now: at(0),
        event,
    }
}

fn event(id: uuid::Uuid, action: &str) -> SecurityEvent {
    SecurityEvent {
        tenant_id: TenantId::DEFAULT.0,
        event_id: id,
        occurred_at: at(0),
        action: action.to_owned(),
        refusal: None,
        key_id: None,
        address: None,
        request_id: None,
        things: Vec::new(),
        number: 1,
    }
}

pub(super) fn uuid(number: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(number)
}

/// Lets each reservation of a name take a while, so that two transactions are in the middle of theirs at once.
const SLOW_NAMES: &str = "CREATE FUNCTION take_a_while() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END';
    CREATE TRIGGER take_a_while BEFORE INSERT ON idempotency_key FOR EACH ROW EXECUTE FUNCTION take_a_while()";

#[tokio::test]
async fn requests_that_are_repeated_together_in_another_order_wait_for_the_first_ones() {
    let (store, options) = queued(1).await;
    database::execute(&options, SLOW_NAMES).await;
    let enqueue = async |named: [(u128, &str); 2]| {
        let events = named.map(|(id, _)| event(uuid(id), "create_documents"));
        let items = items(1);
        let request = |key| Some(RequestKey { key, request_hash: Some([7; 32]) });
        let jobs = [0, 1].map(|at| NewJob { key: request(named[at].1), ..new_job(uuid(named[at].0), &events[at]) });
        let jobs = [(&jobs[0], items.as_slice()), (&jobs[1], items.as_slice())];
        let outcomes = store.jobs().enqueue(TenantId::DEFAULT, &jobs).await.expect("nobody waits for each other");
        let told = outcomes.iter().zip(named).map(|(outcome, (id, _))| match outcome {
            EnqueueOutcome::Queued => uuid(id),
            EnqueueOutcome::Repeated(first) => first.job,
            other => panic!("{other:?}"),
        });
        told.collect::<Vec<_>>()
    };
    let (first, second) = tokio::join!(enqueue([(11, "a"), (12, "b")]), enqueue([(13, "b"), (14, "a")]));
    assert_eq!(first, [second[1], second[0]], "each outcome is told of its own request");
    let jobs = database::number(&options, "SELECT count(*) FROM job").await;
    assert_eq!(jobs, 3, "each is accepted once");
    store.close().await;
}

#[tokio::test]
async fn a_lost_lease_is_taken_over_and_its_late_writes_are_refused() {
    let (store, options) = queued(2).await;
    let lost = store.jobs().claim(Phase::Store, &LEASE, at(0)).await.expect("claim").expect("work");
    assert!(store.jobs().claim(Phase::Store, &LEASE, at(29)).await.expect("claim").is_none(), "the lease holds");
    assert_eq!(store.jobs().reap(&LEASE, at(29)).await.expect("reap"), 0);
    assert_eq!(store.jobs().reap(&LEASE, at(31)).await.expect("reap"), 2);
    let taken_over = store.jobs().claim(Phase::Store, &LEASE, at(31)).await.expect("claim").expect("work");
    assert_eq!(taken_over.items[0].attempts, 2);
    assert_eq!(store.jobs().heartbeat(lost.handle, at(90)).await.expect("beat"), 0);
    assert_eq!(store.jobs().heartbeat(taken_over.handle, at(90)).await.expect("beat"), 2);
    let (collection, _) = store
        .collections()
        .collection_by_id(lost.handle.tenant, lost.collection_id)
        .await
        .expect("found")
        .expect("there");
    let late = CommitBatch {
        tenant: lost.handle.tenant,
        collection: &collection,
        documents: &[],
        unchanged: &[UnchangedItem { item: item(0), document_id: uuid(9), version: 1, position: 1 }],
        embed_work: &json!({}),
        follow_up: FollowUp { job: uuid(10), payload: &json!({}) },
        now: at(32),
    };
    assert_eq!(store.documents().commit_batch(lost.handle, &late).await.expect("refused"), BatchOutcome::LeaseLost);
    store.jobs().fail_items(lost.handle, &[(item(0), failure())], at(32)).await.expect("ignored");
    assert_eq!(database::number(&options, "SELECT count(*) FROM job_item WHERE state = 'running'").await, 2);
    store.close().await;
}

/// An item of the queued job.
fn item(ordinal: i32) -> ItemKey {
    ItemKey { job: uuid(2), ordinal }
}

fn failure() -> cited::ItemFailure {
    cited::ItemFailure { stage: domain::job::Stage::Load, cause: "test", message: "test".to_owned() }
}

#[tokio::test]
async fn a_document_that_kills_its_worker_each_time_is_given_up_and_the_job_ends() {
    let (store, options) = queued(1).await;
    for round in 0..5 {
        assert!(lose_worker(&store, round).await.is_some(), "round {round}");
    }
    assert!(store.jobs().claim(Phase::Store, &LEASE, at(600)).await.expect("claim").is_none());
    let row = store.jobs().job(TenantId::DEFAULT, uuid(2)).await.expect("job").expect("there");
    assert_eq!((row.state.as_str(), row.counts.failed), ("failed", 1));
    let items = store.jobs().job_items(TenantId::DEFAULT, uuid(2), ItemPage::first(10)).await.expect("items");
    assert_eq!((items[0].cause.as_deref(), items[0].attempts), (Some("worker_lost"), 5));
    database::assert_consistent(&options).await;
    store.close().await;
}

/// The items of the next claim, whose worker is then lost in the midst of work on them.
async fn lose_worker(store: &Store, round: i64) -> Option<Vec<i32>> {
    let claim = store.jobs().claim(Phase::Store, &LEASE, at(round * 100)).await.expect("claim")?;
    if let [suspect] = claim.items.as_slice()
        && suspect.is_suspected
    {
        store.jobs().note_risk(claim.handle, suspect.key, true).await.expect("noted");
    }
    store.jobs().reap(&LEASE, at(round * 100 + 50)).await.expect("reap");
    Some(claim.items.iter().map(|item| item.key.ordinal).collect())
}

#[tokio::test]
async fn whatever_ends_its_worker_is_tried_alone_and_told_from_its_neighbours() {
    let (store, options) = queued(3).await;
    for round in 0..2 {
        assert_eq!(lose_worker(&store, round).await, Some(vec![0, 1, 2]));
    }
    // From now on each has a claim of its own; only the second ends its worker.
    let first = store.jobs().claim(Phase::Store, &LEASE, at(200)).await.expect("claim").expect("work");
    assert_eq!(first.items.iter().map(|item| item.key.ordinal).collect::<Vec<_>>(), [0]);
    store.jobs().fail_items(first.handle, &[(item(0), failure())], at(201)).await.expect("settled");
    let third = store.jobs().claim(Phase::Store, &LEASE, at(202)).await.expect("claim").expect("work");
    assert_eq!(third.items.iter().map(|item| item.key.ordinal).collect::<Vec<_>>(), [1]);
    store.jobs().reap(&LEASE, at(250)).await.expect("lost, but not in the midst of it");
    for round in 3..6 {
        assert_eq!(lose_worker(&store, round).await, Some(vec![1]));
    }
    let last = store.jobs().claim(Phase::Store, &LEASE, at(601)).await.expect("claim").expect("work");
    assert_eq!(last.items.iter().map(|item| item.key.ordinal).collect::<Vec<_>>(), [2]);
    let failed = "SELECT ordinal::bigint FROM job_item WHERE state = 'failed' AND cause = 'worker_lost'";
    assert_eq!(database::number(&options, failed).await, 1);
    store.close().await;
}

#[tokio::test]
async fn a_worker_that_lives_loses_its_claim_and_counts_as_no_loss() {
    let (store, options) = queued(2).await;
    for round in 0..10 {
        let claim = store.jobs().claim(Phase::Store, &LEASE, at(round * 100)).await.expect("claim").expect("work");
        assert_eq!(claim.items.len(), 2, "nobody is suspected in round {round}");
        assert_eq!(store.jobs().reap(&LEASE, at(round * 100 + 50)).await.expect("reap"), 2);
        store.jobs().take_back_loss(claim.handle, &[item(0), item(1)]).await.expect("said");
    }
    assert_eq!(database::number(&options, "SELECT count(*) FROM job_item WHERE state = 'queued'").await, 2);
    store.close().await;
}

#[tokio::test]
async fn nothing_is_claimed_without_end() {
    let (store, options) = queued(1).await;
    for round in 0..i64::from(cited::MAX_CLAIMS) {
        let claim = store.jobs().claim(Phase::Store, &LEASE, at(round * 100)).await.expect("claim").expect("work");
        store.jobs().reap(&LEASE, at(round * 100 + 50)).await.expect("reap");
        store.jobs().take_back_loss(claim.handle, &[item(0)]).await.expect("said");
    }
    assert!(store.jobs().claim(Phase::Store, &LEASE, at(100_000)).await.expect("claim").is_none());
    let row = store.jobs().job(TenantId::DEFAULT, uuid(2)).await.expect("job").expect("there");
    assert_eq!((row.state.as_str(), row.counts.failed), ("failed", 1));
    database::assert_consistent(&options).await;
    store.close().await;
}

#[tokio::test]
async fn an_older_upload_never_overwrites_a_newer_one() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    // The older upload waits out a transient failure while the newer one is stored.
    server.embedding_reply(crate::scripted::Reply::Status(503, "busy".to_owned()));
    let body = |text: &str| json!({"collection": "c", "documents": [{"source": "a.md", "text": text}]});
    let older = app.post("/v1/documents", body("The older words.")).await;
    assert_eq!(older.status, 202, "{older:?}");
    server.wait_for_scripted_embedding().await;
    app.ingest("c", &[("a.md", "The newer words.")]).await;
    let job = app.ended_job(older.body["id"].as_str().expect("an id")).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    let id = app.get("/v1/documents?collection=c").await.body["documents"][0]["id"].clone();
    let content = app.get(&format!("/v1/documents/{}/content", id.as_str().expect("id"))).await.body;
    assert_eq!(content["text"], "The newer words.");
    app.stop().await;
}

#[tokio::test]
async fn an_older_upload_comes_too_late_also_where_the_newer_found_everything_as_it_was() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", "The words that stay.")]).await;
    server.embedding_reply(crate::scripted::Reply::Status(503, "busy".to_owned()));
    let body = json!({"collection": "c", "documents": [{"source": "a.md", "text": "Words in between."}]});
    let between = app.post("/v1/documents", body).await.body;
    server.wait_for_scripted_embedding().await;
    let last = app.ingest("c", &[("a.md", "The words that stay.")]).await;
    assert_eq!(last["counts"]["unchanged"], 1, "{last}");
    let ended = app.ended_job(between["id"].as_str().expect("an id")).await;
    assert_eq!((&ended["state"], &ended["counts"]["unchanged"]), (&json!("succeeded"), &json!(1)), "{ended}");
    let id = app.get("/v1/documents?collection=c").await.body["documents"][0]["id"].clone();
    let content = app.get(&format!("/v1/documents/{}/content", id.as_str().expect("id"))).await.body;
    assert_eq!(content["text"], "The words that stay.");
    app.stop().await;
}

#[tokio::test]
async fn of_lines_with_one_source_the_last_wins_also_where_it_is_what_was_there() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    app.ingest("c", &[("a.md", "The words that stay.")]).await;
    let lines = ["Words in between.", "The words that stay."];
    let lines: String = lines.iter().map(|text| format!("{}\n", json!({"source": "a.md", "text": text}))).collect();
    let request = app.request(reqwest::Method::POST, "/v1/documents/bulk?collection=c&wait=true");
    let job = crate::harness::send(request.header("content-type", "application/x-ndjson").body(lines)).await.body;
    assert_eq!(job["state"], "succeeded", "{job}");
    let id = app.get("/v1/documents?collection=c").await.body["documents"][0]["id"].clone();
    let content = app.get(&format!("/v1/documents/{}/content", id.as_str().expect("id"))).await.body;
    assert_eq!(content["text"], "The words that stay.");
    app.stop().await;
}

#[tokio::test]
async fn a_message_that_postgres_could_not_store_fails_its_document_all_the_same() {
    let (store, options) = queued(1).await;
    let claim = store.jobs().claim(Phase::Store, &LEASE, at(0)).await.expect("claim").expect("work");
    let failure = cited::ItemFailure { message: "the cell \0 is odd".to_owned(), ..failure() };
    store.jobs().fail_items(claim.handle, &[(item(0), failure)], at(1)).await.expect("stored");
    let failed = "SELECT count(*) FROM job_item WHERE state = 'failed' AND message = 'the cell \u{fffd} is odd'";
    assert_eq!(database::number(&options, failed).await, 1);
    store.close().await;
}

#[tokio::test]
async fn jobs_are_listed_newest_first_and_filtered() {
    let server = ModelServer::start().await;
    let app = TestApp::with_embeddings(&server).await;
    for number in 0..3 {
        app.ingest("c", &[("a.md", &format!("Words {number}."))]).await;
    }
    let page = app.get("/v1/jobs?limit=2").await.body;
    assert_eq!(page["jobs"].as_array().map(Vec::len), Some(2));
    let rest =
        app.get(&format!("/v1/jobs?limit=2&cursor={}", page["next_cursor"].as_str().expect("cursor"))).await.body;
    assert_eq!((rest["jobs"].as_array().map(Vec::len), &rest["next_cursor"]), (Some(1), &json!(null)));
    assert!(page["jobs"][0]["created_at"].as_str() > rest["jobs"][0]["created_at"].as_str());
    assert_eq!(app.get("/v1/jobs?state=failed").await.body["jobs"], json!([]));
    assert_eq!(app.get("/v1/jobs?state=succeeded").await.body["jobs"].as_array().map(Vec::len), Some(3));
    app.get("/v1/jobs?state=done").await.assert_problem(422, "invalid_request");
    app.stop().await;
}
