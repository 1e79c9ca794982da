//! Reads verdicts in JSON of the shapes that models use: `{"1": "correct"}`, `[{"source": 1, "grade": "correct"}]`,
//! `{"supported": false}`, `[true, false]`, `{"correct": [1], "incorrect": [2, 3]}`, and nestings of these.

use std::{fmt, mem};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use super::{
    Read, Reader, Stance,
    numbered::{number_alone, tidy},
    reason::takes_back,
    stance::{combined, is_bare, stance_of},
};

/// A JSON value that keeps each member of an object, also those of the same name: a reply that says both is no assent.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object, in the order of the text.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Whether it is `[2]`.
    pub(super) fn is_number_in_brackets(&self) -> bool {
        matches!(self, Self::List(items) if matches!(items.as_slice(), [Self::Number(_)]))
    }
}

/// Names of fields that hold the number.
const NUMBER_FIELDS: [&str; 9] =
    ["source", "statement", "claim", "id", "number", "index", "n", "source id", "document"];

/// Names of fields that hold the verdict.
const VERDICT_FIELDS: [&str; 12] = [
    "grade",
    "verdict",
    "label",
    "judgement",
    "judgment",
    "relevance",
    "result",
    "support",
    "ruling",
    "answer",
    "decision",
    "status",
];

/// Names of fields that hold the reason.
const REASON_FIELDS: [&str; 4] = ["reason", "explanation", "rationale", "justification"];

impl Reader {
    /// Reads a value of the reply.
    pub(super) fn read_json(&mut self, value: &Json) {
        self.read_value(value, None);
    }

    /// `number` is the item that the enclosing value names.
    fn read_value(&mut self, value: &Json, number: Option<usize>) {
        match value {
            Json::Text(_) | Json::Bool(_) | Json::Number(_) => {
                if let (Some(number), Some(stance)) = (number, stance_of_value(value)) {
                    self.set(number, Read::bare(stance));
                }
            }
            Json::List(items) => self.read_list(items, number),
            Json::Object(fields) => self.read_object(fields, number),
            Json::Null => {}
        }
    }

    /// A list of plain values has a verdict for each item, in their order; in any other list the items may name their
    /// numbers.
    fn read_list(&mut self, items: &[Json], number: Option<usize>) {
        let is_in_order = items.len() == self.found.len();
        if let Some(stances) = stances_of(items) {
            for (number, stance) in (1..).zip(stances).filter(|_| is_in_order) {
                self.set(number, Read::bare(stance));
            }
            return;
        }
        for (place, item) in (1..).zip(items) {
            match item {
                Json::List(pair) => match pair.as_slice() {
                    [of @ Json::Number(_), verdict @ (Json::Text(_) | Json::Bool(_))] => {
                        self.read_value(verdict, as_number(of));
                    }
                    _ => self.read_list(pair, None),
                },
                Json::Object(fields) => self.read_object(fields, is_in_order.then_some(place).or(number)),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
            }
        }
    }

    fn read_object(&mut self, fields: &[(String, Json)], number: Option<usize>) {
        let named = field(fields, &NUMBER_FIELDS).and_then(as_number).or(number);
        if let Some(stance) = fields.iter().filter_map(|(name, value)| stance_of_field(name, value)).reduce(combined) {
            let reason = match field(fields, &REASON_FIELDS) {
                Some(Json::Text(text)) => tidy(text),
                _ => String::new(),
            };
            let is_taken_back = stance == Stance::Assent && takes_back(&reason);
            let stance = if is_taken_back { Stance::Hedge } else { stance };
            match named {
                Some(number) => self.set(number, Read { stance, reason }),
                None => self.unnumbered.push(Read { stance, reason }),
            }
            return;
        }
        for (name, inner) in fields {
            match (inner, stance_of_name(&plain_name(name))) {
                // `{"correct": [1], "incorrect": [2, 3]}`
                (Json::List(numbers), Some(stance)) => {
                    for number in numbers.iter().filter_map(as_number) {
                        self.set(number, Read::bare(stance));
                    }
                }
                (_, Some(Stance::Dissent | Stance::Hedge)) => {}
                (Json::List(_) | Json::Object(_), _) => self.read_value(inner, number_alone(name).or(named)),
                _ => self.read_value(inner, number_alone(name)),
            }
        }
    }
}

/// The verdicts of a list that holds nothing but values of one kind, each of which is a verdict. Numbers alone may as well
/// be those of the items: only a zero shows that they are verdicts.
fn stances_of(items: &[Json]) -> Option<Vec<Stance>> {
    let first = items.first()?;
    let is_of_one_kind = items.iter().all(|item| mem::discriminant(item) == mem::discriminant(first));
    let may_be_items = matches!(first, Json::Number(_)) && !items.contains(&Json::Number(0.0));
    if !is_of_one_kind || may_be_items {
        return None;
    }
    items.iter().map(stance_of_value).collect()
}

/// The sense of a text, a truth value, or one of the numbers 0 and 1.
fn stance_of_value(value: &Json) -> Option<Stance> {
    match value {
        Json::Text(text) => stance_of(text),
        Json::Bool(true) | Json::Number(1.0) => Some(Stance::Assent),
        Json::Bool(false) | Json::Number(0.0) => Some(Stance::Dissent),
        Json::Null | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
    }
}

/// The verdict in a field for verdicts, or in a field whose name is a verdict itself, such as `"supported": false`.
fn stance_of_field(name: &str, value: &Json) -> Option<Stance> {
    let name = plain_name(name);
    let name = name.strip_prefix("is ").unwrap_or(&name);
    if VERDICT_FIELDS.contains(&name) {
        return stance_of_value(value);
    }
    let named = stance_of_name(name)?;
    let stated = stance_of_value(value)?;
    Some(match (named, stated) {
        (Stance::Assent, stated) => stated,
        (Stance::Dissent, Stance::Assent) => Stance::Dissent,
        (Stance::Dissent | Stance::Hedge, _) => Stance::Hedge,
    })
}

/// The sense of a name that is a verdict and nothing else.
fn stance_of_name(name: &str) -> Option<Stance> {
    stance_of(name).filter(|_| is_bare(name))
}

/// The name of a field as words: `isSupported` and `is_supported` are "is supported".
fn plain_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut follows_lower_case = false;
    for sign in name.chars() {
        if follows_lower_case && sign.is_uppercase() {
            plain.push(' ');
        }
        follows_lower_case = sign.is_lowercase();
        if sign == '_' || sign == '-' { plain.push(' ') } else { plain.extend(sign.to_lowercase()) }
    }
    plain
}

fn field<'f>(fields: &'f [(String, Json)], names: &[&str]) -> Option<&'f Json> {
    fields.iter().find(|(name, _)| names.contains(&plain_name(name).as_str())).map(|(_, value)| value)
}

fn as_number(value: &Json) -> Option<usize> {
    match value {
        Json::Number(number) => number.to_string().parse().ok(),
        Json::Text(text) => number_alone(text),
        Json::Null | Json::Bool(_) | Json::List(_) | Json::Object(_) => None,
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of items and grades are small")]
    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of items and grades are small")]
    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut fields = Vec::new();
        while let Some(member) = members.next_entry()? {
            fields.push(member);
        }
        Ok(Json::Object(fields))
    }
}
