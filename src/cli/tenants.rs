//! `cited tenants`: manages the tenants of a running service over its API.

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    keys::{NewKey, issued},
    service_call::{Target, text},
};
use crate::config::Config;

/// Arguments of `cited tenants`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the tenants by name.
    List,
    /// Make a tenant.
    Create {
        /// Name of the tenant.
        name: String,
    },
    /// Make a key for a tenant; its secret is printed once.
    Key {
        /// Id of the tenant.
        tenant: Uuid,
        #[command(flatten)]
        key: NewKey,
    },
    /// Delete a tenant with everything that is its own.
    Delete {
        /// Id of the tenant.
        tenant: Uuid,
    },
}

/// Calls the service and prints what it answers.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { action, target } = arguments;
    let answer = match action {
        Action::List => target.call(config, async |client| client.get("/v1/tenants").await, list).await,
        Action::Create { name } => {
            let body = json!({"name": name});
            target.call(config, async |client| client.post("/v1/tenants", &body).await, line).await
        }
        Action::Key { tenant, key } => {
            let path = format!("/v1/tenants/{tenant}/keys");
            target.call(config, async |client| client.post(&path, &key.body()).await, issued).await
        }
        Action::Delete { tenant } => {
            let path = format!("/v1/tenants/{tenant}");
            target.call(config, async |client| client.delete(&path).await, deleted).await
        }
    };
    answer.map(drop)
}

fn list(body: &Value) -> String {
    body["tenants"].as_array().into_iter().flatten().map(line).collect()
}

fn line(tenant: &Value) -> String {
    format!("{}  {}\n", text(tenant, "id"), text(tenant, "name"))
}

fn deleted(receipt: &Value) -> String {
    format!("deleted: {} collections, {} documents\n", receipt["collections"], receipt["documents"])
}
