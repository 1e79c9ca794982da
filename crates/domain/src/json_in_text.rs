//! Finds JSON in a model's reply: behind a preamble, in a code fence, several values in sequence.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Most false beginnings of JSON before the rest of the text is ignored: a text full of brackets is not JSON.
const MOST_FALSE_STARTS: usize = 8;

/// JSON in a text, and the text without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InText<T> {
    /// The objects and arrays, in order, outermost ones only.
    pub found: Vec<T>,
    /// The text before, between and after them.
    pub rest: String,
}

/// The objects and arrays in a text.
#[must_use]
pub fn find<T: DeserializeOwned>(text: &str) -> InText<T> {
    let (mut found, mut rest, mut false_starts) = (Vec::new(), String::new(), 0);
    let (mut from, mut searched) = (0, 0);
    while false_starts < MOST_FALSE_STARTS {
        let Some(start) = text.get(searched..).and_then(|text| text.find(['{', '['])) else { break };
        let start = searched + start;
        let mut stream = serde_json::Deserializer::from_str(text.get(start..).unwrap_or_default()).into_iter::<T>();
        if let Some(Ok(value)) = stream.next() {
            found.push(value);
            rest.push_str(text.get(from..start).unwrap_or_default());
            searched = start + stream.byte_offset();
            from = searched;
        } else {
            false_starts += 1;
            searched = start + 1;
        }
    }
    rest.push_str(text.get(from..).unwrap_or_default());
    InText { found, rest }
}

/// The objects and arrays in a text, as values.
#[must_use]
pub fn values(text: &str) -> Vec<Value> {
    find(text).found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_wherever_they_stand() {
        let cases = [
            ("{\"a\": 1}", vec![json!({"a": 1})]),
            ("Sure! Here it is:\n```json\n{\"a\": [1, 2]}\n```\nAnything else?", vec![json!({"a": [1, 2]})]),
            ("{\"a\": 1}\n{\"a\": 2}", vec![json!({"a": 1}), json!({"a": 2})]),
            ("as [^1] says {x}: [\"y\"]", vec![json!(["y"])]),
            ("nothing", vec![]),
            ("{\"cut\": \"of", vec![]),
            ("[é{[", vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn the_rest_is_what_is_no_json() {
        let text = "see [^1]: {\"a\": 1} and [2] too";
        assert_eq!(find::<Value>(text).rest, "see [^1]:  and  too");
        assert_eq!(find::<Value>("no json").rest, "no json");
    }

    #[test]
    fn a_text_full_of_brackets_is_given_up() {
        assert_eq!(values(&format!("{}{{\"a\": 1}}", "[".repeat(9))), Vec::<Value>::new());
    }
}
