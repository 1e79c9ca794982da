//! Variables that look like settings and are none.

use std::{collections::BTreeSet, fmt};

/// Beginning of the names of all settings but those of the database.
const PREFIX: &str = "CITED_";
/// Most letters in which a misspelt name differs from the one that was meant.
const MOST_EDITS: usize = 3;
/// Variables of this project that are not settings of the service: of its compose file, and where the configuration is.
const OTHERS: [&str; 2] = ["CITED_PORT", super::FILE_VARIABLE];

/// A variable of the environment that is named like a setting and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownVariable {
    name: String,
    /// The setting with the most similar name.
    meant: Option<String>,
}

impl UnknownVariable {
    /// Finds the unknown among the variables, given the names of all settings.
    pub(super) fn among<'v>(variables: impl Iterator<Item = &'v String>, settings: &BTreeSet<String>) -> Vec<Self> {
        let is_unknown =
            |name: &&String| name.starts_with(PREFIX) && !settings.contains(*name) && !OTHERS.contains(&name.as_str());
        variables.filter(is_unknown).map(|name| Self { name: name.clone(), meant: nearest(name, settings) }).collect()
    }
}

impl fmt::Display for UnknownVariable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, meant } = self;
        match meant {
            Some(meant) => write!(formatter, "{name} is not a setting and has no effect; did you mean {meant}?"),
            None => write!(formatter, "{name} is not a setting and has no effect; remove it"),
        }
    }
}

/// The name that a misspelt one was probably meant to be.
pub(super) fn nearest(name: &str, known: &BTreeSet<String>) -> Option<String> {
    let distances = known.iter().map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate));
    distances.filter(|(edits, _)| *edits <= MOST_EDITS).min().map(|(_, candidate)| candidate.clone())
}
