//! Storms of requests: documents of servers that hang, keys that are guessed, questions that cost much.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use domain::access::{KEY_SECRET_BYTES, write_key, written_id};
use hyper::{Method, StatusCode};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinSet};

use super::{Target, Weathered, ask};
use crate::client::Client;

const JOBS: usize = 6;
const URLS: usize = 60;
const GUESSES: usize = 5_000;
const GUESSING: usize = 50;
const ASKING: usize = 48;
/// Pause of a client that was told to come again later.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest question that is taken, in characters.
const QUESTION: usize = 8_000;

/// A tenant whose documents are at URLs that never answer.
pub(super) async fn hanging(target: &Target) -> anyhow::Result<Weathered> {
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let address = silent.local_addr()?;
    let held = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = silent.accept().await {
            held.push(stream);
        }
    });
    let mut attacker = Client::connect(target.address).await?.with_key(&target.attacker);
    let mut jobs = Vec::new();
    for job in 0..JOBS {
        let url =
            |number| json!({"source": format!("u{job}-{number}"), "url": format!("http://{address}/{job}/{number}")});
        let body = json!({"collection": "c", "documents": (0..URLS).map(url).collect::<Vec<_>>()});
        jobs.push(attacker.json(Method::POST, "/v1/documents", Some(&body)).await?);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut worst = Duration::ZERO;
    for number in 100..120 {
        worst = worst.max(target.upload(number).await?).max(target.upload_by_queue(number).await?);
    }
    for job in jobs {
        let path = format!("/v1/jobs/{}/cancel", job["id"].as_str().context("a job has an id")?);
        let (status, _) = attacker.send(Method::POST, &path, None).await?;
        ensure!(status.is_success(), "a job could not be cancelled: {status}");
    }
    held.abort();
    Ok(Weathered {
        storm: format!("{} documents at URLs that never answer", JOBS * URLS),
        meanwhile: "uploads of another tenant, stored at once and by the queue",
        worst,
        most: Duration::from_secs(5),
        seen: String::new(),
    })
}

/// Keys that are not valid, from an address that a valid key uses too.
pub(super) async fn guessing(target: &Target) -> anyhow::Result<Weathered> {
    let started = Instant::now();
    let mut guessing = JoinSet::new();
    for client in 0..GUESSING {
        let address = target.address;
        guessing.spawn(async move {
            let mut refused = [0, 0];
            for number in 0..GUESSES / GUESSING {
                // Whole, so that it is looked up.
                let id = u64::try_from(client * GUESSES + number)?.to_be_bytes();
                let key = write_key(&written_id(id), [7; KEY_SECRET_BYTES]);
                let mut guesser = Client::connect(address).await?.with_key(&key);
                let (status, _) = guesser.send(Method::GET, "/v1/collections", None).await?;
                match status {
                    StatusCode::UNAUTHORIZED => refused[0] += 1,
                    StatusCode::TOO_MANY_REQUESTS => refused[1] += 1,
                    other => anyhow::bail!("a wrong key was answered {other}"),
                }
            }
            anyhow::Ok(refused)
        });
    }
    let mut worst = Duration::ZERO;
    for number in 0..20 {
        worst = worst.max(target.ask(100 + number).await?);
    }
    let mut sums = [0, 0];
    while let Some(refused) = guessing.join_next().await {
        for (sum, count) in sums.iter_mut().zip(refused??) {
            *sum += count;
        }
    }
    Ok(Weathered {
        storm: format!("{GUESSES} wrong keys, whole ones, in {:.1} s", started.elapsed().as_secs_f64()),
        meanwhile: "an ask with a valid key of the same address",
        worst,
        most: Duration::from_secs(5),
        seen: format!("{} times 401, {} times 429", sums[0], sums[1]),
    })
}

/// The longest questions beside a short one.
pub(super) async fn asking(target: &Target) -> anyhow::Result<Weathered> {
    let questions = target.corpus.questions.join(" ");
    let characters: Vec<char> = questions.chars().collect();
    let mut asking = JoinSet::new();
    let is_over = Arc::new(AtomicBool::new(false));
    for number in 0..ASKING {
        let (address, key) = (target.address, target.attacker.clone());
        let long: String = characters.iter().cycle().skip(number * QUESTION).take(QUESTION).collect();
        let is_over = Arc::clone(&is_over);
        asking.spawn(async move {
            let mut client = Client::connect(address).await?.with_key(&key);
            let body = ask(&long).to_string();
            let [mut asked, mut refused] = [0_usize; 2];
            while !is_over.load(Ordering::Relaxed) {
                let (status, reply) = client.send(Method::POST, "/v1/ask", Some(body.clone().into())).await?;
                let reply = String::from_utf8_lossy(&reply);
                // Those who come in such numbers may be sent away, for a while.
                if status == StatusCode::SERVICE_UNAVAILABLE && reply.contains("database_busy") {
                    refused += 1;
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                ensure!(status.is_success(), "{status}: {reply}");
                asked += 1;
            }
            anyhow::Ok([asked, refused])
        });
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut worst = Duration::ZERO;
    for number in 0..40 {
        worst = worst.max(target.ask(200 + number).await?);
    }
    is_over.store(true, Ordering::Relaxed);
    let [mut asked, mut refused] = [0; 2];
    for one in asking.join_all().await {
        let [answered, sent_away] = one?;
        asked += answered;
        refused += sent_away;
    }
    Ok(Weathered {
        storm: format!("{ASKING} clients with questions of {QUESTION} characters"),
        meanwhile: "a short ask of another tenant",
        worst,
        most: Duration::from_secs(5),
        seen: format!("{asked} long questions answered, {refused} refused as too many"),
    })
}
