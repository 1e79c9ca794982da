//! Sends all documents in parts and follows the jobs that the parts become.

use std::{sync::Arc, time::Duration};

use anyhow::anyhow;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    gather::{Found, Target},
    parts::{Part, parts_of, read, too_large},
    progress::{Course, Progress},
    report::{Failure, Report},
    stop::{PATIENCE, Stop, detail, is_of_the_moment, wait_after},
};
use crate::{
    cli::unreachable::unreachable,
    domain::job::Indexing,
    providers::remote::{Answer, Client, Upload},
    service::context::Ids,
};

/// Number of open jobs at once: enough that the service always has work.
const OPEN_JOBS: usize = 4;
/// Interval between two requests for the state of a job.
const LOOK: Duration = Duration::from_millis(500);
/// Longest time without a look at the jobs.
const LONGEST_REST: Duration = Duration::from_secs(10);
/// Number of documents of a job that are requested at once.
const ITEMS: usize = 1_000;

/// Options that apply to all documents.
pub(super) struct Order {
    /// Collection that the documents go to.
    pub(super) collection: String,
    /// When the documents can be found.
    pub(super) indexing: Option<Indexing>,
    /// The caller's own data about the documents.
    pub(super) metadata: Value,
}

/// A run in progress.
pub(super) struct Run {
    client: Client,
    ids: Arc<dyn Ids>,
    order: Order,
    /// Size of the largest file that is read and sent, in bytes.
    max_file_bytes: u64,
    progress: Progress,
    report: Report,
    /// Whether it was said that the service is waited for.
    has_told_wait: bool,
    sent: usize,
    open: Vec<OpenJob>,
}

/// A job that has not ended.
struct OpenJob {
    id: String,
    settled: usize,
    searchable: usize,
    failed: usize,
}

impl Run {
    /// A run that reads no file larger than a request may be, according to the local settings, which are those of a
    /// service on this machine.
    pub(super) fn new(
        client: Client,
        ids: Arc<dyn Ids>,
        order: Order,
        max_body_bytes: usize,
        progress: Progress,
    ) -> Self {
        let (report, open) = (Report::default(), Vec::new());
        let max_file_bytes = u64::try_from(max_body_bytes).unwrap_or(u64::MAX);
        Self { client, ids, order, max_file_bytes, progress, report, has_told_wait: false, sent: 0, open }
    }

    /// The report of the results so far.
    pub(super) fn report(&mut self) -> Report {
        self.progress.end();
        std::mem::take(&mut self.report)
    }

    /// Sends all documents and waits until each of them is settled.
    ///
    /// # Errors
    /// If the service cannot be reached, or takes no more documents.
    pub(super) async fn ingest(&mut self, found: Found) -> Result<(), Stop> {
        // A service that is unavailable at the start is not waited for.
        let reached = self.client.get("/readyz").await;
        reached.map_err(|error| Stop::at_once(unreachable(&self.client, &error)))?;
        self.report.failed = found.failed;
        self.report.skipped = found.skipped;
        self.report.links = found.links;
        self.report.hidden = found.hidden;
        let mut parts = parts_of(found.targets);
        parts.reverse();
        while let Some(part) = parts.pop() {
            if let Some((first, second)) = self.send(part).await? {
                parts.push(second);
                parts.push(first);
            }
            self.follow(OPEN_JOBS).await?;
        }
        self.follow(1).await
    }

    /// Sends a part. If it is refused as a whole, it is split in two, so that the document at fault is found.
    async fn send(&mut self, mut part: Part) -> Result<Option<(Part, Part)>, Stop> {
        let key = self.ids.next().to_string();
        let is_of_urls = matches!(part.first(), Some(Target::Url(_)));
        let files = if is_of_urls { Vec::new() } else { self.read(&mut part).await };
        if part.is_empty() {
            return Ok(None);
        }
        let started = Instant::now();
        loop {
            let answer = if is_of_urls {
                self.client.send_documents(&self.urls(&part), &key).await
            } else {
                self.client.upload(&files, &self.fields(), &key).await
            };
            let rest = match answer {
                Ok(answer) if matches!(answer.status, 200 | 202) => {
                    let id = answer.body.get("id").and_then(Value::as_str);
                    let id = id.ok_or_else(|| anyhow!("{} is no Cited service", self.client.base()))?.to_owned();
                    self.sent += part.len();
                    self.report.jobs.push(id.clone());
                    self.open.push(OpenJob { id, settled: 0, searchable: 0, failed: 0 });
                    return Ok(None);
                }
                Ok(Answer { status: 413 | 422, .. }) if part.len() > 1 => {
                    let second = part.split_off(part.len() / 2);
                    return Ok(Some((part, second)));
                }
                Ok(answer) if matches!(answer.status, 413 | 422) => {
                    self.report.failed.extend(part.iter().map(|target| refused(target, &answer)));
                    return Ok(None);
                }
                Ok(answer) if matches!(answer.status, 429 | 502..=504) => self.wait_for(&answer, started)?,
                Ok(answer) => return Err(Stop::by(&self.client, &answer).await),
                // With the same idempotency key, a request that is sent again is done once.
                Err(error) => self.wait_for_connection(&error, started)?,
            };
            self.rest(rest).await?;
        }
    }

    /// Waits with an eye on the jobs.
    async fn rest(&mut self, wait: Duration) -> Result<(), Stop> {
        let until = Instant::now() + wait;
        while Instant::now() < until {
            sleep(until.saturating_duration_since(Instant::now()).min(LONGEST_REST)).await;
            self.look().await?;
        }
        Ok(())
    }

    /// Reads the files of a part; files that cannot be read are left out and reported.
    async fn read(&mut self, part: &mut Part) -> Vec<Upload> {
        let mut files = Vec::with_capacity(part.len());
        let mut readable = Vec::with_capacity(part.len());
        for target in part.drain(..) {
            let Target::File { path, source, .. } = &target else { continue };
            match read(path, self.max_file_bytes).await {
                Ok(Some(content)) => {
                    files.push(Upload { source: source.clone(), content });
                    readable.push(target);
                }
                Ok(None) => self.report.failed.push(too_large(source.clone(), self.max_file_bytes)),
                Err(error) => self.report.failed.push(Failure::here(source.clone(), error.to_string())),
            }
        }
        *part = readable;
        files
    }

    fn urls(&self, part: &Part) -> Value {
        let Order { collection, indexing, metadata } = &self.order;
        let document = |target: &Target| json!({"url": target.source(), "metadata": metadata});
        let documents: Vec<Value> = part.iter().map(document).collect();
        json!({"collection": collection, "indexing": indexing, "documents": documents})
    }

    /// The form fields that are sent with files.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let Order { collection, indexing, metadata } = &self.order;
        let mut fields = vec![("collection", collection.clone()), ("metadata", metadata.to_string())];
        fields.extend(indexing.map(|indexing| ("indexing", indexing.as_str().to_owned())));
        fields
    }

    /// Waits until fewer than `limit` jobs are open.
    async fn follow(&mut self, limit: usize) -> Result<(), Stop> {
        self.look().await?;
        while self.open.len() >= limit {
            sleep(LOOK).await;
            self.look().await?;
        }
        Ok(())
    }

    /// Requests the state of each job once.
    async fn look(&mut self) -> Result<(), Stop> {
        for mut job in std::mem::take(&mut self.open) {
            let body = self.get(&format!("/v1/jobs/{}?items_limit=1", job.id)).await?;
            let count = |name: &str| body.pointer(&format!("/counts/{name}")).and_then(Value::as_u64).unwrap_or(0);
            if body.get("finished_at").is_some_and(|moment| !moment.is_null()) {
                self.report.searchable += count("searchable");
                self.report.stored += count("documents");
                self.report.chunks += count("chunks");
                self.report.unchanged += count("unchanged");
                for state in ["failed", "cancelled"] {
                    if count(state) > 0 {
                        let items = self.items(&job.id, &format!("items_state={state}")).await?;
                        self.report.failed.extend(items.iter().map(failure_of));
                    }
                }
                if count("documents") > 0 {
                    let items = self.items(&job.id, "items_noted=true").await?;
                    self.report.noted.extend(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()));
                }
            } else {
                let sum: u64 = ["documents", "unchanged", "failed", "cancelled"].map(count).iter().sum();
                job.settled = usize::try_from(sum).unwrap_or(usize::MAX);
                job.searchable = usize::try_from(count("searchable")).unwrap_or(usize::MAX);
                job.failed = usize::try_from(count("failed") + count("cancelled")).unwrap_or(usize::MAX);
                self.open.push(job);
            }
        }
        let sum = |of: fn(&OpenJob) -> usize| self.open.iter().map(of).sum::<usize>();
        let searchable = usize::try_from(self.report.searchable).unwrap_or(usize::MAX);
        self.progress.tell(&Course {
            settled: self.report.documents() + sum(|job| job.settled),
            searchable: searchable + sum(|job| job.searchable),
            failed: self.report.failed.len() + sum(|job| job.failed),
            sent: self.sent,
        });
        Ok(())
    }

    /// The documents of a job that pass a filter.
    async fn items(&mut self, job: &str, filter: &str) -> Result<Vec<Value>, Stop> {
        let (mut from, mut items) = (0, Vec::new());
        loop {
            let path = format!("/v1/jobs/{job}?{filter}&items_limit={ITEMS}&items_from={from}");
            let mut body = self.get(&path).await?;
            if let Some(Value::Array(page)) = body.get_mut("items").map(Value::take) {
                items.extend(page);
            }
            match body.get("next_items_from").and_then(Value::as_u64) {
                Some(next) => from = next,
                None => return Ok(items),
            }
        }
    }

    /// How long to wait for a service that answers so; says that it is waited for.
    fn wait_for(&mut self, answer: &Answer, started: Instant) -> Result<Duration, Stop> {
        let wait = wait_after(&self.client, answer, started, LOOK)?;
        let (base, detail, seconds) = (self.client.base(), detail(answer), wait.as_secs_f64().ceil());
        self.tell_wait(&format!("{base} answers with {detail}; waiting {seconds} s for it"));
        Ok(wait)
    }

    /// How long to wait for a service that cannot be reached; says that it is waited for.
    fn wait_for_connection(&mut self, error: &reqwest::Error, started: Instant) -> Result<Duration, Stop> {
        let problem = unreachable(&self.client, error);
        if started.elapsed() >= PATIENCE {
            return Err(problem.into());
        }
        self.tell_wait(&format!("{problem:#}; waiting for it"));
        Ok(LOOK)
    }

    /// Prints why there is no progress, once.
    fn tell_wait(&mut self, problem: &str) {
        if !std::mem::replace(&mut self.has_told_wait, true) {
            self.progress.note(problem);
        }
    }

    /// Repeats a request until it is answered, for a limited time.
    async fn get(&mut self, path: &str) -> Result<Value, Stop> {
        let started = Instant::now();
        loop {
            let wait = match self.client.get(path).await {
                Ok(answer) if answer.status == 200 => return Ok(answer.body),
                Ok(answer) if is_of_the_moment(answer.status) => self.wait_for(&answer, started)?,
                Ok(answer) => return Err(Stop::by(&self.client, &answer).await),
                Err(error) => self.wait_for_connection(&error, started)?,
            };
            sleep(wait).await;
        }
    }
}

/// Why a document of a job failed.
fn failure_of(item: &Value) -> Failure {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Failure { source: text("source"), cause: text("cause"), message: text("message") }
}

fn refused(target: &Target, answer: &Answer) -> Failure {
    let code = answer.body.get("code").and_then(Value::as_str).unwrap_or("refused");
    let faults = answer.body.get("errors").and_then(Value::as_array);
    let faults: Vec<&str> =
        faults.into_iter().flatten().filter_map(|fault| fault.get("detail").and_then(Value::as_str)).collect();
    let message = match answer.body.get("value").and_then(Value::as_u64) {
        Some(limit) if answer.status == 413 => {
            format!("it is larger than the {limit} bytes that the service takes at once; split it into several")
        }
        _ if faults.is_empty() => detail(answer),
        _ => faults.join("; "),
    };
    Failure { source: target.source().to_owned(), cause: code.to_owned(), message }
}
