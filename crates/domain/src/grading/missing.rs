//! The aspects of a question that the evidence found so far does not hold: they steer the next query, and tell the asker
//! why there is no answer.

use serde_json::Value;

use crate::{
    asking::is_instruction,
    evidence::{Question, QuestionTerm, TermMask, frame},
    json_in_text,
    lexical::unspaced::is_bigram,
};

/// Most aspects that are named.
const MOST: usize = 4;
/// Longest aspect that is named, in characters.
const LONGEST: usize = 120;
/// Weight, as a share of the weightiest term's, from which a term of the question is an aspect of its own.
const WEIGHTY: f32 = 0.35;
/// Words that ask for something without being it: "how many", "what kind".
const FRAME: [&str; 15] = [
    "happen", "happens", "many", "much", "long", "often", "far", "kind", "kinds", "sort", "get", "gets", "do", "does",
    "whose",
];
/// The word that begins the line, and names the member, in which a model tells what is missing.
const LABEL: &str = "missing";

/// The weighty terms of a question that no correct passage holds, in the order of the question. `correct` gives the
/// terms that each correct passage holds.
#[must_use]
pub fn uncovered(question: &Question, correct: impl IntoIterator<Item = TermMask>) -> Vec<String> {
    let covered = correct.into_iter().fold(0, |all, mask| all | mask);
    let terms = question.terms.terms();
    let heaviest = terms.iter().map(|term| term.weight).fold(0.0, f32::max);
    let is_open = |(position, _): &(usize, _)| covered & (1 << position) == 0;
    let open = terms.iter().enumerate().filter(is_open).map(|(_, term)| term);
    let is_asked_for = |term: &&QuestionTerm| {
        let word = term.word.to_lowercase();
        !FRAME.contains(&word.as_str()) && !frame::relates(&term.stem) && !is_instruction(&word)
    };
    let is_named = |term: &&QuestionTerm| term.weight >= heaviest * WEIGHTY && term.word.chars().count() <= LONGEST;
    let weighty = open.filter(is_asked_for).filter(is_named);
    let mut named = joined(weighty.map(|term| term.word.as_str()));
    named.truncate(MOST);
    named
}

/// Words, those of a text without spaces as its longest stretches: of "マニ", "ニュ" and "ュア" it makes "マニュア".
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    let mut before = "";
    for word in words {
        let shared = word.chars().next().filter(|_| is_bigram(word) && is_bigram(before));
        let goes_on = shared.is_some_and(|first| before.ends_with(first));
        match joined.last_mut().filter(|stretch| goes_on && stretch.chars().count() < LONGEST) {
            Some(stretch) => stretch.extend(word.chars().last()),
            // The parts of "max_lids" are terms, and all of it is the word.
            None if word == before => {}
            None => joined.push(word.to_owned()),
        }
        before = word;
    }
    joined
}

/// The aspects that a grading model names: in the member `missing` of its JSON, or in a line `missing: one; another`. Empty
/// if it says that nothing is missing, `None` if it says nothing about it.
#[must_use]
pub fn read(reply: &str) -> Option<Vec<String>> {
    let in_json = json_in_text::values(reply).iter().find_map(|value| value.get(LABEL).cloned());
    let is_list = matches!(in_json, Some(Value::Array(_)));
    let named: Vec<String> = match in_json {
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect(),
        Some(Value::String(text)) => split(&text),
        Some(_) => return None,
        None => split(reply.lines().find_map(line)?),
    };
    let tidy = |text: String| text.trim_matches(|c: char| c.is_whitespace() || ".\"'`*-".contains(c)).to_owned();
    let named: Vec<String> = named.into_iter().map(tidy).collect();
    let is_none = named.iter().all(|text| is_nothing(text)) && (is_list || !named.is_empty());
    let aspects: Vec<String> = named.into_iter().filter(|text| is_aspect(text)).take(MOST).collect();
    (is_none || !aspects.is_empty()).then_some(aspects)
}

/// A reply without the line that tells what is missing, which is no verdict.
#[must_use]
pub(super) fn without_line(reply: &str) -> String {
    reply.lines().filter(|text| line(text).is_none()).collect::<Vec<_>>().join("\n")
}

/// The content of a line that tells what is missing.
fn line(text: &str) -> Option<&str> {
    let start = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label = start.get(..LABEL.len()).filter(|label| label.eq_ignore_ascii_case(LABEL))?;
    start.get(label.len()..)?.trim_start_matches(['*', ' ']).strip_prefix(':')
}

fn split(text: &str) -> Vec<String> {
    text.split(';').map(str::to_owned).collect()
}

fn is_nothing(text: &str) -> bool {
    ["none", "nothing", "n/a", "no", "nothing is missing", "nothing missing"].contains(&text.to_lowercase().as_str())
}

fn is_aspect(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric) && text.chars().count() <= LONGEST && !is_nothing(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn weighty_terms_that_no_correct_passage_holds_are_named() {
        let question =
            Question::new(<&Analyzer>::default(), "How many days of parental leave do contractors get?", 100, |stem| {
                if stem == "day" { 90 } else { 3 }
            });
        let all: Vec<String> = uncovered(&question, []);
        assert_eq!(all, ["parental", "leave", "contractors"]);
        let mask = question.terms.mask_of(<&Analyzer>::default(), "Parental leave is paid.");
        assert_eq!(uncovered(&question, [mask]), ["contractors"]);
    }

    #[test]
    fn verbs_of_the_frame_are_not_missing() {
        let question = Question::new(<&Analyzer>::default(), "To which shelf does the blue jar belong?", 100, |stem| {
            if stem == "belong" { 0 } else { 3 }
        });
        assert_eq!(uncovered(&question, []), ["shelf", "blue", "jar"]);
        assert_eq!(question.terms.unknown_words().count(), 0);
    }

    #[test]
    fn what_is_missing_of_a_text_without_spaces_is_no_pair_of_characters() {
        let question = Question::new(<&Analyzer>::default(), "休暇マニュアル?", 100, |_| 3);
        assert_eq!(uncovered(&question, []), ["休暇マニュアル"]);
        let mask = question.terms.mask_of(<&Analyzer>::default(), "休暇");
        assert_eq!(uncovered(&question, [mask]), ["暇マニュアル"]);
    }

    #[test]
    fn a_word_of_several_terms_is_named_once() {
        let question = Question::new(<&Analyzer>::default(), "What is paint.max_lids?", 100, |_| 3);
        assert_eq!(uncovered(&question, []), ["paint.max_lids"]);
    }

    #[test]
    fn a_model_names_what_is_missing_in_a_line_or_a_member() {
        let too_long = format!("1: correct\nmissing: {}", "the year ".repeat(20));
        let rows: [(&str, Option<&[&str]>); 15] = [
            ("1: correct\nmissing: the year; who signed it", Some(&["the year", "who signed it"])),
            ("1: correct\n**Missing**: the year.", Some(&["the year"])),
            ("{\"grades\": [], \"missing\": [\"the year\"]}", Some(&["the year"])),
            ("{\"grades\": [], \"missing\": \"the year\"}", Some(&["the year"])),
            ("{\"grades\": [], \"missing\": [\"none\", \"the year\"]}", Some(&["the year"])),
            ("{\"grades\": [], \"missing\": []}", Some(&[])),
            ("{\"grades\": [], \"missing\": \"none\"}", Some(&[])),
            ("1: correct\nmissing: none", Some(&[])),
            ("1: correct\nMissing: nothing.", Some(&[])),
            ("1: correct\nmissing:", None),
            ("{\"grades\": [], \"missing\": null}", None),
            ("{\"grades\": [], \"missing\": [{\"part\": \"the year\"}]}", None),
            ("1: incorrect - the year is missing", None),
            (&too_long, None),
            ("", None),
        ];
        for (reply, expected) in rows {
            assert_eq!(
                read(reply).as_deref(),
                expected.map(|named| named.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).as_deref(),
                "{reply}"
            );
        }
        assert_eq!(without_line("1: correct\nmissing: the year\n2: incorrect"), "1: correct\n2: incorrect");
    }
}
