//! Figures of a claim that its sources hold in another form: without the scale that stands above their table, as the figures
//! from which it is calculated, or as a range in which it lies.

use std::collections::HashSet;

use super::contradiction::is_year;
use super::polarity::Claim;
use crate::citation::source::SourceParts;
use crate::citation::term::{Term, TermKind, terms};
use crate::citation::unit::{Unit, is_unit, scale_of};
use crate::wording::lower_case_words;

/// Beginnings of words of a claim that calculates.
const CALCULATING: [&str; 37] = [
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
];

/// Words around a calculated figure that state nothing.
const AROUND: [&str; 8] = ["about", "approximately", "formula", "result", "results", "roughly", "therefore", "thus"];

/// How texts name the scale of their figures: words of a claim, and forms above a table.
const SCALES: [(&str, &[&str]); 3] = [
    ("thousand", &["thousand", "'000", "’000", "000s", "000's"]),
    ("million", &["million", "$m", "€m", "£m", "mn)"]),
    ("billion", &["billion", "$bn", "€bn", "£bn"]),
];

/// Stems of words before a number that is the least or the most.
const LOWER_LIMITS: [&str; 6] = ["abov", "exceed", "from", "least", "over", "than"];
const UPPER_LIMITS: [&str; 6] = ["below", "most", "than", "to", "under", "until"];

/// Signs of a calculation.
const SIGNS: [char; 4] = ['%', '×', '÷', '='];

/// Most figures that a calculated one is looked for among.
const MOST_OPERANDS: usize = 12;

/// The claim as its sources say it, where they hold a figure of it in another form; `None` where they do not.
/// Figures of the question serve a calculation, too.
pub(super) fn as_sourced<'c>(
    claim: &Claim<'c>,
    sources: &[&SourceParts],
    question: Option<&SourceParts>,
) -> Option<Claim<'c>> {
    let is_lacking = |term: &Term| term.kind == TermKind::Number && !is_held(sources, &term.stem);
    if !claim.terms.iter().any(is_lacking) {
        return None;
    }
    let mut terms = claim.terms.clone();
    let mut differs = false;
    for term in terms.iter_mut().filter(|term| is_lacking(term)) {
        if let Some(plain) = unscaled(claim.text, term, sources) {
            term.stem = plain;
            differs = true;
        }
    }
    differs |= settle_in_range(claim.text, &mut terms, sources);
    differs |= settle_in_limits(&mut terms, sources, question);
    differs |= settle_calculated(claim.text, &mut terms, sources, question);
    differs.then(|| claim.with_terms(terms))
}

fn is_held(sources: &[&SourceParts], stem: &str) -> bool {
    sources.iter().any(|source| source.term(stem).is_some_and(|term| !source.postings(term).is_empty()))
}

/// The number without its scale, if a source that names the scale holds it so: "2,296 million" of a table "in millions".
fn unscaled(text: &str, term: &Term, sources: &[&SourceParts]) -> Option<String> {
    let (number, scale) = plain_and_scale(text, term)?;
    let (_, forms) = SCALES.iter().find(|(name, _)| *name == scale)?;
    sources.iter().any(|source| is_held(&[*source], &number) && source.names_any(forms)).then_some(number)
}

/// The number of a term before its scale, and the scale.
fn plain_and_scale(text: &str, term: &Term) -> Option<(String, String)> {
    let (number, scale) = text.get(term.range.clone())?.split_once([' ', '-', '\u{a0}'])?;
    let scale = scale.to_lowercase();
    scale_of(&scale)?;
    Some((terms(number).into_iter().next()?.stem, scale))
}

/// Takes from a claim the exactness of figures that lie in a range which it names and the sources hold: "a trip of 1,200
/// euros needs approval, as trips from 400 to 2,500 euros do". Returns whether there are any.
fn settle_in_range(text: &str, terms: &mut [Term], sources: &[&SourceParts]) -> bool {
    let value = |term: &Term| term.stem.parse::<f64>().ok().filter(|_| term.kind == TermKind::Number);
    let ranges: Vec<(f64, f64)> = terms
        .windows(3)
        .filter_map(|words| {
            let [low, joint, high] = words else { return None };
            let is_range = matches!(joint.stem.as_str(), "to" | "and");
            let is_held = is_range && is_held(sources, &low.stem) && is_held(sources, &high.stem);
            value(low).zip(value(high)).filter(|(low, high)| is_held && low < high)
        })
        .collect();
    let mut settles = false;
    for term in terms.iter_mut().filter(|term| !is_date(text, term) && !is_held(sources, &term.stem)) {
        let Some(value) = value(term) else { continue };
        if ranges.iter().any(|(low, high)| (low..=high).contains(&&value)) {
            term.kind = TermKind::Stop;
            settles = true;
        }
    }
    settles
}

/// Takes from a claim the exactness of a figure of the question that lies between two limits which it names and the sources
/// hold: "99.3 % is below 99.5 % and at least 99.0 %". Returns whether there is one.
fn settle_in_limits(terms: &mut [Term], sources: &[&SourceParts], question: Option<&SourceParts>) -> bool {
    let limits = |words: &[&str]| -> Vec<(f64, Option<Unit>)> {
        let is_limit = |pair: &&[Term]| matches!(pair, [word, _] if words.contains(&word.stem.as_str()));
        let held = terms.windows(2).filter(is_limit).filter_map(|pair| pair.last());
        let held = held.filter(|term| term.is_number() && is_held(sources, &term.stem));
        held.filter_map(|term| Some((term.stem.parse().ok()?, term.unit))).collect()
    };
    let (low, high) = (limits(&LOWER_LIMITS), limits(&UPPER_LIMITS));
    let lies_between = |term: &Term| {
        let value: Option<f64> = term.stem.parse().ok();
        let is_above = |value: f64| low.iter().any(|(limit, unit)| *limit <= value && *unit == term.unit);
        let is_below = |value: f64| high.iter().any(|(limit, unit)| value <= *limit && *unit == term.unit);
        value.is_some_and(|value| is_above(value) && is_below(value))
    };
    let is_asked = |term: &Term| question.is_some_and(|question| is_held(&[question], &term.stem));
    let settled: Vec<usize> = (0..terms.len())
        .filter(|at| {
            terms.get(*at).is_some_and(|term| {
                term.kind == TermKind::Number && !is_held(sources, &term.stem) && is_asked(term) && lies_between(term)
            })
        })
        .collect();
    for at in &settled {
        if let Some(term) = terms.get_mut(*at) {
            term.kind = TermKind::Stop;
        }
    }
    !settled.is_empty()
}

/// Takes from a claim the exactness of figures that follow from others of it which the sources hold: those hold whatever is
/// calculated from them. Returns whether there are any.
fn settle_calculated(text: &str, terms: &mut [Term], sources: &[&SourceParts], question: Option<&SourceParts>) -> bool {
    let is_held_by_source = |stem: &str| is_held(sources, stem);
    let is_asked = |stem: &str| question.is_some_and(|question| is_held(&[question], stem));
    let calculated = calculated(text, terms, &is_held_by_source, &is_asked);
    if calculated.is_empty() {
        return false;
    }
    let is_constant = |term: &Term| matches!(term.stem.as_str(), "2" | "100") && is_beside_operator(text, term);
    let is_around = |term: &Term| {
        let word = text.get(term.range.clone()).map(str::to_lowercase).unwrap_or_default();
        let reckons = CALCULATING.iter().any(|beginning| word.starts_with(beginning));
        term.kind == TermKind::Word && (reckons || AROUND.contains(&word.as_str()))
    };
    for (at, term) in terms.iter_mut().enumerate() {
        if calculated.contains(&at) || is_constant(term) || is_around(term) {
            term.kind = TermKind::Stop;
        }
    }
    true
}

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
        || lower_case_words(text).any(|word| CALCULATING.iter().any(|beginning| word.starts_with(beginning)));
    let figures: Vec<usize> = (0..terms.len())
        .filter(|at| terms.get(*at).is_some_and(|term| term.kind == TermKind::Number && !is_date(text, term)))
        .filter(|_| is_reckoning)
        .collect();
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

fn is_date(text: &str, term: &Term) -> bool {
    is_year(term.unit, &term.stem) && !text.get(term.range.clone()).is_some_and(|word| word.contains(','))
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

/// Whether a number stands beside the sign of an operation, as the hundred of "× 100" does.
fn is_beside_operator(text: &str, term: &Term) -> bool {
    let before = text.get(..term.range.start).unwrap_or_default().trim_end();
    let after = text.get(term.range.end..).unwrap_or_default().trim_start();
    before.ends_with(['/', '×', '*', '÷']) || after.starts_with(['/', '×', '*', '÷'])
}

#[cfg(test)]
mod tests {
    use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

    const REPORT: &str = "# Assets\n\nThe table has long-lived assets (in thousands):\n\n| Country | 2019 | 2018 |\n|---|---|---|\n\
        | Korea | $28,200 | $24,312 |\n| Japan | 9,646 | 8,046 |\n| Total | 37,846 | 32,358 |\n\nThere are 5 halls in Korea and 2 in Japan.";

    #[test]
    fn figures_in_a_range_of_the_source_are_supported() {
        let sources = [PreparedSource::new(
            "Trips under 400 EUR need no approval. Trips from 400 to 2,500 EUR need your manager's approval in Ledgerly.",
        )];
        let rows = [
            ("A trip of 1,200 EUR needs your manager's approval in Ledgerly, as trips from 400 to 2,500 EUR do.", true),
            (
                "A trip of 2,600 EUR needs your manager's approval in Ledgerly, as trips from 400 to 2,500 EUR do.",
                false,
            ),
            ("A trip of 1,200 EUR needs your manager's approval in Ledgerly.", false),
            (
                "A trip of 1,200 EUR needs your manager's approval in Ledgerly, as trips from 400 to 2,600 EUR do.",
                false,
            ),
        ];
        for (claim, expected) in rows {
            let support = LexicalScorer::new(&sources).support(claim, &[0]);
            assert_eq!(support.is_enough(), expected, "{claim}: {support:?}");
        }
    }

    #[test]
    fn figures_that_follow_from_those_of_the_source_are_supported() {
        let sources = [PreparedSource::new(REPORT)];
        let rows = [
            ("The long-lived assets in Korea were $28,200 thousand in 2019.", true),
            ("The long-lived assets in Korea were $28,200 million in 2019.", false),
            (
                "The change of assets in Korea is approximately 15.99%, calculated as (28,200 - 24,312) / 24,312 × 100.",
                true,
            ),
            ("The long-lived assets in Korea were $28,300 thousand in 2019.", false),
            ("The long-lived assets in Korea increased from $24,312 in 2018 to $28,200 in 2019, by 15.99%.", true),
            ("The long-lived assets in Korea increased from $24,312 in 2018 to $28,200 in 2019, by 16.99%.", false),
            ("The long-lived assets in Korea increased from $24,312 in 2018 to $28,200 in 2019, by 3,888.", true),
            ("The change of assets in Korea is (28,200 - 24,312) / 24,312 × 100 = 16%.", true),
            ("The assets in Korea in 2019 and 2018, 28,200 and 24,312, sum up to 52,512.", true),
            ("The average of the assets in Korea in 2019 and 2018, 28,200 and 24,312, is 26,256.", true),
            ("The average of the assets in Korea in 2019 and 2018, 28,200 and 24,312, is 26,356.", false),
            ("There are 5 halls in Korea and 2 in Japan, a difference of 3 halls.", true),
            ("There are 5 halls in Korea and 2 in Japan, a difference of 4 halls.", false),
            ("The long-lived assets in Korea were $24,312 in 2018.", true),
            ("The long-lived assets in Korea were $24,312 in 2019.", false),
            ("The long-lived assets in Japan were $24,312 in 2018.", false),
            ("The long-lived assets of Korea and Japan were $28,200 and $9,646 in 2019.", true),
        ];
        for (claim, expected) in rows {
            let support = LexicalScorer::new(&sources).support(claim, &[0]);
            assert_eq!(support.is_enough(), expected, "{claim}: {support:?}");
        }
    }
}
