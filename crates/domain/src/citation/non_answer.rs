//! Sentences that only state that the sources do not hold something.
//!
//! The lists are narrow on purpose. A sentence that slips through costs one retry; a claim that is taken for ignorance
//! leaves the service unchecked.

use super::foreign_non_answer;
use crate::asking::is_auxiliary;
use crate::wording::lower_case_words;

/// Words for the sources as a whole, as an answer names them.
const EVIDENCE: [&str; 20] = [
    "document",
    "documents",
    "source",
    "sources",
    "passage",
    "passages",
    "context",
    "text",
    "texts",
    "excerpt",
    "excerpts",
    "material",
    "materials",
    "information",
    "file",
    "files",
    "documentation",
    "evidence",
    "snippet",
    "snippets",
];

const NEGATIONS: [&str; 8] = ["not", "no", "none", "nothing", "neither", "never", "cannot", "without"];

/// Verbs for a source providing information; compared by their beginning, so that endings do not matter.
const TELLING: [&str; 33] = [
    "say",
    "said",
    "mention",
    "state",
    "stating",
    "specif",
    "contain",
    "includ",
    "provid",
    "give",
    "indicat",
    "describ",
    "discuss",
    "cover",
    "address",
    "list",
    "answer",
    "reveal",
    "explain",
    "defin",
    "tell",
    "record",
    "report",
    "disclos",
    "identif",
    "clarif",
    "detail",
    "information",
    "about",
    "determin",
    "found",
    "find",
    "refer",
];

/// Further such verbs, compared with their endings: "holders" and "supplement" tell nothing.
const TELLING_WHOLE: [&str; 13] = [
    "confirm",
    "elaborate",
    "held",
    "hold",
    "name",
    "note",
    "offer",
    "outline",
    "present",
    "show",
    "shown",
    "supplie",
    "supply",
];

/// Passive forms of telling that do not end in "ed".
const PARTICIPLES: [&str; 6] = ["found", "given", "held", "said", "shown", "told"];

/// Words for providing information that serve as nouns next to a passive ("no mention of").
const NOUNS: [&str; 5] = ["mention", "information", "about", "details", "answer"];

/// Words for what is told, with which a sentence begins that says that it is not told.
const TOLD: [&str; 12] = [
    "answer",
    "data",
    "definition",
    "details",
    "example",
    "examples",
    "explanation",
    "figures",
    "information",
    "instructions",
    "reasons",
    "specifics",
];

/// Words before these.
const BEFORE_TOLD: [&str; 10] =
    ["the", "any", "no", "further", "more", "additional", "specific", "exact", "other", "precise"];

/// Words that name the sources and nothing that they could be about.
const CERTAIN_EVIDENCE: [&str; 8] =
    ["source", "sources", "passage", "passages", "excerpt", "excerpts", "snippet", "snippets"];

/// Words that point to the sources given.
const POINTING: [&str; 8] = ["these", "this", "provided", "given", "available", "supplied", "retrieved", "cited"];

/// Words that may stand around the name of the sources.
const LEADS: [&str; 27] = [
    "the",
    "these",
    "this",
    "those",
    "that",
    "such",
    "any",
    "all",
    "both",
    "of",
    "provided",
    "given",
    "available",
    "supplied",
    "retrieved",
    "cited",
    "in",
    "your",
    "our",
    "unfortunately",
    "sorry",
    "however",
    "source",
    "text",
    "context",
    "either",
    "above",
];

/// Words that join a second statement to the first, which is then a claim of its own.
const JOINS: [&str; 11] =
    ["but", "although", "though", "yet", "whereas", "while", "instead", "nevertheless", "because", "since", "except"];

/// Most words of a consequence that states nothing.
const LONGEST_CONSEQUENCE: usize = 11;

/// Sentences about the speaker's own knowledge.
const CONFESSIONS: [&str; 22] = [
    "i do not know",
    "i don t know",
    "we do not know",
    "i cannot answer",
    "i can t answer",
    "i am unable to",
    "i m unable to",
    "i could not find",
    "i couldn t find",
    "i cannot find",
    "i can t find",
    "i did not find",
    "i found no",
    "not in these documents",
    "not in the documents",
    "no information is",
    "no information was",
    "no information about",
    "no information on",
    "there is no information",
    "there is no mention",
    "no answer was found",
];

/// Whether the sentence only states that the sources do not hold the information.
#[must_use]
pub fn is_ignorance(sentence: &str) -> bool {
    let words: Vec<String> = lower_case_words(sentence).collect();
    let joins =
        words.iter().enumerate().any(|(at, word)| JOINS.contains(&word.as_str()) || at > 0 && word == "however");
    if joins {
        return false;
    }
    if is_missing(&words) {
        return true;
    }
    if [", which ", ", who ", ", where "].iter().any(|join| sentence.contains(join)) {
        return false;
    }
    if let Some((first, rest)) = sentence.split_once(", so ") {
        return is_ignorance(first) && (is_in_vain(rest) || is_ignorance(&of_the_sources(rest)));
    }
    let parts: Vec<&str> = sentence.split(", and ").flat_map(|part| part.split(';')).collect();
    if let [first, rest @ ..] = parts.as_slice()
        && !rest.is_empty()
    {
        return is_ignorance(first) && rest.iter().all(|part| is_ignorance(&of_the_sources(part)));
    }
    let joined = words.join(" ");
    CONFESSIONS.iter().any(|confession| joined.starts_with(confession))
        || sources_deny(&words)
        || is_untold(&words)
        || none_tells(&words)
        || is_unstated(&words)
        || foreign_non_answer::is_ignorance(sentence)
}

/// Whether a consequence only says that something cannot be told: "a comparison is not possible".
fn is_in_vain(consequence: &str) -> bool {
    let words: Vec<String> = lower_case_words(consequence).collect();
    let has = |word: &str| words.iter().any(|own| own == word);
    let ends = words.last().map_or("", String::as_str);
    // "T" is what is left of "can't".
    let cannot = has("cannot") || (has("not") || has("t")) && (has("can") || has("is") || has("are"));
    let confesses = matches!(words.first().map_or("", String::as_str), "i" | "we")
        && words.iter().take(4).any(|word| matches!(word.as_str(), "give" | "say" | "state" | "tell"));
    let tells = confesses
        || matches!(ends, "possible" | "compared" | "calculated" | "answered" | "known")
        || words.last().is_some_and(|last| tells(std::slice::from_ref(last), true).is_some());
    words.len() <= LONGEST_CONSEQUENCE && (cannot && tells || ends == "missing")
}

/// A part of a sentence that goes on about the sources, with their name: "they do not say when".
fn of_the_sources(part: &str) -> String {
    let part = part.trim_start();
    let rest = ["they ", "it ", "nor do they "].iter().find_map(|subject| part.strip_prefix(subject));
    rest.map_or_else(|| part.to_owned(), |rest| format!("the sources {rest}"))
}

/// The subject of a statement of ignorance: its words without those for the sources, for telling, and for not.
#[must_use]
pub fn untold(sentence: &str) -> String {
    let is_about = |word: &String| !is_evidence(word) && !negates(word) && !is_telling(word);
    lower_case_words(sentence).filter(is_about).collect::<Vec<_>>().join(" ")
}

fn is_evidence(word: &str) -> bool {
    EVIDENCE.contains(&word)
}

fn negates(word: &str) -> bool {
    // "t" is what is left of "don't".
    NEGATIONS.contains(&word) || word == "t"
}

/// Whether a word is a form of a verb for providing information.
fn is_telling(word: &str) -> bool {
    let is_form = |verb: &str| word.strip_prefix(verb).is_some_and(|ending| matches!(ending, "" | "s" | "d" | "ed"));
    TELLING.iter().any(|verb| word.starts_with(verb)) || TELLING_WHOLE.iter().any(|verb| is_form(verb))
}

/// Whether words begin with "go into", but for what comes into effect or force.
fn goes_into(words: &[String]) -> bool {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    matches!(word(0), "go" | "goes") && word(1) == "into" && !matches!(word(2), "effect" | "force")
}

/// Whether a verb of telling stands among the next words, in the active or the passive voice.
fn tells(words: &[String], passive: bool) -> Option<usize> {
    words.iter().enumerate().take(4).position(|(at, word)| {
        let is_participle = word.ends_with("ed") || PARTICIPLES.contains(&word.as_str());
        let is_of_voice = is_participle == passive || passive && NOUNS.contains(&word.as_str());
        is_telling(word) && is_of_voice || !passive && goes_into(words.get(at..).unwrap_or_default())
    })
}

/// "The provided documents do not say …": the sources are the subject, and nothing else is.
///
/// "Applicants cannot provide documents" has the same words and is a claim.
fn sources_deny(words: &[String]) -> bool {
    let lead = words.iter().take_while(|word| LEADS.contains(&word.as_str()) && !is_evidence(word)).count();
    let subject: Vec<_> =
        words.iter().skip(lead).take_while(|word| is_evidence(word) || LEADS.contains(&word.as_str())).collect();
    let Some(last) = subject.last().filter(|_| subject.iter().any(|word| is_evidence(word))) else {
        return false;
    };
    let predicate = words.get(lead + subject.len()..).unwrap_or_default();
    let Some(negation) = predicate.iter().take(4).position(|word| negates(word)) else {
        return false;
    };
    let rest = predicate.get(negation + 1..).unwrap_or_default();
    // "The sources contain no example of it."
    let tells_nothing = predicate.get(..negation).is_some_and(|verb| tells(verb, false).is_some())
        && !rest.iter().any(|word| is_auxiliary(word) || word == "that");
    // "Information must not be disclosed" is a rule.
    let is_rule =
        predicate.iter().take(negation).any(|word| matches!(word.as_str(), "must" | "may" | "shall" | "should"));
    tells_nothing || tells(rest, false).is_some() || *last == "information" && !is_rule && tells(rest, true).is_some()
}

/// "It is not specified in the documents", "There is no mention of it in the sources".
fn is_untold(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let rest = words.get(at + 1..).unwrap_or_default();
        let told = match word.as_str() {
            "unclear" => Some(0),
            word if negates(word) => tells(rest, true),
            _ => None,
        };
        told.and_then(|told| rest.get(told..)).is_some_and(|rest| {
            rest.windows(2).enumerate().any(|(at, pair)| match pair {
                [place, next] => {
                    let nouns = rest.get(at + 1..).unwrap_or_default();
                    let names = nouns.iter().take_while(|word| LEADS.contains(&word.as_str()) || is_evidence(word));
                    matches!(place.as_str(), "in" | "by" | "from" | "within")
                        && LEADS.contains(&next.as_str())
                        && names.into_iter().any(|word| is_evidence(word))
                }
                _ => false,
            })
        })
    })
}

/// "The fee for late returns is missing from the sources", "The torques are not in the sources", and no statement before that.
fn is_missing(words: &[String]) -> bool {
    let Some(at) = words.iter().rposition(|word| matches!(word.as_str(), "missing" | "absent" | "not")) else {
        return false;
    };
    let place = words.get(at + 1..).unwrap_or_default();
    let [preposition, named @ ..] = place else { return false };
    let is_named = |words: &[&str]| named.iter().any(|word| words.contains(&word.as_str()));
    let names_sources = matches!(preposition.as_str(), "from" | "in")
        && named.iter().all(|word| LEADS.contains(&word.as_str()) || is_evidence(word))
        && (is_named(&CERTAIN_EVIDENCE) || is_named(&POINTING) && is_named(&EVIDENCE));
    let before = words.get(..at).unwrap_or_default();
    let subject = before.iter().rposition(|word| matches!(word.as_str(), "is" | "are"));
    let subject = subject.filter(|verb| before.len() - verb <= 2).and_then(|verb| before.get(..verb));
    // "What was said of it", "whether it is so": a clause, and no statement.
    let is_clause = |words: &[String]| {
        words.first().is_some_and(|first| {
            matches!(first.as_str(), "how" | "what" | "when" | "where" | "whether" | "which" | "who" | "why")
        })
    };
    names_sources && subject.is_some_and(|words| is_clause(words) || !words.iter().any(|word| is_auxiliary(word)))
}

/// "It is not stated whether …", "Further details are not given": the sources are not named.
fn is_unstated(words: &[String]) -> bool {
    let of = |list: &[&str], at: usize| words.get(at).is_some_and(|word| list.contains(&word.as_str()));
    let asks = ["whether", "who", "whom", "what", "when", "where", "how", "why", "which", "if"];
    let opens = of(&["it"], 0) && of(&["is", "was", "s"], 1) && of(&["not"], 2);
    let clear = ["clear", "known"];
    if opens && (of(&clear, 3) || tells(words.get(3..4).unwrap_or_default(), true).is_some()) && of(&asks, 4) {
        return true;
    }
    let lead = words.iter().take_while(|word| BEFORE_TOLD.contains(&word.as_str())).count();
    let is_told = |word: &String| word == "available" || tells(std::slice::from_ref(word), true).is_some();
    of(&TOLD, lead)
        && words.last().is_some_and(is_told)
        && words.iter().filter(|word| negates(word)).count() == 1
        && words.iter().filter(|word| is_auxiliary(word)).count() == 1
        && words.iter().any(|word| matches!(word.as_str(), "is" | "are" | "was" | "were"))
}

/// "None of the sources mention it", "No document says so".
fn none_tells(words: &[String]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let subject = rest.iter().take_while(|word| LEADS.contains(&word.as_str()) || is_evidence(word)).count();
    let names_evidence = rest.iter().take(subject).any(|word| is_evidence(word));
    let predicate = rest.get(subject..).unwrap_or_default();
    negates(first) && names_evidence && tells(predicate.get(..2).unwrap_or(predicate), false).is_some()
}
