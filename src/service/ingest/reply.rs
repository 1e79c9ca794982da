//! Replies to requests that bring documents: the job; to a repetition of a named request, the first reply again.

use std::time::Duration;

use uuid::Uuid;

use super::{Accepted, FirstAnswer, IngestService, ItemPage, JobReport, ReplyContent};
use crate::{domain::identity::TenantId, service::ServiceError};

/// Most items that are returned with a job for which the request does not wait.
const ITEMS: i64 = 200;

/// A reply in the form that the client receives.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The job that the request was accepted as.
    pub(crate) job: Uuid,
    /// Its content.
    pub(crate) answer: ReplyContent,
    /// Whether the request was a repetition.
    pub(crate) is_replay: bool,
}

/// The client's requirements for its reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyOptions<'a> {
    /// The client's name for the request (Idempotency-Key): the reply is stored for repeated requests.
    pub(crate) key: Option<&'a str>,
    /// Longest wait for the end of the job; `None`: the reply goes out at once.
    pub(crate) wait: Option<Duration>,
}

impl IngestService {
    /// Replies to an accepted request. A repeated request gets the first reply word for word. If that was never given,
    /// because the service stopped before it, the repeated request gets the job as it is now. `render` converts a job
    /// into the client's format.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] if the job no longer exists; the errors of `render`.
    pub(crate) async fn reply<E: From<ServiceError>>(
        &self,
        tenant: TenantId,
        accepted: Accepted,
        options: ReplyOptions<'_>,
        render: impl FnOnce(JobReport) -> Result<ReplyContent, E>,
    ) -> Result<Reply, E> {
        let (job, is_replay) = match accepted {
            Accepted::New(job) => (job, false),
            Accepted::Finished(reported) => {
                let job = reported.job.id;
                let answer = render(self.report(*reported))?;
                if let Some(key) = options.key {
                    self.keep_answer(tenant, (key, job), &answer, true).await;
                }
                return Ok(Reply { job, answer, is_replay: false });
            }
            Accepted::Repeated(FirstAnswer { job, answer: Some(answer) }) => {
                return Ok(Reply { job, answer, is_replay: true });
            }
            Accepted::Repeated(FirstAnswer { job, answer: None }) => (job, true),
        };
        let report = match options.wait {
            Some(at_most) => self.wait(tenant, job, at_most).await?,
            None => self.job(tenant, job, ItemPage::first(ITEMS)).await?,
        };
        let answer = render(report)?;
        if let Some(key) = options.key {
            self.keep_answer(tenant, (key, job), &answer, false).await;
        }
        Ok(Reply { job, answer, is_replay })
    }

    /// Stores the first reply to a request. If it cannot be stored, a repeated request gets the job as it is then.
    async fn keep_answer(&self, tenant: TenantId, (key, job): (&str, Uuid), answer: &ReplyContent, is_over: bool) {
        if let Err(error) = self.store.jobs().keep_answer(tenant, (key, job), answer, is_over).await {
            tracing::warn!(error = %error, job_id = %job, "the answer to a named request could not be kept");
        }
    }
}
