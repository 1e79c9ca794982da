//! Whether a sentence ends at a full stop or another terminator.

use super::super::citation::marker::marker_length;

/// The use of capitals in the whole text, which decides how sentences are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A capital begins a sentence.
    Cased,
    /// The text has hardly any capitals (old abstracts, chats), so a small letter may begin a sentence.
    Caseless,
}

impl Style {
    pub(super) fn of(text: &str) -> Self {
        let capitals = text.bytes().filter(u8::is_ascii_uppercase).count();
        let small = text.bytes().filter(u8::is_ascii_lowercase).count();
        // English prose has about one capital in thirty letters.
        if small >= 20 && capitals * 200 < small { Self::Caseless } else { Self::Cased }
    }
}

/// The decision at a terminator.
pub(super) struct Boundary {
    /// Where the sentence ends, closing marks and citation markers included; `None` if it goes on.
    pub(super) ends_at: Option<usize>,
    /// Byte at which to continue the search if the sentence goes on.
    pub(super) resume: usize,
}

/// Sentence ends of scripts that put no space after them.
const UNSPACED: [char; 6] = ['。', '！', '？', '｡', '‼', '⁇'];

/// Opening marks that may stand before the first letter of a sentence.
const OPENERS: [char; 20] =
    ['(', '[', '{', '"', '\'', '“', '‘', '«', '„', '¿', '¡', '*', '_', '`', '#', '-', '–', '—', '•', '\\'];

/// Abbreviations that are never the last word of a sentence.
const NEVER_LAST: [&str; 48] = [
    "adm", "approx", "brig", "capt", "cf", "cmdr", "col", "dr", "e.g", "eg", "esp", "gen", "gov", "hon", "i.e", "ie",
    "incl", "lt", "maj", "messrs", "mlle", "mm", "mme", "mr", "mrs", "ms", "mt", "mx", "pres", "prof", "rep", "resp",
    "rev", "sen", "sgt", "supt", "viz", "vs", "z.b", "d.h", "bzw", "ca", "op", "v", "vgl", "mio", "mrd", "tsd",
];

/// Abbreviations that are the last word only if no number follows.
const BEFORE_NUMBER: [&str; 44] = [
    "abs", "ziff", "apr", "art", "arts", "aug", "ch", "chap", "dec", "eq", "eqs", "ex", "ext", "fax", "mob", "tel",
    "feb", "fig", "figs", "jan", "jul", "jun", "mar", "max", "no", "nos", "nov", "nr", "oct", "p", "para", "paras",
    "pp", "pt", "ref", "refs", "sec", "secs", "sep", "sept", "tab", "ver", "vol", "vols",
];

/// Abbreviations that are the last word only if the next one is a usual first word, because a name may follow as well.
const BEFORE_NAME: [&str; 22] = [
    "al", "assn", "ave", "blvd", "bros", "co", "corp", "dept", "ed", "est", "inc", "jr", "ltd", "plc", "rd", "sr",
    "st", "univ", "dist", "fr", "arr", "dep",
];

/// Most characters of any of these.
const LONGEST_ABBREVIATION: usize = 6;

/// Words that often begin a sentence and are hardly ever part of a name.
const STARTERS: [&str; 66] = [
    "a", "after", "all", "also", "although", "an", "and", "another", "as", "at", "because", "before", "both", "but",
    "by", "do", "does", "each", "every", "for", "from", "he", "her", "his", "how", "however", "i", "if", "in", "is",
    "it", "its", "many", "most", "my", "no", "not", "on", "or", "our", "she", "since", "so", "some", "such", "that",
    "the", "their", "then", "there", "these", "they", "this", "those", "though", "thus", "to", "we", "what", "when",
    "where", "which", "while", "who", "with", "you",
];

/// German words before an ordinal, which no English sentence has before the number at its end.
const BEFORE_ORDINAL: [&str; 15] =
    ["ab", "beim", "dem", "der", "des", "einem", "einer", "eines", "im", "jedem", "jeden", "seit", "vom", "zum", "zur"];

/// The months of German dates, abbreviated ones included. An English sentence that ends with such a number seldom has one
/// after it that begins with a month.
const GERMAN_MONTHS: [&str; 22] = [
    "januar",
    "jänner",
    "februar",
    "feber",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
    "jan",
    "feb",
    "mär",
    "apr",
    "aug",
    "sep",
    "okt",
    "dez",
];

pub(super) fn is_terminator(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '؟' | '।' | '۔') || UNSPACED.contains(&character)
}

fn is_closer(character: char) -> bool {
    matches!(
        character,
        '"' | '\'' | '”' | '’' | '»' | ')' | ']' | '}' | '*' | '_' | '`' | '」' | '』' | '）' | '】' | '》'
    )
}

fn first(text: &str) -> Option<char> {
    text.chars().next()
}

/// Decides on the terminator at byte `at` of the sentence that began at `start`.
pub(super) fn boundary_after(text: &str, start: usize, at: usize, end: usize, style: Style) -> Boundary {
    let rest = text.get(at..end).unwrap_or_default();
    let run_length = rest.len() - rest.trim_start_matches(is_terminator).len();
    let run = rest.get(..run_length).unwrap_or_default();
    let (tail_length, has_marker) = tail(rest.get(run_length..).unwrap_or_default());
    let stop = at + run_length + tail_length;
    let goes_on = Boundary { ends_at: None, resume: stop };
    let ends = Boundary { ends_at: Some(stop), resume: stop };

    let after = text.get(stop..end).unwrap_or_default();
    let next = after.trim_start();
    if next.is_empty() || run.contains(UNSPACED) {
        return ends;
    }
    let spaced = next.len() < after.len();
    let word = opened_word(next);
    let Some(letter) = first(word) else {
        return ends;
    };
    if has_marker {
        let begins = spaced || letter.is_uppercase() || OPENERS.contains(&letter);
        return if begins && !first(next).is_some_and(|sign| matches!(sign, ',' | ';' | ':')) { ends } else { goes_on };
    }
    if !spaced {
        return goes_on;
    }
    if letter.is_lowercase() {
        // "iPhone" and "eBay" begin sentences in spite of their small letter.
        let is_brand = word.chars().nth(1).is_some_and(char::is_uppercase);
        if style == Style::Cased && !is_brand {
            return goes_on;
        }
    }
    if run.chars().count() > 1 || run == "…" {
        let trails_off = run.chars().all(|sign| sign == '.' || sign == '…');
        // "-10 … +50": a range.
        let begins_number = word.trim_start_matches(['+', '-', '−', '±']).starts_with(char::is_numeric);
        return if trails_off && begins_number { goes_on } else { ends };
    }
    if run == "." && is_ordinal(text.get(start..at).unwrap_or_default(), word) {
        return goes_on;
    }
    if run == "." && is_abbreviation(text.get(start..at).unwrap_or_default(), word, style) {
        return goes_on;
    }
    ends
}

/// Bytes of closing marks and citation markers after a terminator, and whether a marker was there.
fn tail(rest: &str) -> (usize, bool) {
    let mut at = 0;
    let mut has_marker = false;
    loop {
        let here = rest.get(at..).unwrap_or_default();
        let close = |sign: char| is_closer(sign) || has_marker && is_terminator(sign);
        let closers = here.len() - here.trim_start_matches(close).len();
        let after = here.get(closers..).unwrap_or_default();
        let next = after.trim_start();
        let listed = match next.strip_prefix([',', ';']) {
            Some(listed) if has_marker => listed.trim_start(),
            _ => next,
        };
        at += closers;
        let Some(length) = marker_length(listed) else {
            return (at, has_marker);
        };
        at += after.len() - listed.len() + length;
        has_marker = true;
    }
}

/// The text after up to eight opening marks.
fn opened_word(next: &str) -> &str {
    let marks: usize = next.chars().take(8).take_while(|sign| OPENERS.contains(sign)).map(char::len_utf8).sum();
    next.get(marks..).unwrap_or_default()
}

/// Whether the full stop after `before` marks an abbreviation, an initial or a number of a list.
fn is_abbreviation(before: &str, next: &str, style: Style) -> bool {
    let tail_start = before.char_indices().rev().take(24).last().map_or(0, |(at, _)| at);
    let near = before.get(tail_start..).unwrap_or_default();
    let in_word = |sign: char| sign.is_alphanumeric() || matches!(sign, '.' | '\'' | '’' | '&');
    let word = near.get(near.trim_end_matches(in_word).len()..).unwrap_or_default();
    let Some(initial) = first(word) else {
        return false;
    };
    let opens = before.len() == word.len();
    let one_letter = initial.is_alphabetic() && word.len() == initial.len_utf8();
    let is_number = word.chars().all(|sign| sign.is_ascii_digit());
    if opens && (one_letter || is_number && word.len() <= 3 || is_roman(word)) {
        return true;
    }
    let is_long = !word.contains('.') && word.chars().count() > LONGEST_ABBREVIATION;
    if is_number || is_long {
        return false;
    }
    let lower = word.to_lowercase();
    let lower = lower.as_str();
    let number_follows = first(next).is_some_and(char::is_numeric);
    if NEVER_LAST.contains(&lower) {
        return true;
    }
    if BEFORE_NUMBER.contains(&lower) && (number_follows || begins_with_number_in_signs(next)) {
        return true;
    }
    // "min. 5 litres", but "It takes 45 min. 30 people came."
    let counts = || before.trim_end_matches(word).trim_end().ends_with(|sign: char| sign.is_ascii_digit());
    if lower == "min" && number_follows {
        return !counts();
    }
    if matches!(lower, "a.m" | "p.m" | "etc") {
        return style == Style::Caseless && !begins_usually(next);
    }
    let dotted = lower.contains('.') && lower.split('.').all(|part| part.chars().count() == 1);
    let is_initial = one_letter && (initial.is_uppercase() || number_follows || style == Style::Caseless);
    (dotted || is_initial || lower == "ph.d" || BEFORE_NAME.contains(&lower)) && !begins_usually(next)
}

/// Whether a text begins with a number of letters and digits: `M6-11872`.
fn begins_with_number_in_signs(next: &str) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    let is_sign = |sign: char| sign.is_ascii_uppercase() || sign.is_ascii_digit() || "-/.,;)".contains(sign);
    word.starts_with(|sign: char| sign.is_ascii_uppercase())
        && word.contains(|sign: char| sign.is_ascii_digit())
        && word.chars().all(is_sign)
}

/// Whether the full stop after `before` makes an ordinal of a number, as in "am 31. März" and "im 3. Stock" (German).
fn is_ordinal(before: &str, next: &str) -> bool {
    let rest = before.trim_end_matches(|sign: char| sign.is_ascii_digit());
    if !(1..=2).contains(&(before.len() - rest.len())) {
        return false;
    }
    let follows: String = next.chars().take_while(|sign| sign.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let before = rest.split_whitespace().next_back().filter(|_| rest.ends_with(' ')).unwrap_or_default().to_lowercase();
    let is_determined = BEFORE_ORDINAL.contains(&before.as_str()) && !begins_usually(next);
    GERMAN_MONTHS.contains(&follows.as_str()) || is_determined
}

fn is_roman(word: &str) -> bool {
    word.len() <= 4 && word.chars().all(|sign| matches!(sign, 'i' | 'v' | 'x' | 'I' | 'V' | 'X'))
}

fn begins_usually(next: &str) -> bool {
    let word: String =
        next.chars().take(10).take_while(|sign| sign.is_alphabetic()).flat_map(char::to_lowercase).collect();
    STARTERS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_abbreviation_is_longer_than_said() {
        let listed = NEVER_LAST.iter().chain(&BEFORE_NUMBER).chain(&BEFORE_NAME);
        let longest = listed.filter(|word| !word.contains('.')).map(|word| word.chars().count()).max();
        assert_eq!(longest, Some(LONGEST_ABBREVIATION));
    }
}
