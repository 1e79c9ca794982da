//! Rows or columns that a claim compares: "fewer residents than Arden", "the cheapest plan".

use super::Answer;
use super::amount::{Amount, Sign, amount, is_distance, measured};
use super::degree::{Degree, Relation};
use super::named_rows::Named;
use super::table::{Column, Table, is_equal};
use super::yes_no::cell_says_yes;
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;

/// Most lines of a table that are compared.
const MOST_LINES: usize = 256;

/// Most words from a number to the word of comparison: "12 EUR per month more".
const MOST_BEFORE_DEGREE: usize = 4;

/// Words of claims that leave lines out, or are about places in an order.
const RESTRICTING: [&str; 25] = [
    "after",
    "almost",
    "among",
    "amongst",
    "außer",
    "besides",
    "dritt",
    "except",
    "excluding",
    "fourth",
    "joint",
    "nach",
    "nearly",
    "neben",
    "next",
    "one",
    "place",
    "platz",
    "position",
    "rank",
    "ranked",
    "second",
    "third",
    "unless",
    "unter",
];

/// Words of a multiple that is no "as many as".
const MULTIPLES: [&str; 7] = ["doppelt", "double", "half", "hälfte", "times", "triple", "twice"];

/// Words of lines whose values are added up.
const COMBINED: [&str; 3] = ["combined", "together", "zusammen"];

/// Words behind "than" by which a line is compared with all others.
const ALL_OTHERS: [&str; 7] = ["all", "alle", "anderen", "any", "every", "other", "others"];

/// Words before a year in which something was so, and before what a line has of its own in several years.
const IN: [&str; 4] = ["during", "en", "im", "in"];
const ITS: [&str; 6] = ["ihre", "ihren", "its", "seine", "seinen", "their"];

/// A row or a column with its value.
struct Line<'t> {
    row: usize,
    value: f64,
    /// The places of its name in the claim; none if the claim does not name it.
    places: &'t [usize],
}

/// Whether the lines that a claim compares, one with another or one with all, stand to each other as it says.
pub(super) fn answer(table: &Table<'_>, claim: &Claim<'_>) -> Option<Answer> {
    let degree = Degree::of(&claim.words, |place| table.is_of_name(claim, place))?;
    // "Other" of "other liabilities" is part of a name.
    let is = |place: usize, list: &[&str]| {
        !table.is_named_at(place)
            && !table.is_named_at(place + 1)
            && claim.words.get(place).is_some_and(|word| list.contains(&word.as_ref()))
    };
    let has = |list: &[&str]| (0..claim.words.len()).any(|place| is(place, list));
    let multiplies = !matches!(degree.relation, Relation::Times(_)) && has(&MULTIPLES);
    if has(&RESTRICTING) || multiplies || claim.tells_case() {
        return None;
    }
    let is_with_all = |than: &usize| is(than + 1, &ALL_OTHERS) || is(than + 2, &ALL_OTHERS);
    match degree.than.filter(|than| !is_with_all(than)) {
        Some(than) => with_named(table, claim, degree, than),
        None => with_all(table, claim, degree),
    }
}

/// Whether the line that the claim names stands so to all others. Those that share the first place have it.
fn with_all(table: &Table<'_>, claim: &Claim<'_>, degree: Degree) -> Option<Answer> {
    let is_other = |line: &Line<'_>| line.places.is_empty();
    let is_so = |one: f64, other: f64| is_equal(one, other) || degree.relation.holds(one, other);
    held(&all_lines(table, claim, degree)?, is_other, is_so)
}

/// Whether the lines that the claim names before "than" stand so to those behind it, and by as much as it says.
fn with_named(table: &Table<'_>, claim: &Claim<'_>, degree: Degree, than: usize) -> Option<Answer> {
    let is_behind = |line: &Line<'_>| line.places.first().is_some_and(|first| *first > than);
    let (mut lines, column) = named_lines(table, claim, degree)?;
    if let Some(combined) = claim.words.iter().position(|word| COMBINED.contains(&word.as_ref())) {
        lines = added_up(lines, |line| is_behind(line) == (combined > than))?;
    }
    let answer = held(&lines, is_behind, |one, other| degree.relation.holds(one, other))?;
    // "Cheaper than Team, and includes SSO" says more.
    let mut subjects = table.named_rows.iter().filter(|row| row.places.first().is_some_and(|first| *first < than));
    if answer.is_so && column.is_some_and(|column| subjects.any(|row| conditions(table, claim, row, column).is_none()))
    {
        return None;
    }
    let Some(number) = distance(table, claim, degree).filter(|_| answer.is_so) else { return Some(answer) };
    let [one, other] = lines.as_slice() else { return None };
    let (one, other) = if is_behind(one) { (other, one) } else { (one, other) };
    let is_so = is_distance(claim, number, (other.value, one.value), false);
    Some(Answer { is_so, number: Some(number), ..answer })
}

/// The lines with the first of some in the place of these, and with their sum; `None` if there are none.
fn added_up<'t>(lines: Vec<Line<'t>>, is_added: impl Fn(&Line<'t>) -> bool) -> Option<Vec<Line<'t>>> {
    let (added, mut others): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_added);
    let value = added.iter().map(|line| line.value).sum();
    others.push(Line { value, ..added.into_iter().next()? });
    Some(others)
}

/// The place of a number by which a claim tells lines apart: "12 EUR more than".
fn distance(table: &Table<'_>, claim: &Claim<'_>, degree: Degree) -> Option<usize> {
    let first = degree.from.saturating_sub(MOST_BEFORE_DEGREE);
    let number = (first..degree.from).find(|place| table.is_quantity(claim, *place))?;
    // "12,318 residents, more than Hove" tells no difference.
    let (from, to) = (claim.terms.get(number)?.range.end, claim.terms.get(degree.from)?.range.start);
    claim.text.get(from..to).is_some_and(|between| !between.contains([',', ';', '(', ')', '.'])).then_some(number)
}

/// Whether each line stands so to each of those with which they are compared.
fn held(lines: &[Line<'_>], is_object: impl Fn(&Line<'_>) -> bool, is_so: impl Fn(f64, f64) -> bool) -> Option<Answer> {
    let (objects, subjects): (Vec<&Line<'_>>, Vec<&Line<'_>>) = lines.iter().partition(|line| is_object(line));
    let first = subjects.first().filter(|_| !objects.is_empty())?;
    let mut pairs = subjects.iter().flat_map(|one| objects.iter().map(move |other| (one, other)));
    let wrong = pairs.find(|(one, other)| !is_so(one.value, other.value));
    Some(wrong.map_or(Answer::new(true, first.row), |(one, _)| Answer::new(false, one.row)))
}

/// The lines that the claim names: rows with their values in the column that it measures, which is given too, or columns with
/// theirs in one row.
fn named_lines<'t>(
    table: &'t Table<'_>,
    claim: &Claim<'_>,
    degree: Degree,
) -> Option<(Vec<Line<'t>>, Option<&'t Column>)> {
    if let [row] = table.named_rows.as_slice() {
        let columns = table.named_columns().filter(|column| table.year_of(column).is_none());
        let valued = columns.map(|column| (amount(table, row.row, column), row.row, column.places.as_slice()));
        return Some((lines(degree, valued)?, None));
    }
    let rows: Vec<usize> = table.named_rows.iter().map(|row| row.row).collect();
    let column = measured(table, claim, degree, &rows)?;
    let valued = table.named_rows.iter().map(|row| (amount(table, row.row, column), row.row, row.places.as_slice()));
    Some((lines(degree, valued)?, Some(column)))
}

/// All lines of the kind of the only one that the claim names: rows with their values in the column that it measures, or columns
/// with theirs in the named row. Where the claim is about some of them, "the cheapest plan with SSO", these.
fn all_lines<'t>(table: &'t Table<'_>, claim: &Claim<'_>, degree: Degree) -> Option<Vec<Line<'t>>> {
    let [named] = table.named_rows.as_slice() else { return None };
    if has_words_of_others(table, claim, named) {
        return None;
    }
    let is_among_years = is_among_years(table, claim, degree, named);
    let measured_place = degree.measured(&claim.words);
    let measures_row = named.places.is_empty() || measured_place.is_some_and(|place| named.places.contains(&place));
    if is_among_years || measures_row {
        let of_kind = table.columns.iter().filter(|column| table.year_of(column).is_some() == is_among_years);
        return lines(
            degree,
            of_kind.map(|column| (amount(table, named.row, column), named.row, column.places.as_slice())),
        );
    }
    // "The most visitors in 2019" may be of a town, and not of a year.
    let is_year = table.tokens(named.row).iter().any(|token| token.column == 1 && table.is_year(token.term));
    if table.sums_up(named.row) || (is_year && !follows(claim, degree, &IN)) {
        return None;
    }
    let column = measured(table, claim, degree, &[named.row])?;
    // "The fee is in the plan Plus highest" is about plans, which may be columns.
    let is_before = |places: &[usize]| places.first().is_some_and(|first| *first < degree.at);
    let measures_column = measured_place.is_some_and(|place| column.places.contains(&place));
    if !column.places.is_empty() && !measures_column && table.year_of(column).is_none() && is_before(&named.places) {
        return None;
    }
    let conditions = conditions(table, claim, named, column)?;
    let places = |row: usize| if row == named.row { named.places.as_slice() } else { &[] };
    let rows = table
        .rows
        .clone()
        .filter(|row| !table.sums_up(*row) && conditions.iter().all(|condition| condition.holds(table, *row)));
    lines(degree, rows.map(|row| (amount(table, row, column), row, places(row))))
}

/// A condition of the rows that are compared.
enum Condition {
    /// A column says yes, or no.
    Says { column: usize, yes: bool },
    /// A column has a word.
    Has { column: usize, term: u32 },
}

impl Condition {
    fn holds(&self, table: &Table<'_>, row: usize) -> bool {
        match self {
            Self::Says { column, yes } => cell_says_yes(table, row, *column) == Some(*yes),
            Self::Has { column, term } => table.words(row, *column).iter().any(|word| word.term == *term),
        }
    }
}

/// The conditions that a claim sets beside its comparison: other columns that it names, which say yes or no, and words that the
/// named row has in others. `None` of columns that say neither, and where the named row does not meet them.
fn conditions(table: &Table<'_>, claim: &Claim<'_>, named: &Named, measured: &Column) -> Option<Vec<Condition>> {
    let mut found = Vec::new();
    for column in table.named_columns().filter(|column| column.number != measured.number) {
        let mut words = table.words(named.row, column.number).into_iter().peekable();
        // Its value is said.
        if words.peek().is_some() && words.all(|word| table.is_claimed(word.term)) {
            continue;
        }
        let first = column.places.first()?;
        let before = claim.words.get(first.saturating_sub(2)..*first).unwrap_or_default();
        let is_denied = before.iter().any(|word| matches!(word.as_ref(), "ohne" | "sans" | "without"));
        let yes = cell_says_yes(table, named.row, column.number).filter(|yes| *yes != is_denied)?;
        found.push(Condition::Says { column: column.number, yes });
    }
    let content = claim.terms.iter().zip(table.claimed.iter()).enumerate();
    let words = content.filter(|(place, (term, _))| term.kind == TermKind::Word && !table.is_named_at(*place));
    for term in words.filter_map(|(_, (_, term))| *term) {
        let own = table.tokens(named.row).iter().find(|token| token.term == term);
        let own = own.filter(|token| token.column > 1 && token.column != measured.number);
        found.extend(own.map(|token| Condition::Has { column: token.column, term }));
    }
    Some(found)
}

/// Whether the claim compares years of the named row: "were highest in 2023", "had its highest sales in 2023".
fn is_among_years(table: &Table<'_>, claim: &Claim<'_>, degree: Degree, named: &Named) -> bool {
    let before = degree.at.checked_sub(1).and_then(|place| claim.words.get(place)).map_or("", AsRef::as_ref);
    let is_before = |places: &[usize]| places.first().is_some_and(|first| *first < degree.at);
    let names_year = table.named_columns().any(|column| !is_before(&column.places) && table.year_of(column).is_some());
    names_year && is_before(&named.places) && (ITS.contains(&before) || follows(claim, degree, &IN))
}

/// Whether one of these words follows the word of comparison.
fn follows(claim: &Claim<'_>, degree: Degree, words: &[&str]) -> bool {
    claim.words.get(degree.at + 1).is_some_and(|word| words.contains(&word.as_ref()))
}

/// Whether a claim has words of cells of other rows alone: "the cheapest plan with SSO" leaves rows out.
fn has_words_of_others(table: &Table<'_>, claim: &Claim<'_>, named: &Named) -> bool {
    let is_of_others = |term: u32| {
        let rows = table.source.postings(term);
        rows.iter().any(|row| table.rows.contains(row)) && !rows.contains(&named.row)
    };
    let content = claim.terms.iter().zip(table.claimed.iter()).enumerate();
    let mut content = content.filter(|(place, (term, _))| term.kind != TermKind::Stop && !table.is_named_at(*place));
    content.any(|(_, (_, term))| term.is_some_and(is_of_others))
}

/// The lines that have a value, in one unit; `None` of units that differ, and of values that cannot be compared so.
fn lines<'t>(
    degree: Degree,
    valued: impl Iterator<Item = (Option<Amount>, usize, &'t [usize])>,
) -> Option<Vec<Line<'t>>> {
    let valued = valued.take(MOST_LINES).filter_map(|(amount, row, places)| Some((amount?, row, places)));
    let valued: Vec<(Amount, usize, &[usize])> = valued.collect();
    let mut units = valued.iter().filter_map(|(amount, ..)| amount.unit);
    let unit = units.next();
    let is_one_unit = units.all(|other| Some(other) == unit);
    let is_signed = |sign: Sign| valued.iter().any(|(amount, ..)| amount.sign == sign);
    // "A larger loss" is further below zero, and a cost in parentheses beside an income is another thing.
    let are_signed = is_signed(Sign::Parentheses) && (is_signed(Sign::Minus) || is_signed(Sign::None));
    let are_measured = valued.iter().all(|(amount, ..)| degree.measure.is_of(amount));
    let line = |(amount, row, places): (Amount, usize, &'t [usize])| Line { row, value: amount.value, places };
    (is_one_unit && are_measured && !are_signed).then(|| valued.into_iter().map(line).collect())
}
