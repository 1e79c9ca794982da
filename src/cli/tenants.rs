//! `cited tenants`: manages the tenants of a running service over its API.

use std::{path::PathBuf, str::FromStr};

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    ids,
    keys::{NewKey, issue},
    output::print,
    service_call::{Target, number, text},
    tenant_export,
    wording::counted,
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
    /// Show a tenant: how much it keeps, and how much it may.
    Show {
        /// Id of the tenant.
        #[arg(value_parser = ids::tenant)]
        tenant: Uuid,
    },
    /// Set how much a tenant may keep. What is left out stays.
    Quota {
        /// Id of the tenant.
        #[arg(value_parser = ids::tenant)]
        tenant: Uuid,
        #[command(flatten)]
        quotas: Quotas,
    },
    /// Make a key for a tenant; its secret is printed once.
    Key {
        /// Id of the tenant.
        #[arg(value_parser = ids::tenant)]
        tenant: Uuid,
        #[command(flatten)]
        key: NewKey,
    },
    /// Write everything of a tenant into a folder: documents, settings, access control lists, audit and security events.
    Export {
        /// Id of the tenant.
        #[arg(value_parser = ids::tenant)]
        tenant: Uuid,
        /// Folder to write to; it must be new or empty.
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
    },
    /// Delete a tenant with everything that is its own; needs --yes.
    Delete {
        /// Id of the tenant.
        #[arg(value_parser = ids::tenant)]
        tenant: Uuid,
        /// Confirm that the tenant is to be deleted.
        #[arg(long)]
        yes: bool,
    },
}

/// Quotas to set.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Quotas {
    /// Most documents, or `default` for the quota of the deployment.
    #[arg(long, value_name = "NUMBER")]
    documents: Option<Quota>,
    /// Most bytes of text and metadata, former versions included, or `default`.
    #[arg(long, value_name = "NUMBER")]
    bytes: Option<Quota>,
    /// Most collections, or `default`.
    #[arg(long, value_name = "NUMBER")]
    collections: Option<Quota>,
    /// Former versions that are kept of each document, or `default`.
    #[arg(long, value_name = "NUMBER")]
    former_versions: Option<Quota>,
}

/// A quota; `None` is that of the deployment.
#[derive(Clone, Copy, Debug)]
struct Quota(Option<u64>);

impl FromStr for Quota {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "default" {
            return Ok(Self(None));
        }
        text.parse().map(|number| Self(Some(number))).map_err(|_| "give a number, or default".to_owned())
    }
}

impl Quotas {
    fn body(&self) -> Value {
        let Self { documents, bytes, collections, former_versions } = self;
        let given = [
            ("documents", documents),
            ("bytes", bytes),
            ("collections", collections),
            ("former_versions", former_versions),
        ];
        let given = given.into_iter().filter_map(|(name, quota)| Some((name.to_owned(), json!(quota.as_ref()?.0))));
        json!({"quotas": given.collect::<Map<String, Value>>()})
    }
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
        Action::Show { tenant } => {
            let path = format!("/v1/tenants/{tenant}");
            target.call(config, async |client| client.get(&path).await, shown).await
        }
        Action::Quota { tenant, quotas } => {
            let (path, body) = (format!("/v1/tenants/{tenant}"), quotas.body());
            target.call(config, async |client| client.patch(&path, &body).await, shown).await
        }
        Action::Key { tenant, key } => {
            let path = format!("/v1/tenants/{tenant}/keys");
            issue(config, target, async |client| client.post(&path, &key.body()).await).await
        }
        Action::Export { tenant, to } => {
            return print(tenant_export::export(&target.client(config)?, *tenant, to).await?);
        }
        Action::Delete { tenant, yes } => {
            if !yes {
                bail!("this deletes everything of the tenant and cannot be undone; add --yes to do it");
            }
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

fn shown(tenant: &Value) -> String {
    let storage = &tenant["storage"];
    let quotas = &storage["quotas"];
    let limit = |name: &str| quotas[name].as_u64().map_or_else(|| "no limit".to_owned(), |limit| format!("of {limit}"));
    let kept =
        ["documents", "bytes", "collections"].map(|name| format!("  {name}  {}, {}\n", storage[name], limit(name)));
    let of_each = quotas["former_versions"]
        .as_u64()
        .map_or_else(|| "no limit".to_owned(), |limit| format!("at most {limit} of a document"));
    format!(
        "{}{}  former versions  {} ({} bytes), {of_each}\n",
        line(tenant),
        kept.concat(),
        storage["former_versions"],
        storage["former_version_bytes"],
    )
}

fn deleted(receipt: &Value) -> String {
    let [collections, documents] =
        ["collection", "document"].map(|thing| counted(number(receipt, &format!("{thing}s")), thing));
    format!("deleted: {collections}, {documents}\n")
}
