//! Two processes over one database: a tenant's day and the cache hold over both.

use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;

use crate::{
    database,
    harness::{client, json_of},
    process::Process,
    scripted::{DIMENSION, ModelServer, Reply, Role},
    wait,
};

const QUESTION: &str = "How many days of paid annual leave does everyone have?";
const ANSWER: &str = "Everyone has 28 days of paid annual leave a year [^1].";
/// A reply of 20 tokens costs 2 cents, one of 1,024 tokens $1.024. Grading is left to the built-in grader.
const FILE: &str = "[roles]\ngrade = \"built-in\"\n\
    [prices.\"openai:scripted-chat\"]\nprompt_usd_per_million = 0\ncompletion_usd_per_million = 1000\n";

/// Two services that know nothing of each other but the database.
struct Pair {
    server: ModelServer,
    database: PgConnectOptions,
    processes: [Process; 2],
    client: Client,
    _file: tempfile::TempDir,
}

impl Pair {
    async fn start(settings: &[(&str, &str)]) -> Self {
        let server = ModelServer::start().await;
        let database = database::create().await;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cited.toml");
        std::fs::write(&file, FILE).expect("written");
        let file = file.display().to_string();
        let (url, dimension, database_url) = (server.base_url(), DIMENSION.to_string(), database::url(&database));
        let mut all = vec![
            ("CITED_CONFIG", file.as_str()),
            ("CITED_EMBEDDING_BASE_URL", url.as_str()),
            ("CITED_EMBEDDING_MODEL", "scripted-embedding"),
            ("CITED_EMBEDDING_DIMENSION", dimension.as_str()),
            ("CITED_CHAT_BASE_URL", url.as_str()),
            ("CITED_CHAT_MODEL", "scripted-chat"),
            ("CITED_DATABASE_CONNECTIONS", "6"),
            ("DATABASE_URL", database_url.as_str()),
        ];
        all.extend_from_slice(settings);
        // One after the other: the first migrates.
        let first = Process::serve(&all).await;
        let second = Process::serve(&all).await;
        let pair = Self { server, database, processes: [first, second], client: client(), _file: folder };
        let body = json!({"collection": "handbook", "documents": [
            {"source": "leave.md", "text": "Everyone has 28 days of paid annual leave a year."}]});
        let url = format!("{}/v1/documents?wait=true", pair.processes[0].base);
        let job = pair.client.post(url).json(&body).send().await.expect("an answer");
        assert_eq!(job.status(), StatusCode::OK);
        pair
    }

    async fn ask(&self, process: usize, body: &Value) -> (u16, Value) {
        let url = format!("{}/v1/ask", self.processes[process].base);
        let response = self.client.post(url).json(body).send().await.expect("an answer");
        (response.status().as_u16(), json_of(response).await)
    }

    /// Asks of both in turn, all at once.
    async fn ask_at_once(&self, count: usize, body: &Value) -> Vec<(u16, Value)> {
        futures::future::join_all((0..count).map(|number| self.ask(number % 2, body))).await
    }

    async fn spent_today(&self) -> i64 {
        database::number(&self.database, "SELECT COALESCE(sum(cost_nano_usd), 0)::bigint FROM usage_daily").await
    }

    async fn stop(self) {
        for process in self.processes {
            let (_, ended_well) = process.stop().await;
            assert!(ended_well);
        }
        database::assert_consistent(&self.database).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_is_kept_by_two_processes_and_survives_the_end_of_one() {
    let pair = Pair::start(&[("CITED_DAILY_COST_USD", "10.3")]).await;
    // Held open until all that fit are under way: what is reserved at once may not go over the day.
    pair.server.reply(Role::Answer, Reply::Slow(Duration::from_secs(2), ANSWER.to_owned()));
    let ask = json!({"question": QUESTION, "collections": ["handbook"]});
    let answers = pair.ask_at_once(64, &ask).await;
    let answered = answers.iter().filter(|(status, _)| *status == 200).count();
    assert!((10..64).contains(&answered), "{answered} at $1.024 each within $10.3 at once");
    for (status, body) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!(
            (*status, &body["code"], &body["limit"]),
            (413, &json!("budget_exceeded"), &json!("daily_cost_usd"))
        );
    }
    assert_eq!(pair.server.calls(Role::Answer).len(), answered, "nobody is asked beyond the limit");
    let settled = i64::try_from(answered).expect("few") * 20_000_000;
    assert_eq!(pair.spent_today().await, settled, "settled as it cost");

    // A process that is killed leaves what it had reserved: the provider may bill it.
    pair.server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), ANSWER.to_owned()));
    pair.server.drop_reply(Role::Answer);
    let calls = pair.server.calls(Role::Answer).len();
    let Pair { server, database, processes: [first, second], client, _file } = pair;
    let url = format!("{}/v1/ask", second.base);
    let lost = tokio::spawn(client.post(url).json(&ask).send());
    wait::until("it is under way", async || server.calls(Role::Answer).len() > calls).await;
    second.kill().await;
    assert!(lost.await.expect("no panic").is_err(), "the connection broke");
    let spent = "SELECT cost_nano_usd FROM usage_daily";
    assert_eq!(database::number(&database, spent).await, settled + 1_024_000_000);
    let (_, ended_well) = first.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_process_was_told_the_other_gives_again() {
    let pair = Pair::start(&[]).await;
    pair.server.reply(Role::Answer, Reply::Slow(Duration::from_millis(500), ANSWER.to_owned()));
    let ask = json!({"question": QUESTION, "collections": ["handbook"], "cache": {"ttl_s": 60}});
    let answers = pair.ask_at_once(32, &ask).await;
    for (status, body) in &answers {
        assert_eq!((*status, &body["outcome"], &body["answer"]), (200, &json!("answered"), &json!(ANSWER)), "{body}");
    }
    assert_eq!(pair.server.calls(Role::Answer).len(), 1, "one asks, all others wait for it");
    assert_eq!(answers.iter().filter(|(_, body)| body["cache_hit"] == false).count(), 1);
    for process in [0, 1] {
        assert_eq!(pair.ask(process, &ask).await.1["cache_hit"], true);
    }
    let hits = "SELECT count(*) FROM ask_audit WHERE is_cache_hit";
    assert_eq!(database::number(&pair.database, hits).await, 33, "each is audited");

    // A change made through one process misses in the other.
    let body = json!({"collection": "handbook", "documents": [
        {"source": "leave.md", "text": "Everyone has 30 days of paid annual leave a year."}]});
    let url = format!("{}/v1/documents?wait=true", pair.processes[1].base);
    assert_eq!(pair.client.post(url).json(&body).send().await.expect("an answer").status(), StatusCode::OK);
    pair.server.say(Role::Answer, "Everyone has 30 days of paid annual leave a year [^1].");
    pair.server.drop_reply(Role::Answer);
    let (_, changed) = pair.ask(0, &ask).await;
    assert_eq!(changed["cache_hit"], false, "{changed}");
    assert!(changed["answer"].as_str().is_some_and(|text| text.contains("30 days")), "{changed}");
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_the_one_that_asks_lets_the_other_go_on() {
    let pair = Pair::start(&[("CITED_ASK_TIMEOUT_S", "5")]).await;
    pair.server.reply(Role::Answer, Reply::Slow(Duration::from_mins(1), "late".to_owned()));
    pair.server.reply(Role::Answer, Reply::Text(ANSWER.to_owned()));
    let ask = json!({"question": QUESTION, "collections": ["handbook"], "cache": {"ttl_s": 60}});
    let Pair { server, database, processes: [first, second], client, _file } = pair;
    let leader = tokio::spawn(client.post(format!("{}/v1/ask", first.base)).json(&ask).send());
    server.wait_for_call(Role::Answer).await;
    first.kill().await;
    assert!(leader.await.expect("no panic").is_err(), "the connection broke");
    // Its claim holds no longer than its own time would have; who comes afterwards writes the answer.
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        let response = client.post(format!("{}/v1/ask", second.base)).json(&ask).send().await.expect("an answer");
        if response.status() == StatusCode::OK {
            let body = json_of(response).await;
            assert_eq!((&body["outcome"], &body["cache_hit"]), (&json!("answered"), &json!(false)), "{body}");
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "nobody is let go on");
    }
    let (_, ended_well) = second.stop().await;
    assert!(ended_well);
    database::assert_consistent(&database).await;
}
