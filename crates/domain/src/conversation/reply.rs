//! Reads the reply of a model that was asked for a question that stands alone.

use std::collections::BTreeSet;

use super::Turn;
use crate::{
    json_in_text,
    lexical::analyzer::Analyzer,
    reply_code::{self, Begun},
};

/// The code by which a model says that the conversation does not tell what is asked for. The same in every language; what
/// is missing follows.
const UNCLEAR: &str = "UNCLEAR_QUESTION";

/// The code by which a model says that the message asks for nothing.
const NO_QUESTION: &str = "NO_QUESTION";

/// Longest question, in characters: a longer reply is an explanation, or an answer.
const LONGEST_QUESTION: usize = 512;

/// Longest text on what is missing, in characters; the rest is left out.
const LONGEST_MISSING: usize = 200;

/// A usable reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condensed {
    /// The question that stands alone.
    Question(String),
    /// The conversation does not tell what is asked for; what is missing.
    Unclear(String),
    /// The message thanks, greets or remarks something, and asks for nothing.
    Nothing,
}

/// Why a reply is no question of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusableQuestion {
    /// Nothing is left of the reply, or nothing is said to be missing.
    #[error("the reply holds no words")]
    Empty,
    /// It is no question.
    #[error("the reply has several lines, several questions, or more than {LONGEST_QUESTION} characters")]
    TooLong,
    /// It says that nothing is asked, and the message has a question mark.
    #[error("the reply says that a question asks for nothing")]
    Asked,
    /// It is about something else.
    #[error("the reply shares no word with the conversation")]
    Foreign,
}

/// Reads a reply: one line with the question, or with a code and what is missing, as it is or as the member `question`
/// of JSON.
///
/// # Errors
/// When it is not one question about something that the conversation names.
pub fn read_reply(
    analyzer: &Analyzer,
    reply: &str,
    message: &str,
    history: &[Turn],
) -> Result<Condensed, UnusableQuestion> {
    let in_json =
        json_in_text::values(reply).iter().find_map(|value| Some(value.get("question")?.as_str()?.to_owned()));
    let text = in_json.as_deref().unwrap_or(reply).trim();
    let text = text.trim_matches(|sign: char| sign.is_whitespace() || "\"'`“”«»*".contains(sign));
    if let Some(Begun::Whole { rest: missing }) = reply_code::begins(UNCLEAR, text) {
        let missing = missing.trim_matches(|sign: char| sign.is_whitespace() || ":-–—\"'`.*".contains(sign));
        let missing: String = missing.lines().next().unwrap_or_default().chars().take(LONGEST_MISSING).collect();
        return if has_words(&missing) { Ok(Condensed::Unclear(missing)) } else { Err(UnusableQuestion::Empty) };
    }
    if let Some(Begun::Whole { .. }) = reply_code::begins(NO_QUESTION, text) {
        return if message.contains(['?', '？', '؟']) {
            Err(UnusableQuestion::Asked)
        } else {
            Ok(Condensed::Nothing)
        };
    }
    if !has_words(text) {
        return Err(UnusableQuestion::Empty);
    }
    let is_one = text.lines().count() == 1 && text.chars().count() <= LONGEST_QUESTION;
    // A second question may belong to the first; a third is a list.
    if !is_one || text.matches('?').count() > 2 {
        return Err(UnusableQuestion::TooLong);
    }
    let spoken = history.iter().map(|turn| turn.text.as_str()).chain([message]);
    let known: BTreeSet<String> = spoken.flat_map(|text| analyzer.terms(text)).collect();
    if !analyzer.terms(text).iter().any(|term| known.contains(term)) {
        return Err(UnusableQuestion::Foreign);
    }
    Ok(Condensed::Question(text.to_owned()))
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
