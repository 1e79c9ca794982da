//! Words that ask in languages other than English.
//!
//! A question is read by its own words, whatever the language of the collection: the same documents are asked about in
//! several. Only openings that no other of these languages has count ("wie" asks for a manner in German, for a person in
//! Dutch).

use crate::evidence::kind::AnswerKind;
use crate::lexical::language::Language;
use crate::wording::lower_case_words;

use AnswerKind::{Date, Number, Person, Place};

/// Openings of a German question in lower case, and the kind of thing that they ask for.
const GERMAN_OPENINGS: [(&str, AnswerKind); 28] = [
    ("wie viele", Number),
    ("wie viel", Number),
    ("wieviel", Number),
    ("wieviele", Number),
    ("wie lange", Number),
    ("wie hoch", Number),
    ("wie oft", Number),
    ("wie alt", Number),
    ("wie groß", Number),
    ("wie weit", Number),
    ("wie schwer", Number),
    ("wie schnell", Number),
    ("wie teuer", Number),
    ("was kostet", Number),
    ("wann", Date),
    ("bis wann", Date),
    ("ab wann", Date),
    ("seit wann", Date),
    ("wer", Person),
    ("wen", Person),
    ("wem", Person),
    ("wessen", Person),
    ("an wen", Person),
    ("bei wem", Person),
    ("mit wem", Person),
    ("wo", Place),
    ("wohin", Place),
    ("woher", Place),
];

/// The same of other languages.
const OTHER_OPENINGS: [(&str, AnswerKind); 48] = [
    // French
    ("combien", Number),
    ("quand", Date),
    ("qui", Person),
    ("à qui", Person),
    ("où", Place),
    // Spanish
    ("cuántos", Number),
    ("cuántas", Number),
    ("cuánto", Number),
    ("cuánta", Number),
    ("cuándo", Date),
    ("quién", Person),
    ("quiénes", Person),
    ("dónde", Place),
    // Italian
    ("quanti", Number),
    ("quante", Number),
    ("quanto costa", Number),
    ("chi", Person),
    ("dove", Place),
    ("dov è", Place),
    // Italian and Portuguese
    ("quando", Date),
    // Portuguese
    ("quantos", Number),
    ("quantas", Number),
    ("quem", Person),
    ("onde", Place),
    // Dutch
    ("hoeveel", Number),
    ("hoe lang", Number),
    ("hoe vaak", Number),
    ("wanneer", Date),
    ("waar", Place),
    // Danish and Norwegian
    ("hvor mange", Number),
    ("hvor meget", Number),
    ("hvor mye", Number),
    ("hvor lenge", Number),
    ("hvor længe", Number),
    ("hvornår", Date),
    ("hvem", Person),
    ("hvor", Place),
    // Swedish
    ("hur många", Number),
    ("hur mycket", Number),
    ("hur länge", Number),
    ("när", Date),
    ("vem", Person),
    // Polish
    ("ile", Number),
    ("jak długo", Number),
    ("kiedy", Date),
    ("kto", Person),
    ("komu", Person),
    ("gdzie", Place),
];

/// Other words that begin a German question or instruction. "Was" begins an English one too.
const GERMAN: [&str; 21] = [
    "wie", "warum", "wieso", "weshalb", "welche", "welcher", "welches", "welchen", "welchem", "womit", "wofür", "darf",
    "dürfen", "kann", "können", "muss", "müssen", "gibt", "ist", "sind", "habe",
];

/// Words that ask, which lists of stop words lack.
const ASKING: [(Language, &[&str]); 9] = [
    (
        Language::German,
        &[
            "wann", "warum", "wem", "wen", "wer", "wessen", "wieso", "weshalb", "wieviel", "viele", "wo", "woher",
            "wohin",
        ],
    ),
    (
        Language::French,
        &["combien", "comment", "où", "pourquoi", "quand", "quel", "quelle", "quels", "quelles", "quoi"],
    ),
    (Language::Spanish, &["cuál", "cuáles", "cuándo", "cuánta", "cuántas", "cuánto", "cuántos", "dónde", "quién"]),
    (Language::Italian, &["chi", "come", "dove", "perché", "quale", "quali", "quando", "quante", "quanti", "quanto"]),
    (Language::Portuguese, &["como", "onde", "qual", "quais", "quando", "quanto", "quantos", "quantas", "quem"]),
    (Language::Dutch, &["hoe", "hoeveel", "waar", "waarom", "wanneer", "wat", "welk", "welke", "wie"]),
    (Language::Danish, &["hvad", "hvem", "hvilken", "hvilke", "hvor", "hvordan", "hvorfor", "hvornår", "mange"]),
    (Language::Norwegian, &["hva", "hvem", "hvilken", "hvilke", "hvor", "hvordan", "hvorfor", "når", "mange"]),
    (Language::Swedish, &["hur", "många", "när", "vad", "var", "varför", "vem", "vilka", "vilken", "vilket"]),
];

/// The kind of thing that a question asks for in another language than English; `None` where its opening is not known.
pub(crate) fn kind_of(question: &str) -> Option<AnswerKind> {
    let words: Vec<String> = lower_case_words(question).take(2).collect();
    let (first, two) = (words.first()?, words.join(" "));
    let openings = || GERMAN_OPENINGS.iter().chain(&OTHER_OPENINGS);
    let known = |opening: &str| openings().find(|(words, _)| *words == opening).map(|(_, kind)| *kind);
    known(&two).or_else(|| known(first))
}

/// Whether a question is German, in which all nouns have a capital.
pub(crate) fn is_german(question: &str) -> bool {
    let mut words = lower_case_words(question);
    let Some(first) = words.next() else { return false };
    let of_german = |word: &str| {
        let opens = |(opening, _): &(&str, AnswerKind)| opening.split(' ').next() == Some(word);
        GERMAN_OPENINGS.iter().any(opens) || GERMAN.contains(&word)
    };
    let asks = |word: &str| GERMAN_OPENINGS.iter().any(|(opening, _)| *opening == word) || GERMAN.contains(&word);
    // "was" stands among the openings; "An" and "bei" begin no question alone.
    match first.as_str() {
        "was" => {
            words.next().is_some_and(|next| next == "kostet" || next == "passiert" || GERMAN.contains(&next.as_str()))
        }
        "an" | "ab" | "bis" | "seit" | "bei" | "mit" => words.next().is_some_and(|next| asks(&next)),
        first => of_german(first),
    }
}

/// Words that ask in a language, beyond its stop words.
pub(crate) fn words_of(language: Language) -> &'static [&'static str] {
    ASKING.iter().find(|(asking, _)| *asking == language).map_or(&[], |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_other_languages_ask_for_kinds() {
        for (question, kind) in [
            ("Wie viele Tage Urlaub habe ich?", Some(Number)),
            ("Bis wann muss ich mich melden?", Some(Date)),
            ("Wen rufe ich an?", Some(Person)),
            ("Wo ist der Parkplatz?", Some(Place)),
            ("Combien de jours de congé ai-je ?", Some(Number)),
            ("Où est le parking ?", Some(Place)),
            ("¿Cuándo abre la oficina?", Some(Date)),
            ("Chi è il responsabile?", Some(Person)),
            ("Dov'è l'ufficio?", Some(Place)),
            ("Hoeveel kost het?", Some(Number)),
            ("Hvor mange dage får jeg?", Some(Number)),
            ("Hvor er kontoret?", Some(Place)),
            ("Kiedy kończy się umowa?", Some(Date)),
            ("Wie beantrage ich Urlaub?", None),
            ("What is a wen?", None),
            ("When?", None),
            ("", None),
        ] {
            assert_eq!(kind_of(question), kind, "{question}");
        }
    }

    #[test]
    fn german_is_told_by_its_first_words() {
        for german in
            ["Wen rufe ich an?", "Was ist Absentia?", "An wen melde ich mich?", "Darf ich fliegen?", "Wie geht das?"]
        {
            assert!(is_german(german), "{german}");
        }
        for other in ["Was Rome built in a day?", "An order", "Who is Wen?", "Où est Berlin ?", "mit", "ab ab", ""] {
            assert!(!is_german(other), "{other}");
        }
    }
}
