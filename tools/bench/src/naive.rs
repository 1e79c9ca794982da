//! The corrective loop as tutorials write it: one step after the other, and a call of the model for each passage.
//!
//! It searches where the service searches and asks the model that the service asks, so that what differs is the loop.
//! It checks nothing that comes back, keeps no record, and cites nothing.

use std::net::SocketAddr;

use anyhow::Context as _;
use hyper::Method;
use serde_json::{Value, json};

use crate::{client::Client, ingest::COLLECTION};

/// Passages that are graded: as many as an ask looks at unless told otherwise.
pub const PASSAGES: usize = 8;
const GRADE: &str = "You judge whether a source bears on a question. Reply with one word, correct or incorrect.";
const REWRITE: &str = "You rewrite a question so that a search finds more. Reply with the new question alone.";
const ANSWER: &str = "Answer the question from the sources. If they do not answer it, say so.";

/// The loop, with a connection to the store and one to the model.
pub struct Naive {
    store: Client,
    models: Client,
}

impl Naive {
    /// Connects to a service for its search, and to a model server.
    pub async fn connect(service: SocketAddr, models: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { store: Client::connect(service).await?, models: Client::connect(models).await? })
    }

    /// Retrieves, grades passage by passage, rewrites once if none is left, and generates. `None` without evidence.
    pub async fn answer(&mut self, question: &str) -> anyhow::Result<Option<String>> {
        let mut passages = self.relevant(question, question).await?;
        if passages.is_empty() {
            let query = self.complete(REWRITE, question).await?;
            passages = self.relevant(question, &query).await?;
        }
        if passages.is_empty() {
            return Ok(None);
        }
        let sources: String = passages.iter().zip(1..).map(|(text, number)| source(number, text)).collect();
        self.complete(ANSWER, &format!("{sources}Question: {question}")).await.map(Some)
    }

    /// The passages found by `query` that the model finds to bear on the question.
    async fn relevant(&mut self, question: &str, query: &str) -> anyhow::Result<Vec<String>> {
        let body = json!({"query": query, "collections": [COLLECTION], "top_k": PASSAGES});
        let found = self.store.json(Method::POST, "/v1/search", Some(&body)).await?;
        let mut relevant = Vec::new();
        for result in found["results"].as_array().context("the search has no results")? {
            let text = result["text"].as_str().context("a result has no text")?;
            let verdict = self.complete(GRADE, &format!("{}Question: {question}", source(1, text))).await?;
            if verdict.contains("correct") && !verdict.contains("incorrect") {
                relevant.push(text.to_owned());
            }
        }
        Ok(relevant)
    }

    async fn complete(&mut self, system: &str, user: &str) -> anyhow::Result<String> {
        let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": user}]);
        let body = json!({"model": "bench", "messages": messages, "temperature": 0});
        let reply: Value = self.models.json(Method::POST, "/v1/chat/completions", Some(&body)).await?;
        let text = reply["choices"][0]["message"]["content"].as_str();
        Ok(text.context("the model server gave no text")?.to_owned())
    }
}

fn source(number: usize, text: &str) -> String {
    format!("<source id=\"{number}\">\n{text}\n</source>\n\n")
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::atomic::Ordering::Relaxed};

    use bytes::Bytes;
    use http_body_util::{BodyExt as _, Full};
    use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
    use hyper_util::rt::TokioIo;
    use tokio::net::TcpListener;

    use super::*;
    use crate::model_server::ModelServer;

    /// A search that finds two passages by any query but one, by which it finds none.
    async fn store(fruitless: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let search = move |request: Request<Incoming>| async move {
            let body: Value = serde_json::from_slice(&request.into_body().collect().await.unwrap().to_bytes()).unwrap();
            let texts = if body["query"] == fruitless { &[][..] } else { &["Leave is 28 days. More.", "Other."][..] };
            let results: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
            let reply = json!({"results": results}).to_string();
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(reply))))
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(search)));
            }
        });
        address
    }

    #[tokio::test]
    async fn each_passage_is_graded_by_a_call_of_its_own_and_then_one_call_answers() {
        let models = ModelServer::start(0).await.unwrap();
        let mut naive = Naive::connect(store("nothing").await, models.address).await.unwrap();
        let answer = naive.answer("How long is leave?").await.unwrap();
        assert_eq!(answer.as_deref(), Some("Leave is 28 days [^1]"));
        let counts =
            [&models.calls.grades, &models.calls.rewrites, &models.calls.answers].map(|calls| calls.load(Relaxed));
        assert_eq!(counts, [2, 0, 1]);
    }

    #[tokio::test]
    async fn a_search_that_finds_nothing_is_rewritten_once() {
        let models = ModelServer::start(0).await.unwrap();
        let mut naive = Naive::connect(store("nothing").await, models.address).await.unwrap();
        assert!(naive.answer("nothing").await.unwrap().is_some());
        let counts =
            [&models.calls.grades, &models.calls.rewrites, &models.calls.answers].map(|calls| calls.load(Relaxed));
        assert_eq!(counts, [2, 1, 1]);
    }
}
