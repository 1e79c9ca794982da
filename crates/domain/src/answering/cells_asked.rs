//! The cells of a row that a question asks for.

use super::naming::{AskedWords, words_in};
use super::row::without_unit;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::kind::columns::Meant;
use crate::evidence::measure::Measure;
use crate::wording::{is_year, lower_case_words};

/// Cells from which a row is too long to be read for one of them.
const WIDE: usize = 6;

/// Fewest signs of a value without letters that tells which row it is of: "306".
const SHORTEST_NUMBER: usize = 2;

/// A row as [`labelled`](super::row::labelled) writes it, without the cells that the question does not ask for: the first cell
/// stays. All of it where these cannot be told.
pub(super) fn cells_asked_for(question: &Question, row: &str) -> String {
    let cells: Vec<WrittenCell<'_>> = row.split(" | ").map(WrittenCell::of).collect();
    let Some((first, others)) = cells.split_first() else { return row.to_owned() };
    let choice = Choice::of(question, first, others);
    let found =
        choice.by_name().or_else(|| choice.by_meaning()).or_else(|| choice.that_say_so()).or_else(|| choice.by_part());
    found.map_or_else(|| row.to_owned(), |places| kept(first, others, &places))
}

/// The choice of cells of a row.
struct Choice<'c> {
    question: &'c Question,
    asked: AskedWords<'c>,
    first: &'c WrittenCell<'c>,
    others: &'c [WrittenCell<'c>],
    /// Whether one of several cells that are asked for would be less than the row.
    is_for_several: bool,
}

impl<'c> Choice<'c> {
    fn of(question: &'c Question, first: &'c WrittenCell<'c>, others: &'c [WrittenCell<'c>]) -> Self {
        let is_for_several = asks_for_several(&question.asked);
        Self { question, asked: AskedWords::of(&question.asked), first, others, is_for_several }
    }

    fn is_row_named(&self) -> bool {
        self.asked.hold_all(without_unit(self.first.value))
    }

    /// Of a row that the question names those cells whose columns it names by all their words.
    fn by_name(&self) -> Option<Vec<usize>> {
        // "Years ended June 30, 2019" is asked for by its year.
        let has_year = |column: &str| lower_case_words(column).any(|word| is_year(&word) && self.asked.hold_all(&word));
        let is_named =
            |cell: &WrittenCell<'_>| self.names_column(cell) || cell.column.map(without_unit).is_some_and(has_year);
        // "Product: Bolts" tells which of several rows this is.
        let is_value =
            |cell: &WrittenCell<'_>| cell.value.contains(char::is_alphabetic) && self.asked.hold_all(cell.value);
        match self.places(is_named).len() {
            0 => None,
            1 if self.is_for_several => None,
            _ => {
                // "What does the plan with SSO cost?" names one column, and means another.
                let meant = Meant::by(self.question);
                let is_price = |cell: &WrittenCell<'_>| {
                    self.question.measure == Some(Measure::Money)
                        && cell.column.is_some_and(|column| meant.has(without_unit(column)))
                };
                let is_asked = |cell: &WrittenCell<'_>| is_named(cell) || is_value(cell) || is_price(cell);
                self.is_row_named().then(|| self.places(is_asked))
            }
        }
    }

    /// Of a row that the question names the cells that say so, where the question is for their columns: "Which plans have it?".
    fn that_say_so(&self) -> Option<Vec<usize>> {
        let is_for_columns =
            matches!(self.question.kind, AnswerKind::List | AnswerKind::Definition | AnswerKind::Other);
        let is_so = |cell: &WrittenCell<'_>| cell.column.is_some() && self.asked.asks_for(cell.value);
        let places = self.places(is_so);
        let is_asked = is_for_columns && asks_which(&self.question.asked) && self.is_row_named();
        (is_asked && !places.is_empty()).then_some(places)
    }

    fn names_column(&self, cell: &WrittenCell<'_>) -> bool {
        cell.column.is_some_and(|column| self.asked.hold_all(without_unit(column)))
    }

    /// Of a row that the question names in part the cells in a column that it names or, without naming it, means, or else the only
    /// one that tells the measure that it asks for, and those that tell which row it is.
    fn by_meaning(&self) -> Option<Vec<usize>> {
        if self.is_for_several || !self.tells_row(self.first) && self.places(|cell| self.tells_row(cell)).is_empty() {
            return None;
        }
        let meant = Meant::by(self.question);
        let is_meant = |cell: &WrittenCell<'_>| cell.column.is_some_and(|column| meant.has(without_unit(column)));
        let mut places = self.places(|cell| self.names_column(cell));
        if places.is_empty() {
            places = self.places(is_meant);
        }
        if places.is_empty() && !is_meant(self.first) {
            places = self.places(|cell| self.question.measure.is_some_and(|measure| measure.is_told_by(cell.value)));
            if places.len() != 1 {
                return None;
            }
        }
        Some(self.places_where(|place, cell| places.contains(&place) || self.tells_row(cell)))
    }

    /// Of a wide row of which the question names a column in part those cells of which it names the column or the value so.
    fn by_part(&self) -> Option<Vec<usize>> {
        let of_column = |cell: &WrittenCell<'_>| cell.column.is_some_and(|column| words_in(self.question, column) != 0);
        let is_wide = self.others.len() + 1 >= WIDE;
        (is_wide && self.others.iter().any(of_column))
            .then(|| self.places(|cell| words_in(self.question, cell.text) != 0))
    }

    /// Whether the value of a cell has words of the question beside those of its column, so that it tells which row this is.
    fn tells_row(&self, cell: &WrittenCell<'_>) -> bool {
        let is_address = cell.value.contains('@');
        let has_words = cell.value.contains(char::is_alphabetic) || cell.value.len() >= SHORTEST_NUMBER;
        !is_address
            && has_words
            && words_in(self.question, cell.value) & !words_in(self.question, cell.column.unwrap_or_default()) != 0
    }

    fn places(&self, holds: impl Fn(&WrittenCell<'_>) -> bool) -> Vec<usize> {
        self.places_where(|_, cell| holds(cell))
    }

    fn places_where(&self, holds: impl Fn(usize, &WrittenCell<'_>) -> bool) -> Vec<usize> {
        let cells = self.others.iter().enumerate();
        cells.filter(|(place, cell)| holds(*place, cell)).map(|(place, _)| place).collect()
    }
}

/// A cell as [`labelled`](super::row::labelled) writes it.
struct WrittenCell<'r> {
    text: &'r str,
    column: Option<&'r str>,
    value: &'r str,
}

impl<'r> WrittenCell<'r> {
    fn of(text: &'r str) -> Self {
        match text.split_once(": ") {
            Some((column, value)) => Self { text, column: Some(column), value },
            None => Self { text, column: None, value: text },
        }
    }
}

/// A row of its first cell and those of the others at these places. The label above all columns, which is written once, before the
/// second cell, goes before the first one of these.
fn kept(first: &WrittenCell<'_>, others: &[WrittenCell<'_>], places: &[usize]) -> String {
    let mut row = first.text.to_owned();
    let asked = places.iter().filter_map(|place| Some((*place, others.get(*place)?)));
    for (number, (place, cell)) in asked.enumerate() {
        let lead = lead_of(others).filter(|_| number == 0 && place > 0);
        let lead = lead.map_or_else(String::new, |lead| format!("{lead} "));
        row = format!("{row} | {lead}{}", cell.text);
    }
    row
}

/// Whether a question may be for several cells of a row: "in 2018 and 2019", "from … to", the difference of two.
fn asks_for_several(question: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "and",
        "average",
        "between",
        "both",
        "change",
        "compared",
        "decrease",
        "difference",
        "from",
        "increase",
        "respective",
        "respectively",
        "sum",
        "versus",
    ];
    lower_case_words(question).any(|word| SIGNS.contains(&word.as_str()))
}

fn asks_which(question: &str) -> bool {
    let first = lower_case_words(question).next();
    first.is_some_and(|word| matches!(word.as_str(), "quels" | "quelles" | "welche" | "what" | "which"))
}

/// The label above all columns, which [`labelled`] writes once: "Years ended June 30," of "Years ended June 30, 2019: 3 | 2018: 2".
fn lead_of<'r>(cells: &[WrittenCell<'r>]) -> Option<&'r str> {
    let column = |place: usize| cells.get(place).and_then(|cell| cell.column);
    let (lead, year) = column(0)?.rsplit_once(' ')?;
    (is_year(year) && column(1).is_some_and(is_year)).then_some(lead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn of_a_wide_row_the_cells_asked_for_are_shown() {
        let row = "Article: HG300 | Name: Humidity logger 300 | List price GBP: 259 | List price EUR: 302 | From 10: 5 % | Warranty: 36";
        let cases = [
            (
                "What is the warranty of the humidity logger 300?",
                "Article: HG300 | Name: Humidity logger 300 | Warranty: 36",
            ),
            ("What does the humidity logger 300 weigh?", row),
        ];
        for (question, expected) in cases {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, row), expected, "{question}");
        }
        let narrow = "Article: HG300 | Warranty (months): 36 | Weight: 3";
        for (question, expected) in [
            ("What is the warranty?", narrow),
            ("What is the warranty of the HG300?", "Article: HG300 | Warranty (months): 36"),
            ("What colour has the HG300?", narrow),
        ] {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, narrow), expected, "{question}");
        }
        let plans = "Audit trail | Lite: – | Pro: ✓ | Max: ✓, for a year";
        for (question, expected) in [
            ("Which plans have an audit trail?", "Audit trail | Pro: ✓ | Max: ✓, for a year"),
            ("Which plans have no audit trail?", "Audit trail | Lite: –"),
            ("Does Lite have an audit trail?", "Audit trail | Lite: –"),
            ("Is there an audit trail?", plans),
        ] {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, plans), expected, "{question}");
        }
        let ended = "Sales | Years ended June 30, 2019: 3 | 2018: 2 | 2017: 1";
        for (question, expected) in [
            ("What were the sales in 2018?", "Sales | Years ended June 30, 2018: 2"),
            ("What were the sales in 2019?", "Sales | Years ended June 30, 2019: 3"),
            ("What were the sales in 2017 and 2018?", "Sales | Years ended June 30, 2018: 2 | 2017: 1"),
        ] {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, ended), expected, "{question}");
        }
        let years = "Net profit (in millions) | 2024: 14 | 2023: 9 | Change: 5";
        for (question, expected) in [
            ("What was the net profit in 2023?", "Net profit (in millions) | 2023: 9"),
            ("What was the change of the net profit from 2023 to 2024?", years),
            ("What was the profit in 2023?", "Net profit (in millions) | 2023: 9"),
            ("What was the net profit in 2022 and 2023 respectively?", years),
        ] {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, years), expected, "{question}");
        }
    }

    #[test]
    fn cells_are_meant_without_the_name_of_their_column() {
        let pump = "Model: Aqua 40 | Power: 75 W | Weight: 2.6 kg | List price: 249 € | Available from: March 2027";
        let staff = "Name: Mira Holt | Role: Mechanic | Phone: 0351 22 10 | Since: 2019";
        let task = "No.: 2 | Action: Repaint the sign | Owner: Noor | Due: 2 October";
        let parcel = "Pays: Suisse | Délai: 6 jours | Frais: 19,00 € | Transporteur: Alpex";
        let part = "Teil: Laufrad | Artikelnummer: L-310 | Preis: 38,00 € | Lieferzeit: 3 Wochen";
        let roll = "Product: Walnut roll | Gluten: yes | Milk: no | Nuts: yes | Weight (g): 90 | Price (EUR): 1.20";
        let team = "Team: Sales | Lead: Mira Holt | Deputy: Omar Haddad | E-mail: sales@jar.example";
        let plan = "Plan: Max | Price per month: 19 EUR | Users: 100 | SSO: yes";
        let level = "Level: P2 | Meaning: Production is limited | Answer: 4 h | Team: 3";
        for (question, row, expected) in [
            ("How heavy is the Aqua 40?", pump, "Model: Aqua 40 | Weight: 2.6 kg"),
            ("What does the Aqua 40 cost?", pump, "Model: Aqua 40 | List price: 249 €"),
            ("When can I buy the Aqua 40?", pump, "Model: Aqua 40 | Available from: March 2027"),
            ("What do you know about the Aqua 40?", pump, pump),
            ("Who is the mechanic?", staff, "Name: Mira Holt | Role: Mechanic"),
            ("Who has to repaint the sign?", task, "No.: 2 | Action: Repaint the sign | Owner: Noor"),
            ("Combien coûte la livraison en Suisse ?", parcel, "Pays: Suisse | Frais: 19,00 €"),
            ("Was kostet ein Laufrad?", part, "Teil: Laufrad | Preis: 38,00 €"),
            ("Wie lange dauert die Lieferung vom Laufrad?", part, "Teil: Laufrad | Lieferzeit: 3 Wochen"),
            ("Who is the deputy of Mira Holt?", team, "Team: Sales | Lead: Mira Holt | Deputy: Omar Haddad"),
            ("Who leads the sales team?", team, "Team: Sales | Lead: Mira Holt"),
            ("What does a walnut roll cost?", roll, "Product: Walnut roll | Price (EUR): 1.20"),
            ("What does the Max plan with SSO cost?", plan, "Plan: Max | Price per month: 19 EUR | SSO: yes"),
            ("Does the Max plan have SSO?", plan, "Plan: Max | SSO: yes"),
            ("How long may a P2 fault take?", level, "Level: P2 | Answer: 4 h"),
            ("How heavy is it and what does the Aqua 40 cost?", pump, pump),
        ] {
            let parsed = Question::new(Analyzer::english(), question, 100, |_| 5);
            assert_eq!(cells_asked_for(&parsed, row), expected, "{question}");
        }
    }
}
