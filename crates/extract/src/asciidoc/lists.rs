//! Lists of a document as those of a web page.

use asciidoc_parser::blocks::{Block, IsBlock, ListBlock, ListItem, ListItemMarker, ListType};

use super::{
    super::{ExtractError, office::numeral},
    blocks::Writer,
};

impl Writer {
    /// Writes a list of any kind.
    pub(super) fn list<'a>(&mut self, list: &'a ListBlock<'a>) -> Result<(), ExtractError> {
        self.lead(list);
        self.end_label();
        if list.type_() == ListType::Description {
            return self.descriptions(list);
        }
        let style = list.declared_style().or_else(|| list.marker_style()).unwrap_or_default();
        let format = match style {
            "loweralpha" => "lowerLetter",
            "upperalpha" => "upperLetter",
            "lowerroman" => "lowerRoman",
            "upperroman" => "upperRoman",
            _ => "",
        };
        let is_numbered = matches!(list.type_(), ListType::Ordered | ListType::Callout);
        let start = list.start().unwrap_or(1);
        match (is_numbered, format) {
            (true, "") => self.push(&["<ol start=\"", &start.to_string(), "\">"]),
            _ => self.push(&["<ul>"]),
        }
        let mut items = (start..).zip(list.child_blocks()).peekable();
        while let Some((number, block)) = items.next() {
            let Block::ListItem(item) = block else { continue };
            // The parser takes terms below the notes on a piece of code for more of these.
            if matches!(item.list_item_marker(), ListItemMarker::DefinedTerm { .. }) {
                self.html.push_str("<dl>");
                self.description(item)?;
                self.html.push_str("</dl>");
                continue;
            }
            self.item(item, number, if is_numbered { format } else { "" })?;
            // In the line of a cell nothing else shows where an item ends.
            self.html.push_str(if self.cells > 0 && items.peek().is_some() { ";</li>" } else { "</li>" });
        }
        self.html.push_str(if is_numbered && format.is_empty() { "</ol>" } else { "</ul>" });
        Ok(())
    }

    /// Writes an item of a list. Letters are written as such.
    fn item<'a>(&mut self, item: &'a ListItem<'a>, number: i64, format: &str) -> Result<(), ExtractError> {
        let letter = u32::try_from(number).ok().and_then(|number| numeral(number, format));
        self.label = match (letter, item.checkbox()) {
            (Some(letter), _) => format!("{letter}. "),
            (None, Some(true)) => "[x] ".to_owned(),
            (None, Some(false)) => "[ ] ".to_owned(),
            (None, None) => String::new(),
        };
        self.html.push_str("<li>");
        self.flow(item.child_blocks())?;
        self.label.clear();
        Ok(())
    }

    /// Writes terms with their descriptions, and questions as headings of their answers.
    fn descriptions<'a>(&mut self, list: &'a ListBlock<'a>) -> Result<(), ExtractError> {
        let asks = list.declared_style() == Some("qanda") && self.cells == 0;
        let level = self.level;
        if !asks {
            self.html.push_str("<dl>");
        }
        for block in list.child_blocks() {
            let Block::ListItem(item) = block else { continue };
            if !asks {
                self.description(item)?;
                continue;
            }
            if let ListItemMarker::DefinedTerm { term, .. } = &item.list_item_marker() {
                self.heading(level + 1, term.rendered_html());
            }
            self.flow(item.child_blocks())?;
        }
        if !asks {
            self.html.push_str("</dl>");
        }
        self.level = level;
        Ok(())
    }

    /// Writes a term and what it means, if it is not one of several that mean the same.
    fn description<'a>(&mut self, item: &'a ListItem<'a>) -> Result<(), ExtractError> {
        if let ListItemMarker::DefinedTerm { term, .. } = &item.list_item_marker() {
            let term = self.inline(term.rendered_html());
            self.push(&["<dt>", &term, "</dt>"]);
        }
        if item.child_blocks().next().is_some() {
            self.html.push_str("<dd>");
            self.flow(item.child_blocks())?;
            self.html.push_str("</dd>");
        }
        Ok(())
    }
}
