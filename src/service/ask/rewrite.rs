//! Rewriting: another query for the same question, never one that was tried.

use super::{AskError, SkipCause, call::Call, run::Ask, stage::Stage};
use crate::{
    domain::{
        grading::Grade,
        prompt,
        rewriting::{RewriteError, built_in, read_reply},
    },
    providers::{ProviderError, ProviderErrorKind, chat::CallRole},
};

/// Passages of the last round that the built-in rewriter takes words from.
const FEEDBACK_PASSAGES: usize = 3;

impl Ask<'_> {
    /// A new query, or `None` when there is none.
    pub(super) async fn rewrite(&mut self) -> Result<Option<String>, AskError> {
        self.clock.enter(Stage::Rewrite);
        let query = match self.chain(CallRole::Rewrite) {
            Some(chain) => {
                let call = Call {
                    role: CallRole::Rewrite,
                    messages: prompt::rewrite::messages(&self.request.question, self.tried.rewrites()),
                    sources: &[],
                    format: Some(prompt::rewrite::format()),
                };
                let reply = self.call(&chain, call).await?;
                match read_reply(&reply.text, &self.tried) {
                    Ok(query) => Some(query),
                    // The model goes in circles; the built-in rewriter may still know a way.
                    Err(RewriteError::Repeated | RewriteError::TooLong) => {
                        self.warn_skipped(CallRole::Rewrite, SkipCause::UnusableReply);
                        self.rewrite_built_in()
                    }
                    Err(RewriteError::Empty) => {
                        return Err(AskError::from(ProviderError {
                            kind: ProviderErrorKind::InvalidReply,
                            provider: reply.model.provider,
                            model: reply.model.model,
                            detail: "the rewriter replied with an empty query".to_owned(),
                            retry_after: None,
                        }));
                    }
                }
            }
            None => self.rewrite_built_in(),
        };
        Ok(query.and_then(|query| self.tried.add(query).ok().map(str::to_owned)))
    }

    fn rewrite_built_in(&self) -> Option<String> {
        let inquiry = self.inquiry.as_ref()?;
        let feedback: Vec<&str> = self
            .trace
            .rounds
            .last()
            .filter(|_| self.request.feedback)
            .map(|round| {
                let hopeful = round.verdicts.iter().filter(|verdict| verdict.grade != Grade::Incorrect);
                let hits = hopeful.take(FEEDBACK_PASSAGES);
                hits.map(|verdict| verdict.hit.hit.passage.text.as_str()).collect()
            })
            .unwrap_or_default();
        built_in::rewrite(self.analyzer, inquiry, &self.tried, &feedback)
    }
}
