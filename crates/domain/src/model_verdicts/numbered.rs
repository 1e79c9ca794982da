//! Reads the numbers that entries of a reply begin with.

/// Longest reason kept, in characters.
const LONGEST_REASON: usize = 200;

/// Words that stand before a number.
const LABELS: [&str; 20] = [
    "source",
    "statement",
    "claim",
    "document",
    "chunk",
    "passage",
    "id",
    "item",
    "quelle",
    "aussage",
    "affirmation",
    "fuente",
    "afirmación",
    "fonte",
    "bron",
    "来源",
    "陈述",
    "出典",
    "ソース",
    "第",
];

/// A reason without the separator after the verdict, cut to the longest length kept.
pub(super) fn tidy(reason: &str) -> String {
    let reason = reason.trim_matches(|c: char| c.is_whitespace() || "-–—:,.;|*\"'`()".contains(c));
    reason.chars().take(LONGEST_REASON).collect()
}

/// The number a line starts with, behind bullets, "Source", brackets and the like, and the rest. "1.5 hours" and "2nd"
/// begin with no number of an item.
pub(super) fn numbered(line: &str) -> Option<(usize, &str)> {
    let start = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let label = LABELS.iter().find(|label| {
        let head = start.chars().take(label.chars().count());
        head.flat_map(char::to_lowercase).eq(label.chars())
    });
    let skipped = label.map_or(0, |label| label.chars().count());
    let mut rest = start.chars();
    rest.by_ref().take(skipped).for_each(drop);
    let rest = rest.as_str().trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at_checked(end)?;
    let mut next = rest.chars();
    let is_longer = match next.next() {
        Some('.' | ',') => next.next().is_some_and(|sign| sign.is_ascii_digit()),
        Some(sign) => sign.is_ascii_alphanumeric(),
        None => false,
    };
    if is_longer { None } else { Some((number.parse().ok()?, rest)) }
}

/// The number of a text that holds nothing else, "source 2".
pub(super) fn number_alone(text: &str) -> Option<usize> {
    let (number, rest) = numbered(text)?;
    (!rest.contains(char::is_alphanumeric)).then_some(number)
}

/// The text after the first word of a line.
pub(super) fn after_first_word(line: &str) -> &str {
    let is_word = |c: char| c.is_alphabetic();
    let Some(start) = line.find(is_word) else {
        return "";
    };
    let rest = line.get(start..).unwrap_or_default();
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    rest.get(end..).unwrap_or_default()
}
