//! Tenants kept apart, and documents and questions that attack.

mod access;
mod connections;
mod cross_origin;
mod injection;
mod isolation;
pub(crate) mod statements;
mod transport;
