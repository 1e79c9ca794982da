//! How a collection's documents become chunks, as requests and responses describe it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    fields::Faults,
    schema::{OnContextFailureSchema, SizeUnitSchema, SplitterKindSchema},
};
use crate::domain::{
    contextual::{Contextual, OnFailure},
    split::{SizeUnit, SplitterKind, SplitterSettings, SplitterSettingsError},
};

/// Average characters per token: running text has four to five.
const CHARACTERS_PER_TOKEN: usize = 4;

/// How sentences are written that describe how a chunk relates to its document.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = ContextSettings)]
pub(super) struct ContextBody {
    /// Handling of a chunk whose sentence cannot be written. Temporary failures (the model is busy or unavailable) are
    /// retried first.
    #[schema(value_type = OnContextFailureSchema, default = "keep_original")]
    on_failure: OnFailure,
}

impl From<ContextBody> for Contextual {
    fn from(body: ContextBody) -> Self {
        Self { on_failure: body.on_failure }
    }
}

impl From<Contextual> for ContextBody {
    fn from(settings: Contextual) -> Self {
        Self { on_failure: settings.on_failure }
    }
}

/// How documents are cut into chunks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(as = Splitter)]
pub(super) struct SplitterBody {
    /// Where documents are cut.
    #[schema(value_type = SplitterKindSchema, default = "auto")]
    kind: SplitterKind,
    /// Unit of `size` and `overlap`.
    #[schema(value_type = SizeUnitSchema, default = "tokens")]
    unit: SizeUnit,
    /// Size of the largest chunk: 16 to 32,768 tokens or 64 to 131,072 characters; by default as configured for the
    /// service, 512 tokens or 2,048 characters. The window of the embedding model may lower it.
    #[schema(example = 512, minimum = 16, maximum = 131_072)]
    size: Option<usize>,
    /// Amount of a chunk that the next one repeats, at most half of it; by default 12 %.
    #[schema(example = 64)]
    overlap: Option<usize>,
}

impl SplitterBody {
    /// Reads the settings; faults are added to `faults`.
    pub(super) fn read(self, default: SplitterSettings, faults: &mut Faults) -> SplitterSettings {
        let Self { kind, unit, size, overlap } = self;
        let usual = match unit {
            SizeUnit::Tokens => default.size,
            SizeUnit::Characters => default.size.saturating_mul(CHARACTERS_PER_TOKEN),
        };
        let settings = SplitterSettings { kind, unit, size: size.unwrap_or(usual), overlap };
        match settings.check() {
            Ok(()) => {}
            Err(fault @ SplitterSettingsError::Size { .. }) => faults.add("/splitter/size", fault.to_string()),
            Err(fault @ SplitterSettingsError::Overlap) => faults.add("/splitter/overlap", fault.to_string()),
        }
        settings
    }
}

impl From<SplitterSettings> for SplitterBody {
    fn from(settings: SplitterSettings) -> Self {
        let SplitterSettings { kind, unit, size, overlap } = settings;
        Self { kind, unit, size: Some(size), overlap }
    }
}
