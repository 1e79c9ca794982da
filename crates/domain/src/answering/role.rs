//! Whether a row or a sentence has what the question names in the part that the question gives it: "Role: Head of Finance" for
//! "Who is the Head of Finance?", "Signed: … by Ada" for "Who signed it?", "£200.01 to £1,000" for "a claim of £800".

use super::naming::{AskedWords, words_in};
use super::people::asks_who_may;
use super::row::columns_and_values;
use crate::asking::office;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::lexical::analyzer::Analyzer;
use crate::lexical::calendar::days_in;
use crate::markdown::cells;
use crate::wording::lower_case_words;

/// Bonus of a row whose value is named together with its column: "grade 5".
const VALUE_OF_COLUMN: f32 = 0.35;

/// Bonus of a row with the office or the calling of somebody who is asked for, as the whole of a value.
pub(super) const OF_OFFICE: f32 = 0.35;

/// Bonus of a row with a value of several words that the question holds whole.
const WHOLE_VALUE: f32 = 0.3;

/// Bonus of a row with a range that holds the amount in the question, and the loss of one with another range.
const IN_RANGE: f32 = 0.5;

/// Loss of a row about a case without what the question has.
const DENIED: f32 = 0.3;

/// Loss of a row about another day of the week than the question names.
const OTHER_DAY: f32 = 0.4;

/// Words that tell of such a case.
const NO: [&str; 4] = ["no", "without", "not", "non"];

/// Bonus of a sentence that names who did what the question asks: "signed by Ada".
const AGENT: f32 = 0.3;

/// Bonus of a document that changes what another one says.
const AMENDMENT: f32 = 0.15;

/// Most words between a verb and the "by" of the one who did it.
const MOST_BEFORE_AGENT: usize = 6;

/// Most words of a case that a sentence begins with.
const MOST_OF_CASE: usize = 6;

/// The parts that a question gives to names and amounts, read once for all sentences.
pub(super) struct Roles<'q> {
    words: AskedWords<'q>,
    /// The office or the calling of the one who is asked for, in lower case: "mechanic".
    office: Option<String>,
    /// Stem of the verb whose doer is asked for.
    done: Option<String>,
    /// Its terms, with the amount that it gives.
    question: &'q Question,
    /// The days of the week that it names.
    days: Vec<&'static str>,
    /// Whether it says itself that something is not there, or asks whether it is.
    is_denied: bool,
    /// Whether it is for those who may or must do something.
    pub(super) is_for_holder: bool,
}

impl<'q> Roles<'q> {
    pub(super) fn of(question: &'q Question) -> Self {
        let doer = (question.kind == AnswerKind::Person).then(|| verb_of_doer(&question.asked));
        Self {
            words: AskedWords::of(&question.asked),
            office: office(&question.asked),
            done: doer.flatten(),
            question,
            days: days_in(&question.asked),
            is_denied: question.kind == AnswerKind::YesNo
                || lower_case_words(&question.asked).any(|word| NO.contains(&word.as_str())),
            is_for_holder: asks_who_may(&question.asked),
        }
    }

    /// The bonus of a sentence; `is_change` is that its document changes what another one says.
    pub(super) fn bonus_of_sentence(&self, text: &str, is_change: bool) -> f32 {
        let agent = if self.names_doer(text) { AGENT } else { 0.0 };
        let ranged = bonus_of_range(case_of(text).and_then(|case| self.question.terms.range_fit(case)));
        agent + ranged + if is_change { AMENDMENT } else { 0.0 }
    }

    /// The bonus of a row below a header.
    pub(super) fn bonus_of_row(&self, header: &str, row: &str) -> f32 {
        let cells = columns_and_values(header, row);
        let is_named = cells.iter().any(|(column, value)| self.words.name(column, value));
        let holds_whole = cells.iter().any(|(_, value)| self.words.hold_whole(value));
        let named = if is_named { VALUE_OF_COLUMN } else { 0.0 };
        let has_office = |value: &str| self.office.as_deref().is_some_and(|office| value.to_lowercase() == office);
        let named = if cells.iter().any(|(_, value)| has_office(value)) { named.max(OF_OFFICE) } else { named };
        let whole = if holds_whole { WHOLE_VALUE } else { 0.0 };
        let denied = if self.denies(row) { DENIED } else { 0.0 };
        let elsewhere = if cells.first().is_some_and(|(_, name)| self.is_of_other_day(name)) { OTHER_DAY } else { 0.0 };
        let fits = cells.iter().filter_map(|(column, value)| {
            let is_named = words_in(self.question, column) != 0;
            let terms = &self.question.terms;
            if is_named { terms.range_fit_in_column(header, value) } else { terms.range_fit(value) }
        });
        named.max(whole) - denied - elsewhere + bonus_of_range(fits.reduce(|one, other| one || other))
    }

    /// Whether the first cell of a row is a day of the week that the question names.
    pub(super) fn is_of_day(&self, row: &str) -> bool {
        cells(row).next().and_then(|(_, name)| one_day(name)).is_some_and(|day| self.days.contains(&day))
    }

    /// Whether the first cell of a row is a day of the week, and not one that the question names.
    fn is_of_other_day(&self, name: &str) -> bool {
        !self.days.is_empty() && one_day(name).is_some_and(|day| !self.days.contains(&day))
    }

    /// Whether a row is about a case without something that the question has: "no attendant".
    fn denies(&self, row: &str) -> bool {
        let words: Vec<String> = lower_case_words(row).collect();
        let is_asked =
            |word: &String| self.question.terms.terms().iter().any(|term| term.word.eq_ignore_ascii_case(word));
        let is_denied = |pair: &[String]| matches!(pair, [no, what] if NO.contains(&no.as_str()) && is_asked(what));
        !self.is_denied && words.windows(2).any(is_denied)
    }

    /// Whether a sentence says by whom that was done which the question asks the doer of.
    fn names_doer(&self, sentence: &str) -> bool {
        let Some(done) = self.done.as_deref().filter(|_| sentence.contains("by")) else { return false };
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let is_name = |word: Option<&&str>| word.is_some_and(|word| word.starts_with(char::is_uppercase));
        let mut verbs = words.iter().enumerate().filter(|(_, word)| stem(word).as_deref() == Some(done));
        verbs.any(|(at, _)| {
            let by = words.iter().skip(at + 1).take(MOST_BEFORE_AGENT).position(|word| *word == "by");
            by.is_some_and(|by| is_name(words.get(at + by + 2)))
        })
    }
}

/// The day of the week that a cell names: not "Mon–Fri".
fn one_day(cell: &str) -> Option<&'static str> {
    match days_in(cell).as_slice() {
        [day] => Some(day),
        _ => None,
    }
}

/// The bonus for a range that holds the amount of the question, or does not.
fn bonus_of_range(fit: Option<bool>) -> f32 {
    match fit {
        Some(true) => IN_RANGE,
        Some(false) => -IN_RANGE,
        None => 0.0,
    }
}

/// The case that a sentence begins with and that it is about: "Below 80: 5 % off."
fn case_of(sentence: &str) -> Option<&str> {
    let (case, _) = sentence.split_once([':', ','])?;
    (case.split_whitespace().count() <= MOST_OF_CASE).then_some(case)
}

/// The stem of the verb of "Who signed it?".
fn verb_of_doer(question: &str) -> Option<String> {
    let mut words = question.split_whitespace();
    words.next().filter(|who| who.eq_ignore_ascii_case("who"))?;
    stem(words.next()?)
}

fn stem(word: &str) -> Option<String> {
    Analyzer::english().terms(word).into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Question {
        Question::new(Analyzer::english(), text, 100, |_| 5)
    }

    #[test]
    fn a_row_has_what_the_question_names() {
        let staff = "| Name | Role | Reports to |";
        let of = |text: &str, row: &str| Roles::of(&question(text)).bonus_of_row(staff, row);
        let head = "| Ada Byron | Head of Finance | Chair |";
        assert!(
            of("Who is the Head of Finance?", head)
                > of("Who is the Head of Finance?", "| Bo | Clerk | Head of Finance, acting |")
        );
        let grades = "| Grade | Salary |";
        let salary = question("What is the salary of grade 5?");
        assert!(
            Roles::of(&salary).bonus_of_row(grades, "| 5 | 100 |")
                > Roles::of(&salary).bonus_of_row(grades, "| 4 | 90 |")
        );
    }

    #[test]
    fn a_row_has_the_office_that_is_asked_for() {
        let of = |text: &str| Roles::of(&question(text)).bonus_of_row("| Name | Role |", "| Ada | Wheel builder |");
        for asked in ["Who is the wheel builder?", "who's the wheel builder"] {
            assert!(of(asked) >= OF_OFFICE, "{asked}");
        }
        assert!(of("Who is the wheel builder's apprentice?") < OF_OFFICE);
        let one =
            Roles::of(&question("Qui est le mécanicien ?")).bonus_of_row("| Nom | Rôle |", "| Ada | Mécanicien |");
        assert!(one >= OF_OFFICE);
    }

    #[test]
    fn a_row_without_what_the_question_has_is_about_another_case() {
        let of = |text: &str, case: &str| {
            Roles::of(&question(text)).bonus_of_row("| Case | mph |", &format!("| Crossing failed, {case} | 5 |"))
        };
        let with = "How fast may it go over a failed crossing with an attendant?";
        assert!(of(with, "no attendant") < of(with, "attendant"));
        let without = "How fast may it go without an attendant?";
        assert!(of(without, "no attendant") >= of(without, "attendant"));
    }

    #[test]
    fn an_amount_lies_in_a_range() {
        let claim = question("who approves an expense claim of £800");
        let header = "| Amount | Approved by |";
        let rows = [
            ("up to £200", -1),
            ("£200.01 to £1,000", 1),
            ("£1,000.01 – £5,000", -1),
            ("above £5,000", -1),
            ("any", 0),
        ];
        for (amount, expected) in rows {
            let bonus = Roles::of(&claim).bonus_of_row(header, &format!("| {amount} | Ada |"));
            assert_eq!(bonus.total_cmp(&0.0) as i8, expected, "{amount}");
        }
        let open = question("Who approves £9,000?");
        assert!(Roles::of(&open).bonus_of_row(header, "| above £5,000 | Ada |") > 0.0);
        let inspection = question("What is deducted if the score is 72?");
        let of_case = |text: &str| Roles::of(&inspection).bonus_of_sentence(text, false);
        assert!(of_case("Below 80: 5 % off that month.") > 0.0 && of_case("Below 70: 12 %.") < 0.0);
        assert!(of_case("Scores are noted monthly.").abs() < f32::EPSILON);
        for text in ["Who approved it in 2024?", "Who approves £1 or £2?", "Who approves €800?"] {
            assert!(
                Roles::of(&question(text)).bonus_of_row(header, "| £200 to £1,000 | Ada |").abs() < f32::EPSILON,
                "{text}"
            );
        }
    }

    #[test]
    fn a_doer_is_named_after_by() {
        for (text, sentence, expected) in [
            ("Who signed the lease?", "Signed: 14 June by Ada Byron", true),
            ("Who founded it?", "It was founded in 1890 by Bo.", true),
            ("Who signed the lease?", "Signed by hand.", false),
            ("Who signed the lease?", "Supplier: Ada Byron", false),
            ("When was it signed?", "Signed by Ada.", false),
        ] {
            assert_eq!(Roles::of(&question(text)).names_doer(sentence), expected, "{text} {sentence}");
        }
    }
}
