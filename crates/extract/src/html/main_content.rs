//! Finds the part of a page that the page itself marks as its content.

use ego_tree::{NodeRef, Tree};

use super::tree::{Element, Node, text_of};

/// The elements of a page in document order.
pub(super) fn elements(tree: &Tree<Node>) -> impl Iterator<Item = (NodeRef<'_, Node>, &Element)> {
    tree.root().descendants().filter_map(|node| match node.value() {
        Node::Element(element) => Some((node, element)),
        Node::Text(_) | Node::Other => None,
    })
}

/// The element that holds the main content, and whether the page says so itself.
pub(super) fn main_content(tree: &Tree<Node>) -> (NodeRef<'_, Node>, bool) {
    let only = |is_main: &dyn Fn(&Element) -> bool| {
        let mut found = elements(tree).filter(|(_, element)| is_main(element));
        let (first, _) = found.next()?;
        (found.next().is_none() && !text_of(first).trim().is_empty()).then_some(first)
    };
    let marked = only(&|element| element.name() == "main" || element.attribute("role") == Some("main"))
        .or_else(|| only(&|element| element.name() == "article"));
    marked.map_or((tree.root(), false), |root| (root, true))
}
