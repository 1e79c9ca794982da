//! The elements of HTML by how they are read.

/// Elements that are never read.
pub(super) const SKIPPED: [&str; 21] = [
    "audio", "button", "canvas", "datalist", "dialog", "embed", "head", "iframe", "input", "map", "nav", "noscript",
    "object", "optgroup", "script", "select", "style", "svg", "template", "textarea", "video",
];

/// Elements whose text is struck out: it no longer holds.
pub(super) const STRUCK: [&str; 3] = ["del", "s", "strike"];

/// Elements that are left out around the main content, but kept inside it.
pub(super) const FRAME: [&str; 3] = ["header", "footer", "aside"];

/// Elements that begin and end a paragraph.
pub(super) const BLOCKS: [&str; 37] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "center",
    "caption",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "tfoot",
    "thead",
    "tr",
    "ul",
];

pub(super) fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name) || level_of(name).is_some()
}

/// The level of a heading element.
pub(super) fn level_of(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}
