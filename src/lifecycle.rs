//! The background tasks of the process: named and spawned in one place. The first that dies ends the process.

use std::{any::Any, collections::HashMap};

use anyhow::anyhow;
use futures::{FutureExt, StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::task::{Id, JoinError, JoinSet};

use crate::shutdown::{Notices, Shutdown};

/// Tasks that run until the service stops.
///
/// No task may end earlier: one that does leaves a service that appears to run but lacks a part. The others are then
/// told to stop, as by a signal, and [`Tasks::run`] returns the reason.
pub(crate) struct Tasks {
    running: JoinSet<()>,
    /// Names of the tasks that run.
    names: HashMap<Id, String>,
    failures: FuturesUnordered<BoxFuture<'static, anyhow::Error>>,
    shutdown: Shutdown,
}

impl Tasks {
    /// Creates an empty set of tasks; `shutdown` tells them to stop.
    #[must_use]
    pub(crate) fn new(shutdown: Shutdown) -> Self {
        Self { running: JoinSet::new(), names: HashMap::new(), failures: FuturesUnordered::new(), shutdown }
    }

    /// Starts a task that ends when the service stops, and not before.
    pub(crate) fn spawn(&mut self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        let id = self.running.spawn(task).id();
        self.names.insert(id, name.into());
    }

    /// Ends the process when `failure` resolves: for parts that run tasks of their own.
    pub(crate) fn watch(&mut self, failure: impl Future<Output = anyhow::Error> + Send + 'static) {
        self.failures.push(failure.boxed());
    }

    /// Waits until every task has ended, or until unfinished tasks are to be dropped.
    ///
    /// # Errors
    /// The first failure: a task that panicked, or ended while the service was not stopping, or a watched part that
    /// failed.
    pub(crate) async fn run(mut self) -> anyhow::Result<()> {
        let mut first_failure = None;
        let mut notices = Notices::new(self.shutdown.clone());
        loop {
            let failure = tokio::select! {
                ended = self.running.join_next_with_id() => match ended {
                    Some(ended) => self.failure_of(ended),
                    None => break,
                },
                Some(failure) = self.failures.next() => Some(failure),
                left = notices.next() => {
                    tracing::info!(waiting_for = self.unfinished(), gives_up_in_s = left.as_secs(), "stopping: work under way is being finished");
                    None
                }
                () = self.shutdown.hard.cancelled() => {
                    tracing::warn!(dropped = self.unfinished(), "work under way is dropped; documents are taken up again later");
                    break;
                }
            };
            if let Some(failure) = failure {
                tracing::error!(reason = format!("{failure:#}"), "a background task failed; the service stops");
                self.shutdown.stop();
                first_failure.get_or_insert(failure);
            }
        }
        first_failure.map_or(Ok(()), Err)
    }

    /// The names of the tasks that have not ended, in order.
    fn unfinished(&self) -> String {
        let mut names: Vec<&str> = self.names.values().map(String::as_str).collect();
        names.sort_unstable();
        names.join(", ")
    }

    /// The reason why the end of a task is a failure; `None` if it ended as requested.
    fn failure_of(&mut self, ended: Result<(Id, ()), JoinError>) -> Option<anyhow::Error> {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, ())| *id);
        let name = self.names.remove(&id).unwrap_or_else(|| "unknown".to_owned());
        match ended {
            Ok(_) if self.shutdown.soft.is_cancelled() => None,
            Ok(_) => Some(anyhow!("the task {name:?} ended although the service was not stopping")),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => Some(anyhow!("the task {name:?} panicked: {}", panic_message(panic.as_ref()))),
                Err(error) => Some(anyhow!(error).context(format!("the task {name:?} was aborted"))),
            },
        }
    }
}

/// The text of a panic, which is a string unless `panic_any` was called.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// Tasks with one that behaves: it ends when told to.
    fn with_a_good_task() -> (Tasks, Shutdown) {
        let shutdown = Shutdown::default();
        let mut tasks = Tasks::new(shutdown.clone());
        tasks.spawn("good", shutdown.soft.clone().cancelled_owned());
        (tasks, shutdown)
    }

    #[tokio::test]
    async fn tasks_that_end_when_told_to_are_no_failure() {
        let (tasks, shutdown) = with_a_good_task();
        shutdown.soft.cancel();
        tasks.run().await.expect("nothing failed");
    }

    #[tokio::test]
    async fn a_panic_stops_the_others_and_is_the_reason() {
        let (mut tasks, shutdown) = with_a_good_task();
        tasks.spawn("bad", async { panic!("nothing in the {}", "drawer") });
        let error = tasks.run().await.expect_err("a task panicked").to_string();
        assert_eq!(error, r#"the task "bad" panicked: nothing in the drawer"#);
        assert!(shutdown.soft.is_cancelled());
    }

    #[tokio::test]
    async fn an_early_return_stops_the_others_and_is_the_reason() {
        let (mut tasks, shutdown) = with_a_good_task();
        tasks.spawn("short", async {});
        let error = tasks.run().await.expect_err("a task ended").to_string();
        assert_eq!(error, r#"the task "short" ended although the service was not stopping"#);
        assert!(shutdown.soft.is_cancelled());
    }

    #[tokio::test]
    async fn a_panic_while_stopping_is_a_failure_too() {
        let (mut tasks, shutdown) = with_a_good_task();
        let stopping = shutdown.soft.clone();
        tasks.spawn("bad", async move {
            stopping.cancelled().await;
            panic!("no way out");
        });
        shutdown.soft.cancel();
        let error = tasks.run().await.expect_err("a task panicked").to_string();
        assert_eq!(error, r#"the task "bad" panicked: no way out"#);
    }

    #[tokio::test]
    async fn a_failed_part_stops_the_tasks() {
        let (mut tasks, shutdown) = with_a_good_task();
        tasks.watch(async { anyhow!("the part broke") });
        let error = tasks.run().await.expect_err("a part failed").to_string();
        assert_eq!(error, "the part broke");
        assert!(shutdown.soft.is_cancelled());
    }

    #[tokio::test]
    async fn the_first_failure_is_the_reason() {
        let (mut tasks, shutdown) = with_a_good_task();
        tasks.watch(async { anyhow!("the first") });
        tasks.spawn("later", async move {
            shutdown.soft.cancelled().await;
            panic!("the second");
        });
        assert_eq!(tasks.run().await.expect_err("two failures").to_string(), "the first");
    }

    #[tokio::test]
    async fn a_task_that_hangs_is_dropped_at_the_hard_stop() {
        let (mut tasks, shutdown) = with_a_good_task();
        tasks.spawn("stuck", pending());
        shutdown.soft.cancel();
        shutdown.hard.cancel();
        tasks.run().await.expect("dropped");
    }
}
