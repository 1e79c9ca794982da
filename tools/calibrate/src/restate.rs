//! Questions with their answers as statements, and sentences cut to the clause that holds an answer.

const AUXILIARIES: [&str; 24] = [
    "is", "was", "are", "were", "did", "do", "does", "has", "have", "had", "can", "could", "will", "would", "should",
    "may", "might", "must", "be", "been", "isn't", "wasn't", "didn't", "doesn't",
];
const DROPPED: [&str; 3] = ["did", "do", "does"];

/// "When was Emma written?" and "1815" become "1815 was Emma written." Crude, but the words of an answer
/// in their neighbourhoods. `None` if the question has no question word.
pub fn restated(question: &str, answer: &str) -> Option<String> {
    let words: Vec<&str> = question.trim().trim_end_matches('?').split_whitespace().collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let at = lower.iter().position(|word| {
        matches!(word.as_str(), "who" | "whom" | "whose" | "what" | "which" | "when" | "where" | "how" | "what's")
    })?;
    // The phrase ends before its verb: "what century | did".
    let verb = lower.iter().enumerate().skip(at + 1).take(4).find(|(_, word)| AUXILIARIES.contains(&word.as_str()));
    let counts =
        matches!(lower.get(at + 1).map(String::as_str), Some("many" | "much" | "long" | "often" | "old" | "far"));
    let end = match verb {
        _ if lower[at] == "how" && counts => at + 2,
        Some((verb, _)) => verb,
        None => at + 1,
    };
    let rest = words[end..].iter().zip(&lower[end..]);
    let rest = rest.enumerate().filter(|(place, (_, word))| *place > 2 || !DROPPED.contains(&word.as_str()));
    let rest: Vec<&str> = rest.map(|(_, (word, _))| *word).collect();
    let before = words[..at].join(" ");
    let text = format!("{before} {answer} {}", rest.join(" "));
    let mut letters = text.trim().chars();
    let first = letters.next()?;
    Some(format!("{}{}.", first.to_uppercase(), letters.as_str().trim_end_matches('.')))
}

/// The part of a sentence between commas that holds the answer, if it is long enough to say something.
pub fn clause_with(sentence: &str, answer: &str) -> String {
    let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let clause = sentence.split([',', ';']).find(|clause| clause.contains(answer));
    let clause = clause.filter(|clause| clause.split_whitespace().count() >= 6).unwrap_or(&sentence);
    format!("{}.", clause.trim().trim_end_matches('.'))
}
