//! Timetables: a row with the numbers of the journeys, and below it the times of each at every stop.

use std::collections::HashSet;

/// Share of cells that hold a time of day, in per cent.
const TIMES_SHARE: usize = 60;

/// A time of day in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    /// Four digits that may be a number as well: `2112`.
    Digits,
    /// A time in a form that numbers do not have: `0512`, `5:12`.
    Certain,
}

/// Whether the first row holds the numbers of journeys, after a word or nothing, and most cells below hold times of day.
pub(super) fn is_timetable(first: &[String], body: &[Vec<String>]) -> bool {
    let Some((corner, numbers)) = first.split_first() else { return false };
    let is_number = |cell: &String| !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
    let is_corner = corner.is_empty() || super::is_text(corner);
    if !is_corner || !numbers.iter().all(is_number) || numbers.iter().collect::<HashSet<_>>().len() < numbers.len() {
        return false;
    }
    if numbers.iter().any(|number| time_in(number) == Some(Time::Certain)) {
        return false;
    }
    let cells = body.iter().flat_map(|row| row.iter().skip(1)).filter(|cell| cell.contains(char::is_alphanumeric));
    let times: Vec<Option<Time>> = cells.map(|cell| cell.split_whitespace().find_map(time_in)).collect();
    let count = times.iter().flatten().count();
    times.contains(&Some(Time::Certain)) && count * 100 >= times.len() * TIMES_SHARE
}

/// The time of day that a word is.
fn time_in(word: &str) -> Option<Time> {
    let is_time = |hour: &str, minute: &str| {
        let [hour, minute] = [hour, minute].map(|digits| digits.parse::<u8>().ok());
        hour.is_some_and(|hour| hour < 24) && minute.is_some_and(|minute| minute < 60)
    };
    if let Some((hour, minute)) = word.split_once(':') {
        return (minute.len() == 2 && is_time(hour, minute)).then_some(Time::Certain);
    }
    let (hour, minute) = word.split_at_checked(2).filter(|_| word.len() == 4)?;
    let is_led = hour.starts_with('0');
    is_time(hour, minute).then_some(if is_led { Time::Certain } else { Time::Digits })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_timetable_of(rows: &[&[&str]]) -> bool {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let (first, body) = rows.split_first().expect("a row");
        is_timetable(first, body) && super::super::names_columns(&rows)
    }

    #[test]
    fn numbers_stand_over_times() {
        assert!(is_timetable_of(&[&["Bus", "4", "30"], &["Mill", "0518", "2112"], &["Lake", "x 0529", "–"]]));
        assert!(is_timetable_of(&[&["", "301", "302"], &["Mill", "5:18", "21:12"]]));
        // Four digits alone are numbers.
        assert!(!is_timetable_of(&[&["Hall", "4", "30"], &["Tins", "1518", "2112"]]));
        // A row of times is one like those below it, and so is one of equal numbers.
        assert!(!is_timetable_of(&[&["Mill", "0518", "0618"], &["Lake", "0529", "0629"]]));
        assert!(!is_timetable_of(&[&["Tins", "4", "4"], &["Lake", "0529", "0629"]]));
        assert!(!is_timetable_of(&[&["Tins", "4", "9"], &["Lake", "29", "0629"], &["Mill", "29", "31"]]));
    }
}
