//! Reads XML event by event, so that deep documents do not use more stack.

use std::borrow::Cow;

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

use super::{Cause, ExtractError};

/// Deepest nesting of elements. Office programs stay below a hundred.
const MAX_DEPTH: usize = 1_000;

/// A step through a part.
pub(super) enum Token<'xml> {
    /// An element begins; one without content ends in the next step.
    Open(Element<'xml>),
    /// The element of this local name ends.
    Close(&'xml str),
    /// Text, or a part of it.
    Text(Cow<'xml, str>),
}

/// The beginning of an element.
pub(super) struct Element<'xml>(BytesStart<'xml>);

impl Element<'_> {
    /// Its name without prefix.
    pub(super) fn name(&self) -> &str {
        local(self.0.name().0)
    }

    /// The value of the attribute with this local name, regardless of its prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| local(key) == name)
    }

    /// The value of the attribute with this local name and a prefix, the form of attributes that refer to other parts.
    pub(super) fn prefixed_attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key.split_once(':').is_some_and(|(_, local)| local == name))
    }

    fn find(&self, matches: impl Fn(&str) -> bool) -> Option<String> {
        let attribute = self.0.attributes().filter_map(Result::ok).find(|attribute| matches(attribute.key.0))?;
        attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(Cow::into_owned)
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Walks through `xml`.
///
/// # Errors
/// `malformed` if it is not well-formed, truncated or nested too deeply; any error of `visit`.
pub(super) fn walk(
    xml: &str,
    mut visit: impl FnMut(Token<'_>) -> Result<(), ExtractError>,
) -> Result<(), ExtractError> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut depth = 0_usize;
    loop {
        match reader.read_event().map_err(|error| ExtractError::malformed("file", error))? {
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(too_deep());
                }
                visit(Token::Open(Element(start)))?;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                visit(Token::Close(local(end.name().0)))?;
            }
            Event::Text(text) => visit(Token::Text(text.xml10_content()))?,
            Event::CData(text) => visit(Token::Text(text.xml10_content()))?,
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().ok().flatten();
                let text = match character {
                    Some(character) => Some(character.to_string()),
                    None => resolve_predefined_entity(&reference).map(str::to_owned),
                };
                if let Some(text) = text {
                    visit(Token::Text(text.into()))?;
                }
            }
            Event::Eof if depth > 0 => return Err(ExtractError::malformed("file", "it breaks off")),
            Event::Eof => return Ok(()),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn too_deep() -> ExtractError {
    ExtractError::new(
        Cause::Malformed,
        format!("the document is nested more than {MAX_DEPTH} levels deep, which no office program does; save it anew"),
    )
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn seen(xml: &str) -> Result<String, ExtractError> {
        let mut seen = String::new();
        walk(xml, |token| {
            match token {
                Token::Open(element) => {
                    let ids = (element.attribute("id"), element.prefixed_attribute("id"));
                    let _ = write!(seen, "<{} {:?} {:?}>", element.name(), ids.0, ids.1);
                }
                Token::Close(name) => {
                    let _ = write!(seen, "</{name}>");
                }
                Token::Text(text) => seen.push_str(&text),
            }
            Ok(())
        })?;
        Ok(seen)
    }

    #[test]
    fn names_lose_their_prefix_and_references_resolve() {
        assert_eq!(
            seen("<?xml version=\"1.0\"?><w:p id='1' r:id='2'>a &amp; b&#x21;<![CDATA[<c>]]>&unknown;<w:x/></w:p>"),
            Ok("<p Some(\"1\") Some(\"2\")>a & b!<c><x None None></x></p>".to_owned())
        );
    }

    #[test]
    fn what_is_not_well_formed_is_malformed() {
        for xml in ["<a>", "<a></b>", "<a", "<a><b></a></b>"] {
            assert_eq!(seen(xml).expect_err(xml).cause, Cause::Malformed, "{xml}");
        }
        assert!(seen(&"<a>".repeat(100_000)).expect_err("deep").message.contains("1000 levels"));
    }
}
