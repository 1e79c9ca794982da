//! Labels of the entries of manuals, before a colon: `-f, --force: …`, `work_mem (integer): …`.

use crate::wording::bare;

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

/// The number of a code before a dash, as lists of them have it ("24 - Partial transfer"), or as code before its name ("`9`
/// **Invalid argument**").
pub(crate) fn code_label(text: &str) -> Option<&str> {
    let mut words = text.split_whitespace();
    let (label, next) = (words.next()?, words.next()?);
    let number = label.trim_matches('`');
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let names = matches!(next, "-" | "–" | "—" | "--") || number.len() < label.len() && next.starts_with("**");
    (is_number && names).then_some(number)
}

/// Whether a word is written like a name in code: `max_connections`, `ServerAliveCountMax`.
pub(crate) fn is_code_name(word: &str) -> bool {
    let has_inner_capital =
        word.chars().zip(word.chars().skip(1)).any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    has_inner_capital || word.trim_matches('_').contains('_')
}

/// Whether a word is written as names of settings and values are, and as no first word of a sentence is.
pub(crate) fn is_written_as_name(word: &str) -> bool {
    let is_in_capitals = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    is_in_capitals || is_code_name(word) || word.starts_with(char::is_lowercase)
}

/// Whether a text has the entry of one of these names: a line that begins with it as its label, or one of such names alone, as
/// in `HandleLidSwitch=, HandleLidSwitchDocked=`.
pub(crate) fn holds_entry_named(text: &str, names: &[String]) -> bool {
    let is_one = |word: &str| names.iter().any(|name| name.eq_ignore_ascii_case(bare(word)));
    let is_sign = |word: &str| word.ends_with(['=', ',']) || is_code_name(bare(word));
    let begins = |line: &str| match entry_label(line).or_else(|| code_label(line)) {
        Some(label) => label.split_whitespace().next().is_some_and(is_one),
        None => line.split_whitespace().all(is_sign) && line.split_whitespace().any(is_one),
    };
    !names.is_empty() && lines(text).any(begins)
}

/// The number of lines of a text that are entries of codes.
pub(crate) fn entries_of_codes(text: &str) -> usize {
    let is_number = |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit());
    let label = |line: &str| code_label(line).or_else(|| entry_label(line).map(bare)).is_some_and(is_number);
    lines(text).filter(|line| label(line)).count()
}

/// The lines of a text without the marks of lists.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.trim_start_matches(['-', '*', '•', ' ']))
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
        let page =
            "port (integer): The port.\n\nmax_jars (integer): At most hidden_jars.\n\nOpenLid=, CloseLid=\n\nMoves it.";
        for (name, expected) in
            [("max_jars", true), ("Max_Jars", true), ("hidden_jars", false), ("CloseLid", true), ("jars", false)]
        {
            assert_eq!(holds_entry_named(page, &[name.to_owned()]), expected, "{name}");
        }
        assert!(!holds_entry_named(page, &[]));
        assert!(holds_entry_named("Codes:\n\n- 23 - Partial.\n- 24 - Vanished.", &["24".to_owned()]));
        assert!(!holds_entry_named("24 jars - and a lid", &["24".to_owned()]));
        assert!(holds_entry_named("* 23 -- Partial.\n* 24 -- Vanished.", &["24".to_owned()]));
        assert!(holds_entry_named("* `8`: Unused.\n* `9` **Invalid Argument**: Unknown.", &["9".to_owned()]));
        assert!(holds_entry_named("* `8`: Unused.\n* `9` **Invalid Argument**: Unknown.", &["8".to_owned()]));
        assert!(!holds_entry_named("* `9` is a number.\n* 9 **jars**", &["9".to_owned()]));
        assert_eq!(
            entries_of_codes("Codes:\n\n* 0 -- Well.\n* `8`: Unused.\n* `9` **Invalid**\n9 jars: full\n10: Late."),
            4
        );
        assert!(is_field("Note") && is_field("Since") && !is_field("work_mem"));
    }
}
