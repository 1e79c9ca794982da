//! Access: API keys, their scopes and their limits. Nothing here looks a key up or compares secrets.

mod acl;
mod grant;
mod key;
mod lifetime;
mod scope;

pub use acl::{Acl, AclChange, MAX_PRINCIPAL_CHARS, MAX_PRINCIPALS, MalformedPrincipal, Principal};
pub use grant::{Denied, Grant, Need};
pub use key::{KEY_ID_BYTES, KEY_PREFIX, KEY_SECRET_BYTES, MalformedKey, key_id, write_key, written_id};
pub use lifetime::{KeyLifetime, KeyState};
pub use scope::Scope;
