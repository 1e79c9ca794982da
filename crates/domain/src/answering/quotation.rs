//! Whether a sentence may be quoted, and as which text.

use std::ops::Range;

use super::candidate::{below_heading, is_cut};
use super::fragment::{is_code, is_fragment, is_part_of_synopsis, leans_on_item_above};
use super::naming::words_in;
use super::quote::{plain_line, quotable, without_row_bars};
use super::row::{labelled, may_affirm};
use super::section::{is_label, is_question};
use super::sentence_reader::{Here, SentenceReader};
use super::setting::Field;
use super::stated::states_whether;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::passage::SentenceEvidence;
use crate::markdown::{BlockKind, cells, group_name, has_no_value};
use crate::release_notes;
use crate::wording::start_of_line;

/// A sentence as it may be quoted.
pub(super) struct Quotation<'s> {
    /// Its bytes in the source, without a heading on the line before.
    pub(super) range: Range<usize>,
    /// Its words there.
    pub(super) words: &'s str,
    /// Its text in an answer.
    pub(super) text: String,
    /// Whether it is a row of a table.
    pub(super) is_row: bool,
    /// The header above it; empty if it has none.
    pub(super) header: &'s str,
    /// Whether it is a heading that tells when what the question names was, or which version is the latest.
    pub(super) tells_release: bool,
    /// Whether it is a heading that states whether what the question asks is so.
    pub(super) states_whether: bool,
}

impl Quotation<'_> {
    /// Whether it is a heading that answers by itself.
    pub(super) const fn is_telling_heading(&self) -> bool {
        self.tells_release || self.states_whether
    }
}

impl<'s> SentenceReader<'s> {
    /// The quotation of a sentence; `None` if it states nothing.
    pub(super) fn quote(&self, here: &Here<'_>) -> Option<Quotation<'s>> {
        let (source, sentence) = (self.source, here.sentence);
        let range = below_heading(source, sentence.range.clone());
        let words = source.text.get(range.clone())?;
        let tells_release = is_dated_heading(self.asked.question, sentence, words)
            || here.place == 0 && self.is_latest_release(sentence, words);
        let states_whether = states_whether(self.asked.question, sentence, words);
        let heads_list = here.list.is_some_and(|list| list.is_headed);
        let is_row = sentence.kind == BlockKind::TableRow;
        let can_state =
            tells_release || states_whether || heads_list || is_row || sentence.kind == BlockKind::Paragraph;
        if !can_state || is_label(words.trim()) || is_row && has_no_value(words) {
            return None;
        }
        let header = self.headers.above(sentence.range.start, sentence.header.as_ref()).filter(|_| is_row);
        let row = header.map(|header| labelled(header, words));
        let row = match self.group_that_tells(sentence, words) {
            Some(group) => Some(format!("{group}: {}", row.as_deref().unwrap_or_else(|| without_row_bars(words)))),
            None => row,
        };
        let text = row.and_then(|row| quotable(&row)).or_else(|| quotable(words));
        // However brief: "Blue jars." is a change.
        let is_field = || Field::asked_for(&self.asked.form).is_some_and(|field| field.is(words));
        let may_be_brief = || heads_list || tells_release || states_whether || self.tells_changes() || is_field();
        let text = text.or_else(|| may_be_brief().then(|| plain_line(words))?)?;
        let header = header.unwrap_or_default();
        // Asked without its tags and bars: a row of a table of contents may be a question.
        let quotation = Quotation { range, words, text, is_row, header, tells_release, states_whether };
        (!is_question(&quotation.text)).then_some(quotation)
    }

    /// The name of a row's group, where the question has words of it that the row lacks, or other rows have the name of this one.
    fn group_that_tells(&self, sentence: &SentenceEvidence, row: &str) -> Option<&'s str> {
        let group = group_name(self.source.text.get(sentence.group.clone()?)?)?;
        let named = |text: &str| words_in(self.asked.question, text);
        let (_, own) = cells(row).next()?;
        let has_name = |line: &&str| line.starts_with('|') && cells(line).next().is_some_and(|(_, name)| name == own);
        let occurs_again = || self.source.text.lines().filter(has_name).nth(1).is_some();
        (named(group) & !named(row) != 0 || occurs_again()).then_some(group)
    }

    /// Whether a heading of release notes names the version that a question for the latest is for: the first that is released.
    fn is_latest_release(&self, sentence: &SentenceEvidence, words: &str) -> bool {
        sentence.kind == BlockKind::Heading
            && self.is_release_notes
            && release_notes::is_latest_asked_for(&self.asked.question.asked)
            && release_notes::names_version(words)
    }

    /// Whether it is of release notes, and the question is for what they tell.
    fn tells_changes(&self) -> bool {
        self.is_release_notes && release_notes::are_asked_for(&self.asked.question.text)
    }

    /// Whether a quotation says nothing by itself. `is_headed_name` is that its heading makes it the name of somebody.
    pub(super) fn is_fragment(&self, here: &Here<'_>, quoted: &Quotation<'_>, is_headed_name: bool) -> bool {
        let (source, start) = (self.source, here.sentence.range.start);
        let Quotation { text, words, .. } = quoted;
        if is_part_of_synopsis(text) {
            return true;
        }
        if quoted.is_row {
            let asks_whether = self.asked.question.kind == AnswerKind::YesNo;
            return asks_whether && !self.asked.roles.is_of_day(words) && !may_affirm(words);
        }
        is_cut(source, start)
            || leans_on_item_above(text) && is_item(source.text, start)
            || is_code(text)
            || is_fragment(text) && !is_headed_name && !quoted.is_telling_heading()
    }
}

/// Whether a heading tells when what a question names by its version or number was: "1.50.0 (March 3, 2026)".
fn is_dated_heading(question: &Question, sentence: &SentenceEvidence, words: &str) -> bool {
    sentence.kind == BlockKind::Heading
        && question.kind == AnswerKind::Date
        && sentence.mask & question.terms.identifiers() != 0
        && question.kind.is_held_by(&question.known, words)
}

/// Whether the sentence at a byte begins an item of a list: nothing but its mark stands before it on its line.
fn is_item(text: &str, start: usize) -> bool {
    let mark = text.get(start_of_line(text, start)..start).unwrap_or_default().trim();
    !mark.is_empty() && !mark.contains(char::is_alphabetic) && !mark.starts_with(['>', '#'])
}
