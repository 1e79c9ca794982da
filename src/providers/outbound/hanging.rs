//! Hosts that hang: whoever names thousands of URLs of one waits for a few of them only. Tenants are kept apart: a host that
//! keeps one of them waiting may answer what another asks.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use url::Url;

use super::politeness::host_of;
use crate::domain::identity::TenantId;

/// Time-outs in a row after which a host is not asked for a while.
const TIMEOUTS: u32 = 3;

/// How long that is. One more time-out after it begins it anew.
const PAUSE: Duration = Duration::from_mins(1);

/// Time after which the time-outs of a host are forgotten.
const MEMORY: Duration = Duration::from_mins(10);

/// Time-outs of a host in a row.
#[derive(Debug)]
struct Hanging {
    timeouts: u32,
    last: Instant,
}

/// The hosts that hang, for each tenant.
#[derive(Clone, Debug, Default)]
pub(super) struct HangingHosts(Arc<Mutex<HashMap<(TenantId, String), Hanging>>>);

impl HangingHosts {
    /// How long the host of a URL is not to be asked yet, if it is not.
    pub(super) fn pause(&self, tenant: TenantId, url: &Url) -> Option<Duration> {
        self.pause_at(tenant, url, Instant::now())
    }

    fn pause_at(&self, tenant: TenantId, url: &Url, now: Instant) -> Option<Duration> {
        let hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hanging = hosts.get(&(tenant, host_of(url))).filter(|hanging| hanging.timeouts >= TIMEOUTS)?;
        (hanging.last + PAUSE).checked_duration_since(now).filter(|pause| !pause.is_zero())
    }

    /// Notes whether the host of a URL answered in time.
    pub(super) fn note(&self, tenant: TenantId, url: &Url, has_answered: bool) {
        self.note_at(tenant, url, has_answered, Instant::now());
    }

    fn note_at(&self, tenant: TenantId, url: &Url, has_answered: bool, now: Instant) {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tenant, host_of(url));
        if has_answered {
            hosts.remove(&key);
            return;
        }
        hosts.retain(|_, hanging| now < hanging.last + MEMORY);
        let hanging = hosts.entry(key).or_insert(Hanging { timeouts: 0, last: now });
        *hanging = Hanging { timeouts: hanging.timeouts + 1, last: now };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_hangs_is_left_alone_for_a_while_by_the_tenant_that_it_keeps_waiting() {
        let (one, other) = (TenantId::DEFAULT, TenantId(uuid::Uuid::from_u128(7)));
        let [slow, near, port] = ["http://slow.example/a", "http://near.example/a", "http://slow.example:8080/a"]
            .map(|url| Url::parse(url).expect("a URL"));
        let (hosts, begin) = (HangingHosts::default(), Instant::now());
        for has_answered in [false, false, true] {
            hosts.note_at(one, &slow, has_answered, begin);
        }
        for number in 0..3 {
            assert_eq!(hosts.pause_at(one, &slow, begin), None, "{number}");
            hosts.note_at(one, &slow, false, begin);
        }
        let elsewhere = Url::parse("http://slow.example/b?c=d").expect("a URL");
        assert_eq!(hosts.pause_at(one, &elsewhere, begin), Some(PAUSE));
        for (tenant, url) in [(one, &near), (one, &port), (other, &slow)] {
            assert_eq!(hosts.pause_at(tenant, url, begin), None, "{tenant:?} {url}");
        }
        let later = begin + PAUSE;
        assert_eq!(hosts.pause_at(one, &slow, later), None, "it is asked again");
        hosts.note_at(one, &slow, false, later);
        assert_eq!(hosts.pause_at(one, &slow, later), Some(PAUSE), "once");
        let forgotten = later + MEMORY;
        hosts.note_at(one, &near, false, forgotten);
        assert_eq!(hosts.0.lock().expect("lock").len(), 1);
        hosts.note_at(one, &slow, false, forgotten);
        assert_eq!(hosts.pause_at(one, &slow, forgotten), None);
    }
}
