//! Numbers and dates of a claim that a source holds of something else: in another row or column of a table, of another name of
//! an enumeration, in another place of the sentence, or only to say that they are wrong.
//!
//! Each is found by another value of the same kind that stands where the claim has its own, or by the column that the claim
//! names.

mod exchanged;
mod other_column;
mod whole_name;

use std::collections::HashMap;
use std::ops::Range;

use super::MissingKind;
use super::contradiction::{ContradictionKind, Difference};
use super::fact::Fact;
use super::place::{Class, Part, Place, content};
use super::polarity::Claim;
use crate::citation::columns::column_of;
use crate::citation::source::{SourceParts, SourceSentence, Token};
use crate::citation::term::{Term, TermKind};
use crate::citation::unit::is_unit;

/// Most values of a claim that are looked at, most places of each, and most sentences with another value.
const MOST_VALUES: usize = 16;
const MOST_PLACES: usize = 8;
const MOST_RIVALS: usize = 64;

/// Most facts of a claim that are compared: the bits of a set.
const MOST_FACTS: usize = 64;

/// Least share of the claim's other words in a sentence that has another value in the same place, and in one that
/// corrects the value.
const SAME_FRAME: f32 = 0.5;
const SAME_SUBJECT: f32 = 0.4;
/// Least share of them in one that corrects the value, however few they are.
const SAME_CLAIM: f32 = 0.75;
/// Least number of these words.
const LEAST_SHARED: u32 = 2;

/// Most words with content beside the value in a part of an enumeration.
const LONGEST_PART: usize = 5;

/// Words with content on either side of a value that place it, and how many more of them are the claim's around
/// another value than around its own.
const FAR: usize = 4;
const MORE_BESIDE: usize = 2;

/// A value of a claim that stands in a source of something else.
pub(super) struct Misplaced {
    pub(super) difference: Difference,
    /// Whether the source says that the value is wrong.
    pub(super) is_corrected: bool,
    /// Index among the sources that were looked at.
    pub(super) source: usize,
    /// Bytes of the sentence that has another value in its place.
    pub(super) bytes: Range<usize>,
}

/// A claim whose values are looked for in sources.
pub(super) struct Values<'v> {
    claim: &'v Claim<'v>,
    facts: &'v [Fact<'v>],
    sources: &'v [&'v SourceParts],
    /// For each source, the claim's facts with content that each entry holds.
    held: Vec<HashMap<usize, u64>>,
}

/// A value of the claim.
struct Value<'v> {
    fact: usize,
    term: &'v Term,
    class: Class,
    /// The claim's words with content before and after it.
    before: Option<&'v str>,
    after: Option<&'v str>,
}

impl<'v> Values<'v> {
    pub(super) fn new(claim: &'v Claim<'v>, facts: &'v [Fact<'v>], sources: &'v [&'v SourceParts]) -> Self {
        let held = |source: &&SourceParts| {
            let mut held: HashMap<usize, u64> = HashMap::new();
            for (bit, fact) in facts.iter().enumerate().take(MOST_FACTS).filter(|(_, fact)| fact.has_content()) {
                for sentence in source.term(&fact.stem).map(|term| source.postings(term)).unwrap_or_default() {
                    let entry = source.sentences.get(*sentence).map_or(*sentence, |sentence| sentence.entry);
                    *held.entry(entry).or_default() |= 1 << bit;
                }
            }
            held
        };
        Self { claim, facts, sources, held: sources.iter().map(held).collect() }
    }

    /// The first value of the claim that a source holds of something else; of a claim that the source repeats word for
    /// word, the first that it corrects.
    pub(super) fn misplaced(&self, is_repeated: bool) -> Option<Misplaced> {
        self.values().take(MOST_VALUES).find_map(|value| {
            let places = self.places(&value);
            let of_other = || {
                self.of_another_row(&value, &places)
                    .or_else(|| self.of_row_named_whole(&value, &places))
                    .or_else(|| self.of_another_column(&value, &places))
                    .or_else(|| self.in_another_place(&value, &places))
                    .or_else(|| self.of_another_name(&value, &places))
                    .or_else(|| self.exchanged(&value, &places))
            };
            let corrected = self.corrected(&value, &places);
            let is_corrected = corrected.is_some();
            let found = corrected.or_else(|| if is_repeated { None } else { of_other() })?;
            let kind = match value.class {
                Class::Number(_) => ContradictionKind::Number,
                Class::Month | Class::Year => ContradictionKind::Date,
            };
            let difference = Difference { kind, fact: Some(value.fact) };
            Some(Misplaced { difference, is_corrected, source: found.index, bytes: found.sentence.bytes.clone() })
        })
    }

    fn values(&self) -> impl Iterator<Item = Value<'_>> {
        let terms = &self.claim.terms;
        terms.iter().enumerate().filter_map(|(at, term)| {
            let fact = self.facts.iter().position(|fact| fact.stem == term.stem)?;
            let own = self.facts.get(fact).filter(|own| !own.is_reference && !own.is_negated && fact < MOST_FACTS)?;
            let is_value = own.exact.is_some() && term.kind != TermKind::Word
                || term.kind == TermKind::Spelled && term.unit.is_some();
            let class = Class::of(term.kind, term.unit, &term.stem).filter(|_| is_value)?;
            let near = |places: &mut dyn Iterator<Item = usize>| {
                let mut content = places.filter_map(|at| terms.get(at)).filter(|term| term.kind != TermKind::Stop);
                content.find(|term| !self.is_unit(term)).map(|term| term.stem.as_str())
            };
            let before = near(&mut (0..at).rev());
            let after = near(&mut (at + 1..terms.len()));
            Some(Value { fact, term, class, before, after })
        })
    }

    fn is_unit(&self, term: &Term) -> bool {
        self.claim.text.get(term.range.clone()).is_some_and(is_unit)
    }

    /// The first places of each source that has the value.
    fn places(&self, value: &Value<'_>) -> Vec<Place<'v>> {
        let mut found = Vec::new();
        for (index, source) in self.sources.iter().enumerate() {
            let Some(term) = source.term(&value.term.stem) else { continue };
            let sentences = source.postings(term).iter().filter_map(|number| source.sentences.get(*number));
            for sentence in sentences.take(MOST_PLACES) {
                let is_it = |at: &usize| source.tokens.get(*at).is_some_and(|token| token.term == term);
                let at = sentence.tokens.clone().filter(is_it).take(MOST_PLACES);
                found.extend(at.map(|at| Place { index, source, sentence, at }));
            }
        }
        found
    }

    /// A sentence that has another value and denies this one: "20:12, not 21:12".
    fn corrected(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        places.iter().copied().find(|place| {
            let Place { source, sentence, at, .. } = *place;
            let is_denied = sentence.denials.all.iter().any(|denial| denial.denied().contains(&at));
            let (share, number) = self.share(*place, value);
            let is_about_same = share >= SAME_SUBJECT && number >= LEAST_SHARED || share >= SAME_CLAIM;
            is_denied
                && is_about_same
                && self
                    .rivals(source, sentence, value)
                    .any(|at| source.tokens.get(at).is_some_and(|token| !token.is_negated))
        })
    }

    /// A row that has another value and holds all words of the claim that the rows with this one hold, and more.
    fn of_another_row(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        let own = |place: &Place<'_>| self.mask(place.index, place.sentence.entry) & !(1 << value.fact);
        let all = places.iter().fold(0, |all, place| all | own(place));
        places.iter().filter(|place| place.sentence.is_row).take(MOST_PLACES).find_map(|place| {
            let mut rows: Vec<(u32, usize)> = self
                .held
                .get(place.index)?
                .iter()
                .filter_map(|(entry, mask)| {
                    let mask = mask & !(1 << value.fact);
                    let holds_more = all & !mask == 0 && places.iter().all(|place| own(place) != mask);
                    holds_more.then_some((mask.count_ones(), *entry))
                })
                .collect();
            rows.sort_unstable_by_key(|(held, entry)| (std::cmp::Reverse(*held), *entry));
            rows.into_iter().take(MOST_RIVALS).find_map(|(_, entry)| {
                place.source.sentences.get(entry).filter(|row| row.is_row)?;
                let between = place.sentence.entry.min(entry)..=place.sentence.entry.max(entry);
                let is_table = place.source.sentences.get(between)?.iter().all(|row| row.is_row || row.is_rule());
                let sentences = place.source.sentences.get(entry..)?.iter().take_while(|row| row.entry == entry);
                if self.claims_a_value_of(place.source, entry, value) {
                    return None;
                }
                let mut rivals = sentences.filter_map(|row| Some((row, self.rivals(place.source, row, value).next()?)));
                rivals.next().filter(|_| is_table).map(|(sentence, at)| Place { sentence, at, ..*place })
            })
        })
    }

    /// Whether a row has another value of the claim, but in its name: the claim is about several rows, of which this is one.
    fn claims_a_value_of(&self, source: &SourceParts, entry: usize, value: &Value<'_>) -> bool {
        let is_other =
            |fact: &&Fact<'_>| fact.is_value() && fact.stem != value.term.stem && fact.unit == value.term.unit;
        let others: Vec<u32> = self.facts.iter().filter(is_other).filter_map(|fact| source.term(&fact.stem)).collect();
        let rows = source.sentences.get(entry..).unwrap_or_default();
        rows.iter().take_while(|row| row.entry == entry).any(|row| {
            let names_row = |at: usize| !row.header.is_empty() && column_of(source, at) == Some(1);
            let is_claimed = |at: usize| source.tokens.get(at).is_some_and(|token| others.contains(&token.term));
            row.tokens.clone().any(|at| is_claimed(at) && !names_row(at))
        })
    }

    /// A sentence that has another value between the words between which the claim has its own, where none of the
    /// places with the value stands near any of these words.
    fn in_another_place(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        if places.iter().any(|place| place.is_between(value.before, value.after)) {
            return None;
        }
        let most = places.iter().map(|place| self.beside(*place, value)).max().unwrap_or_default();
        // A sentence that does not name what those with the value name is about something else.
        let own_names = self.names_held(places);
        let anchor = value.before.or(value.after)?;
        let has_both = value.before.is_some() && value.after.is_some();
        self.sources.iter().enumerate().find_map(|(index, source)| {
            let sentences = source.postings(source.term(anchor)?).iter().filter_map(|at| source.sentences.get(*at));
            let holds_it = |row: &SourceSentence| {
                places.iter().any(|place| place.index == index && place.sentence.entry == row.entry)
            };
            let is_own = |row: &SourceSentence| {
                !row.header.is_empty() && (holds_it(row) || self.claims_a_value_of(source, row.entry, value))
            };
            let sentences = sentences.filter(|sentence| !sentence.is_question && !is_own(sentence));
            sentences.take(MOST_RIVALS).find_map(|sentence| {
                let place = |at: usize| Place { index, source, sentence, at };
                let (share, number) = self.share(place(sentence.tokens.start), value);
                let is_of_another = own_names & !self.mask(index, sentence.entry) != 0;
                if share < SAME_FRAME || number < LEAST_SHARED || is_of_another {
                    return None;
                }
                let mut rivals = self.rivals(source, sentence, value).map(place);
                rivals.find(|rival| {
                    let is_nearer = || has_both || self.beside(*rival, value) >= most + MORE_BESIDE;
                    let is_rounded = || places.is_empty() && rival.may_be_rounded(value.term, value.class);
                    rival.is_between(value.before, value.after) && (most == 0 || is_nearer()) && !is_rounded()
                })
            })
        })
    }

    /// The names of the claim that the entries with a value hold.
    fn names_held(&self, places: &[Place<'v>]) -> u64 {
        let held = places.iter().fold(0, |all, place| all | self.mask(place.index, place.sentence.entry));
        let is_name = |fact: &Fact<'_>| fact.exact == Some(MissingKind::Name);
        let bits = self.facts.iter().enumerate().take(MOST_FACTS).filter(|(_, fact)| is_name(fact));
        bits.fold(0, |names, (bit, _)| names | held & (1 << bit))
    }

    /// The other values of the class in a sentence, which the claim does not hold.
    fn rivals<'r>(
        &'r self,
        source: &'r SourceParts,
        sentence: &SourceSentence,
        value: &'r Value<'_>,
    ) -> impl Iterator<Item = usize> + 'r {
        let has_columns = !sentence.header.is_empty();
        sentence.tokens.clone().filter(move |at| {
            source.tokens.get(*at).is_some_and(|token| self.is_rival(source, token, value, has_columns))
        })
    }

    /// An enumeration of values by name that has this value of another name, and another one of the claim's.
    fn of_another_name(&self, value: &Value<'_>, places: &[Place<'v>]) -> Option<Place<'v>> {
        let mut found = places.iter().map(|place| self.of_another_part(value, *place));
        let first = found.next()??;
        // One place where it is the claim's is enough.
        found.all(|other| other.is_some()).then_some(first)
    }

    /// The other value of the sentence that is what the claim speaks of, if the one there is not.
    fn of_another_part(&self, value: &Value<'_>, place: Place<'v>) -> Option<Place<'v>> {
        let source = place.source;
        // The cells of a row are of one thing.
        let parts = place.parts(value.class).filter(|_| place.sentence.name.is_none())?;
        let is_claimed = |term: &u32| source.stem(*term).is_some_and(|stem| self.has_fact(stem));
        let words = |part: &Part| -> Vec<u32> {
            part.tokens.clone().filter(|at| *at != part.at).filter_map(|at| content(source, at)).collect()
        };
        let own = parts.iter().position(|part| part.tokens.contains(&place.at))?;
        let here = parts.get(own).map(words)?;
        if here.len() > LONGEST_PART || here.iter().all(is_claimed) {
            return None;
        }
        let others = parts.iter().enumerate().filter(|(number, _)| *number != own).map(|(_, other)| other);
        others.into_iter().find_map(|part| {
            let there = words(part);
            let is_rival = source.tokens.get(part.at).is_some_and(|token| self.is_rival(source, token, value, false));
            let names_it = there.iter().any(|term| is_claimed(term) && !here.contains(term));
            let is_named_here = here.iter().any(|term| is_claimed(term) && !there.contains(term));
            // The verb of the first part is that of the others.
            let has_no_verb = own == 0 && there.iter().all(is_claimed);
            let is_other = is_rival && there.len() <= LONGEST_PART && names_it && (!is_named_here || has_no_verb);
            is_other.then_some(Place { at: part.at, ..place })
        })
    }

    /// Whether the claim has a term of a source.
    fn claims_term(&self, source: &SourceParts, term: u32) -> bool {
        source.stem(term).is_some_and(|stem| self.has_fact(stem))
    }

    /// Number of the claim's other words that stand near a place.
    fn beside(&self, place: Place<'_>, value: &Value<'_>) -> usize {
        let mut around = place.around(true, FAR);
        around.extend(place.around(false, FAR));
        let others = self.facts.iter().enumerate().filter(|(number, fact)| *number != value.fact && fact.has_content());
        others.filter_map(|(_, fact)| place.source.term(&fact.stem)).filter(|term| around.contains(term)).count()
    }

    /// Whether a word of a source is another value of the class, which the claim does not hold. In a table the unit may stand in
    /// one of the rows alone.
    fn is_rival(&self, source: &SourceParts, token: &Token, value: &Value<'_>, has_columns: bool) -> bool {
        let Some(stem) = source.stem(token.term) else { return false };
        let is_of_class = match (Class::of(token.kind, token.unit, stem), value.class) {
            (Some(Class::Number(other)), Class::Number(own)) if has_columns => {
                other == own || other.is_none() || own.is_none()
            }
            (other, own) => other == Some(own),
        };
        // "3 to 5 pieces" does not have the 5 of "5 %".
        let is_claimed =
            |own: &Term| own.stem == stem && (own.unit == token.unit || token.unit.is_none() || own.unit.is_some());
        is_of_class && stem != value.term.stem && !self.claim.terms.iter().any(is_claimed)
    }

    fn has_fact(&self, stem: &str) -> bool {
        self.facts.iter().any(|fact| fact.stem == stem)
    }

    fn mask(&self, source: usize, entry: usize) -> u64 {
        self.held.get(source).and_then(|held| held.get(&entry)).copied().unwrap_or_default()
    }

    /// The share of the claim's words with content, beside the value and units, that the entry there holds, and their
    /// number.
    fn share(&self, place: Place<'_>, value: &Value<'_>) -> (f32, u32) {
        let mask = self.mask(place.index, place.sentence.entry);
        let (mut held, mut all, mut number) = (0.0, 0.0, 0);
        for (bit, fact) in self.facts.iter().enumerate().take(MOST_FACTS) {
            if !fact.has_content() || bit == value.fact || is_unit(fact.text) {
                continue;
            }
            all += fact.weight;
            if mask & (1 << bit) != 0 {
                held += fact.weight;
                number += 1;
            }
        }
        (if all > 0.0 { held / all } else { 0.0 }, number)
    }
}
