//! Elements above and below the line: exponents, indices, and the marks of notes.

use std::collections::HashMap;

use ego_tree::{NodeRef, Tree};

use super::{
    main_content::elements,
    tree::{Element, Node, text_of},
};
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

/// The notes of a book that stand as a whole beside the text, by their name: the number of their mark.
#[derive(Debug, Default)]
pub(super) struct Notes(HashMap<String, String>);

impl Notes {
    /// Reads the marks of a page.
    pub(super) fn of(tree: &Tree<Node>) -> Self {
        let references = elements(tree).filter(|(_, element)| element.name() == "a" && is_reference(element));
        let named =
            references.filter(|(node, _)| node.descendants().nth(MOST_NODES).is_none()).filter_map(|(node, link)| {
                let (_, name) = link.attribute("href")?.split_once('#')?;
                Some((name.to_owned(), text_of(node).trim().to_owned()))
            });
        Self(named.collect())
    }

    /// The mark to write before a note that does not begin with it.
    pub(super) fn mark_before(&self, node: NodeRef<'_, Node>, element: &Element) -> Option<String> {
        let kind = element.attribute("epub:type").or_else(|| element.attribute("role")).unwrap_or_default();
        let is_note = ["footnote", "endnote", "rearnote", "doc-footnote", "doc-endnote"].contains(&kind);
        let number = self.0.get(element.attribute("id")?).filter(|_| is_note && element.name() != "li")?;
        let mut texts = node.descendants().take(MOST_NODES).filter_map(|inner| match inner.value() {
            Node::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Node::Element(_) | Node::Other => None,
        });
        let rest = texts.next()?.trim_start_matches(['[', '(']).strip_prefix(number.trim_matches(['[', ']', '(', ')']));
        let begins = rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        (!begins).then(|| format!("{} ", note_mark(number)))
    }
}
