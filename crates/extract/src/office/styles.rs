//! Determines which paragraph styles of a word processor's document make a heading.

use std::collections::HashMap;

use super::super::{
    ExtractError,
    xml::{Token, walk},
};

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

#[derive(Debug, Default)]
struct Style {
    role: Option<Role>,
    is_item: bool,
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
                    ("numPr", Some((_, style))) => style.is_item = true,
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
        let mut next = Some(id);
        for _ in 0..LONGEST_CHAIN {
            let style = self.0.get(next?)?;
            // Numbered headings are headings.
            let role = style.role.or(style.is_item.then_some(Role::Item));
            if role.is_some() {
                return role;
            }
            next = style.based_on.as_deref();
        }
        None
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
            <w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style>
            </w:styles>"#,
        )
        .expect("styles");
        let roles = ["berschrift2", "Own", "Part", "L", "T", "A", "none"].map(|id| styles.role(id));
        let heading = |level| Some(Role::Heading(level));
        assert_eq!(roles, [heading(2), heading(2), heading(1), Some(Role::Item), Some(Role::Title), None, None]);
        assert_eq!(outline("9"), None);
    }
}
