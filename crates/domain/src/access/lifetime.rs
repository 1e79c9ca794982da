//! From when until when a key opens.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// The times that decide whether a key opens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLifetime {
    /// It opens until then; `None` for ever.
    pub expires_at: Option<OffsetDateTime>,
    /// It was taken back then.
    pub revoked_at: Option<OffsetDateTime>,
    /// The secret before the last rotation opens until then.
    pub grace_until: Option<OffsetDateTime>,
}

/// Whether a key opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// It opens.
    Valid,
    /// It opens, and so does the secret that it had before its rotation.
    InGrace,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
}

impl KeyLifetime {
    /// The state at a time.
    #[must_use]
    pub fn state(&self, now: OffsetDateTime) -> KeyState {
        if self.revoked_at.is_some() {
            KeyState::Revoked
        } else if self.expires_at.is_some_and(|end| end <= now) {
            KeyState::Expired
        } else if self.grace_until.is_some_and(|end| now < end) {
            KeyState::InGrace
        } else {
            KeyState::Valid
        }
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    #[test]
    fn each_end_is_exclusive_and_revocation_outlasts_all() {
        let now = OffsetDateTime::UNIX_EPOCH + Duration::days(1);
        let (before, after) = (now - Duration::SECOND, now + Duration::SECOND);
        let state =
            |expires_at, revoked_at, grace_until| KeyLifetime { expires_at, revoked_at, grace_until }.state(now);
        assert_eq!(state(None, None, None), KeyState::Valid);
        assert_eq!(state(Some(after), None, Some(now)), KeyState::Valid);
        assert_eq!(state(Some(after), None, Some(after)), KeyState::InGrace);
        assert_eq!(state(Some(now), None, Some(after)), KeyState::Expired);
        assert_eq!(state(Some(before), Some(before), None), KeyState::Revoked);
        assert_eq!(state(None, Some(after), Some(after)), KeyState::Revoked);
    }
}
