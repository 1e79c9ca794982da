//! Schemas of the domain's enums in the `OpenAPI` document.
//!
//! The domain does not depend on `OpenAPI`, and its enums are not repeated here: their serialized names are read from
//! their `Deserialize` implementation, which contains them all.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    de::{self, DeserializeOwned, Visitor},
    forward_to_deserialize_any,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

/// An enum without data that has a named schema in the document.
pub(in crate::http) trait Choices: DeserializeOwned {
    /// Name of the schema.
    const NAME: &'static str;
    /// Description of the schema.
    const ABOUT: &'static str;
}

/// The schema of an enum. Attributes refer to it by an alias, because a type with parameters would get another name.
pub(in crate::http) struct Choice<T>(PhantomData<T>);

impl<T: Choices> PartialSchema for Choice<T> {
    fn schema() -> RefOr<Schema> {
        let names = variants::<T>();
        debug_assert!(!names.is_empty(), "{} is no enum", T::NAME);
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(T::ABOUT))
            .enum_values(Some(names.iter().copied()))
            .into()
    }
}

impl<T: Choices> ToSchema for Choice<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed(T::NAME)
    }
}

/// The serialized names of an enum's variants.
fn variants<T: DeserializeOwned>() -> &'static [&'static str] {
    match T::deserialize(VariantReader) {
        Err(Read::Variants(names)) => names,
        Ok(_) | Err(Read::Other) => &[],
    }
}

/// A deserializer that only reads the variant names that an enum expects.
struct VariantReader;

/// The result of reading variant names.
#[derive(Debug)]
enum Read {
    Variants(&'static [&'static str]),
    /// The type is not an enum.
    Other,
}

impl fmt::Display for Read {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the names of an enum's variants were asked for")
    }
}

impl std::error::Error for Read {}

impl de::Error for Read {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }
}

impl<'de> de::Deserializer<'de> for VariantReader {
    type Error = Read;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Read> {
        Err(Read::Other)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Read> {
        Err(Read::Variants(variants))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{corrective::Grade, job::JobState};

    #[test]
    fn names_are_those_of_the_wire() {
        assert_eq!(variants::<JobState>(), ["queued", "running", "succeeded", "partial", "failed", "cancelled"]);
        for name in variants::<Grade>() {
            let read: Grade = serde_json::from_value((*name).into()).expect("a name of the wire");
            assert_eq!(serde_json::to_value(read).expect("JSON"), *name);
        }
        assert_eq!(variants::<String>(), [""; 0]);
    }
}
