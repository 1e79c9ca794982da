//! An answer that has been parsed but not yet validated.

use std::collections::HashMap;

use super::answer::{Citation, Claim};
use super::claim::{Role, Statement, cover, plain, statements};
use super::exempt::{Lapse, lapses};
use super::marker::{MalformedMarker, Marker, Markers, markers};
use super::prepared::{Basis, PreparedSource};
use super::support::{LexicalScorer, Support, SupportScorer};
use crate::markdown::blocks;
use crate::sentence::sentences_of;
use crate::span::IndexedText;
use crate::wording::lower_case_words;

/// Fewest words before a marker inside a sentence that are compared with the source on their own.
const SHORTEST_PART: usize = 3;

/// A parsed answer: markers, statements, and how well the sources support them.
///
/// Everything that does not depend on the level happens here, once.
#[derive(Debug, Clone)]
pub struct Draft {
    text: IndexedText<'static>,
    sources: usize,
    markers: Markers,
    statements: Vec<Statement>,
    /// For each statement, the source numbers that cover it.
    covered: Vec<Vec<u32>>,
    /// For each statement that is a covered claim, how well its sources support it together.
    supports: Vec<Option<Support>>,
    citations: Vec<Citation>,
    /// Statements outside of its claims that no source holds, in order.
    lapses: Vec<Lapse>,
    /// Whether it only repeats the question.
    repeats_question: bool,
    attribution: Attribution,
}

/// How the sources of a claim are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribution {
    /// The markers of the text name them.
    Markers,
    /// Each claim is held against every source, and the one that supports it best is its own; markers are passed over.
    Best,
}

impl Draft {
    /// Reads an answer to no question in particular, whose marker `[^N]` means `sources[N - 1]`.
    #[must_use]
    pub fn new(text: impl Into<String>, sources: &[PreparedSource]) -> Self {
        Self::over(text, &Basis::new(sources.to_vec(), ""))
    }

    /// Reads an answer over its sources.
    ///
    /// The scorer is asked once per distinct pair of statement and marker number, so its cost bounds this.
    #[must_use]
    pub fn over(text: impl Into<String>, basis: &Basis) -> Self {
        Self::read(text, basis, Attribution::Markers)
    }

    /// Reads a text over sources that it may not name. With [`Attribution::Best`] the scorer is asked once per statement
    /// and source.
    #[must_use]
    pub fn read(text: impl Into<String>, basis: &Basis, attribution: Attribution) -> Self {
        let sources = basis.sources().len();
        let scorer = &LexicalScorer::over(basis);
        let text = IndexedText::new(text.into());
        let blocks = blocks(text.text());
        let sentences = sentences_of(text.text(), &blocks);
        let mut markers = markers(&text, &blocks);
        let statements = statements(&text, &sentences, &markers);
        let (covered, supports) = match attribution {
            Attribution::Markers => cited(&statements, &markers, sources, scorer),
            Attribution::Best => {
                markers = Markers::default();
                statements.iter().map(|statement| best(statement, scorer)).unzip()
            }
        };
        let lapses = lapses(text.text(), &statements, &sentences, &covered, basis);
        let question = basis.question().text();
        let repeats = |asked: &str| lower_case_words(text.text()).eq(lower_case_words(asked));
        let repeats_question = repeats(question) || question.lines().any(repeats);
        let mut draft = Self {
            text,
            sources,
            markers,
            statements,
            covered,
            supports,
            citations: Vec::new(),
            lapses,
            repeats_question,
            attribution,
        };
        draft.citations = draft.cite(scorer);
        draft
    }

    fn cite(&self, scorer: &dyn SupportScorer) -> Vec<Citation> {
        let mut citations = Vec::new();
        for (number, statement) in self.statements.iter().enumerate() {
            let own = self.markers.valid.get(statement.markers.clone()).unwrap_or_default();
            let mut known: HashMap<u32, Support> = HashMap::new();
            let mut part_start = statement.bytes.start;
            for marker in own {
                let part = self.text.text().get(part_start..marker.bytes.start).map(plain).unwrap_or_default();
                part_start = marker.bytes.end;
                let Some(index) = source_index(marker.number, self.sources) else {
                    continue;
                };
                let whole = known.entry(marker.number).or_insert_with(|| match self.supports.get(number) {
                    // The only source of a claim has been asked already.
                    Some(Some(support)) if self.covered.get(number).is_some_and(|all| all.len() == 1) => {
                        support.clone()
                    }
                    _ => scorer.support(&statement.words, &[index]),
                });
                let mut support = whole.clone();
                if own.len() > 1 && part.split_whitespace().count() >= SHORTEST_PART {
                    let of_part = scorer.support(&part, &[index]);
                    if of_part.score > support.score {
                        support = of_part;
                    }
                }
                citations.push(Citation {
                    marker: marker.number,
                    span: marker.span,
                    claim: statement.span,
                    source_index: index,
                    support: support.score,
                    quote: support.quote,
                });
            }
        }
        citations
    }

    /// The answer as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.text()
    }

    /// How many sources the answer may cite; valid markers are `1..=sources`.
    #[must_use]
    pub const fn sources(&self) -> usize {
        self.sources
    }

    /// Citations of sources that exist, in order of appearance. Not yet validated: see [`super::validate`].
    #[must_use]
    pub fn citations(&self) -> &[Citation] {
        &self.citations
    }

    /// Sentences, code blocks and markup of the answer, in order.
    #[must_use]
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Well-formed markers, including those of sources that do not exist, in order of appearance.
    #[must_use]
    pub fn markers(&self) -> &[Marker] {
        &self.markers.valid
    }

    /// Malformed markers, in order of appearance.
    #[must_use]
    pub fn malformed(&self) -> &[MalformedMarker] {
        &self.markers.malformed
    }

    /// Markers of sources that do not exist, in order of appearance.
    pub fn out_of_range(&self) -> impl Iterator<Item = &Marker> {
        self.markers.valid.iter().filter(|marker| source_index(marker.number, self.sources).is_none())
    }

    /// The factual sentences with the sources that cover them, in order of appearance.
    #[must_use]
    pub fn claims(&self) -> Vec<Claim> {
        self.judged()
            .filter(|(statement, ..)| statement.role == Role::Claim)
            .map(|(statement, markers, support)| Claim::new(statement, markers, support))
            .collect()
    }

    /// The words of the sentences with this role, in order of appearance.
    #[must_use]
    pub fn words_of(&self, role: Role) -> Vec<String> {
        let such = self.statements.iter().filter(|statement| statement.role == role);
        such.map(|statement| statement.words.clone()).collect()
    }

    /// Each statement with the source numbers that cover it and their joint support.
    pub(super) fn judged(&self) -> impl Iterator<Item = (&Statement, &[u32], Option<&Support>)> {
        self.statements
            .iter()
            .zip(&self.covered)
            .zip(&self.supports)
            .map(|((statement, covered), support)| (statement, covered.as_slice(), support.as_ref()))
    }

    /// The words of each covered claim and how well they are supported.
    pub(super) fn claims_mut(&mut self) -> impl Iterator<Item = (&str, &mut Support)> {
        let claims = self.statements.iter().zip(&mut self.supports);
        claims.filter_map(|(statement, support)| Some((statement.words.as_str(), support.as_mut()?)))
    }

    /// Whether its sources are those that its markers name.
    pub(super) fn is_marked(&self) -> bool {
        self.attribution == Attribution::Markers
    }

    /// Whether it is the question again, which asks nothing back.
    pub(super) const fn repeats_question(&self) -> bool {
        self.repeats_question
    }

    /// Statements outside of its claims that no source holds, in order.
    pub(super) fn lapses(&self) -> &[Lapse] {
        &self.lapses
    }

    pub(super) fn indexed_text(&self) -> &IndexedText<'static> {
        &self.text
    }
}

/// For each statement, the source numbers that its markers cover it with, and their joint support.
fn cited(
    statements: &[Statement],
    markers: &Markers,
    sources: usize,
    scorer: &dyn SupportScorer,
) -> (Vec<Vec<u32>>, Vec<Option<Support>>) {
    let covered = cover(statements, &markers.valid, sources, |claim, number| {
        source_index(number, sources).is_some_and(|index| scorer.support(claim, &[index]).is_enough())
    });
    let supports = statements
        .iter()
        .zip(&covered)
        .map(|(statement, numbers)| {
            let indices: Vec<_> = numbers.iter().filter_map(|number| source_index(*number, sources)).collect();
            let is_covered_claim = statement.role == Role::Claim && !indices.is_empty();
            is_covered_claim.then(|| scorer.support(&statement.words, &indices))
        })
        .collect();
    (covered, supports)
}

/// The number of the source by which a claim is judged that may have any, and its support.
fn best(statement: &Statement, scorer: &LexicalScorer<'_>) -> (Vec<u32>, Option<Support>) {
    if statement.role != Role::Claim {
        return (Vec::new(), None);
    }
    let Some((index, support)) = scorer.best(&statement.words) else { return (Vec::new(), Some(Support::default())) };
    (u32::try_from(index + 1).into_iter().collect(), Some(support))
}

pub(super) fn source_index(number: u32, sources: usize) -> Option<usize> {
    let number = usize::try_from(number).ok()?;
    number.checked_sub(1).filter(|index| *index < sources)
}
