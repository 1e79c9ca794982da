//! Figures of a claim that its sources hold in another form: without the scale that stands above their table, as the figures
//! from which it is calculated, in another unit, exactly, or as a range in which it lies.

use super::calculation::{calculated, reckons};
use super::cells::places_in_ranges;
use super::contradiction::is_year;
use super::polarity::Claim;
use super::restated::{Restated, restated};
use crate::citation::source::SourceParts;
use crate::citation::term::{Term, TermKind, terms};
use crate::citation::unit::{Unit, scale_of};
use crate::lexical::calendar::is_day;
use crate::wording;

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

/// The claim as its sources say it, where they hold a figure of it in another form; `None` where they do not.
/// Figures of the question serve a calculation, too.
pub(super) fn as_sourced<'c>(
    claim: &Claim<'c>,
    sources: &[&SourceParts],
    question: Option<&SourceParts>,
) -> Option<Claim<'c>> {
    let is_lacking = |term: &Term| term.kind == TermKind::Number && !is_held(sources, &term.stem);
    let lacks_month = |term: &Term| term.kind == TermKind::Month && !is_held(sources, &term.stem);
    let lacks_day = |term: &Term| is_day(&term.stem) && !is_held(sources, &term.stem);
    let restated: Vec<(usize, Restated)> =
        (0..claim.terms.len()).filter_map(|place| Some((place, restated(claim, place, sources)?))).collect();
    if restated.is_empty() && !claim.terms.iter().any(|term| is_lacking(term) || lacks_month(term) || lacks_day(term)) {
        return None;
    }
    let mut terms = claim.terms.clone();
    let mut differs = !restated.is_empty();
    for (place, Restated { stem, unit, unit_word }) in restated {
        if let Some(term) = terms.get_mut(place) {
            (term.stem, term.unit) = (stem, unit);
        }
        if let Some(word) = unit_word.and_then(|place| terms.get_mut(place)) {
            word.kind = TermKind::Stop;
        }
    }
    for term in terms.iter_mut().filter(|term| is_lacking(term)) {
        let plain = unscaled(claim.text, term, sources).or_else(|| rounded(claim.text, term, sources));
        if let Some(plain) = plain {
            term.stem = plain;
            differs = true;
        }
    }
    for place in places_in_ranges(claim, sources) {
        if let Some(term) = terms.get_mut(place).filter(|term| is_lacking(term) || lacks_day(term)) {
            term.kind = TermKind::Stop;
            differs = true;
        }
    }
    differs |= settle_in_range(claim.text, &mut terms, sources);
    differs |= settle_in_limits(&mut terms, sources, question);
    differs |= settle_calculated(claim.text, &mut terms, sources, question);
    differs |= settle_given(&mut terms, sources, question);
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

/// Whether a word in lower case multiplies the number before it, in English or German.
pub(super) fn is_scale(word: &str) -> bool {
    scale_of(word).is_some() || wording::is_scale(word) || matches!(word, "bn" | "k" | "m" | "mn")
}

/// Whether a line in lower case names the scale of the figures below it.
pub(super) fn names_scale(line: &str) -> bool {
    SCALES.iter().any(|(scale, _)| names_this_scale(line, scale))
}

/// Whether a line in lower case names this scale of the figures below it.
pub(super) fn names_this_scale(line: &str, scale: &str) -> bool {
    SCALES.iter().any(|(name, forms)| *name == scale && forms.iter().any(|form| line.contains(form)))
}

/// The figure of a table that the number of a term is when rounded: "84.3 million" of 84,310 in a table "in thousands". `None` if
/// several are, or none.
fn rounded(text: &str, term: &Term, sources: &[&SourceParts]) -> Option<String> {
    let (number, scale) = plain_and_scale(text, term)?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let (value, scale) = (number.parse::<f64>().ok()?, scale_of(&scale)?);
    let half = 0.5 / 10_f64.powi(i32::try_from(decimals).ok()?);
    let mut found: Vec<&str> = Vec::new();
    for source in sources {
        for (name, forms) in SCALES {
            let Some(factor) = scale_of(name).map(|own| scale / own).filter(|factor| *factor > 1.0) else { continue };
            if !source.names_any(forms) {
                continue;
            }
            let rows = source.sentences.iter().filter(|row| row.is_row);
            let numbers = rows.flat_map(|row| source.tokens.get(row.tokens.clone()).unwrap_or_default());
            let stems =
                numbers.filter(|token| token.kind == TermKind::Number).filter_map(|token| source.stem(token.term));
            let is_it = |stem: &&str| stem.parse::<f64>().is_ok_and(|other| (other / factor - value).abs() <= half);
            found.extend(stems.filter(is_it));
        }
    }
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [only] => Some((*only).to_owned()),
        _ => None,
    }
}

/// The number of a term before its scale, and the scale.
pub(super) fn plain_and_scale(text: &str, term: &Term) -> Option<(String, String)> {
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
            let (one, two) = value(low).zip(value(high)).filter(|_| is_held)?;
            // "49 to 22 days before" is a range, "49 and 22" two numbers.
            (one < two || joint.stem == "to").then(|| (one.min(two), one.max(two)))
        })
        .collect();
    let lies_in_range = |value: f64| ranges.iter().any(|(low, high)| (*low..=*high).contains(&value));
    settle(terms, |term| {
        !is_date(text, term) && !is_held(sources, &term.stem) && value(term).is_some_and(lies_in_range)
    })
}

/// Takes from a claim the exactness of figures and days that the question gives, where the claim has others that the sources
/// hold: "for a pick-up on 20 June the price is 109". What a question asks yes or no about it does not give. Returns whether
/// there are any.
fn settle_given(terms: &mut [Term], sources: &[&SourceParts], question: Option<&SourceParts>) -> bool {
    let is_value = |term: &Term| matches!(term.kind, TermKind::Number | TermKind::Month);
    let has_other = terms.iter().any(|term| is_value(term) && is_held(sources, &term.stem));
    let Some(question) = question.filter(|question| has_other && !question.asks_yes_or_no()) else { return false };
    let is_given = |term: &Term| is_value(term) && !is_held(sources, &term.stem) && is_held(&[question], &term.stem);
    settle(terms, is_given)
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
    settle(terms, |term| {
        let is_asked = is_held(question.as_slice(), &term.stem);
        term.kind == TermKind::Number && is_asked && !is_held(sources, &term.stem) && lies_between(term)
    })
}

/// Takes from a claim the exactness of figures that follow from others of it which the sources hold: those hold whatever is
/// calculated from them. Returns whether there are any.
fn settle_calculated(text: &str, terms: &mut [Term], sources: &[&SourceParts], question: Option<&SourceParts>) -> bool {
    let is_held_by_source = |stem: &str| is_held(sources, stem);
    let is_asked = |stem: &str| is_held(question.as_slice(), stem);
    let calculated = calculated(text, terms, &is_held_by_source, &is_asked);
    if calculated.is_empty() {
        return false;
    }
    let is_constant = |term: &Term| matches!(term.stem.as_str(), "2" | "100") && is_beside_operator(text, term);
    let is_around = |term: &Term| {
        let word = text.get(term.range.clone()).map(str::to_lowercase).unwrap_or_default();
        term.kind == TermKind::Word && (reckons(&word) || AROUND.contains(&word.as_str()))
    };
    for (at, term) in terms.iter_mut().enumerate() {
        if calculated.contains(&at) || is_constant(term) || is_around(term) {
            term.kind = TermKind::Stop;
        }
    }
    true
}

/// Takes the exactness from the terms for which this holds. Returns whether there are any.
fn settle(terms: &mut [Term], is_settled: impl Fn(&Term) -> bool) -> bool {
    let mut settles = false;
    for term in terms.iter_mut().filter(|term| is_settled(term)) {
        term.kind = TermKind::Stop;
        settles = true;
    }
    settles
}

/// Whether a figure is a year, as texts of our time name them: "1185" may be a sum.
pub(super) fn is_date(text: &str, term: &Term) -> bool {
    let is_of_our_time = term.stem.parse().is_ok_and(|year: u32| (1900..2100).contains(&year));
    is_of_our_time
        && is_year(term.unit, &term.stem)
        && !text.get(term.range.clone()).is_some_and(|word| word.contains(','))
}

/// Whether a term is a number in digits and no year.
pub(super) fn is_quantity(text: &str, term: &Term) -> bool {
    term.kind == TermKind::Number && !is_date(text, term)
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
