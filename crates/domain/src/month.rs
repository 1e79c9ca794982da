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
/// genitive of a date too), where they differ from the English ones and are no English words ("mars", "mayo"), in lower case.
const FOREIGN: [&[&str]; 12] = [
    &["januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari", "stycznia", "styczeń"],
    &["februar", "feber", "février", "febrero", "febbraio", "fevereiro", "februari", "lutego", "luty"],
    &["märz", "marzo", "março", "maart", "marts", "marca", "marzec"],
    &["avril", "abril", "aprile", "kwietnia", "kwiecień"],
    &["mai", "maggio", "maio", "mei", "maj", "maja"],
    &["juni", "juin", "junio", "giugno", "junho", "czerwca", "czerwiec"],
    &["juli", "juillet", "julio", "luglio", "julho", "lipca", "lipiec"],
    &["août", "agosto", "augustus", "augusti", "sierpnia", "sierpień"],
    &["septembre", "septiembre", "settembre", "setembro", "września", "wrzesień"],
    &["oktober", "octobre", "octubre", "ottobre", "outubro", "października", "październik"],
    &["novembre", "noviembre", "novembro", "listopada", "listopad"],
    &["dezember", "décembre", "diciembre", "dicembre", "dezembro", "desember", "grudnia", "grudzień"],
];

/// The month that a word in lower case names in another language than English, from 1.
pub(crate) fn foreign_month(word: &str) -> Option<usize> {
    FOREIGN.iter().position(|names| names.contains(&word)).map(|month| month + 1)
}

/// Whether a word in lower case is the name of a month.
pub(crate) fn is_month(word: &str) -> bool {
    MONTHS.contains(&word) || foreign_month(word).is_some()
}
