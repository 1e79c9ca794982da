//! The built-in judge of support: words, and nothing else.

use std::ops::Range;

use super::cells::{Told, Verdict, leaves_open, told_by_cells};
use super::computed::computed;
use super::contradiction::Difference;
use super::fact::{Fact, facts};
use super::features::{self, Comparison};
use super::figures::as_sourced;
use super::foreign::is_foreign;
use super::misplaced::Values;
use super::model::MODEL;
use super::polarity::Claim;
use super::quotation::{Quotation, quotation};
use super::rearranged::rearranged;
use super::restated::oversteps;
use super::roles::is_of_others;
use super::{
    Contradiction, ContradictionKind, MissingKind, Requalified, Reversal, SUPPORT_THRESHOLD, Support, SupportScorer,
    repeats,
};
use crate::citation::prepared::{Basis, PreparedSource};
use crate::citation::source::SourceParts;
use crate::citation::term::TermKind;

/// Highest score of a claim that a missing fact or a reversal decides against.
const HIGHEST_DECIDED: f32 = SUPPORT_THRESHOLD - 0.01;

/// Least score of a claim that cells of a table say or bear out, where nothing of it is missing.
const SAID_BY_CELLS: f32 = 0.8;

/// Score of a claim that quotes its source: that of one which repeats it.
const QUOTED: f32 = 0.95;

/// The built-in judge of support.
#[derive(Debug, Clone, Copy)]
pub struct LexicalScorer<'s> {
    sources: &'s [PreparedSource],
    question: Option<&'s PreparedSource>,
}

impl<'s> LexicalScorer<'s> {
    /// A judge over these sources.
    #[must_use]
    pub const fn new(sources: &'s [PreparedSource]) -> Self {
        Self { sources, question: None }
    }

    /// The same over the sources of an answer to a question, whose figures it may calculate with.
    #[must_use]
    pub fn over(basis: &'s Basis) -> Self {
        Self { sources: basis.sources(), question: Some(basis.question()) }
    }
}

/// A contradiction with what it weighs against a source that supports the claim.
struct Dispute {
    contradiction: Contradiction,
    /// Index of the fact in whose place the source has something else; none of a denial.
    fact: Option<usize>,
    /// How much of the claim the contradicting words hold.
    weight: f32,
    /// Whether the source says that the claim's value is wrong.
    is_corrected: bool,
}

/// The sources of a claim, and what is known of it before its words are compared.
struct Basics<'b> {
    cited: &'b [&'b SourceParts],
    told: Option<Told>,
    /// Whether it puts "more than" before a number that they tell exactly.
    oversteps: bool,
}

/// A claim held against sources.
struct Judged {
    support: Support,
    dispute: Option<Dispute>,
    /// Which facts of the claim the best words hold, and how much of it.
    quoted: Vec<bool>,
    weight: f32,
    /// Whether these words are the claim, word for word.
    is_repeated: bool,
}

impl Judged {
    /// Whether this support yields to the dispute: where the source does not say the very thing that is disputed, or
    /// less of the claim than the one that denies it, or where the other one says that it is wrong.
    fn yields_to(&self, dispute: &Dispute) -> bool {
        let says_less = || match dispute.fact {
            Some(fact) => self.quoted.get(fact) == Some(&false),
            None => self.weight < dispute.weight,
        };
        dispute.is_corrected || !self.is_repeated && says_less()
    }
}

impl LexicalScorer<'_> {
    /// The one of all sources by which a claim is judged, by its index, and its support: the one that supports the claim
    /// best, the first among equals, unless another one contradicts the claim about something of which this says less, or,
    /// where none supports it, holds more of the claim and contradicts it.
    #[must_use]
    pub fn best(&self, claim: &str) -> Option<(usize, Support)> {
        let claim = Claim::of(claim);
        let facts = facts(&claim);
        let judged = (0..self.sources.len()).map(|index| (index, self.judge(&claim, &facts, &[index])));
        let rank = |judged: &Judged| (judged.support.is_enough(), judged.support.score);
        let mut against: Vec<(usize, Judged)> = Vec::new();
        let mut best: Option<(usize, Judged)> = None;
        for (index, judged) in judged {
            if best.as_ref().is_none_or(|(_, best)| rank(&judged) > rank(best)) {
                against.extend(best.replace((index, judged)));
            } else {
                against.push((index, judged));
            }
        }
        let (index, best) = best?;
        let is_enough = best.support.is_enough();
        let is_denied = best.dispute.is_some();
        against.retain(|(_, other)| {
            let Some(dispute) = other.dispute.as_ref() else { return false };
            if is_enough { best.yields_to(dispute) } else { !is_denied && other.weight > best.weight }
        });
        let strongest = against.into_iter().reduce(|one, two| if two.1.weight > one.1.weight { two } else { one });
        Some(strongest.map_or((index, best.support), |(index, other)| (index, other.support)))
    }

    fn cited<'s>(&'s self, sources: &[usize]) -> Vec<&'s SourceParts> {
        sources.iter().filter_map(|index| self.sources.get(*index)).map(PreparedSource::parts).collect()
    }

    fn judge(&self, claim: &Claim<'_>, facts: &[Fact<'_>], sources: &[usize]) -> Judged {
        let cited = self.cited(sources);
        let (told, oversteps) = (told_by_cells(claim, facts, &cited), oversteps(claim, &cited));
        match as_sourced(claim, &cited, self.question.map(PreparedSource::parts)) {
            Some(read) => {
                let facts = self::facts(&read);
                let told = told.or_else(|| told_by_cells(&read, &facts, &cited));
                self.judge_sourced(&read, &facts, sources, Basics { cited: &cited, told, oversteps })
            }
            None => self.judge_sourced(claim, facts, sources, Basics { cited: &cited, told, oversteps }),
        }
    }

    /// Judges a claim whose figures have the form that the sources give them.
    fn judge_sourced(
        &self,
        claim: &Claim<'_>,
        facts: &[Fact<'_>],
        sources: &[usize],
        Basics { cited, told, oversteps }: Basics<'_>,
    ) -> Judged {
        let by_cells = told.as_ref().and_then(|told| told.settles);
        let by_figures = if told.is_some() { Vec::new() } else { computed(claim, cited) };
        let settled: Vec<&str> = by_cells
            .into_iter()
            .chain(by_figures)
            .filter_map(|at| claim.terms.get(at))
            .map(|term| term.stem.as_str())
            .collect();
        let is_settled = |fact: &Fact<'_>| settled.contains(&fact.stem.as_str());
        let settled: Option<Vec<Fact<'_>>> = (!settled.is_empty())
            .then(|| facts.iter().map(|fact| if is_settled(fact) { fact.settled() } else { fact.clone() }).collect());
        let facts = settled.as_deref().unwrap_or(facts);
        let comparison = Comparison::new(claim, facts, cited);
        let quotation = quotation(claim, cited, self.question.map(PreparedSource::parts));
        if quotation == Some(Quotation::Introduced) && !is_of_others(claim, cited) {
            let quote = comparison.quote();
            let support = Support { score: QUOTED, quote, ..Support::default() };
            let weight = comparison.weight();
            return Judged { support, dispute: None, quoted: comparison.into_quoted(), weight, is_repeated: true };
        }
        let denied = (quotation == Some(Quotation::Denied)).then_some(Reversal::Denial);
        let is_told = told.as_ref().is_some_and(|told| matches!(told.verdict, Verdict::SaysSo));
        let missing = comparison.missing();
        let reversal = comparison.reversal().or(denied).filter(|reversal| {
            !is_told
                || !matches!(
                    reversal,
                    Reversal::Denial
                        | Reversal::Quantity
                        | Reversal::Opposite
                        | Reversal::Qualifier(Requalified::Measure | Requalified::Limit)
                )
        });
        let score = if comparison.shares_nothing() { 0.0 } else { MODEL.probability(&comparison.features()) };
        let score = if is_told { score.max(SAID_BY_CELLS) } else { score };
        let is_whole = score >= SUPPORT_THRESHOLD && reversal.is_none() && !comparison.lacking().contains(&true);
        let quote = comparison.quote();
        let is_repeated = quote.as_ref().is_some_and(|quote| repeats(&quote.text, claim.text));
        let differing = if is_whole { None } else { self.contradiction(claim, &comparison, sources) };
        let has_values = told.as_ref().is_some_and(|told| matches!(told.verdict, Verdict::HasValues));
        // Cells say more than the words around them.
        let is_settled = |dispute: &Dispute| match dispute.contradiction.kind {
            ContradictionKind::Denial | ContradictionKind::Opposite => is_told,
            ContradictionKind::Date => is_told || has_values,
            ContradictionKind::Number | ContradictionKind::Name => has_values,
        };
        let differing = differing.filter(|dispute| !is_settled(dispute));
        let misplaced = self.misplaced(claim, facts, sources, is_repeated);
        let (corrected, misplaced) =
            match misplaced.filter(|found| found.is_corrected || !(has_values || is_settled(found))) {
                Some(found) if found.is_corrected => (Some(found), None),
                found => (None, found),
            };
        let told_otherwise = || {
            let Told { verdict: Verdict::Differs(difference), source, bytes, .. } = told? else { return None };
            if is_repeated { None } else { dispute(difference, (cited, sources), source, &bytes) }
        };
        let dispute = corrected.or_else(told_otherwise).or(differing).or(misplaced);
        // Nothing that agrees makes up for a wrong number, date or name, or for a "not", and a small number that is
        // right proves nothing of what is said of it.
        let quoted = quote.as_ref().map_or("", |quote| quote.text.as_str());
        let is_plain = score >= SUPPORT_THRESHOLD && !is_told && !is_repeated;
        let is_open = || is_plain && (oversteps || leaves_open(claim, cited, quoted));
        let is_rearranged = || is_plain.then(|| rearranged(claim, cited)).flatten();
        let reversal = reversal.or_else(|| is_rearranged().map(Reversal::Qualifier));
        let is_decided = is_open()
            || !missing.is_empty()
            || reversal.is_some()
            || dispute.is_some()
            || comparison.shares_small_number_alone();
        let support = Support {
            score: if is_decided { score.min(HIGHEST_DECIDED) } else { score },
            quote,
            missing,
            reversal,
            contradiction: dispute.as_ref().map(|dispute| dispute.contradiction.clone()),
            is_foreign: false,
            ruling: None,
        };
        let weight = comparison.weight();
        if !support.is_enough() && is_foreign(claim, cited) {
            let support = untold(support);
            return Judged { support, dispute: None, quoted: comparison.into_quoted(), weight, is_repeated };
        }
        Judged { support, dispute, quoted: comparison.into_quoted(), weight, is_repeated }
    }

    /// The place of one of the sources that contradicts the claim, if words show it: of several that which holds most of
    /// the claim. Each source is compared alone, because another one may hold the same number of something else.
    fn contradiction(&self, claim: &Claim<'_>, all: &Comparison<'_>, sources: &[usize]) -> Option<Dispute> {
        let lacking = all.lacking();
        let contradicts = |source_index: usize| {
            let source = [self.sources.get(source_index)?.parts()];
            let alone = (sources.len() > 1).then(|| Comparison::new(claim, all.facts(), &source));
            let comparison = alone.as_ref().unwrap_or(all);
            let (difference, quote) = (comparison.contradiction(claim, &lacking)?, comparison.quote()?);
            let contradiction = Contradiction { kind: difference.kind, source_index, quote };
            let weight = comparison.weight();
            Some(Dispute { contradiction, fact: difference.fact, weight, is_corrected: false })
        };
        let found = sources.iter().filter_map(|index| contradicts(*index));
        found.reduce(|one, two| if two.weight > one.weight { two } else { one })
    }

    /// The place of one of the sources that puts another value where the claim has one that they hold of something else.
    fn misplaced(
        &self,
        claim: &Claim<'_>,
        facts: &[Fact<'_>],
        sources: &[usize],
        is_repeated: bool,
    ) -> Option<Dispute> {
        let has_value = claim.terms.iter().any(|term| term.is_number() || term.kind == TermKind::Month);
        let known: Vec<usize> =
            sources.iter().copied().filter(|index| has_value && self.sources.get(*index).is_some()).collect();
        let cited = self.cited(&known);
        let found = Values::new(claim, facts, &cited).misplaced(is_repeated)?;
        let dispute = dispute(found.difference, (&cited, &known), found.source, &found.bytes)?;
        Some(Dispute { is_corrected: found.is_corrected, ..dispute })
    }

    /// The features of the score, in the order of [`features::NAMES`]: for the calibration tool.
    #[must_use]
    pub fn features(&self, claim: &str, sources: &[usize]) -> [f32; features::COUNT] {
        let claim = Claim::of(claim);
        Comparison::new(&claim, &facts(&claim), &self.cited(sources)).features()
    }
}

/// The dispute of a claim with words of one of the sources, which are given with their indices.
fn dispute(
    Difference { kind, fact }: Difference,
    (cited, indices): (&[&SourceParts], &[usize]),
    source: usize,
    bytes: &Range<usize>,
) -> Option<Dispute> {
    let quote = cited.get(source)?.quote(bytes)?;
    let contradiction = Contradiction { kind, source_index: *indices.get(source)?, quote };
    Some(Dispute { contradiction, fact, weight: 0.0, is_corrected: false })
}

/// The support of a claim in another language, of which words tell no more than that its numbers and months are missing.
fn untold(support: Support) -> Support {
    let missing = support.missing.into_iter().filter(|missing| missing.kind != MissingKind::Name);
    Support { missing: missing.collect(), reversal: None, contradiction: None, is_foreign: true, ..support }
}

impl SupportScorer for LexicalScorer<'_> {
    fn support(&self, claim: &str, sources: &[usize]) -> Support {
        let claim = Claim::of(claim);
        self.judge(&claim, &facts(&claim), sources).support
    }
}
