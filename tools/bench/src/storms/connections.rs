//! Storms of connections: silent ones, clients that leave, bodies that trickle.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use sqlx::{Connection as _, PgConnection};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
    task::JoinSet,
};

use super::{Target, Weathered};
use crate::raw_copy;

/// Peer addresses that silent connections come from.
const PEERS: usize = 100;
const LEAVING_ROUNDS: u64 = 14;
const LEAVING: u64 = 400;
const TRICKLING: usize = 200;
const TRICKLE: Duration = Duration::from_secs(1);
/// Sessions of the service with an open transaction in which nothing has happened for a while.
const LEFT_OPEN: &str = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cited'
    AND state LIKE 'idle in transaction%' AND state_change < now() - interval '1 second'";
/// The message of Postgres when a connection comes back from the pool with the transaction of another request.
const SECOND_BEGIN: &str = "there is already a transaction in progress";

/// Connections that send nothing, or the beginning of something.
pub(super) async fn silent(target: &Target, count: usize) -> anyhow::Result<Weathered> {
    let beginnings: [&[u8]; 4] = [b"", b"P", b"PRI * HTTP/2.0\r\n", b"GET / HTTP/1.1\r\nHost: "];
    let mut held = Vec::with_capacity(count);
    for (number, beginning) in (0..count).zip(beginnings.into_iter().cycle()) {
        let mut stream = connect_from(peer(number), target.address).await.context("a silent connection")?;
        // The service may have closed it already.
        let _ = stream.write_all(beginning).await;
        held.push(stream);
    }
    let worst = target.worst_probe(40, Duration::from_millis(100)).await?;
    let open = held.iter().filter(|stream| is_open(stream)).count();
    Ok(Weathered {
        storm: format!("{count} silent connections from {PEERS} addresses"),
        meanwhile: "`/livez`",
        worst,
        most: Duration::from_secs(1),
        seen: format!("{open} still open then"),
    })
}

/// A loopback address.
fn peer(number: usize) -> Ipv4Addr {
    let last = u8::try_from(number % PEERS).unwrap_or_default();
    Ipv4Addr::new(127, 0, 1, last.saturating_add(1))
}

async fn connect_from(peer: Ipv4Addr, address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((peer, 0)))?;
    Ok(socket.connect(address).await?)
}

/// Whether the service has not closed it.
fn is_open(stream: &TcpStream) -> bool {
    let read = stream.try_read(&mut [0]);
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
}

/// Clients that leave while the service begins a transaction for them.
pub(super) async fn leaving(target: &Target) -> anyhow::Result<Weathered> {
    let second_begins = || -> anyhow::Result<usize> {
        let log = fs::read(target.data_dir.join("postgres.log")).context("the log of the database")?;
        Ok(String::from_utf8_lossy(&log).matches(SECOND_BEGIN).count())
    };
    let before = second_begins()?;
    let mut worst = Duration::ZERO;
    for round in 0..LEAVING_ROUNDS {
        let mut clients = JoinSet::new();
        for number in 0..LEAVING {
            let (address, key) = (target.address, target.attacker.clone());
            clients.spawn(async move {
                let mut stream = TcpStream::connect(address).await?;
                let request =
                    format!("GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n");
                stream.write_all(request.as_bytes()).await?;
                tokio::time::sleep(Duration::from_millis((round + number) % 16)).await;
                anyhow::Ok(())
            });
        }
        while let Some(left) = clients.join_next().await {
            left??;
        }
        let started = Instant::now();
        target.ask(usize::try_from(round)?).await?;
        worst = worst.max(started.elapsed());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut owner = PgConnection::connect_with(&raw_copy::superuser(&target.data_dir)?).await?;
    let open: i64 = sqlx::query_scalar(LEFT_OPEN).fetch_one(&mut owner).await?;
    owner.close().await?;
    let second = second_begins()? - before;
    ensure!(open == 0 && second == 0, "{open} transactions were left open, {second} were begun within another");
    Ok(Weathered {
        storm: format!("{} clients that leave during BEGIN", LEAVING_ROUNDS * LEAVING),
        meanwhile: "an ask of another tenant",
        worst,
        most: Duration::from_secs(5),
        seen: "no transaction left open, none begun within another".to_owned(),
    })
}

/// Uploads that bring a byte a second.
pub(super) async fn trickling(target: &Target) -> anyhow::Result<Weathered> {
    let mut trickling = JoinSet::new();
    for _ in 0..TRICKLING {
        let (address, key) = (target.address, target.attacker.clone());
        trickling.spawn(async move {
            let mut stream = TcpStream::connect(address).await?;
            let head = format!(
                "POST /v1/documents HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\
                 Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{{"
            );
            stream.write_all(head.as_bytes()).await?;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(TRICKLE).await;
            }
            anyhow::Ok(())
        });
    }
    tokio::time::sleep(3 * TRICKLE).await;
    let mut worst = Duration::ZERO;
    for number in 0..10 {
        worst = worst.max(target.upload(number).await?).max(target.worst_probe(1, TRICKLE).await?);
    }
    trickling.shutdown().await;
    Ok(Weathered {
        storm: format!("{TRICKLING} uploads that bring a byte a second"),
        meanwhile: "an upload of another tenant, and `/livez`",
        worst,
        most: Duration::from_secs(5),
        seen: String::new(),
    })
}
