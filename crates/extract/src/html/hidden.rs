//! Elements that a page strikes out or does not show, and those among them that a reader opens: panels of tabs and of accordions.

use std::collections::HashSet;

use ego_tree::{NodeRef, iter::Edge};

use super::{
    kinds::{STRUCK, level_of},
    tree::{Element, Node},
};

/// Attributes by which a control names what it shows.
const TARGETS: [&str; 4] = ["aria-controls", "data-bs-target", "data-target", "href"];

/// Roles of elements that open over the page: they are no part of its text.
const OVERLAYS: [&str; 5] = ["alertdialog", "dialog", "listbox", "menu", "tooltip"];

/// Elements that pages hide until a script has run.
const PAGES: [&str; 4] = ["article", "body", "html", "main"];

/// Most nodes that are looked at for one element. With it, the search takes time in proportion to the page.
const MOST_NODES: usize = 60;

/// Most nodes between a panel and the heading that opens it.
const MOST_BETWEEN: usize = 3;

/// What the controls of a page show.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// The names of elements that a control shows.
    shown: HashSet<String>,
    /// The names of controls.
    controls: HashSet<String>,
    /// Whether most of the page is struck out, since a tag was never closed: it is read all the same.
    is_all_struck: bool,
}

impl Hidden {
    /// Reads the controls of a page.
    pub(super) fn of(page: NodeRef<'_, Node>) -> Self {
        let mut hidden = Self::default();
        for node in page.descendants() {
            let Node::Element(element) = node.value() else { continue };
            if !is_control(element) {
                continue;
            }
            let targets = TARGETS.iter().filter_map(|name| element.attribute(name));
            let names = targets.flat_map(str::split_ascii_whitespace).map(|name| name.trim_start_matches('#'));
            hidden.shown.extend(names.map(str::to_owned));
            hidden.controls.extend(element.attribute("id").map(str::to_owned));
        }
        hidden.is_all_struck = is_mostly_struck(page);
        hidden
    }

    /// Whether an element is struck out, or hidden and no control shows it.
    pub(super) fn contains(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let is_struck = STRUCK.contains(&element.name()) && !self.is_all_struck;
        is_struck || is_hidden(element) && !self.is_panel(node, element)
    }

    fn is_panel(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let role = element.attribute("role").unwrap_or_default();
        if OVERLAYS.contains(&role) {
            return false;
        }
        let named = |attribute: &str, names: &HashSet<String>| {
            let value = element.attribute(attribute).unwrap_or_default();
            value.split_ascii_whitespace().any(|name| names.contains(name))
        };
        let is_shown = named("id", &self.shown) || named("aria-labelledby", &self.controls) || follows_control(node);
        role == "tabpanel" || is_shown && has_words(node)
    }
}

fn is_mostly_struck(page: NodeRef<'_, Node>) -> bool {
    let (mut struck, mut all) = (0, 0);
    let mut open = None;
    for edge in page.traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(element) if open.is_none() && STRUCK.contains(&element.name()) => open = Some(node.id()),
                Node::Text(text) => {
                    all += text.trim().len();
                    struck += if open.is_some() { text.trim().len() } else { 0 };
                }
                Node::Element(_) | Node::Other => {}
            },
            Edge::Close(node) => open = open.filter(|id| *id != node.id()),
        }
    }
    struck * 2 > all
}

fn is_hidden(element: &Element) -> bool {
    // A browser shows the words that a reader looks for in it.
    let is_off = element.attribute("hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"));
    let is_unread = element.attribute("aria-hidden") == Some("true");
    let has_style = |style: &str| {
        let style: String = style.chars().filter(|sign| !sign.is_whitespace()).collect();
        let style = style.to_ascii_lowercase();
        ["display:none", "visibility:hidden", "text-decoration:line-through"].iter().any(|rule| style.contains(rule))
    };
    let is_styled = || !PAGES.contains(&element.name()) && element.attribute("style").is_some_and(has_style);
    is_off || is_unread || is_styled()
}

fn is_control(element: &Element) -> bool {
    matches!(element.name(), "a" | "button") || matches!(element.attribute("role"), Some("button" | "tab"))
}

/// Whether an element stands below a button, or below a heading that holds one.
fn follows_control(node: NodeRef<'_, Node>) -> bool {
    let before = node.prev_siblings().take(MOST_BETWEEN).find_map(|before| match before.value() {
        Node::Element(element) => Some((before, element)),
        Node::Text(_) | Node::Other => None,
    });
    let is_button = |node: NodeRef<'_, Node>| matches!(node.value(), Node::Element(inner) if inner.name() == "button");
    before.is_some_and(|(before, element)| {
        let is_name = level_of(element.name()).is_some() || element.name() == "dt";
        is_button(before) || is_name && before.descendants().take(MOST_NODES).any(is_button)
    })
}

/// Whether an element holds more than links: it is no menu.
fn has_words(node: NodeRef<'_, Node>) -> bool {
    let mut link = None;
    for edge in node.traverse().take(MOST_NODES) {
        match edge {
            Edge::Open(inner) => match inner.value() {
                Node::Element(element) if link.is_none() && is_control(element) => link = Some(inner.id()),
                Node::Text(text) if link.is_none() && text.contains(char::is_alphanumeric) => return true,
                Node::Element(_) | Node::Text(_) | Node::Other => {}
            },
            Edge::Close(inner) => link = link.filter(|id| *id != inner.id()),
        }
    }
    false
}
