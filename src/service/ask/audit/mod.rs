//! The end of an ask: in any case its cost is recorded, its answer cached, and its audit row written.

mod row;

use std::sync::Arc;

use self::row::{End, row};
use super::{
    AskError, AskReport,
    cache::{self, CacheClaim},
    context::AskContext,
};
use crate::{domain::audit::AuditOutcome, service::ServiceError, store::AuditRow};

/// Ensures that an ask leaves a row in the audit. Dropped before the end, it records that the caller disconnected.
pub(super) struct AuditGuard<'a> {
    ask: &'a AskContext,
    state: State,
}

enum State {
    /// The ask is under way.
    Open,
    /// It has ended, and this is its row.
    Ended(Arc<AuditRow>),
    /// The row was handed to the database, successfully or not.
    Done,
}

impl<'a> AuditGuard<'a> {
    pub(super) const fn new(ask: &'a AskContext) -> Self {
        Self { ask, state: State::Open }
    }

    /// Writes the row; only then the result may be returned. Before that the cost is recorded and the answer cached, if
    /// that can be done quickly, and otherwise afterwards.
    ///
    /// # Errors
    /// That of the result, or that the row could not be written.
    pub(super) async fn finish(
        mut self,
        result: Result<AskReport, AskError>,
        claim: Option<CacheClaim>,
    ) -> Result<AskReport, AskError> {
        let ask = self.ask;
        // Before any wait: a caller who disconnects now is audited by the drop, with all of the data.
        let end = End::of(ask, &result);
        end.count(ask);
        let row = Arc::new(row(ask, &end));
        self.state = State::Ended(Arc::clone(&row));
        let settled = ask.daily_account.settle(ask.spent_at_most());
        let kept = cache::keep(ask, claim, &result);
        tokio::join!(settled, kept);
        let written = ask.services.store.asks().write_audit(row).await;
        self.state = State::Done;
        match (written, result) {
            (Ok(()), result) => result,
            // The failure that ended the ask also prevents its row from being written.
            (Err(_), Err(AskError::Service(ServiceError::Store(error)))) if error.is_transient() => {
                Err(AskError::Service(ServiceError::Store(error)))
            }
            (Err(error), _) => Err(AskError::Audit(error)),
        }
    }
}

impl Drop for AuditGuard<'_> {
    /// The caller disconnected before the end. The row is written by a task of its own, since no caller waits for it.
    fn drop(&mut self) {
        let ask = self.ask;
        let (outcome, reason) = (AuditOutcome::ClientGone, Some(ask.record.stage().doing().to_owned()));
        let row = match std::mem::replace(&mut self.state, State::Done) {
            State::Done => return,
            State::Ended(row) => AuditRow { outcome, reason, ..Arc::unwrap_or_clone(row) },
            State::Open => {
                let end = End::without_answer(ask, outcome, reason);
                end.count(ask);
                row(ask, &end)
            }
        };
        let (store, account, spent) = (ask.services.store.clone(), ask.daily_account.clone(), ask.spent_at_most());
        // Without a runtime the process is ending, and with it the connection to the database.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            account.settle(spent).await;
            let ask_id = row.ask_id;
            if let Err(error) = store.asks().write_audit(Arc::new(row)).await {
                tracing::warn!(error = %error, %ask_id, "an ask whose caller went away could not be audited");
            }
        });
    }
}
