//! Connections to the service.

use std::{
    convert::Infallible,
    fmt::{self, Display, Formatter},
    net::SocketAddr,
};

use anyhow::Context as _;
use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::{Method, Request, StatusCode, body::Frame, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::tls;

/// A reply with another status than success.
#[derive(Debug)]
pub struct Refused {
    pub status: StatusCode,
    request: String,
    reply: String,
}

impl Display for Refused {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} answered {}: {}", self.request, self.status, self.reply)
    }
}

impl std::error::Error for Refused {}

/// A client with one keep-alive connection; it sends one request at a time.
pub struct Client {
    sender: http1::SendRequest<Full<Bytes>>,
    key: Option<String>,
}

impl Client {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.context("the service does not listen")?;
        stream.set_nodelay(true)?;
        Self::over(stream).await
    }

    /// Connects by TLS.
    pub async fn connect_by_tls(address: SocketAddr) -> anyhow::Result<Self> {
        Self::over(tls::connect(address).await?).await
    }

    async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> anyhow::Result<Self> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, key: None })
    }

    /// The same with a key in each request.
    pub fn with_key(self, key: &str) -> Self {
        Self { key: Some(format!("Bearer {key}")), ..self }
    }

    /// Sends a request, with JSON if it has a body, and reads the whole reply.
    pub async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        self.send_as(method, path, body.map(|body| ("application/json", body))).await
    }

    /// The same with the media type of the body.
    pub async fn send_as(
        &mut self,
        method: Method,
        path: &str,
        body: Option<(&'static str, Bytes)>,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        self.sender.ready().await?;
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        if let Some((media_type, _)) = &body {
            request = request.header("content-type", *media_type);
        }
        if let Some(key) = &self.key {
            request = request.header("authorization", key);
        }
        let response =
            self.sender.send_request(request.body(Full::new(body.map(|(_, body)| body).unwrap_or_default()))?).await?;
        let status = response.status();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }

    /// Sends JSON and reads the reply; anything but success is an error, [`Refused`].
    pub async fn read(&mut self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Bytes> {
        let body = body.map(|value| Bytes::from(value.to_string()));
        let (status, reply) = self.send(method, path, body).await?;
        if !status.is_success() {
            let reply = String::from_utf8_lossy(&reply).into_owned();
            return Err(Refused { status, request: path.to_owned(), reply }.into());
        }
        Ok(reply)
    }

    /// The same, and the reply is JSON.
    pub async fn json(&mut self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.read(method, path, body).await?)?)
    }
}

/// Sends lines as one body of unknown length, as fast as the service reads it, and reads JSON; anything but success is
/// an error.
pub async fn stream(
    address: SocketAddr,
    path: &str,
    lines: impl Iterator<Item = Bytes> + Send + 'static,
) -> anyhow::Result<Value> {
    let connection = TcpStream::connect(address).await.context("the service does not listen")?;
    let (mut requests, connection) = http1::handshake(TokioIo::new(connection)).await?;
    tokio::spawn(connection);
    let body = StreamBody::new(stream::iter(lines.map(|line| Ok::<_, Infallible>(Frame::data(line)))));
    let request = Request::post(path).header("host", "localhost").header("content-type", "application/x-ndjson");
    let response = requests.send_request(request.body(body)?).await?;
    let status = response.status();
    let reply = response.into_body().collect().await?.to_bytes();
    if !status.is_success() {
        let reply = String::from_utf8_lossy(&reply).into_owned();
        return Err(Refused { status, request: path.to_owned(), reply }.into());
    }
    Ok(serde_json::from_slice(&reply)?)
}
