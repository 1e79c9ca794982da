//! The open connections: how many there may be, how many of one peer, and which gives way when there are too many.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::http::host_of;

/// Most connections unless configured.
pub(super) const MOST_BY_DEFAULT: usize = 10_000;
/// File descriptors that are left to the database, models and files, if there are enough.
const RESERVED_DESCRIPTORS: usize = 256;
/// Time after which a connection gives way whose client takes nothing of the responses that there are for it.
const UNREAD_TIME: Duration = Duration::from_secs(5);
/// Interval of warnings about refused connections.
const WARNING_INTERVAL: Duration = Duration::from_secs(10);

/// Most connections, in total and of one peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    total: usize,
    of_one_peer: usize,
}

impl Limits {
    /// The limits for a process with this many file descriptors. One peer gets half of the total: a proxy is one peer
    /// too, and so is everybody on this machine.
    pub(super) fn of(configured: Option<NonZeroUsize>, descriptors: usize) -> Self {
        let available = descriptors.saturating_sub(RESERVED_DESCRIPTORS.min(descriptors / 2));
        let total = configured.map_or(MOST_BY_DEFAULT, NonZeroUsize::get).min(available).max(2);
        Self { total, of_one_peer: total / 2 }
    }
}

/// The open connections.
#[derive(Debug)]
pub(super) struct Connections {
    limits: Limits,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    connections: BTreeMap<u64, Arc<Connection>>,
    by_peer: HashMap<IpAddr, usize>,
    warned: Option<Instant>,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    peer: IpAddr,
    evicted: CancellationToken,
    activity: Mutex<Activity>,
}

#[derive(Debug)]
struct Activity {
    /// Requests that the service works on.
    in_progress: usize,
    /// Requests with a part of a response that the client has yet to take.
    unread: usize,
    /// Whether there was a request before.
    has_served: bool,
    /// When the last request ended or was last worked on, or the connection was opened.
    idle_since: Instant,
}

/// The place of an open connection, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    number: u64,
    connection: Arc<Connection>,
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(super) struct InProgress {
    connection: Arc<Connection>,
    is_unread: bool,
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, open: Mutex::default() }
    }

    /// A place for a connection. If there is none, the connection gets that of another one that has no request in
    /// progress; if there is no such connection either, it gets none. So silent connections, however many, keep
    /// nobody out.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let peer = host_of(address);
        let mut open = lock(&self.open);
        let of_peer = open.by_peer.get(&peer).copied().unwrap_or(0);
        let is_full = if of_peer >= self.limits.of_one_peer {
            !open.evict(|connection| connection.peer == peer)
        } else {
            open.connections.len() >= self.limits.total && !open.evict(|_| true)
        };
        if is_full {
            open.warn(peer, self.limits);
            return None;
        }
        let (number, connection) = open.add(peer);
        Some(Place { connections: Arc::clone(self), number, connection })
    }
}

impl Connections {
    /// Number of requests whose response has not been passed on completely.
    pub(super) fn in_progress(&self) -> usize {
        let of = |connection: &Arc<Connection>| {
            let activity = lock(&connection.activity);
            activity.in_progress + activity.unread
        };
        lock(&self.open).connections.values().map(of).sum()
    }
}

impl Open {
    fn add(&mut self, peer: IpAddr) -> (u64, Arc<Connection>) {
        let activity = Activity { in_progress: 0, unread: 0, has_served: false, idle_since: Instant::now() };
        let connection =
            Arc::new(Connection { peer, evicted: CancellationToken::new(), activity: Mutex::new(activity) });
        let number = self.next;
        self.next += 1;
        self.connections.insert(number, Arc::clone(&connection));
        *self.by_peer.entry(peer).or_default() += 1;
        (number, connection)
    }

    /// Removes a connection; returns whether it was still there.
    fn remove(&mut self, number: u64) -> bool {
        let Some(connection) = self.connections.remove(&number) else { return false };
        if let Some(count) = self.by_peer.get_mut(&connection.peer) {
            *count -= 1;
            if *count == 0 {
                self.by_peer.remove(&connection.peer);
            }
        }
        connection.evicted.cancel();
        true
    }

    /// Ends the connection that has been without a request for longest, of those that never had one if there are any.
    fn evict(&mut self, is_candidate: impl Fn(&Connection) -> bool) -> bool {
        let candidates = self.connections.iter().filter(|(_, connection)| is_candidate(connection));
        let idle = candidates.filter_map(|(number, connection)| Some((connection.rank()?, *number)));
        idle.min().is_some_and(|(_, number)| self.remove(number))
    }

    fn warn(&mut self, peer: IpAddr, limits: Limits) {
        if self.warned.is_some_and(|warned| warned.elapsed() < WARNING_INTERVAL) {
            return;
        }
        self.warned = Some(Instant::now());
        tracing::warn!(
            %peer,
            open = self.connections.len(),
            limit = limits.total,
            limit_of_one_peer = limits.of_one_peer,
            "a connection was refused because all are in use; raise CITED_MAX_CONNECTIONS if they are wanted"
        );
    }
}

impl Connection {
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        let mut activity = lock(&self.activity);
        activity.in_progress += 1;
        activity.has_served = true;
        InProgress { connection: Arc::clone(self), is_unread: false }
    }

    /// Time since which no request has been worked on; `None` if one is.
    fn idle_since(&self) -> Option<Instant> {
        let activity = lock(&self.activity);
        (activity.in_progress == 0).then_some(activity.idle_since)
    }

    /// The order in which idle connections give way; `None` if there is a request, or a client that takes its response.
    fn rank(&self) -> Option<(bool, Instant)> {
        let Activity { in_progress, unread, has_served, idle_since } = *lock(&self.activity);
        let is_idle = in_progress == 0 && (unread == 0 || idle_since.elapsed() >= UNREAD_TIME);
        is_idle.then_some((has_served, idle_since))
    }
}

impl InProgress {
    /// Marks that the next part of the response is there: from now on it is the client that lets others wait.
    pub(super) fn wait_for_client(&mut self) {
        self.set_unread(true);
    }

    /// Marks that the client has taken what there was.
    pub(super) fn go_on(&mut self) {
        self.set_unread(false);
    }

    fn set_unread(&mut self, is_unread: bool) {
        if self.is_unread == is_unread {
            return;
        }
        self.is_unread = is_unread;
        let mut activity = lock(&self.connection.activity);
        let Activity { in_progress, unread, .. } = &mut *activity;
        let (from, to) = if is_unread { (in_progress, unread) } else { (unread, in_progress) };
        *from -= 1;
        *to += 1;
        activity.idle_since = Instant::now();
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.go_on();
        let mut activity = lock(&self.connection.activity);
        activity.in_progress -= 1;
        activity.idle_since = Instant::now();
    }
}

impl Place {
    pub(super) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.connection)
    }

    /// Resolves when the connection has to give way to another.
    pub(super) async fn evicted(&self) {
        self.connection.evicted.cancelled().await;
    }

    /// Resolves when no request of the connection has been worked on for this long.
    pub(super) async fn idle(&self, time: Duration) {
        loop {
            let since = self.connection.idle_since().unwrap_or_else(Instant::now);
            if since.elapsed() >= time {
                return;
            }
            tokio::time::sleep_until(since + time).await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.connections.open).remove(self.number);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The critical sections above leave nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(total: usize) -> Arc<Connections> {
        Arc::new(Connections::new(Limits { total, of_one_peer: total / 2 }))
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn is_evicted(place: &Place) -> bool {
        place.connection.evicted.is_cancelled()
    }

    #[test]
    fn limits_leave_descriptors_for_the_rest() {
        let total = |configured, descriptors| Limits::of(NonZeroUsize::new(configured), descriptors);
        assert_eq!(total(0, 1 << 20), Limits { total: 10_000, of_one_peer: 5_000 });
        assert_eq!(total(0, 1_024), Limits { total: 768, of_one_peer: 384 });
        assert_eq!(total(0, 256), Limits { total: 128, of_one_peer: 64 });
        assert_eq!(total(40, 1_024), Limits { total: 40, of_one_peer: 20 });
        assert_eq!(total(4_000, 1_024), Limits { total: 768, of_one_peer: 384 });
        assert_eq!(total(1, 1_024), Limits { total: 2, of_one_peer: 1 });
    }

    #[tokio::test]
    async fn the_longest_silent_gives_way_then_the_longest_idle_and_never_one_with_a_request() {
        let connections = connections(8);
        let mut places = Vec::new();
        for _ in 0..4 {
            tokio::time::sleep(Duration::from_millis(1)).await;
            places.push(connections.admit(address(1)).expect("a place"));
        }
        let busy = places[0].connection().begin();
        drop(places[1].connection().begin());
        let fifth = connections.admit(address(1)).expect("that of the third");
        assert_eq!(places.iter().map(is_evicted).collect::<Vec<_>>(), [false, false, true, false]);
        let _requests = [fifth.connection().begin(), places[3].connection().begin()];
        let sixth = connections.admit(address(1)).expect("that of the second, which is idle");
        assert!(is_evicted(&places[1]) && !is_evicted(&places[0]) && !is_evicted(&fifth));
        let _request = sixth.connection().begin();
        assert!(connections.admit(address(1)).is_none(), "all have a request");
        drop(busy);
        assert!(connections.admit(address(1)).is_some());
    }

    #[tokio::test]
    async fn who_takes_no_response_gives_way_after_a_while() {
        let connections = connections(2);
        let place = connections.admit(address(1)).expect("a place");
        let rest = || lock(&place.connection.activity).idle_since -= UNREAD_TIME;
        let mut request = place.connection().begin();
        rest();
        assert!(connections.admit(address(1)).is_none(), "the service works on the request");
        request.wait_for_client();
        assert!(connections.admit(address(1)).is_none(), "the client may be taking the response");
        rest();
        request.go_on();
        assert!(connections.admit(address(1)).is_none(), "it has taken some");
        request.wait_for_client();
        rest();
        assert_eq!(connections.in_progress(), 1);
        assert!(connections.admit(address(1)).is_some() && is_evicted(&place));
    }

    #[test]
    fn a_peer_has_its_share_and_others_the_rest() {
        let connections = connections(4);
        let begin = |place: &Place| place.connection().begin();
        let first: Vec<_> = (0..2).filter_map(|_| connections.admit(address(1))).collect();
        let _busy: Vec<_> = first.iter().map(begin).collect();
        assert!(connections.admit(address(1)).is_none());
        let second: Vec<_> = (0..2).filter_map(|_| connections.admit(address(2))).collect();
        let _busy_too: Vec<_> = second.iter().map(begin).collect();
        assert!(connections.admit(address(3)).is_none());
        drop(first);
        assert!(connections.admit(address(3)).is_some());
        assert_eq!(lock(&connections.open).by_peer.len(), 1, "peers without connections are forgotten");
    }

    #[tokio::test]
    async fn a_connection_is_idle_from_its_last_request_on() {
        let place = connections(4).admit(address(1)).expect("a place");
        let limit = Duration::from_millis(100);
        let request = place.connection().begin();
        let waited = tokio::time::timeout(4 * limit, place.idle(limit)).await;
        assert!(waited.is_err(), "a request is in progress");
        let ended = Instant::now();
        drop(request);
        place.idle(limit).await;
        assert!(ended.elapsed() >= limit);
    }
}
