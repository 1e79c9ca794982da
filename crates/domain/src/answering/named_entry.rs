//! Entries of a manual that a question names: the value that is asked for is theirs, and their neighbours have values too.

use super::AnswerSource;
use super::candidate::SentenceCandidate;
use super::naming::about;
use crate::entry_label::{code_label, entry_label, is_code_name, is_field};
use crate::evidence::passage::PassageEvidence;
use crate::markdown::BlockKind;
use crate::wording::bare;

/// Bonus of a sentence of the entry that is named; the other scores range from 0 to about 1.
const OF_NAMED: f32 = 0.2;

/// The same of the entry of a code, whose sentences seldom say more of the question.
const OF_CODE: f32 = 0.6;

/// Loss of one of another entry.
const OF_OTHER: f32 = 0.3;

/// The names of the entries of a source: of `work_mem (integer): Sets the memory …` the first word.
pub(super) struct EntryNames<'t> {
    /// Each with the number of its first block; none from a heading on.
    names: Vec<(usize, Option<&'t str>)>,
}

impl<'t> EntryNames<'t> {
    pub(super) fn of(source: &AnswerSource<'t>, evidence: &PassageEvidence) -> Self {
        let mut names: Vec<(usize, Option<&str>)> = Vec::new();
        let mut block = None;
        for sentence in &evidence.sentences {
            if block.replace(sentence.block) == Some(sentence.block) {
                continue;
            }
            let words = source.text.get(sentence.range.start..).unwrap_or_default();
            match sentence.kind {
                BlockKind::Heading => names.push((sentence.block, None)),
                BlockKind::Paragraph => names.extend(name_of(words).map(|name| (sentence.block, Some(name)))),
                _ => {}
            }
        }
        Self { names }
    }

    /// The name of the entry that a block stands in.
    pub(super) fn at(&self, block: usize) -> Option<&'t str> {
        let begun = self.names.iter().take_while(|(first, _)| *first <= block);
        begun.last().and_then(|(_, name)| *name)
    }
}

/// The name of the entry that begins with a text.
fn name_of(text: &str) -> Option<&str> {
    let label = entry_label(text).filter(|label| !is_field(label)).or_else(|| code_label(text))?;
    label.split_whitespace().next().filter(|name| !name.starts_with('-'))
}

/// Prefers the sentences of the entries that a question names to those of others, where there are some.
pub(super) fn prefer_named(question: &str, found: &mut [SentenceCandidate], names: &[EntryNames<'_>]) {
    let is_named = |candidate: &SentenceCandidate| Some(about(question, name_over(candidate, names)?) >= 1.0);
    // Where an identifier is asked about, no other entry tells its value.
    let is_identifier = question.split_whitespace().map(bare).any(is_code_name);
    if !is_identifier && !found.iter().any(|candidate| !candidate.is_fragment && is_named(candidate) == Some(true)) {
        return;
    }
    for candidate in found {
        match is_named(candidate) {
            Some(true) => candidate.bonus += OF_NAMED,
            Some(false) if is_identifier => candidate.is_fragment = true,
            Some(false) => candidate.bonus -= OF_OTHER,
            None => {}
        }
    }
}

/// Prefers the sentences of the entries of these codes; where there are some, no entry of another code answers.
pub(super) fn prefer_codes(codes: &[String], found: &mut [SentenceCandidate], names: &[EntryNames<'_>]) {
    let is_asked = |candidate: &SentenceCandidate| {
        let name = name_over(candidate, names).filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(codes.iter().any(|code| code == name))
    };
    if !found.iter().any(|candidate| !candidate.is_fragment && is_asked(candidate) == Some(true)) {
        return;
    }
    for candidate in found {
        match is_asked(candidate) {
            Some(true) => candidate.bonus += OF_CODE,
            Some(false) => candidate.is_fragment = true,
            None => {}
        }
    }
}

/// The name of the entry that a sentence stands in.
fn name_over<'t>(candidate: &SentenceCandidate, names: &[EntryNames<'t>]) -> Option<&'t str> {
    names.get(candidate.source)?.at(candidate.block)
}

#[cfg(test)]
mod tests {
    use crate::answering::tests::{answer, text};

    const LIMITS: &str = "jar_limit (integer): Sets how many jars there are. The default value is three jars.\n\nhidden_jar_limit (integer): Sets how many jars are hidden, which is at most jar_limit. The default value is two jars.\n\nlid (integer): Sets how many lids there are. The default value is one lid.";

    #[test]
    fn a_default_is_that_of_the_entry_that_is_named() {
        for (question, expected) in [
            ("What is the default of jar_limit?", "three jars"),
            ("What is the default of hidden_jar_limit?", "two jars"),
            ("What is the default lid?", "one lid"),
        ] {
            let said = text(question, &[LIMITS]);
            assert!(said.contains(expected) && said.matches("default value is").count() == 1, "{question} {said}");
        }
    }

    #[test]
    fn a_code_is_explained_by_its_entry() {
        let page = "The pump returns an exit status that tells what happened during a run.\n\n0: The run was successful.\n\n3: The lid was open.\n\n8: The pump was already running, or a run of the pump before had failed.";
        for question in ["What does exit status 3 of the pump mean?", "pump exit code 3"] {
            let said = text(question, &[page]);
            assert!(said.contains("lid was open") && !said.contains("already running"), "{question} {said}");
        }
    }

    #[test]
    fn no_other_entry_tells_the_value_of_an_identifier() {
        let others = LIMITS.split_once("\n\n").map(|(_, others)| others).unwrap();
        let answer = answer("What is the default of jar_limit?", &[others], None);
        assert!(answer.is_none_or(|answer| answer.lacks_kind), "two jars are of hidden_jar_limit");
    }
}
