//! Release notes that tell all that a question for a change says: one line of them, under its version and the kind of change.
//!
//! Such a line has few words, and the version and the date stand above it, so that the fitted models take it for improbable.

use super::features::Passage;
use super::signs::{ALL, FEWEST_TERMS};
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::markdown::BlockKind;
use crate::release_notes::{are_asked_for, is_latest_asked_for, is_of_them, names_release};
use crate::wording::denies;

/// Whether a line of a passage holds, with what stands above it, all of the question, or its heading is of the version asked for.
pub(super) fn answers(question: &Question, passage: &Passage<'_>, evidence: &PassageEvidence) -> bool {
    let terms = &question.terms;
    if terms.terms().len() < FEWEST_TERMS || !is_of_them(passage.title) || !are_asked_for(&question.text) {
        return false;
    }
    let holds_all = |mask: TermMask| terms.share(mask | evidence.title_mask) >= ALL;
    if is_latest_asked_for(&question.text) && holds_all(0) {
        return true;
    }
    let is_told_by = |sentence: &SentenceEvidence| match sentence.kind {
        BlockKind::Heading => {
            let names_it = sentence.mask & terms.all_identifiers() != 0;
            names_it && passage.text.get(sentence.range.clone()).is_some_and(names_release) && holds_all(0)
        }
        _ => !holds_all(0) && holds_all(sentence.mask),
    };
    evidence.sentences.iter().any(is_told_by) && !denies(&question.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;
    use crate::release_notes::with_release;

    fn is_told(question: &str, heading: &[&str], text: &str) -> bool {
        let analyzer = Analyzer::english();
        let parsed = Question::new(analyzer, question, 100, |_| 3);
        let heading: Vec<String> = heading.iter().map(|heading| (*heading).to_owned()).collect();
        let title = with_release(format!("Changelog {}", heading.join(" ")), &heading);
        let passage = Passage { title: &title, text, dense: Some(0.2), lexical: 2.0, among: None };
        let evidence = PassageEvidence::new(analyzer, &parsed.terms, &title, text);
        answers(&parsed, &passage, &evidence)
    }

    #[test]
    fn a_line_tells_with_its_version_and_its_kind() {
        let removed = ("### Removed\n- The flag `--lids`.\n- Square jars.", &["2.0.0 - 2024-09-10", "Removed"][..]);
        let added = ("## 2.0.0 - 2024-09-10\n\n### Added\n- Blue jars.", &["2.0.0 - 2024-09-10", "Added"][..]);
        for (question, (text, heading), expected) in [
            ("Which version removed --lids?", removed, true),
            ("Which release dropped square jars?", removed, true),
            ("Which version added --lids?", removed, false),
            ("Which version removed --spoons?", removed, false),
            ("Since when are blue jars supported?", added, true),
            ("When was 2.0.0 released?", added, true),
            ("When was 2.1.0 released?", added, false),
            ("When was 2.0.0 released?", removed, false),
            ("Which jars are blue?", added, false),
        ] {
            assert_eq!(is_told(question, heading, text), expected, "{question}");
        }
    }
}
