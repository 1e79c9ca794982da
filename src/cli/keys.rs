//! `cited keys`: manages the keys of a running service over its API.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{
    service_call::{Target, items, text, texts, whole_list},
    terminal::shown,
};
use crate::{
    config::Config,
    providers::remote::{Answer, Client},
};

/// Arguments of `cited keys`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the keys of the tenant, newest first.
    List,
    /// Make a key; its secret is printed once.
    Create(NewKey),
    /// Give a key another secret, which is printed once.
    Rotate {
        /// Id of the key.
        id: String,
        /// For how many seconds the former secret opens too.
        #[arg(long, default_value_t = 0)]
        grace_s: u32,
    },
    /// Take a key back.
    Revoke {
        /// Id of the key.
        id: String,
    },
}

/// A key to make.
#[derive(Debug, Args)]
pub(super) struct NewKey {
    /// Name of the key, for people.
    name: String,
    /// Purpose of the key: ask, ingest, read or admin; may be given several times.
    #[arg(long, required = true)]
    scope: Vec<String>,
    /// Collection that the key is limited to; may be given several times. By default all.
    #[arg(short, long)]
    collection: Vec<String>,
    /// User or group that the holder of the key is, such as user:ada or group:people; may be given several times.
    #[arg(short, long)]
    principal: Vec<String>,
    /// When the key ends, such as 2027-01-31T00:00:00Z. By default never.
    #[arg(long)]
    expires_at: Option<String>,
}

impl NewKey {
    /// The body of the request that makes the key.
    pub(super) fn body(&self) -> Value {
        let collections = (!self.collection.is_empty()).then_some(&self.collection);
        json!({"name": self.name, "scopes": self.scope, "collections": collections, "principals": self.principal,
               "expires_at": self.expires_at})
    }
}

/// Calls the service and prints what it answers.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { action, target } = arguments;
    let answer = match action {
        Action::List => target.call(config, async |client| whole_list(client, "/v1/keys", "keys").await, list).await,
        Action::Create(new) => issue(config, target, async |client| client.post("/v1/keys", &new.body()).await).await,
        Action::Rotate { id, grace_s } => {
            let (path, body) = (format!("/v1/keys/{id}/rotate"), json!({"grace_s": grace_s}));
            issue(config, target, async |client| client.post(&path, &body).await).await
        }
        Action::Revoke { id } => {
            let path = format!("/v1/keys/{id}");
            target.call(config, async |client| client.delete(&path).await, line).await
        }
    };
    answer.map(drop)
}

/// Makes a key, or gives it another secret. The secret is all that standard output gets, so that it can be stored; the
/// rest is said on standard error.
///
/// # Errors
/// If the service cannot be reached or refuses.
pub(super) async fn issue(
    config: &Config,
    target: &Target,
    request: impl AsyncFnOnce(&Client) -> Result<Answer, reqwest::Error>,
) -> anyhow::Result<Value> {
    let issued = target.call(config, request, |body| format!("{}\n", text(body, "secret"))).await?;
    if !target.json {
        eprint!("{}", shown(&remark(&issued)));
    }
    Ok(issued)
}

/// Names a key whose secret was printed.
fn remark(body: &Value) -> String {
    format!("The secret is shown only this once. {}", line(&body["key"]))
}

fn list(body: &Value) -> String {
    let lines: String = items(body, "keys").iter().map(line).collect();
    if lines.is_empty() { "There is no key; cited keys create makes one.\n".to_owned() } else { lines }
}

fn line(key: &Value) -> String {
    let scopes = texts(key, "scopes").unwrap_or_default();
    let collections = texts(key, "collections").unwrap_or_else(|| "all collections".to_owned());
    let [id, state, name] = ["id", "state", "name"].map(|member| text(key, member));
    format!("{id}  {state:<8}  {scopes}  {collections}  used {}  {name}\n", text(key, "last_used_at"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_line_and_its_secret_another() {
        let key = json!({"id": "5e1f", "state": "valid", "name": "desk", "scopes": ["ask", "read"], "collections": ["a", "b"],
                         "last_used_at": null});
        assert_eq!(list(&json!({"keys": [key]})), "5e1f  valid     ask,read  a,b  used -  desk\n");
        assert!(list(&json!({"keys": []})).starts_with("There is no key"));
        let remark = remark(&json!({"secret": "cited_x", "key": key}));
        assert!(remark.ends_with("desk\n") && !remark.contains("cited_x"), "{remark}");
    }
}
