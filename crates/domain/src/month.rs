//! The months by name.

/// Their names, lower case, in the order of the year.
pub(super) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Their names in German, French, Spanish, Italian, Portuguese, Dutch, Danish, Norwegian, Swedish and Polish (in the
/// genitive of a date too), where they differ from the English ones and are no English words ("mars", "mayo"), in lower case,
/// with their numbers. Sorted by byte value, for the binary search: each word of a source is looked up.
const FOREIGN: [(&str, usize); 82] = [
    ("abril", 4),
    ("agosto", 8),
    ("août", 8),
    ("aprile", 4),
    ("augusti", 8),
    ("augustus", 8),
    ("avril", 4),
    ("czerwca", 6),
    ("czerwiec", 6),
    ("desember", 12),
    ("dezember", 12),
    ("dezembro", 12),
    ("dicembre", 12),
    ("diciembre", 12),
    ("décembre", 12),
    ("enero", 1),
    ("febbraio", 2),
    ("feber", 2),
    ("febrero", 2),
    ("februar", 2),
    ("februari", 2),
    ("fevereiro", 2),
    ("février", 2),
    ("gennaio", 1),
    ("giugno", 6),
    ("grudnia", 12),
    ("grudzień", 12),
    ("janeiro", 1),
    ("januar", 1),
    ("januari", 1),
    ("janvier", 1),
    ("juillet", 7),
    ("juin", 6),
    ("julho", 7),
    ("juli", 7),
    ("julio", 7),
    ("junho", 6),
    ("juni", 6),
    ("junio", 6),
    ("jänner", 1),
    ("kwiecień", 4),
    ("kwietnia", 4),
    ("lipca", 7),
    ("lipiec", 7),
    ("listopad", 11),
    ("listopada", 11),
    ("luglio", 7),
    ("lutego", 2),
    ("luty", 2),
    ("maart", 3),
    ("maggio", 5),
    ("mai", 5),
    ("maio", 5),
    ("maj", 5),
    ("maja", 5),
    ("marca", 3),
    ("marts", 3),
    ("marzec", 3),
    ("marzo", 3),
    ("março", 3),
    ("mei", 5),
    ("märz", 3),
    ("novembre", 11),
    ("novembro", 11),
    ("noviembre", 11),
    ("octobre", 10),
    ("octubre", 10),
    ("oktober", 10),
    ("ottobre", 10),
    ("outubro", 10),
    ("październik", 10),
    ("października", 10),
    ("septembre", 9),
    ("septiembre", 9),
    ("setembro", 9),
    ("settembre", 9),
    ("sierpień", 8),
    ("sierpnia", 8),
    ("styczeń", 1),
    ("stycznia", 1),
    ("wrzesień", 9),
    ("września", 9),
];

/// The month that a word in lower case names in another language than English, from 1.
pub(crate) fn foreign_month(word: &str) -> Option<usize> {
    let at = FOREIGN.binary_search_by_key(&word, |(name, _)| name).ok()?;
    FOREIGN.get(at).map(|(_, month)| *month)
}

/// Whether a word in lower case is the name of a month.
pub(crate) fn is_month(word: &str) -> bool {
    MONTHS.contains(&word) || foreign_month(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found() {
        for (name, month) in FOREIGN {
            assert_eq!(foreign_month(name), Some(month), "{name}");
        }
        assert_eq!(foreign_month("mars"), None);
    }
}
