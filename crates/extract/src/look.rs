//! The looks of text that decide what is read of it.

/// How text looks, as far as it says so, or its style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) is_hidden: Option<bool>,
    /// Whether it stands above the line.
    pub(super) is_raised: Option<bool>,
}

impl Look {
    /// What this one says, and of the rest what `other` says.
    pub(super) fn or(self, other: Self) -> Self {
        Self { is_hidden: self.is_hidden.or(other.is_hidden), is_raised: self.is_raised.or(other.is_raised) }
    }
}
