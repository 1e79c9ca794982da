//! A sentence that may be quoted, with everything that ranks it.

use std::ops::Range;

use super::AnswerSource;
use super::asked::{Asked, Heading};
use super::entry::Entry;
use super::form::{DEFINITION, tells_default};
use super::listed::List;
use super::naming::{named, words_in};
use super::need::Reason;
use super::people::names_holder;
use super::quotation::Quotation;
use super::quote::quotable;
use super::section::is_own_heading;
use super::sentence_reader::{Here, SentenceReader};
use super::surroundings::{Above, beside};
use super::units::announces;
use crate::currency::answered;
use crate::evidence::kind::AnswerKind;
use crate::evidence::{QuestionTerms, TermMask};
use crate::release_notes::names_version;
use crate::wording::{MOST_OF_NAME, named_value, start_of_line};

/// Credit for question terms in the title or in the sentence before: they name the subject that the sentence continues.
const SUBJECT_CREDIT: f32 = 0.5;

/// Share of the question's weight in the name of an entry from which the question is for that entry.
const NAMED_ENTRY: f32 = 0.5;

/// The same in the heading of a section, all of whose words the question must hold.
const NAMED_SECTION: f32 = 0.25;

/// Bonus of a heading that tells when something was, which version is the latest, or whether it is so, beside scores of 0 to 1.
const TELLING_HEADING: f32 = 0.5;

/// The same of a sentence that names a version where one is asked for; of release notes the headings do.
const VERSION: f32 = 0.2;

/// The same of one that names the lowest or the highest one, where that is asked for.
const VERSION_OF_END: f32 = 0.5;

/// Share of the question's weight in such a sentence and the titles above it.
const MOSTLY_HELD: f32 = 0.9;

/// The same of a line that lists what is asked for after its name: "Events: opened, closed, lost."
const LISTED: f32 = 0.6;

/// Fewest things that such a line lists.
const FEWEST_LISTED: usize = 3;

/// Loss of a sentence that a mail quotes of the message before.
const MESSAGE_BEFORE: f32 = 0.4;

/// What a sentence is in a text of a certain form, if that makes it an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Any sentence.
    Sentence,
    /// A heading of release notes that tells when what the question names was, or which version is the latest.
    ReleaseHeading,
    /// A line of release notes that holds, with the version above it, all of the question.
    ReleaseLine,
    /// A line of release notes whose version stands before the passage, where a version is asked for.
    LineAlone,
    /// The field of the setting that is asked for.
    SettingField,
}

/// A sentence that may be quoted.
#[derive(Debug, Clone, PartialEq)]
pub struct SentenceCandidate {
    pub(super) source: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// The title of its document and the sentence, which is what is embedded.
    embedded: String,
    /// Share of the question's idf mass in it, with what it is credited for.
    pub(super) lexical: f32,
    /// Share in the titles above it and in the sentence before it that it does not hold itself.
    pub(super) subject: f32,
    /// Share in the sentence before it, and in the one after it without what it holds itself.
    pub(super) beside: f32,
    /// Share of neighbouring question terms that are also neighbours in this sentence.
    pub(super) pairs: f32,
    pub(super) mask: TermMask,
    /// Whether it holds the kind of thing asked for; where that is a reason, also whether it stands under a heading for one.
    pub(super) holds_kind: bool,
    /// How well it fits the kind of thing asked for, 0 to 1.
    pub(super) fit: f32,
    pub(super) probability: f32,
    /// How much nearer to the question the nearest passage is than its own, by cosine; 0 where it is not known.
    pub(super) behind: f32,
    /// The sentence before, or the first one of its entry, when this one begins with words that point back at it.
    pub(super) context: Option<(Range<usize>, String)>,
    /// The sentence of its entry or its brief section that tells the number or the date asked for, where it does not itself.
    pub(super) told_below: Option<(Range<usize>, String)>,
    /// The sentence after one that denies something, which takes a part of it back: "However, …".
    pub(super) taken_back: Option<(Range<usize>, String)>,
    /// Share of the question's weight in the name of the entry or of the section that it opens.
    pub(super) opens: f32,
    /// Bonus for having the form that the question asks for.
    pub(super) bonus: f32,
    /// Whether it says nothing by itself.
    pub(super) is_fragment: bool,
    /// Whether it is a row of a table.
    pub(super) is_row: bool,
    /// What it is in a text of a certain form.
    pub(super) role: Role,
    /// Share of the question's weight in the first cell of a row, which mostly names what the row is about.
    pub(super) named: f32,
    /// Share of the title of its document that the question holds.
    pub(super) about: f32,
    /// How nearly the heading above it is the question, 0 to 1.
    pub(super) headed: f32,
    /// Share of the words of that heading that the question holds.
    pub(super) heading_named: f32,
    /// Terms of the innermost heading above it.
    pub(super) heading: TermMask,
    /// Question terms in it, in the titles above it, in the sentence before it, and in the first one of its entry.
    pub(super) held: TermMask,
    /// Sequential number of the sentence within its source, to detect neighbours.
    pub(super) place: usize,
    /// Number of its block within its source.
    pub(super) block: usize,
    /// The items of the list that it leads in.
    pub(super) items: Vec<String>,
    /// The code that it leads in, between fences.
    pub(super) code: Option<String>,
    /// The first block of the entry of a manual that it stands in.
    pub(super) entry: Option<usize>,
    /// Share of what is asked of the subject of the question that it holds, with what stands above it.
    pub(super) said: Option<f32>,
}

impl SentenceCandidate {
    /// The candidate that a quotation makes, with what ranks it by itself.
    pub(super) fn of(reader: &SentenceReader<'_>, here: &Here<'_>, quoted: Quotation<'_>) -> Self {
        let SentenceReader { asked, source, evidence, .. } = reader;
        let (question, sentence, heading) = (asked.question, here.sentence, here.above.heading);
        let terms = &question.terms;
        let mask = sentence.mask | reader.otherwise.said_in(&quoted.text);
        let held = mask | evidence.title_mask | here.above.mask();
        let subject = terms.share(held & !mask);
        let OfKind { holds, fit, reason } = OfKind::of(asked, &quoted.text, heading);
        // "AUTHOR", and below it a name: the heading makes the line say something.
        let is_headed_name = question.kind == AnswerKind::Person && holds && heading.about >= 1.0;
        Self {
            bonus: bonus(reader, here, &quoted, (mask, reason)),
            about: reader.about,
            headed: heading.about.min(terms.share(heading.mask)),
            heading_named: heading.about,
            heading: heading.mask,
            held,
            is_fragment: reader.is_fragment(here, &quoted, is_headed_name),
            named: if quoted.is_row { named(question, quoted.words) } else { 0.0 },
            source: reader.index,
            lexical: lexical(terms, mask, subject),
            subject,
            beside: terms.share(beside(evidence, here.place)),
            opens: 0.0,
            embedded: embedded(source, &quoted.text),
            pairs: terms.pair_share(sentence.pairs),
            mask,
            holds_kind: holds,
            fit,
            range: quoted.range,
            text: quoted.text,
            probability: source.probability,
            behind: source.similarity.map_or(0.0, |own| asked.nearest - own),
            context: None,
            told_below: None,
            taken_back: None,
            is_row: quoted.is_row,
            role: if quoted.tells_release { Role::ReleaseHeading } else { Role::Sentence },
            place: here.place,
            block: sentence.block,
            entry: None,
            said: None,
            items: Vec::new(),
            code: None,
        }
    }

    /// The sentence as it would be quoted.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text to be embedded: a sentence seldom names the subject of its document.
    #[must_use]
    pub fn embedded(&self) -> &str {
        &self.embedded
    }

    /// Whether it says nothing by itself, so that it is not quoted.
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        self.is_fragment
    }

    /// Begins with the line of the entry that it opens, and notes whether the question is for that.
    pub(super) fn open(&mut self, asked: &Asked<'_>, source: &AnswerSource<'_>, entry: &Entry) {
        let question = asked.question;
        let begins = self.begin_with(source, entry, &question.terms);
        let named = question.terms.share(words_in(question, entry.name(source.text)));
        // Of a term of a glossary its entry tells other things too.
        let is_definition = question.kind == AnswerKind::Definition;
        if named >= NAMED_ENTRY && !asked.form.is_for_default && (is_definition || !entry.is_of_term) {
            self.opens = named;
        }
        if begins && is_definition && question.terms.is_defined_by(&self.text) {
            self.bonus += DEFINITION;
        }
    }

    /// Notes that it is the first sentence of a section: what is named by the heading is told there, and seldom by name.
    pub(super) fn open_section(&mut self, asked: &Asked<'_>, heading: &str) {
        let question = asked.question;
        let named = question.terms.share(self.heading);
        if asked.is_for_section() && named >= NAMED_SECTION && asked.words.are_about(heading) >= 1.0 {
            self.opens = self.opens.max(named);
        }
    }

    /// Begins the quotation with the line of its entry, unless that is a heading. Returns whether that is not what it began with.
    fn begin_with(&mut self, source: &AnswerSource<'_>, entry: &Entry, terms: &QuestionTerms) -> bool {
        let begins_later = self.range.start > entry.range.start;
        let range = below_heading(source, entry.range.start..self.range.end);
        let text = source.text.get(range.clone()).and_then(quotable);
        if let Some(text) = text.filter(|_| range.start == entry.range.start) {
            (self.text, self.range, self.context) = (text, range, None);
            self.hold(entry.mask, source, terms);
            return begins_later;
        }
        false
    }

    /// Whether it is the heading of a list rather than the sentence that leads it in.
    pub(super) fn heads_list(&self) -> bool {
        !self.items.is_empty() && !self.text.ends_with([':', '：']) && !announces(&self.text)
    }

    /// Goes on with the list or the code that it leads in.
    pub(super) fn go_on_with(&mut self, source: &AnswerSource<'_>, list: &List, terms: &QuestionTerms) {
        self.range.end = list.end;
        self.items.clone_from(&list.items);
        self.code.clone_from(&list.code);
        self.is_fragment = false;
        self.told_below = None;
        self.hold(list.mask, source, terms);
    }

    /// Notes that it tells a value of what the sentence before it, or its entry, is about.
    pub(super) fn belong_to(&mut self, source: &AnswerSource<'_>, above: Above<'_>, terms: &QuestionTerms) {
        if let Some((_, context)) = self.context.clone() {
            self.hold(above.mask(), source, terms);
            self.embedded = embedded(source, &format!("{context} {}", self.text));
        }
    }

    /// Is embedded with the question that it stands under, of which it is the answer.
    pub(super) fn embed_below(&mut self, source: &AnswerSource<'_>, question: &str) {
        self.embedded = embedded(source, &format!("{question} {}", self.text));
    }

    /// Its text with the items of its list.
    fn with_items(&self) -> String {
        std::iter::once(&self.text)
            .chain(&self.items)
            .chain(&self.code)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Adds question terms of more text.
    fn hold(&mut self, mask: TermMask, source: &AnswerSource<'_>, terms: &QuestionTerms) {
        self.embedded = embedded(source, &self.with_items());
        self.mask |= mask;
        self.held |= mask;
        self.subject = terms.share(self.held & !self.mask);
        self.lexical = lexical(terms, self.mask, self.subject);
    }

    /// Place of its source in the list, from 0.
    #[must_use]
    pub const fn source(&self) -> usize {
        self.source
    }
}

/// How a quotation is to the kind of thing that a question asks for.
struct OfKind {
    /// Whether it holds one.
    holds: bool,
    /// How well it fits, 0 to 1.
    fit: f32,
    /// Where it gives the reason that is asked for.
    reason: Option<Reason>,
}

impl OfKind {
    fn of(asked: &Asked<'_>, text: &str, heading: &Heading<'_>) -> Self {
        let question = asked.question;
        let reason = if asked.is_for_reason { Reason::given(text, heading.is_of_reason) } else { None };
        let is_holder = asked.roles.is_for_holder && names_holder(&question.asked, text);
        let holds = match question.kind {
            _ if asked.is_for_reason => reason.is_some(),
            AnswerKind::Definition if asked.form.is_for_default => tells_default(text),
            AnswerKind::Person if is_holder => true,
            kind => kind.is_held_by(&question.known, text),
        };
        let fit = match holds {
            true if is_holder => 1.0,
            true => question.kind.fit(&question.known, text),
            false => 0.0,
        };
        Self { holds, fit, reason }
    }
}

/// Bonus of a quotation for its form and its place, and its loss.
fn bonus(
    reader: &SentenceReader<'_>,
    here: &Here<'_>,
    quoted: &Quotation<'_>,
    (mask, reason): (TermMask, Option<Reason>),
) -> f32 {
    let (asked, source) = (reader.asked, reader.source);
    let text = quoted.text.as_str();
    asked.form.bonus(text, reason)
        + bonus_of_version(reader, mask, text)
        + if quoted.is_telling_heading() { TELLING_HEADING } else { 0.0 }
        + if is_list_asked_for(asked, text) { LISTED } else { 0.0 }
        + asked.roles.bonus_of_sentence(text, reader.is_change)
        - if is_of_message_before(source, here.sentence.range.start) { MESSAGE_BEFORE } else { 0.0 }
        + if quoted.is_row { asked.roles.bonus_of_row(quoted.header, quoted.words) } else { 0.0 }
}

/// Bonus of a sentence that names a version, where one is asked for, and of one that names it for the end that is.
fn bonus_of_version(reader: &SentenceReader<'_>, held: TermMask, text: &str) -> f32 {
    let is_asked_for = reader.asked.is_for_version && !reader.is_release_notes;
    // "The minimum is 1.2" in a document about something else is that of this.
    let is_of_it = || reader.asked.question.terms.share(held | reader.evidence.title_mask) >= MOSTLY_HELD;
    match is_asked_for && held != 0 && names_version(text) {
        true if held & reader.otherwise.ends() != 0 && is_of_it() => VERSION_OF_END,
        true => VERSION,
        false => 0.0,
    }
}

/// Whether a text lists, after its name, what a question asks for.
fn is_list_asked_for(asked: &Asked<'_>, text: &str) -> bool {
    let list = named_value(text).filter(|_| asked.question.kind == AnswerKind::List);
    list.is_some_and(|(name, value)| {
        let is_listed = value.matches([',', ';']).count() + 1 >= FEWEST_LISTED;
        is_listed && name.split_whitespace().count() <= MOST_OF_NAME && asked.words.are_about(name) >= 1.0
    })
}

/// Share of the question's weight in a sentence, with the credit for what names its subject.
fn lexical(terms: &QuestionTerms, mask: TermMask, subject: f32) -> f32 {
    terms.share(mask) + SUBJECT_CREDIT * subject
}

/// A sentence after the title of its document.
fn embedded(source: &AnswerSource<'_>, text: &str) -> String {
    if source.title.is_empty() { text.to_owned() } else { format!("{}: {text}", source.title) }
}

/// Whether the sentence at a byte stands in what a mail quotes of the one that it answers, and may correct.
fn is_of_message_before(source: &AnswerSource<'_>, start: usize) -> bool {
    let line = source.text.get(start_of_line(source.text, start)..start).unwrap_or_default();
    line.starts_with('>') && answered(source.title).is_some()
}

/// Whether the sentence at a byte is the rest of one that begins before the passage.
pub(super) fn is_cut(source: &AnswerSource<'_>, start: usize) -> bool {
    let (before, words) = source.text.split_at_checked(start).unwrap_or_default();
    let begins_small = words.starts_with(char::is_lowercase);
    let has_capitals = || source.text.chars().any(char::is_uppercase);
    source.key.ordinal > 0 && before.trim().is_empty() && begins_small && has_capitals()
}

/// A sentence without the heading of plain text that stands on the line before it: one of the headings above the source,
/// or a line in capitals over indented text.
pub(super) fn below_heading(source: &AnswerSource<'_>, range: Range<usize>) -> Range<usize> {
    let words = source.text.get(range.clone()).unwrap_or_default();
    let Some((line, rest)) = words.split_once('\n') else { return range };
    let is_in_capitals = rest.starts_with([' ', '\t']) && line.chars().all(|sign| sign.is_uppercase() || sign == ' ');
    // "Jars\nare kept here." is one sentence.
    let begins = || !rest.trim_start().starts_with(char::is_lowercase);
    if is_in_capitals || is_own_heading(source, line) && begins() {
        range.end - rest.trim_start().len()..range.end
    } else {
        range
    }
}
