//! Cells that say "closed" where others have hours. English, German and French.

use crate::wording::{has_digit, lower_case_words};

/// Words of cells and texts, in lower case.
const CLOSED: [&str; 5] = ["close", "closed", "fermé", "fermée", "geschlossen"];
const OPEN: [&str; 6] = ["geöffnet", "offen", "open", "opens", "ouvert", "ouverte"];

/// Whether a text with these words in lower case is about what is closed; `None` of one that is not about what is open either.
pub(crate) fn is_about_closed<W: AsRef<str>>(words: &[W]) -> Option<bool> {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_ref()));
    match (has(&CLOSED), has(&OPEN)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Whether a cell says that something is closed; `None` of one that neither says so nor has hours.
pub(crate) fn is_closed(cell: &str) -> Option<bool> {
    let first = lower_case_words(cell).next()?;
    if CLOSED.contains(&first.as_str()) { Some(true) } else { has_digit(cell).then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_have_hours_or_are_closed() {
        for (cell, expected) in [
            ("closed", Some(true)),
            ("Geschlossen (Umbau)", Some(true)),
            ("9:00–17:00", Some(false)),
            ("by appointment", None),
            ("", None),
        ] {
            assert_eq!(is_closed(cell), expected, "{cell}");
        }
        assert_eq!(is_about_closed(&["which", "shop", "is", "open"]), Some(false));
        assert_eq!(is_about_closed(&["is", "it", "open", "or", "closed"]), None);
    }
}
