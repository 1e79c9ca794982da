//! The passages for a question for what is to be done.

use std::ops::Range;

use super::excerpt::{Excerpt, LONGEST_STEPS, Sources};
use super::naming::{AskedStems, stems_in};
use super::need::{PassageReason, is_aside, is_headed_as_steps};
use super::read_source::ReadSource;
use super::units::UnitKind;
use crate::release_notes;

/// Bonus of a section with a list, code or the entry of an option, for a question for steps, and of one of the best source, lest
/// any code be better than that; the other scores range from 0 to about 1.
const STEPS_BONUS: f32 = 0.25;

/// Weight of the question's terms in the part of a section that is given, its headings included.
const SECTION_WEIGHT: f32 = 0.6;

/// Weight of the question's terms in the heading of a section, on the same scale.
const HEADING_WEIGHT: f32 = 0.4;

/// Bonus of a section whose heading is what is asked for, on the same scale.
const SECTION_ASKED_FOR: f32 = 1.0;

/// Further bonus of one that has its words in the order of the question.
const IN_ORDER: f32 = 0.5;

/// Share of the question's weight in such a heading.
const MOSTLY_HEADED: f32 = 0.6;

/// Loss of a section that says no more than the title above it, for a question for steps: more than others differ by.
const OF_SUBTITLE: f32 = 10.0;

/// Longest section that says no more than a title, in bytes.
const LONGEST_SUBTITLE: usize = 80;

impl Sources<'_> {
    /// The section that tells best what to do; of a list of options the entries that do, and of a table the rows.
    pub(super) fn steps(&self) -> Vec<Excerpt> {
        let mut best: Option<(f32, usize, &Range<usize>, usize)> = None;
        for (number, read) in self.read().iter().enumerate() {
            if is_aside(read.source.heading, &self.material.question.text) {
                continue;
            }
            for section in &read.sections {
                let Some((anchor, value)) = self.value_of_steps(number, read, section) else { continue };
                if best.is_none_or(|(highest, ..)| value > highest) {
                    best = Some((value, number, section, anchor));
                }
            }
        }
        let Some((_, number, section, anchor)) = best else { return Vec::new() };
        let (number, section, anchor) = self.headed_steps(number).unwrap_or((number, section, anchor));
        let Some(read) = self.get(number) else { return Vec::new() };
        let parts = match read.entry_at(section, anchor) {
            Some(_) => read.best_entries(section),
            None if read.is_of(anchor, UnitKind::Row) => read.best_rows(section),
            None => vec![read.around(section, anchor, LONGEST_STEPS)],
        };
        let excerpt = |units| read.excerpt(number, section, units, PassageReason::Steps);
        parts.into_iter().map(excerpt).collect()
    }

    /// The unit of a section around which it is given, and how well it tells what to do; `None` if it has nothing of the question.
    fn value_of_steps(&self, source: usize, read: &ReadSource<'_>, section: &Range<usize>) -> Option<(usize, f32)> {
        let (headed, asked_for) = self.headed(read, section);
        let is_asked = asked_for > 0.0;
        let first = read.first_words(section).filter(|_| is_asked).map(|first| (first, 0.0));
        let (anchor, score) = read.best_unit(section).or(first)?;
        let entry = read.entry_at(section, anchor);
        let given = entry.clone().unwrap_or_else(|| read.around(section, anchor, LONGEST_STEPS));
        let has_steps = entry.is_some()
            || read.items(&given) >= 2
            || read.holds(&given, UnitKind::Code)
            || read.names_command(anchor);
        let repeats_title = !has_steps && read.bytes_of_words(&given) <= LONGEST_SUBTITLE;
        let value = score.max(if is_asked { headed * self.highest_score() } else { 0.0 })
            + SECTION_WEIGHT * self.share(source, given)
            + HEADING_WEIGHT * headed
            + asked_for
            + if has_steps { STEPS_BONUS } else { 0.0 }
            + if source == 0 && !tells_of_all(read) { STEPS_BONUS } else { 0.0 }
            - if repeats_title { OF_SUBTITLE } else { 0.0 };
        Some((anchor, value))
    }

    /// Share of the question that the heading of a section holds, or the one right above its source, and the bonus of one that is
    /// what is asked for: it has no other words than the question, and most of these.
    fn headed(&self, read: &ReadSource<'_>, section: &Range<usize>) -> (f32, f32) {
        let question = self.question();
        let own = read.heading(section).and_then(|at| read.units.get(at)?.sentences.first());
        let own = own.and_then(|words| read.source.text.get(words.clone()));
        let Some(heading) = own.or_else(|| read.source.heading.last().map(String::as_str)) else { return (0.0, 0.0) };
        let share = question.terms.share(stems_in(question, heading));
        let stems = AskedStems::of(&question.text);
        let bonus = match share >= MOSTLY_HEADED && stems.are_about(heading) >= 1.0 {
            true if stems.have_in_order(heading) => SECTION_ASKED_FOR + IN_ORDER,
            true => SECTION_ASKED_FOR,
            false => 0.0,
        };
        (share, bonus)
    }

    /// The score of the best sentence of all sources.
    fn highest_score(&self) -> f32 {
        self.read().iter().flat_map(|read| &read.scores).copied().fold(0.0, f32::max)
    }

    /// The section under a heading for steps in the document of a source, unless the source has such a heading itself: steps
    /// belong to what their document is about, whatever their words. With its source, and its first unit.
    fn headed_steps(&self, source: usize) -> Option<(usize, &Range<usize>, usize)> {
        let own = self.get(source)?.source;
        if is_headed_as_steps(own.heading) {
            return None;
        }
        let is_beside = |(_, read): &(usize, &ReadSource<'_>)| {
            read.source.key.document_id == own.key.document_id && is_headed_as_steps(read.source.heading)
        };
        self.read().iter().enumerate().filter(is_beside).find_map(|(number, read)| {
            let section = read.sections.iter().find(|section| read.items(section) >= 2)?;
            Some((number, section, read.first_words(section)?))
        })
    }
}

/// Whether a source is of release notes, or stands below no heading but the title of its document, and tells what that is about:
/// such sources have words of everything.
fn tells_of_all(read: &ReadSource<'_>) -> bool {
    let is_introduction = match read.source.heading {
        [] => true,
        [heading] => heading == read.source.title,
        _ => false,
    };
    is_introduction || release_notes::is_of_them(read.source.title)
}

#[cfg(test)]
mod tests {
    use super::super::AnswerSource;
    use super::super::passages_tests::given_of;

    fn given_below(question: &str, headings: &[&str], texts: &[&str]) -> String {
        let headings: Vec<[String; 1]> = headings.iter().map(|heading| [(*heading).to_owned()]).collect();
        let source = |(heading, text)| AnswerSource { title: "Jar FAQ", heading, ..AnswerSource::alone(text) };
        let sources: Vec<AnswerSource<'_>> =
            headings.iter().map(<[String; 1]>::as_slice).zip(texts.iter().copied()).map(source).collect();
        given_of(question, &sources).map_or_else(String::new, |given| given.text)
    }

    #[test]
    fn code_elsewhere_is_not_better_than_the_best_source() {
        let texts = [
            "To remove a lid version, choose it in the list of lids and press the red button. It is removed at once.",
            "To remove what is left of the jar store and each lid in it, do:\n\n```\nrm -rf store\n```",
        ];
        let said = given_below("How do I remove a lid version?", &["Lids", "Leaving"], &texts);
        assert!(said.contains("red button") && !said.contains("rm -rf"), "{said}");
    }

    #[test]
    fn a_numbered_heading_may_be_what_is_asked_for() {
        let texts = [
            "## 2. Installing on shelves\n\nPut the jar on the shelf:\n\n```\njar install --shelf\n```",
            "## 3. Installing on walls\n\nScrew the holder tight with both of the long screws in the bag. Then hang it up and push it down.",
        ];
        let said = given_below(
            "How do I install a jar on walls?",
            &["2. Installing on shelves", "3. Installing on walls"],
            &texts,
        );
        assert!(said.contains("Screw the holder tight") && !said.contains("--shelf"), "{said}");
    }
}
