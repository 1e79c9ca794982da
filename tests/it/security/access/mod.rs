//! Keys, scopes, collections, tenants and limits.

mod acl;
mod acl_graphs;
mod events;
mod forgery;
mod guesses;
mod issuer;
mod kept_passages;
mod keys;
mod limits;
mod matrix;
mod noninterference;
mod operations;
mod quotas;
mod record;
mod repeats;
mod storage;
mod streams;
mod tenants;
mod tokens;
mod turns;
mod unseen;
mod world;
