//! Tests of the citation domain from outside its modules: what they cannot reach, nobody can.

mod claim;
mod confirmation;
mod golden;
mod marker;
mod support;
mod urn;
mod validator;
mod verification;
