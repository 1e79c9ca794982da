//! Labels of the metrics.

use std::{fmt::Debug, hash::Hash};

use prometheus_client::encoding::EncodeLabelSet;

/// A set of labels that metrics are kept by.
pub(super) trait Labels: EncodeLabelSet + Clone + Debug + Hash + Eq + Send + Sync + 'static {}

impl<L: EncodeLabelSet + Clone + Debug + Hash + Eq + Send + Sync + 'static> Labels for L {}

/// A configured model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelLabel<'a> {
    pub(crate) provider: &'a str,
    pub(crate) model: &'a str,
}

/// Methods of HTTP; a client may send any other word.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RouteLabels {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    method: &'static str,
    route: String,
    status: u16,
}

impl RouteLabels {
    pub(super) fn new(method: &str, route: &str) -> Self {
        let known = METHODS.into_iter().find(|known| *known == method);
        Self { method: known.unwrap_or("other"), route: route.to_owned() }
    }

    pub(super) fn with_status(self, status: u16) -> RequestLabels {
        let Self { method, route } = self;
        RequestLabels { method, route, status }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct AskLabels {
    outcome: &'static str,
    reason: String,
}

impl AskLabels {
    pub(super) fn new(outcome: &'static str, reason: &str) -> Self {
        Self { outcome, reason: reason.to_owned() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StageLabels {
    stage: &'static str,
}

impl StageLabels {
    pub(super) const fn new(stage: &'static str) -> Self {
        Self { stage }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DraftLabels {
    result: &'static str,
}

impl DraftLabels {
    pub(super) const fn new(result: &'static str) -> Self {
        Self { result }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ModelLabels {
    provider: String,
    model: String,
    role: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct CallLabels {
    provider: String,
    model: String,
    role: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct TokenLabels {
    provider: String,
    model: String,
    role: &'static str,
    kind: &'static str,
}

impl ModelLabels {
    pub(super) fn new(model: ModelLabel<'_>, role: &'static str) -> Self {
        Self { provider: model.provider.to_owned(), model: model.model.to_owned(), role }
    }

    pub(super) fn with_outcome(self, outcome: &'static str) -> CallLabels {
        let Self { provider, model, role } = self;
        CallLabels { provider, model, role, outcome }
    }

    pub(super) fn with_kind(&self, kind: &'static str) -> TokenLabels {
        let Self { provider, model, role } = self.clone();
        TokenLabels { provider, model, role, kind }
    }
}
