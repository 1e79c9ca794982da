//! Other spellings of a word, so that an index finds it as its readers write it.
//!
//! - `max_retry_count` gives its parts and the whole: a query for the whole identifier means that;
//! - `parseHeader` gives the whole and its parts;
//! - `5kg` also gives `5` and `kg`, as `5 kg` does;
//! - `e-mail` also gives `email`;
//! - `-z` also gives `z`.
//!
//! Joining other hyphenated words (`high-speed` as `highspeed`) was tried and rejected: their parts stand
//! side by side anyway, and the rare joined term favours documents that hyphenate, at a cost of 0.005
//! nDCG@10 on Cranfield.

use std::ops::Range;

/// Units that are written without a space before them. Single letters are left out but for those of
/// common measures: `5s` is as often a plural.
const UNITS: [&str; 44] = [
    "kg", "mg", "km", "cm", "mm", "nm", "ms", "ns", "min", "gb", "mb", "kb", "tb", "hz", "khz", "mhz", "ghz", "kw",
    "mw", "kv", "mv", "ma", "mah", "wh", "kwh", "pa", "kpa", "mpa", "bar", "ml", "kn", "kj", "lb", "lbs", "oz", "ft",
    "mph", "kmh", "px", "dpi", "eur", "usd", "gib", "mib",
];

/// Hyphens and the minus sign, which typeset manuals have in its place.
const HYPHENS: [char; 4] = ['-', '\u{2010}', '\u{2011}', '\u{2212}'];

/// Signs that may stand right before an option.
const OPENING_SIGNS: [char; 12] = ['(', '[', '{', '<', ',', '/', '|', '=', '*', '"', '\'', '`'];

/// Shortest part of a word with capitals inside: `McDonald` and `iPhone` are no identifiers.
const SHORTEST_PART: usize = 3;

/// Number and unit of a word like `5kg`, in lower case.
pub(super) fn number_and_unit(word: &str) -> Option<(&str, &str)> {
    let end = word.find(|character: char| !character.is_ascii_digit() && character != '.' && character != ',')?;
    let (number, unit) = word.split_at_checked(end)?;
    (number.starts_with(|first: char| first.is_ascii_digit()) && UNITS.contains(&unit)).then_some((number, unit))
}

/// Parts of a word with capitals inside, in the case they are written in; none of a plain word.
pub(super) fn capitalised_parts(raw: &str) -> Vec<&str> {
    let bytes = raw.as_bytes();
    if !raw.is_ascii() || !bytes.iter().skip(1).any(u8::is_ascii_uppercase) {
        return Vec::new();
    }
    let is_cut = |place: &usize| {
        let before = place.checked_sub(1).and_then(|before| bytes.get(before));
        matches!(
            (before, bytes.get(*place), bytes.get(place + 1)),
            // The last capital of a run begins the next word: `HTTPServer`.
            (Some(b'a'..=b'z'), Some(b'A'..=b'Z'), _) | (Some(b'A'..=b'Z'), Some(b'A'..=b'Z'), Some(b'a'..=b'z'))
        )
    };
    let mut parts = Vec::new();
    let mut start = 0;
    for cut in (1..bytes.len()).filter(is_cut).chain([bytes.len()]) {
        parts.push(raw.get(start..cut).unwrap_or_default());
        start = cut;
    }
    if parts.len() > 1 && parts.iter().all(|part| part.len() >= SHORTEST_PART) { parts } else { Vec::new() }
}

/// The letter that a hyphen ties to the word at `start`, as in `e-mail`.
pub(super) fn letter_before(text: &str, start: usize) -> Option<char> {
    let mut before = text.get(..start)?.chars().rev();
    let is_hyphen = matches!(before.next()?, '-' | '\u{2010}' | '\u{2011}');
    let letter = before.next().filter(char::is_ascii_alphabetic)?;
    let is_alone = before.next().is_none_or(|character| !character.is_alphanumeric() && character != '-');
    (is_hyphen && is_alone).then_some(letter.to_ascii_lowercase())
}

/// Where the hyphen of an option of one letter or digit stands: that of `-z` in `tar -z` or `[-z]`.
pub(super) fn hyphen_of_option(text: &str, word: Range<usize>) -> Option<usize> {
    if word.len() != 1 || !text.as_bytes().get(word.start)?.is_ascii_alphanumeric() {
        return None;
    }
    let (hyphen, _) = text.get(..word.start)?.char_indices().next_back().filter(|(_, sign)| HYPHENS.contains(sign))?;
    let before = text.get(..hyphen)?.chars().next_back();
    before.is_none_or(|sign| sign.is_whitespace() || OPENING_SIGNS.contains(&sign)).then_some(hyphen)
}
