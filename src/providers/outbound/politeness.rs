//! Requests to one host at once: whoever names thousands of its URLs must not make a tool of this service.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// Most requests to a host (and port) at once.
const AT_ONCE: usize = 2;

/// Host and port of a URL.
pub(super) fn host_of(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// The hosts to which requests are under way, or wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts(Arc<Mutex<HashMap<String, Arc<Semaphore>>>>);

impl Hosts {
    /// Waits until the host of a URL may be asked, which it is until this is dropped.
    pub(super) async fn turn(&self, url: &Url) -> OwnedSemaphorePermit {
        let semaphore = {
            let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody asks these, or waits to.
            hosts.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
            Arc::clone(hosts.entry(host_of(url)).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE))))
        };
        semaphore.acquire_owned().await.expect("it is never closed")
    }
}
