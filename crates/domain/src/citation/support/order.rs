//! The order in time of two things, where claim and source tell it: "before", "after", "then".

use super::nearest::nearest_to;
use super::polarity::Claim;
use super::word::{End, Word, claimed, said};
use crate::citation::source::SourceParts;

/// Words before what is later, and before what is earlier.
const BEFORE: [&str; 3] = ["avant", "before", "bevor"];
const AFTER: [&str; 5] = ["after", "après", "nach", "nachdem", "once"];
/// Words of what is later.
const THEN: [&str; 9] =
    ["afterwards", "anschließend", "danach", "dann", "ensuite", "later", "puis", "subsequently", "then"];

/// Most sequences of a text that are read.
const MOST_SEQUENCES: usize = 8;
/// Words before the first and the second end of a span.
const FROM: [&str; 3] = ["de", "from", "von"];
const TO: [&str; 5] = ["auf", "bis", "nach", "to", "à"];
/// Most words of its first end, and of its second.
const LONGEST_END: usize = 5;

/// Two things that a text tells one after the other: their words with content that the other one lacks.
struct Sequence<'w> {
    earlier: Vec<&'w str>,
    later: Vec<&'w str>,
}

/// Whether the sources tell in the other order what the claim tells in one.
pub(super) fn has_another_order(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let words = claimed(claim.text, &claim.terms);
    let own = sequences(&words);
    !own.is_empty() && sources.iter().any(|source| own.iter().any(|own| is_turned(own, claim, source)))
}

/// Whether a source tells the sequence the other way round, and nowhere so.
fn is_turned(own: &Sequence<'_>, claim: &Claim<'_>, source: &SourceParts) -> bool {
    let (mut turned, mut same) = (false, false);
    for number in nearest_to(claim, source) {
        let Some(sentence) = source.sentences.get(number) else { continue };
        let words = said(source, source.tokens_of(sentence));
        for there in sequences(&words) {
            let held = |one: &[&str], two: &[&str]| one.iter().filter(|stem| two.contains(stem)).count();
            let straight = (held(&own.earlier, &there.earlier), held(&own.later, &there.later));
            let across = (held(&own.earlier, &there.later), held(&own.later, &there.earlier));
            let (agrees, differs) = (straight.0 + straight.1, across.0 + across.1);
            let are_most = across.0 * 2 >= own.earlier.len() && across.1 * 2 >= own.later.len();
            turned |= differs > agrees && are_most;
            same |= agrees >= differs && straight.0 > 0 && straight.1 > 0;
        }
    }
    turned && !same
}

/// The sequences of a text.
fn sequences<'w>(words: &[Word<'w>]) -> Vec<Sequence<'w>> {
    words.split_inclusive(|word| word.end == End::Clause).flat_map(in_sentence).take(MOST_SEQUENCES).collect()
}

fn in_sentence<'w>(words: &[Word<'w>]) -> Vec<Sequence<'w>> {
    let stands = |at: usize, list: &[&str]| words.get(at).is_some_and(|word| list.contains(&word.text.as_str()));
    let sequence = |at: usize| {
        let (is_before, is_after, is_then) = (stands(at, &BEFORE), stands(at, &AFTER), stands(at, &THEN));
        let begins = at == 0 || words.get(at - 1).is_some_and(|word| word.end != End::None);
        let rest = words.get(at + 1..)?;
        let comma = rest.iter().position(|word| word.end == End::Comma).map(|comma| at + comma + 2);
        // "After 35 days" is a span of time.
        if rest.iter().find(|word| word.has_content()).is_some_and(Word::is_number) && !is_then {
            return None;
        }
        let (led, other) = match comma {
            Some(comma) if begins && (is_before || is_after) => (words.get(at + 1..comma)?, words.get(comma..)?),
            _ => (rest, words.get(..at)?),
        };
        // "… and report it afterwards".
        let (led, other) = if is_then && rest.is_empty() {
            let joint = other.iter().rposition(|word| word.text == "and" || word.end != End::None)?;
            (other.get(joint + 1..)?, other.get(..=joint)?)
        } else {
            (led, other)
        };
        if is_before || is_then {
            Sequence::of(other, led)
        } else if is_after {
            Sequence::of(led, other)
        } else {
            None
        }
    };
    let spans = (0..words.len()).filter_map(|at| span(words, at));
    (0..words.len()).filter_map(sequence).chain(spans).take(MOST_SEQUENCES).collect()
}

/// The two ends of "from Basel to Zurich" and "from 310 to 355 euros", where a word stands that leads from the first.
fn span<'w>(words: &[Word<'w>], at: usize) -> Option<Sequence<'w>> {
    let is = |word: &Word<'_>, list: &[&str]| list.contains(&word.text.as_str());
    words.get(at).filter(|word| is(word, &FROM))?;
    let rest = words.get(at + 1..)?;
    let to = rest.iter().take(LONGEST_END + 1).position(|word| is(word, &TO))?;
    let (first, second) = (rest.get(..to)?, rest.get(to + 1..)?);
    let length = second.iter().take(LONGEST_END).position(Word::ends_clause).map_or(LONGEST_END, |last| last + 1);
    let ends_early = first.iter().any(Word::ends_clause);
    let end = |words: &[Word<'w>]| -> Vec<&'w str> {
        let tells = |word: &&Word<'_>| word.is_number() || word.has_capital && word.has_content();
        words.iter().filter(tells).map(|word| word.stem).take(1).collect()
    };
    let (earlier, later) = (end(first), end(second.get(..length.min(second.len()))?));
    (!ends_early && !earlier.is_empty() && !later.is_empty()).then_some(Sequence { earlier, later })
}

impl<'w> Sequence<'w> {
    fn of(earlier: &[Word<'w>], later: &[Word<'w>]) -> Option<Self> {
        let alone = |words: &[Word<'w>], others: &[Word<'w>]| -> Vec<&'w str> {
            let is_alone = |word: &&Word<'w>| word.has_content() && !others.iter().any(|other| other.stem == word.stem);
            words.iter().filter(is_alone).map(|word| word.stem).collect()
        };
        let sequence = Self { earlier: alone(earlier, later), later: alone(later, earlier) };
        (!sequence.earlier.is_empty() && !sequence.later.is_empty()).then_some(sequence)
    }
}
