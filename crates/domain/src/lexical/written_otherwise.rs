//! Words of a question as tables and notices write them: "Ext." for the extension, "Daily" for every day, "Weight (kg)" for how
//! heavy something is. English only.

/// Words and their usual abbreviations.
const ABBREVIATED: [(&str, &[&str]); 20] = [
    ("appointment", &["appt"]),
    ("approximately", &["approx"]),
    ("average", &["avg"]),
    ("department", &["dept"]),
    ("dollars", &["usd"]),
    ("euros", &["eur"]),
    ("extension", &["ext"]),
    ("government", &["govt"]),
    ("hours", &["hrs"]),
    ("international", &["intl"]),
    ("management", &["mgmt"]),
    ("manager", &["mgr"]),
    ("maximum", &["max"]),
    ("minimum", &["min"]),
    ("pounds", &["gbp"]),
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

/// A measure as it is asked for, and its names in a table.
struct Measure {
    /// After "how", "most" or "least".
    adjectives: &'static [&'static str],
    superlatives: &'static [&'static str],
    names: &'static [&'static str],
}

const MEASURES: [Measure; 13] = [
    Measure { adjectives: &["deep"], superlatives: &["deepest"], names: &["depth"] },
    Measure {
        adjectives: &["expensive"],
        superlatives: &["cheapest", "costliest", "dearest", "priciest"],
        names: &["price", "cost"],
    },
    Measure { adjectives: &["far"], superlatives: &[], names: &["distance", "range"] },
    Measure { adjectives: &["fast"], superlatives: &["fastest", "slowest"], names: &["speed"] },
    Measure { adjectives: &["heavy"], superlatives: &["heaviest", "lightest"], names: &["weight"] },
    Measure { adjectives: &["high", "tall"], superlatives: &["tallest"], names: &["height"] },
    Measure { adjectives: &["hot"], superlatives: &["hottest"], names: &["temperature"] },
    Measure { adjectives: &["loud"], superlatives: &[], names: &["noise"] },
    Measure { adjectives: &["old"], superlatives: &["oldest"], names: &["age"] },
    Measure { adjectives: &["thick"], superlatives: &["thickest"], names: &["thickness"] },
    Measure { adjectives: &["wide"], superlatives: &["widest"], names: &["width"] },
    Measure { adjectives: &[], superlatives: &["biggest", "largest"], names: &["size"] },
    Measure { adjectives: &[], superlatives: &["longest"], names: &["length", "duration"] },
];

/// Other words for the last one of `words`, in lower case, which end with it: none for most.
pub(super) fn other_words(words: &[&str]) -> Vec<&'static str> {
    let (Some(word), before) = (words.last(), words.iter().rev().skip(1)) else { return Vec::new() };
    let before: Vec<&str> = before.take(2).copied().collect();
    let own = |table: &[(&str, &'static [&'static str])]| {
        table.iter().find(|(of, _)| of == word).map_or(&[][..], |(_, others)| *others).to_vec()
    };
    let names_of = |asked: fn(&Measure) -> &'static [&'static str]| {
        MEASURES.iter().find(|measure| asked(measure).contains(word)).map_or(&[][..], |measure| measure.names).to_vec()
    };
    match before.as_slice() {
        [each, ..] if EACH.contains(each) => own(&FREQUENCIES),
        ["a" | "the", "once", ..] => own(&FREQUENCIES),
        ["how" | "least" | "most", ..] => names_of(|measure| measure.adjectives),
        _ => {
            // "15 min" are minutes.
            let is_unit = before.first().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
            let is_short_for = |short: &[&str]| short.contains(word) && !is_unit;
            let in_full = ABBREVIATED.iter().filter(|(_, short)| is_short_for(short)).map(|(whole, _)| *whole);
            in_full.chain(own(&ABBREVIATED)).chain(names_of(|measure| measure.superlatives)).collect()
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
