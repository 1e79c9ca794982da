//! Days of the week and months, whole and abbreviated, and years as fiscal years: timetables write "Thu" where readers ask for
//! Thursday, and reports "FY2022" where they ask for the fiscal year 2022. English only.

use crate::asked_part::fiscal_year;
use crate::month::MONTHS;
use crate::wording::{is_year, lower_case, lower_case_words};

/// The days, in lower case.
pub(crate) const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Letters of the usual abbreviation.
const SHORT: usize = 3;

/// Other abbreviations.
const OTHERS: [(&str, &str); 4] =
    [("sept", "september"), ("thur", "thursday"), ("thurs", "thursday"), ("tues", "tuesday")];

/// Abbreviations that are words too: whoever writes them in a question may mean the word.
const WORDS_TOO: [&str; 5] = ["mar", "mon", "sat", "sun", "wed"];

/// The other forms of a day or a month: its abbreviations, or the whole of an abbreviated one; none of any other word.
pub(super) fn other_forms(word: &str) -> Vec<&'static str> {
    let lower = lower_case(word);
    let word = one_day(&lower);
    match whole_of(word) {
        Some(whole) if whole == word => {
            let others = OTHERS.iter().filter(|(_, of)| *of == whole).map(|(other, _)| *other);
            std::iter::once(short(whole)).chain(others).collect()
        }
        whole => whole.into_iter().filter(|_| !WORDS_TOO.contains(&word)).collect(),
    }
}

/// The other forms of a year: 2022 is the fiscal year "FY2022" and "FY22", and either is 2022. None of any other word.
pub(super) fn other_years(word: &str) -> Vec<String> {
    let lower = lower_case(word);
    let Some(year) = fiscal_year(&lower).or_else(|| is_year(&lower).then(|| lower.to_string())) else {
        return Vec::new();
    };
    let of_century = year.get(2..).unwrap_or_default();
    let forms = [format!("fy{year}"), format!("fy{of_century}"), year];
    forms.into_iter().filter(|form| *form != lower).collect()
}

/// The day or the month that a word in lower case is, whole or abbreviated.
fn whole_of(word: &str) -> Option<&'static str> {
    // May is as short as its abbreviation.
    let mut all = DAYS.into_iter().chain(MONTHS).filter(|whole| whole.len() > SHORT);
    let of_other = || OTHERS.iter().find(|(other, _)| *other == word).map(|(_, whole)| *whole);
    all.find(|whole| *whole == word || short(whole) == word).or_else(of_other)
}

fn short(whole: &str) -> &str {
    whole.get(..SHORT).unwrap_or(whole)
}

/// The days of the week that a text names, whole or abbreviated, each once.
pub(crate) fn days_in(text: &str) -> Vec<&'static str> {
    let of = |word: String| whole_of(one_day(&word)).filter(|whole| DAYS.contains(whole));
    let mut days: Vec<&str> = lower_case_words(text).filter_map(of).collect();
    days.sort_unstable();
    days.dedup();
    days
}

/// The days that the name of a column tells, those between two with a dash included: of "Mon–Fri" five.
pub(crate) fn days_of_column(name: &str) -> Vec<&'static str> {
    let days = days_in(name);
    let Some((one, two)) = name.split_once(['-', '–', '—']) else { return days };
    let place = |text: &str| match days_in(text).as_slice() {
        [day] => DAYS.iter().position(|own| own == day),
        _ => None,
    };
    match place(one).zip(place(two)) {
        Some((from, to)) if from < to => DAYS.get(from..=to).map_or(days, <[_]>::to_vec),
        _ => days,
    }
}

/// The day of the week that a word is as names are written, whole or abbreviated: "Sun", and not "sun".
pub(crate) fn day_written(word: &str) -> Option<&'static str> {
    let mut letters = word.chars();
    let is_name = letters.next().is_some_and(char::is_uppercase) && letters.all(char::is_lowercase);
    whole_of(&lower_case(word)).filter(|whole| is_name && DAYS.contains(whole))
}

/// Whether a word is a day of the week, whole and possibly in the plural.
pub(crate) fn is_day(word: &str) -> bool {
    DAYS.contains(&one_day(&lower_case(word)))
}

/// A day in the singular: "on Mondays".
fn one_day(word: &str) -> &str {
    word.strip_suffix('s').filter(|day| day.ends_with("day")).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_months_have_another_form() {
        let table: [(&str, &[&str]); 12] = [
            ("Monday", &["mon"]),
            ("thursdays", &["thu", "thur", "thurs"]),
            ("September", &["sep", "sept"]),
            ("Tues", &["tuesday"]),
            ("fri", &["friday"]),
            ("Dec", &["december"]),
            ("may", &[]),
            ("sun", &[]),
            ("wed", &[]),
            ("holiday", &[]),
            ("s", &[]),
            ("", &[]),
        ];
        for (word, expected) in table {
            assert_eq!(other_forms(word), expected, "{word}");
        }
        for (word, expected) in [
            ("2022", &["fy2022", "fy22"][..]),
            ("FY2022", &["fy22", "2022"]),
            ("fy22", &["fy2022", "2022"]),
            ("3022", &[]),
            ("22", &[]),
            ("fyord", &[]),
        ] {
            assert_eq!(other_years(word), expected, "{word}");
        }
        assert!(is_day("Fridays") && !is_day("fri") && !is_day("day"));
        assert_eq!(days_in("Thurs, on Mondays and Thursday"), ["monday", "thursday"]);
        assert!(days_in("every day of September").is_empty());
    }
}
