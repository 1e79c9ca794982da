//! An ask told while it is under way: provisional words, confirmed claims, and what became void.
//!
//! The law: the claims told since the last [`AskEvent::Void`] are, in their order, the first of the answer's; at
//! the end they are all of them. So however a model's words are cut into pieces, who listens ends up with
//! what who waits gets.

use std::sync::Arc;

use futures::StreamExt;
use tokio::{sync::mpsc, time::Instant};

use super::{AskError, AskReport, GradedHit, call::Call, run::Ask};
use crate::{
    domain::citation::{CitationError, CitedAnswer, ConfirmedClaim, Draft, Level, PreparedSource, Verifier},
    providers::chat::{CallRole, ChatChain, ChatEvent, ChatReply, ChatStream},
};

/// Bytes after which a draft is looked through even if no sentence seems to have ended.
const LONGEST_UNREAD: usize = 256;
/// Bytes up to which a draft is looked through at every sentence, longer than any answer within its tokens.
const LONG_DRAFT: usize = 8_192;

/// What a listener is told of words that are not confirmed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamMode {
    /// They are told as the model writes them.
    Provisional,
    /// They are not told before their claim is confirmed.
    Validated,
}

/// Something that happened on the way.
#[derive(Clone, Debug)]
pub enum AskEvent {
    /// What the answer is written from, in marker order.
    Sources(Arc<[GradedHit]>),
    /// The next words of the draft.
    Token(String),
    /// The next claim of the draft passed the validator.
    Claim(ConfirmedClaim),
    /// All words and claims told so far are void; the draft begins anew.
    Void(VoidReason),
}

/// Why a draft is void.
#[derive(Clone, Debug)]
pub enum VoidReason {
    /// Its citations do not hold; the model writes another one.
    CitationValidation(Vec<CitationError>),
    /// The model failed on its way; another one begins.
    ProviderFailed,
    /// Seen as a whole its sentences are others than they seemed; they follow.
    ReadAnew,
    /// It says that the sources do not tell, and nothing else.
    Ignorance,
}

impl VoidReason {
    /// The name in the API.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::CitationValidation(_) => "citation_validation",
            Self::ProviderFailed => "provider_failed",
            Self::ReadAnew => "read_anew",
            Self::Ignorance => "ignorance",
        }
    }
}

/// What a stream consists of: any number of events, then the end.
#[derive(Debug)]
pub enum AskFrame {
    /// Something that happened.
    Event(AskEvent),
    /// The end, already audited.
    End(Box<Result<AskReport, AskError>>),
}

/// Who is told, and what was told of the draft that is being written.
#[derive(Debug)]
pub(super) struct Listener {
    frames: mpsc::Sender<AskFrame>,
    mode: StreamMode,
    draft: ToldDraft,
}

#[derive(Debug, Default)]
struct ToldDraft {
    text: String,
    /// Bytes of the text that were told.
    told: usize,
    /// Bytes of the text that were looked through.
    read: usize,
    claims: Vec<ConfirmedClaim>,
}

impl Listener {
    pub(super) fn new(frames: mpsc::Sender<AskFrame>, mode: StreamMode) -> Self {
        Self { frames, mode, draft: ToldDraft::default() }
    }

    /// Waits while the listener is slow. One that is gone ends the ask elsewhere.
    async fn tell(&self, event: AskEvent) {
        let _ = self.frames.send(AskFrame::Event(event)).await;
    }

    async fn tell_words_to(&mut self, end: usize) {
        let words = self.draft.text.get(self.draft.told..end).unwrap_or_default().to_owned();
        if !words.is_empty() {
            self.draft.told = end;
            self.tell(AskEvent::Token(words)).await;
        }
    }

    async fn tell_claim(&mut self, claim: ConfirmedClaim) {
        self.draft.claims.push(claim.clone());
        self.tell(AskEvent::Claim(claim)).await;
    }

    /// The draft goes on.
    async fn write(&mut self, words: &str, (level, verifier): (Level, Verifier), prepared: &[PreparedSource]) {
        self.draft.text.push_str(words);
        if self.mode == StreamMode::Provisional {
            self.tell_words_to(self.draft.text.len()).await;
        }
        let may_end_sentence =
            words.contains(|sign: char| sign.is_ascii_punctuation() || sign == '\n' || !sign.is_ascii());
        let unread = self.draft.text.len() - self.draft.read;
        // A text without end must not cost its square.
        let is_too_early = unread < self.draft.read.saturating_sub(LONG_DRAFT) / 8;
        if is_too_early || (!may_end_sentence && unread < LONGEST_UNREAD) {
            return;
        }
        self.draft.read = self.draft.text.len();
        let settled = Draft::new(self.draft.text.as_str(), prepared).settled_claims(level, verifier);
        for claim in settled.into_iter().skip(self.draft.claims.len()) {
            // One that ends inside what was told already was read otherwise before: the end sorts it out.
            if self.mode == StreamMode::Validated {
                self.tell_words_to(claim.end).await;
            }
            self.tell_claim(claim.confirmed).await;
        }
    }

    /// What was told is void, if anything was.
    async fn void(&mut self, reason: VoidReason) {
        let former = std::mem::take(&mut self.draft);
        if former.told > 0 || !former.claims.is_empty() {
            self.tell(AskEvent::Void(reason)).await;
        }
    }

    /// The draft is the answer: what is left of it.
    async fn accept(&mut self, answer: &CitedAnswer) {
        let claims = answer.confirmed_claims();
        if !claims.starts_with(&self.draft.claims) {
            self.void(VoidReason::ReadAnew).await;
            answer.text().clone_into(&mut self.draft.text);
        }
        self.tell_words_to(self.draft.text.len()).await;
        for claim in claims.into_iter().skip(self.draft.claims.len()) {
            self.tell_claim(claim).await;
        }
    }
}

impl Ask<'_> {
    /// Tells whoever listens.
    pub(super) async fn tell(&self, event: AskEvent) {
        if let Some(listener) = &self.listener {
            listener.tell(event).await;
        }
    }

    /// Tells words that were written at once.
    pub(super) async fn tell_written(&mut self, words: &str, prepared: &[PreparedSource]) {
        let demand = (self.level, self.verifier());
        if let Some(listener) = &mut self.listener {
            listener.write(words, demand, prepared).await;
        }
    }

    /// Tells that the draft is void.
    pub(super) async fn tell_void(&mut self, reason: VoidReason) {
        if let Some(listener) = &mut self.listener {
            listener.void(reason).await;
        }
    }

    /// Tells what is left of an accepted draft.
    pub(super) async fn tell_accepted(&mut self, answer: &CitedAnswer) {
        if let Some(listener) = &mut self.listener {
            listener.accept(answer).await;
        }
    }

    /// Tells an answer that is there already.
    pub(super) async fn tell_at_once(&mut self, answer: &CitedAnswer) {
        if let Some(listener) = &mut self.listener {
            answer.text().clone_into(&mut listener.draft.text);
            listener.accept(answer).await;
        }
    }

    /// Calls the models of a role and tells their words as they come.
    pub(super) async fn call_aloud(
        &mut self,
        chain: &ChatChain,
        call: Call<'_>,
        prepared: &[PreparedSource],
    ) -> Result<ChatReply, AskError> {
        let role = call.role;
        let (request, allowance) = self.reserve(chain, call).await?;
        let started = Instant::now();
        self.read_aloud(role, started, chain.stream(request, allowance), prepared).await
    }

    /// Tells the words of a reply as they come; without a listener it only waits for it.
    pub(super) async fn read_aloud(
        &mut self,
        role: CallRole,
        started: Instant,
        mut events: ChatStream,
        prepared: &[PreparedSource],
    ) -> Result<ChatReply, AskError> {
        while let Some(event) = events.next().await {
            match event {
                Ok(ChatEvent::Started(_)) => {}
                Ok(ChatEvent::Delta(words)) => self.tell_written(&words, prepared).await,
                Ok(ChatEvent::Void(_)) => self.tell_void(VoidReason::ProviderFailed).await,
                Ok(ChatEvent::Done(reply)) => {
                    self.note_call(role, started, &reply);
                    return Ok(*reply);
                }
                Err(error) => return Err(self.note_failure(role, error)),
            }
        }
        unreachable!("a stream ends with its reply or an error")
    }
}
