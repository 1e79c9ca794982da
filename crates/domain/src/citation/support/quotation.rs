//! Claims that quote their source: a few words of introduction, and the words of the source in quotation marks. An answer in
//! another language than its sources can be proven so.

use std::ops::Range;

use super::polarity::Claim;
use crate::citation::exempt::is_german;
use crate::citation::negation::denies;
use crate::citation::source::SourceParts;
use crate::citation::support::fact::is_name;
use crate::citation::term::TermKind;
use crate::wording::lower_case;

/// Opening quotation marks, each with those that close it.
const MARKS: [(char, &[char]); 5] =
    [('"', &['"']), ('“', &['”', '"']), ('„', &['“', '”', '"']), ('«', &['»']), ('»', &['«'])];

/// Fewest words with content of a quotation that says something.
const FEWEST_QUOTED: usize = 3;

/// Most words with content beside the quotations.
const MOST_BESIDE: usize = 6;

/// Words of other languages than English that deny what is quoted.
const DENYING: [&str; 14] = [
    "falsch", "faux", "jamais", "kein", "keine", "keinen", "keiner", "nicht", "nie", "niemals", "no", "nunca", "pas",
    "unwahr",
];

/// What a claim does with words of its sources that it has in quotation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotation {
    /// It introduces them, and says nothing else: it has no more words beside them than are quoted, and no number or name that
    /// the sources lack.
    Introduced,
    /// It denies them in another language than theirs.
    Denied,
}

/// The quotation that a claim is; `None` if it has none, or says more.
pub(super) fn quotation(claim: &Claim<'_>, sources: &[&SourceParts]) -> Option<Quotation> {
    if !claim.text.contains(|sign| MARKS.iter().any(|(mark, _)| *mark == sign)) {
        return None;
    }
    let quoted: Vec<Range<usize>> =
        quotations(claim.text).into_iter().filter(|at| stands(claim, at, sources)).collect();
    let is_quoted = |at: &usize| {
        claim.terms.get(*at).is_some_and(|term| quoted.iter().any(|quoted| quoted.contains(&term.range.start)))
    };
    let has_content = |at: &usize| claim.terms.get(*at).is_some_and(|term| term.kind != TermKind::Stop);
    let inside = (0..claim.terms.len()).filter(|at| has_content(at) && is_quoted(at)).count();
    let beside: Vec<usize> = (0..claim.terms.len()).filter(|at| !is_quoted(at)).collect();
    let words = || claim.terms.iter().map(|term| lower_case(claim.text.get(term.range.clone()).unwrap_or_default()));
    let all: Vec<_> = words().collect();
    let has_german_nouns = is_german(beside.iter().filter_map(|at| all.get(*at)).map(AsRef::as_ref));
    let is_held = |stem: &str| sources.iter().any(|source| source.term(stem).is_some());
    let introduces = |at: &usize| {
        let Some(term) = claim.terms.get(*at) else { return false };
        match term.kind {
            TermKind::Number | TermKind::Month => is_held(&term.stem),
            TermKind::Word => has_german_nouns || !is_name(claim.text, &claim.terms, *at) || is_held(&term.stem),
            TermKind::Spelled | TermKind::Stop => true,
        }
    };
    // "No: …" answers the question.
    let denials: Vec<&str> =
        beside.iter().filter(|at| **at > 0).filter_map(|at| all.get(*at)).map(AsRef::as_ref).collect();
    let denies_abroad = denials.iter().any(|word| DENYING.contains(word) && !denies(word));
    if inside >= FEWEST_QUOTED && denies_abroad {
        return Some(Quotation::Denied);
    }
    let count = beside.iter().filter(|at| has_content(at)).count();
    let introduces_it = inside >= FEWEST_QUOTED
        && count <= MOST_BESIDE.min(inside)
        && !denials.iter().any(|word| denies(word))
        && beside.iter().all(introduces);
    introduces_it.then_some(Quotation::Introduced)
}

/// The stretches of a text between quotation marks.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((start, closing)) = text.get(at..).and_then(|rest| {
        let (offset, sign) = rest.char_indices().find(|(_, sign)| MARKS.iter().any(|(mark, _)| mark == sign))?;
        let closing = MARKS.iter().find(|(mark, _)| *mark == sign).map(|(_, closing)| *closing)?;
        Some((at + offset + sign.len_utf8(), closing))
    }) {
        let Some(length) = text.get(start..).and_then(|rest| rest.find(closing)) else { break };
        found.push(start..start + length);
        at = start + length + text.get(start + length..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    found
}

/// Whether a quotation of enough words stands in one of the sources, however it is spaced and marked up.
fn stands(claim: &Claim<'_>, quotation: &Range<usize>, sources: &[&SourceParts]) -> bool {
    let own = claim.terms.iter().filter(|term| quotation.contains(&term.range.start));
    let content = own.clone().filter(|term| term.kind != TermKind::Stop).count();
    let stems: Vec<&str> = own.map(|term| term.stem.as_str()).collect();
    content >= FEWEST_QUOTED
        && sources.iter().any(|source| {
            let terms: Option<Vec<u32>> = stems.iter().map(|stem| source.term(stem)).collect();
            terms.is_some_and(|terms| {
                source
                    .tokens
                    .windows(terms.len())
                    .any(|there| there.iter().map(|token| token.term).eq(terms.iter().copied()))
            })
        })
}

#[cfg(test)]
mod tests {
    use crate::citation::{LexicalScorer, PreparedSource, SupportScorer};

    #[test]
    fn words_of_the_source_in_quotation_marks_are_supported_in_any_language() {
        let sources = [PreparedSource::with_context(
            "Office staff may work from home **2 days per week**, Mondays included. Kilns are not lent.",
            "Staff policy 2026",
        )];
        for (claim, expected) in [
            (
                "Ja, für Angestellte im Büro gilt: „Office staff may work from home 2 days per week, Mondays included.“",
                true,
            ),
            ("Oui, la règle de 2026 dit : « Office staff may work from home 2 days per week ».", true),
            ("Ja, laut der Regel: \"Office staff may work from home 3 days per week\".", false),
            ("Ja, ab 2027 gilt: „Office staff may work from home 2 days per week“.", false),
            ("Es stimmt nicht, dass gilt: „Office staff may work from home 2 days per week“.", false),
            (
                "Alle in der Werkstatt, im Lager und im Verkauf dürfen zu Hause arbeiten: „Office staff may work from home“.",
                false,
            ),
            ("Ja, das ist erlaubt, siehe „Office“.", false),
        ] {
            let support = LexicalScorer::new(&sources).support(claim, &[0]);
            assert_eq!(support.is_enough(), expected, "{claim}: {support:?}");
        }
    }
}
