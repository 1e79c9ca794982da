//! What is left to be done when an ask is over: it is done even if nobody waits for it any more.

use std::time::Duration;

use tokio::task::JoinHandle;

/// Longest wait for it: an answer waits, beyond the ask's own time limit if that is reached.
const PATIENCE: Duration = Duration::from_secs(1);

/// Waits for work that was begun, though not for long; it goes on after that.
pub(super) async fn wait_for(work: Option<JoinHandle<()>>) {
    if let Some(work) = work {
        // A panic has been told where it happened.
        let _ = tokio::time::timeout(PATIENCE, work).await;
    }
}
