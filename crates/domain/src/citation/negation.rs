//! Finds the words that a denial applies to: "may *not* carry over leave" denies "carry". English only.
//!
//! A denial reaches the next words of its clause; one that ends its clause ("but contractors may not")
//! reaches back, as does one that is all that is said of a label ("Ordered: not yet"). "Not only" and "no later than" deny
//! nothing but themselves.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::term::{Term, TermKind};
use crate::wording::{is_negation, lower_case};

/// Most words that a denial reaches.
const REACH: usize = 3;

/// Most words of a question that its answer "no" denies.
const MOST_ASKED: usize = 8;

/// Most denials of a sentence that are read: no honest sentence has more, and each is compared with each.
const MOST_DENIALS: usize = 16;

/// Characters between words that end a clause.
const CLAUSE_ENDS: [char; 11] = [',', ';', ':', '.', '!', '?', '(', ')', '—', '–', '|'];

/// The end of a paragraph. That of a line is where the text was wrapped.
const PARAGRAPH_END: &str = "\n\n";

/// Words that begin a clause. Sorted, for the binary search, as are the other lists.
const CONJUNCTIONS: [&str; 11] =
    ["although", "because", "but", "however", "if", "though", "unless", "when", "whenever", "whereas", "while"];

/// Words after a denial that cancel it: "not only", "not necessarily", "no matter".
const NEUTRAL_AFTER: [&str; 9] =
    ["doubt", "just", "matter", "merely", "necessarily", "only", "simply", "solely", "until"];

/// Words before a denial that leave the matter open: "whether or not", "if not".
const NEUTRAL_BEFORE: [&str; 3] = ["if", "or", "why"];

/// Comparatives that form a bound in "no … than".
const COMPARATIVES: [&str; 14] = [
    "earlier", "fewer", "further", "greater", "higher", "larger", "later", "less", "longer", "lower", "more",
    "shorter", "smaller", "sooner",
];

/// Words without information about the thing denied: "no longer open", "not yet open".
const ADVERBS: [&str; 10] = ["any", "anymore", "enough", "even", "ever", "longer", "more", "quite", "so", "yet"];

/// Stems through which a denial also reaches the next word: "not allowed to enter" denies "enter".
const LIGHT: [&str; 14] = [
    "abl", "allow", "author", "elig", "entitl", "evid", "indic", "need", "oblig", "permit", "possibl", "proof",
    "requir", "suppos",
];

/// Words that limit a denial: "not open before May".
const LIMITS: [&str; 4] = ["before", "other", "till", "until"];

/// Words that express the same limit without a denial: "open from May".
const ONWARDS: [&str; 6] = ["after", "first", "from", "once", "only", "since"];

/// Stems that may stand in place of a denial: "unable to enter", "banned".
const MILD: [&str; 42] = [
    "absenc",
    "absent",
    "against",
    "avoid",
    "ban",
    "bar",
    "ceas",
    "declin",
    "deni",
    "discontinu",
    "disput",
    "exclud",
    "exempt",
    "fail",
    "failur",
    "fals",
    "forbad",
    "forbid",
    "forbidden",
    "free",
    "hard",
    "imposs",
    "inelig",
    "instead",
    "invalid",
    "lack",
    "oppos",
    "prevent",
    "prohibit",
    "rare",
    "rather",
    "refus",
    "reject",
    "scarc",
    "seldom",
    "stop",
    "unabl",
    "unavail",
    "unlik",
    "unsuccess",
    "void",
    "zero",
];

/// A word that denies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denial {
    /// Positions of the words that it reaches, the nearest first.
    pub(super) scope: Vec<usize>,
    /// Number of them that it certainly denies, from the first.
    pub(super) sure: usize,
    /// Positions of its clause.
    pub(super) clause: Range<usize>,
    pub(super) kind: DenialKind,
}

/// The effect of a denial on its sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DenialKind {
    /// "Not", "never", "no".
    Plain,
    /// "Unless" and "except": denies the sentence in one case.
    Exception,
    /// "Without": denies one thing, and not the sentence.
    Without,
}

/// The denials of a sentence and the words that qualify them.
#[derive(Debug, Clone, Default)]
pub(super) struct Denials {
    pub(super) all: Vec<Denial>,
    /// Stems that may stand in place of a denial.
    mild: BTreeSet<String>,
    /// Words by which it holds until or before something.
    limits: BTreeSet<String>,
    /// Words by which it holds from something on, or for nothing else.
    onwards: BTreeSet<String>,
}

impl Denial {
    /// The words that it certainly denies.
    pub(super) fn denied(&self) -> &[usize] {
        self.scope.get(..self.sure).unwrap_or_default()
    }

    fn shifted(mut self, by: usize) -> Self {
        self.scope.iter_mut().for_each(|place| *place += by);
        self.clause = self.clause.start + by..self.clause.end + by;
        self
    }
}

impl Denials {
    /// Parses a sentence; `terms` are its own, and positions count from `first`.
    pub(super) fn of(text: &str, terms: &[Term], first: usize) -> Self {
        let words = words(text, terms);
        let mut all = Vec::new();
        if words.iter().any(|word| denies(word)) {
            let sentence = Sentence { clauses: clauses(text, terms, &words), text, terms, words: &words };
            let denials = (0..terms.len()).filter_map(|at| sentence.denial(at)).take(MOST_DENIALS);
            all.extend(denials.map(|denial| denial.shifted(first)));
        }
        let of = |list: &[&str]| -> BTreeSet<String> {
            let listed = words.iter().filter(|word| list.binary_search(&word.as_ref()).is_ok());
            listed.map(|word| word.clone().into_owned()).collect()
        };
        let stems = terms.iter().map(|term| term.stem.as_str());
        Self {
            all,
            mild: stems.filter(|stem| MILD.binary_search(stem).is_ok()).map(str::to_owned).collect(),
            limits: of(&LIMITS),
            onwards: of(&ONWARDS),
        }
    }

    /// Reads a question together with its answer "no": it denies the first words of the question, and what the answer adds
    /// says it again.
    pub(super) fn deny_question(&mut self, text: &str, terms: &[Term], first: usize) {
        let words = words(text, terms);
        let end = text.find('?').unwrap_or(text.len());
        let clause = 0..terms.partition_point(|term| term.range.end <= end);
        let sentence = Sentence { clauses: Vec::new(), text, terms, words: &words };
        let scope: Vec<usize> = clause.clone().filter(|at| sentence.says_something(*at)).take(MOST_ASKED).collect();
        let sure = scope.len();
        if sure > 0 {
            self.all.clear();
            self.all.push(Denial { scope, sure, clause, kind: DenialKind::Plain }.shifted(first));
        }
    }

    /// Adds what a row of a table denies by "no" below the head of a column: the positions of its words. The words of the header
    /// are the row's.
    pub(super) fn add_of_row<'d>(
        &mut self,
        heads: Vec<Vec<usize>>,
        row: Range<usize>,
        header: impl Iterator<Item = &'d Self>,
    ) {
        self.mild.extend(header.flat_map(|header| header.mild.iter().cloned()));
        let denial =
            |scope: Vec<usize>| Denial { sure: scope.len(), scope, clause: row.clone(), kind: DenialKind::Plain };
        self.all.extend(heads.into_iter().map(denial));
    }

    /// Whether any of them reaches the word there.
    pub(super) fn reach(&self, place: usize) -> bool {
        self.all.iter().any(|denial| denial.scope.contains(&place))
    }

    /// Whether this sentence expresses the other's denial in different words: "is banned" for "is not allowed", "only
    /// members" for "not others", "from May" for "not before May".
    pub(super) fn puts_otherwise(&self, other: &Self) -> bool {
        let has_only = self.onwards.contains("only") && !other.onwards.contains("only");
        !self.mild.is_subset(&other.mild)
            || has_only
            || !other.limits.is_subset(&self.limits) && !self.onwards.is_subset(&other.onwards)
    }
}

/// Whether a word in lower case denies.
pub(super) fn denies(word: &str) -> bool {
    is_negation(word) || word == "unless"
}

/// The words of a sentence in lower case.
pub(super) fn words<'t>(text: &'t str, terms: &[Term]) -> Vec<Cow<'t, str>> {
    terms.iter().map(|term| lower_case(text.get(term.range.clone()).unwrap_or_default())).collect()
}

/// The clauses of a sentence, in order.
pub(super) fn clauses(text: &str, terms: &[Term], words: &[Cow<'_, str>]) -> Vec<Range<usize>> {
    let mut clauses: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for (at, (term, word)) in terms.iter().zip(words).enumerate() {
        let gap = text.get(end..term.range.start).unwrap_or_default();
        end = term.range.end;
        let begins = gap.contains(CLAUSE_ENDS)
            || gap.contains(PARAGRAPH_END)
            || CONJUNCTIONS.binary_search(&word.as_ref()).is_ok();
        match clauses.last_mut().filter(|_| !begins) {
            Some(clause) => clause.end = at + 1,
            None => clauses.push(at..at + 1),
        }
    }
    clauses
}

/// A sentence whose denials are being read.
struct Sentence<'t> {
    text: &'t str,
    terms: &'t [Term],
    words: &'t [Cow<'t, str>],
    clauses: Vec<Range<usize>>,
}

impl Sentence<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map_or("", AsRef::as_ref)
    }

    fn is_denial(&self, at: usize) -> bool {
        denies(self.word(at))
    }

    fn denial(&self, at: usize) -> Option<Denial> {
        if !self.is_denial(at) || self.is_taken_back(at) {
            return None;
        }
        let clause = self.clauses.iter().find(|clause| clause.contains(&at))?.clone();
        let kind = match self.word(at) {
            "unless" | "except" => DenialKind::Exception,
            "without" => DenialKind::Without,
            _ => DenialKind::Plain,
        };
        let is_bound = COMPARATIVES.binary_search(&self.word(at + 1)).is_ok() && self.word(at + 2) == "than";
        if is_bound {
            return Some(Denial { scope: vec![at + 1], sure: 1, clause, kind });
        }
        let ends = (at + 1..clause.end).find(|next| self.is_denial(*next)).unwrap_or(clause.end);
        let mut scope: Vec<usize> = (at + 1..ends).filter(|next| self.says_something(*next)).take(REACH).collect();
        if scope.is_empty() {
            scope.extend((clause.start..at).rev().find(|before| self.says_something(*before)));
        }
        if scope.is_empty() {
            scope.extend(self.label_before(&clause).rev().find(|before| self.says_something(*before)));
        }
        let is_light = |place: &&usize| {
            self.terms.get(**place).is_some_and(|term| LIGHT.binary_search(&term.stem.as_str()).is_ok())
        };
        let sure = (scope.iter().take_while(is_light).count() + 1).min(scope.len());
        (!scope.is_empty()).then_some(Denial { scope, sure, clause, kind })
    }

    /// The label of a clause, which ends in a colon.
    fn label_before(&self, clause: &Range<usize>) -> Range<usize> {
        let label = self.clauses.iter().find(|label| label.end == clause.start);
        let ends_in_colon = |label: &&Range<usize>| {
            let end = label.end.checked_sub(1).and_then(|last| self.terms.get(last)).map(|last| last.range.end);
            let after = end.and_then(|end| self.text.get(end..)).unwrap_or_default();
            after.trim_start_matches(['*', '`', '_', ')', ' ']).starts_with(':')
        };
        label.filter(ends_in_colon).cloned().unwrap_or_default()
    }

    /// Whether it is part of a phrase that denies nothing, or of a word ("no-fly zone"), or an answer ("No, …").
    fn is_taken_back(&self, at: usize) -> bool {
        let range = |at: usize| self.terms.get(at).map(|term| term.range.clone());
        let gap = range(at).zip(range(at + 1)).and_then(|(one, two)| self.text.get(one.end..two.start));
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        let is_answer = self.word(at) == "no" && gap.is_some_and(|gap| gap.starts_with([',', '.']));
        is_answer
            || gap == Some("-")
            || NEUTRAL_AFTER.binary_search(&self.word(at + 1)).is_ok()
            || NEUTRAL_BEFORE.binary_search(&before).is_ok()
    }

    fn says_something(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_adverb = word.ends_with("ly") || ADVERBS.binary_search(&word).is_ok();
        !is_adverb && !self.is_denial(at) && self.terms.get(at).is_some_and(|term| term.kind != TermKind::Stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::citation::term::terms;

    #[test]
    fn lists_are_sorted() {
        for list in [
            &CONJUNCTIONS[..],
            &NEUTRAL_AFTER,
            &NEUTRAL_BEFORE,
            &COMPARATIVES,
            &ADVERBS,
            &LIGHT,
            &LIMITS,
            &ONWARDS,
            &MILD,
        ] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    fn denied(sentence: &str) -> Vec<&str> {
        let terms = terms(sentence);
        let denials = Denials::of(sentence, &terms, 0);
        let places = denials.all.iter().flat_map(|denial| denial.denied().to_vec());
        places.map(|place| sentence.get(terms[place].range.clone()).expect("a word")).collect()
    }

    #[test]
    fn a_denial_is_about_the_next_word_that_says_something() {
        let cases: [(&str, &[&str]); 14] = [
            ("Contractors may not carry over leave.", &["carry"]),
            ("Contractors can’t normally carry over leave.", &["carry"]),
            ("Contractors are not allowed to carry over leave.", &["allowed", "carry"]),
            ("Neither interns nor contractors carry over leave.", &["interns", "contractors"]),
            ("The door is no longer open.", &["open"]),
            ("Employees may carry over leave, but contractors may not.", &["contractors"]),
            ("Leave may not be taken without approval.", &["taken", "approval"]),
            ("Not only employees but also contractors carry over leave.", &[]),
            ("Reports are due no later than Friday.", &["later"]),
            ("Whether or not they travel, they keep it.", &[]),
            ("No, the no-fly zone is open.", &[]),
            ("Seals ordered: not yet, because of the letter.", &["ordered"]),
            ("The owner is missing: no owner! Still open.", &["owner"]),
            ("Nothing.", &[]),
        ];
        for (sentence, expected) in cases {
            assert_eq!(denied(sentence), expected, "{sentence}");
        }
    }
}
