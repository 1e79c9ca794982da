//! Words that frame a question instead of naming its subject: a passage that answers "in what year" rarely says "year".

/// Share of its frequency for which a word of the frame counts.
pub(super) const WEIGHT: f32 = 0.4;

/// The words as stems.
const STEMS: [&str; 42] = [
    "allow",
    "anybodi",
    "anyon",
    "anyth",
    "call",
    "come",
    "date",
    "describ",
    "differ",
    "everybodi",
    "everyon",
    "explain",
    "get",
    "give",
    "got",
    "happen",
    "kind",
    "known",
    "list",
    "look",
    "mani",
    "mean",
    "much",
    "name",
    "need",
    "number",
    "percentag",
    "permit",
    "person",
    "possibl",
    "purpos",
    "refer",
    "somebodi",
    "someon",
    "someth",
    "sort",
    "term",
    "type",
    "version",
    "want",
    "whose",
    "year",
];

/// Verbs that relate what is asked for to its subject, as stems.
const RELATIONS: [&str; 12] = [
    "belong",
    "consist",
    "constitut",
    "contain",
    "correspond",
    "depend",
    "exist",
    "includ",
    "involv",
    "occur",
    "pertain",
    "relat",
];

/// Words that ask after "how" for a time, a frequency or a distance.
const AFTER_HOW: [&str; 5] = ["far", "frequently", "long", "often", "soon"];

/// Whether a word in lower case asks for a time, a frequency or a distance: no answer has it.
pub(crate) fn asks_how(word: &str) -> bool {
    AFTER_HOW.contains(&word)
}

/// Whether a stem is a verb that relates what is asked for to its subject, which documents do in other words: "to which shelf
/// does the jar belong" is told by "the jar stands on the shelf of lids".
pub(crate) fn relates(stem: &str) -> bool {
    RELATIONS.contains(&stem)
}

/// Whether a stem is of the frame of a question.
pub(crate) fn has(stem: &str) -> bool {
    STEMS.contains(&stem)
}
