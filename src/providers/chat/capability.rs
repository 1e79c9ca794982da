//! Capabilities of models. An unknown model is assumed to have only those that its provider's API guarantees for all.

use super::ProviderKind;

/// The capabilities of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub(crate) struct Capabilities {
    /// Writes `[^N]` markers when instructed to. Assumed of every model: the validator checks each answer, so a wrong
    /// assumption leads to a refusal and never to an unproven answer.
    pub(crate) citations: bool,
    /// Accepts a seed.
    pub(crate) seed: bool,
    /// Accepts a temperature, 0 included.
    pub(crate) temperature_zero: bool,
    /// Sends its reply piece by piece.
    pub(crate) streaming: bool,
    /// Can be constrained to a JSON schema.
    pub(crate) structured_output: bool,
    /// Writes `[N]` for `[^N]`, as small models do. Its replies are rewritten, with a warning. Assumed of none.
    pub(crate) loose_markers: bool,
}

/// Capabilities that an operator sets explicitly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CapabilityOverrides {
    /// Replaces [`Capabilities::citations`].
    pub(crate) citations: Option<bool>,
    /// Replaces [`Capabilities::seed`].
    pub(crate) seed: Option<bool>,
    /// Replaces [`Capabilities::temperature_zero`].
    pub(crate) temperature_zero: Option<bool>,
    /// Replaces [`Capabilities::streaming`].
    pub(crate) streaming: Option<bool>,
    /// Replaces [`Capabilities::structured_output`].
    pub(crate) structured_output: Option<bool>,
    /// Replaces [`Capabilities::loose_markers`].
    pub(crate) loose_markers: Option<bool>,
}

/// Any server that implements the `OpenAI` API: seed and temperature are part of it, JSON schemas are newer than most.
const OPENAI: Capabilities = Capabilities {
    citations: true,
    seed: true,
    temperature_zero: true,
    streaming: true,
    structured_output: false,
    loose_markers: false,
};
/// Models that reason before they answer refuse a temperature and a seed.
const REASONING: Capabilities = Capabilities { seed: false, temperature_zero: false, ..SCHEMAS };
const SCHEMAS: Capabilities = Capabilities { structured_output: true, ..OPENAI };
/// The Messages API has no seed, and its newer models refuse a temperature.
const ANTHROPIC: Capabilities = Capabilities { seed: false, temperature_zero: false, ..OPENAI };
const CLAUDE_WITH_TEMPERATURE: Capabilities = Capabilities { temperature_zero: true, ..ANTHROPIC };
const CLAUDE_WITH_BOTH: Capabilities = Capabilities { structured_output: true, ..CLAUDE_WITH_TEMPERATURE };
const CLAUDE_WITH_SCHEMAS: Capabilities = Capabilities { structured_output: true, ..ANTHROPIC };

/// Models that differ from the rest of their kind, by the beginning of their name; the longest match applies.
const KNOWN: [(ProviderKind, &str, Capabilities); 26] = [
    // https://platform.openai.com/docs/guides/structured-outputs, /guides/reasoning
    (ProviderKind::OpenAi, "gpt-4o", SCHEMAS),
    (ProviderKind::OpenAi, "gpt-4o-2024-05-13", OPENAI),
    (ProviderKind::OpenAi, "gpt-4.1", SCHEMAS),
    (ProviderKind::OpenAi, "gpt-5", REASONING),
    (ProviderKind::OpenAi, "o1", REASONING),
    (ProviderKind::OpenAi, "o1-mini", Capabilities { structured_output: false, ..REASONING }),
    (ProviderKind::OpenAi, "o3", REASONING),
    (ProviderKind::OpenAi, "o4", REASONING),
    // https://docs.mistral.ai/api: the seed has another name there, and unknown members are refused.
    (ProviderKind::OpenAi, "mistral-", Capabilities { seed: false, ..OPENAI }),
    (ProviderKind::OpenAi, "ministral-", Capabilities { seed: false, ..OPENAI }),
    (ProviderKind::OpenAi, "magistral-", Capabilities { seed: false, ..OPENAI }),
    (ProviderKind::OpenAi, "open-mistral-", Capabilities { seed: false, ..OPENAI }),
    // https://platform.claude.com/docs/en/build-with-claude/structured-outputs, /about-claude/models/migration-guide
    (ProviderKind::Anthropic, "claude-3", CLAUDE_WITH_TEMPERATURE),
    (ProviderKind::Anthropic, "claude-sonnet-4", CLAUDE_WITH_TEMPERATURE),
    (ProviderKind::Anthropic, "claude-sonnet-4-5", CLAUDE_WITH_BOTH),
    (ProviderKind::Anthropic, "claude-sonnet-4-6", CLAUDE_WITH_BOTH),
    (ProviderKind::Anthropic, "claude-haiku-4-5", CLAUDE_WITH_BOTH),
    (ProviderKind::Anthropic, "claude-opus-4-0", CLAUDE_WITH_TEMPERATURE),
    (ProviderKind::Anthropic, "claude-opus-4-1", CLAUDE_WITH_TEMPERATURE),
    (ProviderKind::Anthropic, "claude-opus-4-20250514", CLAUDE_WITH_TEMPERATURE),
    (ProviderKind::Anthropic, "claude-opus-4-5", CLAUDE_WITH_BOTH),
    (ProviderKind::Anthropic, "claude-opus-4-6", CLAUDE_WITH_BOTH),
    (ProviderKind::Anthropic, "claude-opus-4-7", CLAUDE_WITH_SCHEMAS),
    (ProviderKind::Anthropic, "claude-opus-4-8", CLAUDE_WITH_SCHEMAS),
    // https://docs.ollama.com/api/openai-compatibility: a schema constrains every model there.
    (ProviderKind::Ollama, "", SCHEMAS),
    (ProviderKind::Ollama, "gpt-oss", OPENAI),
];

impl Capabilities {
    /// The known capabilities of a model of this kind and name.
    #[must_use]
    pub(crate) fn known(kind: ProviderKind, model: &str) -> Self {
        let fallback = match kind {
            ProviderKind::OpenAi | ProviderKind::Ollama => OPENAI,
            ProviderKind::Anthropic => ANTHROPIC,
        };
        KNOWN
            .iter()
            .filter(|(known, prefix, _)| *known == kind && model.starts_with(prefix))
            .max_by_key(|(_, prefix, _)| prefix.len())
            .map_or(fallback, |(_, _, capabilities)| *capabilities)
    }

    /// The same, with the operator's overrides applied.
    #[must_use]
    pub(crate) fn with(self, overrides: CapabilityOverrides) -> Self {
        Self {
            citations: overrides.citations.unwrap_or(self.citations),
            seed: overrides.seed.unwrap_or(self.seed),
            temperature_zero: overrides.temperature_zero.unwrap_or(self.temperature_zero),
            streaming: overrides.streaming.unwrap_or(self.streaming),
            structured_output: overrides.structured_output.unwrap_or(self.structured_output),
            loose_markers: overrides.loose_markers.unwrap_or(self.loose_markers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_known_beginning_counts() {
        let cases = [
            (ProviderKind::OpenAi, "gpt-4o-mini", SCHEMAS),
            (ProviderKind::OpenAi, "gpt-4o-2024-05-13", OPENAI),
            (ProviderKind::OpenAi, "gpt-4-turbo", OPENAI),
            (ProviderKind::OpenAi, "o3-mini", REASONING),
            (ProviderKind::OpenAi, "Qwen/Qwen2.5-7B-Instruct", OPENAI),
            (ProviderKind::Ollama, "llama3.1:8b", SCHEMAS),
            (ProviderKind::Anthropic, "claude-3-5-haiku-latest", CLAUDE_WITH_TEMPERATURE),
            (ProviderKind::Anthropic, "claude-sonnet-4-20250514", CLAUDE_WITH_TEMPERATURE),
            (ProviderKind::Anthropic, "claude-sonnet-4-5-20250929", CLAUDE_WITH_BOTH),
            (ProviderKind::Anthropic, "claude-opus-4-7", CLAUDE_WITH_SCHEMAS),
            (ProviderKind::Anthropic, "claude-of-tomorrow", ANTHROPIC),
        ];
        for (kind, model, expected) in cases {
            assert_eq!(Capabilities::known(kind, model), expected, "{model}");
        }
    }

    #[test]
    fn the_operator_knows_better() {
        let overrides = CapabilityOverrides { citations: Some(false), seed: Some(false), ..Default::default() };
        let capabilities = Capabilities::known(ProviderKind::OpenAi, "tiny").with(overrides);
        assert_eq!(capabilities, Capabilities { citations: false, seed: false, ..OPENAI });
    }
}
