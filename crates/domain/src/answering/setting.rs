//! Settings of a reference and their fields. A section is headed by the name of a setting, lists its fields ("Default: 15",
//! "Environment: `JARS`") and tells what it is for; or the item of a list begins with the name in code and tells the default
//! ("`timeout` {number} The longest wait. **Default:** `0`."). English only.

use std::ops::Range;

use super::AnswerSource;
use super::candidate::{Role, SentenceCandidate};
use super::form::{AskedForm, Named, asks_for_default};
use super::naming::words_in;
use super::quote::plain_line;
use super::section::is_own_heading;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::markdown::BlockKind;
use crate::wording::{bare, lower_case_words};

/// Bonus of the default of the setting that a question for one is about; the other scores range from 0 to about 1.
const OF_ASKED: f32 = 0.8;

/// Loss of a listing with the setting that stands under another heading.
const OF_OTHER: f32 = 0.3;

/// Share of a question's weight in the setting that it is about.
const MOSTLY_ABOUT: f32 = 0.5;

/// Longest text that names a setting, in bytes.
const LONGEST_NAMING: usize = 300;

/// Signs of a list and of emphasis around a field.
const AROUND: [char; 5] = ['*', '_', '`', '-', ' '];

/// A field of a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// What holds where nothing else is said.
    Default,
    /// The variable of the environment that sets it.
    Environment,
}

/// A setting, with the field that is asked for.
struct Setting<'t> {
    source: usize,
    /// Where the field is.
    field: Range<usize>,
    text: &'t str,
    name: &'t str,
    /// The heading or the sentence above it that names the setting, if it does not itself.
    naming: Option<(Range<usize>, &'t str)>,
    /// Question terms in the name.
    named: TermMask,
    /// Question terms in all that is told of the setting, and in the heading above it.
    mask: TermMask,
}

impl Field {
    /// The field that a question is for.
    pub(super) const fn asked_for(form: &AskedForm<'_>) -> Option<Self> {
        match (form.is_for_default, form.named) {
            (true, _) => Some(Self::Default),
            (false, Some(Named::Variable)) => Some(Self::Environment),
            (false, _) => None,
        }
    }

    const fn labels(self) -> &'static [&'static str] {
        match self {
            Self::Default => &["default", "default value"],
            Self::Environment => &["environment", "environment variable", "env"],
        }
    }

    /// Whether a text is this field.
    pub(super) fn is(self, text: &str) -> bool {
        let field = text.trim_start_matches(AROUND).split_once(':');
        field.is_some_and(|(label, value)| {
            let label = label.trim_matches(AROUND);
            let is_label = self.labels().iter().any(|own| label.eq_ignore_ascii_case(own));
            // "Default: See profile docs."
            let first = lower_case_words(value).next();
            is_label && !value.trim_matches(AROUND).is_empty() && first.is_none_or(|word| word != "see")
        })
    }

    /// Whether a text has the field in it: "`timeout` {number} **Default:** `0`".
    fn is_in(self, text: &str) -> bool {
        self.is(text) || self == Self::Default && text.contains("**Default:**")
    }
}

/// The default that a question is for.
pub struct AskedDefault<'q> {
    /// The words of the question, which may name a setting.
    words: Vec<&'q str>,
}

impl<'q> AskedDefault<'q> {
    /// That of a question; `None` if it is for something else.
    #[must_use]
    pub fn of(asked: &'q str) -> Option<Self> {
        asks_for_default(asked).then(|| Self { words: words_of(asked) })
    }

    /// Whether a text has the item of a setting that the question names, with its default.
    #[must_use]
    pub fn is_told_by(&self, text: &str) -> bool {
        let mut is_of_named = false;
        text.lines().any(|line| {
            let line = line.trim_start();
            let item = ["* ", "- ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
            if let Some(item) = item {
                is_of_named = code_at_start(item).is_some_and(|name| self.words.contains(&name));
            }
            is_of_named && Field::Default.is_in(line)
        })
    }
}

/// The words of a question, without the signs around them.
fn words_of(asked: &str) -> Vec<&str> {
    asked.split_whitespace().map(bare).collect()
}

/// Prefers the field of the setting that a question for one is about to those of the settings around it, and begins it with the
/// setting's name.
pub(super) fn prefer_asked(
    field: Field,
    question: &Question,
    sources: &[AnswerSource<'_>],
    evidence: &[PassageEvidence],
    found: &mut [SentenceCandidate],
) {
    let read = sources.iter().zip(evidence).enumerate();
    let settings: Vec<Setting<'_>> = read
        .flat_map(|(index, (source, evidence))| settings((field, question), index, source, &evidence.sentences))
        .collect();
    let asked = asked_for(question, &settings);
    for candidate in found {
        let is_of =
            |setting: &&Setting<'_>| candidate.source == setting.source && candidate.range.start == setting.field.start;
        if let Some(asked) = asked.filter(is_of) {
            (candidate.role, candidate.is_fragment, candidate.holds_kind) = (Role::SettingField, false, true);
            (candidate.held, candidate.heading) = (candidate.held | asked.mask, candidate.heading | asked.named);
            candidate.bonus += OF_ASKED;
            let naming = asked.naming.as_ref();
            candidate.context = naming.and_then(|(range, text)| Some((range.clone(), plain_line(text)?)));
        } else if settings.iter().any(|setting| is_of(&setting)) && field.is(&candidate.text) {
            // Without its name it is anything's.
            candidate.is_fragment = true;
        }
    }
}

/// Prefers, of several listings with the setting that a question for a default names, that below a heading of which the question
/// has all words: "the default jars of the release shelf" stand under "Release", not under "Spare shelves".
pub(super) fn prefer_headed(question: &Question, found: &mut [SentenceCandidate]) {
    let words = words_of(&question.asked);
    let lists_it = |candidate: &SentenceCandidate| {
        let names = |line: &str| line.split(['=', ':']).next().is_some_and(|name| words.contains(&name.trim()));
        candidate.code.as_ref().is_some_and(|code| code.lines().any(names))
    };
    let is_headed = |candidate: &SentenceCandidate| candidate.headed > 0.0 && candidate.heading_named >= 1.0;
    if !found.iter().any(|candidate| lists_it(candidate) && is_headed(candidate)) {
        return;
    }
    for candidate in found.iter_mut().filter(|candidate| lists_it(candidate)) {
        candidate.bonus += if is_headed(candidate) { OF_ASKED } else { -OF_OTHER };
    }
}

/// The setting that a question is about: one that it names before others, of several the one that holds most of it; `None` if
/// two different ones do.
fn asked_for<'s, 't>(question: &Question, settings: &'s [Setting<'t>]) -> Option<&'s Setting<'t>> {
    let words = words_of(&question.asked);
    let weight = |mask: TermMask| question.terms.weight_of(mask);
    let held = |setting: &Setting<'_>| {
        let is_named = f32::from(u8::from(words.contains(&setting.name)));
        [is_named, weight(setting.mask), weight(setting.named)]
    };
    let is_more = |one: &Setting<'_>, other: &Setting<'_>| held(one) > held(other);
    // Of equals the one of the better source.
    let best = settings.iter().reduce(|best, next| if is_more(next, best) { next } else { best })?;
    let is_rival = |other: &Setting<'_>| !is_more(best, other) && other.text != best.text;
    let is_sure = question.terms.share(best.mask) >= MOSTLY_ABOUT && !settings.iter().any(is_rival);
    is_sure.then_some(best)
}

fn settings<'t>(
    (field, question): (Field, &Question),
    index: usize,
    source: &AnswerSource<'t>,
    sentences: &[SentenceEvidence],
) -> Vec<Setting<'t>> {
    let words = |sentence: &SentenceEvidence| source.text.get(sentence.range.clone()).unwrap_or_default();
    let mut settings = Vec::new();
    // Headings of formats without Markdown signs stand as plain lines.
    let is_heading =
        |sentence: &SentenceEvidence| sentence.kind == BlockKind::Heading || is_own_heading(source, words(sentence));
    for section in sentences.chunk_by(|_, next| !is_heading(next)) {
        let heading = section.first().filter(|first| is_heading(first));
        let above = source.heading.last().map_or(0, |above| words_in(question, above));
        let mask_above = heading.map_or(above, |heading| heading.mask);
        let blocks = section.chunk_by(|one, next| one.block == next.block);
        settings.extend(blocks.filter_map(|block| {
            let first = block.first()?;
            let name = code_at_start(words(first))?;
            let told = block.iter().find(|sentence| field.is_in(words(sentence)))?;
            let naming = (first.range != told.range).then(|| (first.range.clone(), words(first)));
            Some(Setting {
                source: index,
                field: told.range.clone(),
                text: words(told),
                name,
                naming: naming.filter(|(range, _)| range.len() <= LONGEST_NAMING),
                named: words_in(question, name),
                mask: block.iter().fold(mask_above, |mask, sentence| mask | sentence.mask),
            })
        }));
        let told = section.iter().find(|sentence| field.is(words(sentence)));
        let Some((heading, told)) = heading.zip(told) else { continue };
        settings.push(Setting {
            source: index,
            field: told.range.clone(),
            text: words(told),
            name: bare(words(heading)),
            naming: Some((heading.range.clone(), words(heading))),
            named: heading.mask,
            mask: section.iter().fold(0, |mask, sentence| mask | sentence.mask),
        });
    }
    settings
}

/// The code that a text begins with.
fn code_at_start(text: &str) -> Option<&str> {
    let (code, _) = text.trim_start().strip_prefix('`')?.split_once('`')?;
    Some(code.trim()).filter(|code| !code.is_empty() && !code.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::{AskedDefault, Field};
    use crate::answering::tests::{parsed, text};
    use crate::answering::{AnswerSource, candidates, compose};
    use crate::evidence::passage::PassageEvidence;
    use crate::lexical::analyzer::Analyzer;

    const SECTIONS: &str = "## Settings\n\n#### `maxjars`\n\n* Default: 15\n* Type: Number\n\nThe maximum number of jars to fill per shelf (left/right/both).\n\n#### `jar-retries`\n\n* Default: 2\n* Type: Number\n\nThe \"retries\" config for the `pump` module to use when filling jars.\n\n#### `jar-retry-wait`\n\n* Default: 60000 (1 minute)\n* Type: Number\n\nThe \"wait\" config for the `pump` module to use when filling jars.\n\n#### `registry`\n\n* Default: \"https://jars.example.org/\"\n* Type: URL\n\nThe base URL of the jar registry.\n";

    const ITEMS: &str = "### `pump.fill(jar[, options])`\n\n* `jar` {string} The jar.\n* `options` {Object}\n  * `encoding` {string} **Default:** `'utf8'`\n  * `wait` {number} **Default:** `0`\n  * `most` {number} The largest number of lids. If there are more, the pump stops. **Default:** `1024`.\n\n### `pump.drain(jar[, options])`\n\n* `options` {Object}\n  * `wait` {number} **Default:** `7`\n";

    #[test]
    fn a_default_is_that_of_the_section_that_is_asked_for() {
        for (question, expected) in [
            ("What is the default value of maxjars?", "`maxjars` [^1]\n\nDefault: 15 [^1]"),
            ("What is the maximum number of jars per shelf by default?", "`maxjars` [^1]\n\nDefault: 15 [^1]"),
            ("What is the default of jar-retries?", "`jar-retries` [^1]\n\nDefault: 2 [^1]"),
            ("What is the default registry?", "`registry` [^1]\n\nDefault: \"https://jars.example.org/\" [^1]"),
        ] {
            assert_eq!(text(question, &[SECTIONS]), expected, "{question}");
        }
    }

    #[test]
    fn a_default_is_that_of_the_item_that_is_asked_for() {
        for (question, expected) in [
            ("What is the default encoding of pump.fill?", "`encoding` {string} **Default:** `'utf8'` [^1]"),
            ("What is the default wait of pump.fill?", "`wait` {number} **Default:** `0` [^1]"),
            ("What is the default wait of pump.drain?", "`wait` {number} **Default:** `7` [^1]"),
            (
                "What is the default of most in pump.fill?",
                "`most` {number} The largest number of lids. [^1] **Default:** `1024`. [^1]",
            ),
        ] {
            assert_eq!(text(question, &[ITEMS]), expected, "{question}");
        }
    }

    #[test]
    fn a_variable_is_that_of_the_section_that_is_asked_for() {
        let keys = "#### `fill.jobs`\n\n* Type: integer\n* Environment: `JAR_FILL_JOBS`\n\nThe number of jars filled at once.\n\n#### `fill.folder`\n\n* Type: path\n* Environment: `JAR_FILL_FOLDER` or `JAR_FOLDER`\n\nWhere jars are filled.\n";
        assert_eq!(
            text("Which environment variable sets fill.folder?", &[keys]),
            "`fill.folder` [^1]\n\nEnvironment: `JAR_FILL_FOLDER` or `JAR_FOLDER` [^1]"
        );
    }

    #[test]
    fn of_several_listings_that_below_the_heading_asked_for_tells_a_default() {
        let page = "## Shelf kinds\n\n### release\n\nThe default settings for the `release` shelf are:\n\n```toml\n[shelf.release]\njar-level = 3\n```\n\n### Spare parts\n\nThe default settings for spare parts of a stand are:\n\n```toml\n[shelf.release.spare]\njar-level = 0\n```\n";
        let said = text("What is the default jar-level for release stands?", &[page]);
        assert!(said.contains("jar-level = 3") && !said.contains("jar-level = 0"), "{said}");
        let said = text("What is the default jar-level for spare parts?", &[page]);
        assert!(said.contains("jar-level = 0") && !said.contains("jar-level = 3"), "{said}");
    }

    #[test]
    fn a_heading_may_be_a_plain_line() {
        let heading = ["Keys".to_owned(), "fill.retry".to_owned()];
        let page = "fill.retry\n\n- Type: integer\n- Default: 3\n- Environment: JAR_FILL_RETRY\n\nNumber of times to fill a leaking jar again.";
        let source = AnswerSource { heading: &heading, ..AnswerSource::alone(page) };
        let question = parsed("What is the default value of fill.retry?");
        let evidence = [PassageEvidence::new(Analyzer::english(), &question.terms, "Keys fill.retry", page)];
        let found = candidates(&question, &[source], &evidence);
        let said = compose(&question, &found, None).map(|answer| answer.text);
        assert_eq!(said.as_deref(), Some("fill.retry [^1]\n\nDefault: 3 [^1]"));
    }

    #[test]
    fn a_text_is_known_to_tell_the_default_that_is_asked_for() {
        let tells = |asked: &str, text: &str| AskedDefault::of(asked).is_some_and(|default| default.is_told_by(text));
        assert!(tells("What is the default wait of pump.fill?", ITEMS));
        assert!(tells("What is the default of most?", "* `most` {number} Of lids.\n  **Default:** `7`"));
        assert!(!tells("What is the default of most?", "* `most` {number} Of lids.\n* `wait` **Default:** `7`"));
        assert!(!tells("How long is the wait of pump.fill?", ITEMS));
        assert!(!tells("What is the default color?", ITEMS));
    }

    #[test]
    fn nothing_else_is_given_its_default() {
        for question in ["What is the default of lid-color?", "What is the type of the registry?"] {
            let said = text(question, &[SECTIONS]);
            assert!(!said.contains("Default"), "{question} {said}");
        }
        assert!(Field::Default.is("* **Default:** `7`") && !Field::Default.is("Default: See the shelf."));
        assert!(!Field::Default.is("Default:") && !Field::Default.is("Type: Default"));
    }
}
