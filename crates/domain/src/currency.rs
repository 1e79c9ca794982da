//! Documents that another one has replaced: last year's policy beside this year's, a price list that says of itself that it
//! was superseded. Where both are found, the one that holds now answers, unless the question is for the other one.
//!
//! Three signs tell: titles that differ in nothing but the year, what a document says of itself at its beginning, and the
//! name of its file or folder. English, German and French.

use crate::asked_part::fiscal_year;
use crate::wording::{has_digit, lower_case_words};

/// Bytes at the beginning of a document in which it says whether it holds.
const BEGINNING: usize = 400;

/// Words that a sentence about a document which was replaced begins with, after those of [`ITSELF`].
const REPLACED: [&str; 13] = [
    "superseded by",
    "replaced by",
    "withdrawn by",
    "no longer valid",
    "no longer in force",
    "no longer applies",
    "no longer maintained",
    "ersetzt durch",
    "abgelöst durch",
    "nicht mehr gültig",
    "außer kraft",
    "remplacé par",
    "remplacée par",
];

/// The same, if the sentence ends with them: obsolete pumps are something else than an obsolete list.
const REPLACED_BRIEFLY: [&str; 7] =
    ["superseded", "replaced", "withdrawn", "obsolete", "out of date", "outdated", "veraltet"];

/// Words in the name of a file or folder that holds what was replaced.
const REPLACED_NAMES: [&str; 6] = ["superseded", "obsolete", "outdated", "archived", "archive", "veraltet"];

/// Names of folders, and last words of the names of files, that mean the same.
const FORMER_NAMES: [&str; 8] = ["old", "former", "previous", "alt", "alte", "archiv", "ancien", "anciens"];

/// Words before these in a sentence about the document itself.
const ITSELF: [&str; 23] = [
    "this", "the", "document", "policy", "version", "page", "list", "edition", "guide", "plan", "status", "note",
    "was", "is", "has", "been", "dieses", "diese", "dokument", "fassung", "wurde", "ist", "ce",
];

/// Words of a question for what held before, or for what has changed.
const FORMER: [&str; 30] = [
    "old",
    "older",
    "previous",
    "previously",
    "former",
    "formerly",
    "earlier",
    "past",
    "history",
    "historical",
    "originally",
    "superseded",
    "replaced",
    "archived",
    "compare",
    "compared",
    "comparison",
    "difference",
    "differences",
    "differ",
    "changed",
    "changes",
    "trend",
    "years",
    "alte",
    "alten",
    "früher",
    "vorher",
    "ancien",
    "ancienne",
];

/// The same, of two words.
const FORMER_PAIRS: [(&str, &str); 6] =
    [("last", "year"), ("year", "before"), ("used", "to"), ("letztes", "jahr"), ("letzten", "jahr"), ("im", "vorjahr")];

/// Words of a question for what has changed.
const CHANGING: [&str; 9] =
    ["compare", "compared", "comparison", "difference", "differences", "differ", "changed", "changes", "trend"];

/// Words by which a question that names a year sets it beside another one.
const COMPARING: [&str; 6] = ["than", "versus", "vs", "now", "today", "als"];

/// Words in the title of a document that changes another one.
const AMENDMENTS: [&str; 6] = ["addendum", "amendment", "erratum", "corrigendum", "nachtrag", "avenant"];

/// Signs before the subject of a reply in the languages of mail programs.
const REPLY_SIGNS: [&str; 6] = ["re", "aw", "antw", "sv", "rép", "ref"];

/// The parts of a document that tell whether it holds.
#[derive(Debug, Clone, Copy)]
pub struct DocumentFace<'d> {
    /// Name of its collection: documents of others do not replace it.
    pub collection: &'d str,
    /// Its title.
    pub title: &'d str,
    /// Its caller's name for it.
    pub source: &'d str,
    /// Its first chunk, where that is known.
    pub beginning: Option<&'d str>,
}

/// How a document was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// By the document at this position, its later edition.
    By {
        /// The position.
        document: usize,
        /// Whether it says so itself, or its name does.
        says_so: bool,
    },
    /// It says so itself, or its name does.
    BySign,
}

/// For each document whether the question is for another one that replaced it.
#[must_use]
pub fn replaced(question: &str, documents: &[DocumentFace<'_>]) -> Vec<Option<Replaced>> {
    let asked_year = years(question).last();
    let words: Vec<String> = lower_case_words(question).collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_for_former = || {
        let pairs = || words.iter().zip(words.iter().skip(1));
        has(&FORMER) || pairs().any(|(one, two)| FORMER_PAIRS.contains(&(one.as_str(), two.as_str())))
    };
    let is_for_all = if asked_year.is_some() { has(&COMPARING) || has(&CHANGING) } else { is_for_former() };
    if is_for_all {
        return vec![None; documents.len()];
    }
    let editions: Vec<Edition> = documents.iter().map(Edition::of).collect();
    let of = |(at, edition): (usize, &Edition)| {
        let others = editions.iter().enumerate().filter(|(other, _)| *other != at);
        let mut siblings = others.filter(|(_, other)| edition.is_sibling_of(other));
        let by = match asked_year {
            Some(year) => siblings.find(|(_, other)| other.year == Some(year) && edition.year != Some(year)),
            None => siblings.filter(|(_, other)| other.year > edition.year).max_by_key(|(_, other)| other.year),
        };
        let says_so = || asked_year.is_none() && documents.get(at).is_some_and(DocumentFace::says_that_it_was_replaced);
        match by {
            Some((document, _)) => Some(Replaced::By { document, says_so: says_so() }),
            None => says_so().then_some(Replaced::BySign),
        }
    };
    editions.iter().enumerate().map(of).collect()
}

/// Whether a question names a year, so that it is for the edition of that year.
#[must_use]
pub fn names_year(question: &str) -> bool {
    years(question).next().is_some()
}

/// Whether a document changes another one: what it says goes before that.
#[must_use]
pub(crate) fn amends(title: &str) -> bool {
    lower_case_words(title).any(|word| AMENDMENTS.contains(&word.as_str()))
}

/// The subject of the mail that a mail with this title answers: what a reply says goes before that.
#[must_use]
pub(crate) fn answered(title: &str) -> Option<&str> {
    let after = |title| {
        let (sign, subject) = str::split_once(title, ':')?;
        REPLY_SIGNS.contains(&sign.trim().to_lowercase().as_str()).then_some(subject.trim())
    };
    std::iter::successors(after(title), |subject| after(subject)).last().filter(|subject| !subject.is_empty())
}

impl DocumentFace<'_> {
    fn says_that_it_was_replaced(&self) -> bool {
        let mut words = self.source.split('/').flat_map(lower_case_words);
        let beginning = self.beginning.map(beginning).unwrap_or_default();
        let mut sentences = beginning.split(['.', '\n', ';', ':']);
        words.any(|word| REPLACED_NAMES.contains(&word.as_str()))
            || self.is_kept_among_former()
            || sentences.any(is_about_itself)
    }

    /// Whether its folder, or the end of its name, says that it is a former one: `old/fares.md`, `fares-2024-old.csv`.
    fn is_kept_among_former(&self) -> bool {
        let (folders, file) = self.source.rsplit_once('/').unwrap_or(("", self.source));
        let is_former = |word: &str| FORMER_NAMES.contains(&word.to_lowercase().as_str());
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let last = stem.rsplit_once(['-', '_', ' ', '.']).map(|(_, last)| last);
        folders.split('/').any(is_former) || last.is_some_and(is_former)
    }
}

fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(BEGINNING)).unwrap_or(text)
}

/// Whether a sentence says of its document that it was replaced.
fn is_about_itself(sentence: &str) -> bool {
    let words: Vec<String> = lower_case_words(sentence).collect();
    let subject = words.iter().take_while(|word| ITSELF.contains(&word.as_str())).count();
    let rest = words.get(subject..).unwrap_or_default().join(" ");
    let begins = |sign: &&str| rest.strip_prefix(*sign).is_some_and(|after| after.is_empty() || after.starts_with(' '));
    REPLACED_BRIEFLY.contains(&rest.as_str()) || REPLACED.iter().any(begins)
}

/// Whether a passage is of another year than a question names: the titles above it name one, and nothing of it the year that
/// is asked for.
#[must_use]
pub fn is_of_another_year<'t>(
    question: &str,
    titles: impl Iterator<Item = &'t str>,
    texts: impl Iterator<Item = &'t str>,
) -> bool {
    let asked: Vec<u16> = years(question).collect();
    // Most questions name none, and are done here.
    if asked.is_empty() {
        return false;
    }
    let years_above: Vec<u16> = titles.flat_map(years).collect();
    !years_above.is_empty() && !years_above.into_iter().chain(texts.flat_map(years)).any(|year| asked.contains(&year))
}

/// The years in a text, in their order, fiscal ones among them: "FY2022", "FY22".
fn years(text: &str) -> impl DoubleEndedIterator<Item = u16> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    let number = |word: &str| match fiscal_year(word) {
        Some(year) => year.parse().ok(),
        None => word.parse().ok().filter(|_| word.len() == 4),
    };
    words.filter_map(number).filter(|year| (1900..2100).contains(year)).collect::<Vec<_>>().into_iter()
}

/// A document as one of several that differ in their years.
struct Edition<'d> {
    collection: &'d str,
    /// The words of its title without years; none if other numbers tell it from its siblings.
    name: Vec<String>,
    /// The year that its title or its file names, else the first one at its beginning.
    year: Option<u16>,
    /// Whether its title or its file names a year.
    is_dated: bool,
}

impl<'d> Edition<'d> {
    fn of(document: &DocumentFace<'d>) -> Self {
        let is_year = |word: &str| years(word).next().is_some();
        let mut name: Vec<String> = lower_case_words(document.title).filter(|word| !is_year(word)).collect();
        if name.iter().any(|word| has_digit(word)) {
            name.clear();
        }
        let file = document.source.rsplit('/').next().unwrap_or_default();
        let dated = years(document.title).next_back().or_else(|| years(file).next_back());
        let at_beginning = || document.beginning.and_then(|text| years(beginning(text)).next());
        Self { collection: document.collection, name, year: dated.or_else(at_beginning), is_dated: dated.is_some() }
    }

    /// Whether both have the same title but for the year.
    fn is_sibling_of(&self, other: &Self) -> bool {
        let is_known = self.year.is_some() && other.year.is_some() && (self.is_dated || other.is_dated);
        is_known && !self.name.is_empty() && self.name == other.name && self.collection == other.collection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn document<'d>(title: &'d str, source: &'d str, beginning: &'d str) -> DocumentFace<'d> {
        DocumentFace { collection: "team", title, source, beginning: Some(beginning) }
    }

    fn of(question: &str, documents: &[DocumentFace<'_>]) -> Vec<Option<Replaced>> {
        replaced(question, documents)
    }

    #[test]
    fn the_edition_of_the_latest_year_holds() {
        let editions =
            [document("Fares 2024", "a.md", ""), document("Fares 2026", "b.md", ""), document("Ferries", "c.md", "")];
        let latest = [Some(Replaced::By { document: 1, says_so: false }), None, None];
        assert_eq!(of("What is the fare?", &editions), latest);
        assert_eq!(
            of("What was the fare in 2024?", &editions),
            [None, Some(Replaced::By { document: 0, says_so: false }), None]
        );
        assert_eq!(of("What was the fare in 1999?", &editions), [None; 3]);
        for question in [
            "What was the previous fare?",
            "How has the fare changed?",
            "Compare the fares",
            "What was the fare last year?",
            "How much more is the fare than in 2024?",
        ] {
            assert_eq!(of(question, &editions), [None; 3], "{question}");
        }
        let by_file = [document("Fares", "fares-2024.md", ""), document("Fares", "fares-2026.md", "")];
        assert_eq!(of("What is the fare?", &by_file), [Some(Replaced::By { document: 1, says_so: false }), None]);
        let other = DocumentFace { collection: "other", ..editions[1] };
        assert_eq!(of("What is the fare?", &[editions[0], other]), [None; 2]);
    }

    #[test]
    fn a_folder_or_the_end_of_a_name_says_that_a_document_is_a_former_one() {
        let former = |source: &'static str| of("What is the fare?", &[document("Fares", source, "")]);
        for source in ["hr/old/fares.md", "Alt/fares.md", "fares-2024-old.csv", "fares old.md"] {
            assert_eq!(former(source), [Some(Replaced::BySign)], "{source}");
        }
        for source in ["old-town/fares.md", "golden/fares.md", "old-fares.md", "old.md"] {
            assert_eq!(former(source), [None], "{source}");
        }
    }

    #[test]
    fn a_title_without_a_year_is_dated_by_its_beginning() {
        let plans = [document("Fares 2025", "a", "# Fares 2025"), document("Fares", "b", "Valid from 1 January 2026.")];
        let said = [
            document("Fares (2024)", "a.md", "Valid from May. Replaced by the version of 2025."),
            document("Fares (2025)", "b.md", ""),
        ];
        assert_eq!(of("What is the fare?", &said), [Some(Replaced::By { document: 1, says_so: true }), None]);
        assert_eq!(of("What is the fare?", &plans), [Some(Replaced::By { document: 1, says_so: false }), None]);
        let undated = DocumentFace { beginning: None, ..plans[1] };
        assert_eq!(of("What is the fare?", &[plans[0], undated]), [None; 2]);
        let same = [document("Notes", "a.md", "2024"), document("Notes", "b.md", "2026")];
        assert_eq!(of("What is the fare?", &same), [None; 2], "two notes of one title are no editions");
        let numbered = [document("Invoice 7 2024", "a", ""), document("Invoice 7 2026", "b", "")];
        assert_eq!(of("What is the fare?", &numbered), [None; 2]);
    }

    #[test]
    fn a_document_says_that_it_was_replaced() {
        for text in [
            "# Fares\n\nIn force from May. Superseded by the list of June.",
            "This document has been replaced by the new one.",
            "Status: obsolete",
            "Diese Fassung ist außer Kraft.",
        ] {
            assert_eq!(of("What is the fare?", &[document("Fares", "a.md", text)]), [Some(Replaced::BySign)], "{text}");
        }
        for text in
            ["The pump was replaced by a new one.", "Obsolete pumps are sold.", "Worn seals are replaced by Mira."]
        {
            assert_eq!(of("Who?", &[document("Pumps", "a.md", text)]), [None], "{text}");
        }
        assert_eq!(of("Fare?", &[document("Fares", "archive/fares.md", "")]), [Some(Replaced::BySign)]);
        assert_eq!(of("The fare of 2024?", &[document("Fares", "archive/fares.md", "")]), [None]);
    }

    #[test]
    fn an_amendment_says_so() {
        assert!(amends("Addendum to the fares") && amends("Nachtrag 1") && !amends("Fares and amended rules"));
    }

    #[test]
    fn a_reply_names_what_it_answers() {
        for title in ["Re: Mirrors: which?", "AW: Re: Mirrors: which?", "RE : Mirrors: which?"] {
            assert_eq!(answered(title), Some("Mirrors: which?"), "{title}");
        }
        for title in ["Mirrors", "Report: mirrors", "Re:", ""] {
            assert_eq!(answered(title), None, "{title}");
        }
    }
}
