//! Lines of evaluation files: BEIR's documents, queries and judgements, and questions with answers.

use domain::citation::ClaimVerdict;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use thiserror::Error;

use super::{Judgement, LabelledClaim, SetDocument, SetMessage, SetQuery, SetQuestion};

const DOCUMENT: &str = r#"{"_id": "…", "title": "…", "text": "…"}"#;
const QUERY: &str = r#"{"_id": "…", "text": "…"}"#;
const QUESTION: &str = r#"{"_id": "…", "question": "…", "answers": ["…"], "answerable": true, "gold_docs": ["…"]}"#;
const CONVERSATION: &str = r#"{"_id": "…", "turns": [{"role": "user | assistant", "text": "…"}]}"#;
const CLAIM: &str = r#"{"_id": "…", "claim": "…", "source_text": "…", "label": "supported | contradicted | unsupported", "source": "…"}"#;

/// The error in a line.
#[derive(Debug, Error)]
pub(crate) enum LineError {
    /// The line is not the expected JSON.
    #[error("{}; a line reads {expected}", without_place(.source))]
    Json {
        /// The expected form of the line.
        expected: &'static str,
        /// The error of the JSON reader.
        source: serde_json::Error,
    },
    /// The line has too few or too many columns.
    #[error("{0} columns; a line reads query<TAB>document<TAB>grade")]
    Columns(usize),
    /// The grade is not a whole number.
    #[error("the grade {0:?} is not a whole number; a line reads query<TAB>document<TAB>grade")]
    Grade(String),
    /// A required value is empty.
    #[error("{0} is empty")]
    Empty(&'static str),
}

#[derive(Deserialize)]
struct DocumentLine {
    #[serde(rename = "_id", deserialize_with = "name")]
    id: String,
    #[serde(default)]
    title: Option<String>,
    text: String,
}

#[derive(Deserialize)]
struct QueryLine {
    #[serde(rename = "_id", deserialize_with = "name")]
    id: String,
    text: String,
}

#[derive(Deserialize)]
struct QuestionLine {
    #[serde(rename = "_id", deserialize_with = "name")]
    id: String,
    question: String,
    answers: Vec<String>,
    answerable: bool,
    #[serde(default)]
    gold_docs: Vec<String>,
    #[serde(default)]
    spans: Vec<SpanLine>,
    #[serde(default = "is_usual")]
    selfcontained: bool,
}

#[derive(Deserialize)]
struct ConversationLine {
    #[serde(rename = "_id", deserialize_with = "name")]
    id: String,
    turns: Vec<SetMessage>,
}

#[derive(Deserialize)]
struct ClaimLine {
    #[serde(rename = "_id", deserialize_with = "name")]
    id: String,
    claim: String,
    source_text: String,
    label: ClaimVerdict,
    source: String,
}

/// Questions are understood without the page that they were written on, unless their set says otherwise.
const fn is_usual() -> bool {
    true
}

/// Words of a document that answer a question; sets without short answers have these.
#[derive(Deserialize)]
#[serde(untagged)]
enum SpanLine {
    Placed { text: String },
    Text(String),
}

/// Reads a document.
///
/// # Errors
/// [`LineError`].
pub(crate) fn document(line: &str) -> Result<SetDocument, LineError> {
    let DocumentLine { id, title, text } = json(line, DOCUMENT)?;
    Ok(SetDocument { id: filled("_id", id)?, title: title.unwrap_or_default(), text })
}

/// Reads a query.
///
/// # Errors
/// [`LineError`].
pub(crate) fn query(line: &str) -> Result<SetQuery, LineError> {
    let QueryLine { id, text } = json(line, QUERY)?;
    Ok(SetQuery { id: filled("_id", id)?, text: filled("text", text)? })
}

/// Reads a question; `None` for one that is not understood without the page that it was written on, because it does not
/// name its subject. Without answers each of the marked spans of its documents is one; beside answers they are one together.
///
/// # Errors
/// [`LineError`].
pub(crate) fn question(line: &str) -> Result<Option<SetQuestion>, LineError> {
    let read: QuestionLine = json(line, QUESTION)?;
    let words = |span| match span {
        SpanLine::Placed { text } | SpanLine::Text(text) => text,
    };
    let spans: Vec<String> = read.spans.into_iter().map(words).collect();
    let (answers, spans) = match (read.answers.is_empty(), spans.len()) {
        (true, _) => (spans, Vec::new()),
        (false, 0 | 1) => (read.answers, Vec::new()),
        (false, _) => (read.answers, spans),
    };
    let question = SetQuestion {
        id: filled("_id", read.id)?,
        text: filled("question", read.question)?,
        answers,
        spans,
        is_answerable: read.answerable,
        gold_documents: read.gold_docs,
    };
    Ok(read.selfcontained.then_some(question))
}

/// Reads a conversation up to a question of the user: its name and its messages.
///
/// # Errors
/// [`LineError`].
pub(crate) fn conversation(line: &str) -> Result<(String, Vec<SetMessage>), LineError> {
    let ConversationLine { id, turns } = json(line, CONVERSATION)?;
    let asked = turns.last().map(|turn| turn.text.clone()).unwrap_or_default();
    filled("the last turn", asked)?;
    Ok((filled("_id", id)?, turns))
}

/// Reads a labelled claim.
///
/// # Errors
/// [`LineError`].
pub(crate) fn claim(line: &str) -> Result<LabelledClaim, LineError> {
    let ClaimLine { id, claim, source_text, label, source } = json(line, CLAIM)?;
    Ok(LabelledClaim {
        id: filled("_id", id)?,
        claim: filled("claim", claim)?,
        source_text: filled("source_text", source_text)?,
        label,
        source: filled("source", source)?,
    })
}

/// Reads a judgement, in the three columns of BEIR or the four of TREC. `None` for a line of headings,
/// which only the first line of a file may be. A grade below 0 counts as 0.
///
/// # Errors
/// [`LineError`].
pub(crate) fn judgement(line: &str, is_first: bool) -> Result<Option<Judgement>, LineError> {
    // BEIR separates by tabs, TREC by any space.
    let columns: Vec<&str> =
        if line.contains('\t') { line.split('\t').map(str::trim).collect() } else { line.split_whitespace().collect() };
    let (query, document, grade) = match columns.as_slice() {
        [query, document, grade] | [query, _, document, grade] => (*query, *document, *grade),
        _ => return Err(LineError::Columns(columns.len())),
    };
    match grade.parse::<i64>() {
        Ok(grade) => Ok(Some(Judgement {
            query: query.to_owned(),
            document: document.to_owned(),
            grade: u32::try_from(grade.max(0)).unwrap_or(u32::MAX),
        })),
        Err(_) if is_first => Ok(None),
        Err(_) => Err(LineError::Grade(grade.to_owned())),
    }
}

fn json<T: DeserializeOwned>(line: &str, expected: &'static str) -> Result<T, LineError> {
    serde_json::from_str(line).map_err(|source| LineError::Json { expected, source })
}

fn filled(what: &'static str, text: String) -> Result<String, LineError> {
    if text.trim().is_empty() { Err(LineError::Empty(what)) } else { Ok(text) }
}

/// Some sets number their documents and queries instead of naming them.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "\"_id\" must be a text or a whole number")]
    enum Name {
        Text(String),
        Number(i64),
    }
    Ok(match Name::deserialize(deserializer)? {
        Name::Text(text) => text,
        Name::Number(number) => number.to_string(),
    })
}

/// Removes the position from the error: the reader counts lines within this one line, which would be mistaken for the
/// line of the file.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_good_lines() {
        let read = document(r#"{"_id": 7, "title": null, "text": "Tea.", "metadata": {}}"#).expect("a document");
        assert_eq!((read.id.as_str(), read.title.as_str(), read.text.as_str()), ("7", "", "Tea."));
        assert_eq!(query(r#"{"_id": "q", "text": "tea?"}"#).expect("a query").text, "tea?");
        let read = question(
            r#"{"_id": "q", "question": "tea?", "answers": ["green"], "answerable": true, "gold_docs": ["7"]}"#,
        )
        .expect("a question")
        .expect("one that can be asked");
        assert_eq!((read.answers, read.gold_documents), (vec!["green".to_owned()], vec!["7".to_owned()]));
    }

    #[test]
    fn a_claim_has_a_label_of_three() {
        let line =
            r#"{"_id": "c", "claim": "Tea is green.", "source_text": "Tea.", "label": "unsupported", "source": "s"}"#;
        assert_eq!(claim(line).expect("a claim").label, ClaimVerdict::Unsupported);
        let error = claim(&line.replace("unsupported", "maybe")).expect_err("no such label").to_string();
        assert!(error.contains("unknown variant `maybe`"), "{error}");
        assert!(claim(&line.replace("Tea is green.", " ")).is_err());
    }

    #[test]
    fn a_conversation_ends_with_what_is_asked() {
        let line = r#"{"_id": 1, "turns": [{"role": "user", "text": "tea?"}, {"role": "assistant", "text": "Green."}, {"role": "user", "text": "why?"}]}"#;
        let (id, messages) = conversation(line).expect("a conversation");
        assert_eq!((id.as_str(), messages.len(), messages[2].text.as_str()), ("1", 3, "why?"));
        assert!(conversation(r#"{"_id": 1, "turns": []}"#).is_err());
    }

    #[test]
    fn spans_stand_in_for_answers() {
        let line = r#"{"_id": "q", "question": "tea?", "answers": [], "answerable": true, "spans": [{"start": 0, "end": 4, "text": "Tea."}]}"#;
        let read = question(line).expect("a question").expect("one that can be asked");
        assert_eq!((read.answers, read.spans), (vec!["Tea.".to_owned()], Vec::new()));
    }

    #[test]
    fn several_spans_beside_answers_are_one_answer_together() {
        let line = r#"{"_id": "q", "question": "when?", "answers": ["2018; 2019"], "answerable": true, "spans": ["2018", "2019"]}"#;
        let read = question(line).expect("a question").expect("one that can be asked");
        assert_eq!(read.spans, ["2018", "2019"]);
        let read = question(&line.replace(r#", "2019"]"#, "]")).expect("a question").expect("one that can be asked");
        assert_eq!((read.answers, read.spans), (vec!["2018; 2019".to_owned()], Vec::new()));
    }

    #[test]
    fn questions_that_need_their_page_are_left_out() {
        let line = r#"{"_id": "q", "question": "How much was it?", "answers": ["5"], "answerable": true, "spans": ["5"], "selfcontained": false}"#;
        assert_eq!(question(line).expect("a question"), None);
        let line = line.replace("false", "true");
        assert!(question(&line).expect("a question").is_some());
    }

    #[test]
    fn judgements_come_in_three_columns_or_four() {
        let expected = Judgement { query: "q 1".to_owned(), document: "d".to_owned(), grade: 2 };
        assert_eq!(judgement("q 1\td\t2", false).expect("a judgement"), Some(expected));
        let expected = Judgement { query: "q".to_owned(), document: "d".to_owned(), grade: 0 };
        assert_eq!(judgement("q 0 d -1", false).expect("a judgement"), Some(expected));
        assert_eq!(judgement("query-id\tcorpus-id\tscore", true).expect("headings"), None);
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            (document(r#"{"_id": "d"}"#).expect_err("no text").to_string(), "missing field `text`; a line reads {"),
            (
                document(r#"{"_id": [], "text": ""}"#).expect_err("a list").to_string(),
                "must be a text or a whole number",
            ),
            (query("not json").expect_err("not JSON").to_string(), "expected ident; a line reads {"),
            (query(r#"{"_id": "q", "text": " "}"#).expect_err("empty").to_string(), "text is empty"),
            (judgement("q\td", false).expect_err("two columns").to_string(), "2 columns"),
            (judgement("q\td\thigh", false).expect_err("no number").to_string(), "\"high\" is not a whole number"),
        ];
        for (message, part) in cases {
            assert!(message.contains(part), "{part:?} is missing in {message:?}");
            assert!(!message.contains("line 1"), "{message:?}");
        }
    }
}
