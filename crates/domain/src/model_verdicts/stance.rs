//! The sense of a phrase in which a model states a verdict.
//!
//! Assent must be plain. A phrase that denies something, in whatever form, a hedge, and a phrase that says both are
//! never assent: whoever acts on a verdict may rely on that, whatever the model wrote.

/// The sense of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stance {
    /// Plainly yes: correct, relevant, supported.
    Assent,
    /// Neither plainly yes nor plainly no.
    Hedge,
    /// No.
    Dissent,
}

/// Words that state a yes.
const ASSENT: &[&str] = &[
    "correct",
    "relevant",
    "supported",
    "support",
    "supports",
    "supporting",
    "yes",
    "true",
    "entailed",
    "entails",
    "entailment",
    "verified",
    "confirmed",
    "accurate",
    "y", // English
    "ja",
    "richtig",
    "korrekt",
    "wahr",
    "belegt",
    "gestützt",
    "zutreffend",
    "juist",
    "waar",
    "relevante", // German, Dutch
    "oui",
    "vrai",
    "correcte",
    "pertinent",
    "pertinente",
    "étayé",
    "soutenu", // French
    "sí",
    "sì",
    "sim",
    "verdadero",
    "verdadeiro",
    "vero",
    "correcto",
    "correto",
    "corretto",
    "cierto",
    "respaldado",
    "supportato",
    "tak",
    "evet",
    "kyllä",
    "jo",
    "да",
    "верно",
    "правда",
    "예",
    "네",
];

/// Words that state a no.
const DISSENT: &[&str] = &[
    "incorrect",
    "irrelevant",
    "unsupported",
    "unrelated",
    "false",
    "wrong",
    "contradicted",
    "contradicts",
    "contradict",
    "contradictory",
    "contradiction",
    "contradicting",
    "refuted",
    "refutes",
    "unverified",
    "unconfirmed",
    "inaccurate",
    "untrue",
    "unfounded",
    "baseless",
    "invented",
    "hallucinated",
    "fabricated",
    "misleading",
    "unproven",
    "n",
    "nein",
    "falsch",
    "inkorrekt",
    "unwahr",
    "unbelegt",
    "irrelevante",
    "onjuist",
    "onwaar",
    "nee",
    "nej",
    "nei",
    "non",
    "faux",
    "fausse",
    "incorrecto",
    "incorreto",
    "incorrecte",
    "scorretto",
    "falso",
    "não",
    "nao",
    "nie",
    "hayır",
    "нет",
    "неверно",
    "ложь",
    "아니요",
    "아니",
];

/// Words that deny what stands beside them.
const NEGATION: &[&str] = &[
    "not",
    "no",
    "never",
    "hardly",
    "barely",
    "scarcely",
    "cannot",
    "cant",
    "without",
    "neither",
    "nor",
    "none",
    "nothing",
    "lacks",
    "lacking",
    "lack",
    "fails",
    "failed",
    "fail",
    "insufficiently",
    "insufficient",
    "inadequately",
    "poorly",
    "little",
    "isnt",
    "arent",
    "doesnt",
    "dont",
    "didnt",
    "wasnt",
    "werent",
    "wont",
    "wouldnt",
    "couldnt",
    "shouldnt",
    "hasnt",
    "havent",
    "far",
    "anything",
    "too",
    "nowhere",
    "absent",
    "missing",
    "unable",
    "impossible",
    "denied",
    "denies",
    "rejected",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "kaum",
    "niet",
    "geen",
    "inte",
    "ikke",
    "ei",
    "pas",
    "ne",
    "sans",
    "aucun",
    "aucune",
    "ningún",
    "ninguna",
    "sin",
    "nessun",
    "nessuna",
    "senza",
    "nenhum",
    "nenhuma",
    "sem",
    "не",
    "ни",
    "без",
];

/// Words that take a verdict half back.
const HEDGE: &[&str] = &[
    "ambiguous",
    "partial",
    "partially",
    "partly",
    "unclear",
    "unsure",
    "uncertain",
    "maybe",
    "perhaps",
    "possibly",
    "somewhat",
    "probably",
    "probable",
    "likely",
    "mostly",
    "largely",
    "marginally",
    "loosely",
    "tangentially",
    "indirectly",
    "vaguely",
    "weakly",
    "doubtful",
    "questionable",
    "arguably",
    "undecided",
    "unknown",
    "mixed",
    "inconclusive",
    "plausible",
    "plausibly",
    "vielleicht",
    "teilweise",
    "möglicherweise",
    "unklar",
    "misschien",
    "deels",
    "partiellement",
    "quizás",
    "parcialmente",
    "forse",
    "parzialmente",
    "talvez",
    "возможно",
    "частично",
];

/// Words that take back a verdict beside them, and are none alone.
const MODAL: &[&str] = &[
    "part",
    "might",
    "may",
    "could",
    "would",
    "should",
    "if",
    "unless",
    "half",
    "limited",
    "possible",
    "sometimes",
    "almost",
    "nearly",
    "depends",
    "peut",
];

/// Words that may stand beside a verdict without saying anything themselves.
const FILLER: &[&str] = &[
    "a",
    "an",
    "the",
    "is",
    "are",
    "was",
    "be",
    "been",
    "it",
    "its",
    "this",
    "that",
    "so",
    "and",
    "but",
    "or",
    "rather",
    "really",
    "very",
    "quite",
    "at",
    "all",
    "entirely",
    "fully",
    "completely",
    "directly",
    "clearly",
    "definitely",
    "certainly",
    "indeed",
    "statement",
    "source",
    "sources",
    "passage",
    "claim",
    "verdict",
    "grade",
    "answer",
    "by",
    "well",
    "as",
    "of",
    "to",
    "in",
    "grounded",
    "therefore",
    "thus",
    "final",
    "actually",
    "however",
    "though",
    "still",
    "just",
    "simply",
];

/// Adverbs of degree: what is not fully so may be so in part.
const DEGREE: &[&str] =
    &["entirely", "fully", "completely", "wholly", "totally", "strictly", "exactly", "quite", "directly", "always"];

/// Syllables of languages written without spaces, by what they state.
const ASSENT_SIGNS: &[&str] = &["正确", "相关", "支持", "正しい", "はい", "関連", "是", "对", "✓", "✔", "✅"];
const NEGATION_SIGNS: &[&str] = &["不", "否", "没", "非", "无", "ない", "いいえ", "ません", "✗", "✘", "❌"];
const HEDGE_SIGNS: &[&str] = &["部分", "可能", "一部", "かも", "或许"];

/// Characters that end a clause of a verdict.
const CLAUSE_ENDS: &[char] =
    &[',', ';', '.', '!', '?', ':', '(', ')', '|', '\n', '。', '、', '，', '；', '？', '！', '：', '—', '–'];

/// The sense of a phrase: the verdict, and a reason that may follow behind a dash. `None` if it states nothing.
#[must_use]
pub fn stance_of(phrase: &str) -> Option<Stance> {
    let phrase = phrase.trim_start_matches(|c: char| c.is_whitespace() || "-–—:.)]|*".contains(c));
    let (verdict, reason) = split_reason(phrase);
    let mut found: Option<Stance> = None;
    let mut is_denied = begins_with_denial(reason);
    for clause in verdict.split(CLAUSE_ENDS).map(Clause::read) {
        match clause.stance() {
            Some(stance) => found = Some(found.map_or(stance, |before| combined(before, stance))),
            None => is_denied |= clause.negations > 0,
        }
    }
    // Otherwise a reason counts only where it is nothing but another verdict.
    for clause in reason.split(CLAUSE_ENDS).map(Clause::read).filter(Clause::is_pure) {
        if let (Some(before), Some(stance)) = (found, clause.stance()) {
            found = Some(combined(before, stance));
        }
    }
    if found == Some(Stance::Assent) && is_denied { Some(Stance::Hedge) } else { found }
}

/// Whether a reason takes back what stands before it: "supported - not by this source". One that only mentions
/// something absent ("no fee is charged") does not.
fn begins_with_denial(reason: &str) -> bool {
    let lowered = reason.to_lowercase().replace(['\'', '’', '`'], "");
    let mut words = lowered.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.find(|word| !FILLER.contains(word)).unwrap_or_default();
    NEGATION.contains(&first)
        && !["no", "none", "nothing", "never", "without", "little", "keine", "kein"].contains(&first)
}

/// Whether a phrase is a verdict and nothing else.
#[must_use]
pub fn is_bare(phrase: &str) -> bool {
    let clause = Clause::read(phrase);
    clause.is_pure() && clause.words > 0 && stance_of(phrase).is_some()
}

/// Two verdicts of one phrase: they agree, or the phrase says both.
#[must_use]
pub fn combined(one: Stance, two: Stance) -> Stance {
    match (one, two) {
        (Stance::Assent, Stance::Assent) => Stance::Assent,
        (Stance::Dissent, Stance::Dissent | Stance::Hedge) | (Stance::Hedge, Stance::Dissent) => Stance::Dissent,
        _ => Stance::Hedge,
    }
}

/// The part before the first dash between blanks, and the part after it.
fn split_reason(phrase: &str) -> (&str, &str) {
    let dashes = [" - ", " – ", " — ", " -- ", "—", " because ", " since ", " weil ", " parce "];
    let first = dashes.iter().filter_map(|dash| Some((phrase.find(dash)?, dash.len()))).min();
    first.map_or((phrase, ""), |(at, length)| {
        (phrase.get(..at).unwrap_or_default(), phrase.get(at + length..).unwrap_or_default())
    })
}

/// The words of a clause, counted by what they state.
#[derive(Debug, Default)]
struct Clause {
    words: usize,
    others: usize,
    assents: usize,
    dissents: usize,
    negations: usize,
    hedges: usize,
    modals: usize,
    degrees: usize,
}

impl Clause {
    fn read(text: &str) -> Self {
        let lowered = text.to_lowercase().replace(['\'', '’', '`'], "");
        let mut clause = Self::default();
        let is_word = |c: &char| c.is_alphanumeric();
        for word in lowered.split(|c: char| !is_word(&c)).filter(|word| !word.is_empty()) {
            clause.words += 1;
            let counts = [
                (ASSENT, &mut clause.assents),
                (DISSENT, &mut clause.dissents),
                (NEGATION, &mut clause.negations),
                (HEDGE, &mut clause.hedges),
                (MODAL, &mut clause.modals),
                (DEGREE, &mut clause.degrees),
            ];
            let mut is_known = FILLER.contains(&word);
            for (words, count) in counts {
                if words.contains(&word) {
                    *count += 1;
                    is_known = true;
                }
            }
            clause.others += usize::from(!is_known);
        }
        for (signs, count) in [
            (ASSENT_SIGNS, &mut clause.assents),
            (NEGATION_SIGNS, &mut clause.negations),
            (HEDGE_SIGNS, &mut clause.hedges),
        ] {
            let holds = signs.iter().any(|sign| lowered.contains(sign));
            *count += usize::from(holds);
            // Text without spaces is one word, and not a foreign one.
            clause.others -= usize::from(holds && clause.others > 0);
            clause.words += usize::from(holds && clause.words == 0);
        }
        clause
    }

    /// Whether it holds nothing but words of verdicts.
    fn is_pure(&self) -> bool {
        self.others == 0
    }

    fn stance(&self) -> Option<Stance> {
        let is_negated = self.negations > 0;
        match (self.assents > 0, self.dissents > 0) {
            (true, true) if is_negated => Some(Stance::Dissent),
            (true, true) => Some(Stance::Hedge),
            (false, true) if is_negated => Some(Stance::Hedge),
            (false, true) => Some(Stance::Dissent),
            (true, false) if is_negated && self.degrees > 0 => Some(Stance::Hedge),
            (true, false) if is_negated => Some(Stance::Dissent),
            (true, false) if self.hedges + self.modals > 0 => Some(Stance::Hedge),
            (true, false) => Some(Stance::Assent),
            (false, false) if self.hedges > 0 => Some(Stance::Hedge),
            (false, false) if is_negated && self.is_pure() => Some(Stance::Dissent),
            (false, false) => None,
        }
    }
}
