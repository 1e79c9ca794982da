//! Members of a request that are objects. serde reads a list as the members of a struct in their order; some clients write an empty
//! object as `[]`, and a filter that is lost so lets everything through.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

/// Reads an object, and refuses a list.
///
/// # Errors
/// When the value is no object, or a member of it is wrong.
pub(super) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// The same for one that may be null.
///
/// # Errors
/// When the value is neither null nor an object, or a member of it is wrong.
pub(super) fn object_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    struct OptionVisitor<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for OptionVisitor<T> {
        type Value = Option<T>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object or null")
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            object(deserializer).map(Some)
        }
    }

    deserializer.deserialize_option(OptionVisitor(PhantomData))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Outer {
        #[serde(deserialize_with = "object")]
        one: Inner,
        #[serde(deserialize_with = "object_or_null")]
        other: Option<Inner>,
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default, deny_unknown_fields)]
    struct Inner {
        number: u8,
    }

    #[test]
    fn a_list_is_no_object() {
        let read = |text: &str| serde_json::from_str::<Outer>(text).map_err(|error| error.to_string());
        let both = Outer { one: Inner { number: 1 }, other: Some(Inner { number: 2 }) };
        assert_eq!(read(r#"{"one": {"number": 1}, "other": {"number": 2}}"#), Ok(both));
        assert_eq!(read(r#"{"other": null}"#), Ok(Outer::default()));
        for text in [r#"{"one": []}"#, r#"{"one": [3]}"#, r#"{"one": null}"#, r#"{"other": []}"#, r#"{"other": "x"}"#] {
            let error = read(text).expect_err(text);
            assert!(error.contains("expected an object"), "{error}");
        }
        assert!(read(r#"{"one": {"digit": 1}}"#).expect_err("unknown").contains("unknown field `digit`"));
    }
}
