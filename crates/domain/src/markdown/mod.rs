//! Markdown, and plain text, which is Markdown without markup.
//!
//! [`leaves`] are the blocks that hold text, as `pulldown-cmark` finds them (`CommonMark` with GFM tables).
//! [`blocks`] divides them further, into what sentences and citations are read from. Headings and code for the
//! splitter come from the same leaves, so that all parts of the service read a text alike.

mod block;
mod column_heads;
mod definition;
mod group;
mod leaf;
mod line;
mod link;
#[cfg(test)]
mod tests;

pub use block::{Block, BlockKind, blocks};
pub(crate) use column_heads::{labelling_columns, only_label};
pub(crate) use definition::link_definitions;
pub(crate) use group::{PlacedGroups, RowOfGroup, group_name, has_no_value};
pub(crate) use leaf::{Leaf, LeafKind, leaves};
pub use line::{cells, is_fence, is_table_delimiter};
pub(crate) use line::{is_bold, quote_marks};
pub(crate) use link::{ReferenceKind, references};
