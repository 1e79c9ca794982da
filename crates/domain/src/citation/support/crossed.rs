//! Parts of a claim that stand crosswise in its source: of "adults 12 items, children 8" the claim makes "adults 8, children 12".
//! Whatever the language: parts end at signs and at words that join them.

use std::collections::BTreeMap;

use super::nearest::nearest_to;
use super::polarity::Claim;
use super::word::{End, Word, claimed, said};
use crate::citation::source::SourceParts;
use crate::citation::term::TermKind;

/// Most parts of a claim: no honest sentence has more.
const MOST_PARTS: usize = 16;

/// Most parts of the sentences of a source.
const MOST_TOLD: usize = 48;

/// Words that join two parts.
const JOINTS: [&str; 22] = [
    "aber",
    "and",
    "but",
    "dagegen",
    "doch",
    "et",
    "hingegen",
    "if",
    "mais",
    "otherwise",
    "sondern",
    "sonst",
    "tandis",
    "than",
    "then",
    "und",
    "when",
    "where",
    "whereas",
    "while",
    "wobei",
    "während",
];
/// Words by which two lists are read beside each other.
const BESIDE: [&str; 3] = ["jeweils", "respectivement", "respectively"];

/// The content of a part: stems, each with the kinds of word that it may be.
type Part<'w> = BTreeMap<&'w str, Kinds>;

/// Kinds of words, of which those that are exchanged have one in common.
#[derive(Clone, Copy, Default)]
struct Kinds {
    is_value: bool,
    is_name: bool,
    is_plain: bool,
}

impl Kinds {
    /// Those of a word; the first of a sentence has a capital whatever it is.
    fn of(word: &Word<'_>, is_first: bool) -> Self {
        let is_value = word.is_number() || word.kind == TermKind::Month;
        let is_name = !is_value && word.has_capital;
        Self { is_value, is_name, is_plain: !is_value && (!is_name || is_first) }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            is_value: self.is_value || other.is_value,
            is_name: self.is_name || other.is_name,
            is_plain: self.is_plain || other.is_plain,
        }
    }

    const fn are_alike(self, other: Self) -> bool {
        self.is_value && other.is_value || self.is_name && other.is_name || self.is_plain && other.is_plain
    }
}

/// Words that stand in one part of the claim and in one of the source.
#[derive(Default)]
struct Shared<'w> {
    stems: Vec<&'w str>,
    kinds: Kinds,
}

impl<'w> Shared<'w> {
    /// The words of a part of the claim, that the other one lacks, in a part of the source and not in the other one.
    fn of((own, other): (&Part<'w>, &Part<'_>), (there, elsewhere): (&Part<'_>, &Part<'_>)) -> Self {
        let mut shared = Self::default();
        for (stem, kinds) in own {
            if there.contains_key(stem) && !other.contains_key(stem) && !elsewhere.contains_key(stem) {
                shared.stems.push(stem);
                shared.kinds = shared.kinds.and(*kinds);
            }
        }
        shared
    }
}

/// Whether the sources put the words of two parts of a claim crosswise.
pub(super) fn is_crossed(claim: &Claim<'_>, sources: &[&SourceParts]) -> bool {
    let own = claimed(claim.text, &claim.terms);
    let parts = parts(&own);
    let is_read =
        (2..=MOST_PARTS).contains(&parts.len()) && !own.iter().any(|word| BESIDE.contains(&word.text.as_str()));
    is_read && sources.iter().any(|source| is_crossed_in(&parts, claim, source))
}

fn is_crossed_in(own: &[Part<'_>], claim: &Claim<'_>, source: &SourceParts) -> bool {
    let sentences = nearest_to(claim, source).into_iter();
    let there: Vec<(usize, Vec<Word<'_>>)> = sentences
        .filter_map(|number| Some((number, said(source, source.tokens_of(source.sentences.get(number)?)))))
        .collect();
    let there: Vec<(usize, Part<'_>)> = there
        .iter()
        .flat_map(|(number, words)| parts(words).into_iter().map(|part| (*number, part)))
        .take(MOST_TOLD)
        .collect();
    let is_together =
        |one: &str, two: &str| there.iter().any(|(_, part)| part.contains_key(one) && part.contains_key(two));
    // One of these words at least stands with none of those.
    let is_apart = |one: &Shared<'_>, two: &Shared<'_>| {
        !two.stems.is_empty() && one.stems.iter().any(|one| two.stems.iter().all(|two| !is_together(one, two)))
    };
    pairs(own).any(|(one, two)| {
        pairs(&there).any(|((number, first), (next, second))| {
            let [here, across] = [(first, second), (second, first)].map(|there| Shared::of((one, two), there));
            let [across_two, here_two] = [(first, second), (second, first)].map(|there| Shared::of((two, one), there));
            number.abs_diff(*next) <= 1
                && is_apart(&here, &across)
                && is_apart(&across_two, &here_two)
                && here.kinds.are_alike(here_two.kinds)
                && across.kinds.are_alike(across_two.kinds)
        })
    })
}

/// Each two of several.
fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter().enumerate().flat_map(|(at, one)| all.iter().skip(at + 1).map(move |two| (one, two)))
}

/// The parts of a text that hold anything.
fn parts<'w>(words: &[Word<'w>]) -> Vec<Part<'w>> {
    let mut parts: Vec<Part<'_>> = vec![Part::new()];
    let mut is_first = true;
    for word in words {
        if JOINTS.contains(&word.text.as_str()) {
            parts.push(Part::new());
        } else if word.has_content()
            && let Some(part) = parts.last_mut()
        {
            let kinds = part.entry(word.stem).or_default();
            *kinds = kinds.and(Kinds::of(word, is_first));
        }
        if word.end != End::None {
            parts.push(Part::new());
        }
        is_first = word.end == End::Clause;
    }
    parts.retain(|part| !part.is_empty());
    parts
}
