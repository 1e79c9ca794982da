//! Asks beside the naive loop over the same store and the same models, and beside answers given again.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use anyhow::bail;
use serde_json::json;

use crate::{
    asks::{self, Asked, Course, Questions, Way},
    model_server::ModelServer,
    progress,
    service::Service,
};

/// Questions that are asked again and again of the cache.
const KEPT: usize = 200;
/// Longer than any run.
const KEPT_FOR_S: u64 = 24 * 60 * 60;

/// Runs side by side, as a table.
#[derive(Default)]
pub struct Comparison {
    rows: Vec<Row>,
}

struct Row {
    way: String,
    asked: Asked,
}

impl Comparison {
    /// A run.
    pub fn add(&mut self, way: impl Into<String>, asked: Asked) {
        self.rows.push(Row { way: way.into(), asked });
    }

    /// As a Markdown table.
    pub fn table(&self) -> String {
        let mut table = "| asks by | clients | rate | median, p95, p99 | model calls per ask | \
                         total less models: median, p95 | answered |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
        for Row { way, asked } in &self.rows {
            let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| asked.percentile_ms(share));
            let overhead = match (asked.overhead_ms(0.5), asked.overhead_ms(0.95)) {
                (Some(p50), Some(p95)) => format!("{p50:.1}, {p95:.1} ms"),
                _ => String::new(),
            };
            let failed = if asked.failed > 0 { format!(", {} failed", asked.failed) } else { String::new() };
            let _ = writeln!(
                table,
                "| {way} | {} | {:.1}/s | {p50:.1}, {p95:.1}, {p99:.1} ms | {:.2} | {overhead} | {} of {}{failed} |",
                asked.clients,
                asked.per_second(),
                asked.chats_per_ask(),
                asked.answered,
                asked.asks
            );
        }
        table
    }
}

/// The way of the naive loop.
pub fn naive(models: &ModelServer) -> Way {
    Way::Naive(models.address)
}

/// Questions whose answers are kept, and how they are asked.
pub struct Kept {
    questions: Arc<Questions>,
    way: Way,
}

impl Kept {
    /// Asks until enough answers are kept. What is not answered is not kept either.
    pub async fn fill(service: &Service, questions: &[String]) -> anyhow::Result<Self> {
        progress("answers to be given again");
        let way = Way::Ask(json!({"cache": {"ttl_s": KEPT_FOR_S}}));
        let mut kept = Vec::with_capacity(KEPT);
        for question in questions {
            let twice = Questions::repeated(&[question]);
            asks::once(service, &twice, &way).await?;
            if asks::once(service, &twice, &way).await? {
                kept.push(question);
            }
            if kept.len() == KEPT {
                break;
            }
        }
        if kept.is_empty() {
            bail!("no answer was kept");
        }
        Ok(Self { questions: Arc::new(Questions::repeated(&kept)), way })
    }

    /// Asks for them from so many clients. An answer that was not kept is an error.
    pub async fn run(
        &self,
        service: &Service,
        models: &ModelServer,
        clients: usize,
        time: Duration,
    ) -> anyhow::Result<Asked> {
        let course = Course { service, models: Some(models), questions: &self.questions, way: &self.way };
        let asked = asks::run(course, clients, time).await?;
        if asked.from_cache + asked.failed < asked.asks {
            bail!("{} of {} answers were not given again", asked.asks - asked.from_cache - asked.failed, asked.asks);
        }
        Ok(asked)
    }
}
