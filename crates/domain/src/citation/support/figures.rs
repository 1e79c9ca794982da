//! Figures of a claim that its sources hold in another form: without the scale that stands above their table, as the figures
//! from which it is calculated, or as a range in which it lies.

use super::contradiction::is_year;
use super::polarity::Claim;
use crate::citation::source::SourceParts;
use crate::citation::term::{Term, TermKind, terms};
use crate::citation::unit::scale_of;
use crate::wording::lower_case_words;

/// Beginnings of words of a claim that calculates.
const CALCULATING: [&str; 32] = [
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
    "more",
    "percent",
    "proportion",
    "ratio",
    "reduc",
    "rise",
    "risen",
    "rose",
    "share",
    "sum",
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

/// Signs of a calculation.
const SIGNS: [char; 4] = ['%', '×', '÷', '='];

/// Most figures that a calculated one is looked for among.
const MOST_OPERANDS: usize = 12;

/// The claim as its sources say it, where they hold a figure of it in another form; `None` where they do not.
pub(super) fn as_sourced<'c>(claim: &Claim<'c>, sources: &[&SourceParts]) -> Option<Claim<'c>> {
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
    differs |= settle_calculated(claim.text, &mut terms, sources);
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

/// Takes from a claim the exactness of figures that follow from others of it which the sources hold: those hold whatever is
/// calculated from them. Returns whether there are any.
fn settle_calculated(text: &str, terms: &mut [Term], sources: &[&SourceParts]) -> bool {
    let is_reckoning = text.contains(SIGNS)
        || lower_case_words(text).any(|word| CALCULATING.iter().any(|beginning| word.starts_with(beginning)));
    if !is_reckoning {
        return false;
    }
    let is_figure = |term: &&Term| term.kind == TermKind::Number && !is_date(text, term);
    let mut operands: Vec<f64> = terms
        .iter()
        .filter(is_figure)
        .filter(|term| is_held(sources, &term.stem))
        .filter_map(|term| term.stem.parse().ok())
        .take(MOST_OPERANDS)
        .collect();
    operands.dedup();
    let is_calculated =
        |term: &Term| is_figure(&term) && !is_held(sources, &term.stem) && follows(text, term, &operands);
    if !terms.iter().any(is_calculated) {
        return false;
    }
    let is_constant = |term: &Term| matches!(term.stem.as_str(), "2" | "100") && is_beside_operator(text, term);
    let is_around = |term: &Term| {
        let word = text.get(term.range.clone()).map(str::to_lowercase).unwrap_or_default();
        let reckons = CALCULATING.iter().any(|beginning| word.starts_with(beginning));
        term.kind == TermKind::Word && (reckons || AROUND.contains(&word.as_str()))
    };
    for term in terms.iter_mut().filter(|term| is_calculated(term) || is_constant(term) || is_around(term)) {
        term.kind = TermKind::Stop;
    }
    true
}

fn is_date(text: &str, term: &Term) -> bool {
    is_year(term.unit, &term.stem) && !text.get(term.range.clone()).is_some_and(|word| word.contains(','))
}

/// Whether a figure is the difference, sum, mean, ratio, share or change of figures, rounded as it is written.
fn follows(text: &str, term: &Term, operands: &[f64]) -> bool {
    let word = text.get(term.range.clone()).unwrap_or_default();
    let digits = word.split([' ', '-', '\u{a0}']).next().unwrap_or_default();
    let decimals = digits.rsplit_once('.').map_or(0, |(_, fraction)| fraction.len());
    let places = i32::try_from(decimals).unwrap_or(i32::MAX);
    let plain = plain_and_scale(text, term).map(|(number, _)| number);
    let claimed = [Some(term.stem.clone()), plain].into_iter().flatten();
    let claimed: Vec<f64> = claimed.filter_map(|stem| stem.parse().ok()).collect();
    let is_percent = term.unit == Some("percent");
    // A whole number is rounded where it is a share; a sum, a difference or a mean of whole numbers is exact.
    let tolerance = if decimals > 0 || is_percent { 0.5 * 10_f64.powi(-places) * (1.0 + 1e-9) } else { 1e-6 };
    let is_it = |value: f64| claimed.iter().any(|claimed| (claimed - value.abs()).abs() <= tolerance);
    let of_all = || {
        let (sum, count) = operands.iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        is_it(sum) || is_it(sum / count)
    };
    let pairs =
        || operands.iter().enumerate().flat_map(|(at, one)| operands.iter().skip(at + 1).map(move |two| (*one, *two)));
    operands.len() >= 2
        && (pairs().any(|(one, two)| {
            if is_percent {
                let of = |part: f64, whole: f64| whole != 0.0 && is_it(part / whole * 100.0);
                of(one, two) || of(two, one) || of(one - two, one) || of(one - two, two)
            } else {
                let ratio = |part: f64, whole: f64| decimals > 0 && whole != 0.0 && is_it(part / whole);
                is_it(one - two)
                    || is_it(one + two)
                    || is_it(f64::midpoint(one, two))
                    || ratio(one, two)
                    || ratio(two, one)
            }
        }) || !is_percent && of_all())
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
