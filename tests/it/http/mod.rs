//! The HTTP surface that all routes share: the contract, problem documents, repeated and excessive requests.

mod contract;
mod errors;
mod forms;
mod mcp;
mod openai;
mod page;
mod requests;
