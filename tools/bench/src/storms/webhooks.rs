//! The storm of webhooks: receivers that never answer.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use hyper::Method;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};

use super::{DOCUMENTS, Target, Weathered};
use crate::client::Client;

const HOOKS: usize = 360;
/// Webhooks of the other tenant.
const MEASURED: usize = 20;
/// Longest time that one of these is waited for.
const PATIENCE: Duration = Duration::from_mins(1);

/// A tenant whose webhooks go to receivers that never answer.
pub(super) async fn deaf(target: &Target) -> anyhow::Result<Weathered> {
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let deaf = silent.local_addr()?;
    let held = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = silent.accept().await {
            held.push(stream);
        }
    });
    let mut attacker = Client::connect(target.address).await?.with_key(&target.attacker);
    for number in 0..HOOKS {
        upload(&mut attacker, target, number, deaf).await?;
    }
    let receiver = TcpListener::bind("127.0.0.1:0").await?;
    let hearing = receiver.local_addr()?;
    let (heard, mut hooks) = mpsc::channel(MEASURED);
    let answering = tokio::spawn(async move {
        while let Ok((stream, _)) = receiver.accept().await {
            answer(stream).await?;
            heard.send(Instant::now()).await?;
        }
        anyhow::Ok(())
    });
    let mut other = Client::connect(target.address).await?.with_key(&target.other);
    let mut worst = Duration::ZERO;
    for number in 0..MEASURED {
        let started = Instant::now();
        upload(&mut other, target, number, hearing).await?;
        let arrived = timeout(PATIENCE, hooks.recv()).await.context("a webhook did not arrive")?;
        worst = worst.max(arrived.context("the receiver ended")?.duration_since(started));
    }
    answering.abort();
    held.abort();
    Ok(Weathered {
        storm: format!("{HOOKS} webhooks to a receiver that never answers"),
        meanwhile: "the webhook of another tenant, from the upload to its arrival",
        worst,
        most: Duration::from_secs(5),
        seen: String::new(),
    })
}

/// Stores a document with a webhook to a receiver.
async fn upload(client: &mut Client, target: &Target, number: usize, receiver: SocketAddr) -> anyhow::Result<()> {
    let document = target.corpus.paragraphs.get(DOCUMENTS + number).context("a paragraph")?;
    let path = format!("/v1/documents?wait=true&webhook_url=http://{receiver}/");
    let job = client.json(Method::POST, &path, Some(&json!({"collection": "c", "documents": [document]}))).await?;
    ensure!(job["state"] == "succeeded", "an upload did not succeed: {job}");
    Ok(())
}

/// Reads a request as far as it comes at once, and accepts it.
async fn answer(mut stream: TcpStream) -> anyhow::Result<()> {
    let mut request = vec![0; 64 * 1024];
    let read = stream.read(&mut request).await?;
    ensure!(read > 0, "a receiver was sent nothing");
    stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").await?;
    Ok(stream.shutdown().await?)
}
