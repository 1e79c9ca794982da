//! The text of a paragraph: what is marked in it, as far as it matters to who reads it.

use asciidoc_parser::{
    attributes::Attrlist,
    inlines::{Callout, Footnote, Image, Ref},
    parser::{CharacterReplacementType, InlineRenderer, QuoteScope, QuoteType, RenderContext, XrefRenderParams},
    strings::CowStr,
};

/// Around the number of a footnote where it is told. Neither is a character of any text.
pub(super) const NOTE: (char, char) = ('\u{fdd0}', '\u{fdd1}');

/// Tags that are written below. Any other comes from HTML that the document passes through.
pub(super) const TAGS: [&str; 5] = ["<b>", "</b>", "<code>", "</code>", "<br>"];

/// Writes text for readers: links are their text, pictures their description, and keys, buttons and menus their names.
#[derive(Debug)]
pub(super) struct ForReaders;

impl InlineRenderer for ForReaders {
    fn render_styled(
        &self,
        type_: QuoteType,
        _scope: QuoteScope,
        _attrlist: &Attrlist<'_>,
        _id: Option<String>,
        body: &str,
        dest: &mut String,
    ) {
        let around = match type_ {
            QuoteType::Strong => ("<b>", "</b>"),
            QuoteType::Monospaced => ("<code>", "</code>"),
            QuoteType::DoubleQuote => ("“", "”"),
            QuoteType::SingleQuote => ("‘", "’"),
            // Ten to the sixth is not a hundred and six.
            QuoteType::Superscript if dest.ends_with(char::is_alphanumeric) && is_number(body) => ("^", ""),
            QuoteType::Emphasis
            | QuoteType::Mark
            | QuoteType::Superscript
            | QuoteType::Subscript
            | QuoteType::Unquoted
            | QuoteType::AsciiMath
            | QuoteType::LatexMath => ("", ""),
        };
        dest.push_str(around.0);
        dest.push_str(body);
        dest.push_str(around.1);
    }

    fn render_character_replacement(&self, type_: CharacterReplacementType, dest: &mut String) {
        let sign = match &type_ {
            CharacterReplacementType::Copyright => "©",
            CharacterReplacementType::Registered => "®",
            CharacterReplacementType::Trademark => "™",
            CharacterReplacementType::EmDashSurroundedBySpaces => " — ",
            CharacterReplacementType::EmDashWithoutSpace => "—",
            CharacterReplacementType::Ellipsis => "…",
            CharacterReplacementType::SingleRightArrow => "→",
            CharacterReplacementType::DoubleRightArrow => "⇒",
            CharacterReplacementType::SingleLeftArrow => "←",
            CharacterReplacementType::DoubleLeftArrow => "⇐",
            CharacterReplacementType::TypographicApostrophe => "'",
            CharacterReplacementType::CharacterReference(name) => {
                dest.push('&');
                dest.push_str(name);
                ";"
            }
        };
        dest.push_str(sign);
    }

    fn render_image(&self, image: &Image<'_>, _context: &RenderContext, dest: &mut String) {
        // Without a description there is one made of the name of the file, which tells nothing.
        if let Some(alternative) = image.attrs.named_or_positional_attribute("alt", 1) {
            dest.push_str(alternative.value());
        }
    }

    fn render_icon(&self, _icon: &Image<'_>, _context: &RenderContext, _dest: &mut String) {}

    fn render_link(&self, link: &Ref<'_>, link_text: &str, dest: &mut String) {
        // So the parser writes a file that is not included.
        if !link.attrs.roles().contains(&"include") {
            dest.push_str(link_text);
        }
    }

    fn render_anchor(&self, _id: &str, _reftext: Option<String>, _dest: &mut String) {}

    fn render_xref(&self, params: &XrefRenderParams<'_>, dest: &mut String) {
        let text = params.provided_text.filter(|text| !text.is_empty());
        let text = text.or_else(|| params.resolved.and_then(|resolved| resolved.text.as_deref()));
        match (text, params.derived) {
            (Some(text), _) => dest.push_str(text),
            // Of another document only the name of its file is known.
            (None, Some(derived)) => {
                let name = derived.text.rsplit('/').next().unwrap_or_default();
                dest.push_str(name.strip_suffix(".html").unwrap_or(name));
            }
            (None, None) => {
                dest.push('[');
                dest.push_str(params.target);
                dest.push(']');
            }
        }
    }

    fn render_callout(&self, callout: &Callout<'_>, _context: &RenderContext, dest: &mut String) {
        dest.push('(');
        dest.push_str(&callout.number);
        dest.push(')');
    }

    fn render_button(&self, text: &str, dest: &mut String) {
        dest.push_str(text);
    }

    fn render_keyboard(&self, keys: &[CowStr<'_>], dest: &mut String) {
        join(keys.iter().map(AsRef::as_ref), "+", dest);
    }

    fn render_menu(
        &self,
        menu: &str,
        submenus: &[CowStr<'_>],
        menuitem: Option<&str>,
        _context: &RenderContext,
        dest: &mut String,
    ) {
        let names = std::iter::once(menu).chain(submenus.iter().map(AsRef::as_ref)).chain(menuitem);
        join(names, " &gt; ", dest);
    }

    fn render_footnote(&self, footnote: &Footnote<'_>, dest: &mut String) {
        let number = footnote.number.as_deref().or(footnote.id.as_deref()).unwrap_or_default();
        if footnote.is_reference {
            dest.push('[');
            dest.push_str(number);
            dest.push(']');
        } else {
            dest.push(NOTE.0);
            dest.push_str(number);
            dest.push(NOTE.1);
        }
    }
}

fn join<'t>(names: impl Iterator<Item = &'t str>, between: &str, dest: &mut String) {
    for (place, name) in names.enumerate() {
        if place > 0 {
            dest.push_str(between);
        }
        dest.push_str(name);
    }
}

/// Whether the text above a number, or the number of an atom, is one itself.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['-', '+', '−']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
