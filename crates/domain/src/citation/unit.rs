//! Units of numbers, so that 5 km is not held for 5 miles.

use super::term::{Term, TermKind};
use crate::wording::lower_case;

/// A unit in one spelling.
pub(super) type Unit = &'static str;

/// The "unit" of a day of a month: "31 March" says nothing of 31 days.
pub(super) const DATE: Unit = "date";

/// Signs before a number.
const SIGNS_BEFORE: [(char, Unit); 4] = [('$', "dollar"), ('€', "euro"), ('£', "pound"), ('¥', "yen")];

/// Signs after a number.
const SIGNS_AFTER: [(char, Unit); 3] = [('%', "percent"), ('°', "degree"), ('€', "euro")];

/// Words after a number, in lower case, and the unit that they name.
const WORDS: [(&str, Unit); 109] = [
    ("acre", "acre"),
    ("acres", "acre"),
    ("bar", "bar"),
    ("bytes", "byte"),
    ("cent", "cent"),
    ("centimeters", "cm"),
    ("centimetres", "cm"),
    ("cents", "cent"),
    ("centuries", "century"),
    ("century", "century"),
    ("chf", "franc"),
    ("cm", "cm"),
    ("day", "day"),
    ("days", "day"),
    ("decade", "decade"),
    ("decades", "decade"),
    ("degree", "degree"),
    ("degrees", "degree"),
    ("dollar", "dollar"),
    ("dollars", "dollar"),
    ("eur", "euro"),
    ("euro", "euro"),
    ("euros", "euro"),
    ("feet", "foot"),
    ("foot", "foot"),
    ("franc", "franc"),
    ("francs", "franc"),
    ("ft", "foot"),
    ("g", "g"),
    ("gb", "gb"),
    ("gbp", "pound"),
    ("ghz", "ghz"),
    ("grams", "g"),
    ("h", "hour"),
    ("hectares", "hectare"),
    ("hour", "hour"),
    ("hours", "hour"),
    ("hr", "hour"),
    ("hrs", "hour"),
    ("hz", "hz"),
    ("inch", "inch"),
    ("inches", "inch"),
    ("jahr", "year"),
    ("jahre", "year"),
    ("jahren", "year"),
    ("kg", "kg"),
    ("kilograms", "kg"),
    ("kilometers", "km"),
    ("kilometres", "km"),
    ("km", "km"),
    ("kw", "kw"),
    ("kwh", "kwh"),
    ("lb", "pound"),
    ("liter", "litre"),
    ("liters", "litre"),
    ("litre", "litre"),
    ("litres", "litre"),
    ("m", "m"),
    ("mb", "mb"),
    ("meters", "m"),
    ("metres", "m"),
    ("mg", "mg"),
    ("mhz", "mhz"),
    ("mi", "mile"),
    ("mile", "mile"),
    ("miles", "mile"),
    ("min", "minute"),
    ("mins", "minute"),
    ("minute", "minute"),
    ("minuten", "minute"),
    ("minutes", "minute"),
    ("ml", "ml"),
    ("mm", "mm"),
    ("monat", "month"),
    ("monate", "month"),
    ("monaten", "month"),
    ("month", "month"),
    ("months", "month"),
    ("mph", "mph"),
    ("ms", "ms"),
    ("night", "night"),
    ("nights", "night"),
    ("nm", "nm"),
    ("per", "percent"),
    ("percent", "percent"),
    ("pound", "pound"),
    ("pounds", "pound"),
    ("sec", "second"),
    ("second", "second"),
    ("seconds", "second"),
    ("secs", "second"),
    ("sekunde", "second"),
    ("sekunden", "second"),
    ("stunde", "hour"),
    ("stunden", "hour"),
    ("tag", "day"),
    ("tage", "day"),
    ("tagen", "day"),
    ("tb", "tb"),
    ("ton", "ton"),
    ("tonnes", "tonne"),
    ("tons", "ton"),
    ("usd", "dollar"),
    ("week", "week"),
    ("weeks", "week"),
    ("woche", "week"),
    ("wochen", "week"),
    ("year", "year"),
    ("years", "year"),
];

/// Whether a word names a unit.
pub(crate) fn is_unit(word: &str) -> bool {
    unit_named(&lower_case(word)).is_some()
}

/// The unit that a word in lower case names.
pub(super) fn unit_named(word: &str) -> Option<Unit> {
    let place = WORDS.binary_search_by(|(known, _)| (*known).cmp(word)).ok()?;
    WORDS.get(place).map(|(_, unit)| *unit)
}

/// Units that measure the same, or count the same money.
const KINDS: [&[Unit]; 5] = [
    &["cent", "dollar", "euro", "franc", "pound", "yen"],
    &["cm", "foot", "inch", "km", "m", "mile", "mm", "nm"],
    &["g", "kg", "mg", "pound", "ton", "tonne"],
    &["byte", "gb", "mb", "tb"],
    &["day", "hour", "minute", "month", "ms", "second", "week", "year"],
];

/// Whether two units measure the same.
pub(super) fn measures_same(one: Unit, other: Unit) -> bool {
    KINDS.iter().any(|kind| kind.contains(&one) && kind.contains(&other))
}

/// Units with the number of them in the largest one of their kind, or both numbers where two are in use.
const SIZES: [&[(Unit, &[f64])]; 7] = [
    &[
        ("week", &[1.0]),
        ("day", &[7.0]),
        ("hour", &[168.0]),
        ("minute", &[10_080.0]),
        ("second", &[604_800.0]),
        ("ms", &[6.048e8]),
    ],
    &[("century", &[1.0]), ("decade", &[10.0]), ("year", &[100.0]), ("month", &[1200.0])],
    &[("km", &[1.0]), ("m", &[1e3]), ("cm", &[1e5]), ("mm", &[1e6]), ("nm", &[1e12])],
    &[("foot", &[1.0]), ("inch", &[12.0])],
    &[("tonne", &[1.0]), ("kg", &[1e3]), ("g", &[1e6]), ("mg", &[1e9])],
    &[("litre", &[1.0]), ("ml", &[1e3])],
    &[("tb", &[1.0, 1.0]), ("gb", &[1e3, 1024.0]), ("mb", &[1e6, 1_048_576.0])],
];

/// The numbers of one unit that another one may be: 24 hours in a day; none of units that do not convert exactly.
pub(super) fn units_in(unit: Unit, other: Unit) -> Vec<f64> {
    let sizes = |kind: &[(Unit, &'static [f64])], unit: Unit| {
        kind.iter().find(|(own, _)| *own == unit).map(|(_, sizes)| *sizes)
    };
    let found = SIZES.iter().find_map(|kind| Some((sizes(kind, unit)?, sizes(kind, other)?)));
    found.map_or_else(Vec::new, |(own, others)| own.iter().zip(others).map(|(own, other)| other / own).collect())
}

/// Codes of currencies, which stand before or behind a number. They are no names.
const CURRENCIES: [&str; 4] = ["CHF", "EUR", "GBP", "USD"];

/// Whether a word is the code of a currency.
pub(super) fn is_currency(word: &str) -> bool {
    CURRENCIES.contains(&word)
}

/// The factor by which a word multiplies the number before it.
pub(super) fn scale_of(word: &str) -> Option<f64> {
    match word {
        "hundred" => Some(1e2),
        "thousand" => Some(1e3),
        "million" => Some(1e6),
        "billion" => Some(1e9),
        "trillion" => Some(1e12),
        _ => None,
    }
}

/// Gives each number its unit, by the sign that touches it, the word after it, the code of a currency before it or the label
/// before it (`price_eur: 12`). The code of a currency beside a number says nothing else.
pub(super) fn read_units(terms: &mut [Term], text: &str) {
    for at in 0..terms.len() {
        let (Some(term), next) = (terms.get(at).filter(|term| term.is_number()), terms.get(at + 1)) else { continue };
        let after = text.get(term.range.end..).unwrap_or_default();
        let before = text.get(..term.range.start).unwrap_or_default();
        let sign = |signs: &[(char, Unit)], sign: Option<char>| {
            signs.iter().find(|(known, _)| Some(*known) == sign).map(|(_, unit)| *unit)
        };
        let word = next.filter(|next| {
            let gap = text.get(term.range.end..next.range.start);
            matches!(gap, Some("" | " " | "-" | "\u{a0}"))
        });
        let unit = sign(&SIGNS_BEFORE, before.chars().next_back())
            .or_else(|| sign(&SIGNS_AFTER, after.trim_start_matches(' ').chars().next()))
            .or_else(|| word.and_then(|word| unit_of(text, word)))
            .or_else(|| unit_before(terms, at, text))
            .or_else(|| is_day_of_month(terms, at, text).then_some(DATE));
        if let Some(term) = terms.get_mut(at) {
            term.unit = unit;
        }
        for beside in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
            let Some(word) = terms.get_mut(beside).filter(|word| text.get(word.range.clone()).is_some_and(is_currency))
            else {
                continue;
            };
            word.kind = if unit.is_some() { TermKind::Stop } else { word.kind };
        }
    }
}

/// The unit that the code of a currency or a label names before a number.
fn unit_before(terms: &[Term], at: usize, text: &str) -> Option<Unit> {
    let (number, word) = (terms.get(at)?, terms.get(at.checked_sub(1)?)?);
    let is_code = text.get(word.range.clone()).is_some_and(is_currency);
    let ends_label = || text.get(..word.range.start).is_some_and(|before| before.ends_with('_'));
    let names = match text.get(word.range.end..number.range.start)? {
        "" | " " | "\u{a0}" => is_code,
        ": " => is_code || ends_label(),
        _ => false,
    };
    unit_of(text, word).filter(|_| names)
}

/// Whether a number is a day beside the name of a month: "31 March", "March 31".
fn is_day_of_month(terms: &[Term], at: usize, text: &str) -> bool {
    let Some(number) = terms.get(at).filter(|term| term.stem.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day)))
    else {
        return false;
    };
    let is_month = |term: &&Term| term.kind == TermKind::Month;
    let stands_between = |gap: Option<&str>| matches!(gap, Some(" " | "\u{a0}" | ". "));
    let before = at.checked_sub(1).and_then(|before| terms.get(before)).filter(is_month);
    let after = terms.get(at + 1).filter(is_month);
    before.is_some_and(|month| stands_between(text.get(month.range.end..number.range.start)))
        || after.is_some_and(|month| stands_between(text.get(number.range.end..month.range.start)))
}

fn unit_of(text: &str, term: &Term) -> Option<Unit> {
    let word = text.get(term.range.clone())?.to_lowercase();
    let is_per = word == "per" && !text.get(term.range.end..)?.trim_start().starts_with("cent");
    if is_per { None } else { unit_named(&word) }
}

#[cfg(test)]
mod tests {
    use super::super::term::terms;
    use super::*;

    #[test]
    fn reads_units_beside_numbers() {
        assert!(WORDS.is_sorted());
        let rows = [
            ("5 km", Some("km")),
            ("5km", Some("km")),
            ("a 26-week leave", Some("week")),
            ("26 weeks", Some("week")),
            ("$1.5 million", Some("dollar")),
            ("20%", Some("percent")),
            ("20 per cent", Some("percent")),
            ("20 per head", None),
            ("twenty miles", Some("mile")),
            ("1990", None),
            ("31 March", Some("date")),
            ("March 31, in the morning", Some("date")),
            ("31 days in March", Some("day")),
            ("March 1990", None),
            ("in March, 31 came", None),
            ("EUR 31", Some("euro")),
            ("31 EUR", Some("euro")),
            ("price_eur: 31", Some("euro")),
            ("lead_time_days: 31", Some("day")),
            ("days: 31", None),
        ];
        for (text, unit) in rows {
            let number = terms(text).into_iter().find(Term::is_number).map(|term| term.unit);
            assert_eq!(number, Some(unit), "{text}");
        }
    }

    #[test]
    fn scales_numbers() {
        let rows = [
            ("1.5 million", "1500000"),
            ("three hundred", "300"),
            ("20-million", "20000000"),
            ("1,500,000", "1500000"),
        ];
        for (text, stem) in rows {
            assert_eq!(terms(text).first().map(|term| term.stem.clone()).as_deref(), Some(stem), "{text}");
        }
    }
}
