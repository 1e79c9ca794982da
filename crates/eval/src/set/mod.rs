//! An evaluation set: documents, queries with judgements, questions with answers.

mod folder;
mod line;
mod sample;

use domain::citation::ClaimVerdict;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::folder::{read, read_claims, read_off_corpus};
use self::sample::keep_sample;
use crate::measures::metrics::Judgements;

/// A document of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetDocument {
    /// Its name in judgements.
    pub id: String,
    /// May be empty.
    pub title: String,
    /// May be empty.
    pub text: String,
}

/// A query as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetQuery {
    /// Its name in judgements.
    pub id: String,
    /// In words.
    pub text: String,
}

/// One line of the judgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Name of the query.
    pub query: String,
    /// Name of the document.
    pub document: String,
    /// Grade of relevance; 0 is not relevant.
    pub grade: u32,
}

/// A query and the documents that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedQuery {
    /// Its name.
    pub id: String,
    /// In words.
    pub text: String,
    /// Grades by document; at least one is above 0.
    pub judgements: Judgements<String>,
}

/// A question and what a right answer holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetQuestion {
    /// Its name.
    pub id: String,
    /// In words.
    pub text: String,
    /// Right answers, any of them will do. Empty if it cannot be answered, or if the set has none.
    pub answers: Vec<String>,
    /// Words that are a right answer together, such as the values of two years. Empty if the set marks fewer than two.
    pub spans: Vec<String>,
    /// Whether the documents answer it.
    pub is_answerable: bool,
    /// Documents that answer it.
    pub gold_documents: Vec<String>,
}

/// A question that follows others in a conversation, and the documents that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFollowUp {
    /// Its name.
    pub id: String,
    /// The messages, oldest first; the last is the question.
    pub messages: Vec<SetMessage>,
    /// Grades by document; at least one is above 0.
    pub judgements: Judgements<String>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SetMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// In words.
    #[serde(rename(deserialize = "text", serialize = "content"))]
    pub text: String,
}

/// A claim that people have held against a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledClaim {
    /// Its name.
    pub id: String,
    /// The claim.
    pub claim: String,
    /// The text.
    pub source_text: String,
    /// Their verdict.
    pub label: ClaimVerdict,
    /// The part of the set that it comes from.
    pub source: String,
}

/// Labelled claims of a folder.
#[derive(Clone, Debug)]
pub struct ClaimSet {
    /// Name of the set.
    pub name: String,
    /// The claims.
    pub claims: Vec<LabelledClaim>,
}

/// Questions that the sets measured do not answer.
#[derive(Clone, Debug)]
pub struct OffCorpus {
    /// Name of the set that they come from.
    pub name: String,
    /// The questions.
    pub queries: Vec<SetQuery>,
}

/// The content of the files of a folder, before it is checked for consistency.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Name of the set.
    pub name: String,
    /// Documents.
    pub documents: Vec<SetDocument>,
    /// Queries.
    pub queries: Vec<SetQuery>,
    /// Judgements of the queries.
    pub judgements: Vec<Judgement>,
    /// Questions.
    pub questions: Vec<SetQuestion>,
    /// Conversations up to a question of the user, by name.
    pub conversations: Vec<(String, Vec<SetMessage>)>,
    /// Judgements of the conversations.
    pub conversation_judgements: Vec<Judgement>,
}

/// A set that can be measured.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Name of the set.
    pub name: String,
    /// Documents that hold anything.
    pub documents: Vec<SetDocument>,
    /// Documents without title and text: nothing can find them, they only count where they are judged.
    pub empty_documents: usize,
    /// Queries with at least one relevant document.
    pub queries: Vec<JudgedQuery>,
    /// Questions.
    pub questions: Vec<SetQuestion>,
    /// Questions that follow others in a conversation, with at least one relevant document.
    pub follow_ups: Vec<SetFollowUp>,
}

/// Why files do not make a set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DatasetError {
    /// No document holds anything.
    #[error("the corpus holds no document with a title or a text")]
    NoDocuments,
    /// Two of a kind share a name.
    #[error("the {kind} {id:?} is there twice; each needs an \"_id\" of its own")]
    Repeated {
        /// Of what.
        kind: &'static str,
        /// The name.
        id: String,
    },
    /// The judgements belong to other queries.
    #[error("no judgement above 0 names a query of the set; the queries and the judgements belong to different sets")]
    NoJudgedQuery,
    /// The judgements belong to another corpus.
    #[error("no judgement names a document of the corpus; the corpus and the judgements belong to different sets")]
    NoJudgedDocument,
    /// There is nothing to ask.
    #[error("the set has documents but neither queries, questions nor conversations")]
    NothingToAsk,
}

impl Dataset {
    /// Holds the files of a set against each other.
    ///
    /// Queries that nothing is relevant to are left out: no ranking of them is better than another.
    ///
    /// # Errors
    /// [`DatasetError`] when the files do not belong together.
    pub fn new(parts: Parts) -> Result<Self, DatasetError> {
        let Parts { name, documents, queries, judgements, questions, conversations, conversation_judgements } = parts;
        let has_queries = !queries.is_empty();
        if !has_queries && questions.is_empty() && conversations.is_empty() {
            return Err(DatasetError::NothingToAsk);
        }
        let known = distinct("document", documents.iter().map(|document| document.id.as_str()))?;
        distinct("query", queries.iter().map(|query| query.id.as_str()))?;
        distinct("question", questions.iter().map(|question| question.id.as_str()))?;
        distinct("conversation", conversations.iter().map(|(id, _)| id.as_str()))?;
        if has_queries && !judgements.iter().any(|judgement| known.contains(judgement.document.as_str())) {
            return Err(DatasetError::NoJudgedDocument);
        }
        let all = documents.len();
        let documents: Vec<SetDocument> = documents.into_iter().filter(SetDocument::holds_anything).collect();
        if documents.is_empty() {
            return Err(DatasetError::NoDocuments);
        }
        let queries = join(queries, |query| &query.id, judgements)
            .map(|(SetQuery { id, text }, judgements)| JudgedQuery { id, text, judgements })
            .collect::<Vec<_>>();
        if has_queries && queries.is_empty() {
            return Err(DatasetError::NoJudgedQuery);
        }
        let follow_ups = conversations.into_iter().filter(|(_, messages)| messages.len() > 1);
        let follow_ups = join(follow_ups, |(id, _)| id, conversation_judgements)
            .map(|((id, messages), judgements)| SetFollowUp { id, messages, judgements })
            .collect();
        Ok(Self { name, empty_documents: all - documents.len(), documents, queries, questions, follow_ups })
    }

    /// Keeps at most `limit` queries, questions and follow-ups each, the same ones every time.
    pub fn limit(&mut self, limit: usize) {
        keep_sample(&mut self.queries, limit, |query| &query.id);
        keep_sample(&mut self.questions, limit, |question| &question.id);
        keep_sample(&mut self.follow_ups, limit, |follow_up| &follow_up.id);
    }
}

impl SetDocument {
    /// The text it is stored with: its title if it has only that, because without text there would be nothing to cite.
    pub(crate) fn stored_text(&self) -> &str {
        if self.text.trim().is_empty() { &self.title } else { &self.text }
    }

    fn holds_anything(&self) -> bool {
        !self.title.trim().is_empty() || !self.text.trim().is_empty()
    }
}

fn distinct<'a>(kind: &'static str, ids: impl Iterator<Item = &'a str>) -> Result<HashSet<&'a str>, DatasetError> {
    let mut seen = HashSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(DatasetError::Repeated { kind, id: id.to_owned() });
        }
    }
    Ok(seen)
}

/// Items with their judgements, in the order of the items, those without a relevant document left out.
fn join<T>(
    items: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> &str,
    judgements: Vec<Judgement>,
) -> impl Iterator<Item = (T, Judgements<String>)> {
    let mut by_name: HashMap<String, Judgements<String>> = HashMap::new();
    for Judgement { query, document, grade } in judgements {
        by_name.entry(query).or_default().insert(document, grade);
    }
    items.into_iter().filter_map(move |item| {
        let judgements = by_name.remove(name(&item))?;
        judgements.values().any(|grade| *grade > 0).then_some((item, judgements))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: &str, text: &str) -> SetDocument {
        SetDocument { id: id.to_owned(), title: String::new(), text: text.to_owned() }
    }

    fn query(id: &str) -> SetQuery {
        SetQuery { id: id.to_owned(), text: format!("words of {id}") }
    }

    fn judgement(query: &str, document: &str, grade: u32) -> Judgement {
        Judgement { query: query.to_owned(), document: document.to_owned(), grade }
    }

    fn parts() -> Parts {
        Parts {
            name: "tiny".to_owned(),
            documents: vec![document("d1", "tea"), document("d2", " \n"), document("d3", "cups")],
            queries: vec![query("q1"), query("q2"), query("q3")],
            judgements: vec![judgement("q1", "d1", 1), judgement("q1", "gone", 2), judgement("q2", "d3", 0)],
            ..Parts::default()
        }
    }

    #[test]
    fn keeps_what_can_be_measured() {
        let set = Dataset::new(parts()).expect("a set");
        assert_eq!(set.documents.len(), 2);
        assert_eq!(set.empty_documents, 1);
        let [only] = set.queries.as_slice() else { panic!("one query has a relevant document: {:?}", set.queries) };
        assert_eq!(only.id, "q1");
        assert_eq!(only.judgements, Judgements::from([("d1".to_owned(), 1), ("gone".to_owned(), 2)]));
    }

    #[test]
    fn only_judged_questions_that_follow_others_are_follow_ups() {
        let message = |role: &str| SetMessage { role: role.to_owned(), text: "words".to_owned() };
        let asked = |id: &str, roles: &[&str]| (id.to_owned(), roles.iter().map(|role| message(role)).collect());
        let conversations = vec![
            asked("first", &["user"]),
            asked("second", &["user", "assistant", "user"]),
            asked("unjudged", &["user", "assistant", "user"]),
        ];
        let conversation_judgements = vec![judgement("first", "d1", 1), judgement("second", "d3", 1)];
        let set = Dataset::new(Parts { conversations, conversation_judgements, ..parts() }).expect("a set");
        let names: Vec<_> = set.follow_ups.iter().map(|follow_up| follow_up.id.as_str()).collect();
        assert_eq!(names, ["second"]);
    }

    #[test]
    fn refuses_files_that_do_not_belong_together() {
        let refuse = |change: fn(&mut Parts)| {
            let mut parts = parts();
            change(&mut parts);
            Dataset::new(parts).expect_err("not a set")
        };
        let repeated = refuse(|parts| parts.documents.push(document("d1", "again")));
        assert_eq!(repeated, DatasetError::Repeated { kind: "document", id: "d1".to_owned() });
        assert_eq!(refuse(|parts| parts.judgements.clear()), DatasetError::NoJudgedDocument);
        assert_eq!(refuse(|parts| parts.judgements = vec![judgement("other", "d1", 1)]), DatasetError::NoJudgedQuery);
        assert_eq!(refuse(|parts| parts.queries.clear()), DatasetError::NothingToAsk);
        let nothing = refuse(|parts| parts.documents.iter_mut().for_each(|document| document.text.clear()));
        assert_eq!(nothing, DatasetError::NoDocuments);
    }
}
