//! Names that a text defines, and what stands for them.

use std::collections::{HashMap, HashSet};

use super::{block::title_length, directive::name_of};

/// Targets, labels and substitutions of a text.
#[derive(Debug, Default)]
pub(super) struct Names<'t> {
    /// Names of targets, in small letters.
    targets: HashSet<String>,
    /// The title of the section that a label stands before.
    titles: HashMap<&'t str, &'t str>,
    /// Texts that replace names between bars.
    substitutions: HashMap<&'t str, &'t str>,
}

impl<'t> Names<'t> {
    pub(super) fn of(lines: &[&'t str]) -> Self {
        let mut names = Self::default();
        let mut labels: Vec<&str> = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let rest = lines.get(at..).unwrap_or_default();
            if let Some(target) = line.trim_start().strip_prefix(".. _") {
                let (name, url) = target.split_once(':').unwrap_or((target, ""));
                let name = name.trim_matches('`');
                names.targets.insert(name.to_lowercase());
                if url.is_empty() {
                    labels.push(name);
                }
            } else if let Some((name, text)) = substitution(line) {
                names.substitutions.insert(name, text);
            } else if title_length(rest).is_some() {
                let is_rule = |line: &&&str| line.chars().any(char::is_alphanumeric);
                let title = rest.iter().find(is_rule).map_or("", |title| title.trim());
                names.targets.insert(title.to_lowercase());
                names.titles.extend(labels.drain(..).map(|label| (label, title)));
            } else if !line.is_empty() {
                labels.clear();
            }
        }
        names
    }

    /// Whether a text refers to this name.
    pub(super) fn has_target(&self, name: &str) -> bool {
        self.targets.contains(&name.to_lowercase())
    }

    /// The title of the section behind a label.
    pub(super) fn title(&self, label: &str) -> Option<&'t str> {
        self.titles.get(label).copied()
    }

    /// The text that replaces a name.
    pub(super) fn substitution(&self, name: &str) -> Option<&'t str> {
        self.substitutions.get(name).copied()
    }
}

/// A name and the text that it stands for: `.. |name| replace:: text`.
pub(super) fn substitution(line: &str) -> Option<(&str, &str)> {
    let (name, markup) = line.strip_prefix(".. |")?.split_once("| ")?;
    let directive = name_of(markup)?;
    let text = markup.split_once("::").map_or("", |(_, text)| text.trim());
    // Of others, such as pictures, nothing is read.
    Some((name, if directive == "replace" { text } else { "" }))
}
