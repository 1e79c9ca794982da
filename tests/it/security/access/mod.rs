//! Keys, scopes, collections, tenants and limits.

mod keys;
mod limits;
mod matrix;
mod operations;
mod tenants;
mod world;
