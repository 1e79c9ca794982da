//! Whether a name is that of a person or of a place, judged by the words around it. English only.

use super::identifier::is_amount;
use super::kind::is_capitalised;
use super::known::KnownWords;
use crate::asking::languages;
use crate::lexical::calendar::is_day;
use crate::month::MONTHS;

/// Words in front of a name, also with an article between, that mark it as a place.
const BEFORE_PLACES: [&str; 23] = [
    "in",
    "at",
    "near",
    "from",
    "to",
    "into",
    "outside",
    "between",
    "through",
    "across",
    "within",
    "around",
    "throughout",
    "along",
    "of",
    "toward",
    "towards",
    "via",
    "on",
    "inside",
    "under",
    "beyond",
    "off",
];
/// The subset of these words that hardly ever stand in front of a person.
const NEVER_BEFORE_PERSONS: [&str; 12] =
    ["in", "at", "near", "into", "within", "across", "throughout", "outside", "inside", "around", "on", "through"];
/// Words in a name, or right after it, that mark it as a place.
const PLACE_WORDS: [&str; 49] = [
    "city",
    "river",
    "county",
    "island",
    "islands",
    "street",
    "avenue",
    "valley",
    "mountain",
    "mountains",
    "lake",
    "sea",
    "ocean",
    "bay",
    "coast",
    "park",
    "square",
    "bridge",
    "castle",
    "university",
    "college",
    "school",
    "church",
    "cathedral",
    "museum",
    "hall",
    "palace",
    "district",
    "province",
    "state",
    "states",
    "republic",
    "kingdom",
    "region",
    "peninsula",
    "forest",
    "desert",
    "airport",
    "station",
    "stadium",
    "village",
    "town",
    "highway",
    "road",
    "north",
    "south",
    "east",
    "west",
    "central",
];

/// A run of words with capitals.
struct Name<'t> {
    words: &'t [&'t str],
    /// The words in front of it, the nearest last.
    before: &'t [&'t str],
    /// The word after it.
    after: Option<&'t str>,
}

impl Name<'_> {
    fn has_place_word(&self) -> bool {
        let is_place_word = |word: &str| PLACE_WORDS.contains(&word.to_lowercase().as_str());
        self.words.iter().any(|word| is_place_word(word)) || self.after.is_some_and(is_place_word)
    }

    /// Whether one of these words stands in front of it, also with an article between.
    fn follows(&self, prepositions: &[&str]) -> bool {
        let is_one =
            |word: Option<&&str>| word.is_some_and(|word| prepositions.contains(&word.to_lowercase().as_str()));
        let mut before = self.before.iter().rev();
        let nearest = before.next();
        let is_article = nearest.is_some_and(|word| matches!(word.to_lowercase().as_str(), "the" | "a" | "an"));
        is_one(nearest) || (is_article && is_one(before.next()))
    }
}

/// Whether a sentence names a person that the question does not name: a name in a position where a place would not stand.
#[must_use]
pub(crate) fn names_a_person(question: &KnownWords, sentence: &str) -> bool {
    any_name(question, sentence, |name| {
        // A single word at the beginning is capitalised in any case.
        let may_be_any_word = name.before.is_empty() && name.words.len() == 1;
        let is_acronym = matches!(name.words, [word] if word.chars().all(char::is_uppercase));
        !may_be_any_word && !is_acronym && !name.has_place_word() && !name.follows(&NEVER_BEFORE_PERSONS)
    })
}

/// Whether a sentence names a person in full: by two words or more, none of which the question holds.
pub(crate) fn names_in_full(question: &KnownWords, sentence: &str) -> bool {
    any_name(question, sentence, |name| {
        name.words.len() > 1 && !name.words.iter().any(|word| question.hold_of_name(word)) && !name.has_place_word()
    })
}

/// The first person that a sentence names in full and the question does not.
pub(crate) fn first_person(question: &KnownWords, sentence: &str) -> Option<String> {
    let mut person = None;
    any_name(question, sentence, |name| {
        let is_person = name.words.len() > 1 && !name.has_place_word() && !name.follows(&NEVER_BEFORE_PERSONS);
        if is_person {
            person = Some(name.words.join(" "));
        }
        is_person
    });
    person
}

/// Whether a sentence names a place that the question does not name: by a word for a kind of place, or a preposition.
#[must_use]
pub(crate) fn names_a_place(question: &KnownWords, sentence: &str) -> bool {
    any_name(question, sentence, |name| name.has_place_word() || name.follows(&BEFORE_PLACES))
}

/// Whether one of the names in a sentence that are new to the question satisfies `is_wanted`.
fn any_name(question: &KnownWords, sentence: &str, mut is_wanted: impl FnMut(&Name<'_>) -> bool) -> bool {
    let (texts, goes_on): (Vec<&str>, Vec<bool>) = words(sentence).unzip();
    let mut start = 0;
    while let Some(word) = texts.get(start) {
        if !is_capitalised(word) {
            start += 1;
            continue;
        }
        let following = texts.iter().zip(&goes_on).skip(start + 1);
        let more = following.take_while(|(word, goes_on)| **goes_on && is_capitalised(word)).count();
        let end = start + 1 + more;
        let name = Name {
            words: texts.get(start..end).unwrap_or_default(),
            before: texts.get(..start).unwrap_or_default(),
            after: texts.get(end).copied(),
        };
        let is_new = |word: &&str| !question.hold_of_name(word);
        if name.words.iter().any(is_new) && !name.words.iter().all(|word| is_of_calendar(word)) && is_wanted(&name) {
            return true;
        }
        start = end;
    }
    false
}

/// Whether a word is a month or a day of the week, which are capitalised and nobody's name.
fn is_of_calendar(word: &str) -> bool {
    is_day(word) || MONTHS.contains(&word.to_lowercase().as_str())
}

/// Words, and whether only blanks stand between each and the one before.
pub(super) fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '-' | '.');
    let mut rest = text;
    std::iter::from_fn(move || {
        let (gap, found) = rest.split_at(rest.find(is_part)?);
        let (word, after) = found.split_at(found.find(|c| !is_part(c)).unwrap_or(found.len()));
        rest = after;
        Some((word.trim_matches(['\'', '-', '.']), gap.trim().is_empty()))
    })
    .filter(|(word, _)| !word.is_empty())
}

/// Whether a question writes a word as the name of something: with a capital within the sentence, if that tells names from
/// nouns, with a digit that makes it no amount, or as an option (`--word`).
pub(crate) fn is_named(question: &str, word: &str) -> bool {
    let Some(at) = question.find(word) else { return false };
    let before = question.get(..at).unwrap_or_default();
    let is_within = !before.trim_end().is_empty() && !before.trim_end().ends_with(['.', '?', '!', ':']);
    let is_option =
        word.starts_with('-') || before.ends_with('-') && before.trim_end_matches('-').ends_with([' ', '`', '"']);
    let has_digit =
        word.chars().any(|sign| sign.is_ascii_digit()) && word.chars().any(char::is_alphabetic) && !is_amount(word);
    let has_capital = is_within && word.starts_with(char::is_uppercase);
    has_capital && !languages::is_german(question) || is_option || has_digit
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = "Where did Ada Lovelace meet Babbage, and who else was there?";

    #[test]
    fn prepositions_and_kinds_of_places_tell_places_from_persons() {
        let question = KnownWords::of(QUESTION);
        for (sentence, person, place) in [
            ("They met at a party in London.", false, true),
            ("They met at a party in the Netherlands.", false, true),
            ("The Thames River was near.", false, true),
            ("It was Mary Somerville who introduced them.", true, false),
            ("Mary Somerville introduced them.", true, false),
            ("Charles Dickens was there, and Faraday.", true, false),
            ("They were in Paris, France, with Mary Somerville.", true, true),
            ("Ada Lovelace met Babbage.", false, false),
            ("The party was on 19 June, a Friday.", false, false),
            ("Somebody else was there.", false, false),
            ("", false, false),
        ] {
            assert_eq!(names_a_person(&question, sentence), person, "{sentence}");
            assert_eq!(names_a_place(&question, sentence), place, "{sentence}");
        }
    }
}
