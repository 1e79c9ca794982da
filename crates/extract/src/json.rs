//! Converts JSON to lines of `path: value`, in the order of the document.
//!
//! A value is found and cited without the braces around it, so its line must contain its path. Each object of an array
//! becomes a separate paragraph. Numbers stay as they are written, because a parsed number is rounded.

use std::fmt;

use serde::{
    Deserialize,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{ExtractError, content::Content};

/// Adds a JSON document.
pub(super) fn document(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    value(text, content).map_err(|fault| fault.unwrap_or_else(|error| ExtractError::malformed("JSON", error)))
}

/// Adds JSON values, one on each line.
pub(super) fn lines(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        value(line, content).map_err(|fault| {
            fault.unwrap_or_else(|error| ExtractError::malformed("JSON", format!("line {}: {error}", index + 1)))
        })?;
    }
    Ok(())
}

/// The reason why the walk stopped: the content is full, or the JSON is invalid.
type Fault = Result<ExtractError, serde_json::Error>;

fn value(text: &str, content: &mut Content) -> Result<(), Fault> {
    let tokens = Tokens { rest: text };
    let mut writer = Writer { content, tokens, path: Vec::new(), begins_block: true, in_list: false, full: None };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Step(&mut writer).deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (read, writer.full) {
        (_, Some(full)) => Err(Ok(full)),
        (Err(error), None) => Err(Err(error)),
        (Ok(()), None) => Ok(()),
    }
}

struct Writer<'content> {
    content: &'content mut Content,
    /// From the next name or value on.
    tokens: Tokens<'content>,
    /// Names of the members around the value.
    path: Vec<String>,
    begins_block: bool,
    in_list: bool,
    full: Option<ExtractError>,
}

impl Writer<'_> {
    fn scalar<E: serde::de::Error>(&mut self, value: &str) -> Result<(), E> {
        if value.trim().is_empty() {
            return Ok(());
        }
        let line = if self.path.is_empty() { value.to_owned() } else { format!("{}: {value}", self.path.join(".")) };
        let written =
            if std::mem::take(&mut self.begins_block) { self.content.block(&line) } else { self.content.line(&line) };
        written.map_err(|full| {
            self.full = Some(full);
            E::custom("the document is full")
        })
    }
}

/// The names, values and opening brackets of JSON, in order.
///
/// They are read in step with the parser, once each. It checks the syntax, so wrong JSON may be cut anywhere here.
struct Tokens<'text> {
    rest: &'text str,
}

impl<'text> Iterator for Tokens<'text> {
    type Item = &'text str;

    fn next(&mut self) -> Option<&'text str> {
        let is_between = |sign: char| sign.is_ascii_whitespace() || matches!(sign, ',' | ':' | ']' | '}');
        let rest = self.rest.trim_start_matches(is_between);
        let length = match rest.as_bytes().first()? {
            b'{' | b'[' => 1,
            b'"' => string_length(rest),
            _ => rest.find(is_between).unwrap_or(rest.len()),
        };
        let (token, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(token)
    }
}

/// The length of the string at the beginning, in bytes, with its quote signs.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 2)
}

/// Walks into one value.
struct Step<'writer, 'content>(&'writer mut Writer<'content>);

impl<'de> DeserializeSeed<'de> for Step<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let token = self.0.tokens.next().unwrap_or_default();
        if !token.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return deserializer.deserialize_any(self);
        }
        // The syntax is checked without a limit on the size of the number.
        IgnoredAny::deserialize(deserializer)?;
        self.0.scalar(token)
    }
}

impl<'de> Visitor<'de> for Step<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.0.scalar(if value { "true" } else { "false" })
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.0.scalar(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let outer = std::mem::replace(&mut self.0.in_list, true);
        while list.next_element_seed(Step(&mut *self.0))?.is_some() {}
        self.0.in_list = outer;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let in_list = std::mem::take(&mut self.0.in_list);
        self.0.begins_block |= in_list;
        while let Some(name) = members.next_key::<String>()? {
            self.0.tokens.next();
            self.0.path.push(name);
            members.next_value_seed(Step(&mut *self.0))?;
            self.0.path.pop();
        }
        self.0.in_list = in_list;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cause;

    fn written(text: &str) -> String {
        let mut content = Content::default();
        document(text, &mut content).expect("JSON");
        content.text
    }

    #[test]
    fn values_say_what_they_are() {
        assert_eq!(
            written(r#"{"b": {"z": "Bern", "a": 1.5}, "a": [true, null, "x"], "e": "", "n": -3}"#),
            "b.z: Bern\nb.a: 1.5\na: true\na: x\nn: -3"
        );
        assert_eq!(written(r#"[{"name": "Ann", "age": 3}, {"name": "Bo"}]"#), "name: Ann\nage: 3\n\nname: Bo");
        assert_eq!(
            written(r#"{"team": [{"name": "Ann", "age": 3}, {"name": "Bo"}], "size": 2}"#),
            "team.name: Ann\nteam.age: 3\n\nteam.name: Bo\nsize: 2"
        );
        assert_eq!(written("\"words\\u0021\""), "words!");
        assert_eq!(written("[[], {}, null]"), "");
    }

    #[test]
    fn numbers_stay_as_they_are_written() {
        for number in [
            "12345678901234567890123",
            "-98765432109876543210",
            "1.10",
            "0.1000000000000000055",
            "1e400",
            "-1E+400",
            "1e-400",
            "1E5",
            "-0",
            "-0.0",
            "100.0",
        ] {
            assert_eq!(written(number), number);
            let text = format!(r#"{{"a":{number},"b" : "keep","c":[{number} ,{{"d":[{number}]}}]}}"#);
            assert_eq!(written(&text), format!("a: {number}\nb: keep\nc: {number}\n\nc.d: {number}"), "{text}");
            let mut content = Content::default();
            lines(&format!("{{\"a\":{number}}}\r\n{number}\n"), &mut content).expect("JSON lines");
            assert_eq!(content.text, format!("a: {number}\n\n{number}"));
        }
        let signs = r#"{"1": "2", "-3\\": 4.50, "\"5": "6\\\"7\\", "[8": [[], {}, 9.0], "{": null, "é,:": -1.0}"#;
        assert_eq!(written(signs), "1: 2\n-3\\: 4.50\n\"5: 6\\\"7\\\n\n[8: 9.0\né,:: -1.0");
    }

    #[test]
    fn lines_are_records() {
        let mut content = Content::default();
        lines("{\"a\": 1}\n\n{\"a\": 2, \"b\": 3}\r\n", &mut content).expect("JSON lines");
        assert_eq!(content.text, "a: 1\n\na: 2\nb: 3");
        let error = lines("{}\n{\"a\": }", &mut content).expect_err("wrong");
        assert!(error.cause == Cause::Malformed && error.message.contains("line 2"), "{error:?}");
    }

    #[test]
    fn wrong_and_deep_json_is_malformed() {
        let deep = |depth| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(written(&deep(100)), "1");
        let numbers = ["-", "01", "1.", ".5", "+1", "1e", "1 2", "[1 2]", "[1,,2]", "{1:2}", "{\"a\":1.2.3}", "[,1]"];
        let others = ["", "{", "{} {}", "[1,]", &"[".repeat(100_000), &deep(1000)];
        for text in numbers.into_iter().chain(others) {
            assert_eq!(document(text, &mut Content::default()).expect_err("wrong").cause, Cause::Malformed);
        }
    }
}
