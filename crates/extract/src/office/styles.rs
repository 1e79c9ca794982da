//! Determines which paragraph styles of a word processor's document make a heading.

use std::collections::HashMap;

use super::super::{
    ExtractError,
    look::Look,
    xml::{Element, Token, walk},
};
use super::numbering::ListPlace;

/// Longest chain of styles that are based on each other.
const LONGEST_CHAIN: usize = 16;

/// The role of a paragraph with a given style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The title of the document.
    Title,
    /// A heading of this level, from 1.
    Heading(u8),
    /// An entry of a list.
    Item,
}

impl Look {
    /// Reads one of the properties of a run.
    pub(super) fn read(&mut self, element: &Element<'_>) {
        match element.name() {
            "vanish" => self.is_hidden = Some(is_on(element)),
            "vertAlign" => self.is_raised = element.attribute("val").map(|place| place == "superscript"),
            _ => {}
        }
    }
}

/// Whether a property that is present is not switched off.
pub(super) fn is_on(element: &Element<'_>) -> bool {
    !matches!(element.attribute("val").as_deref(), Some("0" | "false" | "off"))
}

#[derive(Debug, Default)]
struct Style {
    role: Option<Role>,
    in_list: bool,
    place: ListPlace,
    look: Look,
    based_on: Option<String>,
}

/// Paragraph styles by identity.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    /// Reads the part `word/styles.xml`.
    pub(super) fn read(xml: &str) -> Result<Self, ExtractError> {
        let mut styles = HashMap::new();
        let mut open: Option<(String, Style)> = None;
        walk(xml, |token| {
            match token {
                Token::Open(element) => match (element.name(), &mut open) {
                    ("style", _) => open = element.attribute("styleId").map(|id| (id, Style::default())),
                    ("name", Some((_, style))) => {
                        style.role = element.attribute("val").and_then(|name| role_of(&name)).or(style.role);
                    }
                    ("basedOn", Some((_, style))) => style.based_on = element.attribute("val"),
                    ("outlineLvl", Some((_, style))) => {
                        style.role = style.role.or_else(|| element.attribute("val").and_then(|level| outline(&level)));
                    }
                    ("numPr", Some((_, style))) => style.in_list = true,
                    ("vanish" | "vertAlign", Some((_, style))) => style.look.read(&element),
                    (_, Some((_, style))) if style.in_list => style.place.read(&element),
                    _ => {}
                },
                Token::Close("style") => styles.extend(open.take()),
                Token::Close(_) | Token::Text(_) => {}
            }
            Ok(())
        })?;
        Ok(Self(styles))
    }

    /// The role of a style or of the nearest one that it is based on.
    pub(super) fn role(&self, id: &str) -> Option<Role> {
        // Numbered headings are headings. A level alone, as that of subtitles, is no entry of a list.
        let item = |style: &Style| style.place.list.as_ref().map(|_| Role::Item);
        self.chain(id).find_map(|style| style.role.or_else(|| item(style)))
    }

    /// How text of a style looks.
    pub(super) fn look(&self, id: &str) -> Look {
        self.chain(id).fold(Look::default(), |look, style| look.or(style.look))
    }

    /// The list that paragraphs of a style are entries of.
    pub(super) fn place(&self, id: &str) -> ListPlace {
        self.chain(id).fold(ListPlace::default(), |place, style| place.or(&style.place))
    }

    /// A style and those that it is based on.
    fn chain<'s>(&'s self, id: &str) -> impl Iterator<Item = &'s Style> {
        let next = |style: &&'s Style| style.based_on.as_deref().and_then(|id| self.0.get(id));
        std::iter::successors(self.0.get(id), next).take(LONGEST_CHAIN)
    }
}

/// The role that a built-in style has by its name, which is English in every language.
fn role_of(name: &str) -> Option<Role> {
    let name = name.to_lowercase();
    if name == "title" {
        return Some(Role::Title);
    }
    let level: u8 = name.strip_prefix("heading ")?.parse().ok()?;
    (1..=9).contains(&level).then_some(Role::Heading(level))
}

/// The role of an outline level, which counts from 0; 9 is body text.
pub(super) fn outline(level: &str) -> Option<Role> {
    let level: u8 = level.parse().ok()?;
    (level < 9).then_some(Role::Heading(level + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_come_by_name_outline_and_descent() {
        let styles = Styles::read(
            r#"<w:styles><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>
            <w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="berschrift2"/></w:style>
            <w:style w:styleId="Part"><w:name w:val="Part"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
            <w:style w:styleId="L"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
            <w:style w:styleId="T"><w:name w:val="Title"/></w:style>
            <w:style w:styleId="S"><w:name w:val="Subtitle"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>
            <w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>
            </w:styles>"#,
        )
        .expect("styles");
        let roles = ["berschrift2", "Own", "Part", "L", "T", "S", "A", "none"].map(|id| styles.role(id));
        let heading = |level| Some(Role::Heading(level));
        assert_eq!(roles, [heading(2), heading(2), heading(1), Some(Role::Item), Some(Role::Title), None, None, None]);
        assert_eq!(outline("9"), None);
    }
}
