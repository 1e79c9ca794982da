//! Deeds that a text tells: a verb, who does it and to what, as far as the order of words tells it. English only.
//!
//! A reading that is unsure is left out: a verb is taken for one beside an auxiliary, in a form of the past, or between a noun and
//! what a verb is followed by.

use std::ops::Range;

use super::word::{End, Word};

/// Verbs that stand before another one.
const AUXILIARIES: [&str; 22] = [
    "am", "are", "be", "been", "being", "can", "cannot", "could", "did", "do", "does", "is", "may", "might", "must",
    "ought", "shall", "should", "was", "were", "will", "would",
];
/// Those that stand before a participle alone.
const PERFECT: [&str; 3] = ["had", "has", "have"];
/// Those of the passive voice and the continuous form.
const BEING: [&str; 9] = ["am", "are", "be", "been", "being", "get", "is", "was", "were"];
/// Words between an auxiliary and its verb.
const ADVERBS: [&str; 15] = [
    "all", "already", "also", "always", "both", "ever", "just", "never", "not", "now", "often", "only", "still",
    "then", "to",
];
/// Words that begin a clause.
const CONJUNCTIONS: [&str; 18] = [
    "although", "because", "if", "once", "since", "so", "than", "that", "though", "unless", "when", "where", "whereas",
    "which", "while", "who", "whom", "whose",
];
const ARTICLES: [&str; 18] = [
    "a", "all", "an", "any", "each", "every", "her", "his", "its", "many", "my", "no", "our", "some", "the", "their",
    "these", "your",
];
const PREPOSITIONS: [&str; 31] = [
    "about", "after", "against", "among", "as", "at", "before", "between", "by", "despite", "during", "for", "from",
    "in", "into", "of", "off", "on", "over", "per", "through", "to", "towards", "under", "until", "up", "upon", "via",
    "with", "within", "without",
];
/// Those that follow a verb of motion or change, and no participle that describes a noun.
const WAYS: [&str; 7] = ["from", "into", "off", "over", "to", "towards", "up"];
/// Those that follow a verb rather than a noun.
const AFTER_VERBS: [&str; 6] = ["for", "from", "in", "into", "on", "to"];
const PRONOUNS: [&str; 7] = ["he", "i", "it", "she", "they", "we", "you"];
/// Pronouns that are articles before a noun.
const DEMONSTRATIVES: [&str; 11] =
    ["anyone", "both", "everyone", "nobody", "one", "other", "others", "someone", "there", "this", "what"];
/// Forms of the past without the ending "ed".
const IRREGULAR: [&str; 60] = [
    "became", "began", "bought", "broke", "brought", "built", "came", "caught", "chose", "cut", "drew", "drove", "fed",
    "fell", "felt", "flew", "found", "gave", "given", "got", "grew", "held", "hit", "kept", "knew", "known", "laid",
    "led", "left", "lent", "lost", "made", "met", "paid", "put", "ran", "read", "rose", "said", "sank", "saw", "sent",
    "set", "shown", "shut", "sold", "spent", "spoke", "struck", "sung", "swept", "taken", "taught", "threw", "told",
    "took", "withdrew", "won", "wore", "wrote",
];
/// Verbs that are no nouns, whatever follows them.
const VERBS: [&str; 33] = [
    "allows", "belongs", "brings", "buys", "contains", "covers", "get", "gets", "give", "gives", "holds", "includes",
    "keeps", "lasts", "leads", "loses", "makes", "means", "need", "needs", "owns", "pay", "pays", "provides",
    "receive", "receives", "require", "requires", "says", "sells", "takes", "thinks", "writes",
];
/// Words before "to" or a preposition that are no verbs.
const NO_VERBS: [&str; 8] = ["able", "due", "enough", "less", "more", "most", "own", "such"];
/// Verbs whose two sides may change places: "the dog remains the property of the shelter".
const COPULAS: [&str; 8] = ["became", "become", "becomes", "remain", "remained", "remains", "seem", "seems"];

/// Most words of a text that are read: enough for any honest sentence, and a bound for others.
const MOST_WORDS: usize = 200;

/// A deed.
#[derive(Debug)]
pub(super) struct Deed {
    /// Position of the verb.
    pub(super) at: usize,
    is_passive: bool,
    before: Nouns,
    by: Option<Nouns>,
    after: Nouns,
}

/// A part in a deed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Agent,
    Patient,
}

/// The nouns on one side of a verb.
#[derive(Debug, Clone, Default)]
pub(super) struct Nouns {
    /// Positions of all words there.
    pub(super) all: Range<usize>,
    /// Positions of those with content that no preposition leads to; none where a pronoun stands for them.
    pub(super) heads: Vec<usize>,
    pub(super) has_pronoun: bool,
}

impl Deed {
    /// The part that somebody or something has in it, for which claim and source are compared: whoever does it, and where nobody is
    /// said to, what it is done to.
    pub(super) fn part(&self) -> Part {
        if self.is_passive && self.by.is_none() { Part::Patient } else { Part::Agent }
    }

    /// Who or what has this part, where it is told.
    pub(super) fn holder(&self, part: Part) -> Option<&Nouns> {
        let holder = match (part, self.is_passive) {
            (Part::Agent, true) => self.by.as_ref()?,
            (Part::Agent, false) | (Part::Patient, true) => &self.before,
            (Part::Patient, false) => &self.after,
        };
        (!holder.heads.is_empty()).then_some(holder)
    }

    /// What else is told of it.
    pub(super) const fn rest(&self, part: Part) -> &Nouns {
        match (part, self.is_passive) {
            (Part::Agent, false) | (Part::Patient, true) => &self.after,
            (Part::Agent, true) | (Part::Patient, false) => &self.before,
        }
    }

    /// Whether a pronoun stands for the one person who does it.
    pub(super) fn is_of_pronoun(&self, words: &[Word<'_>]) -> bool {
        let stands = |at: usize| matches!(text(words, at), "he" | "she");
        !self.is_passive && self.before.has_pronoun && self.before.all.clone().any(stands)
    }

    /// Whether nothing is said of what it is done to.
    pub(super) fn has_no_object(&self) -> bool {
        !self.is_passive && self.after.heads.is_empty()
    }
}

/// The deeds of a sentence.
pub(super) fn deeds(words: &[Word<'_>]) -> Vec<Deed> {
    let words = words.get(..words.len().min(MOST_WORDS)).unwrap_or_default();
    let verbs: Vec<usize> = (0..words.len()).filter(|at| is_verb(words, *at)).collect();
    let mut deeds: Vec<Deed> = Vec::with_capacity(verbs.len());
    for (number, at) in verbs.iter().enumerate() {
        let group = group(words, *at);
        let (before, is_shared) = subject(words, group.start, &verbs);
        let end = verbs.get(number + 1).map_or(words.len(), |next| self::group(words, *next).start);
        let after = object(words, *at + 1..end, end < words.len());
        let is_passive = is_passive(words, &group);
        let by = if is_passive { agent(words, &after) } else { None };
        let own = nouns(words, before);
        let before = match deeds.last() {
            Some(last) if is_shared && own.heads.is_empty() && !own.has_pronoun => last.before.clone(),
            _ => own,
        };
        deeds.push(Deed { at: *at, is_passive, before, by, after: nouns(words, after) });
    }
    deeds
}

fn text<'w>(words: &'w [Word<'_>], at: usize) -> &'w str {
    words.get(at).map_or("", |word| word.text.as_str())
}

fn is_one(list: &[&str], words: &[Word<'_>], at: usize) -> bool {
    list.binary_search(&text(words, at)).is_ok()
}

fn is_adverb(words: &[Word<'_>], at: usize) -> bool {
    is_one(&ADVERBS, words, at) || text(words, at).ends_with("ly")
}

fn is_auxiliary(words: &[Word<'_>], at: usize) -> bool {
    is_one(&AUXILIARIES, words, at) || is_one(&PERFECT, words, at) || text(words, at).ends_with("n't")
}

/// A verb with the auxiliaries and adverbs before it.
fn group(words: &[Word<'_>], at: usize) -> Range<usize> {
    let belongs = |at: &usize| {
        let is_open = words.get(*at).is_some_and(|word| word.end == End::None);
        is_open && (is_adverb(words, *at) || is_auxiliary(words, *at))
    };
    let start = (0..at).rev().take_while(belongs).last().unwrap_or(at);
    start..at + 1
}

fn is_verb(words: &[Word<'_>], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let is_none = !word.has_content()
        || word.is_number()
        || word.has_capital
        || [&NO_VERBS[..], &COPULAS].iter().any(|list| list.contains(&word.text.as_str()));
    if is_none || is_adverb(words, at) || is_auxiliary(words, at) {
        return false;
    }
    let group = group(words, at);
    let is_past = is_past(&word.text);
    let is_continuous = word.text.ends_with("ing");
    let auxiliary = group.clone().rev().skip(1).find(|at| !is_adverb(words, *at));
    if let Some(auxiliary) = auxiliary {
        let is_perfect = is_one(&PERFECT, words, auxiliary);
        return (is_past || !is_perfect) && (!is_continuous || is_one(&BEING, words, auxiliary));
    }
    let before = group.start.checked_sub(1).and_then(|before| Some((before, words.get(before)?)));
    let Some((place, before)) = before.filter(|(_, before)| before.end == End::None) else { return false };
    let follows_subject = before.has_content() && !before.is_number() || is_one(&PRONOUNS, words, place);
    let is_infinitive = group.clone().any(|at| text(words, at) == "to");
    if !follows_subject || is_infinitive || is_continuous {
        return false;
    }
    let is_led = is_preposition(words, at + 1);
    if is_past {
        let describes = is_led && !is_one(&WAYS, words, at + 1) && text(words, at + 1) != "by";
        return !describes || IRREGULAR.binary_search(&word.text.as_str()).is_ok();
    }
    let is_followed = is_led && is_one(&AFTER_VERBS, words, at + 1)
        || is_one(&ARTICLES, words, at + 1)
        || words.get(at + 1).is_some_and(Word::is_number);
    // "A guest pays", "guests pay".
    let agrees = || word.text.ends_with('s') != before.text.ends_with('s');
    is_one(&VERBS, words, at) || word.end == End::None && is_followed && agrees()
}

fn is_past(word: &str) -> bool {
    word.ends_with("ed") || IRREGULAR.binary_search(&word).is_ok()
}

fn is_passive(words: &[Word<'_>], group: &Range<usize>) -> bool {
    let last = text(words, group.end - 1);
    let auxiliary = group.clone().rev().skip(1).find(|at| !is_adverb(words, *at));
    let is_participle = is_past(last) || last.ends_with("en") || last.ends_with("wn");
    let is_led = || auxiliary.is_none() && last.ends_with("ed") && text(words, group.end) == "by";
    is_participle && (auxiliary.is_some_and(|at| is_one(&BEING, words, at)) || is_led())
}

/// The words before a verb, back to the beginning of its clause, and whether another verb has the same subject: "led it and left".
fn subject(words: &[Word<'_>], end: usize, verbs: &[usize]) -> (Range<usize>, bool) {
    let mut start = end;
    let mut skipped = end..end;
    for at in (0..end).rev() {
        if skipped.contains(&at) {
            continue;
        }
        let joins = matches!(text(words, at), "and" | "or" | "but");
        let is_comma = words.get(at).is_some_and(|word| word.end == End::Comma);
        let part = if joins || is_comma { part(words, at) } else { at..at };
        // "Anna, who runs it, said".
        let relative = part.start.checked_sub(1).filter(|before| matches!(text(words, *before), "who" | "which"));
        if let Some(relative) = relative.filter(|_| is_comma && start == at + 1) {
            skipped = relative..at;
            start = relative;
            continue;
        }
        // "Members who live abroad may vote".
        if matches!(text(words, at), "who" | "which" | "that") && (at + 1..end).any(|place| verbs.contains(&place)) {
            start = at;
            continue;
        }
        if words.get(at).is_some_and(|word| word.end == End::Clause) || is_one(&CONJUNCTIONS, words, at) {
            break;
        }
        if part.clone().any(|place| verbs.contains(&place)) {
            return (start..end, joins);
        }
        start = at;
    }
    (start..end, false)
}

/// The words up to and with this one, back to a sign or a conjunction.
fn part(words: &[Word<'_>], at: usize) -> Range<usize> {
    let begins = |place: &usize| {
        words.get(*place).is_some_and(|word| word.end != End::None) || is_one(&CONJUNCTIONS, words, *place)
    };
    let start = (0..at).rev().find(begins).map_or(0, |place| place + 1);
    start..at + 1
}

/// The words after a verb, up to the end of its clause.
fn object(words: &[Word<'_>], within: Range<usize>, is_followed: bool) -> Range<usize> {
    let Range { start, end } = within;
    if start.checked_sub(1).and_then(|verb| words.get(verb)).is_some_and(|verb| verb.end == End::Clause) {
        return start..start;
    }
    let ends =
        |at: &usize| is_one(&CONJUNCTIONS, words, *at) || is_followed && matches!(text(words, *at), "and" | "but");
    let closes = |at: &usize| words.get(*at).is_some_and(|word| word.end == End::Clause);
    let conjunction = (start..end).find(ends).unwrap_or(end);
    let sign = (start..end).find(closes).map_or(end, |at| at + 1);
    start..conjunction.min(sign)
}

/// Those by whom something is done, in the words after a verb of the passive voice.
fn agent(words: &[Word<'_>], after: &Range<usize>) -> Option<Nouns> {
    let by = after.clone().find(|at| text(words, *at) == "by")?;
    let end = (by + 1..after.end).find(|at| {
        let is_next = is_one(&PREPOSITIONS, words, *at) && text(words, *at) != "of";
        is_next || words.get(*at - 1).is_some_and(|word| *at > by + 1 && word.end != End::None)
    });
    let nouns = nouns(words, by + 1..end.unwrap_or(after.end));
    let is_deed = |at: &usize| text(words, *at).ends_with("ing");
    let is_measure = words.get(by + 1).is_some_and(Word::is_number);
    let is_somebody = !is_measure && nouns.heads.first().is_some_and(|first| !is_deed(first));
    is_somebody.then_some(nouns)
}

fn nouns(words: &[Word<'_>], all: Range<usize>) -> Nouns {
    let mut heads = Vec::new();
    let mut is_led_to = false;
    for at in all.clone() {
        let Some(word) = words.get(at) else { break };
        let begins = is_one(&ARTICLES, words, at) && !at.checked_sub(1).is_some_and(|at| is_preposition(words, at));
        let is_pronoun = is_one(&PRONOUNS, words, at)
            || is_one(&DEMONSTRATIVES, words, at) && !words.get(at + 1).is_some_and(Word::has_content);
        if is_pronoun && !is_led_to {
            return Nouns { all, heads: Vec::new(), has_pronoun: true };
        }
        if is_preposition(words, at) {
            is_led_to = true;
        } else if begins {
            is_led_to = false;
        } else if word.has_content() && !word.is_number() && !is_led_to && !is_adverb(words, at) {
            heads.push(at);
        }
        is_led_to &= word.end == End::None;
    }
    Nouns { all, heads, has_pronoun: false }
}

/// Whether a word is a preposition that leads away from the noun before it.
fn is_preposition(words: &[Word<'_>], at: usize) -> bool {
    is_one(&PREPOSITIONS, words, at) && text(words, at) != "of"
}

#[cfg(test)]
mod tests {
    use super::super::word::claimed;
    use super::*;
    use crate::citation::term::terms;

    #[test]
    fn lists_are_sorted() {
        for list in [
            &AUXILIARIES[..],
            &PERFECT,
            &BEING,
            &ADVERBS,
            &CONJUNCTIONS,
            &ARTICLES,
            &PREPOSITIONS,
            &WAYS,
            &AFTER_VERBS,
            &COPULAS,
            &PRONOUNS,
            &DEMONSTRATIVES,
            &IRREGULAR,
            &VERBS,
            &NO_VERBS,
        ] {
            assert!(list.is_sorted_by(|one, two| one < two), "{list:?}");
        }
    }

    fn told(sentence: &str) -> Vec<(String, String)> {
        let terms = terms(sentence);
        let words = claimed(sentence, &terms);
        let name = |deed: &Deed| {
            let heads = deed.holder(Part::Agent).map(|agent| agent.heads.clone()).unwrap_or_default();
            heads.iter().map(|at| words[*at].text.clone()).collect::<Vec<_>>().join(" ")
        };
        deeds(&words).iter().map(|deed| (name(deed), words[deed.at].text.clone())).collect()
    }

    #[test]
    fn verbs_have_those_who_do_it() {
        let cases: [(&str, &[(&str, &str)]); 13] = [
            ("The landlord must return the deposit.", &[("landlord", "return")]),
            ("The deposit must be returned by the landlord within six months.", &[("landlord", "returned")]),
            ("Okafor led it until 2010, when Brandt took over.", &[("okafor", "led"), ("brandt", "took")]),
            ("Anna and Ben wrote the report.", &[("anna ben", "wrote")]),
            ("In 2004 the clinic moved.", &[("clinic", "moved")]),
            ("Members who do not live here may vote.", &[("", "live"), ("members live", "vote")]),
            ("Logs, which need space, are erased by the clerk.", &[("clerk", "erased")]),
            ("It was signed by Friday.", &[("friday", "signed")]),
            ("They praised the mayor.", &[("", "praised")]),
            (
                "The mayor praised it and the office criticised its times.",
                &[("mayor", "praised"), ("office", "criticised")],
            ),
            (
                "The tenant pays for repairs; the landlord pays for the rest.",
                &[("tenant", "pays"), ("landlord", "pays")],
            ),
            ("If the heating fails, the landlord must be informed.", &[("", "informed")]),
            ("The price of oil rose to 300 euros.", &[("price oil", "rose")]),
        ];
        for (sentence, expected) in cases {
            let found = told(sentence);
            let found: Vec<(&str, &str)> = found.iter().map(|(who, verb)| (who.as_str(), verb.as_str())).collect();
            assert_eq!(found, expected, "{sentence}");
        }
    }
}
