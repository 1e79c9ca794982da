//! Rows or columns that a claim compares: "fewer residents than Arden", "the cheapest plan".

use super::Answer;
use super::amount::{Amount, amount, is_distance, measured};
use super::degree::Degree;
use super::table::{Named, Table, is_equal};
use crate::citation::support::figures::is_date;
use crate::citation::support::polarity::Claim;
use crate::citation::term::TermKind;

/// Most lines of a table that are compared.
const MOST_LINES: usize = 256;

/// Most words from a number to the word of comparison: "12 EUR per month more".
const MOST_BEFORE_DEGREE: usize = 4;

/// Words of claims that leave lines out, or are about places in an order.
const RESTRICTING: [&str; 26] = [
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
    "without",
];

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
    let degree = Degree::of(&claim.words)?;
    if claim.words.iter().any(|word| RESTRICTING.contains(&word.as_ref())) || claim.tells_case() {
        return None;
    }
    let is_other =
        |than: usize| claim.words.iter().skip(than + 1).take(2).any(|word| ALL_OTHERS.contains(&word.as_ref()));
    let Some(than) = degree.than.filter(|than| !is_other(*than)) else {
        let is_other = |line: &Line<'_>| line.places.is_empty();
        // Those that share the first place have it.
        return held(&all_lines(table, claim, degree)?, is_other, |one, other| {
            is_equal(one, other) || degree.relation.holds(one, other)
        });
    };
    let lines = named_lines(table, claim, degree)?;
    let is_behind = |line: &Line<'_>| line.places.first().is_some_and(|first| *first > than);
    let answer = held(&lines, is_behind, |one, other| degree.relation.holds(one, other))?;
    let Some(number) = distance(table, claim, degree).filter(|_| answer.is_so) else { return Some(answer) };
    let [one, other] = lines.as_slice() else { return None };
    let (one, other) = if is_behind(one) { (other, one) } else { (one, other) };
    let is_so = is_distance(claim, number, (other.value, one.value), false);
    Some(Answer { is_so, number: Some(number), ..answer })
}

/// The place of a number by which a claim tells lines apart: "12 EUR more than".
fn distance(table: &Table<'_>, claim: &Claim<'_>, degree: Degree) -> Option<usize> {
    let first = degree.from.saturating_sub(MOST_BEFORE_DEGREE);
    let is_quantity = |place: &usize| {
        let term = claim.terms.get(*place).filter(|_| !table.is_named_at(*place));
        term.is_some_and(|term| term.kind == TermKind::Number && !is_date(claim.text, term))
    };
    (first..degree.from).find(is_quantity)
}

/// Whether each line stands so to each of those with which they are compared.
fn held(lines: &[Line<'_>], is_object: impl Fn(&Line<'_>) -> bool, is_so: impl Fn(f64, f64) -> bool) -> Option<Answer> {
    let (objects, subjects): (Vec<&Line<'_>>, Vec<&Line<'_>>) = lines.iter().partition(|line| is_object(line));
    let first = subjects.first().filter(|_| !objects.is_empty())?;
    let mut pairs = subjects.iter().flat_map(|one| objects.iter().map(move |other| (one, other)));
    let wrong = pairs.find(|(one, other)| !is_so(one.value, other.value));
    Some(wrong.map_or(Answer::new(true, first.row), |(one, _)| Answer::new(false, one.row)))
}

/// The lines that the claim names: rows with their values in the column that it measures, or columns with theirs in one row.
fn named_lines<'t>(table: &'t Table<'_>, claim: &Claim<'_>, degree: Degree) -> Option<Vec<Line<'t>>> {
    if let [row] = table.named_rows.as_slice() {
        let columns = table.named_columns().filter(|column| table.year_of(column).is_none());
        return lines(
            degree,
            columns.map(|column| (amount(table, row.row, column), row.row, column.places.as_slice())),
        );
    }
    let rows: Vec<usize> = table.named_rows.iter().map(|row| row.row).collect();
    let column = measured(table, claim, degree, &rows)?;
    let rows = table.named_rows.iter();
    lines(degree, rows.map(|row| (amount(table, row.row, column), row.row, row.places.as_slice())))
}

/// All lines of the kind of the only one that the claim names: rows with their values in the column that it measures, or columns
/// with theirs in the named row.
fn all_lines<'t>(table: &'t Table<'_>, claim: &Claim<'_>, degree: Degree) -> Option<Vec<Line<'t>>> {
    let [named] = table.named_rows.as_slice() else { return None };
    if has_words_of_others(table, claim, named) {
        return None;
    }
    let is_among_years = is_among_years(table, claim, degree, named);
    if is_among_years || degree.measured(&claim.words).is_some_and(|place| named.places.contains(&place)) {
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
    let places = |row: usize| if row == named.row { named.places.as_slice() } else { &[] };
    let rows = table.rows.clone().filter(|row| !table.sums_up(*row));
    lines(degree, rows.map(|row| (amount(table, row, column), row, places(row))))
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
    let are_measured = valued.iter().all(|(amount, ..)| degree.measure.is_of(amount));
    let line = |(amount, row, places): (Amount, usize, &'t [usize])| Line { row, value: amount.value, places };
    (is_one_unit && are_measured).then(|| valued.into_iter().map(line).collect())
}
