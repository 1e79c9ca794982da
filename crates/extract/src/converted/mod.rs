//! Documents that `anydoc` reads into its model: RTF, ODF text and slides, DOC, PPT, XLS and XLSB.
//!
//! The model does not say where slides begin, so these have no pages.

mod notes;

use std::borrow::Cow;

use anydoc::{
    ConvertError,
    model::{Block, CellSlot, List, Table, TableKind, inlines_to_plain_text},
};
use calamine::Dimensions;

use super::{
    Cause, ExtractError,
    archive::{Archive, is_archive},
    content::Content,
    grid::{Cell, Grid, RowKind, Span},
    legacy_word,
    office::{self, Sheet, Text},
    open_document, rich_text,
};
use notes::Notes;

/// Adds a document.
pub(super) fn document(bytes: &[u8], format: anydoc::Format, content: &mut Content) -> Result<(), ExtractError> {
    let document = read(bytes, format)?;
    if is_archive(bytes) {
        office::read_title(&mut Archive::open(bytes)?, content)?;
    }
    let notes = Notes::new(&document.notes);
    let are_slides = matches!(format, anydoc::Format::Ppt | anydoc::Format::Odp);
    for block in &document.blocks {
        match block {
            // A title of a slide, which the model puts below one that slides do not have.
            Block::Heading { content: inlines, .. } if are_slides => {
                content.heading(1, &inlines_to_plain_text(inlines))?;
            }
            block => {
                if matches!(block, Block::Heading { .. }) {
                    write_notes(&notes, false, content)?;
                }
                write(block, &notes, content)?;
            }
        }
    }
    write_notes(&notes, true, content)
}

/// Writes the notes of the section that ends.
fn write_notes(notes: &Notes<'_>, is_end: bool, content: &mut Content) -> Result<(), ExtractError> {
    notes.take(is_end).try_for_each(|(number, note)| {
        let text = text_of(&note.blocks, notes);
        let text = text.trim();
        if text.is_empty() { Ok(()) } else { content.block(&format!("[{number}] {text}")) }
    })
}

/// Adds a workbook.
pub(super) fn workbook(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    for block in &read(bytes, anydoc::Format::Excel)?.blocks {
        match block {
            Block::Table(table) => write_sheet(table, content)?,
            block => write(block, &Notes::new(&[]), content)?,
        }
    }
    Ok(())
}

fn write_sheet(table: &Table, content: &mut Content) -> Result<(), ExtractError> {
    let cells = || {
        table.grid.iter().zip(0_u32..).flat_map(|(row, number)| {
            row.iter().zip(0_u32..).filter_map(move |(slot, column)| Some(((number, column), origin(slot)?)))
        })
    };
    let merged = cells().filter(|(_, cell)| cell.row_span > 1 || cell.col_span > 1).map(|((row, column), cell)| {
        let end = |start: u32, span: u32| start.saturating_add(span.saturating_sub(1));
        Dimensions { start: (row, column), end: (end(row, cell.row_span), end(column, cell.col_span)) }
    });
    let mut sheet = Sheet::new(None, merged);
    let notes = Notes::new(&[]);
    for (place, cell) in cells() {
        sheet.push(place, Text { text: text_of(&cell.blocks, &notes), is_bold: false }, content)?;
    }
    sheet.finish(content)
}

fn read(bytes: &[u8], format: anydoc::Format) -> Result<anydoc::model::Document, ExtractError> {
    if is_archive(bytes) {
        // The reader has limits of its own, which are higher.
        Archive::open(bytes)?.check_size()?;
    }
    if format == anydoc::Format::Doc {
        legacy_word::check(bytes)?;
    }
    let shown = match format {
        anydoc::Format::Rtf => Cow::Owned(rich_text::shown(bytes)),
        // The reader says what is wrong with others.
        anydoc::Format::Odt | anydoc::Format::Odp => {
            open_document::shown(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)
        }
        _ => Cow::Borrowed(bytes),
    };
    anydoc::to_document(&shown, format).map_err(failure)
}

fn write(block: &Block, notes: &Notes<'_>, content: &mut Content) -> Result<(), ExtractError> {
    match block {
        Block::Heading { level, content: inlines, .. } => content.heading(*level, &inlines_to_plain_text(inlines)),
        Block::Paragraph(inlines) => content.block(&notes.text(inlines)),
        Block::List(list) => write_list(list, "", notes, content),
        Block::Table(table) if table.kind == TableKind::Layout || table.is_single_cell() => {
            cells(table).flat_map(|cell| &cell.blocks).try_for_each(|block| write(block, notes, content))
        }
        Block::Table(table) => write_table(table, notes, content),
        Block::BlockQuote(blocks) => blocks.iter().try_for_each(|block| write(block, notes, content)),
        Block::CodeBlock { text, .. } | Block::Math(text) => content.block(text),
        Block::Rule => Ok(()),
    }
}

/// Writes a list, each paragraph of an entry below its mark.
fn write_list(list: &List, indent: &str, notes: &Notes<'_>, content: &mut Content) -> Result<(), ExtractError> {
    let deeper = format!("{indent}  ");
    for (place, item) in (list.start..).zip(&list.items) {
        let label = item.marker_label.clone().unwrap_or_else(|| list.marker.label(place));
        let mut mark = format!("{indent}{label} ");
        for block in &item.blocks {
            match block {
                Block::List(inner) => write_list(inner, &deeper, notes, content)?,
                Block::Paragraph(inlines) => {
                    content.line(&format!("{mark}{}", notes.text(inlines)))?;
                    mark.clone_from(&deeper);
                }
                other => write(other, notes, content)?,
            }
        }
    }
    Ok(())
}

fn write_table(table: &Table, notes: &Notes<'_>, content: &mut Content) -> Result<(), ExtractError> {
    let mut grid = Grid::default();
    for (number, row) in table.grid.iter().enumerate() {
        let cells = row.iter().filter_map(origin).map(|cell| Cell {
            text: text_of(&cell.blocks, notes).split_whitespace().collect::<Vec<_>>().join(" "),
            span: Span { columns: extent(cell.col_span), rows: extent(cell.row_span) },
        });
        grid.write(cells.collect(), RowKind::of(number < table.header_rows), content)?;
    }
    grid.end(content)
}

fn cells(table: &Table) -> impl Iterator<Item = &anydoc::model::Cell> {
    table.grid.iter().flatten().filter_map(origin)
}

const fn origin(slot: &CellSlot) -> Option<&anydoc::model::Cell> {
    match slot {
        CellSlot::Origin(cell) => Some(cell),
        CellSlot::Covered { .. } => None,
    }
}

fn extent(span: u32) -> usize {
    usize::try_from(span).unwrap_or(usize::MAX)
}

/// The text of blocks that stand in a cell.
fn text_of(blocks: &[Block], notes: &Notes<'_>) -> String {
    let texts = blocks.iter().map(|block| match block {
        Block::Heading { content: inlines, .. } | Block::Paragraph(inlines) => notes.text(inlines),
        Block::List(list) => list.items.iter().map(|item| text_of(&item.blocks, notes)).collect::<Vec<_>>().join("; "),
        Block::Table(table) => cells(table).map(|cell| text_of(&cell.blocks, notes)).collect::<Vec<_>>().join(" "),
        Block::BlockQuote(blocks) => text_of(blocks, notes),
        Block::CodeBlock { text, .. } | Block::Math(text) => text.clone(),
        Block::Rule => String::new(),
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn failure(error: ConvertError) -> ExtractError {
    match error {
        ConvertError::Encrypted => {
            ExtractError::new(Cause::Encrypted, "the document needs a password; save it without one and send it again")
        }
        ConvertError::ResourceLimit { detail, .. } => ExtractError::new(
            Cause::TooLarge,
            format!("the document is over a limit ({detail}); split it, or save it without its media"),
        ),
        other => ExtractError::malformed("document", other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::packed;

    fn read(bytes: &[u8], format: anydoc::Format) -> Content {
        let mut content = Content::default();
        document(bytes, format, &mut content).expect("a document");
        content
    }

    #[test]
    fn rich_text_has_headings_lists_and_tables() {
        let text = br"{\rtf1\ansi\ansicpg1252{\stylesheet{\s1\outlinelevel0 heading 1;}}
            \pard\s1\outlinelevel0 Leave\par\pard Gr\'f6\'dfe: \u8364? 5, \b bold\b0 .\par
            \trowd\cellx2000\cellx4000\intbl Annual\cell 28\cell\row\trowd\cellx2000\cellx4000\intbl Sick\cell 30\cell\row\pard End.\par}";
        let content = read(text, anydoc::Format::Rtf);
        assert_eq!(content.text, "Leave\n\nGröße: € 5, bold.\n\n| Annual | 28 |\n| Sick | 30 |\n\nEnd.");
        assert_eq!(content.headings.len(), 1);
    }

    #[test]
    fn rich_text_is_read_as_it_is_shown() {
        let text = br"{\rtf1\ansi\pard Rent {\v or less }is 5.{\deleted  No pets.\deleted0 } Pets too: 10{\super 6} of them.\par}";
        assert_eq!(read(text, anydoc::Format::Rtf).text, "Rent is 5. Pets too: 10⁶ of them.");
    }

    #[test]
    fn open_documents_have_headings_lists_and_tables() {
        let body = "<text:h text:outline-level='1'>Leave</text:h><text:p>28 <text:span>days</text:span>.</text:p>
            <text:list><text:list-item><text:p>One</text:p></text:list-item><text:list-item><text:p>Two</text:p></text:list-item></text:list>
            <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Kind</text:p></table:table-cell><table:table-cell><text:p>Days</text:p></table:table-cell></table:table-row></table:table-header-rows>
            <table:table-row><table:table-cell><text:p>Annual</text:p></table:table-cell><table:table-cell><text:p>28</text:p></table:table-cell></table:table-row></table:table>";
        let content = format!(
            "<office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0'><office:body><office:text>{body}</office:text></office:body></office:document-content>"
        );
        let parts: [(&str, &[u8]); 2] =
            [("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", content.as_bytes())];
        let content = read(&packed(&parts), anydoc::Format::Odt);
        assert_eq!(content.text, "Leave\n\n28 days.\n- One\n- Two\n\n| Kind | Days |\n|---|---|\n| Annual | 28 |");
        assert_eq!(content.headings.len(), 1);
    }

    fn open_document(body: &str) -> Vec<u8> {
        let names = ["office", "style", "text"]
            .map(|name| format!("xmlns:{name}='urn:oasis:names:tc:opendocument:xmlns:{name}:1.0'"));
        let styles = "<style:style style:name='H' style:family='text'><style:text-properties text:display='none'/></style:style><style:style style:name='U' style:family='text'><style:text-properties style:text-position='super 58%'/></style:style>";
        let content = format!(
            "<office:document-content {}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{body}</office:text></office:body></office:document-content>",
            names.join(" ")
        );
        packed(&[("mimetype", b"application/vnd.oasis.opendocument.text"), ("content.xml", content.as_bytes())])
    }

    #[test]
    fn open_documents_show_neither_hidden_text_nor_comments() {
        let body = "<text:p>Free within 10 km<office:annotation><text:p>True?</text:p></office:annotation><text:span text:style-name='H'> for us</text:span>, 10<text:span text:style-name='U'>-3</text:span> beyond.</text:p><text:section text:display='none'><text:p>Margin</text:p></text:section>";
        assert_eq!(read(&open_document(body), anydoc::Format::Odt).text, "Free within 10 km, 10⁻³ beyond.");
    }

    #[test]
    fn notes_have_numbers_and_stand_below_their_section() {
        let note = |text: &str| {
            format!(
                "<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body><text:p>{text}</text:p></text:note-body></text:note>"
            )
        };
        let body = format!(
            "<text:p>By the stere{} at 72.</text:p><text:h>Kinds</text:h><text:p>Beech{}.</text:p>",
            note("A cubic metre."),
            note("Dry.")
        );
        let content = read(&open_document(&body), anydoc::Format::Odt);
        assert_eq!(content.text, "By the stere[1] at 72.\n\n[1] A cubic metre.\n\nKinds\n\nBeech[2].\n\n[2] Dry.");
        let text = br"{\rtf1\ansi\pard Rent{\super\chftn{\footnote\pard\plain {\super\chftn} By the 3rd.}} is 5.\par}";
        assert_eq!(read(text, anydoc::Format::Rtf).text, "Rent[1] is 5.\n\n[1] By the 3rd.");
    }

    #[test]
    fn what_breaks_off_is_malformed_or_read_as_far_as_it_goes() {
        for bytes in [b"{\\rtf1 Words".as_slice(), b"{\\rtf1", b"{\\rtf1{{{{"] {
            let mut content = Content::default();
            let _ = document(bytes, anydoc::Format::Rtf, &mut content);
        }
        let deep = open_document(&format!("{}{}", "<text:section>".repeat(2_000), "</text:section>".repeat(2_000)));
        let cause = document(&deep, anydoc::Format::Odt, &mut Content::default()).expect_err("deep").cause;
        assert_eq!(cause, Cause::TooLarge);
        let cause = document(b"PK\x03\x04", anydoc::Format::Odt, &mut Content::default()).expect_err("broken").cause;
        assert_eq!(cause, Cause::Malformed);
    }
}
