//! Texts of limited length and format.

use std::ops::RangeInclusive;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, ObjectBuilder, Ref, RefOr, Schema,
        schema::{KnownFormat, SchemaFormat, Type},
    },
};

use crate::domain::access::MAX_PRINCIPAL_CHARS;

use super::super::fields::{
    MAX_CHECKED_TEXT, MAX_COLLECTIONS, MAX_NAME, MAX_QUESTION, MAX_SHORT_TEXT, MAX_SOURCE_BYTES,
};

// Patterns are ECMA-262, as JSON Schema requires. White space is listed character by character, because `\s` differs
// between languages, and the service refuses the characters that Unicode defines as white space.

/// The characters of names: neither unseen nor blank. Beyond U+FFFF, where expressions of some languages have no ranges, the
/// service refuses more.
macro_rules! name_pattern {
    ($start:literal) => {
        concat!(
            "^",
            $start,
            "(",
            name_pattern!(@visible),
            ")((",
            name_pattern!(@visible),
            r"|[ \u3000])*(",
            name_pattern!(@visible),
            "))?$"
        )
    };
    // Joiners stand between characters that are not ASCII.
    (@visible) => {
        concat!(r"[\x21-\x7e]|", name_pattern!(@beyond), r"([\u200c\u200d]", name_pattern!(@beyond), ")*")
    };
    (@beyond) => {
        concat!(
            r"[^\x00-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f",
            r"\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]"
        )
    };
}

/// A name that the service gives out as its own.
const NAME: &str = name_pattern!("");
/// A user or a group, whose name is one too.
const PRINCIPAL: &str = name_pattern!("(user|group):");
/// A text that is not only white space and contains no NUL.
const NOT_BLANK: &str =
    r"^[^\x00]*[^\x00\x09-\x0d\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000][^\x00]*$";
/// A text without NUL, which no text in the database can hold.
const NO_NUL: &str = r"^[^\x00]*$";
/// An http or https URL without control characters.
const URL: &str = r"^[Hh][Tt][Tt][Pp][Ss]?:[^\x00-\x1f\x7f-\x9f]+$";

fn text(length: RangeInclusive<usize>, pattern: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(*length.start()))
        .max_length(Some(*length.end()))
        .pattern(Some(pattern))
}

/// Name of a collection.
pub(in crate::http) struct CollectionName;

impl PartialSchema for CollectionName {
    fn schema() -> RefOr<Schema> {
        let about = "Name of a collection. No control, invisible or bidirectional characters, no space at its ends.";
        text(1..=MAX_NAME, NAME).description(Some(about)).into()
    }
}

impl ToSchema for CollectionName {}

/// Names of collections that are searched together.
pub(in crate::http) struct CollectionNames;

impl PartialSchema for CollectionNames {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .description(Some("Names of collections, each once."))
            .items(Ref::from_schema_name("CollectionName"))
            .min_items(Some(1))
            .max_items(Some(MAX_COLLECTIONS))
            .unique_items(true)
            .into()
    }
}

impl ToSchema for CollectionNames {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((CollectionName::name().into(), CollectionName::schema()));
    }
}

/// A user or a group, as access control lists name them.
pub(in crate::http) struct PrincipalName;

impl PartialSchema for PrincipalName {
    fn schema() -> RefOr<Schema> {
        let about = "A user (`user:ada@example.org`) or a group (`group:people`), by the name that the deployment's identity \
                     provider or the keys give it.";
        text(6..=MAX_PRINCIPAL_CHARS, PRINCIPAL).description(Some(about)).into()
    }
}

impl ToSchema for PrincipalName {}

/// Name of a key or a tenant.
pub(in crate::http) struct GivenName;

impl PartialSchema for GivenName {
    fn schema() -> RefOr<Schema> {
        let about = "A name. No control, invisible or bidirectional characters, no space at its ends.";
        text(1..=MAX_SHORT_TEXT, NAME).description(Some(about)).into()
    }
}

impl ToSchema for GivenName {}

/// A caller's own name for a document.
pub(in crate::http) struct DocumentSource;

impl PartialSchema for DocumentSource {
    fn schema() -> RefOr<Schema> {
        let about = format!(
            "A caller's own name for a document: path, URL, key. At most {MAX_SOURCE_BYTES} bytes of UTF-8, not all \
             space, no NUL."
        );
        text(1..=MAX_SOURCE_BYTES, NOT_BLANK).description(Some(about)).into()
    }
}

impl ToSchema for DocumentSource {}

/// A title, a media type, the beginning of a source.
pub(in crate::http) struct ShortText;

impl PartialSchema for ShortText {
    fn schema() -> RefOr<Schema> {
        text(1..=MAX_SHORT_TEXT, NOT_BLANK).description(Some("A short text, not all space, no NUL.")).into()
    }
}

impl ToSchema for ShortText {}

/// A question or a search query.
pub(in crate::http) struct Question;

impl PartialSchema for Question {
    fn schema() -> RefOr<Schema> {
        text(1..=MAX_QUESTION, NOT_BLANK).description(Some("A question in words, not all space, no NUL.")).into()
    }
}

impl ToSchema for Question {}

/// A text to be checked, or a passage to check it against.
pub(in crate::http) struct CheckedText;

impl PartialSchema for CheckedText {
    fn schema() -> RefOr<Schema> {
        text(1..=MAX_CHECKED_TEXT, NOT_BLANK).description(Some("A text, not all space, no NUL.")).into()
    }
}

impl ToSchema for CheckedText {}

/// A text of any length.
pub(in crate::http) struct PlainText;

impl PartialSchema for PlainText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(NO_NUL)).into()
    }
}

impl ToSchema for PlainText {}

/// A body of raw bytes.
pub(in crate::http) struct Bytes;

impl PartialSchema for Bytes {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Bytes {}

/// URL of a web page.
pub(in crate::http) struct WebUrl;

impl PartialSchema for WebUrl {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::Custom("uri".to_owned())))
            .max_length(Some(MAX_SOURCE_BYTES))
            .pattern(Some(URL))
            .description(Some("An http or https URL."))
            .into()
    }
}

impl ToSchema for WebUrl {}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::{
        domain::{access::Principal, unseen::is_unseen},
        http::fields::Faults,
    };

    /// A pattern of the document.
    fn pattern(pattern: &str) -> Regex {
        Regex::new(pattern).expect("a pattern")
    }

    /// Whether a check of the service accepts it.
    fn passes(check: impl FnOnce(&mut Faults)) -> bool {
        let mut faults = Faults::default();
        check(&mut faults);
        faults.finish().is_ok()
    }

    #[test]
    fn patterns_let_through_what_the_service_does() {
        let mut texts: Vec<String> =
            ["", "a", " ", "a b", " a", "a ", "ä", "名前", "a/b", "\u{feff}", "\u{feff}a"].map(str::to_owned).into();
        // Every character that some language classifies as white space or a control character, alone, inside and at an
        // end.
        let all = (0..0x3200u32).chain(0xfd00..0x1_0000).filter_map(char::from_u32);
        for character in all.filter(|c| is_unseen(*c) || c.is_whitespace() || !c.is_alphanumeric()) {
            texts.extend([character.to_string(), format!("a{character}b"), format!("a{character}")]);
        }
        texts.extend(["می\u{200c}خواهم", "می\u{200c}\u{200d}خواهم", "می\u{200d}", "名\u{200d} 前"].map(str::to_owned));
        let [names, principals, not_blank, urls] = [NAME, PRINCIPAL, NOT_BLANK, URL].map(pattern);
        for text in &texts {
            let name = passes(|faults| faults.collection_name("", text));
            assert_eq!(names.is_match(text), name, "collection name {text:?}");
            let principal = format!("user:{text}");
            assert_eq!(principals.is_match(&principal), principal.parse::<Principal>().is_ok(), "{principal:?}");
            let short = passes(|faults| faults.short_text("", text));
            assert_eq!(not_blank.is_match(text), short, "short text {text:?}");
            assert_eq!(not_blank.is_match(text), passes(|faults| faults.source("", text)), "source {text:?}");
            assert_eq!(not_blank.is_match(text), passes(|faults| faults.question("", text)), "question {text:?}");
            assert_eq!(not_blank.is_match(text), passes(|faults| faults.checked_text("", text)), "checked {text:?}");
        }
        for url in ["https://example.org/a", "HTTP://example.org", "ftp://example.org", "https://example.org/\u{1}"] {
            assert_eq!(urls.is_match(url), passes(|faults| faults.url("", url)), "{url:?}");
        }
    }
}
