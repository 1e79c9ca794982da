//! Finds JSON in a model's reply: behind a preamble, in a code fence, several values in sequence.

use serde_json::Value;

/// Most false beginnings of JSON before the rest of the text is ignored: a text full of brackets is not JSON.
const MOST_FALSE_STARTS: usize = 8;

/// The objects and arrays in a text, in order, outermost ones only.
#[must_use]
pub fn values(text: &str) -> Vec<Value> {
    let (mut found, mut from, mut false_starts) = (Vec::new(), 0, 0);
    while false_starts < MOST_FALSE_STARTS {
        let rest = text.get(from..).unwrap_or_default();
        let Some(start) = rest.find(['{', '[']) else { break };
        let candidate = rest.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
        if let Some(Ok(value)) = stream.next() {
            found.push(value);
            from += start + stream.byte_offset();
        } else {
            false_starts += 1;
            from += start + 1;
        }
    }
    found
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
    fn a_text_full_of_brackets_is_given_up() {
        assert_eq!(values(&format!("{}{{\"a\": 1}}", "[".repeat(9))), Vec::<Value>::new());
    }
}
