//! Tenants kept apart, and documents and questions that attack.

mod injection;
mod isolation;
