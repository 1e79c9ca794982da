//! Filters of search and ask: conditions on a document's metadata, source, identity and pages.
//!
//! Conditions on metadata become one SQL/JSON path predicate (ISO/IEC 19075-6), evaluated in lax mode:
//! a condition on an array holds if it holds for one of its elements.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// The chunks that may be found. The empty filter admits all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Filter {
    /// Conditions on metadata; all must hold.
    pub metadata: Vec<Condition>,
    /// Prefix of the document's source.
    pub source_prefix: Option<String>,
    /// Documents, any of them; empty means all.
    pub document_ids: Vec<Uuid>,
    /// Pages, any of them; empty means all.
    pub pages: Vec<i32>,
    /// Numbers of the principals that the caller is, one of which must be allowed and none denied; `None` admits every
    /// document. Requests cannot set it.
    pub caller: Option<Vec<i32>>,
}

/// One condition on a metadata key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// Key of the metadata object.
    pub key: String,
    /// The condition on its value.
    pub test: Test,
}

/// A condition on a metadata value. Values are JSON scalars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Test {
    /// Equal to one of these.
    AnyOf(Vec<Value>),
    /// Within these bounds; numbers compare with numbers, strings with strings.
    Range(Vec<(Bound, Value)>),
    /// The key is there, or is not.
    Exists(bool),
}

/// One end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Bound {
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal.
    Lte,
}

impl Bound {
    const fn operator(self) -> &'static str {
        match self {
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Lt => "<",
            Self::Lte => "<=",
        }
    }
}

impl Filter {
    /// Whether the filter admits everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it is bound to a caller and admits everything that the caller may see.
    #[must_use]
    pub fn is_caller_alone(&self) -> bool {
        matches!(self.parts().as_slice(), [Part::Caller(_)])
    }

    /// The predicate over metadata, if there is a condition on it.
    #[must_use]
    pub fn metadata_path(&self) -> Option<String> {
        if self.metadata.is_empty() {
            return None;
        }
        let conditions: Vec<String> = self.metadata.iter().map(Condition::path).collect();
        Some(conditions.join(" && "))
    }

    /// Its parts, ordered so that those that usually leave fewest documents come first.
    #[must_use]
    pub fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        if !self.document_ids.is_empty() {
            parts.push(Part::DocumentIds(&self.document_ids));
        }
        if !self.pages.is_empty() {
            parts.push(Part::Pages(&self.pages));
        }
        parts.extend(self.source_prefix.as_deref().map(Part::SourcePrefix));
        parts.extend(self.caller.as_deref().map(Part::Caller));
        let mut conditions: Vec<&Condition> = self.metadata.iter().collect();
        conditions.sort_by_key(|condition| match condition.test {
            Test::AnyOf(_) => 0,
            Test::Range(_) => 1,
            Test::Exists(_) => 2,
        });
        parts.extend(conditions.into_iter().map(Part::Metadata));
        parts
    }
}

/// One part of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part<'a> {
    /// A condition on metadata.
    Metadata(&'a Condition),
    /// Prefix of the document's source.
    SourcePrefix(&'a str),
    /// One of these documents.
    DocumentIds(&'a [Uuid]),
    /// One of these pages.
    Pages(&'a [i32]),
    /// Seen by a caller who is these principals.
    Caller(&'a [i32]),
}

/// The least text that is greater than every text with this prefix, code point by code point; `None` if there is none.
#[must_use]
pub fn end_of_prefix(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        // A range of characters leaves out the surrogates.
        if let Some(next) = (last..=char::MAX).nth(1) {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

impl Condition {
    /// The equivalent SQL/JSON predicate over metadata.
    #[must_use]
    pub fn path(&self) -> String {
        let key = format!("$.{}", quoted(&self.key));
        match &self.test {
            Test::AnyOf(values) => {
                let alternatives: Vec<String> =
                    values.iter().map(|value| format!("{key} == {}", literal(value))).collect();
                if alternatives.is_empty() { "(1 == 2)".to_owned() } else { format!("({})", alternatives.join(" || ")) }
            }
            Test::Range(bounds) => {
                let limits: Vec<String> =
                    bounds.iter().map(|(bound, value)| format!("@ {} {}", bound.operator(), literal(value))).collect();
                format!("exists({key} ? ({}))", limits.join(" && "))
            }
            Test::Exists(true) => format!("exists({key})"),
            Test::Exists(false) => format!("!exists({key})"),
        }
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A string literal of the path language. Every character that could end it, or that the language might read
/// differently from JSON, is written as a Unicode escape.
fn quoted(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    let mut units = [0; 2];
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || " _-./:@".contains(character) {
            literal.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(literal, "\\u{unit:04x}");
            }
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn path(key: &str, test: Test) -> String {
        Filter { metadata: vec![Condition { key: key.to_owned(), test }], ..Filter::default() }
            .metadata_path()
            .expect("one condition")
    }

    #[test]
    fn conditions_become_one_predicate() {
        assert_eq!(path("team", Test::AnyOf(vec![json!("people")])), r#"($."team" == "people")"#);
        assert_eq!(path("n", Test::AnyOf(vec![json!(1), json!(true)])), r#"($."n" == 1 || $."n" == true)"#);
        assert_eq!(
            path("y", Test::Range(vec![(Bound::Gte, json!(2020)), (Bound::Lt, json!(2024))])),
            r#"exists($."y" ? (@ >= 2020 && @ < 2024))"#
        );
        assert_eq!(path("o", Test::Exists(false)), r#"!exists($."o")"#);
        assert_eq!(Filter::default().metadata_path(), None);
    }

    #[test]
    fn quotes_cannot_be_closed() {
        assert_eq!(
            path(r#"a" || true || "#, Test::Exists(true)),
            r#"exists($."a\u0022 \u007c\u007c true \u007c\u007c ")"#
        );
    }

    proptest! {
        #[test]
        fn a_literal_reads_back_as_its_text(text in "\\PC*") {
            let parsed: String = serde_json::from_str(&quoted(&text)).expect("also valid JSON");
            prop_assert_eq!(parsed, text);
        }
    }
}
