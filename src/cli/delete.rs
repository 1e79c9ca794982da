//! `cited delete`: deletes documents and collections of the running service.

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::Value;
use uuid::Uuid;

use super::{
    ids,
    service_call::{Target, encoded, number},
    wording::counted,
};
use crate::config::Config;

/// Arguments of `cited delete`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Confirm that more than one document is to be deleted.
    #[arg(long, global = true)]
    yes: bool,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Delete one document with all its versions.
    Document {
        /// Id of the document, as cited documents prints it.
        #[arg(value_parser = ids::document)]
        id: Uuid,
    },
    /// Delete the documents of a collection whose source begins so; needs --yes.
    Documents {
        /// Collection of the documents.
        #[arg(short, long)]
        collection: String,
        /// Beginning of their sources.
        #[arg(long)]
        source_prefix: String,
    },
    /// Delete a collection with everything in it; needs --yes.
    Collection {
        /// Name of the collection.
        name: String,
    },
}

/// Deletes and prints what was removed.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { action, yes, target } = arguments;
    let path = match action {
        Action::Document { id } => format!("/v1/documents/{id}"),
        Action::Documents { collection, source_prefix } => {
            format!("/v1/documents?collection={}&source_prefix={}", encoded(collection), encoded(source_prefix))
        }
        Action::Collection { name } => format!("/v1/collections/{}", encoded(name)),
    };
    if !yes && !matches!(action, Action::Document { .. }) {
        bail!("this cannot be undone; add --yes to delete them");
    }
    target.call(config, async |client| client.delete(&path).await, receipt).await.map(drop)
}

fn receipt(body: &Value) -> String {
    let [documents, chunks, answers, waiting] =
        ["documents", "chunks", "answers", "queue_items"].map(|member| number(body, member));
    let [documents, chunks, answers] = [(documents, "document"), (chunks, "chunk"), (answers, "cached answer")]
        .map(|(count, thing)| counted(count, thing));
    format!("deleted: {documents}, {chunks}, {answers}, {waiting} in the queue\n")
}
