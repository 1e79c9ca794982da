//! Finds the menus of a site, which stand above the content of each of its pages without being marked as navigation.

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef, iter::Edge};

use super::{
    kinds::{SKIPPED, level_of},
    own_links::own_links,
    tree::{Node, text_of},
};

/// Elements that a menu may be.
const LISTS: [&str; 4] = ["menu", "ol", "p", "ul"];

/// Fewest links of a menu.
const FEWEST_LINKS: usize = 3;

/// Longest text of a link, in characters.
const LONGEST_LINK: usize = 40;

/// Most nodes of a menu. With it, the search takes time in proportion to the page.
const MOST_NODES: usize = 400;

/// Most text that is no link above a menu, in bytes: the name and the motto of the site.
const MOST_ABOVE: usize = 200;

/// How many times as long as a menu the text of the page must be that is no link: a page of links is no menu.
const LONGER: usize = 10;

/// The groups of links of a page that are not read. A page that marks its content has no menu in it.
pub(super) fn left_out(root: NodeRef<'_, Node>, is_marked: bool) -> HashSet<NodeId> {
    let mut left_out = own_links(root);
    if !is_marked {
        left_out.extend(menus(root));
    }
    left_out
}

/// The lists above the content of a page that hold nothing but links to other pages.
fn menus(root: NodeRef<'_, Node>) -> HashSet<NodeId> {
    let mut menus: Vec<(NodeId, usize)> = Vec::new();
    let (mut above, mut skipped) = (0, None);
    for edge in root.traverse() {
        match edge {
            Edge::Open(_) if skipped.is_some() => {}
            Edge::Open(node) => match node.value() {
                Node::Element(element) if level_of(element.name()).is_some() => break,
                Node::Element(element) if SKIPPED.contains(&element.name()) => skipped = Some(node.id()),
                Node::Element(element) if LISTS.contains(&element.name()) => {
                    if let Some(length) = length_of_menu(node) {
                        menus.push((node.id(), length));
                        skipped = Some(node.id());
                    }
                }
                Node::Text(text) => above += text.trim().len(),
                Node::Element(_) | Node::Other => {}
            },
            Edge::Close(node) => skipped = skipped.filter(|id| *id != node.id()),
        }
        if above > MOST_ABOVE {
            break;
        }
    }
    if menus.is_empty() {
        return HashSet::new();
    }
    let other = length_outside_links(root);
    menus.into_iter().filter(|(_, length)| other >= LONGER * length).map(|(id, _)| id).collect()
}

/// The length of the links of a list, in bytes, if it is a menu.
fn length_of_menu(list: NodeRef<'_, Node>) -> Option<usize> {
    if list.descendants().nth(MOST_NODES).is_some() || length_outside_links(list) > 0 {
        return None;
    }
    let (mut links, mut length) = (0, 0);
    for node in list.descendants() {
        let Node::Element(element) = node.value() else { continue };
        if element.name() != "a" {
            continue;
        }
        let text = text_of(node);
        let text = text.trim();
        // Links within the page may be content.
        let is_within = element.attribute("href").is_none_or(|target| target.trim().starts_with('#'));
        if is_within || text.chars().count() > LONGEST_LINK {
            return None;
        }
        links += usize::from(!text.is_empty());
        length += text.len();
    }
    (links >= FEWEST_LINKS).then_some(length)
}

/// The length of the words that are no links, in bytes.
fn length_outside_links(root: NodeRef<'_, Node>) -> usize {
    let (mut length, mut skipped) = (0, None);
    for edge in root.traverse() {
        match edge {
            Edge::Open(_) if skipped.is_some() => {}
            Edge::Open(node) => match node.value() {
                Node::Element(element) if element.name() == "a" || SKIPPED.contains(&element.name()) => {
                    skipped = Some(node.id());
                }
                Node::Text(text) => {
                    length += text.split_whitespace().filter(|word| is_word(word)).map(str::len).sum::<usize>();
                }
                Node::Element(_) | Node::Other => {}
            },
            Edge::Close(node) => skipped = skipped.filter(|id| *id != node.id()),
        }
    }
    length
}

fn is_word(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}
