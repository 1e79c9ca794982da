//! The parts of a page that only lead elsewhere, as their own markup says.
//!
//! Landmarks of WAI-ARIA, types of links of the HTML Standard (section 4.6.7), and the class names that programs which write
//! documentation give to what stands around each page.

use ego_tree::NodeRef;

use super::tree::{Element, Node, text_of};

/// Landmarks that hold nothing of the content.
const LANDMARKS: [&str; 2] = ["navigation", "search"];

/// Class names of what leads through a manual: `DocBook`, `Texinfo`, `Sphinx`, `MediaWiki`, and the common ones.
const CLASSES: [&str; 9] = [
    "breadcrumb",
    "breadcrumbs",
    "mw-editsection",
    "nav",
    "nav-panel",
    "navbar",
    "navfooter",
    "navheader",
    "sphinxsidebar",
];

/// Elements that may hold nothing but links to the pages around this one.
const LINES: [&str; 4] = ["div", "p", "table", "ul"];

/// Types of links to the pages around this one.
const AROUND: [&str; 11] =
    ["contents", "first", "index", "last", "next", "prev", "previous", "start", "toc", "top", "up"];

/// Most nodes of such a line. With it, the search takes time in proportion to the page.
const MOST_NODES: usize = 60;

/// Most words beside the links of such a line, for each of them: "Next:".
const MOST_WORDS: usize = 2;

/// Whether an element only leads elsewhere.
pub(super) fn is_navigation(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let has_role = element.attribute("role").is_some_and(|role| LANDMARKS.contains(&role));
    let classes = element.attribute("class").unwrap_or_default();
    has_role
        || classes.split_ascii_whitespace().any(|class| CLASSES.contains(&class))
        || LINES.contains(&element.name()) && is_line_of_links(node)
}

/// Names of the pages around one, in lower case.
const NAMES: [&str; 10] = ["contents", "first", "home", "index", "last", "next", "prev", "previous", "top", "up"];

/// Names that a line of nothing but names has at least one of.
const STEPS: [&str; 3] = ["next", "prev", "previous"];

/// Whether a paragraph is nothing but names of the pages around this one: "Next Previous Contents". Programs that write
/// manuals put their links above and below the text without a mark.
pub(super) fn names_pages_around(text: &str) -> bool {
    // Signs of arrows and of brackets stand around the names.
    let is_sign = |sign: char| !sign.is_alphanumeric();
    let text = text.to_lowercase().replace("table of contents", "contents");
    let mut words = text.split(is_sign).filter(|word| !word.is_empty()).take(NAMES.len() + 1);
    let (mut count, mut has_step) = (0, false);
    let are_names = words.all(|word| {
        count += 1;
        has_step |= STEPS.contains(&word);
        NAMES.contains(&word)
    });
    are_names && has_step && (2..=NAMES.len()).contains(&count)
}

/// Whether an element holds links to the pages around this one, and little else.
fn is_line_of_links(node: NodeRef<'_, Node>) -> bool {
    if node.descendants().nth(MOST_NODES).is_some() {
        return false;
    }
    let links = || node.descendants().filter_map(|inner| Some((inner, link(inner)?)));
    let count = links().count();
    let words_of_links: usize = links().map(|(link, _)| words_in(link)).sum();
    let is_around = |(_, link): (_, &Element)| link.attribute("rel").is_some_and(leads_around);
    count > 0 && links().all(is_around) && words_in(node).saturating_sub(words_of_links) <= MOST_WORDS * count
}

fn link(node: NodeRef<'_, Node>) -> Option<&Element> {
    match node.value() {
        Node::Element(element) if element.name() == "a" => Some(element),
        Node::Element(_) | Node::Text(_) | Node::Other => None,
    }
}

fn words_in(node: NodeRef<'_, Node>) -> usize {
    text_of(node).split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Whether the type of a link names a page around this one.
fn leads_around(types: &str) -> bool {
    types.split_ascii_whitespace().any(|kind| AROUND.iter().any(|around| kind.eq_ignore_ascii_case(around)))
}
