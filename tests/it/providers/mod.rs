//! Model servers: what is sent to them, what they may reply, and how they fail.

mod bad_behaviour;
mod broken;
mod chat_stream;
mod clients;
mod faults;
mod proxy;
mod roles;
