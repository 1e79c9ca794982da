//! Claims that quote their source: a few words of introduction, and the words of the source in quotation marks. An answer in
//! another language than its sources can be proven so.
//!
//! The introduction may state nothing: its words are those of the question, of the source, or such as "the policy says".

use std::ops::Range;

use super::foreign::is_function_word;
use super::polarity::Claim;
use crate::citation::exempt::is_framing;
use crate::citation::negation::denies;
use crate::citation::source::{SourceParts, Token};
use crate::citation::term::{Term, TermKind};
use crate::wording::lower_case;

/// Opening quotation marks, each with those that close it.
const MARKS: [(char, &[char]); 5] =
    [('"', &['"']), ('“', &['”', '"']), ('„', &['“', '”', '"']), ('«', &['»']), ('»', &['«'])];

/// Fewest words with content of a quotation that says something.
const FEWEST_QUOTED: usize = 3;

/// Words of other languages than English that deny what is quoted.
const DENYING: [&str; 14] = [
    "falsch", "faux", "jamais", "kein", "keine", "keinen", "keiner", "nicht", "nie", "niemals", "no", "nunca", "pas",
    "unwahr",
];

/// Words that introduce a quotation and state nothing, in English, German, French, Spanish, Italian and Dutch.
const INTRODUCING: [&str; 60] = [
    "angabe",
    "angegeben",
    "antwort",
    "bedeutet",
    "bron",
    "dice",
    "dit",
    "document",
    "documento",
    "dokument",
    "fonte",
    "fuente",
    "genannt",
    "gilt",
    "guide",
    "handbook",
    "handbuch",
    "heißt",
    "indica",
    "indique",
    "laut",
    "leitfaden",
    "lautet",
    "list",
    "liste",
    "manual",
    "manuel",
    "mentions",
    "nennt",
    "nämlich",
    "oui",
    "policy",
    "politique",
    "quelle",
    "quellen",
    "reads",
    "regel",
    "regelung",
    "richtlinie",
    "règle",
    "sagt",
    "says",
    "schreibt",
    "selon",
    "states",
    "staat",
    "steht",
    "sì",
    "sí",
    "tabelle",
    "table",
    "text",
    "texto",
    "unterlagen",
    "volgens",
    "vertrag",
    "word",
    "wort",
    "wörtlich",
    "zwar",
];

/// The effect of a claim's other words on those of its sources that it has in quotation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotation {
    /// They introduce them, and say nothing else.
    Introduced,
    /// They deny them in another language than theirs.
    Denied,
}

/// The quotation that a claim is; `None` if it has none, or says more.
pub(super) fn quotation(
    claim: &Claim<'_>,
    sources: &[&SourceParts],
    question: Option<&SourceParts>,
) -> Option<Quotation> {
    if !claim.text.contains(|sign| MARKS.iter().any(|(mark, _)| *mark == sign)) {
        return None;
    }
    let quoted: Vec<Range<usize>> =
        quotations(claim.text).into_iter().filter(|at| stands(claim, at, sources)).collect();
    if quoted.is_empty() {
        return None;
    }
    let is_quoted = |place: usize| quoted.iter().any(|quoted| quoted.contains(&place));
    let beside: Vec<_> = claim.terms.iter().filter(|term| !is_quoted(term.range.start)).collect();
    let words = beside.iter().map(|term| lower_case(claim.text.get(term.range.clone()).unwrap_or_default()));
    let words: Vec<_> = words.collect();
    // "No: …" answers the question.
    let denials = || words.iter().skip(1).map(AsRef::as_ref);
    if denials().any(|word: &str| DENYING.contains(&word) && !denies(word)) {
        return Some(Quotation::Denied);
    }
    let is_told = |stem: &str| sources.iter().copied().chain(question).any(|text| text.term(stem).is_some());
    let introduces = |(term, word): (&&Term, &str)| {
        let is_empty = term.kind == TermKind::Stop || is_function_word(word) || is_framing(word);
        is_empty || INTRODUCING.contains(&word) || is_told(&term.stem)
    };
    let is_introduction = beside.iter().zip(words.iter().map(AsRef::as_ref)).all(introduces);
    (is_introduction && !denials().any(denies)).then_some(Quotation::Introduced)
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
                let is_it = |there: &[Token]| there.iter().map(|token| token.term).eq(terms.iter().copied());
                source.tokens.windows(terms.len()).any(is_it)
            })
        })
}

#[cfg(test)]
mod tests {
    use crate::citation::{Basis, LexicalScorer, PreparedSource, SupportScorer};

    #[test]
    fn words_of_the_source_in_quotation_marks_are_supported_in_any_language() {
        let source = PreparedSource::with_context(
            "Office staff may work from home **2 days per week**, Mondays included. Kilns are not lent.",
            "Staff policy 2026",
        );
        let basis = Basis::new(vec![source], "Darf ich im Büro Home Office machen?");
        for (claim, expected) in [
            ("Ja, im Büro gilt: „Office staff may work from home 2 days per week, Mondays included.“", true),
            ("Ja, denn in der Richtlinie steht: \"Office staff may work from home 2 days per week\".", true),
            ("Oui, la politique de 2026 dit : « Office staff may work from home 2 days per week ».", true),
            ("The policy says: \"Office staff may work from home 2 days per week\".", true),
            ("Ja, laut der Regel: \"Office staff may work from home 3 days per week\".", false),
            ("Ja, ab 2027 gilt: „Office staff may work from home 2 days per week“.", false),
            ("Es stimmt nicht, dass gilt: „Office staff may work from home 2 days per week“.", false),
            // An introduction that states something of its own.
            ("Der Chef hat Geld gestohlen: „Office staff may work from home 2 days per week“.", false),
            ("Alle in der Werkstatt dürfen zu Hause arbeiten: „Office staff may work from home“.", false),
            ("Ja, das ist erlaubt, siehe „Office“.", false),
        ] {
            let support = LexicalScorer::over(&basis).support(claim, &[0]);
            assert_eq!(support.is_enough(), expected, "{claim}: {support:?}");
        }
    }
}
