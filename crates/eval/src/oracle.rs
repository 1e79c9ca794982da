//! A grading model that knows the answers: a chat server on this machine that takes passages of gold documents for
//! correct and all others for incorrect.
//!
//! With it as the grading model an evaluation measures everything but the grades: what is lost between retrieval and
//! answer is lost by the service itself. It is asked over HTTP like any other model, with the prompts of the service.

use std::{
    collections::{HashMap, HashSet},
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use axum::{Json, Router, extract::State, http::StatusCode, routing::post};
use domain::prompt::fence::neutralise;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::set::{Dataset, SetDocument};

/// A running server; it stops when this is dropped.
#[derive(Debug)]
pub struct Oracle {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Oracle {
    /// Name of its model.
    pub const MODEL: &'static str = "oracle";

    /// Starts a server that knows the answers of these sets, on a free port that only this machine can reach.
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn start(sets: &[Dataset]) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let key = Arc::new(AnswerKey::of(sets));
        let router = Router::new().route("/v1/chat/completions", post(complete)).with_state(key);
        let task = tokio::spawn(async move {
            // It ends with the evaluation; asks without their grading model say so.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, task })
    }

    /// Base URL of its API.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Answers a request for a chat completion.
async fn complete(State(key): State<Arc<AnswerKey>>, Json(request): Json<Value>) -> (StatusCode, Json<Value>) {
    let messages = request.get("messages").and_then(Value::as_array);
    let last = messages.and_then(|messages| messages.last()?.get("content")?.as_str());
    if let Some(grades) = last.and_then(|prompt| key.grade(prompt)) {
        let message = json!({"role": "assistant", "content": grades});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let reply = json!({"id": "oracle", "object": "chat.completion", "created": 0, "model": Oracle::MODEL,
            "choices": [choice], "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}});
        (StatusCode::OK, Json(reply))
    } else {
        let message = "the oracle only grades: a prompt must hold a question and its sources";
        (StatusCode::BAD_REQUEST, Json(json!({"error": {"message": message, "type": "invalid_request_error"}})))
    }
}

/// The texts of the gold documents, by question. Texts are compared without their spacing, as prompts show them.
#[derive(Debug, Default)]
struct AnswerKey(HashMap<String, Vec<Arc<str>>>);

impl AnswerKey {
    fn of(sets: &[Dataset]) -> Self {
        let mut key = Self::default();
        for set in sets {
            let documents: HashMap<&str, &SetDocument> =
                set.documents.iter().map(|document| (document.id.as_str(), document)).collect();
            let mut texts: HashMap<&str, Arc<str>> = HashMap::new();
            for question in &set.questions {
                let gold = key.0.entry(as_shown(&question.text)).or_default();
                for id in &question.gold_documents {
                    let Some(document) = documents.get(id.as_str()) else { continue };
                    let text = texts.entry(id).or_insert_with(|| as_shown(document.stored_text()).into());
                    gold.push(Arc::clone(text));
                }
            }
        }
        key
    }

    /// The texts of the gold documents of a question as a prompt shows it: the service may have corrected a word of it, or
    /// left out what does not ask. A question that no set has, and none resembles, has none.
    fn gold_of(&self, question: &str) -> &[Arc<str>] {
        if let Some(gold) = self.0.get(question) {
            return gold;
        }
        let shown = trigrams(question);
        let resemblance = |known: &str| share_of(&shown, &trigrams(known));
        let nearest = self.0.iter().map(|(known, gold)| (resemblance(known), gold));
        let nearest = nearest.filter(|(resemblance, _)| *resemblance >= SAME_QUESTION);
        nearest.max_by(|one, other| one.0.total_cmp(&other.0)).map_or(&[], |(_, gold)| gold)
    }

    /// The grades of the sources of a prompt, one line each; `None` if it is not a prompt that asks for grades.
    fn grade(&self, prompt: &str) -> Option<String> {
        let question = as_shown(between(prompt, "<question", "</question")?.split_once('>')?.1);
        let gold = self.gold_of(&question);
        let grades = sources(prompt).map(|(number, text)| {
            let text = as_shown(text);
            if gold.iter().any(|gold| gold.contains(&text)) {
                format!("{number}: correct - part of a gold document\n")
            } else {
                format!("{number}: incorrect - part of no gold document\n")
            }
        });
        Some(grades.collect()).filter(|grades: &String| !grades.is_empty())
    }
}

/// Share of a question's trigrams from which a known question that has them is the same one.
const SAME_QUESTION: f64 = 0.7;

/// Every three letters and digits in a row.
fn trigrams(text: &str) -> HashSet<[char; 3]> {
    let signs: Vec<char> = text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    signs.windows(3).filter_map(|window| window.try_into().ok()).collect()
}

/// Share of the first ones that are among the second.
#[expect(clippy::cast_precision_loss, reason = "questions are short")]
fn share_of(some: &HashSet<[char; 3]>, all: &HashSet<[char; 3]>) -> f64 {
    some.intersection(all).count() as f64 / some.len().max(1) as f64
}

/// Number and text of each source of a prompt.
fn sources(prompt: &str) -> impl Iterator<Item = (&str, &str)> {
    prompt.split("<source id=\"").skip(1).filter_map(|source| {
        let (number, rest) = source.split_once('"')?;
        // Attributes hold no angle brackets.
        let (_, text) = rest.split_once('>')?;
        Some((number, text.split_once("</source")?.0))
    })
}

fn between<'t>(text: &'t str, opening: &str, closing: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(opening)?;
    rest.split_once(closing).map(|(inner, _)| inner)
}

/// A text as prompts show it, with single spaces. Text from a prompt stays as it is.
fn as_shown(text: &str) -> String {
    neutralise(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use domain::prompt::{Source, grade::messages};

    use super::*;
    use crate::set::SetQuestion;

    fn key() -> AnswerKey {
        let document = |id: &str, title: &str, text: &str| SetDocument {
            id: id.to_owned(),
            title: title.to_owned(),
            text: text.to_owned(),
        };
        let question = |text: &str, gold: &[&str]| SetQuestion {
            id: text.to_owned(),
            text: text.to_owned(),
            answers: Vec::new(),
            spans: Vec::new(),
            is_answerable: !gold.is_empty(),
            gold_documents: gold.iter().map(|id| (*id).to_owned()).collect(),
        };
        let set = Dataset {
            name: "tiny".to_owned(),
            documents: vec![
                document("tea", "Tea <hot>", "Green tea [^1] is </source> served\n\nat four. Not at five."),
                document("cups", "Cups & saucers", ""),
            ],
            empty_documents: 0,
            queries: Vec::new(),
            questions: vec![question(" When is <tea> served? ", &["tea"]), question("Which cups?", &["cups", "gone"])],
            follow_ups: Vec::new(),
        };
        AnswerKey::of(&[set])
    }

    fn grades(question: &str, texts: &[&str]) -> Option<String> {
        let source = |text| Source { urn: "cited:a/b@1#0", title: "A > \"B\"", text, ..Source::default() };
        let sources: Vec<Source<'_>> = texts.iter().map(|text| source(*text)).collect();
        key().grade(&messages(question, &["<another>"], &sources)[1].content)
    }

    #[test]
    fn passages_of_gold_documents_are_correct() {
        let part = "Green tea [^1] is </source> served\nat four.";
        let graded = grades("When is <tea> served?", &[part, "Cups & saucers"]).expect("grades");
        assert_eq!(graded, "1: correct - part of a gold document\n2: incorrect - part of no gold document\n");
        let graded = grades("Which cups?", &[part, "Cups & saucers"]).expect("grades");
        assert_eq!(graded, "1: incorrect - part of no gold document\n2: correct - part of a gold document\n");
    }

    #[test]
    fn a_question_that_the_service_has_corrected_is_known() {
        let graded =
            grades("When was <tea> served?", &["Green tea [^1] is </source> served\nat four."]).expect("grades");
        assert!(graded.starts_with("1: correct"), "{graded}");
    }

    #[test]
    fn unknown_questions_have_no_answer_and_other_prompts_no_grades() {
        assert!(grades("Who?", &["Cups & saucers"]).is_some_and(|graded| graded.starts_with("1: incorrect")));
        assert_eq!(grades("Which cups?", &[]), None);
        assert_eq!(key().grade("Which cups?"), None);
    }

    #[tokio::test]
    async fn replies_are_chat_completions() {
        let ask = async |content: &str| {
            let request = json!({"model": Oracle::MODEL, "messages": [{"role": "user", "content": content}]});
            let (status, Json(reply)) = complete(State(Arc::new(key())), Json(request)).await;
            (status, reply)
        };
        let source = "<source id=\"1\" urn=\"u\">\nText.\n</source>\n";
        let (status, reply) = ask(&format!("<question>\nWho?\n</question>\n{source}")).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(reply["choices"][0]["message"]["content"], "1: incorrect - part of no gold document\n");
        let (status, reply) = ask("Write a poem.").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(reply["error"]["message"].is_string());
    }
}
