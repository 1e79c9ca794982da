//! The embedding models of this service, by the vector spaces under which the database stores them.

use std::sync::Arc;

use crate::{providers::Embedder, store::ProfileId};

/// A model and its vector space in this database.
#[derive(Clone)]
pub(crate) struct Space {
    /// The space.
    pub(crate) profile: ProfileId,
    /// The model.
    pub(crate) embedder: Arc<dyn Embedder>,
}

/// One model for new collections, and others for collections that were created with them or move to them.
#[derive(Clone)]
pub(crate) struct Embedders {
    primary: Space,
    others: Arc<[Space]>,
}

impl Embedders {
    /// New collections use `primary`.
    #[must_use]
    pub(crate) fn new(primary: Space, others: Vec<Space>) -> Self {
        Self { primary, others: others.into() }
    }

    /// The space of new collections and its model.
    #[must_use]
    pub(crate) const fn primary(&self) -> (ProfileId, &Arc<dyn Embedder>) {
        (self.primary.profile, &self.primary.embedder)
    }

    /// The model of a space, if this service has it.
    #[must_use]
    pub(crate) fn of(&self, profile: ProfileId) -> Option<&Arc<dyn Embedder>> {
        self.all().find(|space| space.profile == profile).map(|space| &space.embedder)
    }

    /// The space of a model.
    #[must_use]
    pub(crate) fn named(&self, model: &str) -> Option<ProfileId> {
        self.all().find(|space| space.embedder.profile().model == model).map(|space| space.profile)
    }

    /// The models, the one for new collections first.
    pub(crate) fn models(&self) -> impl Iterator<Item = &str> {
        self.all().map(|space| space.embedder.profile().model.as_str())
    }

    fn all(&self) -> impl Iterator<Item = &Space> {
        std::iter::once(&self.primary).chain(self.others.iter())
    }
}
