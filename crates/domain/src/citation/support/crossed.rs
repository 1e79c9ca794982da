//! Parts of a claim that stand crosswise in its source: of "adults 12 items, children 8" the claim makes "adults 8, children 12".
//! Whatever the language: parts end at signs and at words that join them.

use std::collections::BTreeSet;

use super::nearest::nearest_to;
use super::polarity::Claim;
use super::word::{End, Word, claimed, said};
use crate::citation::source::SourceParts;

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

/// The stems of the words with content of a part.
type Part<'w> = BTreeSet<&'w str>;

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
    let is_together = |one: &str, two: &str| there.iter().any(|(_, part)| part.contains(one) && part.contains(two));
    // One of these words at least stands with none of those.
    let is_apart = |one: &[&str], two: &[&str]| {
        !two.is_empty() && one.iter().any(|one| two.iter().all(|two| !is_together(one, two)))
    };
    pairs(own).any(|(one, two)| {
        pairs(&there).any(|((number, first), (next, second))| {
            let [here, across] = [(first, second), (second, first)].map(|there| shared((one, two), there));
            let [across_two, here_two] = [(first, second), (second, first)].map(|there| shared((two, one), there));
            number.abs_diff(*next) <= 1 && is_apart(&here, &across) && is_apart(&across_two, &here_two)
        })
    })
}

/// The words of a part of the claim, that the other one lacks, in a part of the source and not in the other one.
fn shared<'w>((own, other): (&Part<'w>, &Part<'_>), (there, elsewhere): (&Part<'_>, &Part<'_>)) -> Vec<&'w str> {
    let is_shared = |stem: &&str| there.contains(stem) && !other.contains(stem) && !elsewhere.contains(stem);
    own.iter().copied().filter(is_shared).collect()
}

/// Each two of several.
fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter().enumerate().flat_map(|(at, one)| all.iter().skip(at + 1).map(move |two| (one, two)))
}

/// The parts of a text that hold anything.
fn parts<'w>(words: &[Word<'w>]) -> Vec<Part<'w>> {
    let mut parts: Vec<Part<'_>> = vec![Part::new()];
    for word in words {
        if JOINTS.contains(&word.text.as_str()) {
            parts.push(Part::new());
        } else if word.has_content()
            && let Some(part) = parts.last_mut()
        {
            part.insert(word.stem);
        }
        // What is in parentheses belongs to what they follow.
        if !matches!(word.end, End::None | End::Parenthesis) {
            parts.push(Part::new());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}
