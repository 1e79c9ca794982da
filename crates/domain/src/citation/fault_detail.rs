//! Faults described for people. A description holds of the answer only numbers, dates, names, and what no source holds,
//! cut to a few words.

use super::claim::Role;
use super::exempt::{Lapse, UnheldKind};
use super::support::{ContradictionKind, MissingKind, Requalified, Reversal, SUPPORT_THRESHOLD, Support};
use crate::lexical::calendar::is_day;

/// Most missing numbers, dates and names that a detail lists.
const MOST_MISSING: usize = 8;

/// Longest of them, in code points.
const LONGEST_MISSING: usize = 40;

const DENIAL: &str = "a denial (\"not\", \"no\", \"without\") stands in one of them and not in the other";

/// Why the sources with these numbers do not support a claim; `None` if they do.
pub(super) fn unsupported(numbers: &[u32], support: &Support) -> Option<String> {
    if support.is_enough() {
        return None;
    }
    if numbers.is_empty() {
        return Some("no source supports this statement".to_owned());
    }
    let markers = marker_list(numbers);
    if support.ruling.is_some() {
        return Some(format!("{markers} does not say all of this statement, the verifying model finds"));
    }
    let mut detail = if let Some(contradiction) = &support.contradiction {
        let difference = match (contradiction.kind, support.reversal) {
            (ContradictionKind::Denial | ContradictionKind::Opposite, _)
                if contradiction.quote.text.contains(" | ") =>
            {
                "the cells of its table say otherwise"
            }
            (ContradictionKind::Opposite, Some(Reversal::Qualifier(way))) => qualified(way),
            (kind, _) => difference(kind),
        };
        format!("[^{}] contradicts this statement: {difference}", contradiction.source_index + 1)
    } else {
        format!("{markers} supports this statement to {:.2}, less than {SUPPORT_THRESHOLD:.2}", support.score)
    };
    let reversal = support.reversal.filter(|_| support.contradiction.is_none()).map(|reversal| match reversal {
        Reversal::Denial => DENIAL,
        Reversal::Opposite => "it has the opposite of a word of the statement",
        Reversal::Quantity => "one of them is about all, the other about some or about nothing else",
        Reversal::Unit => "a number counts something else there",
        Reversal::Qualifier(way) => qualified(way),
    });
    if let Some(reversal) = reversal {
        detail.push_str("; ");
        detail.push_str(reversal);
    }
    let missing: Vec<_> = support
        .missing
        .iter()
        .take(MOST_MISSING)
        .map(|missing| {
            let kind = match missing.kind {
                MissingKind::Number => "the number",
                MissingKind::Date if is_day(&missing.text) => "the day",
                MissingKind::Date => "the month",
                MissingKind::Name => "the name",
            };
            format!("{kind} {}", shortened(&missing.text))
        })
        .collect();
    if !missing.is_empty() {
        detail.push_str("; not found there: ");
        detail.push_str(&missing.join(", "));
    }
    if support.is_foreign {
        detail.push_str("; it is in another language than its source, whose words can be quoted");
    }
    Some(detail)
}

/// How a statement qualifies otherwise than its source.
const fn qualified(way: Requalified) -> &'static str {
    match way {
        Requalified::Modality => "one of them tells what must be, the other what may or should be",
        Requalified::Limit => "one of them tells the least or the earliest, the other the most or the latest",
        Requalified::Measure => "a number is counted by something else there",
        Requalified::Agent => "it is told of somebody or something else there",
        Requalified::Exchanged => "two things that it tells are exchanged",
        Requalified::OtherCondition => "it holds there under another condition",
        Requalified::Order => "it is told in another order there",
        Requalified::Reason => "no source gives this reason",
        Requalified::Plan => "it is only planned or proposed there",
        Requalified::Past => "it was so before, and is no longer",
        Requalified::Condition => "it holds there only under a condition",
    }
}

const fn difference(kind: ContradictionKind) -> &'static str {
    match kind {
        ContradictionKind::Number => "it has another number",
        ContradictionKind::Date => "it has another date",
        ContradictionKind::Name => "it has another name in this place",
        ContradictionKind::Denial => DENIAL,
        ContradictionKind::Opposite => "it has the opposite of a word",
    }
}

/// Describes the statements of a part of an answer that is no claim.
pub(super) fn stated(lapse: &Lapse) -> String {
    let place = match lapse.role {
        Role::Claim => "this statement has",
        Role::Heading => "this heading states",
        Role::LeadIn => "this lead-in states",
        Role::Question => "this question states",
        Role::Ignorance => "this statement of ignorance also states",
        Role::Pleasantry => "this phrase has",
        Role::Code => "this code block states",
        Role::Markup => "this markup has",
    };
    let stated: Vec<_> = lapse
        .unheld
        .iter()
        .take(MOST_MISSING)
        .map(|unheld| {
            let kind = match unheld.kind {
                UnheldKind::Number => "the number",
                UnheldKind::Date => "the month",
                UnheldKind::Name => "the name",
                UnheldKind::Address => "the address",
                UnheldKind::Html => "the HTML",
                UnheldKind::Code => "the code",
                UnheldKind::Instruction => "the instruction",
                UnheldKind::Assertion => "as a fact",
                UnheldKind::Hidden => "the hidden character",
            };
            format!("{kind} {}", shortened(&unheld.text))
        })
        .collect();
    format!("{place} {}", stated.join(", "))
}

/// The sources as markers.
pub(super) fn marker_list(numbers: &[u32]) -> String {
    numbers.iter().map(|number| format!("[^{number}]")).collect::<Vec<_>>().join(", ")
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_MISSING).collect()
}
