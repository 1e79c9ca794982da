//! Styles that hide text, raise it, or show numbers with zeros before them.

use std::collections::{HashMap, HashSet};

use quick_xml::events::BytesStart;

use super::{
    super::{
        ExtractError,
        look::Look,
        xml::{Element, Token, walk},
    },
    attribute,
};

/// Longest chain of styles that are based on each other.
const LONGEST_CHAIN: usize = 16;

#[derive(Debug, Default)]
struct Style {
    look: Look,
    parent: Option<String>,
    /// The style of its numbers.
    numbers: Option<String>,
}

/// The styles of a document.
#[derive(Debug, Default)]
pub(super) struct Styles {
    /// By family and name.
    styles: HashMap<(String, String), Style>,
    /// Styles of numbers with zeros before them.
    zeros: HashSet<String>,
}

impl Styles {
    /// Adds the styles in one element of a part.
    pub(super) fn read(&mut self, xml: &str, among: &str) -> Result<(), ExtractError> {
        let mut is_among = false;
        let mut style: Option<((String, String), Style)> = None;
        let mut numbers: Option<String> = None;
        walk(xml, |token| {
            match token {
                Token::Open(element) if element.name() == among => is_among = true,
                Token::Close(name) if name == among => is_among = false,
                Token::Open(element) if is_among => match element.name() {
                    "style" => style = Style::named(&element),
                    "number-style" => numbers = element.attribute("name"),
                    "number" if has_zeros(&element) => self.zeros.extend(numbers.take()),
                    "text-properties" => {
                        if let Some((_, style)) = &mut style {
                            style.look = Look::of(&element);
                        }
                    }
                    _ => {}
                },
                Token::Close("style") => self.styles.extend(style.take()),
                Token::Open(_) | Token::Close(_) | Token::Text(_) => {}
            }
            Ok(())
        })
    }

    /// How the text of an element looks by its style.
    pub(super) fn look(&self, start: &BytesStart<'_>) -> Look {
        let family = match start.name().0 {
            "text:span" => "text",
            "text:p" | "text:h" => "paragraph",
            _ => return Look::default(),
        };
        let name = attribute(start, "text:style-name").unwrap_or_default();
        self.chain(family, name).fold(Look::default(), |look, style| look.or(style.look))
    }

    /// Whether the number of a cell is shown with zeros before it.
    pub(super) fn has_zeros(&self, cell: &BytesStart<'_>) -> bool {
        let name = attribute(cell, "table:style-name").unwrap_or_default();
        let numbers = self.chain("table-cell", name).find_map(|style| style.numbers.as_ref());
        numbers.is_some_and(|numbers| self.zeros.contains(numbers))
    }

    /// A style and those that it is based on.
    fn chain<'s>(&'s self, family: &str, name: String) -> impl Iterator<Item = &'s Style> {
        let find = |name: String| self.styles.get(&(family.to_owned(), name));
        let next = move |style: &&'s Style| find(style.parent.clone()?);
        std::iter::successors(find(name), next).take(LONGEST_CHAIN)
    }
}

impl Style {
    fn named(element: &Element<'_>) -> Option<((String, String), Self)> {
        let parent = element.attribute("parent-style-name");
        let style = Self { parent, numbers: element.attribute("data-style-name"), ..Self::default() };
        Some(((element.attribute("family")?, element.attribute("name")?), style))
    }
}

impl Look {
    /// What the properties of text say.
    fn of(element: &Element<'_>) -> Self {
        // "super 58%" or "33% 58%".
        let is_above = |position: String| {
            let place = position.split_whitespace().next().unwrap_or_default();
            place == "super" || place.trim_end_matches('%').parse::<f32>().is_ok_and(|percentage| percentage > 0.0)
        };
        Self {
            is_hidden: element.attribute("display").map(|display| display == "none"),
            is_raised: element.attribute("text-position").map(is_above),
        }
    }
}

fn has_zeros(element: &Element<'_>) -> bool {
    element.attribute("min-integer-digits").and_then(|digits| digits.parse().ok()).is_some_and(|digits: u32| digits > 1)
}
