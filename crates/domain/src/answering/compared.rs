//! The passages about things that are compared.

use super::candidate::SentenceCandidate;
use super::choose::{Scored, best_for};
use super::excerpt::{Excerpt, Excerpts, LONGEST_STEPS, Sources};
use super::fragment::is_fragment;
use super::naming::{about, words_in};
use super::need::PassageReason;
use super::parts::{Part, compared, parts};
use super::read_source::ReadSource;
use super::units::{Unit, UnitKind};
use crate::citation::is_ignorance;
use crate::command_options::entry_options;
use crate::wording::{lower_case_words, named_value};

/// Number of chunks in which a document begins to tell what it is about.
const CHUNKS_OF_BEGINNING: u32 = 5;

/// Words of a sentence that tells what makes things differ.
const DIFFERENCE: [&str; 8] =
    ["difference", "differences", "differ", "differs", "unlike", "whereas", "contrast", "compared"];

/// Words before a thing that is compared.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

impl Sources<'_> {
    /// The best passage for each of the things compared, and which of them have none.
    pub(super) fn compared(&self, ranked: &[Scored<'_>]) -> Excerpts {
        let mut found = Excerpts::default();
        let parts = parts(self.question());
        if parts.is_empty() {
            found.chosen = self.entries_named();
            if found.chosen.len() < 2 {
                // Where one thing is named within the other, the section of the best sentence is about both.
                found.chosen = ranked.first().and_then(|(best, _)| self.section_from(best)).into_iter().collect();
            }
        }
        if let Some(pages) = self.beginnings_of(&parts).or_else(|| self.sections_of(&parts)) {
            return Excerpts { chosen: pages, missing: Vec::new() };
        }
        for part in parts {
            let best = best_for(self.question(), ranked, &part);
            let excerpt =
                best.and_then(|(best, _)| self.paragraph_of(best.source, best.range.start, PassageReason::Compared));
            match excerpt {
                None => found.missing.push(part.missing()),
                Some(excerpt) => match found.chosen.iter_mut().find(|other| other.overlaps(&excerpt)) {
                    // It is about both.
                    Some(known) => known.about = None,
                    None => found.chosen.push(Excerpt { about: Some(part.text.clone()), ..excerpt }),
                },
            }
        }
        found.missing.retain(|sentence| is_ignorance(sentence));
        found
    }

    /// The beginnings of the documents that have the things compared for their titles, where each has one: they tell what it is.
    fn beginnings_of(&self, parts: &[Part]) -> Option<Vec<Excerpt>> {
        let beginning_of = |part: &Part| {
            let is_titled = |(_, read): &(usize, &ReadSource<'_>)| {
                read.source.key.ordinal < CHUNKS_OF_BEGINNING
                    && about(&part.text, read.source.title) >= 1.0
                    && about(read.source.title, &part.text) >= 1.0
            };
            let excerpt = |(number, read): (usize, &ReadSource<'_>)| {
                let beginning = read.first_section(number, PassageReason::Compared)?;
                let words =
                    read.units.get(beginning.units.start).and_then(|unit| read.source.text.get(unit.range.clone()));
                // How a command is written, and who owns a page, tells nothing of what it is.
                if words.is_none_or(|words| is_fragment(words) || named_value(words).is_some()) {
                    return None;
                }
                Some((read.source.key.ordinal, Excerpt { about: Some(part.text.clone()), ..beginning }))
            };
            let of_document = self.read().iter().enumerate().filter(is_titled).filter_map(excerpt);
            of_document.min_by_key(|(ordinal, _)| *ordinal).map(|(_, excerpt)| excerpt)
        };
        let beginnings: Vec<Excerpt> = parts.iter().map(beginning_of).collect::<Option<_>>()?;
        (beginnings.len() > 1).then_some(beginnings)
    }

    /// The sections that are headed by the things compared, where each has one.
    fn sections_of(&self, parts: &[Part]) -> Option<Vec<Excerpt>> {
        let sections: Vec<Excerpt> = parts.iter().map(|part| self.section_headed(part)).collect::<Option<_>>()?;
        (sections.len() > 1).then_some(sections)
    }

    /// The section whose heading is most of a thing compared, and nothing else. It has the first word of that: the last one of
    /// "glass and tin lids" is of both.
    fn section_headed(&self, part: &Part) -> Option<Excerpt> {
        let first = lower_case_words(&part.text).find(|word| !ARTICLES.contains(&word.as_str()))?;
        let weight = |(_, read): &(usize, &ReadSource<'_>)| {
            let heading = read.source.heading.last()?;
            let is_of_it = about(&part.text, heading) >= 1.0 && about(heading, &first) >= 1.0;
            is_of_it.then(|| self.question().terms.weight_of(words_in(self.question(), heading) & part.mask))
        };
        let headed = self.read().iter().enumerate().filter_map(|found| Some((weight(&found)?, found)));
        // Of equals the one of the better source.
        let (_, (number, read)) = headed.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let excerpt = read.first_section(number, PassageReason::Compared)?;
        Some(Excerpt { about: Some(part.text.clone()), ..excerpt })
    }

    /// The entries of the options that the question names.
    fn entries_named(&self) -> Vec<Excerpt> {
        let entry_of = |option: &str| {
            self.read().iter().enumerate().find_map(|(number, read)| {
                let is_of_it = |unit: &Unit| {
                    let text = read.source.text.get(unit.range.clone()).unwrap_or_default();
                    unit.kind != UnitKind::Heading && entry_options(text).contains(&option)
                };
                let at = read.units.iter().position(is_of_it)?;
                let section = read.sections.iter().find(|section| section.contains(&at))?;
                let excerpt = read.excerpt(number, section, at..at + 1, PassageReason::Compared);
                Some(Excerpt { about: Some(option.to_owned()), ..excerpt })
            })
        };
        let mut found: Vec<Excerpt> = Vec::new();
        for excerpt in self.question().terms.options().into_iter().filter_map(entry_of) {
            if !found.iter().any(|other| other.overlaps(&excerpt)) {
                found.push(excerpt);
            }
        }
        found
    }

    /// The section of a sentence, from there on where it is long.
    fn section_from(&self, sentence: &SentenceCandidate) -> Option<Excerpt> {
        let (read, section, unit) = self.unit_of(sentence.source, sentence.range.start)?;
        let units = read.around(section, unit, LONGEST_STEPS);
        Some(read.excerpt(sentence.source, section, units, PassageReason::Compared))
    }

    /// The section of the sentence that tells what makes the things compared differ.
    pub(super) fn difference(&self, ranked: &[Scored<'_>]) -> Option<Excerpt> {
        let compared = compared(&self.question().text);
        let tells = |(candidate, _): &&Scored<'_>| {
            let words: Vec<String> = lower_case_words(&candidate.text).collect();
            words.iter().any(|word| DIFFERENCE.contains(&word.as_str())) && name_all(&words, &compared)
        };
        ranked.iter().find(tells).and_then(|(found, _)| self.section_from(found))
    }

    /// The section under a heading that names both of the things compared.
    pub(super) fn headed_as_both(&self) -> Option<Excerpt> {
        let compared = compared(&self.question().text);
        let is_of_both = |(_, read): &(usize, &ReadSource<'_>)| {
            // The name of one thing may be made of both: `jar-fill-empty`.
            let heading = read.source.heading.last().filter(|heading| heading.contains(' '));
            let words: Vec<String> = heading.map(|heading| lower_case_words(heading).collect()).unwrap_or_default();
            name_all(&words, &compared)
        };
        let (number, read) = self.read().iter().enumerate().find(is_of_both)?;
        read.first_section(number, PassageReason::Compared)
    }
}

/// Whether words name all of several things that are compared: those of each are among them.
fn name_all(words: &[String], compared: &[String]) -> bool {
    let names = |part: &String| {
        let mut own = lower_case_words(part).filter(|word| !ARTICLES.contains(&word.as_str())).peekable();
        own.peek().is_some() && own.all(|word| words.contains(&word))
    };
    compared.len() > 1 && compared.iter().all(names)
}

#[cfg(test)]
mod tests {
    use super::super::AnswerSource;
    use super::super::passages_tests::given_of;

    #[test]
    fn things_compared_get_the_sections_that_they_head() {
        let headings = ["Lids", "glass", "tin"].map(|heading| ["Jar lids".to_owned(), heading.to_owned()]);
        let texts = [
            "The kind of a lid is glass or tin, as printed on the jar.",
            "### glass\n\nThe lids of this kind are clear and heavy.",
            "### tin\n\nThe lids of this kind are light and rust in the sea.",
        ];
        let source = |(heading, text)| AnswerSource { title: "Jar lids", heading, ..AnswerSource::alone(text) };
        let sources: Vec<AnswerSource<'_>> =
            headings.iter().map(<[String; 2]>::as_slice).zip(texts).map(source).collect();
        let given = given_of("What is the difference between glass and tin lids?", &sources).expect("passages");
        let about: Vec<_> = given.passages.iter().map(|passage| passage.source_index).collect();
        assert_eq!(about, [1, 2], "{}", given.text);
    }
}
