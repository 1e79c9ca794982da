//! Selects the ranked sentences that make up the answer.

use std::collections::BTreeSet;

use super::candidate::SentenceCandidate;
use super::compose::AS_MUCH;
use super::form::{AN_OPTION, asks_for_default, asks_for_option, tells_amount, tells_default};
use super::naming::AskedWords;
use super::parts::Part;
use super::row::{columns_and_values, counts_in_a_column, without_unit};
use super::sought::is_told;
use super::superlative::EXTREME;
use crate::citation::is_ignorance;
use crate::evidence::kind::AnswerKind;
use crate::evidence::measure::{Measure, counted, counts};
use crate::evidence::{Question, TermMask};
use crate::wording::{bare, has_digit, lower_case_words};

/// Most sentences chosen on their own merit; each may bring one more as context.
const MOST_SENTENCES: usize = 3;

/// Longest answer that another sentence is added to, that sentence included, in bytes.
const LONGEST_WITH_MORE: usize = 420;

/// Longest beginning of an entry or a section that the sentence after it is added to, in bytes.
const BRIEF_OPENING: usize = 100;

/// Share of the best sentence's score that a second and a third sentence need to be added.
const WORTH_ADDING: [f32; MOST_SENTENCES - 1] = [0.88, 0.92];

/// The same for every sentence of an answer to a question that asks for several things.
const WORTH_LISTING: f32 = 0.75;

/// Share of the question's weight in the best sentence that one from elsewhere must reach.
const ON_THE_SUBJECT: f32 = 0.5;

/// Share of the shorter sentence's words in common from which two sentences are redundant.
const REDUNDANT: f32 = 0.7;

/// Share of a part's own weight that the sentence for it must hold, with what stands around it.
const ANSWERS_PART: f32 = 0.5;

/// The same for a sentence that begins with a possible name of the kind asked for, or with an ordinary capitalised
/// word: it must hold nearly all of the rest.
const ANSWERS_PART_IF_NAME: f32 = 0.9;

/// Weight of a part of the question in the titles and sentences around a sentence, beside its weight in the sentence.
const AROUND_PART: f32 = 0.5;

/// Weight of a part of the question in the heading above a sentence, beside its weight in the sentence.
const HEADED_PART: f32 = 0.5;

/// Share of the score of a row that one whose name the question has must have to come before it.
const NAMED_ROW: f32 = 0.6;

/// A candidate and its score, comparable within one answer only.
pub(super) type Scored<'c> = (&'c SentenceCandidate, f32);

/// The sentences of an answer, best first, and the parts of the question that it must name as missing.
pub(super) struct Choice<'c> {
    pub(super) sentences: Vec<Scored<'c>>,
    pub(super) missing: Vec<String>,
}

/// The best sentence, and those that stand together with it. `ranked` is best first.
pub(super) fn one_answer<'c>(question: &Question, ranked: &[Scored<'c>]) -> Choice<'c> {
    let mut chosen: Vec<Scored<'c>> = Vec::new();
    for (candidate, score) in ranked {
        if chosen.len() == MOST_SENTENCES {
            break;
        }
        let is_of_other = || chosen.first().is_some_and(|(best, _)| tells_of_other_name(question, best, candidate));
        let is_tied = chosen.first().is_some_and(|(best, _)| is_as_extreme(best, candidate));
        let is_new = !is_said(&chosen, candidate) || is_of_other();
        if is_tied || is_new && is_worth_adding(question, &chosen, candidate, *score) {
            chosen.push((candidate, *score));
        }
    }
    Choice { sentences: chosen, missing: Vec::new() }
}

/// Whether two rows of a table both have the most, or the least, of what is asked for.
fn is_as_extreme(best: &SentenceCandidate, candidate: &SentenceCandidate) -> bool {
    let is_extreme = |row: &SentenceCandidate| row.is_row && row.bonus >= EXTREME;
    is_extreme(best) && is_extreme(candidate) && best.source == candidate.source
}

/// A question for one thing is answered from one source: the best sentences of several are seldom about the same thing.
fn is_worth_adding(question: &Question, chosen: &[Scored<'_>], candidate: &SentenceCandidate, score: f32) -> bool {
    let Some((best, highest)) = chosen.first() else { return true };
    let (is_list, is_same) = (question.kind == AnswerKind::List, best.source == candidate.source);
    if !is_same && !is_list {
        return false;
    }
    // Its own entry tells the rest of it; and what has a form that is not asked for, such as an example, adds little.
    if best.told_below.is_some() || best.heads_list() || candidate.bonus < 0.0 {
        return false;
    }
    // Beside the entry of an option only other entries can be the one that is asked for.
    if best.bonus >= AN_OPTION && candidate.bonus < AN_OPTION && asks_for_option(&question.asked.to_lowercase()) {
        return false;
    }
    if best.opens > 0.0 {
        return chosen.len() == 1 && goes_on(best, candidate);
    }
    // Rows of a table do not continue one another: another one is added if it says no less of what is asked.
    let is_beside = is_same && best.place.abs_diff(candidate.place) == 1 && !candidate.is_row;
    let after_others = WORTH_ADDING.get(chosen.len() - 1).copied().unwrap_or(f32::INFINITY);
    let least = if is_list { WORTH_LISTING } else { after_others };
    if is_row_of_other_name(question, best, candidate) || tells_of_other_name(question, best, candidate) {
        return true;
    }
    // What an entry says holds of that entry.
    let are_of_two = matches!((best.entry, candidate.entry), (Some(one), Some(other)) if one != other);
    if is_same && are_of_two && !is_list {
        return false;
    }
    // What the headings hold already tells two rows apart no more.
    let are_rows = best.is_row && candidate.is_row;
    let covered = |candidate: &SentenceCandidate| {
        question.terms.weight_of(if are_rows { candidate.held } else { candidate.mask })
    };
    let share = if are_rows { 1.0 } else { ON_THE_SUBJECT };
    let is_on_subject = is_beside || covered(candidate) >= share * covered(best);
    // A second sentence without the kind of thing asked for only adds surroundings to the first one.
    let has_kind = candidate.holds_kind || !best.holds_kind || is_beside;
    let length: usize = chosen.iter().map(|(chosen, _)| chosen.text.len()).sum();
    let is_brief = is_list || length + candidate.text.len() <= LONGEST_WITH_MORE;
    let is_other_row = candidate.is_row && lacks_number(question, best, candidate);
    score >= highest * least && is_on_subject && has_kind && !is_other_row && is_brief
}

/// Whether a candidate lacks a word with a digit that the question names and the best sentence holds: the row beside that of
/// "SEV1" is about something else.
fn lacks_number(question: &Question, best: &SentenceCandidate, candidate: &SentenceCandidate) -> bool {
    let mut terms = question.terms.terms().iter().enumerate();
    terms.any(|(position, term)| {
        let is_held_by = |sentence: &SentenceCandidate| sentence.mask & (1 << position) != 0;
        term.word.bytes().any(|byte| byte.is_ascii_digit()) && is_held_by(best) && !is_held_by(candidate)
    })
}

/// Whether two rows of a table each begin with one of the things that the question joins: "of Basic and Plus".
fn is_row_of_other_name(question: &Question, best: &SentenceCandidate, candidate: &SentenceCandidate) -> bool {
    let are_rows = best.is_row && candidate.is_row && best.source == candidate.source;
    let are_named = best.named > 0.0 && candidate.named > 0.0;
    are_rows && are_named && candidate.mask & !best.mask != 0 && question.asked.contains(" and ")
}

/// Whether of two names with a digit that the question joins, as in "LUKS1 and LUKS2", the best sentence holds one and this
/// one beside it the other.
fn tells_of_other_name(question: &Question, best: &SentenceCandidate, candidate: &SentenceCandidate) -> bool {
    let words: Vec<&str> = question.asked.split_whitespace().map(bare).collect();
    let joined = words.windows(3).find_map(|words| match words {
        [one, "and", other] if has_digit(one) && has_digit(other) => Some([*one, *other]),
        _ => None,
    });
    let holds = |sentence: &SentenceCandidate, name: &str| {
        sentence.text.split_whitespace().any(|word| bare(word).eq_ignore_ascii_case(name))
    };
    let is_beside = best.source == candidate.source && best.place.abs_diff(candidate.place) == 1;
    is_beside
        && candidate.holds_kind
        && joined.is_some_and(|[one, other]| {
            [(one, other), (other, one)].iter().any(|(own, its)| {
                holds(best, own) && !holds(best, its) && holds(candidate, its) && !holds(candidate, own)
            })
        })
}

/// Whether a sentence goes on with the beginning of an entry or a section that says little by itself.
fn goes_on(opening: &SentenceCandidate, next: &SentenceCandidate) -> bool {
    let is_next = next.source == opening.source && next.block == opening.block && next.place == opening.place + 1;
    opening.text.len() <= BRIEF_OPENING && is_next && !next.is_row
}

/// The best sentence for each part, and which parts have none.
pub(super) fn answer_by_part<'c>(question: &Question, ranked: &[Scored<'c>], parts: &[Part]) -> Choice<'c> {
    let mut choice = Choice { sentences: Vec::new(), missing: Vec::new() };
    let mut missing = Vec::new();
    for part in parts {
        match best_for(question, ranked, part).or_else(|| default_told(ranked, part, &choice.sentences)) {
            Some(scored) if is_said(&choice.sentences, scored.0) => {}
            Some(scored) => choice.sentences.push(scored),
            None if tells_of_part(question, &choice.sentences, part) => {}
            None => missing.push(part.missing()),
        }
    }
    if choice.sentences.is_empty() {
        return one_answer(question, ranked);
    }
    missing.dedup();
    choice.missing = missing.into_iter().filter(|sentence| is_ignorance(sentence)).collect();
    choice
}

/// The sentence that tells the default of what the part before is about, where a part asks for that alone: "and which value
/// does it have if none is given".
fn default_told<'c>(ranked: &[Scored<'c>], part: &Part, chosen: &[Scored<'c>]) -> Option<Scored<'c>> {
    let (before, _) = chosen.last().filter(|_| asks_for_default(&part.text))?;
    let is_of_same =
        |candidate: &SentenceCandidate| candidate.source == before.source && candidate.block == before.block;
    ranked.iter().find(|(candidate, _)| is_of_same(candidate) && tells_default(&candidate.text)).copied()
}

/// The best sentence for a part of the question.
pub(super) fn best_for<'c>(question: &Question, ranked: &[Scored<'c>], part: &Part) -> Option<Scored<'c>> {
    let all = question.terms.weight_of(part.mask);
    let share_of = |mask: TermMask| question.terms.weight_of(mask & part.mask) / all.max(f32::EPSILON);
    let share = |candidate: &SentenceCandidate| share_of(candidate.mask);
    // "Up to five unused days" are days of annual leave where the title says so.
    let in_place =
        |candidate: &SentenceCandidate| share(candidate) + AROUND_PART * share_of(candidate.held & !candidate.mask);
    let measure = Measure::asked_for(&part.text).filter(|_| part.kind == AnswerKind::Number);
    let holds = |candidate: &SentenceCandidate| {
        let text = candidate.text.as_str();
        // A row names roles and departments where a person is asked for.
        let is_measured = || measure.is_none_or(|measure| is_told(measure, candidate) || tells_amount(text));
        let holds_kind = candidate.is_row && part.kind == AnswerKind::Person
            || part.kind.is_held_by(&question.known, text) && is_measured();
        (in_place(candidate) >= ANSWERS_PART && holds_kind)
            || (share(candidate) >= ANSWERS_PART_IF_NAME && part.kind.may_begin(&question.known, text))
    };
    let worth = |scored: &Scored<'c>| scored.1 + share(scored.0) + HEADED_PART * share_of(scored.0.heading);
    // "By 31 March" is no number of days: a sentence that counts them comes first.
    let counted = counted(&part.text);
    // A row counts in a cell, and what it counts is the column.
    let counts = |candidate: &SentenceCandidate| {
        candidate.is_row || counted.as_deref().is_some_and(|counted| counts(&candidate.text, counted))
    };
    let fitting = ranked.iter().filter(|(candidate, _)| holds(candidate));
    let fitting = fitting.map(|scored| ((counts(scored.0), worth(scored)), *scored));
    // Of equals the one that ranks first.
    let best = fitting.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, scored)| scored)
}

/// Whether a chosen sentence holds the date, the person or the place that a part asks for, or a chosen row the number of what it
/// counts.
fn tells_of_part(question: &Question, chosen: &[Scored<'_>], part: &Part) -> bool {
    let (kind, asked) = (part.kind, &question.known);
    let tells = |text: &str| kind.is_held_by(asked, text) && kind.fit(asked, text) >= 1.0;
    match kind {
        AnswerKind::Date | AnswerKind::Person | AnswerKind::Place => {
            part.asks_of_the_same() && chosen.iter().any(|(sentence, _)| tells(&sentence.text))
        }
        AnswerKind::Number => counted(&part.text).is_some_and(|counted| {
            chosen.iter().any(|(sentence, _)| sentence.is_row && counts_in_a_column(&sentence.text, &counted))
        }),
        _ => false,
    }
}

/// Of the rows of a table below one the first whose name the question has, where it has no word of that of this one: what else a
/// row says is what is asked, of which other rows may have more.
pub(super) fn row_of_name(question: &Question, ranked: &[Scored<'_>], place: usize) -> Option<usize> {
    let asked = AskedWords::of(&question.asked);
    let is_named = |row: &SentenceCandidate| {
        let cells = columns_and_values("", &row.text);
        let name = cells.first().map(|(_, name)| without_unit(name)).unwrap_or_default();
        row.is_row && name.contains(char::is_alphabetic) && asked.hold_all(name)
    };
    let (first, score) = ranked.get(place).filter(|(first, _)| first.is_row && first.named <= 0.0)?;
    let is_before =
        |(row, other): &Scored<'_>| row.source == first.source && *other >= NAMED_ROW * score && is_named(row);
    Some(place + ranked.iter().skip(place).position(is_before)?)
}

/// The first sentence from one on that tells the number of the things that a question counts, if it is about the question as
/// much: "Tier 1" is a number of something else.
pub(super) fn that_counts(question: &Question, ranked: &[Scored<'_>], place: usize) -> Option<usize> {
    let counted = counted(&question.asked)?;
    let (first, _) = ranked.get(place).filter(|(first, _)| !first.is_row && !counts(&first.text, &counted))?;
    let held = |candidate: &SentenceCandidate| question.terms.weight_of(candidate.held);
    let tells = |(found, _): &Scored<'_>| {
        !found.is_row && counts(&found.text, &counted) && held(found) >= AS_MUCH * held(first)
    };
    Some(place + ranked.iter().skip(place).position(tells)?)
}

fn is_said(chosen: &[Scored<'_>], candidate: &SentenceCandidate) -> bool {
    // A lead-in holds the items of its list.
    let holds = |one: &SentenceCandidate, other: &SentenceCandidate| one.range.contains(&other.range.start);
    let is_within = |other: &SentenceCandidate| {
        other.source == candidate.source && (holds(other, candidate) || holds(candidate, other))
    };
    chosen.iter().any(|(other, _)| is_within(other) || says_the_same(&other.text, &candidate.text))
}

/// Whether most words of the shorter text occur in the longer one.
fn says_the_same(one: &str, two: &str) -> bool {
    let (one, two) = (distinct_words(one), distinct_words(two));
    let (short, long) = if one.len() <= two.len() { (one, two) } else { (two, one) };
    let common = short.iter().filter(|word| long.contains(*word)).count();
    #[expect(clippy::cast_precision_loss, reason = "sentences are short")]
    let share = common as f32 / short.len().max(1) as f32;
    share >= REDUNDANT
}

fn distinct_words(text: &str) -> BTreeSet<String> {
    lower_case_words(text).collect()
}
