//! Finds the links of a page to itself: its table of contents, and the same page in other languages.

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef, iter::Edge};

use super::{
    kinds::{SKIPPED, level_of},
    tree::{Element, Node, text_of},
};

/// Elements that hold nothing but such links.
const GROUPS: [&str; 7] = ["div", "dl", "ol", "p", "section", "table", "ul"];

/// Elements beside headings that name what follows.
const NAMES: [&str; 3] = ["b", "dt", "strong"];

/// Most nodes of a heading or a name. With it, the search takes time in proportion to the page.
const MOST_NODES: usize = 40;

/// Fewest links of a table of contents, and the share of them, in per cent, whose words a heading has.
const FEWEST_ENTRIES: usize = 3;
const ENTRIES_SHARE: usize = 80;

/// Most words beside links to languages: "Diese Seite in anderen Sprachen".
const MOST_WORDS: usize = 5;

/// Letters beside links that are kept, in bytes.
const LONGEST_LETTERS: usize = 40;

/// What tables of contents are called, by their letters, in lower case.
const NAMES_OF_CONTENTS: [&str; 10] = [
    "contents",
    "tableofcontents",
    "onthispage",
    "inthisarticle",
    "inhalt",
    "inhaltsverzeichnis",
    "sommaire",
    "tabledesmatières",
    "índice",
    "sommario",
];

/// Longest name of a language, in words.
const LONGEST_LANGUAGE: usize = 3;

/// The groups of links to places whose headings stand in the page, and to the page in other languages.
pub(super) fn own_links(root: NodeRef<'_, Node>) -> HashSet<NodeId> {
    let titles = titles(root);
    let mut found = HashSet::new();
    let mut open = vec![Links::default()];
    let mut skipped = None;
    for edge in root.traverse() {
        match edge {
            Edge::Open(_) if skipped.is_some() => {}
            Edge::Open(node) => match node.value() {
                Node::Element(element) if element.name() == "a" && element.attribute("href").is_some() => {
                    skipped = Some(node.id());
                    if let Some(around) = open.last_mut() {
                        around.add(&Links::of(node, element, &titles));
                    }
                }
                Node::Element(element) if SKIPPED.contains(&element.name()) => skipped = Some(node.id()),
                Node::Element(element) => {
                    open.push(Links { has_heading: level_of(element.name()).is_some(), ..Links::default() });
                }
                Node::Text(text) => {
                    if let Some(around) = open.last_mut() {
                        around.words += words_in(text);
                        around.read(&letters_of(text));
                    }
                }
                Node::Other => {}
            },
            Edge::Close(node) => match (skipped, node.value()) {
                (Some(id), _) if id == node.id() => skipped = None,
                (None, Node::Element(element)) => {
                    let Some(links) = open.pop() else { continue };
                    if GROUPS.contains(&element.name()) && (links.are_contents() || links.are_languages()) {
                        found.insert(node.id());
                    }
                    if let Some(around) = open.last_mut() {
                        around.add(&links);
                    }
                }
                (Some(_) | None, _) => {}
            },
        }
    }
    found
}

/// The letters of the headings of a page, and of other names that are no links.
fn titles(root: NodeRef<'_, Node>) -> HashSet<String> {
    let is_link = |node: NodeRef<'_, Node>| matches!(node.value(), Node::Element(inner) if inner.name() == "a");
    let named = root.descendants().filter(|node| match node.value() {
        Node::Element(element) if level_of(element.name()).is_some() => node.descendants().nth(MOST_NODES).is_none(),
        Node::Element(element) if NAMES.contains(&element.name()) => {
            node.descendants().nth(MOST_NODES).is_none() && !node.descendants().any(is_link)
        }
        Node::Element(_) | Node::Text(_) | Node::Other => false,
    });
    named.map(|node| letters_of(&text_of(node))).collect()
}

/// The links in an element.
#[derive(Debug, Default)]
struct Links {
    count: usize,
    /// Those to a place of a page whose words are those of a heading.
    entries: usize,
    /// Those to a place of a page.
    places: usize,
    /// Those that say that their page is in a language, and those whose words and address are the code of one.
    languages: usize,
    codes: usize,
    /// Words that are in none of them, and the first letters of these.
    words: usize,
    letters: String,
    has_heading: bool,
}

impl Links {
    fn of(node: NodeRef<'_, Node>, link: &Element, titles: &HashSet<String>) -> Self {
        let text = text_of(node);
        let target = link.attribute("href").unwrap_or_default();
        let is_place = target.contains('#');
        let is_language = link.attribute("hreflang").is_some() && words_in(&text) <= LONGEST_LANGUAGE;
        Self {
            count: 1,
            entries: usize::from(is_place && titles.contains(&letters_of(&text))),
            places: usize::from(is_place),
            languages: usize::from(is_language),
            codes: usize::from(is_code(text.trim(), target)),
            ..Self::default()
        }
    }

    fn add(&mut self, inner: &Self) {
        self.count += inner.count;
        self.entries += inner.entries;
        self.places += inner.places;
        self.languages += inner.languages;
        self.codes += inner.codes;
        self.words += inner.words;
        self.read(&inner.letters);
        self.has_heading |= inner.has_heading;
    }

    fn read(&mut self, letters: &str) {
        if self.letters.len() <= LONGEST_LETTERS {
            self.letters.push_str(letters);
        }
    }

    fn are_contents(&self) -> bool {
        self.count >= FEWEST_ENTRIES
            && self.places == self.count
            && self.entries * 100 >= self.count * ENTRIES_SHARE
            && (self.letters.is_empty() || NAMES_OF_CONTENTS.contains(&self.letters.as_str()))
            && !self.has_heading
    }

    /// The page itself may be a link as well, without its language.
    fn are_languages(&self) -> bool {
        let are_told = self.count > 1 && self.languages + 1 >= self.count;
        let are_links = are_told || self.count > 0 && self.codes == self.count;
        are_links && self.words <= MOST_WORDS && !self.has_heading
    }
}

/// Whether a text is the code of a language in which an address names its page: `fr` for `../fr/paint.html`.
fn is_code(text: &str, target: &str) -> bool {
    let is_short = (2..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase());
    is_short && target.split(['/', '.', '?', '=']).any(|part| part == text)
}

fn words_in(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count()
}

/// The letters of a text, in lower case: numbers and signs differ between contents and headings.
fn letters_of(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphabetic()).flat_map(char::to_lowercase).collect()
}
