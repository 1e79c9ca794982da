//! The queue: claims, control from outside, limits, notifications, and processes that die.

pub mod chaos;
mod control;
mod kill;
mod leases;
mod queue_limit;
mod sharing;
mod webhooks;
