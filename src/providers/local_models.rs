//! Model servers that run on this machine, at the ports that they have unless told otherwise. They are looked for, and
//! nothing but their list of models is read.

use std::time::Duration;

use futures::future::join_all;
use serde::Deserialize;

/// Longest wait for a server.
const PATIENCE: Duration = Duration::from_millis(200);
/// Servers by their usual ports.
const USUAL: [(&str, u16); 4] = [("Ollama", 11434), ("llama.cpp", 8080), ("LM Studio", 1234), ("vLLM", 8000)];

/// A model server on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalServer {
    /// The program that usually has its port.
    pub(crate) program: &'static str,
    /// Base URL of its `OpenAI`-compatible API.
    pub(crate) base_url: String,
    /// One of its models.
    pub(crate) model: String,
}

/// The list of models of a server.
#[derive(Deserialize)]
struct Models {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    #[serde(default)]
    owned_by: String,
}

/// Looks at the usual ports of loopback, but not at this one, which is the service's own.
pub(crate) async fn find(own_port: u16) -> Vec<LocalServer> {
    let client = reqwest::Client::builder().no_proxy().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none());
    let Ok(client) = client.build() else { return Vec::new() };
    let others = USUAL.into_iter().filter(|(_, port)| *port != own_port);
    let found = others.map(|(program, port)| look(&client, program, port));
    join_all(found).await.into_iter().flatten().collect()
}

async fn look(client: &reqwest::Client, program: &'static str, port: u16) -> Option<LocalServer> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let response = client.get(format!("{base_url}/models")).send().await.ok()?;
    let Models { data } = response.json().await.ok()?;
    let model = data.into_iter().find(writes)?.id;
    Some(LocalServer { program, base_url, model })
}

/// Whether a model may write answers, and has a name that can be shown and typed. Another Cited is no model.
fn writes(model: &Model) -> bool {
    let Model { id, owned_by } = model;
    !id.is_empty() && id.chars().all(|letter| letter.is_ascii_graphic()) && !id.contains("embed") && owned_by != "cited"
}
