//! Passages as commands print them.

use std::fmt::Write as _;

use serde_json::Value;

use super::service_call::items;

/// A source by its title, its page and its headings, and its name.
pub(super) fn named(source: &Value) -> String {
    named_at(source, source.get("page").and_then(Value::as_i64))
}

/// The same with this page of it.
pub(super) fn named_at(source: &Value, page: Option<i64>) -> String {
    let member = |name: &str| source.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut name = member("title").to_owned();
    if let Some(page) = page {
        let _ = write!(name, ", p. {page}");
    }
    // The first heading is often the title.
    let headings =
        items(source, "heading").iter().filter_map(Value::as_str).filter(|heading| *heading != member("title"));
    let headings: Vec<&str> = headings.collect();
    if !headings.is_empty() {
        let _ = write!(name, ", {}", headings.join(" › "));
    }
    let label = if member("origin") == "web" { "from the web: " } else { "" };
    format!("{name} ({label}{})", member("source"))
}

/// A text on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_is_named_with_page_and_headings() {
        let source =
            json!({"title": "Leave", "source": "leave.pdf", "page": 4, "heading": ["Leave", "Parents", "Fathers"]});
        assert_eq!(named(&source), "Leave, p. 4, Parents › Fathers (leave.pdf)");
        assert_eq!(
            named(&json!({"title": "Leave", "source": "leave.md", "page": null, "heading": []})),
            "Leave (leave.md)"
        );
        let page = json!({"title": "Mars", "source": "https://mars.example/", "origin": "web", "heading": []});
        assert_eq!(named(&page), "Mars (from the web: https://mars.example/)");
    }
}
