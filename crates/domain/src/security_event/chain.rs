//! The chain of seals: what each authenticates, and the search for what was changed, added or taken away.

use time::OffsetDateTime;
use uuid::Uuid;

use super::{Change, SecurityEvent};
use crate::fingerprint::hex;

/// A link of the chain of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Owner of the chain.
    pub tenant_id: Uuid,
    /// Place in the chain, from 1.
    pub number: i64,
    /// When the events were sealed.
    pub sealed_at: OffsetDateTime,
    /// The events in the order that the code is over.
    pub events: Vec<Uuid>,
    /// Code of the link before; empty in the first.
    pub previous: Vec<u8>,
    /// Authentication code over [`Seal::message`].
    pub code: Vec<u8>,
    /// Whether the code was made under a secret of the deployment.
    pub is_keyed: bool,
}

impl Seal {
    /// Returns the text that the code of a seal authenticates: all that the seal says, and all that its events say.
    #[must_use]
    pub fn message(&self, events: &[SecurityEvent]) -> String {
        let events = events.iter().map(|event| {
            (
                (event.tenant_id, event.event_id, micros(event.occurred_at)),
                (&event.action, &event.refusal, &event.key_id, &event.address, &event.request_id),
                (&event.things, event.number),
            )
        });
        let head = (self.tenant_id, self.number, micros(self.sealed_at), hex(&self.previous), self.is_keyed);
        serde_json::json!([head, events.collect::<Vec<_>>()]).to_string()
    }

    /// Returns how the record of deleted events names the last seal that was deleted with them.
    #[must_use]
    pub fn mark(&self) -> String {
        mark(self.number, &self.code)
    }
}

fn mark(number: i64, code: &[u8]) -> String {
    format!("seal:{number}:{}", hex(code))
}

/// Returns the time in microseconds, which is as much as the database keeps.
fn micros(time: OffsetDateTime) -> i128 {
    time.unix_timestamp_nanos() / 1_000
}

/// A seal that was noted at an earlier time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedSeal {
    /// Its number.
    pub number: i64,
    /// Its code, hexadecimal.
    pub code: String,
}

/// A breach of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainFault {
    /// Number of the seal at which it shows.
    pub seal: i64,
    /// The breach in words.
    pub fault: String,
}

/// Counts of the events of a tenant that are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredEvents {
    /// All events.
    pub all: u64,
    /// Events that should wait for a seal and are not there.
    pub vanished: u64,
}

/// Follows a chain from its first seal that is left, and collects its breaches.
#[derive(Debug, Default)]
pub struct ChainCheck {
    /// The seal before the one expected next; `None` before the first.
    last: Option<Seal>,
    /// How a record of deleted events must name the seal before the first that is left; `None` where none was deleted.
    unproven_start: Option<String>,
    /// Whether the deployment has a secret, so that seals without one prove nothing against forgery.
    has_secret: bool,
    /// First and last seal without a secret that nobody noted.
    without_secret: Option<(i64, i64)>,
    was_keyed: bool,
    seals: u64,
    events: u64,
    faults: Vec<ChainFault>,
}

/// Result of [`ChainCheck`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainState {
    /// The last seal; `None` in a record without seals.
    pub head: Option<Seal>,
    /// Number of seals.
    pub seals: u64,
    /// Number of sealed events.
    pub events: u64,
    /// Breaches in order.
    pub faults: Vec<ChainFault>,
}

impl ChainCheck {
    /// A check of the chain of a deployment that has a secret, or has none.
    #[must_use]
    pub fn new(has_secret: bool) -> Self {
        Self { has_secret, ..Self::default() }
    }

    /// Checks the next seal: `events` are those of its events that are there, in its order; `is_authentic` whether its
    /// code is the one of its message.
    pub fn follow(&mut self, seal: &Seal, events: &[SecurityEvent], is_authentic: bool, noted: Option<&NotedSeal>) {
        let mut fault = |fault: String| self.faults.push(ChainFault { seal: seal.number, fault });
        let missing = seal.events.len().saturating_sub(events.len());
        if missing > 0 {
            fault(format!("{missing} of its events are missing"));
        } else if !is_authentic {
            fault("it or one of its events was changed, or it was made with another pepper".to_owned());
        }
        if self.was_keyed && !seal.is_keyed {
            fault("it has no secret, although a seal before it has".to_owned());
        }
        // A seal holds the code of the one before: that of a later one, noted elsewhere, vouches for all.
        if self.has_secret && !seal.is_keyed && noted.is_none_or(|noted| noted.number < seal.number) {
            let first = self.without_secret.map_or(seal.number, |(first, _)| first);
            self.without_secret = Some((first, seal.number));
        }
        if noted.is_some_and(|noted| noted.number == seal.number && noted.code != hex(&seal.code)) {
            fault("it is not the one that was noted".to_owned());
        }
        match &self.last {
            Some(last) if last.number + 1 != seal.number => {
                fault(format!("the seals {} to {} are missing", last.number + 1, seal.number - 1));
            }
            Some(last) if last.code != seal.previous => fault("it does not continue the seal before it".to_owned()),
            None if seal.number > 1 => self.unproven_start = Some(mark(seal.number - 1, &seal.previous)),
            _ => {}
        }
        let is_forgetting = |event: &&SecurityEvent| event.action == Change::ForgetEvents.as_str();
        if is_authentic && let Some(mark) = &self.unproven_start {
            let is_proven = events.iter().filter(is_forgetting).any(|event| event.things.contains(mark));
            self.unproven_start = self.unproven_start.take().filter(|_| !is_proven);
        }
        self.was_keyed |= seal.is_keyed;
        self.seals += 1;
        self.events += u64::try_from(events.len()).unwrap_or(u64::MAX);
        self.last = Some(seal.clone());
    }

    /// Ends the check: `waiting` are the events without a seal that are in line for one.
    #[must_use]
    pub fn finish(mut self, waiting: &[SecurityEvent], stored: StoredEvents, noted: Option<&NotedSeal>) -> ChainState {
        let last = self.last.as_ref().map_or(0, |seal| seal.number);
        if let Some(mark) = &self.unproven_start
            && !waiting.iter().any(|event| event.things.contains(mark))
        {
            let fault = "the seals before the first are missing, and no event says that they were forgotten".to_owned();
            self.faults.insert(0, ChainFault { seal: last.min(1), fault });
        }
        if let Some((first, last)) = self.without_secret {
            let fault = format!(
                "the seals {first} to {last} have no secret, although there is a pepper: they are older than it, or somebody \
                 without it made them; only a head that was noted earlier proves them"
            );
            self.faults.push(ChainFault { seal: last, fault });
        }
        if stored.vanished > 0 {
            let fault = format!("{} events were deleted before they were sealed", stored.vanished);
            self.faults.push(ChainFault { seal: last, fault });
        }
        let unsealed = stored.all.saturating_sub(self.events + u64::try_from(waiting.len()).unwrap_or(u64::MAX));
        if unsealed > 0 {
            self.faults.push(ChainFault { seal: last, fault: format!("{unsealed} events are in no seal") });
        }
        if let Some(noted) = noted.filter(|noted| noted.number > last) {
            let fault = format!("the record ends before the seal {} that was noted", noted.number);
            self.faults.push(ChainFault { seal: last, fault });
        }
        ChainState { head: self.last, seals: self.seals, events: self.events, faults: self.faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u128) -> SecurityEvent {
        SecurityEvent {
            tenant_id: Uuid::nil(),
            event_id: Uuid::from_u128(number),
            occurred_at: OffsetDateTime::UNIX_EPOCH,
            action: "delete_document".to_owned(),
            refusal: None,
            key_id: None,
            address: None,
            request_id: None,
            things: vec!["document:1".to_owned()],
            number: 1,
        }
    }

    fn chain(length: i64) -> Vec<(Seal, Vec<SecurityEvent>)> {
        let link = |number: i64| {
            let event = event(number.unsigned_abs().into());
            let code = |number: i64| if number == 0 { Vec::new() } else { number.to_be_bytes().to_vec() };
            let seal = Seal {
                tenant_id: Uuid::nil(),
                number,
                sealed_at: OffsetDateTime::UNIX_EPOCH,
                events: vec![event.event_id],
                previous: code(number - 1),
                code: code(number),
                is_keyed: true,
            };
            (seal, vec![event])
        };
        (1..=length).map(link).collect()
    }

    fn faults(chain: &[(Seal, Vec<SecurityEvent>)], stored: u64, noted: Option<&NotedSeal>) -> Vec<String> {
        let mut check = ChainCheck::default();
        for (seal, events) in chain {
            check.follow(seal, events, true, noted);
        }
        let state = check.finish(&[], StoredEvents { all: stored, vanished: 0 }, noted);
        state.faults.into_iter().map(|fault| format!("{}: {}", fault.seal, fault.fault)).collect()
    }

    #[test]
    fn a_whole_chain_has_no_fault() {
        assert_eq!(faults(&chain(3), 3, None), [""; 0]);
        let noted = NotedSeal { number: 2, code: hex(&2_i64.to_be_bytes()) };
        assert_eq!(faults(&chain(3), 3, Some(&noted)), [""; 0]);
    }

    #[test]
    fn each_breach_is_found() {
        let mut without_a_seal = chain(3);
        without_a_seal.remove(1);
        assert_eq!(faults(&without_a_seal, 2, None), ["3: the seals 2 to 2 are missing"]);
        let mut without_an_event = chain(2);
        without_an_event[1].1.clear();
        assert_eq!(faults(&without_an_event, 1, None), ["2: 1 of its events are missing"]);
        let mut forged = chain(2);
        forged[1].0.previous = vec![9];
        assert_eq!(faults(&forged, 2, None), ["2: it does not continue the seal before it"]);
        forged[1].0.previous = forged[0].0.code.clone();
        forged[1].0.is_keyed = false;
        assert_eq!(faults(&forged, 2, None), ["2: it has no secret, although a seal before it has"]);
        assert_eq!(faults(&chain(2), 3, None), ["2: 1 events are in no seal"]);
        let noted = NotedSeal { number: 3, code: String::new() };
        assert_eq!(faults(&chain(2), 2, Some(&noted)), ["2: the record ends before the seal 3 that was noted"]);
        assert_eq!(faults(&chain(3), 3, Some(&noted)), ["3: it is not the one that was noted"]);
    }

    #[test]
    fn seals_without_a_secret_are_proven_by_a_note_alone_where_there_is_a_secret() {
        let mut open = chain(4);
        for (seal, _) in &mut open[..3] {
            seal.is_keyed = false;
        }
        let followed = |has_secret, noted: Option<&NotedSeal>| {
            let mut check = ChainCheck::new(has_secret);
            for (seal, events) in &open {
                check.follow(seal, events, true, noted);
            }
            check.finish(&[], StoredEvents { all: 4, vanished: 0 }, noted).faults
        };
        let noted = |number: i64| NotedSeal { number, code: hex(&number.to_be_bytes()) };
        assert_eq!(
            (followed(false, None), followed(true, Some(&noted(3))), followed(true, Some(&noted(4)))),
            (vec![], vec![], vec![])
        );
        for (note, first) in [(None, 1), (Some(noted(1)), 2)] {
            let faults = followed(true, note.as_ref());
            assert_eq!((faults.len(), faults[0].seal), (1, 3), "{faults:?}");
            assert!(faults[0].fault.starts_with(&format!("the seals {first} to 3 have no secret")), "{faults:?}");
        }
    }

    #[test]
    fn an_event_that_vanished_before_its_seal_is_missed() {
        let state = ChainCheck::default().finish(&[], StoredEvents { all: 0, vanished: 1 }, None);
        assert_eq!(state.faults[0].fault, "1 events were deleted before they were sealed");
    }

    #[test]
    fn seals_may_be_forgotten_only_if_the_record_says_so() {
        let mut rest = chain(4).split_off(2);
        assert_eq!(faults(&rest, 2, None).len(), 1);
        let mark = chain(2)[1].0.mark();
        rest[1].1[0] = SecurityEvent { action: "forget_security_events".to_owned(), things: vec![mark], ..event(4) };
        assert_eq!(faults(&rest, 2, None), [""; 0]);
    }

    #[test]
    fn the_message_changes_with_everything_that_is_said() {
        let (seal, events) = chain(1).remove(0);
        let message = seal.message(&events);
        let changed = [
            SecurityEvent { refusal: Some("forbidden".to_owned()), ..event(1) },
            SecurityEvent { key_id: Some("other".to_owned()), ..event(1) },
            SecurityEvent { address: Some("192.0.2.1".to_owned()), ..event(1) },
            SecurityEvent { things: Vec::new(), ..event(1) },
            SecurityEvent { number: 2, ..event(1) },
            SecurityEvent { occurred_at: OffsetDateTime::UNIX_EPOCH + time::Duration::microseconds(1), ..event(1) },
        ];
        for event in changed {
            assert_ne!(seal.message(std::slice::from_ref(&event)), message, "{event:?}");
        }
        // The database keeps no nanoseconds.
        let again =
            SecurityEvent { occurred_at: OffsetDateTime::UNIX_EPOCH + time::Duration::nanoseconds(1), ..event(1) };
        assert_eq!(seal.message(&[again]), message);
        assert_ne!(Seal { previous: vec![1], ..seal.clone() }.message(&events), message);
    }
}
