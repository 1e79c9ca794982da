//! Elements above and below the line: exponents, indices, and the marks of notes.

use ego_tree::NodeRef;

use super::tree::{Element, Node, text_of};
use crate::superscript::{Place, is_bracketed, note_mark, written};

/// Most nodes of such an element. With it, the search takes time in proportion to the page.
const MOST_NODES: usize = 20;

/// Most elements between a link and the mark of a note in it.
const MOST_AROUND: usize = 3;

/// The text of an element that is a mark of a note or stands above or below the line.
pub(super) fn raised(node: NodeRef<'_, Node>, element: &Element) -> Option<String> {
    let name = element.name();
    if !matches!(name, "a" | "sub" | "sup") || node.descendants().nth(MOST_NODES).is_some() {
        return None;
    }
    let text = text_of(node);
    if text.trim().is_empty() {
        return None;
    }
    match name {
        "sub" => Some(written(&text, Place::Below)),
        "sup" if is_bracketed(&text) || holds_link(node) || is_all_of_link(node, &text) => Some(note_mark(&text)),
        "sup" => Some(written(&text, Place::Above)),
        _ => is_reference(element).then(|| note_mark(&text)),
    }
}

/// Whether an element is a link to a note, as books mark it.
fn is_reference(link: &Element) -> bool {
    link.attribute("epub:type") == Some("noteref") || link.attribute("role") == Some("doc-noteref")
}

fn leads_to_place(node: NodeRef<'_, Node>) -> bool {
    matches!(node.value(), Node::Element(link) if link.name() == "a"
        && link.attribute("href").is_some_and(|target| target.contains('#')))
}

fn holds_link(node: NodeRef<'_, Node>) -> bool {
    node.descendants().any(leads_to_place)
}

fn is_all_of_link(node: NodeRef<'_, Node>, text: &str) -> bool {
    let link = node.ancestors().take(MOST_AROUND).find(|outer| leads_to_place(*outer));
    link.is_some_and(|link| link.descendants().nth(MOST_NODES).is_none() && text_of(link).trim() == text.trim())
}
