//! Tests of the citation domain through its public interface only.

mod claim;
mod confirmation;
mod golden;
mod marker;
mod support;
mod urn;
mod validator;
mod verification;
