//! Words that qualify what a sentence says: that something must or may be, the limit that a number or a time is, what a
//! number is counted by, by whom something is done, that it is planned, and that it holds even where a condition is not met.
//!
//! Claim and source are compared where both qualify the same verb, number, time or deed. English, and the plainest German.

use std::collections::HashMap;

use super::word::Word;
use crate::wording::is_negation;

/// Most qualified words of a text: no honest sentence has more.
const MOST: usize = 32;
/// Most words of the name of whoever does something.
const LONGEST_NAME: usize = 4;

/// Words between a qualifier and what it qualifies.
const ARTICLES: [&str; 15] =
    ["a", "all", "an", "any", "each", "every", "her", "his", "its", "our", "that", "the", "their", "this", "your"];

/// Words that tell what is so now, and what was so before.
const NOW: [&str; 9] =
    ["actuellement", "aktuell", "currently", "derzeit", "momentan", "now", "nowadays", "present", "presently"];
const FORMER: [&str; 13] = [
    "auparavant",
    "bisher",
    "earlier",
    "former",
    "formerly",
    "früher",
    "previous",
    "previously",
    "used",
    "vorher",
    "war",
    "was",
    "were",
];

/// What something is counted by after "a" or "each".
const PERIODS: [&str; 14] = [
    "day", "head", "hour", "kilo", "litre", "minute", "month", "night", "person", "quarter", "second", "visit", "week",
    "year",
];
/// Words between a number and its measure.
const FAR: usize = 3;

/// Words that limit a statement to cases.
const CONDITIONS: [&str; 9] = ["except", "if", "only", "provided", "unless", "ausgenommen", "nur", "sofern", "wenn"];

/// The way in which a claim qualifies otherwise than its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Requalified {
    /// One tells what must be, the other what may be.
    Modality,
    /// One tells the least or the earliest, the other the most or the latest.
    Limit,
    /// A number is counted by something else.
    Measure,
    /// Somebody else does it, or it is done to something else.
    Agent,
    /// Two things that the source tells are exchanged.
    Exchanged,
    /// The source tells it under another condition.
    OtherCondition,
    /// The source tells it in another order.
    Order,
    /// The source gives no such reason.
    Reason,
    /// It is only planned, proposed or considered.
    Plan,
    /// It was so before, and is no longer.
    Past,
    /// It is said to hold even where a condition of the source is not met.
    Condition,
}

impl Requalified {
    /// Whether the source says something else, and not merely less.
    pub(super) const fn is_contrary(self) -> bool {
        !matches!(self, Self::Plan)
    }
}

/// How a claim qualifies otherwise than the words of its source that hold most of it, if it does.
pub(super) fn requalified(claim: &[Word<'_>], source: &[Word<'_>]) -> Option<Requalified> {
    let differs = [
        (Requalified::Modality, differs(&modalities(claim), &modalities(source), |one, two| !one.is_otherwise(*two))),
        (Requalified::Limit, differs(&limits(claim), &limits(source), |one, two| one == two)),
        (Requalified::Measure, is_measured_otherwise(claim, source)),
        (
            Requalified::Agent,
            differs(&agents(claim), &agents(source), |one, two| one.iter().any(|name| two.contains(name))),
        ),
        (Requalified::Plan, !is_tentative(claim) && is_planned(claim, source) || is_still_to_come(claim, source)),
        (Requalified::Past, is_past(claim, source)),
        (Requalified::Condition, concedes(claim) && !concedes(source) && has_condition(source)),
    ];
    differs.into_iter().find(|(_, differs)| *differs).map(|(way, _)| way)
}

/// Words that are qualified, with their qualifications.
type Qualified<'w, Q> = HashMap<&'w str, Vec<Q>>;

/// Whether both qualify one thing, and never alike.
fn differs<Q>(claim: &Qualified<'_, Q>, source: &Qualified<'_, Q>, is_same: impl Fn(&Q, &Q) -> bool) -> bool {
    claim.iter().any(|(qualified, own)| {
        let there = source.get(qualified).map(Vec::as_slice).unwrap_or_default();
        !there.is_empty() && !own.iter().any(|one| there.iter().any(|two| is_same(one, two)))
    })
}

/// The first two words there.
fn pair<'p>(words: &'p [Word<'_>]) -> [&'p str; 2] {
    [0, 1].map(|at| words.get(at).map_or("", |word| word.text.as_str()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Modality {
    Must,
    May,
    /// It is advised.
    Should,
}

impl Modality {
    /// Whether a claim says otherwise than its source: what is advised is not demanded, and what is demanded may be advised.
    fn is_otherwise(self, source: Self) -> bool {
        self != source && self != Self::Should
    }
}

/// The verbs that tell an obligation or a permission. Denials are compared elsewhere, and "may only" is neither.
fn modalities<'w>(words: &[Word<'w>]) -> Qualified<'w, Modality> {
    let is_plain = |word: &Word<'_>| word.text != "only" && !is_negation(&word.text);
    let is_verb = |word: &Word<'_>| word.has_content() && is_plain(word) && !word.text.ends_with("ly");
    let mut found: Qualified<'_, Modality> = HashMap::new();
    for at in 0..words.len() {
        let here = words.get(at..).unwrap_or_default();
        let (modality, length) = match pair(here) {
            ["must" | "shall", _] => (Modality::Must, 1),
            ["may" | "can" | "could" | "might", _] => (Modality::May, 1),
            ["has" | "have" | "need" | "needs" | "required" | "obliged", "to"] => (Modality::Must, 2),
            ["allowed" | "permitted" | "entitled" | "able" | "free", "to"] => (Modality::May, 2),
            [
                "should" | "recommend" | "recommends" | "recommended" | "advise" | "advises" | "advised" | "suggest"
                | "suggests",
                _,
            ] => (Modality::Should, 1),
            _ => continue,
        };
        let after = here.get(length..).unwrap_or_default();
        let Some(verb) = after.iter().position(is_verb) else { break };
        let before = words.get(at.saturating_sub(1)..at).unwrap_or_default();
        let between = after.get(..verb).unwrap_or_default();
        if let Some(verb) = after.get(verb)
            && before.iter().chain(between).all(is_plain)
            && found.len() < MOST
        {
            found.entry(verb.stem).or_default().push(modality);
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// At least, from, after.
    Least,
    /// At most, until, before.
    Most,
}

impl Limit {
    const fn turned(self) -> Self {
        match self {
            Self::Least => Self::Most,
            Self::Most => Self::Least,
        }
    }
}

/// The numbers and times that are limits.
fn limits<'w>(words: &[Word<'w>]) -> Qualified<'w, Limit> {
    let mut found: Qualified<'_, Limit> = HashMap::new();
    for at in 0..words.len() {
        let here = words.get(at..).unwrap_or_default();
        let (limit, length) = match pair(here) {
            ["more" | "longer" | "later" | "greater" | "higher" | "larger", "than"]
            | ["at", "least"]
            | ["minimum", "of"] => (Limit::Least, 2),
            ["less" | "fewer" | "earlier" | "sooner" | "lower" | "smaller" | "shorter", "than"]
            | ["at", "most"]
            | ["up", "to"]
            | ["maximum", "of"]
            | ["bis", "zu"] => (Limit::Most, 2),
            ["over" | "above" | "after" | "since" | "from" | "mindestens", _] => (Limit::Least, 1),
            ["under" | "below" | "within" | "before" | "until" | "till" | "höchstens", _] => (Limit::Most, 1),
            _ => continue,
        };
        let is_turned =
            words.get(at.saturating_sub(1)..at).is_some_and(|before| matches!(pair(before), ["no" | "not", _]));
        let is_of_time = ["after", "since", "before", "until", "till"].contains(&pair(here)[0]);
        let after = here.get(length..).unwrap_or_default();
        let limited = after.iter().find(|word| !ARTICLES.contains(&word.text.as_str()));
        if let Some(word) = limited.filter(|word| word.is_number() || is_of_time && word.has_content())
            && found.len() < MOST
        {
            found.entry(word.stem).or_default().push(if is_turned { limit.turned() } else { limit });
        }
    }
    found
}

/// Whether both tell what something is counted by, and the claim names a measure that the source does not hold, or another one for
/// the same number.
fn is_measured_otherwise(claim: &[Word<'_>], source: &[Word<'_>]) -> bool {
    let (own, there) = (measures(claim), measures(source));
    let is_there = |(_, stem): &(Option<&str>, &str)| source.iter().any(|word| word.stem == *stem);
    let is_new = !own.is_empty() && !own.iter().any(is_there) && !there.is_empty();
    let is_other = |(number, stem): &(Option<&str>, &str)| {
        let mut same = there.iter().filter(|(other, _)| number.is_some() && other == number).peekable();
        same.peek().is_some() && same.all(|(_, other)| other != stem)
    };
    is_new || own.iter().any(is_other)
}

/// The measures of a text, each with the number before it: "3 euros per visit", "12 euros a month".
fn measures<'w>(words: &[Word<'w>]) -> Vec<(Option<&'w str>, &'w str)> {
    // "Pro" is a name, and no German "per".
    let is_small = |at: usize| words.get(at).is_some_and(|word| !word.has_capital);
    let is_per = |at: usize| match words.get(at..).filter(|_| is_small(at)).map(pair) {
        Some(["per" | "pro" | "je", _]) => true,
        Some(["a" | "an" | "each" | "every", measure]) => PERIODS.contains(&measure),
        _ => false,
    };
    let number = |at: usize| {
        let before = words.get(at.saturating_sub(FAR)..at)?.iter().rev();
        let mut open = before.take_while(|word| !word.ends_clause());
        open.find(|word| word.is_number()).map(|word| word.stem)
    };
    let found = (0..words.len()).filter(|at| is_per(*at));
    found.filter_map(|at| Some((number(at), words.get(at + 1)?.stem))).take(MOST).collect()
}

/// Those by whom something is done ("approved by the line manager"), by the verb.
fn agents<'w>(words: &[Word<'w>]) -> Qualified<'w, Vec<&'w str>> {
    let mut found: Qualified<'_, Vec<&str>> = HashMap::new();
    for at in 0..words.len() {
        let Some([verb, by, article, name @ ..]) = words.get(at..) else { break };
        let is_participle = verb.has_content() && ["ed", "en"].iter().any(|ending| verb.text.ends_with(ending));
        if !is_participle || by.text != "by" || !ARTICLES.contains(&article.text.as_str()) || found.len() == MOST {
            continue;
        }
        let length = name.iter().take_while(|word| word.has_content()).count();
        let end = name.iter().position(Word::ends_clause).map_or(length, |end| length.min(end + 1));
        let name: Vec<&str> = name.iter().take(end.min(LONGEST_NAME)).map(|word| word.stem).collect();
        if !name.is_empty() {
            found.entry(verb.stem).or_default().push(name);
        }
    }
    found
}

/// Whether the source tells something that is planned, or that somebody plans to do what the claim tells.
fn is_planned(claim: &[Word<'_>], source: &[Word<'_>]) -> bool {
    (0..source.len()).any(|at| {
        let here = source.get(at..).unwrap_or_default();
        match pair(here) {
            ["is" | "are" | "been" | "being", "planned" | "proposed" | "suggested"]
            | ["being" | "is" | "are", "considering" | "discussed"]
            | ["being", "considered"]
            | ["under", "consideration" | "discussion" | "review"]
            | ["unreleased", _] => true,
            // "(planned Q3 2027)", "Planned for autumn", "PLANNED: a second desk".
            ["planned", next] => here.first().is_some_and(Word::ends_clause) || is_time_or_place(next),
            ["plan" | "plans" | "propose" | "proposes" | "intend" | "intends" | "hope" | "hopes", "to"] => {
                here.get(2).is_some_and(|verb| claim.iter().any(|word| word.stem == verb.stem))
            }
            _ => false,
        }
    })
}

/// Whether the claim says that something has been done of which the source says only that it will be.
fn is_still_to_come(claim: &[Word<'_>], source: &[Word<'_>]) -> bool {
    let verb = |words: &[Word<'_>], at: usize, before: &[&str]| {
        let stands = before.contains(&words.get(at).map_or("", |word| word.text.as_str()));
        let skips = |word: &&Word<'_>| {
            !matches!(word.text.as_str(), "be" | "been" | "already" | "also" | "now" | "to" | "just")
        };
        let after = words.get(at + 1..).filter(|_| stands)?;
        after.iter().find(skips).map(|word| word.stem.to_owned())
    };
    let verbs = |words: &[Word<'_>], before: &[&str]| -> Vec<String> {
        (0..words.len()).filter_map(|at| verb(words, at, before)).take(MOST).collect()
    };
    let done = verbs(claim, &["has", "have", "had"]);
    let to_come = verbs(source, &["will", "shall", "has", "have", "had"]);
    let is_done = |stem: &String| verbs(source, &["has", "have", "had", "was", "were"]).contains(stem);
    done.iter().any(|stem| to_come.contains(stem) && verbs(source, &["will", "shall"]).contains(stem) && !is_done(stem))
}

/// Whether the claim says of now what the source says of before.
fn is_past(claim: &[Word<'_>], source: &[Word<'_>]) -> bool {
    let has = |words: &[Word<'_>], list: &[&str]| words.iter().any(|word| list.contains(&word.text.as_str()));
    if !has(claim, &NOW) || has(claim, &FORMER) {
        return false;
    }
    let held = |part: &[Word<'_>]| {
        let held = part.iter().filter(|word| word.has_content() && claim.iter().any(|own| own.stem == word.stem));
        held.map(|word| if word.is_number() { 2 } else { 1 }).sum::<usize>()
    };
    let parts: Vec<&[Word<'_>]> =
        source.split_inclusive(|word| word.ends_clause() || word.text == "and" || word.text == "und").collect();
    let most = parts.iter().map(|part| held(part)).max().unwrap_or_default();
    let mut nearest = parts.iter().filter(|part| held(part) == most);
    most > 1 && nearest.all(|part| (has(part, &FORMER) || has(part, &["before"])) && !has(part, &NOW))
}

/// Whether a word after "planned" begins the time for which something is.
fn is_time_or_place(word: &str) -> bool {
    let is_quarter = word.len() == 2 && word.starts_with('q');
    is_quarter || matches!(word, "by" | "for" | "in" | "not" | "on" | "until")
}

/// Whether a text leaves open whether something is so.
fn is_tentative(words: &[Word<'_>]) -> bool {
    const STEMS: [&str; 10] =
        ["aim", "consid", "consider", "discuss", "hope", "intend", "plan", "propos", "review", "suggest"];
    const WORDS: [&str; 7] = ["could", "if", "may", "might", "perhaps", "should", "would"];
    words.iter().any(|word| STEMS.contains(&word.stem) || WORDS.contains(&word.text.as_str()))
}

/// Whether a text says that something holds in a case where one would doubt it.
fn concedes(words: &[Word<'_>]) -> bool {
    (0..words.len()).any(|at| {
        matches!(
            pair(words.get(at..).unwrap_or_default()),
            ["even", "if" | "when"]
                | ["regardless" | "irrespective", _]
                | ["however", "much" | "many" | "long" | "often"]
                | ["whether", "or"]
                | ["auch", "wenn" | "dann"]
        )
    })
}

fn has_condition(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| CONDITIONS.contains(&word.text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::word::claimed;
    use super::*;
    use crate::citation::term::terms;

    fn way(claim: &str, source: &str) -> Option<Requalified> {
        let (own, there) = (terms(claim), terms(source));
        requalified(&claimed(claim, &own), &claimed(source, &there))
    }

    #[test]
    fn qualifiers_of_the_same_are_compared() {
        let cases = [
            ("The buyer has to withdraw.", "The buyer may withdraw from the order.", Requalified::Modality),
            (
                "Visitors may wear a badge.",
                "A badge must be worn, and visitors must wear shoes.",
                Requalified::Modality,
            ),
            ("You are allowed to encrypt backups.", "Backups: you need to encrypt them.", Requalified::Modality),
            ("Cancel free of charge from 18:00.", "Free of charge until 18:00.", Requalified::Limit),
            ("The fee is at least 20 euros.", "The fee is up to 20 euros.", Requalified::Limit),
            ("Report it after the journey.", "It is reported before the journey.", Requalified::Limit),
            ("It takes more than 30 days.", "It takes no more than 30 days.", Requalified::Limit),
            ("390 euros per group.", "Fees per person: 390 euros.", Requalified::Measure),
            (
                "It is approved by the human resources officer.",
                "It is approved by the line manager, normally.",
                Requalified::Agent,
            ),
            ("There will be a course in autumn.", "A course is planned for autumn.", Requalified::Plan),
            ("They banned bottles.", "The country plans to ban bottles.", Requalified::Plan),
            ("A certificate however much they attend.", "A certificate if they attend.", Requalified::Condition),
        ];
        for (claim, source, expected) in cases {
            assert_eq!(way(claim, source), Some(expected), "{claim} {source}");
        }
    }

    #[test]
    fn others_are_not() {
        let cases = [
            ("The buyer can withdraw.", "The buyer may withdraw."),
            ("The car may only be driven by members.", "The car must be driven carefully."),
            ("Loads may only be driven slowly.", "Loads must be driven slowly."),
            ("You must not smoke.", "You may not smoke."),
            ("It must be kept cold.", "It may be opened."),
            ("No later than 9 o'clock.", "Before 9 o'clock."),
            ("Not before 9 o'clock.", "From 9 o'clock."),
            ("It lasts more than 30 days.", "It lasts at least 30 days."),
            ("From 8 to 17.", "Until 17, from 8."),
            ("10 euros per person and night.", "10 euros per person."),
            ("It is approved by the manager.", "It is approved by the line manager."),
            ("It is approved by the manager.", "It is checked by the clerk."),
            ("It is covered even if it was lost.", "It is covered."),
            ("A course may come.", "A course is planned."),
            ("Guests need no visa.", "Guests who plan to travel need no visa."),
        ];
        for (claim, source) in cases {
            assert_eq!(way(claim, source), None, "{claim} {source}");
        }
    }
}
