//! The tree of a page, built according to the HTML Standard.
//!
//! `html5ever` parses; this is the tree that it fills: an arena, so that the deepest page is dropped without recursion.
//! Ready-made trees were rejected: `scraper` comes with selectors under a licence that asks for more than to be named,
//! `markup5ever_rcdom` is not meant for use.

use std::{borrow::Cow, cell::RefCell, rc::Rc};

use ego_tree::{NodeId, NodeMut, NodeRef, Tree};
use html5ever::{
    Attribute, ParseOpts, QualName,
    interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
    ns, parse_document,
    tendril::{StrTendril, TendrilSink},
};

/// Attributes that are looked at; others are not kept.
const KEPT: [&str; 22] = [
    "aria-controls",
    "aria-hidden",
    "aria-labelledby",
    "class",
    "colspan",
    "content",
    "data-bs-target",
    "data-target",
    "epub:type",
    "hidden",
    "href",
    "hreflang",
    "http-equiv",
    "id",
    "rel",
    "reversed",
    "role",
    "rowspan",
    "start",
    "style",
    "type",
    "value",
];

/// A node of a page.
#[derive(Debug)]
pub(super) enum Node {
    Element(Element),
    Text(String),
    /// The document, comments, declarations.
    Other,
}

/// An element.
#[derive(Debug)]
pub(super) struct Element {
    name: Rc<QualName>,
    attributes: Vec<(&'static str, String)>,
}

impl Element {
    /// Its name, in lower case. Elements of SVG and `MathML` have an empty one where HTML has one too.
    pub(super) fn name(&self) -> &str {
        if self.name.ns == ns!(html) || &*self.name.local != "title" { &self.name.local } else { "" }
    }

    /// The value of one of the attributes that are kept.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(kept, _)| *kept == name).map(|(_, value)| value.as_str())
    }
}

/// Parses a page; any text is one.
pub(super) fn parse(text: &str) -> Tree<Node> {
    parse_document(Builder { tree: RefCell::new(Tree::new(Node::Other)) }, ParseOpts::default()).one(text)
}

/// The text below a node.
pub(super) fn text_of(node: NodeRef<'_, Node>) -> String {
    let texts = node.descendants().filter_map(|node| match node.value() {
        Node::Text(text) => Some(text.as_str()),
        Node::Element(_) | Node::Other => None,
    });
    texts.collect()
}

struct Builder {
    tree: RefCell<Tree<Node>>,
}

/// A node, with the name that the parser asks for over and over.
#[derive(Clone, Debug)]
struct Handle {
    id: NodeId,
    name: Option<Rc<QualName>>,
}

impl Handle {
    const fn unnamed(id: NodeId) -> Self {
        Self { id, name: None }
    }
}

impl Builder {
    fn orphan(&self, node: Node) -> NodeId {
        self.tree.borrow_mut().orphan(node).id()
    }

    /// Does something to a node; the parser only hands out nodes of this tree.
    fn with(&self, handle: &Handle, act: impl FnOnce(&mut NodeMut<'_, Node>)) {
        if let Some(mut node) = self.tree.borrow_mut().get_mut(handle.id) {
            act(&mut node);
        }
    }
}

/// Adds to a text node; whether it was one.
fn extend(node: Option<NodeMut<'_, Node>>, text: &str) -> bool {
    match node {
        Some(mut node) => match node.value() {
            Node::Text(before) => {
                before.push_str(text);
                true
            }
            Node::Element(_) | Node::Other => false,
        },
        None => false,
    }
}

impl TreeSink for Builder {
    type Handle = Handle;
    type Output = Tree<Node>;
    type ElemName<'a> = &'a QualName;

    fn finish(self) -> Tree<Node> {
        self.tree.into_inner()
    }

    fn get_document(&self) -> Handle {
        Handle::unnamed(self.tree.borrow().root().id())
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> &'a QualName {
        target.name.as_deref().expect("the parser asks for names of elements only, and those have one")
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let name = Rc::new(name);
        let attributes = attributes
            .into_iter()
            .filter_map(|attribute| {
                let kept = KEPT.iter().find(|kept| **kept == &*attribute.name.local)?;
                Some((*kept, attribute.value.to_string()))
            })
            .collect();
        let id = self.orphan(Node::Element(Element { name: Rc::clone(&name), attributes }));
        Handle { id, name: Some(name) }
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.with(parent, |parent| match child {
            NodeOrText::AppendNode(child) => {
                parent.append_id(child.id);
            }
            NodeOrText::AppendText(text) => {
                if !extend(parent.last_child(), &text) {
                    parent.append(Node::Text(text.to_string()));
                }
            }
        });
    }

    fn append_before_sibling(&self, sibling: &Handle, new: NodeOrText<Handle>) {
        self.with(sibling, |sibling| match new {
            NodeOrText::AppendNode(node) => {
                sibling.insert_id_before(node.id);
            }
            NodeOrText::AppendText(text) => {
                if !extend(sibling.prev_sibling(), &text) {
                    sibling.insert_before(Node::Text(text.to_string()));
                }
            }
        });
    }

    fn append_based_on_parent_node(&self, element: &Handle, before: &Handle, child: NodeOrText<Handle>) {
        let has_parent = self.tree.borrow().get(element.id).is_some_and(|element| element.parent().is_some());
        if has_parent { self.append_before_sibling(element, child) } else { self.append(before, child) }
    }

    fn remove_from_parent(&self, target: &Handle) {
        #[expect(clippy::redundant_closure_for_method_calls, reason = "the method alone is not general enough")]
        self.with(target, |node| node.detach());
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        self.with(new_parent, |parent| parent.reparent_from_id_append(node.id));
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        one.id == other.id
    }

    /// The content of a template is never read, so it may be stored in the template itself.
    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        Handle::unnamed(self.orphan(Node::Other))
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        Handle::unnamed(self.orphan(Node::Other))
    }

    fn parse_error(&self, _: Cow<'static, str>) {}
    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}
    fn set_quirks_mode(&self, _: QuirksMode) {}
    fn add_attrs_if_missing(&self, _: &Handle, _: Vec<Attribute>) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn misnested_tags_are_put_right() {
        assert_eq!(text_of(parse("<p>a<b>b<p>c</b>d<table>e<tr>f<td>g").root()), "abcdefg");
    }

    proptest! {
        #[test]
        fn any_page_is_a_tree(
            page in "(</?(a|b|p|div|table|tr|td|svg|math|title|template|select|option|form|frameset|body|html|nobr)>|<p hidden role=x>|[a-c ]|<!--|-->|<!doctype html>){0,60}",
        ) {
            let tree = parse(&page);
            prop_assert!(text_of(tree.root()).len() <= page.len());
        }
    }
}
