//! Entries of plain text. Manual pages list options, settings and fields so: a name, and what it is indented below. In a glossary
//! a term stands before what it means on the same line.

use std::ops::Range;

use super::fragment::ends_like_sentence;
use crate::evidence::TermMask;
use crate::evidence::passage::SentenceEvidence;
use crate::markdown::BlockKind;
use crate::wording::{answers_yes_or_no, start_of_line};

/// Longest line, in bytes, that names an entry of plain text.
const LONGEST_LABEL: usize = 60;

/// The beginning of an entry of plain text: a short line, and the text about it indented below.
pub(super) struct Entry {
    /// Question terms in the line.
    pub(super) mask: TermMask,
    /// Its line, or the line and the first sentence below it; of a glossary, its term, or the term and the sentence after it.
    pub(super) range: Range<usize>,
    /// Whether it is that of a term of a glossary.
    pub(super) is_of_term: bool,
}

/// Most words of a term of a glossary, and its longest, in bytes.
const MOST_OF_TERM: usize = 4;
const LONGEST_TERM: usize = 40;

/// Fewest entries of a glossary.
const FEWEST_TERMS: usize = 3;

/// Whether most paragraphs of a source are entries of a glossary: "Tare. The weight of an empty van."
pub(super) fn is_glossary(text: &str, sentences: &[SentenceEvidence]) -> bool {
    let (mut terms, mut paragraphs) = (0, 0);
    for block in sentences.chunk_by(|one, next| one.block == next.block) {
        let [first, rest @ ..] = block else { continue };
        if first.kind == BlockKind::Paragraph {
            paragraphs += 1;
            terms += usize::from(!rest.is_empty() && is_headword(text, first));
        }
    }
    terms >= FEWEST_TERMS && 2 * terms > paragraphs
}

/// Whether a sentence is no more than a term.
fn is_headword(text: &str, sentence: &SentenceEvidence) -> bool {
    text.get(sentence.range.clone()).and_then(|words| words.strip_suffix('.')).is_some_and(is_term)
}

fn is_term(words: &str) -> bool {
    let is_word = words.starts_with(char::is_alphanumeric) && !words.contains([',', ';', ':', '!', '?']);
    let is_short = words.len() <= LONGEST_TERM && words.split_whitespace().count() <= MOST_OF_TERM;
    is_word && is_short && !answers_yes_or_no(words)
}

impl Entry {
    /// The entry of a glossary that begins with a sentence, the first of its block, if that is a term.
    pub(super) fn of_term(text: &str, first: &SentenceEvidence) -> Option<Self> {
        is_headword(text, first).then(|| Self { mask: first.mask, range: first.range.clone(), is_of_term: true })
    }

    /// The entry that begins with a sentence, the first of its block.
    pub(super) fn begun_by(text: &str, first: &SentenceEvidence) -> Option<Self> {
        let start = first.range.start;
        let line = start_of_line(text, start);
        let mut lines = text.get(line..).unwrap_or_default().lines();
        let indent = |line: &str| line.len() - line.trim_start().len();
        let (label, below) = (lines.next()?, lines.next()?);
        let is_entry = label.trim().len() <= LONGEST_LABEL && !below.trim().is_empty() && indent(below) > indent(label);
        is_entry.then(|| Self { mask: first.mask, range: first.range.clone(), is_of_term: false })
    }

    /// Whether a sentence is the first one that says something: that of its line, or the one below it.
    pub(super) fn is_opened_by(&self, text: &str, sentence: &SentenceEvidence) -> bool {
        let is_below = self.range.end <= sentence.range.start;
        if self.is_bare(text) { is_below } else { self.range.start == sentence.range.start }
    }

    /// The name of what it is about: the term of a glossary, or the first word of its line, `UMASK` of `UMASK (number)`.
    pub(super) fn name<'t>(&self, text: &'t str) -> &'t str {
        let words = text.get(self.range.clone()).unwrap_or_default();
        let end = if self.is_of_term { words.find('.') } else { words.find(char::is_whitespace) };
        end.and_then(|end| words.get(..end)).unwrap_or(words)
    }

    /// Whether it is what it is called and how it is written alone.
    pub(super) fn is_bare(&self, text: &str) -> bool {
        let words = text.get(self.range.clone()).map(str::trim);
        let goes_on = |words: &str| words.contains('\n') || self.is_of_term && words.contains(". ");
        words.is_some_and(|words| !goes_on(words) || !ends_like_sentence(words))
    }
}

#[cfg(test)]
mod tests {
    use crate::answering::tests::text;
    use crate::asked_part::asking_part;

    const GLOSSARY: &str = "WORDS WE USE\n\nTare. The weight of an empty van. Written on its door.\n\nBlue tide. A tide over four metres, the least that we need for the slip. It comes twice a month.\n\nGrey list. Customers who pay in advance, because of old debts. Kept by Finance.\n\nLid day. The last Friday of July. No leave then.";

    #[test]
    fn a_term_is_explained_by_its_entry() {
        for (question, expected) in [
            ("what do they mean by lid day", "Lid day. The last Friday of July."),
            ("What is a blue tide?", "Blue tide. A tide over four metres"),
            ("What is the grey list?", "Grey list. Customers who pay in advance"),
            ("whats tare", "Tare. The weight of an empty van."),
        ] {
            let said = text(&asking_part(question), &[GLOSSARY]).replace(" [^1]", "");
            assert!(said.contains(expected) && said.matches("Lid day").count() < 2, "{question} {said}");
        }
        let said = text("Who keeps the grey list?", &[GLOSSARY]);
        assert!(said.contains("Grey list.") && !said.contains("Lid day"), "{said}");
    }

    #[test]
    fn short_sentences_elsewhere_are_no_terms() {
        let story = "We paint jars. Each has a lid.\n\nThe jars dry. Lids dry faster.\n\nA lid for each jar is kept on the long shelf of the yard. It is red.\n\nThe shelf of the yard is long, and none is longer. It is blue.";
        let said = text("What is dry faster?", &[story]);
        assert!(!said.contains("The jars dry. Lids"), "{said}");
    }
}
