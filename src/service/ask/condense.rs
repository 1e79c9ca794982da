//! Conversations: makes the message a question that stands alone, by a model or by the weighty words of the history. A
//! story that a message tells before its question is read like a turn before it.

use super::{
    AskError, SkipCause,
    context::AskContext,
    model_call::{self, ModelCall},
    plan::CALLS_TO_LEAVE,
    record::{ConversationTrace, Stage},
    retrieve::Corpus,
};
use crate::{
    domain::{
        asked_part::{self, Story, asking_part},
        conversation::{self, Condensed, Expansion, Speaker, Turn},
        prompt,
    },
    providers::chat::{CallRole, ChatChain},
};

/// The author of a question that stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CondensedBy {
    /// The asker: the message stands alone as it is.
    User,
    /// The weighty words of the history.
    BuiltIn,
    /// The configured model.
    Model,
}

impl CondensedBy {
    /// Name in the trace.
    #[must_use]
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::BuiltIn => "built_in",
            Self::Model => "model",
        }
    }
}

/// A question that stands alone, made of a message that does not.
#[derive(Clone, Debug)]
pub(crate) struct StandaloneQuestion {
    /// The whole question.
    pub(crate) text: String,
    /// The part of it that asks.
    pub(crate) asked: String,
    /// Its author.
    pub(crate) by: CondensedBy,
}

/// The end of condensing.
pub(super) enum CondenseOutcome {
    /// There is a question to be searched for.
    Question,
    /// The conversation does not tell what is asked for; what is missing.
    Unclear(String),
    /// The message asks for nothing.
    Nothing,
}

/// Sets the question of an ask that has a history or tells a story, if its message leans on that.
///
/// # Errors
/// When the time limit is reached, or the database fails. If no model answers, the words of the history are added.
#[tracing::instrument(target = "cited::trace", skip_all)]
pub(super) async fn condense(ask: &AskContext, corpus: &Corpus) -> Result<CondenseOutcome, AskError> {
    let mut history = conversation::recent(&ask.request.history);
    let is_conversation = !history.is_empty();
    let told = asked_part::story(&ask.request.question);
    let (text, message) = match &told {
        Some(Story { story, question }) => {
            history.push(Turn { speaker: Speaker::User, text: (*story).to_owned() });
            (*question, asking_part(question))
        }
        None => (ask.request.question.as_str(), ask.asked().to_owned()),
    };
    if history.is_empty() {
        return Ok(CondenseOutcome::Question);
    }
    ask.record.enter(Stage::Condense);
    let message = message.as_str();
    let spoken: Vec<&str> = history.iter().map(|turn| turn.text.as_str()).chain([message]).collect();
    let rarity = corpus.rarity(ask, &spoken.join("\n")).await?;
    let leans = conversation::leans(corpus.analyzer, message, &rarity);
    let may_lean = || conversation::may_lean(corpus.analyzer, message, &rarity);
    let condensed = match &ask.models.condense {
        Some(chain) if is_conversation && may_lean() => condense_by_model(ask, chain, corpus, &history).await?,
        _ => None,
    };
    let standalone = match condensed {
        Some(Condensed::Unclear(missing)) => return Ok(CondenseOutcome::Unclear(missing)),
        Some(Condensed::Nothing) => return Ok(CondenseOutcome::Nothing),
        Some(Condensed::Question(text)) => {
            Some(StandaloneQuestion { asked: asking_part(&text), text, by: CondensedBy::Model })
        }
        None => match conversation::expand(corpus.analyzer, message, &history, &rarity) {
            Some(expansion) if leans || matches!(expansion, Expansion::Question(_)) => Some(StandaloneQuestion {
                text: expansion.of(text),
                asked: expansion.of(message),
                by: CondensedBy::BuiltIn,
            }),
            expansion => {
                if let Some(expansion) = expansion {
                    ask.set_with_history(expansion.of(message));
                }
                let by_itself =
                    || StandaloneQuestion { text: text.to_owned(), asked: message.to_owned(), by: CondensedBy::User };
                told.is_some().then(by_itself)
            }
        },
    };
    ask.record.note_conversation(ConversationTrace {
        message: message.to_owned(),
        question: standalone.as_ref().map_or(message, |standalone| &standalone.asked).to_owned(),
        by: standalone.as_ref().map_or(CondensedBy::User, |standalone| standalone.by),
        document: None,
    });
    if let Some(standalone) = standalone {
        ask.set_standalone(standalone);
    }
    Ok(CondenseOutcome::Question)
}

/// The reply of a model, or `None`, with a warning, if there is no usable one.
async fn condense_by_model(
    ask: &AskContext,
    chain: &ChatChain,
    corpus: &Corpus,
    history: &[Turn],
) -> Result<Option<Condensed>, AskError> {
    if ask.budget.llm_calls_left().is_some_and(|left| left <= CALLS_TO_LEAVE) {
        ask.record.warn_skipped(CallRole::Condense, SkipCause::NoCallLeft);
        return Ok(None);
    }
    let message = &ask.request.question;
    let call = ModelCall {
        role: CallRole::Condense,
        messages: prompt::condense::messages(message, history),
        sources: &[],
        format: Some(prompt::condense::format()),
    };
    let Some(reply) = model_call::complete_or_skip(ask, chain, call).await? else { return Ok(None) };
    let condensed = conversation::read_reply(corpus.analyzer, &reply.text, message, history);
    Ok(condensed
        .inspect_err(|error| {
            tracing::debug!(%error, "the reply of the condensing model is not used");
            ask.record.warn_skipped(CallRole::Condense, SkipCause::UnusableReply);
        })
        .ok())
}
