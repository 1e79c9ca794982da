//! The conversation that asks a model to grade retrieved passages, all in one call.
//!
//! The reply is read by [`crate::grading::reply`].

use serde_json::{Value, json};

use super::{Message, ReplyFormat, Source, fence, last_paragraph, push_sources};
use crate::model_verdicts;

/// The instructions: fixed text, the same for every question.
pub const SYSTEM: &str = include_str!("grade.txt");

/// The conversation. `wordings` holds other wordings of the question, and parts of it, for which the sources were found.
/// The number of a source is its place in `sources`, from 1.
#[must_use]
pub fn messages(question: &str, wordings: &[&str], sources: &[Source<'_>]) -> Vec<Message> {
    let mut content = fence::question(question);
    for wording in wordings {
        content.push_str(&fence::query(wording));
    }
    push_sources(&mut content, sources);
    vec![Message::system(SYSTEM.trim_end()), Message::user(content)]
}

/// The reply as JSON, for models that can be held to a schema.
#[must_use]
pub fn format() -> ReplyFormat {
    let mut schema = model_verdicts::schema("grades", "source", "grade", &["correct", "ambiguous", "incorrect"]);
    if let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        members.insert("missing".to_owned(), json!({"type": "array", "items": {"type": "string"}}));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push(json!("missing"));
    }
    ReplyFormat {
        name: "grades",
        schema,
        described: last_paragraph(SYSTEM),
        instruction: "Reply with a JSON object and nothing else. Its member \"grades\" is an array with one object for each \
                      source, in order, with the members \"source\" (its number), \"grade\" (one of the words correct, \
                      ambiguous and incorrect) and \"reason\" (at most ten words in your own words about that source). \
                      Its member \"missing\" is an array of what the question asks for that no source holds, each in a \
                      few words. What can be calculated from the sources is not missing. If nothing is missing, the \
                      array is empty.",
    }
}
