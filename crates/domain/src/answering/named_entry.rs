//! Entries of a manual that a question names: the value that is asked for is theirs, and their neighbours have values too.

use super::AnswerSource;
use super::candidate::SentenceCandidate;
use super::form::tells_default;
use super::naming::about;
use crate::entry_label::{code_label, entry_label, is_code_name, is_field, is_written_as_name};
use crate::evidence::passage::PassageEvidence;
use crate::evidence::{Question, TermMask};
use crate::markdown::BlockKind;
use crate::wording::{bare, start_of_line};

/// Bonus of a sentence of the entry that is named; the other scores range from 0 to about 1.
const OF_NAMED: f32 = 0.2;

/// The same of the entry of a code, whose sentences seldom say more of the question.
const OF_CODE: f32 = 0.6;

/// Share of a question's weight in the text of the entry that it is about.
const MOSTLY_ABOUT: f32 = 0.5;

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
        // Columns before the name of the entry under way.
        let mut indent = 0;
        for sentence in &evidence.sentences {
            if block.replace(sentence.block) == Some(sentence.block) {
                continue;
            }
            let start = sentence.range.start;
            let words = source.text.get(start..).unwrap_or_default();
            let own = start - start_of_line(source.text, start);
            match (sentence.kind, name_of(words)) {
                (BlockKind::Heading, _) => names.push((sentence.block, None)),
                (BlockKind::Paragraph, Some(name)) => {
                    names.push((sentence.block, Some(name)));
                    indent = own;
                }
                // On a page of a terminal what belongs to an entry is indented below its name.
                (BlockKind::Paragraph, None) if (1..=indent).contains(&own) => names.push((sentence.block, None)),
                _ => {}
            }
        }
        Self { names }
    }

    /// The first block of the entry that a block stands in.
    pub(super) fn begun_over(&self, block: usize) -> Option<usize> {
        self.over(block).map(|(first, _)| first)
    }

    /// The name of the entry that a block stands in.
    pub(super) fn at(&self, block: usize) -> Option<&'t str> {
        self.over(block).map(|(_, name)| name)
    }

    fn over(&self, block: usize) -> Option<(usize, &'t str)> {
        let begun = self.names.iter().take_while(|(first, _)| *first <= block);
        begun.last().and_then(|(first, name)| Some((*first, (*name)?)))
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
        let name = bare(name_over(candidate, names)?);
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| codes.iter().any(|code| code == name))
    };
    if !found.iter().any(|candidate| !candidate.is_fragment && is_asked(candidate) == Some(true)) {
        return;
    }
    for candidate in found {
        match is_asked(candidate) {
            Some(true) => candidate.bonus += OF_CODE,
            Some(false) => candidate.is_fragment = true,
            // The list of all codes tells of others first.
            None if !candidate.items.is_empty() => candidate.bonus -= OF_OTHER,
            None => {}
        }
    }
}

/// Prefers the sentences of the entry that a question for a definition names, beside the word for what it is if the name is in small
/// letters: "what does the notfound status mean". Entries of that kind are told apart by their names.
pub(super) fn prefer_asked_for(question: &str, found: &mut [SentenceCandidate], names: &[EntryNames<'_>]) {
    let asked: Vec<&str> = question.split_whitespace().map(bare).collect();
    let is_asked = |name: &str| {
        let mut places = asked.iter().enumerate().filter(|(_, word)| **word == name);
        // A word in small letters may be any.
        let is_sure = !name.starts_with(char::is_lowercase) || is_code_name(name);
        is_written_as_name(name) && places.any(|(at, _)| is_sure || is_kind(asked.get(at + 1)))
    };
    let is_named = |candidate: &SentenceCandidate| name_over(candidate, names).map(is_asked);
    if !found.iter().any(|candidate| !candidate.is_fragment && is_named(candidate) == Some(true)) {
        return;
    }
    for candidate in found {
        match is_named(candidate) {
            // What it is stands behind its name.
            Some(true) if entry_label(&candidate.text).is_some() => candidate.bonus += OF_CODE + OF_NAMED,
            Some(true) => candidate.bonus += OF_CODE,
            Some(false) => candidate.bonus -= OF_OTHER,
            None => {}
        }
    }
}

/// Whether a word tells what a name before it is that of.
fn is_kind(word: Option<&&str>) -> bool {
    const KINDS: [&str; 16] = [
        "action",
        "argument",
        "attribute",
        "column",
        "database",
        "directive",
        "field",
        "flag",
        "key",
        "keyword",
        "mode",
        "option",
        "parameter",
        "setting",
        "status",
        "variable",
    ];
    word.is_some_and(|word| KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind)))
}

/// Prefers the sentences of the one entry whose text is most about a question for a default to those of others: each may tell one.
pub(super) fn prefer_about(question: &Question, found: &mut [SentenceCandidate]) {
    // What it is stands in its first sentence; others may name its neighbours.
    let mut entries: Vec<((usize, usize), TermMask)> = Vec::new();
    for candidate in found.iter() {
        let Some(entry) = candidate.entry else { continue };
        if !entries.iter().any(|(known, _)| *known == (candidate.source, entry)) {
            entries.push(((candidate.source, entry), candidate.mask));
        }
    }
    let weight = |mask: TermMask| question.terms.weight_of(mask);
    let most = entries.iter().map(|(_, mask)| weight(*mask)).fold(0.0, f32::max);
    let mut best = entries.iter().filter(|(_, mask)| weight(*mask) >= most);
    let (Some((about, mask)), None) = (best.next(), best.next()) else { return };
    if entries.len() < 2 || question.terms.share(*mask) < MOSTLY_ABOUT {
        return;
    }
    for candidate in found.iter_mut().filter(|candidate| candidate.entry.is_some()) {
        let is_about = candidate.entry.map(|entry| (candidate.source, entry)) == Some(*about);
        candidate.bonus += match is_about {
            true if tells_default(&candidate.text) => OF_CODE,
            true => OF_NAMED,
            false => -OF_OTHER,
        };
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
    fn entries_of_a_page_are_told_by_their_names() {
        let page = "DESCRIPTION\n       The settings are:\n\n       KEEP_ALL: Keeps all jars and lids of the shelf. KEEP_LIDS has no effect then. Values may be 0 or 1. Defaults to 1.\n\n       \
            KEEP_LIDS: Keeps the lids of jars. Defaults to 0.\n\n       found: The jar is there. It is the usual case.\n\n       \
            return: Looks for no other jar after the found status. Lids of found jars are kept then.\n\n       Settings stand in a file. The file is read once.\n";
        let cases = [
            ("Does it keep the lids by default?", "Defaults to 0.", "Defaults to 1."),
            ("What is KEEP_LIDS?", "KEEP_LIDS: Keeps the lids", "KEEP_ALL: "),
            ("What does the found status mean?", "The jar is there.", "no other jar"),
        ];
        for (question, expected, other) in cases {
            let said = text(question, &[page]);
            assert!(said.contains(expected) && !said.contains(other), "{question} {said}");
        }
        let said = text("Does it keep the lids by default?", &[page]);
        assert!(said.contains("KEEP_LIDS: "), "{said}");
    }

    #[test]
    fn a_code_is_explained_by_its_entry() {
        let page = "The pump returns an exit status that tells what happened during a run.\n\n0: The run was successful.\n\n3: The lid was open.\n\n8: The pump was already running, or a run of the pump before had failed.";
        let dashes = "These are the exit codes that the pump returns at the end of a run of the pump:\n\n* 0 -- The run was successful.\n* 3 -- The lid was open.\n* 8 -- The pump was already running.\n";
        let marked = "The pump exits with one of these codes when a run of the pump ends:\n\n* `0`: All is well.\n* `3` **Open Lid**: The lid was open.\n* `8` **Busy**: The pump was already running.\n";
        for question in ["What does exit status 3 of the pump mean?", "pump exit code 3"] {
            for page in [page, dashes, marked] {
                let said = text(question, &[page]);
                assert!(said.contains("lid was open") && !said.contains("already running"), "{question} {said}");
            }
        }
    }

    #[test]
    fn no_other_entry_tells_the_value_of_an_identifier() {
        let others = LIMITS.split_once("\n\n").map(|(_, others)| others).unwrap();
        let answer = answer("What is the default of jar_limit?", &[others], None);
        assert!(answer.is_none_or(|answer| answer.lacks_kind), "two jars are of hidden_jar_limit");
    }
}
