//! Figures that follow from others: sums, differences, means, shares, products, and calculations that a text writes out.

use std::collections::HashSet;

use super::figures::{is_quantity, plain_and_scale};
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::is_unit;
use crate::wording::lower_case_words;

/// Beginnings of words of a claim that calculates.
const CALCULATING: [&str; 42] = [
    "altogether",
    "averag",
    "calculat",
    "chang",
    "combin",
    "compar",
    "declin",
    "decreas",
    "differ",
    "drop",
    "exceed",
    "fall",
    "fell",
    "grew",
    "grow",
    "higher",
    "increas",
    "less",
    "lower",
    "mean",
    "minus",
    "more",
    "percent",
    "plus",
    "proportion",
    "ratio",
    "reduc",
    "rise",
    "risen",
    "rose",
    "share",
    "sum",
    "times",
    "together",
    "total",
    "twice",
    "varian",
    // German.
    "differenz",
    "gesamt",
    "insgesamt",
    "summe",
    "zusammen",
];

/// Signs of a calculation.
const SIGNS: [char; 4] = ['%', '×', '÷', '='];

/// Most figures that a calculated one is looked for among.
const MOST_OPERANDS: usize = 12;

/// The positions of the figures of a text that need no source: those that follow from others which are held, or that the
/// question gives and something is calculated from. A figure that is calculated may serve for the next one.
pub(in crate::citation) fn calculated(
    text: &str,
    terms: &[Term],
    is_held: &dyn Fn(&str) -> bool,
    is_asked: &dyn Fn(&str) -> bool,
) -> HashSet<usize> {
    let is_reckoning = text.contains(SIGNS)
        || [" + ", " / "].iter().any(|sign| text.contains(sign))
        || lower_case_words(text).any(|word| reckons(&word));
    if !is_reckoning {
        return HashSet::new();
    }
    let figures: Vec<usize> =
        (0..terms.len()).filter(|at| terms.get(*at).is_some_and(|term| is_quantity(text, term))).collect();
    let value = |at: usize| terms.get(at).and_then(|term| Operand::of(term, at));
    let stem = |at: usize| terms.get(at).map_or("", |term| term.stem.as_str());
    let is_known = |at: &usize| is_held(stem(*at)) || is_asked(stem(*at));
    let mut operands: Vec<Operand> =
        figures.iter().copied().filter(is_known).filter_map(value).take(MOST_OPERANDS).collect();
    operands.dedup_by(|one, two| one.value.total_cmp(&two.value).is_eq());
    let mut found = HashSet::new();
    let mut unknown: Vec<usize> = figures.into_iter().filter(|at| !is_known(at)).collect();
    while let Some((place, used)) = unknown.iter().enumerate().find_map(|(place, at)| {
        let used = follows(text, terms, *at, &operands)?;
        Some((place, used))
    }) {
        let at = unknown.remove(place);
        found.insert(at);
        // What the question tells is settled where something is calculated from it.
        let asked: Vec<&str> = used.iter().map(|at| stem(*at)).filter(|stem| is_asked(stem)).collect();
        found.extend((0..terms.len()).filter(|at| asked.contains(&stem(*at))));
        operands.extend(value(at));
    }
    found
}

/// A figure that others may be calculated from.
#[derive(Debug, Clone, Copy)]
struct Operand {
    /// Its position among the terms.
    at: usize,
    value: f64,
    is_percent: bool,
}

impl Operand {
    fn of(term: &Term, at: usize) -> Option<Self> {
        let value = term.stem.parse().ok()?;
        Some(Self { at, value, is_percent: term.unit == Some("percent") })
    }
}

/// The positions of the figures that a figure is calculated from, rounded as it is written: it is the difference, sum, mean,
/// ratio, share, product or change of two, the sum or mean of all, or the value of a calculation that the text writes out.
/// `None` if it does not follow.
fn follows(text: &str, terms: &[Term], at: usize, operands: &[Operand]) -> Option<Vec<usize>> {
    let term = terms.get(at)?;
    let figure = Figure::of(text, term);
    if let Some(used) = written_out(text, terms, operands).into_iter().find(|(value, _)| figure.is(*value)) {
        return Some(used.1);
    }
    let pairs =
        operands.iter().enumerate().flat_map(|(at, one)| operands.iter().skip(at + 1).map(move |two| (one, two)));
    let has_sign = |signs: &[char]| text.contains(signs);
    let multiplies = has_sign(&['×', '*']) || text.contains(" x ");
    let of_two = |(one, two): &(&Operand, &Operand)| {
        let (a, b) = (one.value, two.value);
        let share = |part: f64, whole: f64| whole != 0.0 && figure.is(part / whole * 100.0);
        let ratio = |part: f64, whole: f64| {
            let divides = figure.decimals > 0 || has_sign(&['/', '÷']);
            divides && whole != 0.0 && figure.is(part / whole)
        };
        let of_percent = |percent: f64, whole: f64| {
            let part = percent / 100.0 * whole;
            figure.is(part) || figure.is(whole - part) || figure.is(whole + part)
        };
        match (figure.is_percent, one.is_percent, two.is_percent) {
            (true, false, false) => share(a, b) || share(b, a) || share(a - b, b) || share(a - b, a),
            (true, true, true) => figure.is(a + b) || figure.is(a - b) || share(a - b, b) || share(a - b, a),
            (true, ..) => multiplies && figure.is(a * b),
            (false, true, false) => of_percent(a, b),
            (false, false, true) => of_percent(b, a),
            (false, ..) => {
                let is_product = || multiplies && figure.is(a * b);
                figure.is(a - b)
                    || figure.is(a + b)
                    || figure.is(f64::midpoint(a, b))
                    || ratio(a, b)
                    || ratio(b, a)
                    || is_product()
            }
        }
    };
    if let Some((one, two)) = pairs.into_iter().find(of_two) {
        return Some(vec![one.at, two.at]);
    }
    let (sum, count) = operands.iter().fold((0.0, 0.0), |(sum, count), operand| (sum + operand.value, count + 1.0));
    let is_of_all = operands.len() > 2 && !figure.is_percent && (figure.is(sum) || figure.is(sum / count));
    is_of_all.then(|| operands.iter().map(|operand| operand.at).collect())
}

/// A figure that may have been calculated.
struct Figure {
    /// Its values: as it is read, and without its scale.
    values: Vec<f64>,
    decimals: usize,
    is_percent: bool,
    tolerance: f64,
}

impl Figure {
    fn of(text: &str, term: &Term) -> Self {
        let word = text.get(term.range.clone()).unwrap_or_default();
        let digits = word.split([' ', '-', '\u{a0}']).next().unwrap_or_default();
        let decimals = digits.rsplit_once('.').map_or(0, |(_, fraction)| fraction.len());
        let places = i32::try_from(decimals).unwrap_or(i32::MAX);
        let plain = plain_and_scale(text, term).map(|(number, _)| number);
        let values = [Some(term.stem.clone()), plain].into_iter().flatten().filter_map(|stem| stem.parse().ok());
        let is_percent = term.unit == Some("percent");
        // A whole number is rounded where it is a share; a sum, a difference or a mean of whole numbers is exact.
        let is_rounded = decimals > 0 || is_percent;
        let tolerance = if is_rounded { 0.5 * 10_f64.powi(-places) * (1.0 + 1e-9) } else { 1e-6 };
        Self { values: values.collect(), decimals, is_percent, tolerance }
    }

    fn is(&self, value: f64) -> bool {
        self.values.iter().any(|own| (own - value.abs()).abs() <= self.tolerance)
    }
}

/// The values of the calculations that a text writes out, such as "4 × 3,860 + 890", with the positions of their figures, all of
/// which are known.
fn written_out(text: &str, terms: &[Term], operands: &[Operand]) -> Vec<(f64, Vec<usize>)> {
    let known = |term: &Term| {
        let value: f64 = term.stem.parse().ok()?;
        operands.iter().find(|operand| operand.value.total_cmp(&value).is_eq())
    };
    let numbers: Vec<&Term> = terms.iter().filter(|term| term.kind == TermKind::Number).collect();
    let mut found = Vec::new();
    for (place, first) in numbers.iter().enumerate() {
        let Some(start) = known(first) else { continue };
        // The sum of the terms before, and the product under way.
        let (mut sum, mut product, mut used) = (0.0, start.value, vec![start.at]);
        for pair in numbers.get(place..).unwrap_or_default().windows(2) {
            let [one, two] = pair else { break };
            let sign = text.get(one.range.end..two.range.start).and_then(operator);
            let (Some(sign), Some(next)) = (sign, known(two)) else { break };
            match sign {
                '+' => (sum, product) = (sum + product, next.value),
                '-' => (sum, product) = (sum + product, -next.value),
                '×' => product *= next.value,
                _ => product /= next.value,
            }
            used.push(next.at);
            let value = sum + product;
            found.push((value, used.clone()));
            found.push((value / 100.0, used.clone()));
            if sign == '÷' {
                found.push((value.ceil(), used.clone()));
            }
        }
    }
    found
}

/// The operation that stands between two figures, units aside.
fn operator(gap: &str) -> Option<char> {
    let words: Vec<&str> =
        gap.split([' ', '\u{a0}', '(', ')']).filter(|word| !word.is_empty() && !is_unit(word)).collect();
    let [sign] = words.as_slice() else { return None };
    match sign.trim_matches(['$', '€', '£', '%']) {
        "+" | "plus" => Some('+'),
        "-" | "−" | "–" | "minus" => Some('-'),
        "×" | "*" | "x" | "times" => Some('×'),
        "/" | "÷" | "by" => Some('÷'),
        _ => None,
    }
}

/// Whether a word in lower case is one of a calculation.
pub(super) fn reckons(word: &str) -> bool {
    CALCULATING.iter().any(|beginning| word.starts_with(beginning))
}
