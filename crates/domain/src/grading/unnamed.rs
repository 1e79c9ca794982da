//! Whether a question names something that none of its passages is about. A statement about its neighbours is then no answer.

use super::features::Passage;
use crate::asking::is_auxiliary;
use crate::evidence::kind::AnswerKind;
use crate::evidence::names::is_named;
use crate::evidence::passage::{PassageEvidence, SentenceEvidence};
use crate::evidence::{Question, TermMask};
use crate::lexical::unspaced::is_bigram;
use crate::month::MONTHS;
use crate::wording::lower_case_words;

/// Most words of the name of an office.
const MOST_OF_OFFICE: usize = 4;

/// Fewest pairs of characters of a question without spaces: one or two make a name.
const FEWEST_BIGRAMS: u32 = 3;

/// Share of the question's weight in a passage from which the passage is about what the question names besides a number.
const ABOUT_THE_REST: f32 = 0.5;

/// Whether the passages of a round are about something else than what the question names. `held` are the terms of the question
/// that some of them hold.
pub(super) fn is_about_something_else(question: &Question, evidence: &[PassageEvidence], held: TermMask) -> bool {
    names_something_foreign(question, held)
        || is_in_foreign_script(question, held)
        || is_about_another_number(question, evidence, held)
        || asks_for_office_unnamed(question, evidence)
}

/// Whether the question is about something that the collections never name: its weightiest term is a name, no chunk
/// holds it, and no passage has it in another spelling. A statement about its neighbours is then no answer.
fn names_something_foreign(question: &Question, held: TermMask) -> bool {
    let terms = question.terms.terms();
    let heaviest = terms.iter().map(|term| term.weight).fold(0.0, f32::max);
    terms.iter().enumerate().any(|(position, term)| {
        let is_foreign = term.document_frequency == 0 && held & (1 << position) == 0;
        // Whether something holds in a place may be told by a sentence about all places, or about others.
        let is_place = question.kind == AnswerKind::YesNo && is_in_place(&question.text, &term.word);
        let is_named = is_named(&question.text, &term.word) && !is_place
            || narrows(&question.text, &term.word)
            || is_of_identifier(&question.text, &term.word);
        is_foreign && term.weight >= heaviest && is_named
    })
}

/// Whether the question is written without spaces, and no chunk holds anything of what is: a name between such characters is all
/// that the documents could be about.
fn is_in_foreign_script(question: &Question, held: TermMask) -> bool {
    let unspaced = question.terms.mask_where(|term| is_bigram(&term.word));
    let known = question.terms.mask_where(|term| term.document_frequency > 0) | held;
    unspaced.count_ones() >= FEWEST_BIGRAMS && unspaced & known == 0
}

/// Whether the question names a year or an identifier that no chunk holds, or an identifier that no passage about the rest of
/// the question holds: a statement about another version is then no answer.
fn is_about_another_number(question: &Question, evidence: &[PassageEvidence], held: TermMask) -> bool {
    if is_of_another_model(question, held) {
        return true;
    }
    let amounts = decimal_amounts(question);
    let unheard_of = question.terms.unheard_of() & !held & !amounts != 0;
    let identifiers = question.terms.all_identifiers() & !amounts;
    let is_about_it = |evidence: &PassageEvidence| {
        let mask = evidence.mask();
        mask & identifiers == identifiers && question.terms.share(mask) >= ABOUT_THE_REST
    };
    unheard_of || identifiers != 0 && !evidence.iter().any(is_about_it)
}

/// Whether the question names a model by a name and a number right after it, and no passage holds the number.
fn is_of_another_model(question: &Question, held: TermMask) -> bool {
    let terms = question.terms.terms().iter().enumerate();
    let is_number = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_digit());
    let follows_name = |number: &str| {
        let before = question.text.split_once(number).map_or("", |(before, _)| before);
        let name = before.strip_suffix(' ').and_then(|before| before.split(' ').next_back()).unwrap_or_default();
        is_named(&question.text, name) && !MONTHS.contains(&name.to_lowercase().as_str())
    };
    let mut numbers = terms.filter(|(position, term)| held & (1 << position) == 0 && is_number(&term.word));
    numbers.any(|(_, term)| follows_name(&term.word))
}

/// The terms with one point that are numbers of something, as in "2.5 hours", not versions, as in "will 2.0 be released".
fn decimal_amounts(question: &Question) -> TermMask {
    let is_amount = |word: &str| {
        let (before, rest) = question.text.split_once(word).unwrap_or_default();
        let next = lower_case_words(rest).next();
        let is_of_name = before.split_whitespace().next_back().is_some_and(|name| is_named(&question.text, name));
        if is_of_name {
            return false;
        }
        word.matches('.').count() == 1
            && next.is_some_and(|next| !is_auxiliary(&next) && next != "be" && next != "come")
    };
    question.terms.mask_where(|term| is_amount(&term.word))
}

/// Whether a word is, or is a part of, a name in program code or settings: `queue_size`, `` `join` ``, `File::open`.
fn is_of_identifier(question: &str, word: &str) -> bool {
    let written = question.split_whitespace().find(|written| written.contains(word)).unwrap_or_default();
    let bare = written.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '`');
    bare.contains('_') || bare.contains("::") || bare.len() > 2 && bare.starts_with('`') && bare.ends_with('`')
}

/// Whether the question names an option, a setting, a record or a protocol as programs and registers write them, `--currency`,
/// `max_connections`, `INC-497`, `HTTP/3`, and no passage holds it. One about others of its kind is no answer, but to a
/// question about the asker's own.
pub(super) fn names_foreign_code(question: &Question, passages: &[Passage<'_>]) -> bool {
    let codes: Vec<&str> = question.text.split_whitespace().filter_map(code).collect();
    if codes.is_empty() || lower_case_words(&question.text).any(|word| word == "my") {
        return false;
    }
    // Written apart or together: "max connections", "INC 497". A hyphen before an option tells it from a word.
    let held: Vec<String> = passages.iter().flat_map(|passage| [passage.title, passage.text]).map(letters).collect();
    let holds = |code: &str| match code.strip_prefix("--") {
        Some(_) => passages.iter().any(|passage| passage.text.contains(code)),
        None => held.iter().any(|held| held.contains(&letters(code))),
    };
    !codes.into_iter().all(holds)
}

/// The part of a word that tells an option, a setting, a record or a version of a protocol from others.
fn code(word: &str) -> Option<&str> {
    let word = word.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '-');
    let word = word.split('=').next().unwrap_or(word);
    if let Some(option) = word.strip_prefix("--") {
        return option.starts_with(char::is_alphabetic).then_some(word);
    }
    let (protocol, version) = word.split_once('/').unwrap_or_default();
    let is_version = |sign: char| sign.is_ascii_digit() || sign == '.';
    if protocol.len() > 1 && protocol.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return (!version.is_empty() && version.chars().all(is_version)).then_some(word);
    }
    let (kind, number) = word.split_once('-').unwrap_or_default();
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let is_record = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_uppercase()) && digits > 1;
    let setting = word.rsplit(['.', ':']).next().filter(|name| name.trim_matches('_').contains('_'));
    setting.or_else(|| (is_record && digits + 1 >= number.len()).then_some(word))
}

/// Whether the question names one of several things by its number, "plan 4", and passages name others of the kind only. Whether
/// something is so may be told by a rule for all of them.
pub(super) fn names_foreign_number(question: &Question, passages: &[Passage<'_>]) -> bool {
    let texts: Vec<&str> = passages.iter().flat_map(|passage| [passage.title, passage.text]).collect();
    question.kind != AnswerKind::YesNo && question.terms.names_unheard_number(&texts)
}

/// The letters and digits of a text, in small letters.
fn letters(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a word stands after "in", "from" or "to".
fn is_in_place(question: &str, word: &str) -> bool {
    let before = question.split_once(word).map_or("", |(before, _)| before);
    [" in ", " from ", " to "].iter().any(|preposition| before.ends_with(preposition))
}

/// Whether a word by itself narrows down what a question is for: "the probe for phosphate".
fn narrows(question: &str, word: &str) -> bool {
    question.find(word).and_then(|at| question.get(..at)).is_some_and(|before| before.ends_with(" for "))
}

/// Whether a question asks who has an office, and no sentence found names that: "the Head of Marketing" is not told by one of
/// the Head of Finance, nor by one of marketing.
fn asks_for_office_unnamed(question: &Question, evidence: &[PassageEvidence]) -> bool {
    let asked = question.asked.to_lowercase();
    let terms = question.terms.terms();
    let is_office =
        ["who is the ", "who's the ", "who is our ", "who was the "].iter().any(|opening| asked.starts_with(opening))
            && (2..=MOST_OF_OFFICE).contains(&terms.len())
            && terms.iter().all(|term| is_named(&question.asked, &term.word));
    let names = |evidence: &PassageEvidence| {
        let holds_all = |sentence: &SentenceEvidence| question.terms.share(sentence.mask | evidence.title_mask) >= 1.0;
        evidence.sentences.iter().any(holds_all)
    };
    is_office && !evidence.iter().any(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grading::signs::held_by;
    use crate::lexical::analyzer::Analyzer;

    fn is_elsewhere(question: &str, passage: &str) -> bool {
        let analyzer = Analyzer::english();
        let held = analyzer.terms(passage);
        let parsed =
            Question::new(analyzer, question, 100, |stem| if held.iter().any(|term| term == stem) { 3 } else { 0 });
        let evidence = [PassageEvidence::new(analyzer, &parsed.terms, "", passage)];
        is_about_something_else(&parsed, &evidence, held_by(&evidence))
    }

    #[test]
    fn a_statement_about_another_version_or_year_is_no_answer() {
        let passage = "Paint 1.4 was released in 2024, and paint 1.18.2 in 2025. Jars hold 30 litres.";
        for question in [
            "When will paint 2.0 be released?",
            "When was paint 1.19.0 released?",
            "When will the paint of 2027 be released?",
            "What does error E0499 of paint mean?",
            "What does the Paintmaster 400 cost?",
        ] {
            assert!(is_elsewhere(question, passage), "{question}");
        }
        for question in [
            "When was paint 1.4 released?",
            "When was paint 1.18.2 released?",
            "Was paint released in 2024?",
            "Do jars hold 45 litres?",
            "Do jars hold 2.5 litres?",
            "Do jars hold 50MB?",
            "Can I buy jars of paint in France?",
        ] {
            assert!(!is_elsewhere(question, passage), "{question}");
        }
    }

    #[test]
    fn a_question_in_a_script_that_no_document_has_is_about_something_else() {
        let passage = "Paint dries in an hour. 塗料は一時間で乾きます。";
        assert!(is_elsewhere("Paintの保管場所はどこですか", "Paint dries in an hour."));
        assert!(!is_elsewhere("塗料は何時間で乾きますか", passage));
        assert!(!is_elsewhere("How long does 漆器 paint dry?", "Paint dries in an hour."));
    }

    #[test]
    fn an_option_or_a_record_of_the_same_kind_is_no_answer() {
        let text = "INC-482 was about jars. Orders come by HTTP/2. The number of jars is set by max_jars.\n--dry-run paints nothing. Colours cannot be set per currency. Jar D-400 costs 7.10.";
        let passage = Passage { title: "ADR 0017", text, dense: None, lexical: 1.0, among: None };
        let is_foreign = |question: &str| {
            names_foreign_code(
                &Question::new(Analyzer::english(), question, 100, |_| 3),
                std::slice::from_ref(&passage),
            )
        };
        for question in [
            "What was the cause of INC-497?",
            "What does the option --currency do?",
            "What is the price of jar D-500?",
            "default of paint.max_lids?",
            "Is FIN-1234 the ticket of INC-482?",
            "Do orders come by HTTP/3?",
        ] {
            assert!(is_foreign(question), "{question}");
        }
        for question in [
            "What was the cause of INC-482?",
            "What does ADR-0017 say?",
            "How much is D-400?",
            "What does `--dry-run=never` do?",
            "default of paint.max_jars?",
            "Are there max jars -- or lids?",
            "How do I paint the jars of my table paint_jobs?",
            "Is it UTF-8 or 2025-02?",
            "Do orders come by HTTP/2?",
            "Is the jar I/O or 24/7?",
        ] {
            assert!(!is_foreign(question), "{question}");
        }
    }
}
