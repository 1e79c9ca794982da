//! Audit rows, cached answers and the cost of a day.

pub(in crate::store) mod audit;
pub(in crate::store) mod cache;
pub(in crate::store) mod usage;

pub(crate) use audit::{AuditCitation, AuditFilter, AuditGrade, AuditRow};
pub(crate) use cache::{CachedState, NewCachedAnswer};
pub(crate) use usage::DailyReservation;

use crate::store::Store;

/// Audit rows, cached answers and the cost of a day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asks<'s> {
    pub(in crate::store) store: &'s Store,
}
