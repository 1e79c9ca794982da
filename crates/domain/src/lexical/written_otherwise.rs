//! Words of a question as tables and notices write them: "Ext." for the extension, "Daily" for every day, "Weight (kg)" for how
//! heavy something is. English only.

/// Words and their usual abbreviations.
const ABBREVIATED: [(&str, &[&str]); 17] = [
    ("appointment", &["appt"]),
    ("approximately", &["approx"]),
    ("average", &["avg"]),
    ("department", &["dept"]),
    ("extension", &["ext"]),
    ("government", &["govt"]),
    ("hours", &["hrs"]),
    ("international", &["intl"]),
    ("management", &["mgmt"]),
    ("manager", &["mgr"]),
    ("maximum", &["max"]),
    ("minimum", &["min"]),
    ("quantity", &["qty"]),
    ("reference", &["ref"]),
    ("phone", &["tel"]),
    ("telephone", &["tel"]),
    ("wifi", &["wi-fi"]),
];

/// Units of time, and how often something is that is once in each.
const FREQUENCIES: [(&str, &[&str]); 8] = [
    ("day", &["daily"]),
    ("night", &["nightly"]),
    ("hour", &["hourly"]),
    ("week", &["weekly"]),
    ("fortnight", &["fortnightly", "biweekly"]),
    ("month", &["monthly"]),
    ("quarter", &["quarterly"]),
    ("year", &["yearly", "annual"]),
];

/// Words before the unit.
const EACH: [&str; 4] = ["each", "every", "once", "per"];

/// Adjectives of a question for a measure or for the most of it, and the names of what is measured.
const MEASURES: [(&str, &[&str]); 12] = [
    ("deep", &["depth"]),
    ("expensive", &["price", "cost"]),
    ("far", &["distance", "range"]),
    ("fast", &["speed"]),
    ("heavy", &["weight"]),
    ("high", &["height"]),
    ("hot", &["temperature"]),
    ("loud", &["noise"]),
    ("old", &["age"]),
    ("tall", &["height"]),
    ("thick", &["thickness"]),
    ("wide", &["width"]),
];

/// Superlatives, and the names of what is compared.
const SUPERLATIVES: [(&str, &[&str]); 17] = [
    ("biggest", &["size"]),
    ("cheapest", &["price", "cost"]),
    ("costliest", &["price", "cost"]),
    ("dearest", &["price", "cost"]),
    ("deepest", &["depth"]),
    ("fastest", &["speed"]),
    ("heaviest", &["weight"]),
    ("hottest", &["temperature"]),
    ("largest", &["size"]),
    ("lightest", &["weight"]),
    ("longest", &["length", "duration"]),
    ("oldest", &["age"]),
    ("priciest", &["price", "cost"]),
    ("slowest", &["speed"]),
    ("tallest", &["height"]),
    ("thickest", &["thickness"]),
    ("widest", &["width"]),
];

/// Other words for the last one of `words`, in lower case, which end with it: none for most.
pub(super) fn other_words(words: &[&str]) -> Vec<&'static str> {
    let (Some(word), before) = (words.last(), words.iter().rev().skip(1)) else { return Vec::new() };
    let before: Vec<&str> = before.take(2).copied().collect();
    let own = |table: &[(&str, &'static [&'static str])]| {
        table.iter().find(|(of, _)| of == word).map_or(&[][..], |(_, others)| *others).to_vec()
    };
    match before.as_slice() {
        [each, ..] if EACH.contains(each) => own(&FREQUENCIES),
        ["a" | "the", "once", ..] => own(&FREQUENCIES),
        ["how" | "least" | "most", ..] => own(&MEASURES),
        _ => {
            // "15 min" are minutes.
            let is_unit = before.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
            let is_short_for = |short: &[&str]| short.contains(word) && !is_unit;
            let in_full = ABBREVIATED.iter().filter(|(_, short)| is_short_for(short)).map(|(whole, _)| *whole);
            in_full.chain(own(&ABBREVIATED)).chain(own(&SUPERLATIVES)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_otherwise_in_tables() {
        let table: [(&[&str], &[&str]); 15] = [
            (&["the", "most", "expensive"], &["price", "cost"]),
            (&["the", "cheapest"], &["price", "cost"]),
            (&["an", "expensive"], &[]),
            (&["avg"], &["average"]),
            (&["whose", "extension"], &["ext"]),
            (&["the", "wifi"], &["wi-fi"]),
            (&["minimum"], &["min"]),
            (&["15", "min"], &[]),
            (&["phone"], &["tel"]),
            (&["done", "every", "day"], &["daily"]),
            (&["once", "a", "year"], &["yearly", "annual"]),
            (&["the", "day"], &[]),
            (&["how", "heavy"], &["weight"]),
            (&["a", "heavy"], &[]),
            (&[], &[]),
        ];
        for (words, expected) in table {
            assert_eq!(other_words(words), expected, "{words:?}");
        }
    }
}
