//! Rows of tables that are there for the layout of a page.

use std::collections::HashSet;

use ego_tree::{NodeId, Tree};

use super::{main_content::elements, tree::Node};

/// The rows that hold a table.
pub(super) fn rows_around_tables(tree: &Tree<Node>) -> HashSet<NodeId> {
    let mut around = HashSet::new();
    let mut seen = HashSet::new();
    for (table, _) in elements(tree).filter(|(_, element)| element.name() == "table") {
        // What is around an element seen before has been looked at; the search takes time in proportion to the page.
        for outer in table.ancestors().take_while(|outer| seen.insert(outer.id())) {
            if matches!(outer.value(), Node::Element(element) if element.name() == "tr") {
                around.insert(outer.id());
            }
        }
    }
    around
}
