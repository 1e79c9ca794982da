//! Web pages: extracts the text to read, with its headings.
//!
//! The main content is the part that the page itself marks as such (`main`, a single `article`), else its body;
//! navigation, forms, scripts, text that is struck out and hidden elements that no control of the page shows are left
//! out, and so are lists of nothing but links above the content, which are the menus of sites that do not mark them, and a
//! page's links to itself. Detecting the main content by the density of text, as reading modes of browsers do, was
//! rejected: it drops tables, lists and references, and an ingested document must not lose parts silently.

mod fragment;
mod hidden;
mod kinds;
mod layout;
mod listing;
mod main_content;
mod menu;
mod navigation;
mod own_links;
mod preformatted;
mod raised;
mod redirect;
mod signs;
mod tree;

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef, Tree, iter::Edge};

pub(super) use self::fragment::{closed, escaped};
use self::hidden::Hidden;
use self::kinds::{FRAME, SKIPPED, is_block, level_of};
use self::layout::rows_around_tables;
use self::listing::{OpenLists, is_indented, is_number, is_term, joined};
use self::main_content::{elements, main_content};
use self::menu::left_out;
use self::navigation::{is_navigation, names_pages_around};
pub(super) use self::preformatted::between_fences;
use self::preformatted::{fenced, fenced_line, is_line_number, is_line_of_code, line_numbers};
use self::raised::{Notes, raised};
use self::redirect::target_of;
use self::signs::{is_heading_end, is_invisible, is_permalink_sign, mark_of};
use self::tree::{Element, Node, parse, text_of};
use super::{
    Cause, ExtractError,
    content::Content,
    grid::{Cell, Grid, RowKind, Span},
};

/// Adds a web page; its title is that of the page.
///
/// # Errors
/// `too_large`, or `empty` if it only leads to another page, since that one is not read.
pub(super) fn page(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    let tree = parse(text);
    if let Some(title) = elements(&tree).find(|(_, element)| element.name() == "title") {
        content.name(&text_of(title.0));
    }
    let (root, is_marked) = main_content(&tree);
    Walk::new(content, &tree, !is_marked).run(root, &left_out(root, is_marked))?;
    match target_of(&tree, &content.text) {
        Some(page) => {
            let message = format!("the page only leads to {page}; send that one");
            Err(ExtractError::new(Cause::Empty, message))
        }
        None => Ok(()),
    }
}

/// Adds a chapter of a book: all of it is content, and its notes stand beside the text.
pub(super) fn chapter(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    let tree = parse(text);
    Walk::new(content, &tree, false).run(tree.root(), &left_out(tree.root(), false))
}

/// The encoding that a page names in its first 1,024 bytes, where the HTML Standard looks for it.
pub(super) fn charset(bytes: &[u8]) -> Option<String> {
    const PRESCAN: usize = 1024;
    let beginning = String::from_utf8_lossy(bytes.get(..PRESCAN).unwrap_or(bytes)).to_ascii_lowercase();
    let (_, value) = beginning.split_once("charset=")?;
    let value = value.trim_start_matches(['"', '\'']);
    let end = value.find(|character: char| !character.is_ascii_alphanumeric() && !"-_:.".contains(character));
    value.get(..end.unwrap_or(value.len())).map(str::to_owned)
}

/// A row of a table that is being read.
#[derive(Debug)]
struct Row {
    cells: Vec<Cell>,
    /// How far the cell under way reaches.
    span: Span,
    /// Its kind, by the cells so far.
    kind: RowKind,
}

/// A walk in document order that neither recurses nor looks back.
struct Walk<'content> {
    content: &'content mut Content,
    /// Text of the paragraph under way.
    text: String,
    /// The level of the heading that is being read.
    heading: Option<u8>,
    /// Open elements in which white space counts.
    preformatted: usize,
    /// The paragraph under way, if it is a line of code.
    line_of_code: Option<NodeId>,
    /// The cell that numbers the lines of the code beside it.
    line_numbers: Option<NodeId>,
    hidden: Hidden,
    notes: Notes,
    /// Rows around tables.
    layout: HashSet<NodeId>,
    lists: OpenLists,
    /// Open elements whose text is bold.
    bold: usize,
    /// Whether the cell under way holds text that is not bold.
    has_plain: bool,
    /// Text that is put before the next paragraph.
    mark: String,
    /// Rows of the open tables of data; the innermost last.
    rows: Vec<Row>,
    /// The table that the next row goes on with.
    grid: Grid,
    /// The terms whose definition comes next.
    term: String,
    /// Whether such a term is being read.
    in_term: bool,
    /// Whether what surrounds the main content is left out.
    skips_frame: bool,
    /// Open elements inside which the frame of the page cannot be.
    inside: usize,
}

impl<'content> Walk<'content> {
    fn new(content: &'content mut Content, tree: &Tree<Node>, skips_frame: bool) -> Self {
        Self {
            content,
            text: String::new(),
            heading: None,
            preformatted: 0,
            line_of_code: None,
            line_numbers: None,
            hidden: Hidden::of(tree.root()),
            notes: Notes::of(tree),
            layout: rows_around_tables(tree),
            lists: OpenLists::default(),
            bold: 0,
            has_plain: false,
            mark: String::new(),
            rows: Vec::new(),
            grid: Grid::default(),
            term: String::new(),
            in_term: false,
            skips_frame,
            inside: 0,
        }
    }

    /// Reads all below `root` but what is `left_out`.
    fn run(mut self, root: NodeRef<'_, Node>, left_out: &HashSet<NodeId>) -> Result<(), ExtractError> {
        let mut skipped: Option<NodeId> = None;
        for edge in root.traverse() {
            match edge {
                Edge::Open(_) if skipped.is_some() => {}
                Edge::Open(node) if left_out.contains(&node.id()) => skipped = Some(node.id()),
                Edge::Open(node) => match node.value() {
                    Node::Element(element)
                        if self.is_skipped(node, element)
                            || self.is_permalink(node, element)
                            || is_navigation(node, element) =>
                    {
                        skipped = Some(node.id());
                    }
                    Node::Element(element) => {
                        if let Some(text) = raised(node, element) {
                            self.add(&text);
                            skipped = Some(node.id());
                            continue;
                        }
                        self.open(node, element)?;
                        if self.preformatted == 0 && is_line_of_code(node, element) {
                            (self.line_of_code, self.preformatted) = (Some(node.id()), 1);
                        }
                    }
                    Node::Text(text) => self.add(text),
                    Node::Other => {}
                },
                Edge::Close(node) => match (skipped, node.value()) {
                    (Some(id), _) if id == node.id() => skipped = None,
                    (None, Node::Element(element)) => {
                        self.close(element.name())?;
                        if self.line_of_code.take_if(|id| *id == node.id()).is_some() {
                            self.preformatted = 0;
                        }
                    }
                    (Some(_) | None, _) => {}
                },
            }
        }
        self.flush()?;
        self.grid.end(self.content)?;
        self.end_term()
    }

    fn is_skipped(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let name = element.name();
        SKIPPED.contains(&name) && !(name == "button" && self.is_name_of_panel(node))
            || self.hidden.contains(node, element)
            || self.line_numbers == Some(node.id())
            || self.preformatted > 0 && is_line_number(element)
            || (self.skips_frame && self.inside == 0 && FRAME.contains(&name))
    }

    /// Whether a button is all of its heading: it shows and hides what follows.
    fn is_name_of_panel(&self, button: NodeRef<'_, Node>) -> bool {
        let is_blank = |node: NodeRef<'_, Node>| matches!(node.value(), Node::Text(text) if text.trim().is_empty());
        self.heading.is_some() && button.prev_siblings().chain(button.next_siblings()).all(is_blank)
    }

    /// Whether the element is a link that leads to the place where it stands, in a heading, term, caption or elsewhere;
    /// its sign is not part of the text.
    fn is_permalink(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        if element.name() != "a" {
            return false;
        }
        let leads_within = element.attribute("href").is_none_or(|target| target.contains('#'));
        let text = text_of(node);
        let mut signs = text.chars().filter(|sign| !sign.is_whitespace() && !is_invisible(*sign)).peekable();
        (leads_within || self.heading.is_some()) && signs.peek().is_some() && signs.all(is_permalink_sign)
    }

    fn open(&mut self, node: NodeRef<'_, Node>, element: &Element) -> Result<(), ExtractError> {
        let name = element.name();
        match name {
            "br" => self.text.push('\n'),
            "td" | "th" if !self.rows.is_empty() => {
                self.text.clear();
                self.has_plain = false;
                let span = |name| element.attribute(name).and_then(|span| span.trim().parse().ok());
                if let Some(row) = self.rows.last_mut() {
                    row.span = Span { columns: span("colspan").unwrap_or(1), rows: span("rowspan").unwrap_or(1) };
                }
            }
            // The cells of a row around a table are there for the layout: they are paragraphs.
            "tr" if self.layout.contains(&node.id()) => {
                self.flush()?;
                self.grid.end(self.content)?;
            }
            "tr" if line_numbers(node).is_some() => self.line_numbers = line_numbers(node),
            "tr" => {
                self.flush()?;
                self.rows.push(Row { cells: Vec::new(), span: Span::default(), kind: RowKind::Header });
            }
            "table" => {
                self.flush()?;
                self.grid.end(self.content)?;
            }
            _ if is_block(name) => self.flush()?,
            _ => {}
        }
        if is_indented(element) && self.term.is_empty() && self.rows.is_empty() {
            self.term = self.content.take_last_line(is_term).unwrap_or_default();
        }
        match name {
            "pre" => self.preformatted += 1,
            "b" | "strong" => self.bold += 1,
            "menu" | "ol" | "ul" => self.lists.open(element),
            "li" => self.mark = self.lists.mark(element),
            "dt" => self.in_term = true,
            "article" | "main" | "section" => self.inside += 1,
            _ => self.heading = level_of(name).or(self.heading),
        }
        if let Some(mark) = self.notes.mark_before(node, element) {
            self.mark = mark;
        }
        Ok(())
    }

    fn close(&mut self, name: &str) -> Result<(), ExtractError> {
        match name {
            "td" | "th" => {
                if let Some(row) = self.rows.last_mut() {
                    let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
                    row.kind = match row.kind {
                        kind if name == "th" || text.is_empty() => kind,
                        RowKind::Header | RowKind::LikeHeader if !self.has_plain => RowKind::LikeHeader,
                        _ => RowKind::Unknown,
                    };
                    row.cells.push(Cell { text, span: std::mem::take(&mut row.span) });
                    self.text.clear();
                } else {
                    self.flush()?;
                }
            }
            "tr" => {
                if let Some(row) = self.rows.pop() {
                    self.grid.write(row.cells, row.kind, self.content)?;
                }
            }
            "table" => {
                self.flush()?;
                self.grid.end(self.content)?;
            }
            _ if is_block(name) => self.flush()?,
            _ => {}
        }
        match name {
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "b" | "strong" => self.bold = self.bold.saturating_sub(1),
            "menu" | "ol" | "ul" => self.lists.close(),
            "li" => self.mark.clear(),
            "dt" => self.in_term = false,
            "dl" => self.end_term()?,
            "article" | "main" | "section" => self.inside = self.inside.saturating_sub(1),
            _ if level_of(name).is_some() => self.heading = None,
            _ => {}
        }
        Ok(())
    }

    /// Writes a term that no paragraph defines.
    fn end_term(&mut self) -> Result<(), ExtractError> {
        let term = std::mem::take(&mut self.term);
        if term.is_empty() { Ok(()) } else { self.content.block(&format!("{}:", term.trim_end_matches(':'))) }
    }

    fn add(&mut self, text: &str) {
        self.has_plain |= self.bold == 0 && !text.trim().is_empty();
        if self.preformatted > 0 {
            self.text.push_str(text);
            return;
        }
        for character in text.chars() {
            if !character.is_ascii_whitespace() {
                self.text.push(character);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
    }

    /// Ends the paragraph under way. Inside a cell it goes on.
    fn flush(&mut self) -> Result<(), ExtractError> {
        if !self.rows.is_empty() {
            self.text.push(' ');
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() || names_pages_around(&text) {
            return Ok(());
        }
        self.grid.end(self.content)?;
        if self.in_term && self.heading.is_none() {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if let Some(mark) = mark_of(&words) {
                self.end_term()?;
                self.mark = mark;
                return Ok(());
            }
            let separator = if self.term.is_empty() { "" } else { ", " };
            self.term = format!("{}{separator}{words}", self.term);
            return Ok(());
        }
        if self.heading.is_some() || self.preformatted > 0 || !self.mark.is_empty() {
            self.end_term()?;
        }
        match self.heading {
            Some(level) => self.content.heading(level, text.trim_end_matches(is_heading_end)),
            None if self.line_of_code.is_some() => self.content.block(&fenced_line(&text)),
            None if self.preformatted > 0 => self.content.block(&fenced(&text)),
            None => {
                let mark = std::mem::take(&mut self.mark);
                let term = std::mem::take(&mut self.term);
                let colon = if term.is_empty() { "" } else { ": " };
                let lines: Vec<&str> = text.lines().map(str::trim).collect();
                let text = format!("{mark}{}{colon}{}", term.trim_end_matches(':'), joined(&lines).trim());
                let is_apart = mark.is_empty()
                    || mark.starts_with('[')
                    || is_number(&mark) && !self.content.last_line().is_some_and(is_number);
                if is_apart { self.content.block(&text) } else { self.content.line(&text) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
