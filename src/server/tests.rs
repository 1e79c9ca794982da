use axum::{
    body::{Body, Bytes},
    routing::{get, post},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::Instant,
};

use super::*;

/// Short enough for a test, long enough for a busy machine.
const SHORT: Times = Times {
    idle: Duration::from_millis(400),
    last_read: Duration::from_millis(400),
    progress: Duration::from_millis(800),
};

/// A service with a page, one that takes longer than a connection may be idle, one that reads a body and one
/// that does not.
async fn start() -> (std::net::SocketAddr, Shutdown) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let slow = || async {
        tokio::time::sleep(2 * SHORT.idle).await;
        "slow"
    };
    let router = Router::new()
        .route("/", get(|| async { "page" }))
        .route("/slow", get(slow))
        .route("/endless", get(|| async { endless() }))
        .route("/body", post(|body: String| async move { body }))
        .route("/refused", post(|| async { "refused" }));
    let acceptance = Acceptance { max_connections: None, tls: None, times: SHORT };
    let shutdown = Shutdown::default();
    tokio::spawn(serve(listener, acceptance, router, shutdown.clone()));
    (address, shutdown)
}

fn endless() -> Body {
    let part = Bytes::from(vec![b'x'; 1 << 16]);
    Body::from_stream(futures::stream::repeat_with(move || Ok::<_, std::io::Error>(part.clone())))
}

/// The response to `sent`, until the service closes the connection, and how long that takes.
async fn converse(address: std::net::SocketAddr, sent: &[u8]) -> (String, Duration) {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let started = Instant::now();
    stream.write_all(sent).await.expect("sent");
    let mut received = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut received)).await;
    assert!(read.is_ok(), "still open after {:?}: {:?}", started.elapsed(), String::from_utf8_lossy(sent));
    (String::from_utf8_lossy(&received).into_owned(), started.elapsed())
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let (address, shutdown) = start().await;
    let begun = [PREFACE, SETTINGS].concat();
    // The frame of a request's headers whose end never comes.
    let half_a_request = [begun.as_slice(), &[0, 0, 9, 1, 0, 0, 0, 0, 1, 0x82]].concat();
    let forms: [(&str, &[u8]); 8] = [
        ("silence", b""),
        ("the first letter of both versions", b"P"),
        ("half a preface", PREFACE.split_at(10).0),
        ("a preface and nothing", PREFACE),
        ("HTTP/2 without a request", &begun),
        ("half a request of HTTP/2", &half_a_request),
        ("half a head", b"GET / HTTP/1.1\r\nHost: localhost\r\n"),
        ("a request, then nothing", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ];
    for (form, sent) in forms {
        let (received, time) = converse(address, sent).await;
        assert!(time + Duration::from_millis(50) >= SHORT.idle, "{form}: {time:?}");
        assert_eq!(received.ends_with("page"), form.starts_with("a request,"), "{form}: {received}");
    }
    shutdown.soft.cancel();
}

#[tokio::test]
async fn a_client_that_takes_no_response_is_let_go() {
    let (address, shutdown) = start().await;
    // The client of HTTP/2 takes no byte of any body, and answers all else.
    let no_window: &[u8] = &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0];
    let get: &[u8] = &[0, 0, 14, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x01, 9];
    let (_, time) = converse(address, &[PREFACE, no_window, get, b"localhost"].concat()).await;
    assert!(time + Duration::from_millis(50) >= SHORT.idle, "{time:?}");
    // That of HTTP/1 stops reading what would never end.
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("sent");
    tokio::time::sleep(4 * SHORT.idle).await;
    let mut received = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut received)).await;
    assert!(read.is_ok(), "it goes on: {} bytes", received.len());
    shutdown.soft.cancel();
}

#[tokio::test]
async fn a_client_that_takes_its_time_is_served_to_the_end() {
    let (address, shutdown) = start().await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("sent");
    let mut part = vec![0; 1 << 22];
    let started = Instant::now();
    while started.elapsed() < 6 * SHORT.idle {
        stream.read_exact(&mut part).await.expect("it goes on");
        tokio::time::sleep(SHORT.idle / 4).await;
    }
    shutdown.soft.cancel();
}

#[tokio::test]
async fn a_request_in_progress_keeps_its_connection() {
    let (address, shutdown) = start().await;
    let (received, time) = converse(address, b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(received.ends_with("slow"), "{received}");
    assert!(time + Duration::from_millis(50) >= 3 * SHORT.idle, "it is idle from then on: {time:?}");
    shutdown.soft.cancel();
}

#[tokio::test]
async fn a_body_that_stops_ends_its_request() {
    let (address, shutdown) = start().await;
    let begun = b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf";
    let (received, time) = converse(address, begun).await;
    assert!(received.starts_with("HTTP/1.1 400"), "{received}");
    assert!(time >= SHORT.progress, "{time:?}");
    shutdown.soft.cancel();
}

#[tokio::test]
async fn a_body_that_nobody_reads_costs_its_client_no_response() {
    let (address, shutdown) = start().await;
    let head = "POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16777216\r\n\r\n";
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(head.as_bytes()).await.expect("sent");
    for _ in 0..16 {
        stream.write_all(&vec![b'x'; 1 << 20]).await.expect("it is taken until its end");
    }
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await.expect("sent");
    let mut received = String::new();
    stream.read_to_string(&mut received).await.expect("responses");
    assert!(received.contains("refused") && received.ends_with("page"), "{received}");
    shutdown.soft.cancel();
}

#[tokio::test]
async fn a_body_that_was_not_sent_yet_is_not_asked_for() {
    let (address, shutdown) = start().await;
    let head = "POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n";
    let (received, _) = converse(address, head.as_bytes()).await;
    assert!(received.starts_with("HTTP/1.1 200") && received.ends_with("refused"), "{received}");
    shutdown.soft.cancel();
}
