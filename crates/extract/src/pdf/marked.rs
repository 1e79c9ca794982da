//! Glyphs of marked content: where the tags of a page can be relied on, they tell the order of its lines.

use super::{
    super::{grid::Cell, header::names_columns},
    glyphs::PlacedGlyph,
    lines::{Line, LineBuilder},
    on_one_line,
    tags::{Kind, Piece, TableCell, Tag},
};

/// Share of the characters of a page that must be tagged or be artifacts, in per cent.
const TAGGED: usize = 90;

/// Most cells of a row.
const MOST_COLUMNS: usize = 256;

/// How a glyph is marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    /// Not at all, or by what is not in the structure.
    None,
    /// As no part of the content: running lines, numbers of pages, decoration.
    Artifact,
    Piece(Piece),
}

/// A glyph of a page and how it is marked.
#[derive(Clone, Debug)]
pub(super) struct MarkedGlyph {
    pub(super) mark: Mark,
    pub(super) glyph: PlacedGlyph,
}

impl MarkedGlyph {
    const fn piece(&self) -> Option<Piece> {
        match self.mark {
            Mark::Piece(piece) => Some(piece),
            Mark::Artifact | Mark::None => None,
        }
    }

    fn tag(&self) -> Option<Tag> {
        self.piece().map(|piece| piece.tag)
    }

    fn has_letters(&self) -> bool {
        self.glyph.text.chars().any(char::is_alphanumeric)
    }
}

/// The lines of a page, whose glyphs come in the order in which they are drawn.
pub(super) fn lines(glyphs: Vec<MarkedGlyph>) -> Vec<Line> {
    if !is_tagged(&glyphs) {
        return joined(glyphs, None);
    }
    let mut last = None;
    let place = |glyph: MarkedGlyph| {
        last = glyph.piece().or(last);
        // Text without a tag stands after the block that was drawn before it.
        (last.map(|piece| (piece.tag.block, glyph.piece().is_none(), piece.order)), glyph)
    };
    let mut placed: Vec<_> = glyphs.into_iter().map(place).collect();
    placed.sort_by_key(|(place, _)| *place);
    let ordered: Vec<MarkedGlyph> = placed.into_iter().map(|(_, glyph)| glyph).collect();
    let blocks = ordered.chunk_by(|one, next| one.tag() == next.tag());
    let lines = blocks.flat_map(|block| joined(block.to_vec(), block.first().and_then(MarkedGlyph::tag)));
    // Bullets and leaders are no lines of their own.
    lines.filter(|line| line.tag.is_some() || line.text.contains(char::is_alphanumeric)).collect()
}

fn joined(glyphs: Vec<MarkedGlyph>, tag: Option<Tag>) -> Vec<Line> {
    let mut builder = LineBuilder::default();
    for MarkedGlyph { glyph, .. } in glyphs {
        builder.push(glyph);
    }
    builder.finish(tag)
}

/// Whether the tags of a page can be relied on.
fn is_tagged(glyphs: &[MarkedGlyph]) -> bool {
    let letters = || glyphs.iter().filter(|glyph| glyph.has_letters());
    let tagged = letters().filter(|glyph| glyph.piece().is_some()).count();
    tagged > 0 && tagged * 100 >= letters().filter(|glyph| glyph.mark != Mark::Artifact).count() * TAGGED
}

/// Whether two lines, one after the other, are of one list, of one table, or both of neither.
pub(super) fn stand_together(one: Option<Tag>, other: Option<Tag>) -> bool {
    match (one.map(|tag| tag.kind), other.map(|tag| tag.kind)) {
        (Some(Kind::Cell(one)), Some(Kind::Cell(other))) => one.table == other.table,
        (Some(Kind::Item(_)), Some(Kind::Item(_))) => true,
        (Some(Kind::Cell(_) | Kind::Item(_)), _) | (_, Some(Kind::Cell(_) | Kind::Item(_))) => false,
        _ => true,
    }
}

/// The rows of a table, and whether the first of them names the columns.
pub(super) fn rows(lines: &[Line]) -> (Vec<Vec<Cell>>, bool) {
    let cells = lines.chunk_by(|one, next| one.tag == next.tag).filter_map(|lines| Some((cell_of(lines)?, lines)));
    let cells: Vec<(TableCell, &[Line])> = cells.collect();
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for row in cells.chunk_by(|(one, _), (next, _)| one.row == next.row) {
        let mut placed: Vec<Cell> = Vec::new();
        for (cell, lines) in row {
            // Those before it are empty.
            placed.resize(placed.len().max(cell.place.min(MOST_COLUMNS)), Cell::default());
            placed.push(Cell { text: on_one_line(lines), span: cell.span });
        }
        rows.push(placed);
    }
    let width = |row: &Vec<Cell>| row.iter().map(|cell| cell.span.columns).sum::<usize>();
    let widest = rows.iter().map(width).max().unwrap_or_default().min(MOST_COLUMNS);
    for row in &mut rows {
        row.resize(row.len() + widest.saturating_sub(width(row)), Cell::default());
    }
    let first_row = cells.first().map(|(first, _)| first.row);
    let is_marked = cells.iter().take_while(|(cell, _)| Some(cell.row) == first_row).all(|(cell, _)| cell.is_header);
    let texts = || rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect());
    let has_header = is_marked || names_columns(&texts().collect::<Vec<_>>());
    (rows, has_header)
}

fn cell_of(lines: &[Line]) -> Option<TableCell> {
    match lines.first()?.tag?.kind {
        Kind::Cell(cell) => Some(cell),
        Kind::Text | Kind::Heading(_) | Kind::Item(_) => None,
    }
}
