//! Determines the parts of a question that an answer leaves open.

use std::collections::BTreeSet;

use crate::citation::untold;
use crate::evidence::frame;
use crate::lexical::analyzer::Analyzer;
use crate::lexical::question_words::without_auxiliaries;

/// An admission that the question has no answer refers to some part of it.
const THE_QUESTION: &str = "question";

/// The content of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Its claims.
    pub claims: &'a str,
    /// Its sentences stating that the sources do not hold the information.
    pub admissions: &'a [String],
}

/// The parts of a question that have no answer: those of `parts` at the indices `without_evidence` that no claim
/// mentions, and everything that the answer itself admits to lack. An admission counts as the part of the question that
/// it names, or is returned as it stands if it is about other words of the question. An admission about nothing that
/// was asked, or only about subjects that are also claimed, leaves nothing open.
#[must_use]
pub fn missing(
    analyzer: &Analyzer,
    question: &str,
    parts: &[String],
    without_evidence: &[usize],
    said: Said<'_>,
) -> Vec<String> {
    let terms = |text: &str| -> Terms { analyzer.terms(text).into_iter().collect() };
    let claimed = terms(said.claims);
    // "How many people can join" is about people who join.
    let subject = |part: &String| -> Terms {
        let asked = without_auxiliaries(analyzer, part);
        terms(&asked).into_iter().filter(|term| !frame::has(term)).collect()
    };
    let own = own_terms(&parts.iter().map(subject).collect::<Vec<_>>());
    let holds_half = |own: &Terms, text: &Terms| own.intersection(text).count() * 2 >= own.len();
    let is_open = |place: &usize| own.get(*place).is_some_and(|own| !holds_half(own, &claimed));
    let mut places: BTreeSet<usize> = without_evidence.iter().copied().filter(is_open).collect();

    let mut asked = terms(question);
    asked.extend(terms(THE_QUESTION));
    let mut others = Vec::new();
    for admission in said.admissions {
        let untold = terms(&untold(admission));
        let new: Terms = untold.difference(&claimed).cloned().collect();
        let is_named = |own: &Terms| holds_half(own, &untold) && !own.is_disjoint(&new);
        let named: Vec<usize> = (0..).zip(&own).filter(|(_, own)| is_named(own)).map(|(place, _)| place).collect();
        if named.is_empty() && !new.is_disjoint(&asked) {
            others.push(admission.clone());
        }
        places.extend(named);
    }
    places.iter().filter_map(|place| parts.get(*place).cloned()).chain(others).collect()
}

type Terms = BTreeSet<String>;

/// For each part, the terms that no other part has.
fn own_terms(parts: &[Terms]) -> Vec<Terms> {
    let is_shared = |term: &String| parts.iter().filter(|part| part.contains(term)).count() > 1;
    parts.iter().map(|part| part.iter().filter(|term| !is_shared(term)).cloned().collect()).collect()
}
