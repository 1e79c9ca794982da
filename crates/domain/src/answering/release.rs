//! The notes of a release as passages.

use std::ops::Range;

use super::excerpt::{Excerpt, Sources};
use super::need::PassageReason;
use super::read_source::ReadSource;
use crate::release_notes;

impl Sources<'_> {
    /// The notes of the release whose version the question names: all of them where it asks for no more, "what changed in 1.8", else
    /// those under the heading that holds the rest, "what was removed".
    pub(super) fn release(&self) -> Option<Vec<Excerpt>> {
        self.read().iter().enumerate().find_map(|(number, read)| self.release_in(number, read))
    }

    fn release_in(&self, number: usize, read: &ReadSource<'_>) -> Option<Vec<Excerpt>> {
        let (terms, heading) = (&self.question().terms, read.source.heading);
        let titled = self.material.evidence.get(number).map_or(0, |evidence| evidence.title_mask);
        let is_whole = release_notes::release(heading) == Some(heading.len().saturating_sub(1));
        if !is_whole || titled & terms.all_identifiers() == 0 {
            return None;
        }
        let notes = |section: &Range<usize>| read.heading(section).map_or(section.start, |heading| heading + 1);
        let is_asked_for =
            |section: &&Range<usize>| terms.share(titled | read.mask(&(section.start..notes(section)))) >= 1.0;
        let asked_for = read.sections.iter().filter(is_asked_for);
        let excerpt = |section: &Range<usize>| {
            read.excerpt(number, section, notes(section)..section.end, PassageReason::Overview)
        };
        let excerpts: Vec<Excerpt> = asked_for.map(excerpt).collect();
        (!excerpts.is_empty()).then_some(excerpts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AnswerSource;
    use super::super::passages_tests::given_of;

    #[test]
    fn all_of_a_release_is_given_or_what_is_asked_for_of_it() {
        let notes = "## 2.0.0 - 2024-09-10\n\n### Added\n- Blue jars.\n- Lids of glass.\n\n### Removed\n- Lids of tin.";
        let heading = ["Changelog", "2.0.0 - 2024-09-10"].map(str::to_owned);
        let source =
            AnswerSource { title: "Changelog version changed", heading: &heading, ..AnswerSource::alone(notes) };
        let given = |question: &str| given_of(question, &[source]).map_or_else(String::new, |given| given.text);
        let all = given("What changed in 2.0.0?");
        let parts = ["2024-09-10 › Added", "Blue jars", "Lids of glass", "2024-09-10 › Removed", "Lids of tin"];
        assert!(parts.iter().all(|part| all.contains(part)), "{all}");
        let removed = given("What was removed in version 2.0.0?");
        assert!(removed.contains("Lids of tin") && !removed.contains("Blue"), "{removed}");
    }
}
