//! `cited jobs`: the jobs of the running service.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    ids,
    service_call::{Target, encoded, items, more, number, text},
};
use crate::config::Config;

/// Arguments of `cited jobs`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the jobs, newest first.
    List {
        /// Collection of the jobs; without it those of all.
        #[arg(short, long)]
        collection: Option<String>,
        /// State of the jobs.
        #[arg(long, value_parser = ["queued", "running", "succeeded", "partial", "failed", "cancelled"])]
        state: Option<String>,
        /// Most jobs, newest first.
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// Where to go on: what an earlier list ended with.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Show a job with its failures.
    Show {
        /// Id of the job.
        #[arg(value_parser = ids::job)]
        id: Uuid,
    },
    /// Cancel a job; what is stored stays.
    Cancel {
        /// Id of the job.
        #[arg(value_parser = ids::job)]
        id: Uuid,
    },
    /// Try the failed documents of a job again.
    Retry {
        /// Id of the job.
        #[arg(value_parser = ids::job)]
        id: Uuid,
    },
}

/// Calls the service and prints what it answers.
pub(super) async fn run(config: &Config, arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { action, target } = arguments;
    let answer = match action {
        Action::List { collection, state, limit, cursor } => {
            let mut path = format!("/v1/jobs?limit={limit}");
            for (name, value) in [("collection", collection), ("state", state), ("cursor", cursor)] {
                if let Some(value) = value {
                    let _ = write!(path, "&{name}={}", encoded(value));
                }
            }
            target.call(config, async |client| client.get(&path).await, list).await
        }
        Action::Show { id } => {
            let path = format!("/v1/jobs/{id}?items_limit=200");
            target.call(config, async |client| client.get(&path).await, whole).await
        }
        Action::Cancel { id } => order(config, target, *id, "cancel").await,
        Action::Retry { id } => order(config, target, *id, "retry").await,
    };
    answer.map(drop)
}

async fn order(config: &Config, target: &Target, id: Uuid, order: &str) -> anyhow::Result<Value> {
    let path = format!("/v1/jobs/{id}/{order}");
    target.call(config, async |client| client.post(&path, &json!({})).await, line).await
}

fn list(body: &Value) -> String {
    let mut page: String = items(body, "jobs").iter().map(line).collect();
    if page.is_empty() {
        page.push_str("There is no such job.\n");
    }
    page.push_str(&more(body));
    page
}

fn line(job: &Value) -> String {
    let [id, state, collection, created] = ["id", "state", "collection", "created_at"].map(|member| text(job, member));
    let count = |name: &str| job.get("counts").map_or(0, |counts| number(counts, name));
    let (done, all, failed) = (count("complete"), count("items"), count("failed"));
    format!("{id}  {state:<9}  {collection}  {done} of {all} documents, {failed} failed, {created}\n")
}

/// A job with the documents of it that failed.
fn whole(job: &Value) -> String {
    let mut page = line(job);
    for item in items(job, "items").iter().filter(|item| text(item, "state") == "failed") {
        let [source, cause, message] = ["source", "cause", "message"].map(|member| text(item, member));
        let _ = writeln!(page, "  {source}: {cause}; {message}");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_one_line_and_its_failures_another_each() {
        let job = json!({
            "id": "1", "state": "partial", "collection": "h", "created_at": "2026-01-01T00:00:00Z",
            "counts": {"complete": 1, "items": 2, "failed": 1},
            "items": [{"source": "a.md", "state": "succeeded"},
                      {"source": "b.md", "state": "failed", "cause": "empty", "message": "send text"}],
        });
        let first = "1  partial    h  1 of 2 documents, 1 failed, 2026-01-01T00:00:00Z\n";
        assert_eq!(list(&json!({"jobs": [job]})), first);
        let cut = json!({"jobs": [job], "next_cursor": "abc"});
        assert_eq!(list(&cut), format!("{first}… more with --cursor abc\n"));
        assert_eq!(whole(&job), format!("{first}  b.md: empty; send text\n"));
    }
}
