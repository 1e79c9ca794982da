//! The columns of a table that a question means without naming them: the weight for "How heavy is it?", the price for "Was kostet
//! es?", the owner for "Who has to do it?". English, German and French.

use super::super::measure::Measure;
use super::super::{Question, QuestionTerms, TermMask};
use super::AnswerKind;
use crate::markdown::cells;
use crate::wording::lower_case_words;

/// Names of columns for one thing.
pub(crate) struct Names {
    /// Words, in the singular.
    words: &'static [&'static str],
    /// Ends of German words, which may be whole ones.
    ends: &'static [&'static str],
}

const PRICES: Names = Names {
    words: &["price", "cost", "fee", "rate", "charge", "fare", "rent", "prix", "tarif", "coût", "frais"],
    ends: &["preis", "preise", "kosten", "gebühr", "betrag", "miete"],
};
const WEIGHTS: Names = Names { words: &["weight", "mass", "poids"], ends: &["gewicht"] };
const LENGTHS: Names = Names {
    words: &["length", "duration", "time", "term", "period", "durée", "délai", "longueur"],
    ends: &["dauer", "zeit", "frist", "länge"],
};
const HEIGHTS: Names = Names { words: &["height", "hauteur"], ends: &["höhe"] };
const WIDTHS: Names = Names { words: &["width", "largeur"], ends: &["breite"] };
const SPEEDS: Names = Names { words: &["speed", "vitesse"], ends: &["geschwindigkeit", "tempo"] };
const DEPTHS: Names = Names { words: &["depth", "profondeur"], ends: &["tiefe"] };
const AGES: Names = Names { words: &["age", "âge"], ends: &["alter"] };
const NOISES: Names = Names { words: &["noise", "loudness", "bruit"], ends: &["lautstärke", "geräusch"] };
const PEOPLE: Names = Names {
    words: &[
        "name",
        "who",
        "person",
        "owner",
        "lead",
        "leader",
        "head",
        "manager",
        "contact",
        "responsible",
        "holder",
        "author",
        "chair",
        "trainer",
        "instructor",
        "teacher",
        "speaker",
        "assignee",
        "maintainer",
        "approver",
        "nom",
        "responsable",
        "formateur",
        "personne",
    ],
    ends: &["verantwortlich", "verantwortliche", "leiter", "leitung", "ansprechpartner", "zuständig", "inhaber"],
};
const DATES: Names = Names {
    words: &[
        "date",
        "day",
        "due",
        "deadline",
        "time",
        "hour",
        "start",
        "begin",
        "end",
        "until",
        "from",
        "available",
        "departure",
        "arrival",
        "jour",
        "heure",
        "début",
        "fin",
        "échéance",
    ],
    ends: &["datum", "tag", "frist", "termin", "beginn", "ende", "uhrzeit"],
};
const PLACES: Names = Names {
    words: &[
        "place",
        "room",
        "location",
        "address",
        "site",
        "city",
        "town",
        "building",
        "floor",
        "venue",
        "street",
        "lieu",
        "salle",
        "ville",
        "adresse",
        "bâtiment",
    ],
    ends: &["ort", "raum", "zimmer", "stadt", "gebäude", "etage"],
};

/// Words of a question, and the columns that they mean.
const MEANINGS: [(&[&str], &Names); 10] = [
    (&["cheapest", "costliest", "dearest", "priciest", "expensive", "teuer", "cher"], &PRICES),
    (&["cost", "costs", "price", "prices", "kostet", "kosten", "preis", "coûte", "coûtent", "prix"], &PRICES),
    (&["heavy", "heaviest", "lightest", "weigh", "weighs", "schwer", "wiegt", "wiegen", "pèse", "lourd"], &WEIGHTS),
    (&["longest", "shortest", "take", "takes", "lasts", "lange", "dauert", "dauern", "dure", "durent"], &LENGTHS),
    (&["tall", "tallest"], &HEIGHTS),
    (&["wide", "widest", "narrowest", "breit", "large"], &WIDTHS),
    (&["fast", "fastest", "slowest", "schnell"], &SPEEDS),
    (&["deep", "deepest", "tief"], &DEPTHS),
    (&["old", "oldest", "youngest", "alt"], &AGES),
    (&["loud", "loudest", "laut"], &NOISES),
];

impl Names {
    /// The columns that a word means by itself.
    pub(crate) fn meant_by(word: &str) -> Option<&'static Self> {
        MEANINGS.iter().find(|(words, _)| words.contains(&word)).map(|(_, names)| *names)
    }

    /// Whether a column has such a name.
    pub(crate) fn name(&self, column: &str) -> bool {
        // "list_price" is two words.
        lower_case_words(&column.replace('_', " ")).any(|word| {
            let one = word.strip_suffix('s').unwrap_or(&word);
            let is_whole = self.words.contains(&word.as_str()) || self.words.contains(&one);
            is_whole || self.ends.iter().any(|end| word.ends_with(end))
        })
    }
}

/// The columns that a question means by its wording.
pub(crate) struct Meant(Vec<&'static Names>);

impl Meant {
    pub(crate) fn by(question: &Question) -> Self {
        let of_kind = match (question.kind, question.measure) {
            (AnswerKind::Person, _) => Some(&PEOPLE),
            (AnswerKind::Date, _) => Some(&DATES),
            (AnswerKind::Place, _) => Some(&PLACES),
            (_, Some(Measure::Money)) => Some(&PRICES),
            (_, Some(Measure::Length)) => Some(&LENGTHS),
            _ => None,
        };
        let words = lower_case_words(&question.asked);
        let of_words = words.filter_map(|word| Names::meant_by(&word));
        Self(of_kind.into_iter().chain(of_words).collect())
    }

    /// Whether a column is meant.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.0.iter().any(|names| names.name(column))
    }
}

impl QuestionTerms {
    /// The terms that mean a column which a header of a table names, or a row that names its columns itself: "cost" in
    /// "| Job | Price |".
    #[must_use]
    pub(in crate::evidence) fn in_columns_of(&self, row: &str, is_header: bool) -> TermMask {
        let columns = cells(row).filter_map(|(_, cell)| match cell.split_once(": ") {
            Some((column, _)) => Some(column),
            None => is_header.then_some(cell),
        });
        let columns: Vec<&str> = columns.collect();
        self.mask_where(|term| {
            let meant = Names::meant_by(&term.word.to_lowercase());
            meant.is_some_and(|names| columns.iter().any(|column| names.name(column)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    fn parsed(question: &str) -> Question {
        Question::new(Analyzer::english(), question, 100, |_| 5)
    }

    #[test]
    fn a_header_holds_the_words_that_mean_its_columns() {
        let held =
            |row: &str, is_header| parsed("What does a jar cost?").terms.in_columns_of(row, is_header).count_ones();
        assert_eq!(held("| Jar | List price |", true), 1);
        assert_eq!(held("| Jar | Priceless |", true), 0);
        assert_eq!(held("| Name: Jar | Price (EUR): 3 |", false), 1);
        assert_eq!(held("| Jar | Price |", false), 0);
    }

    #[test]
    fn wordings_mean_columns() {
        for (question, column, expected) in [
            ("How heavy is the jar?", "Weight (kg)", true),
            ("How heavy is the jar?", "Height", false),
            ("What does a jar cost?", "List price", true),
            ("Was kostet das Glas?", "Listenpreis", true),
            ("Combien coûte un bocal ?", "Prix", true),
            ("Wie lange dauert das?", "Lieferzeit", true),
            ("How long does it take?", "Baking time", true),
            ("Who sells jars?", "Owner", true),
            ("Who sells jars?", "Ownership", false),
            ("Wann ist der Kurs?", "Wochentag", true),
            ("Where are the jars?", "Room", true),
            ("Which jars are blue?", "Price", false),
        ] {
            assert_eq!(Meant::by(&parsed(question)).has(column), expected, "{question} {column}");
        }
    }
}
