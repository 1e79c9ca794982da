//! Keys, scopes, collections and tenants.

mod keys;
mod matrix;
mod operations;
mod tenants;
mod world;
