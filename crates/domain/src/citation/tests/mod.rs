//! Tests of the citation domain through its public interface only.

mod claim;
mod contradiction;
mod exempt;
mod golden;
mod marker;
mod other_things;
mod streaming;
mod support;
mod tables_and_figures;
mod urn;
mod validator;
mod verification;
