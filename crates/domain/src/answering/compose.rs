//! Second step: the best one to three sentences, with their markers.

use std::collections::HashSet;
use std::ops::Range;

use super::attribute::lacks_attribute;
use super::candidate::{Role, SentenceCandidate};
use super::cells_asked::cells_asked_for;
use super::choose::{Scored, answer_by_part, one_answer, row_of_name, that_counts};
use super::confidence::{Features, LEAST, LEAST_IN_FORM};
use super::form::asks_for_default;
use super::naming::AskedWords;
use super::parts::parts;
use super::quote::marked;
use super::ranking::rank;
use super::role::OF_OFFICE;
use super::row::columns_and_values;
use super::sought::Sought;
use super::surroundings::opens_with_default;
use super::{ExtractiveAnswer, QuotedSentence};
use crate::command_options::entry_options;
use crate::evidence::Question;
use crate::evidence::kind::AnswerKind;
use crate::evidence::names::is_named;
use crate::late_interaction::Likeness;
use crate::wording::{lower_case_words, says_yes};

/// Share of what sentences above hold of the question that one which may answer must hold.
pub(super) const AS_MUCH: f32 = 0.75;

/// Share of a question for the meaning of an error that a sample of it holds.
const MOST_OF_ERROR: f32 = 0.7;

/// Difference of cosines from which another passage is nearer to the question.
pub(super) const NEARER: f32 = 0.06;

/// Lead over sentences elsewhere from which a sentence is preferred although another passage is nearer.
const CLEAR_LEAD: f32 = 0.1;

/// Bonus from which a sentence or a row has the form that the question asks for.
const IN_FORM: f32 = 0.5;

/// Share of the score of a row from which another one of its table may come before it.
const NEARLY: f32 = 0.9;

/// Most rows of a table that are given as an answer although nothing tells them apart.
const MOST_ALIKE: usize = 2;

/// Longest sentence with what follows it in its paragraph, in bytes.
const BRIEF_PARAGRAPH: usize = 300;

/// Longest sentence, in bytes, that is quoted because it stands between two.
const LONGEST_BETWEEN: usize = 300;

/// Writes the answer, or returns `None` when no candidate is related to the question.
///
/// `likenesses` runs parallel to `candidates`: question against [`SentenceCandidate::embedded`]. Without it,
/// or with another length, words alone decide.
#[must_use]
pub fn compose(
    question: &Question,
    candidates: &[SentenceCandidate],
    likenesses: Option<&[Likeness]>,
) -> Option<ExtractiveAnswer> {
    let likenesses = likenesses.filter(|likenesses| likenesses.len() == candidates.len());
    let mut ranked = rank(candidates, likenesses);
    let may_stand = |candidate: &SentenceCandidate| !candidate.is_fragment && !is_echo(question, candidate);
    ranked.retain(|(candidate, _)| may_stand(candidate));
    let parts = parts(question);
    let sought = Sought::of(question);
    if parts.is_empty() {
        begin_with_an_answer(&sought, &mut ranked);
    }
    let choice =
        if parts.is_empty() { one_answer(question, &ranked) } else { answer_by_part(question, &ranked, &parts) };
    let likeness = |candidate: &SentenceCandidate| {
        let place = candidates.iter().position(|other| std::ptr::eq(other, candidate));
        place.and_then(|place| likenesses?.get(place)).copied().unwrap_or(Likeness::of_cosine(0.0))
    };
    let best = *choice.sentences.first()?;
    let features = Features::of(question, best, &ranked, likeness);
    let is_in_form = best.0.bonus >= IN_FORM || best.0.role == Role::ReleaseLine || is_row_asked_for(question, best.0);
    let least = if is_in_form { LEAST_IN_FORM } else { LEAST };
    let lacks_kind = parts.is_empty() && !sought.is_told_by(&choice.sentences);
    let is_told = matches!(best.0.role, Role::ReleaseHeading | Role::SettingField);
    let is_rivalled =
        parts.is_empty() && best.0.role != Role::SettingField && is_rivalled(&choice.sentences, &features);
    let goes_below = parts.is_empty();
    let chosen = in_reading_order(choice.sentences);
    let chosen = if parts.is_empty() {
        with_rest_of_paragraph(question, with_gaps_closed(chosen, candidates), candidates)
    } else {
        chosen
    };
    let mut answer = write(question, &chosen, features, goes_below);
    (answer.lacks_kind, answer.is_rivalled) = (lacks_kind, is_rivalled);
    let is_doubted = features.probability() < least && !is_told;
    let is_silent = lacks_attribute(question, best.0) || says_neither(question, best.0);
    answer.is_unlikely = is_doubted || is_silent || is_one_of_alike(question, best.0, &ranked);
    answer.name_missing(&choice.missing);
    Some(answer)
}

/// Leaves out what ranks above the first sentence that can answer: sentences about something else than the weightiest name
/// of the question, for "how many" and "when" those without a number or a date, for a definition those that neither hold the
/// weightiest word of the question, under their heading at least, nor have the form of an entry or a definition.
fn begin_with_an_answer(sought: &Sought<'_>, ranked: &mut Vec<Scored<'_>>) {
    let question = sought.question;
    let terms = question.terms.terms().iter().enumerate();
    let heaviest = terms.max_by(|(_, one), (_, two)| one.weight.total_cmp(&two.weight));
    let weightiest = heaviest.map_or(0, |(position, _)| 1 << position);
    let name = heaviest.filter(|(_, term)| is_named(&question.text, &term.word)).map_or(0, |_| weightiest);
    let may_answer = |candidate: &SentenceCandidate| match question.kind {
        AnswerKind::Definition if !sought.is_for_limit => {
            (candidate.mask | candidate.heading) & weightiest != 0 || candidate.bonus > 0.0 || candidate.opens > 0.0
        }
        // One sentence among several makes a list, whatever stands first.
        AnswerKind::List => true,
        _ => sought.may_be(candidate),
    };
    let first = |may: &dyn Fn(&Scored<'_>) -> bool| ranked.iter().position(may);
    let is_named = |(candidate, _): &Scored<'_>| candidate.held & name == name;
    let answers = first(&|scored| may_answer(scored.0) && is_named(scored));
    let answers = answers.filter(|place| is_on_subject(question, ranked, *place));
    let answers = answers.or_else(|| first(&is_named)).unwrap_or(0);
    let answers = row_that_holds_more(ranked, answers).unwrap_or(answers);
    let answers = row_of_name(question, ranked, answers).unwrap_or(answers);
    let answers = that_counts(question, ranked, answers).unwrap_or(answers);
    ranked.drain(..answers);
}

/// Of the rows of a table below one the first that holds all that it holds of the question, and more.
fn row_that_holds_more(ranked: &[Scored<'_>], place: usize) -> Option<usize> {
    let (first, score) = ranked.get(place).filter(|(first, _)| first.is_row)?;
    let holds_more = |(row, other): &Scored<'_>| {
        let is_beside = row.is_row && row.source == first.source;
        is_beside && row.held & first.held == first.held && row.held != first.held && *other >= NEARLY * score
    };
    let below = ranked.iter().skip(place + 1).position(holds_more)?;
    Some(place + 1 + below)
}

/// Whether all words of a sentence are the question's, so that it gives the question back, as the error that is asked about.
fn is_echo(question: &Question, sentence: &SentenceCandidate) -> bool {
    let leads_in = !sentence.items.is_empty() || sentence.code.is_some();
    // "It is thread-safe" has the words of the question whether it is.
    let may_affirm = question.kind == AnswerKind::YesNo && !sentence.text.trim_end().ends_with('?');
    if sentence.is_row || sentence.role == Role::ReleaseLine || leads_in || may_affirm {
        return false;
    }
    let asked: HashSet<String> = lower_case_words(&question.text).collect();
    lower_case_words(&sentence.text).all(|word| asked.contains(&word)) || is_sample(question, sentence)
}

/// Whether a sentence is a sample of the error whose meaning is asked for: it holds all of it, and says nothing about it.
fn is_sample(question: &Question, sentence: &SentenceCandidate) -> bool {
    const OF_ERRORS: [&str; 5] = ["error", "errors", "warning", "message", "exception"];
    const TELLING: [&str; 12] =
        ["because", "caused", "happens", "if", "indicates", "is", "means", "occurs", "points", "says", "tells", "when"];
    let asked: Vec<String> = lower_case_words(&question.asked).collect();
    let is_for_meaning = asked.iter().any(|word| matches!(word.as_str(), "mean" | "means" | "meaning"));
    let is_of_error = asked.iter().any(|word| OF_ERRORS.contains(&word.as_str()));
    let tells = || lower_case_words(&sentence.text).any(|word| TELLING.contains(&word.as_str()));
    is_for_meaning && is_of_error && question.terms.share(sentence.mask) >= MOST_OF_ERROR && !tells()
}

/// Whether a sentence below others holds nearly as much of the question as any of them: else it tells a number of something
/// else.
fn is_on_subject(question: &Question, ranked: &[Scored<'_>], place: usize) -> bool {
    let held = |(candidate, _): &Scored<'_>| question.terms.weight_of(candidate.held);
    let above = ranked.iter().take(place).map(held).fold(0.0, f32::max);
    ranked.get(place).is_some_and(|found| held(found) >= AS_MUCH * above)
}

/// Whether the best sentence stands in a passage that is not the nearest, without a clear lead over sentences elsewhere. Over
/// manuals such answers were wrong three times in five, other ones one time in five.
fn is_rivalled(chosen: &[Scored<'_>], features: &Features) -> bool {
    chosen.first().is_some_and(|(best, _)| best.behind > NEARER) && features.margin() < CLEAR_LEAD
}

/// Whether a row of a table holds all that a question of several words says, or the question names a cell of it, and it holds the
/// kind of thing asked for.
fn is_row_asked_for(question: &Question, best: &SentenceCandidate) -> bool {
    let is_told = question.terms.terms().len() > 1 || best.bonus >= OF_OFFICE;
    let holds_all = is_told && question.terms.share(best.held) >= 1.0;
    let is_singled_out = holds_all || AskedWords::of(&question.asked).name_cell(&columns_and_values("", &best.text));
    best.is_row && best.holds_kind && is_singled_out
}

/// Whether the best sentence is a row of a table that holds nothing of the question, or others beside it hold as much and fit it
/// as well, but not all of it: nothing tells them apart.
fn is_one_of_alike(question: &Question, best: &SentenceCandidate, ranked: &[Scored<'_>]) -> bool {
    let is_alike = |(other, _): &&Scored<'_>| {
        let is_beside = other.is_row && other.source == best.source;
        is_beside && other.mask == best.mask && (other.bonus - best.bonus).abs() < f32::EPSILON
    };
    let is_whole = question.terms.share(best.held) >= 1.0;
    best.is_row && (best.held == 0 || !is_whole && ranked.iter().filter(is_alike).count() > MOST_ALIKE)
}

/// Whether a row of a table that lacks a word of a question for yes or no says neither in the cells that are asked for.
fn says_neither(question: &Question, best: &SentenceCandidate) -> bool {
    let is_about = question.kind == AnswerKind::YesNo && best.is_row && question.terms.share(best.held) < 1.0;
    let asked = || cells_asked_for(question, &best.text);
    is_about && !columns_and_values("", &asked()).iter().any(|(_, value)| says_yes(value).is_some())
}

/// Best first, but sentences of one source stand in that source's order.
fn in_reading_order(mut chosen: Vec<Scored<'_>>) -> Vec<Scored<'_>> {
    let mut sources: Vec<usize> = Vec::new();
    for (candidate, _) in &chosen {
        if !sources.contains(&candidate.source) {
            sources.push(candidate.source);
        }
    }
    let turn = |source: usize| sources.iter().position(|known| *known == source);
    chosen.sort_by_key(|(candidate, _)| (turn(candidate.source), candidate.place));
    chosen
}

/// The chosen sentences in order, with the one that stands between two of a paragraph: without it the second would go on with
/// something else than the first.
fn with_gaps_closed<'c>(chosen: Vec<Scored<'c>>, candidates: &'c [SentenceCandidate]) -> Vec<Scored<'c>> {
    let mut closed: Vec<Scored<'c>> = Vec::new();
    for (next, score) in chosen {
        let before = closed.last().filter(|(before, _)| {
            let is_same = before.source == next.source && before.block == next.block;
            is_same && before.place + 2 == next.place && !before.is_row && !next.is_row
        });
        let between = before.and_then(|(before, _)| {
            let found = sentence_after(before, 1, candidates).filter(|found| !found.is_fragment)?;
            let is_said = before.range.end > found.range.start || found.range.end > next.range.start;
            (found.text.len() <= LONGEST_BETWEEN && !is_said).then_some(found)
        });
        closed.extend(between.map(|between| (between, score)));
        closed.push((next, score));
    }
    closed
}

/// The chosen sentences in order, the best one with what follows it to the end of a brief paragraph: of a yes or no that may be
/// the condition or the exception, of an entry the value.
fn with_rest_of_paragraph<'c>(
    question: &Question,
    mut chosen: Vec<Scored<'c>>,
    candidates: &'c [SentenceCandidate],
) -> Vec<Scored<'c>> {
    let Some((best, score)) = chosen.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })
    else {
        return chosen;
    };
    let asks_for_value = matches!(question.kind, AnswerKind::Number | AnswerKind::Date | AnswerKind::Person)
        || asks_for_default(&question.asked);
    let is_entry = !entry_options(&best.text).is_empty() || best.opens > 0.0;
    let next = sentence_after(best, 1, candidates);
    let leads_to_default = next.is_some_and(|next| opens_with_default(&next.text));
    let goes_on = question.kind == AnswerKind::YesNo || (is_entry || leads_to_default) && !asks_for_value;
    let is_whole = best.is_row || !best.items.is_empty() || best.code.is_some() || best.told_below.is_some();
    if !goes_on || is_whole {
        return chosen;
    }
    let goes_on = |found: &&SentenceCandidate| !found.is_fragment && found.bonus >= 0.0 && !is_echo(question, found);
    let mut length = best.text.len();
    for next in (1..).map_while(|distance| sentence_after(best, distance, candidates).filter(goes_on)) {
        length += next.text.len();
        if length > BRIEF_PARAGRAPH {
            break;
        }
        if !chosen.iter().any(|(other, _)| std::ptr::eq(*other, next)) {
            chosen.push((next, score));
        }
    }
    in_reading_order(chosen)
}

/// The candidate so many sentences after one in its paragraph.
fn sentence_after<'c>(
    sentence: &SentenceCandidate,
    distance: usize,
    candidates: &'c [SentenceCandidate],
) -> Option<&'c SentenceCandidate> {
    let is_it = |found: &&SentenceCandidate| {
        let is_beside = found.source == sentence.source && found.block == sentence.block;
        is_beside && found.place == sentence.place + distance
    };
    candidates.iter().find(is_it)
}

/// Writes the chosen sentences; `goes_below` if the sentence below one may tell what is asked for.
fn write(question: &Question, chosen: &[Scored<'_>], features: Features, goes_below: bool) -> ExtractiveAnswer {
    let mut answer = ExtractiveAnswer {
        text: String::new(),
        sentences: Vec::new(),
        features,
        lacks_kind: false,
        is_rivalled: false,
        is_unlikely: false,
    };
    let mut before: Option<&SentenceCandidate> = None;
    for (candidate, score) in chosen {
        // Sentences that do not stand beside each other are quoted in paragraphs of their own.
        let is_beside = |before: &SentenceCandidate| {
            before.source == candidate.source && candidate.place.abs_diff(before.place) <= 1
        };
        if before.is_some_and(|before| !is_beside(before)) {
            answer.text.push_str("\n\n");
        }
        before = Some(candidate);
        let is_there = |answer: &ExtractiveAnswer, range: &Range<usize>| {
            let holds =
                |source: usize, other: &Range<usize>| source == candidate.source && other.contains(&range.start);
            answer.sentences.iter().any(|said| holds(said.source, &said.range))
                || chosen.iter().any(|(other, _)| holds(other.source, &other.range))
        };
        if let Some((range, text)) = candidate.context.as_ref().filter(|(range, _)| !is_there(&answer, range)) {
            answer.push(text, candidate.source, range.clone(), *score, true);
        }
        let text = if candidate.is_row { cells_asked_for(question, &candidate.text) } else { candidate.text.clone() };
        answer.push(&text, candidate.source, candidate.range.clone(), *score, false);
        let below = candidate.told_below.as_ref().filter(|_| goes_below);
        if let Some((range, text)) = below.filter(|(range, _)| !is_there(&answer, range)) {
            answer.push(text, candidate.source, range.clone(), *score, true);
        }
        if let Some((range, text)) = candidate.taken_back.as_ref().filter(|(range, _)| !is_there(&answer, range)) {
            answer.push(text, candidate.source, range.clone(), *score, true);
        }
        answer.list(&candidate.items, candidate.source);
        if let Some(code) = &candidate.code {
            answer.text.push_str("\n\n");
            answer.text.push_str(code);
        }
    }
    answer
}

impl ExtractiveAnswer {
    /// Whether its best sentence is so unlikely to answer that the passage around it is given instead.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.lacks_kind || self.is_rivalled || self.is_unlikely
    }

    /// Its best sentence.
    #[must_use]
    pub fn best(&self) -> Option<&QuotedSentence> {
        let own = self.sentences.iter().filter(|sentence| !sentence.is_context);
        own.reduce(|best, next| if next.score > best.score { next } else { best })
    }

    /// Ends with what the sources lack, each in a paragraph of its own.
    fn name_missing(&mut self, missing: &[String]) {
        for sentence in missing {
            self.text.push_str("\n\n");
            self.text.push_str(sentence);
        }
    }

    /// The items of a list, line by line.
    fn list(&mut self, items: &[String], source: usize) {
        for (place, item) in items.iter().enumerate() {
            self.text.push_str(if place == 0 { "\n\n- " } else { "\n- " });
            self.text.push_str(&marked(item, source + 1));
        }
    }

    /// Whether what stands before its last marker ends like a sentence.
    fn ends_plainly(&self) -> bool {
        self.text.rsplit_once(" [^").is_some_and(|(text, _)| ends_plainly(text))
    }

    /// Whether a sentence would run on in the list or the code at its end.
    fn ends_with_list(&self) -> bool {
        self.text.lines().next_back().is_some_and(|line| line.starts_with("- ") || line.starts_with("```"))
    }

    fn push(&mut self, text: &str, source: usize, range: Range<usize>, score: f32, is_context: bool) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            // Text that does not end like a sentence would run into the next one, and so would a row of a table.
            let follows_row = self.text.lines().next_back().is_some_and(is_row);
            let is_apart = is_row(text) || follows_row || self.ends_with_list();
            let breaks = is_apart || !ends_plainly(text) || !self.ends_plainly();
            self.text.push_str(if breaks { "\n\n" } else { " " });
        }
        self.text.push_str(&marked(text, source + 1));
        self.sentences.push(QuotedSentence { source, range, score, is_context });
    }
}

/// Whether a line shows the cells of a row of a table.
fn is_row(line: &str) -> bool {
    line.contains(" | ")
}

/// Whether a text ends like a sentence, signs of Markdown left out.
fn ends_plainly(text: &str) -> bool {
    text.trim_end_matches(['*', '_', '~', '`']).ends_with(['.', '!', '"', '”', '。', ')'])
}
