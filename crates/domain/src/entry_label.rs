//! Labels of the entries of manuals, before a colon: `-f, --force: …`, `work_mem (integer): …`.

/// Longest label, in bytes.
const LONGEST: usize = 60;

/// Labels of remarks, and of what is said about an entry, in lower case: they name none.
const FIELDS: [&str; 22] = [
    "added",
    "added in",
    "caution",
    "changed",
    "default",
    "default value",
    "defaults",
    "deprecated",
    "example",
    "examples",
    "hint",
    "important",
    "introduced",
    "note",
    "notes",
    "required",
    "see also",
    "since",
    "tip",
    "type",
    "values",
    "warning",
];

/// The label that a text begins with: an option, or one word with what stands in brackets behind it.
pub(crate) fn entry_label(text: &str) -> Option<&str> {
    let (label, _) = text.lines().next()?.split_once(": ")?;
    let mut words = label.split_whitespace();
    let is_name = words.next().is_some() && words.next().is_none_or(|next| next.starts_with('('));
    (label.len() <= LONGEST && (is_name || label.starts_with('-'))).then_some(label)
}

/// Whether a label is that of a remark, or of something that is said about an entry.
pub(crate) fn is_field(label: &str) -> bool {
    FIELDS.contains(&label.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_options_or_names() {
        for (text, expected) in [
            ("-f, --force FILE: Overwrites it.\nAnd more: text", Some("-f, --force FILE")),
            ("work_mem (integer): Sets it.", Some("work_mem (integer)")),
            ("Note: It is set.", Some("Note")),
            ("Two words: no label", None),
            ("No label", None),
            ("work_mem\nthe next line: is none", None),
            ("", None),
        ] {
            assert_eq!(entry_label(text), expected, "{text}");
        }
        assert!(is_field("Note") && is_field("Since") && !is_field("work_mem"));
    }
}
