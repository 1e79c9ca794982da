//! The queue: claims, control from outside, limits, notifications, and processes that die.

pub(crate) mod chaos;
mod claims;
mod control;
mod direct;
mod fairness;
mod in_doubt;
mod kill;
mod leases;
mod queue_limit;
mod shared;
mod sharing;
mod webhooks;
