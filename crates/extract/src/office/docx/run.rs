//! A run of text: words that look alike.

use std::borrow::Cow;

use super::super::super::{look::Look, superscript::raised};

/// A run that is being read. A text box may hold others.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) is_bold: bool,
    /// What the run says itself, and what its style says.
    pub(super) own: Look,
}

impl Run {
    /// Its text as it is shown in a paragraph of that look; `None` if it is hidden.
    pub(super) fn shown<'t>(&self, text: &'t str, paragraph: Look) -> Option<Cow<'t, str>> {
        let look = self.own.or(paragraph);
        match (look.is_hidden, look.is_raised) {
            (Some(true), _) => None,
            (_, Some(true)) => Some(Cow::Owned(raised(text))),
            _ => Some(Cow::Borrowed(text)),
        }
    }
}
