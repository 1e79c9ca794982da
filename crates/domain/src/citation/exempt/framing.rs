//! Words that order an answer and state nothing: "steps", "summary", "following". English only.

/// Words of headings and lead-ins that need no source. Sorted, for the binary search, as are the other lists.
const FRAMING: [&str; 155] = [
    "above",
    "additional",
    "additionally",
    "advantages",
    "alternative",
    "alternatives",
    "analysis",
    "answer",
    "answers",
    "approach",
    "aspect",
    "aspects",
    "background",
    "based",
    "below",
    "benefit",
    "benefits",
    "briefly",
    "case",
    "cases",
    "category",
    "cause",
    "causes",
    "caution",
    "command",
    "commands",
    "common",
    "comparison",
    "conclusion",
    "conditions",
    "cons",
    "consider",
    "considerations",
    "context",
    "date",
    "definition",
    "description",
    "detail",
    "details",
    "difference",
    "differences",
    "disadvantages",
    "discussion",
    "document",
    "documents",
    "effect",
    "effects",
    "evidence",
    "example",
    "examples",
    "exception",
    "exceptions",
    "explanation",
    "fact",
    "factors",
    "facts",
    "faq",
    "feature",
    "features",
    "final",
    "finding",
    "findings",
    "follow",
    "following",
    "further",
    "general",
    "go",
    "here",
    "history",
    "important",
    "information",
    "instruction",
    "instructions",
    "introduction",
    "item",
    "items",
    "key",
    "limitations",
    "list",
    "listed",
    "main",
    "method",
    "methods",
    "name",
    "next",
    "note",
    "notes",
    "number",
    "option",
    "options",
    "order",
    "other",
    "outcome",
    "overview",
    "part",
    "parts",
    "passage",
    "passages",
    "perform",
    "phase",
    "point",
    "points",
    "prerequisites",
    "procedure",
    "process",
    "pros",
    "provided",
    "purpose",
    "question",
    "questions",
    "quick",
    "read",
    "reason",
    "reasons",
    "recommendation",
    "recommendations",
    "refer",
    "reference",
    "references",
    "related",
    "relevant",
    "remember",
    "requirement",
    "requirements",
    "result",
    "results",
    "rule",
    "rules",
    "section",
    "see",
    "sentence",
    "sentences",
    "short",
    "similarities",
    "source",
    "sources",
    "specific",
    "step",
    "steps",
    "summary",
    "table",
    "takeaways",
    "thing",
    "things",
    "timeline",
    "tip",
    "tips",
    "topic",
    "type",
    "types",
    "use",
    "value",
    "warning",
    "way",
    "ways",
];

/// Words that number what they precede ("Step 2") or follow ("3 steps").
const NUMBERED: [&str; 44] = [
    "answers",
    "aspects",
    "benefits",
    "cases",
    "causes",
    "conditions",
    "differences",
    "documents",
    "example",
    "examples",
    "exceptions",
    "factors",
    "facts",
    "features",
    "findings",
    "following",
    "item",
    "items",
    "key",
    "main",
    "methods",
    "option",
    "options",
    "part",
    "parts",
    "passages",
    "phase",
    "phases",
    "point",
    "points",
    "question",
    "questions",
    "reasons",
    "requirements",
    "rules",
    "section",
    "source",
    "sources",
    "step",
    "steps",
    "things",
    "tips",
    "types",
    "ways",
];

/// Function words of German that are no words of English: German writes every noun with a capital.
const GERMAN: [&str; 64] = [
    "aber", "als", "auch", "auf", "aus", "bei", "beim", "da", "daher", "dass", "dazu", "dem", "den", "denn", "der",
    "diese", "dieser", "dort", "durch", "ein", "eine", "einem", "einen", "einer", "er", "es", "folgende", "für",
    "gilt", "heißt", "ihm", "ihn", "ihr", "im", "ist", "ja", "laut", "mit", "nach", "nein", "nicht", "noch", "nur",
    "ob", "oder", "schon", "sich", "sie", "sind", "steht", "und", "uns", "vom", "von", "vor", "weil", "wenn", "werden",
    "wie", "wird", "zu", "zum", "zur", "über",
];

/// Most that a number counting parts of the answer can be.
const MOST_PARTS: u32 = 20;

/// Whether a word in lower case orders an answer.
pub(in crate::citation) fn is_framing(word: &str) -> bool {
    FRAMING.binary_search(&word).is_ok()
}

/// Whether a number between these words in lower case counts parts of the answer.
pub(super) fn counts_parts(number: &str, before: Option<&str>, after: Option<&str>) -> bool {
    let numbers = |word: Option<&str>| word.is_some_and(|word| NUMBERED.binary_search(&word).is_ok());
    number.parse().is_ok_and(|number: u32| number <= MOST_PARTS) && (numbers(before) || numbers(after))
}

/// Whether words in lower case are German, so that a capital does not make a name.
pub(crate) fn is_german<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    words.any(|word| GERMAN.binary_search(&word).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        let unsorted = |list: &[&str]| {
            list.windows(2).filter(|pair| pair[0] >= pair[1]).map(|pair| pair[1].to_owned()).collect::<Vec<_>>()
        };
        for list in [&FRAMING[..], &NUMBERED, &GERMAN] {
            assert_eq!(unsorted(list), [""; 0]);
        }
    }

    #[test]
    fn counts_parts_of_an_answer_only() {
        assert!(counts_parts("2", Some("step"), None) && counts_parts("3", Some("the"), Some("steps")));
        assert!(!counts_parts("112", Some("step"), None) && !counts_parts("3", Some("take"), Some("tablets")));
    }
}
