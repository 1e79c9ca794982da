//! Reads the sentences of a source as candidates for an answer.

use std::ops::Range;

use super::AnswerSource;
use super::asked::{Asked, Heading};
use super::candidate::{Role, SentenceCandidate};
use super::entry::{Entry, is_glossary};
use super::form::{DEFINITION, tells_default};
use super::fragment::is_title_line;
use super::header::Headers;
use super::listed::{List, Lists};
use super::naming::words_in;
use super::otherwise::Otherwise;
use super::quote::plain_line;
use super::section::{RunIn, Section, is_question};
use super::surroundings::{
    Above, context, entry_begun, name_over, opens_with_default, points_at_several, ruling, scale_over, taken_back,
    told_below, version_over,
};
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::markdown::BlockKind;
use crate::release_notes::{self, Change};
use crate::wording::{answers_yes_or_no, named_value};

/// Loss of a sentence about things that it does not name, and that no sentence brought with it does; the other scores range from 0
/// to about 1.
const OF_UNNAMED: f32 = 0.2;

/// Bonus of a line of release notes that tells of the change that is asked for, and loss of one that tells of another.
const OF_CHANGE: f32 = 0.3;

/// Further bonus of one that tells it of all that the question names, and not of a part of that.
const OF_OBJECT: f32 = 0.3;

/// A source, with what holds of all of its sentences.
pub(super) struct SentenceReader<'s> {
    pub(super) asked: &'s Asked<'s>,
    /// Its place in the list of sources, from 0.
    pub(super) index: usize,
    pub(super) source: &'s AnswerSource<'s>,
    pub(super) evidence: &'s PassageEvidence,
    pub(super) headers: Headers<'s>,
    /// Share of the title of its document that the question holds.
    pub(super) about: f32,
    /// Whether its document changes what another one says.
    pub(super) is_change: bool,
    /// Whether its document is release notes.
    pub(super) is_release_notes: bool,
    /// The terms that its sentences say in other words than the question.
    pub(super) otherwise: Otherwise,
    lists: Lists,
    is_glossary: bool,
}

/// A sentence, with what stands around it.
pub(super) struct Here<'h> {
    /// Its sequential number within its source.
    pub(super) place: usize,
    pub(super) sentence: &'h SentenceEvidence,
    pub(super) above: Above<'h>,
    /// The list that it leads in.
    pub(super) list: Option<&'h List>,
    /// The entry that it begins or stands in.
    entry: Option<&'h Entry>,
    /// Whether it is the first one of its section.
    opens_section: bool,
    /// The sentences of its block, up to itself.
    paragraph: &'h [SentenceEvidence],
    next: Option<&'h SentenceEvidence>,
}

/// The state of the reading before a sentence.
struct State<'s> {
    before: Option<&'s SentenceEvidence>,
    entry: Option<Entry>,
    section: Section,
    run_in: RunIn<'s>,
    heading: Heading<'s>,
    /// Place of the first sentence of the block.
    block_start: usize,
}

impl<'s> SentenceReader<'s> {
    pub(super) fn of(
        asked: &'s Asked<'s>,
        index: usize,
        source: &'s AnswerSource<'s>,
        evidence: &'s PassageEvidence,
    ) -> Self {
        Self {
            asked,
            index,
            source,
            evidence,
            headers: Headers::of(source, evidence),
            about: asked.words.are_about(source.title),
            is_change: asked.is_changed_by(source.title),
            is_release_notes: release_notes::is_of_them(source.title),
            otherwise: Otherwise::of(asked.question, source),
            lists: Lists::of(source, evidence),
            is_glossary: is_glossary(source.text, &evidence.sentences),
        }
    }

    /// The candidates of the source, in its order.
    pub(super) fn candidates(&self) -> Vec<SentenceCandidate> {
        let (source, sentences) = (self.source, &self.evidence.sentences);
        let mut found = Vec::new();
        let mut state = State {
            before: None,
            entry: None,
            section: Section::default(),
            run_in: RunIn::default(),
            heading: Heading::of(self.asked, ""),
            block_start: 0,
        };
        for (place, sentence) in sentences.iter().enumerate() {
            let opens_section = state.reach(self, place, sentence);
            let here = Here {
                place,
                sentence,
                above: state.above(sentence),
                list: self.lists.led_in_by(&sentence.range),
                entry: state.entry.as_ref(),
                opens_section,
                paragraph: sentences.get(state.block_start..=place).unwrap_or_default(),
                next: sentences.get(place + 1),
            };
            found.extend(self.candidate(&here));
            state.leave(source, sentence);
        }
        found
    }

    /// The candidate that a sentence makes; `None` if it states nothing.
    fn candidate(&self, here: &Here<'_>) -> Option<SentenceCandidate> {
        let mut candidate = SentenceCandidate::of(self, here, self.quote(here)?);
        self.surround(&mut candidate, here);
        candidate.is_fragment |= self.is_name_or_title(&candidate, here);
        self.open(&mut candidate, here);
        Some(candidate)
    }

    /// Adds the sentences without which it would mislead, and embeds it with what it is about.
    fn surround(&self, candidate: &mut SentenceCandidate, here: &Here<'_>) {
        let (asked, source, evidence) = (self.asked, self.source, self.evidence);
        let Here { place, sentence, above, paragraph, .. } = *here;
        let version = version_over(self, evidence.sentences.get(..place).unwrap_or_default(), sentence);
        let is_told_above = |(_, text): &(_, String)| asked.question.kind.is_held_by(&asked.question.known, text);
        if asked.question.kind == AnswerKind::Date && version.as_ref().is_some_and(is_told_above) {
            candidate.holds_kind = true;
        }
        let above_it = evidence.sentences.iter().take(place).rfind(|above| above.kind == BlockKind::Heading);
        self.place_in_release(candidate, here, version.is_some(), above_it);
        let named = above_it.and_then(|heading| name_over(asked, source, heading, &candidate.text));
        candidate.bonus += named.as_ref().map_or(0.0, |(_, bonus)| *bonus);
        candidate.context = version
            .or_else(|| named.map(|(heading, _)| heading))
            .or_else(|| context(source, above, sentence))
            .or_else(|| ruling(asked.question, source, paragraph))
            .or_else(|| self.answer_under_question(here))
            .or_else(|| entry_begun(source, paragraph))
            .or_else(|| {
                scale_over(source, evidence.sentences.get(..place).unwrap_or_default(), sentence, &candidate.text)
            });
        if candidate.context.is_none() && points_at_several(&candidate.text) {
            candidate.bonus -= OF_UNNAMED;
        }
        if asked.form.is_for_default && opens_with_default(&candidate.text) {
            candidate.belong_to(source, above, &asked.question.terms);
        }
        if !candidate.holds_kind || asked.form.is_for_default && !tells_default(&candidate.text) {
            let is_entry = here.entry.is_some() || here.opens_section || named_value(&candidate.text).is_some();
            candidate.told_below = told_below(asked, source, evidence, (place, is_entry));
        }
        let words_before = above.before.and_then(|before| source.text.get(before.range.clone())).unwrap_or_default();
        if is_question(words_before) || here.opens_section && is_question(above.heading.text) {
            candidate.embed_below(source, above.heading.text);
        }
        candidate.taken_back = taken_back(source, sentence, here.next);
    }

    /// Notes how it is to the question as a line of release notes; `heading` is the last one above it in its passage.
    fn place_in_release(
        &self,
        candidate: &mut SentenceCandidate,
        here: &Here<'_>,
        has_version: bool,
        heading: Option<&SentenceEvidence>,
    ) {
        // "A window in the door." says something below its version and "Added".
        let held = candidate.held | heading.map_or(0, |heading| heading.mask);
        if has_version && self.asked.question.terms.share(held) >= 1.0 {
            (candidate.role, candidate.is_fragment) = (Role::ReleaseLine, false);
        } else if !has_version && self.is_below_unsaid_version() && candidate.role == Role::Sentence {
            candidate.role = Role::LineAlone;
        }
        if self.is_release_notes {
            let heading = heading.map_or(here.above.heading.text, |heading| self.words(heading));
            candidate.bonus += self.bonus_of_change(candidate, heading);
        }
    }

    /// Whether the version that is asked for stands above the passage, where no answer can quote it.
    fn is_below_unsaid_version(&self) -> bool {
        let is_release = || release_notes::release(self.source.heading).is_some();
        self.asked.is_for_version && self.is_release_notes && is_release()
    }

    /// Bonus or loss of a line of release notes for the change that it tells, and for what it changes: something that the question
    /// names, beside the change itself, the version, and what the document is about.
    fn bonus_of_change(&self, line: &SentenceCandidate, heading: &str) -> f32 {
        let question = self.asked.question;
        let is_subject = |word: &str| !Change::is_named(word) && !matches!(word, "version" | "release");
        let subjects = question.terms.mask_where(|term| is_subject(&term.word.to_lowercase()));
        let subjects = subjects & !self.evidence.title_mask;
        let share =
            |mask| question.terms.weight_of(mask & subjects) / question.terms.weight_of(subjects).max(f32::EPSILON);
        let (Some(change), true) = (self.asked.change, line.mask & subjects != 0) else { return 0.0 };
        let told = match Change::told_by(&line.text, heading) {
            Some(told) if told == change => OF_CHANGE * share(line.mask),
            Some(_) => -OF_CHANGE,
            None => 0.0,
        };
        told + OF_OBJECT * share(words_in(question, &Change::object_in(&line.text)))
    }

    fn words(&self, sentence: &SentenceEvidence) -> &'s str {
        self.source.text.get(sentence.range.clone()).unwrap_or_default()
    }

    /// The yes or no that the section of a sentence begins with, below a question: it answers that, whatever follows.
    fn answer_under_question(&self, here: &Here<'_>) -> Option<(Range<usize>, String)> {
        let before = self.evidence.sentences.get(..here.place)?;
        let words = |sentence: &SentenceEvidence| self.source.text.get(sentence.range.clone()).unwrap_or_default();
        let heading = before.iter().rposition(|above| above.kind == BlockKind::Heading);
        let asked = heading.and_then(|heading| before.get(heading)).map_or(here.above.heading.text, words);
        if self.asked.question.kind != AnswerKind::YesNo || !is_question(asked) {
            return None;
        }
        let first = before.get(heading.map_or(0, |heading| heading + 1))?;
        let (words, own) = (words(first), words(here.sentence));
        let text = plain_line(words).filter(|_| answers_yes_or_no(words) && !answers_yes_or_no(own))?;
        Some((first.range.clone(), text))
    }

    /// Whether it is no more than the name of its entry, or the title of its document.
    fn is_name_or_title(&self, candidate: &SentenceCandidate, here: &Here<'_>) -> bool {
        let (source, sentence) = (self.source, here.sentence);
        let is_last = here.next.is_none_or(|next| next.block != sentence.block);
        let is_name = |entry: &Entry| entry.range == sentence.range && entry.is_bare(source.text) && !is_last;
        let is_first = here.place == 0 && source.key.ordinal == 0;
        here.entry.is_some_and(is_name)
            || is_first
                && is_last
                && here.next.is_some()
                && sentence.kind == BlockKind::Paragraph
                && is_title_line(&candidate.text)
    }

    /// Begins it with the entry or the section that it opens, and goes on with the list that it leads in.
    fn open(&self, candidate: &mut SentenceCandidate, here: &Here<'_>) {
        let (asked, source) = (self.asked, self.source);
        let terms = &asked.question.terms;
        if let Some(entry) = here.entry.filter(|entry| entry.is_opened_by(source.text, here.sentence)) {
            candidate.open(asked, source, entry);
        }
        // An entry may say no more than where it is told.
        candidate.is_fragment |= asked.pointers.rule_out(here.above.heading.text, &candidate.text);
        let may_define = !asked.is_defined && !terms.is_only_told_of_by(&candidate.text);
        if here.opens_section && (may_define || terms.is_defined_by(&candidate.text)) {
            candidate.open_section(asked, source.heading.last().map_or("", String::as_str));
        }
        if terms.asks_for_term() && is_name_section(here.above.heading.text) && terms.is_defined_by(&candidate.text) {
            candidate.bonus += DEFINITION;
        }
        if let Some(list) = here.list {
            candidate.go_on_with(source, list, terms);
        }
    }
}

/// Whether a section of a manual says in a line what its subject is.
fn is_name_section(heading: &str) -> bool {
    heading.eq_ignore_ascii_case("name")
}

impl<'s> State<'s> {
    /// Reads on to a sentence, and tells whether that is the first one of its section.
    fn reach(&mut self, reader: &SentenceReader<'s>, place: usize, sentence: &'s SentenceEvidence) -> bool {
        let source = reader.source;
        if self.before.is_none_or(|before| before.block != sentence.block) {
            let of_term = || Entry::of_term(source.text, sentence).filter(|_| reader.is_glossary);
            self.entry = Entry::begun_by(source.text, sentence).or_else(of_term);
            self.block_start = place;
        }
        self.run_in.read(source.text, sentence);
        let heading = self.run_in.over(source.heading);
        if heading != self.heading.text {
            self.heading = Heading::of(reader.asked, heading);
        }
        self.section.is_opened_by(source, sentence)
    }

    fn above(&self, sentence: &SentenceEvidence) -> Above<'_> {
        Above {
            before: self.before,
            entry: self.entry.as_ref().filter(|entry| entry.range.end <= sentence.range.start),
            heading: &self.heading,
        }
    }

    fn leave(&mut self, source: &AnswerSource<'_>, sentence: &'s SentenceEvidence) {
        if let Some(entry) = self.entry.as_mut().filter(|entry| entry.is_bare(source.text)) {
            entry.range.end = sentence.range.end;
        }
        self.before = Some(sentence);
    }
}
