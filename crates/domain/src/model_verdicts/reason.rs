//! Reasons that take back the verdict that they are given for: "supported - the source does not say this".

use super::{
    stance::{CLAUSE_ENDS, plain, words},
    vocabulary::{Word, is_contrast, word},
};

/// Words for what a source does for a statement that it supports, and for what it then holds.
const EVIDENCE: &str = "say says said state states stated stating mention mentions mentioned mentioning contain contains \
    contained give gives given answer answers answered answering address addresses addressed confirm confirms show shows \
    shown tell tells told include includes included cover covers covered specify specifies specified provide provides \
    provided indicate indicates indicated prove proves match matches matched evidence mention proof information \
    sagt nennt erwähnt enthält steht dit mentionne contient dice menciona contiene noemt zegt bevat";

/// Negations that begin a statement about something absent: "no fee is charged".
const ABSENCE: [&str; 8] = ["no", "none", "nothing", "never", "without", "little", "keine", "kein"];

/// Negations that stand behind their verb.
const BEHIND: [&str; 6] = ["nicht", "kein", "keine", "niet", "pas", "geen"];

/// Forms of "be".
const BE: [&str; 6] = ["is", "are", "was", "were", "be", "been"];

/// Words for what is to support a statement.
const SOURCES: [&str; 9] = ["source", "sources", "passage", "passages", "text", "document", "quelle", "fuente", "bron"];

/// Words that open what somebody says.
const OPENERS: [&str; 6] = ["that", "what", "which", "when", "where", "who"];

/// Whether a reason denies that something is said, shown or right. One that only mentions something absent ("no fee is
/// charged", "it says that the fee is not refundable") does not.
#[must_use]
pub(super) fn takes_back(reason: &str) -> bool {
    plain(reason).split(CLAUSE_ENDS).any(|clause| denies(&words(clause).collect::<Vec<_>>()))
}

/// Whether a reason that continues the sentence of its verdict denies it as a whole: "supported - not by this source". "Not
/// refundable after May" tells what the source says.
#[must_use]
pub(super) fn begins_with_denial(reason: &str) -> bool {
    let clause: Vec<&str> = reason.split(CLAUSE_ENDS).next().map(|clause| words(clause).collect()).unwrap_or_default();
    let first = clause.iter().find(|text| word(text) != Word::Filler).copied().unwrap_or_default();
    word(first) == Word::Negation && !ABSENCE.contains(&first) && is_about_verdict(&clause)
}

/// Whether a clause of a reason restricts the verdict after "but" and the like: "but it does not say when", "but only partly".
/// What it sets against what the source tells is no restriction: "the fix covers leases, but not batches".
#[must_use]
pub(super) fn restricts(reason: &str) -> bool {
    reason.split(CLAUSE_ENDS).any(|clause| {
        let clause: Vec<&str> = words(clause).collect();
        let Some(contrast) = clause.iter().position(|text| is_contrast(text)) else { return false };
        let rest = clause.get(contrast..).unwrap_or_default();
        let has = |wanted: Word| rest.iter().any(|text| word(text) == wanted);
        let takes_back = has(Word::Negation) || has(Word::Modal);
        // "But the year is not": supported, that is.
        let is_elliptic = rest.last().is_some_and(|text| word(text) == Word::Negation);
        has(Word::Hedge) || has(Word::Dissent) || is_elliptic || takes_back && is_about_verdict(rest)
    })
}

/// Whether a clause is about what a source tells, or holds nothing but words of verdicts.
fn is_about_verdict(clause: &[&str]) -> bool {
    clause.iter().enumerate().any(|(at, text)| {
        let is_evidence = is_evidence(text) && !is_passive(clause, at);
        is_evidence || SOURCES.contains(text)
    }) || clause.iter().all(|text| word(text) != Word::Other || is_contrast(text))
}

/// Whether a word of telling is a participle of what the source is about: "not covered by tests", "is not included".
fn is_passive(clause: &[&str], at: usize) -> bool {
    let is_included = clause.get(at) == Some(&"included");
    (is_included || clause.get(at + 1) == Some(&"by")) && !clause.iter().skip(at).any(|text| SOURCES.contains(text))
}

/// Whether a clause denies that something is said, shown or right.
fn denies(clause: &[&str]) -> bool {
    clause.iter().enumerate().any(|(at, text)| {
        let (before, rest) = clause.split_at(at);
        let after = rest.get(1..).unwrap_or_default();
        !is_told(before)
            && match word(text) {
                Word::Negation => denies_evidence(before, text, after),
                // "the year is wrong"
                Word::Dissent => {
                    before.last().is_some_and(|last| BE.contains(last)) && !after.iter().any(|text| is_weighty(text))
                }
                _ => false,
            }
    })
}

/// Whether a negation between these words denies that something is said or shown.
fn denies_evidence(before: &[&str], negation: &str, after: &[&str]) -> bool {
    let denied = after.iter().enumerate().find(|(_, text)| is_evidence(text) || is_weighty(text));
    let is_told = |(at, text): (usize, &&str)| {
        // "It never matches a payment": a rule that the source tells.
        let is_rule = negation == "never" && text.starts_with("match");
        is_evidence(text) && !is_passive(after, at) && !is_rule
    };
    // "not in the source"
    let is_of_nothing = denied.is_none() && after.iter().any(|text| SOURCES.contains(text));
    let is_behind = BEHIND.contains(&negation) && before.iter().rev().take(3).any(|text| is_evidence(text));
    denied.is_some_and(is_told) || is_of_nothing || is_behind
}

/// Whether what follows these words is told by the source: "lists what is …", "says that it is …".
fn is_told(before: &[&str]) -> bool {
    let opened = before.iter().rposition(|text| word(text) == Word::Modal || OPENERS.contains(text));
    opened.is_some_and(|at| !before.iter().skip(at).any(|text| SOURCES.contains(text)))
}

fn is_evidence(text: &str) -> bool {
    word(text) == Word::Assent || EVIDENCE.split_whitespace().any(|known| known == text)
}

/// Whether a word tells something, and does not only lead to the next one.
fn is_weighty(text: &str) -> bool {
    !matches!(word(text), Word::Filler | Word::Degree | Word::Negation)
}
