//! Names of the columns of tables, by what stands below them. English, German and French.

use crate::wording::lower_case_words;

/// Names of columns for one thing.
pub(crate) struct Names {
    /// Words, in the singular.
    words: &'static [&'static str],
    /// Ends of German words, which may be whole ones.
    ends: &'static [&'static str],
}

pub(crate) const PRICES: Names = Names {
    words: &["price", "cost", "fee", "rate", "charge", "fare", "rent", "prix", "tarif", "coût", "frais"],
    ends: &["preis", "preise", "kosten", "gebühr", "betrag", "miete"],
};
pub(crate) const WEIGHTS: Names = Names { words: &["weight", "mass", "poids"], ends: &["gewicht"] };
pub(crate) const LENGTHS: Names = Names {
    words: &["length", "duration", "time", "term", "period", "durée", "délai", "longueur"],
    ends: &["dauer", "zeit", "frist", "länge"],
};
pub(crate) const DURATIONS: Names =
    Names { words: &["duration", "time", "delay", "latency", "durée", "délai"], ends: &["dauer", "zeit"] };
pub(crate) const BEGINNINGS: Names = Names {
    words: &["year", "founded", "established", "built", "opened", "launched", "released", "launch", "release", "année"],
    ends: &["jahr", "gegründet", "gründung", "baujahr", "eröffnet"],
};
const HEIGHTS: Names = Names { words: &["height", "hauteur"], ends: &["höhe"] };
const WIDTHS: Names = Names { words: &["width", "largeur"], ends: &["breite"] };
const SPEEDS: Names = Names { words: &["speed", "vitesse"], ends: &["geschwindigkeit", "tempo"] };
const DEPTHS: Names = Names { words: &["depth", "profondeur"], ends: &["tiefe"] };
const AGES: Names = Names { words: &["age", "âge"], ends: &["alter"] };
const NOISES: Names = Names { words: &["noise", "loudness", "bruit"], ends: &["lautstärke", "geräusch"] };
pub(crate) const PEOPLE: Names = Names {
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
pub(crate) const DATES: Names = Names {
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
pub(crate) const PLACES: Names = Names {
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
