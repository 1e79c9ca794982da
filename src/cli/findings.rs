//! Findings of the check of citations, as commands print them: one line each.

use serde_json::Value;

use super::{
    passage::one_line,
    service_call::{items, text},
};

/// Longest beginning of the words that a finding is about, in characters.
const MOST_WORDS: usize = 80;

/// A finding with the words of the text that it is about, if it is about any.
pub(super) fn finding(found: &Value, checked: &str) -> String {
    let (kind, detail) = (text(found, "kind"), text(found, "detail"));
    match words(found, checked) {
        Some(words) => format!("{kind}: \"{words}\": {detail}"),
        None => format!("{kind}: {detail}"),
    }
}

/// The words that a finding is about, on one line and cut to a few; `None` if it is about no part of the text.
fn words(found: &Value, checked: &str) -> Option<String> {
    let bound = |place: &str| found.pointer(place)?.as_u64().and_then(|bound| usize::try_from(bound).ok());
    let (start, end) = (bound("/span/0")?, bound("/span/1")?);
    let all = one_line(&checked.chars().skip(start).take(end.saturating_sub(start)).collect::<String>());
    let beginning: String = all.chars().take(MOST_WORDS).collect();
    let cut = if beginning.len() < all.len() { "…" } else { "" };
    (!all.is_empty()).then(|| format!("{}{cut}", beginning.trim_end()))
}

/// The errors of a rejected answer, below each other; empty where the problem is another one.
pub(super) fn rejection(problem: &Value) -> String {
    let draft = problem.get("draft").and_then(Value::as_str).unwrap_or_default();
    items(&problem["validation"], "errors").iter().map(|error| format!("\n  {}", finding(error, draft))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_finding_quotes_what_it_is_about() {
        let mut found = json!({"kind": "uncited_claim", "detail": "no marker covers it", "span": [4, 13]});
        assert_eq!(finding(&found, "Ja. 28 däys\n. No"), "uncited_claim: \"28 däys .\": no marker covers it");
        assert_eq!(finding(&found, ""), "uncited_claim: no marker covers it");
        found["span"] = json!([0, 200]);
        let long = finding(&found, &"word ".repeat(40));
        assert_eq!(long, format!("uncited_claim: \"{}word…\": no marker covers it", "word ".repeat(15)));
        found["span"] = Value::Null;
        assert_eq!(finding(&found, "Ja."), "uncited_claim: no marker covers it");
    }

    #[test]
    fn a_rejection_lists_its_errors() {
        let error = json!({"kind": "out_of_range", "detail": "source 7 does not exist", "marker": 7, "span": null});
        let problem = json!({"validation": {"errors": [error]}});
        assert_eq!(rejection(&problem), "\n  out_of_range: source 7 does not exist");
        assert_eq!(rejection(&json!({"detail": "wrong"})), "");
    }
}
