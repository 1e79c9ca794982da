//! An answer in another form.

use super::AnswerBody;
use crate::domain::{
    answer_form::{AnswerForm, FormedAnswer},
    span::Span,
};

impl AnswerBody {
    /// The same with the answer in another form; links in it lead to cited sources only.
    pub(in crate::http) fn in_form(mut self, form: AnswerForm) -> Self {
        let Some(answer) = self.answer.as_deref() else { return self };
        let cited = self.citations.iter().filter_map(|citation| self.sources.get(citation.source_index));
        let linked = cited.map(|source| source.uri.clone()).collect();
        let formed = FormedAnswer::new(answer, form, &linked);
        for citation in &mut self.citations {
            citation.span = moved(&formed, citation.span);
            citation.claim = moved(&formed, citation.claim);
        }
        for warning in &mut self.validation.warnings {
            warning.move_spans(&formed);
        }
        self.answer = Some(formed.text().to_owned());
        self
    }
}

/// Where a part of an answer is in another form of it.
pub(super) fn moved(formed: &FormedAnswer, (start, end): (usize, usize)) -> (usize, usize) {
    formed.span(Span::new(start, end)).into()
}
