//! Sends the events of an ask while they happen, if its answer is streamed.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::{
    AskError, AskEvent, AskFrame, GradedHit, StreamMode, VoidReason,
    context::AskContext,
    model_call::{ReplyPiece, RunningCall},
};
use crate::{
    domain::citation::{Basis, CitedAnswer, ConfirmedClaim, Draft, Level, Verifier, non_answer_code},
    providers::chat::ChatReply,
};

/// Number of bytes after which a draft is read even if no sentence seems to have ended.
const LONGEST_UNREAD: usize = 256;
/// Length in bytes up to which a draft is read at every sentence; longer than any answer within its token limit.
const LONG_DRAFT: usize = 8_192;

/// Sends events to the reader of a stream; without one it does nothing. It waits while the reader is slow. A
/// disconnected reader ends the ask elsewhere.
pub(super) struct Emitter(Option<Stream>);

/// A stream, and the state of the draft that is being sent.
struct Stream {
    frames: mpsc::Sender<AskFrame>,
    /// Told when the ask begins; dropped if it never does.
    begun: Option<oneshot::Sender<()>>,
    mode: StreamMode,
    /// The level at which claims are checked.
    level: Level,
    verifier: Verifier,
    draft: SentDraft,
}

#[derive(Debug, Default)]
struct SentDraft {
    text: String,
    /// Bytes of the text that were sent.
    sent: usize,
    /// Bytes of the text that were read for claims.
    read: usize,
    /// Bytes of the text in which no code for "no answer" begins.
    without_code: usize,
    claims: Vec<ConfirmedClaim>,
}

impl Emitter {
    /// An emitter without a reader.
    pub(super) const fn silent() -> Self {
        Self(None)
    }

    pub(super) fn new(
        ask: &AskContext,
        frames: mpsc::Sender<AskFrame>,
        begun: oneshot::Sender<()>,
        mode: StreamMode,
    ) -> Self {
        let (level, verifier) = (ask.models.level, ask.models.verifier());
        Self(Some(Stream { frames, begun: Some(begun), mode, level, verifier, draft: SentDraft::default() }))
    }

    /// Reports that the request names nothing unknown, so that the ask begins.
    pub(super) fn emit_begun(&mut self) {
        if let Some(begun) = self.0.as_mut().and_then(|stream| stream.begun.take()) {
            let _ = begun.send(());
        }
    }

    pub(super) async fn emit_sources(&self, sources: &Arc<[GradedHit]>) {
        if let Some(stream) = &self.0 {
            stream.send(AskEvent::Sources(Arc::clone(sources))).await;
        }
    }

    /// Adds words to the draft: sends them, or the claims that they complete.
    pub(super) async fn emit_words(&mut self, words: &str, basis: &Basis) {
        if let Some(stream) = &mut self.0 {
            stream.write(words, basis).await;
        }
    }

    /// Declares the draft void.
    pub(super) async fn emit_void(&mut self, reason: VoidReason) {
        if let Some(stream) = &mut self.0 {
            stream.void(reason).await;
        }
    }

    /// Sends the remaining part of an accepted draft.
    pub(super) async fn emit_accepted(&mut self, answer: &CitedAnswer) {
        if let Some(stream) = &mut self.0 {
            stream.accept(answer).await;
        }
    }

    /// Sends an answer without a preceding draft.
    pub(super) async fn emit_whole(&mut self, answer: &CitedAnswer) {
        if let Some(stream) = &mut self.0 {
            answer.text().clone_into(&mut stream.draft.text);
            stream.accept(answer).await;
        }
    }

    /// Reads a reply to its end and sends its words as they arrive.
    ///
    /// # Errors
    /// When no model answered in time.
    pub(super) async fn stream_reply(
        &mut self,
        call: &mut RunningCall<'_>,
        basis: &Basis,
    ) -> Result<ChatReply, AskError> {
        loop {
            match call.next().await? {
                ReplyPiece::Words(words) => self.emit_words(&words, basis).await,
                ReplyPiece::Void => self.emit_void(VoidReason::ProviderFailed).await,
                ReplyPiece::Whole(reply) => return Ok(*reply),
            }
        }
    }
}

impl Stream {
    async fn send(&self, event: AskEvent) {
        let _ = self.frames.send(AskFrame::Event(event)).await;
    }

    async fn send_words_to(&mut self, end: usize) {
        let words = self.draft.text.get(self.draft.sent..end).unwrap_or_default().to_owned();
        if !words.is_empty() {
            self.draft.sent = end;
            self.send(AskEvent::Token(words)).await;
        }
    }

    async fn send_claim(&mut self, claim: ConfirmedClaim) {
        self.draft.claims.push(claim.clone());
        self.send(AskEvent::Claim(claim)).await;
    }

    async fn write(&mut self, words: &str, basis: &Basis) {
        self.draft.text.push_str(words);
        // A code for "no answer" is for the service alone.
        let code = non_answer_code::find_from(&self.draft.text, self.draft.without_code);
        if code.is_none() {
            self.draft.without_code = self.draft.text.len();
        }
        if self.mode == StreamMode::Provisional {
            self.send_words_to(code.map_or(self.draft.text.len(), |code| code.start)).await;
        }
        if code.is_some_and(|code| code.is_complete) {
            return;
        }
        let may_end_sentence =
            words.contains(|sign: char| sign.is_ascii_punctuation() || sign == '\n' || !sign.is_ascii());
        let unread = self.draft.text.len() - self.draft.read;
        // Prevents quadratic cost for a text without end.
        let is_too_early = unread < self.draft.read.saturating_sub(LONG_DRAFT) / 8;
        if is_too_early || (!may_end_sentence && unread < LONGEST_UNREAD) {
            return;
        }
        self.draft.read = self.draft.text.len();
        let settled = Draft::over(self.draft.text.as_str(), basis).settled_claims(self.level, self.verifier);
        for claim in settled.into_iter().skip(self.draft.claims.len()) {
            // A sentence that ends inside the text already sent was parsed differently before: the end corrects it.
            if self.mode == StreamMode::Validated {
                self.send_words_to(claim.end).await;
            }
            self.send_claim(claim.confirmed).await;
        }
    }

    /// Declares void all that was sent of the draft, if anything was sent.
    async fn void(&mut self, reason: VoidReason) {
        let former = std::mem::take(&mut self.draft);
        if former.sent > 0 || !former.claims.is_empty() {
            self.send(AskEvent::Void(reason)).await;
        }
    }

    async fn accept(&mut self, answer: &CitedAnswer) {
        let claims = answer.confirmed_claims();
        if !claims.starts_with(&self.draft.claims) {
            self.void(VoidReason::ReadAnew).await;
            answer.text().clone_into(&mut self.draft.text);
        }
        self.send_words_to(self.draft.text.len()).await;
        for claim in claims.into_iter().skip(self.draft.claims.len()) {
            self.send_claim(claim).await;
        }
    }
}
