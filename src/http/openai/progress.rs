//! The frames of an ask as text for a client that cannot take words back.

use std::sync::Arc;

use super::super::reply::{Delivered, Writer};
use crate::{
    domain::{answer_form::AnswerForm, citation::Citation, span::Span},
    service::ask::{AskEvent, AskReport, GradedHit},
};

/// The text delivered so far.
///
/// Words are delivered with the claim that they belong to, once it has passed its check and its form is known. Where no model writes, they are
/// delivered at the end, since the whole answer is there at once and its opening depends on the outcome.
#[derive(Debug)]
pub(super) struct Progress {
    writer: Writer,
    /// Whether claims are delivered before the end.
    is_gradual: bool,
    draft: Draft,
    has_delivered: bool,
}

/// The draft that is being delivered.
#[derive(Debug, Default)]
struct Draft {
    text: String,
    citations: Vec<Citation>,
    sources: Arc<[GradedHit]>,
    /// Code points of the text that are delivered.
    delivered: usize,
}

impl Progress {
    /// The form of the text.
    pub(super) const fn form(&self) -> AnswerForm {
        self.writer.form()
    }

    pub(super) fn new(writer: Writer, is_gradual: bool) -> Self {
        Self { writer, is_gradual, draft: Draft::default(), has_delivered: false }
    }

    /// Takes in an event; returns the text that it makes ready.
    pub(super) fn event(&mut self, event: AskEvent) -> Option<Delivered> {
        if !self.is_gradual {
            return None;
        }
        match event {
            AskEvent::Sources(sources) => self.draft.sources = sources,
            AskEvent::Token(words) => self.draft.text.push_str(&words),
            AskEvent::Claim(confirmed) => {
                let markers = confirmed.citations.iter().map(|citation| citation.span.end);
                let end = markers.chain([confirmed.claim.span.end]).max().unwrap_or_default();
                self.draft.citations.extend(confirmed.citations);
                return self.deliver_to(end);
            }
            AskEvent::Void(_) => {
                let was_shown = self.draft.delivered > 0;
                self.draft = Draft { sources: Arc::clone(&self.draft.sources), ..Draft::default() };
                return was_shown.then(|| self.writer.void());
            }
        }
        None
    }

    /// The text that is left at the end of the ask.
    pub(super) fn end(&mut self, report: &AskReport) -> Delivered {
        let written = report.outcome.written().filter(|_| self.has_delivered);
        match written {
            None => self.writer.whole(report),
            Some((answer, _)) => self.writer.rest(answer, self.draft.delivered, report),
        }
    }

    /// The words up to `end`; `None` while their form is not known.
    fn deliver_to(&mut self, end: usize) -> Option<Delivered> {
        let Draft { text, citations, sources, delivered } = &mut self.draft;
        // The signs that end the sentence may stand behind its markers.
        let signs = text.chars().skip(end).take_while(|sign| ends_sentence(*sign)).count();
        let end = end + signs;
        let piece = self.writer.piece(text, Span::new(*delivered, end), citations, sources)?;
        *delivered = end.max(*delivered);
        self.has_delivered = true;
        Some(piece)
    }
}

/// Whether a sign behind a marker belongs to the sentence before it.
fn ends_sentence(sign: char) -> bool {
    !sign.is_alphanumeric() && !sign.is_whitespace() && sign != '['
}
