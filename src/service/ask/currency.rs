//! Leaves passages of documents out that others of the evidence have replaced.

use uuid::Uuid;

use super::{AskWarning, GradedHit, context::AskContext, evidence_pool::by_worth};
use crate::domain::{
    corrective::Grade,
    currency::{DocumentFace, Replaced, is_of_another_year, names_year, replaced},
};

/// Share of the best probability of a document's passages that another document must reach to stand in for it, if none of its
/// passages is graded correct: one that replaced it may be silent on what is asked.
const COMPARABLE: f32 = 0.6;

/// The same of the later edition of a document that says of itself that it was replaced.
const COMPARABLE_IF_SAID: f32 = 0.25;

/// The evidence with the documents that hold now in the place of those that they have replaced, unless they say less of what is
/// asked. `found` are all passages, of which an edition that holds may have a lower grade. Each document that gives way is named
/// in a warning, and so is one that says of itself that it was replaced and is used.
pub(super) fn current(ask: &AskContext, evidence: &[GradedHit], found: &[GradedHit]) -> Vec<GradedHit> {
    let documents = documents(found);
    let faces: Vec<DocumentFace<'_>> = documents.iter().map(|document| document.face).collect();
    let replaced = replaced(ask.asked(), &faces);
    let is_evidence = |document: &Document<'_>| evidence.iter().any(|graded| document.has(graded));
    let mut current = evidence.to_vec();
    for (document, how) in documents.iter().zip(&replaced).filter(|(document, _)| is_evidence(document)) {
        let Some(how) = how else { continue };
        if document.tells_of_year(ask.asked(), evidence) {
            continue;
        }
        let least = match how {
            Replaced::By { says_so: true, .. } => COMPARABLE_IF_SAID * document.probability,
            Replaced::By { .. } | Replaced::BySign => COMPARABLE * document.probability,
        };
        let stands_in = |other: &&Document<'_>| other.is_correct || other.probability >= least;
        let mut others = documents.iter().zip(&replaced).filter(|(other, how)| how.is_none() && is_evidence(other));
        let (by, replacement) = match how {
            Replaced::By { document: other, .. } => {
                let other = documents.get(*other);
                (other.map(|other| other.face.source.to_owned()), other.filter(stands_in))
            }
            Replaced::BySign => (None, others.find(|(other, _)| stands_in(other)).map(|(other, _)| other)),
        };
        let is_used = replacement.is_none();
        if let Some(replacement) = replacement {
            current.retain(|graded| !document.has(graded));
            if !current.iter().any(|graded| replacement.has(graded)) {
                let stands_in = |graded: &&GradedHit| replacement.has(graded) && probability(graded) >= least;
                current.extend(found.iter().filter(stands_in).cloned());
                current.sort_by(by_worth);
            }
        }
        let says_so = !matches!(how, Replaced::By { says_so: false, .. });
        if !is_used || says_so {
            ask.record.warn(AskWarning::SourceReplaced { source: document.face.source.to_owned(), by, is_used });
        }
    }
    current
}

/// A document that was found.
struct Document<'f> {
    id: Uuid,
    face: DocumentFace<'f>,
    /// Highest probability of its passages.
    probability: f32,
    /// Whether one of them is graded correct.
    is_correct: bool,
}

impl Document<'_> {
    fn has(&self, graded: &GradedHit) -> bool {
        graded.hit.passage.key.document_id == self.id
    }

    /// Whether the question names a year, and a passage of this document that is graded correct tells of it.
    fn tells_of_year(&self, question: &str, evidence: &[GradedHit]) -> bool {
        let tells = |graded: &GradedHit| {
            let passage = &graded.hit.passage;
            !is_of_another_year(question, [passage.title.as_str()].into_iter(), [passage.text.as_str()].into_iter())
        };
        let correct = |graded: &&GradedHit| self.has(graded) && graded.verdict.grade == Grade::Correct;
        names_year(question) && evidence.iter().filter(correct).any(tells)
    }
}

/// Probability that a passage answers the question, by its grade where a model gave no probability.
fn probability(graded: &GradedHit) -> f32 {
    let by_grade = if graded.verdict.grade == Grade::Correct { 1.0 } else { 0.5 };
    graded.verdict.probability.unwrap_or(by_grade)
}

fn documents(found: &[GradedHit]) -> Vec<Document<'_>> {
    let mut documents: Vec<Document<'_>> = Vec::new();
    for graded in found {
        let passage = &graded.hit.passage;
        // Of passages that were joined the key is that of the best one.
        let begins = passage.key.ordinal == 0 || passage.start_char == 0;
        let beginning = begins.then_some(passage.text.as_str());
        let probability = probability(graded);
        let is_correct = graded.verdict.grade == Grade::Correct;
        if let Some(known) = documents.iter_mut().find(|known| known.id == passage.key.document_id) {
            known.probability = known.probability.max(probability);
            known.is_correct |= is_correct;
            known.face.beginning = known.face.beginning.or(beginning);
        } else {
            let face = DocumentFace {
                collection: &passage.collection,
                title: &passage.title,
                source: &passage.source,
                beginning,
            };
            documents.push(Document { id: passage.key.document_id, face, probability, is_correct });
        }
    }
    documents
}
