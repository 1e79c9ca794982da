//! PDF: extracts the text of each page in the order of reading, with the page's number.
//!
//! `hayro` reads the file and places the glyphs; words and lines are built from their positions here, in the order in
//! which they are drawn, then columns, tables, and what runs at the edge of all pages. Invisible text
//! under a scanned image (the layer that OCR adds) counts like any other.

mod contents;
mod direction;
mod drop_cap;
mod furniture;
mod glyphs;
mod headings;
mod joining;
mod layout;
mod lines;
mod marked;
mod outline;
mod running_head;
mod scan;
mod table_rows;
mod tags;
#[cfg(test)]
mod test_file;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use self::{
    glyphs::Page,
    headings::HeadingSizes,
    layout::Part,
    lines::Line,
    outline::Outline,
    tags::{Kind, Tags},
};
use super::{
    Cause, ExtractError,
    content::{Content, MAX_TEXT_BYTES},
    grid::{Cell, Grid, RowKind},
    recognise::{self, Recognise},
    rows::row,
};

/// Largest number of pages of a document.
pub const MAX_PAGES: usize = 5_000;

/// Mean length of explanations, in characters, from which terms beside them are no table.
const EXPLANATION: usize = 80;

/// Adds a PDF document.
pub(super) fn document(
    bytes: &[u8],
    recogniser: Option<&dyn Recognise>,
    content: &mut Content,
) -> Result<(), ExtractError> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(failure)?;
    let pages = pdf.pages();
    if pages.len() > MAX_PAGES {
        return Err(ExtractError::new(
            Cause::TooLarge,
            format!("the PDF has {} pages, more than {MAX_PAGES}; split it into several", pages.len()),
        ));
    }
    let tags = Tags::of(&pdf);
    let mut extracted = glyphs::read(&pdf, &tags, MAX_TEXT_BYTES)?;
    let is_empty = |page: &Page| !page.lines.iter().any(|line| line.text.chars().any(char::is_alphanumeric));
    let empty = (1..).zip(&extracted.pages).filter(|(_, page)| is_empty(page));
    let mut empty: Vec<u32> = empty.map(|(number, _)| number).collect();
    let texts = recogniser.map(|recogniser| scan::recognise(&pdf, &empty, recogniser)).unwrap_or_default();
    if empty.len() == pages.len() && texts.is_empty() {
        return Err(no_text(pages.len(), extracted.unmapped));
    }
    empty.retain(|number| !texts.contains_key(number));
    content.notes.pages_without_text = empty;
    if let Some(title) = pdf.metadata().title.as_deref().and_then(title_of) {
        content.name(&title);
    }
    extracted.pages.iter_mut().for_each(|page| drop_cap::join(&mut page.lines));
    furniture::drop_furniture(&mut extracted.pages);
    contents::drop_contents(&mut extracted.pages);
    running_head::put_below_title(&mut extracted.pages);
    let lines = extracted.pages.iter().flat_map(|page| &page.lines);
    let headings = Headings {
        sizes: if tags.have_headings() { HeadingSizes::default() } else { HeadingSizes::of(lines) },
        outline: Outline::of(&pdf),
    };
    let mut header = None;
    for (number, page) in (1..).zip(extracted.pages) {
        content.page();
        if let Some(text) = texts.get(&number) {
            recognise::add(number, text, content)?;
            header = None;
            continue;
        }
        for run in page.lines.chunk_by(|one, next| marked::stand_together(one.tag, next.tag)) {
            match run.first().and_then(|line| line.tag).map(|tag| tag.kind) {
                Some(Kind::Item(_)) => write_items(run, content)?,
                Some(Kind::Cell(_)) => write_table(run, content)?,
                _ => {
                    write_untagged(run.to_vec(), &headings, &mut header, content)?;
                    continue;
                }
            }
            header = None;
        }
    }
    Ok(())
}

/// Writes lines whose columns and tables only show in their places, below the table with this header, if there is one.
fn write_untagged(
    lines: Vec<Line>,
    headings: &Headings,
    header: &mut Option<Line>,
    content: &mut Content,
) -> Result<(), ExtractError> {
    layout::parts(lines, header).into_iter().try_for_each(|part| match part {
        Part::Lines(lines) => write_lines(&lines, headings, content),
        Part::Rows(rows, has_header) => write_rows(rows, has_header, content),
        Part::MoreRows(rows) => rows.iter().try_for_each(|cells| content.line(&row(cells))),
    })
}

/// Writes entries of lists, each on a line.
fn write_items(lines: &[Line], content: &mut Content) -> Result<(), ExtractError> {
    lines.chunk_by(|one, next| one.tag == next.tag).try_for_each(|item| {
        let depth = match item.first().and_then(|line| line.tag).map(|tag| tag.kind) {
            Some(Kind::Item(depth)) => usize::from(depth),
            _ => 0,
        };
        let text = on_one_line(item);
        // Bullets may be drawings.
        let mark = if has_mark(&text) { "" } else { "- " };
        content.line(&format!("{}{mark}{text}", "  ".repeat(depth)))
    })
}

/// Whether an entry of a list begins with a sign or a number.
fn has_mark(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    !first.starts_with(char::is_alphanumeric)
        || first.ends_with(['.', ')', ':'])
        || !first.contains(char::is_alphabetic)
}

/// Writes the rows of a tagged table; a table of one column is a frame around text.
fn write_table(lines: &[Line], content: &mut Content) -> Result<(), ExtractError> {
    let (rows, has_header) = marked::rows(lines);
    if rows.iter().all(|row| row.len() < 2) {
        return lines
            .chunk_by(|one, next| one.tag == next.tag)
            .try_for_each(|cell| content.block(&joining::joined(cell)));
    }
    let mut grid = Grid::default();
    rows.into_iter()
        .enumerate()
        .try_for_each(|(number, row)| grid.write(row, RowKind::of(has_header && number == 0), content))?;
    grid.end(content)
}

/// The text of lines without its breaks.
fn on_one_line(lines: &[Line]) -> String {
    joining::joined(lines).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write_rows(rows: Vec<Vec<String>>, has_header: bool, content: &mut Content) -> Result<(), ExtractError> {
    if !has_header && explain_terms(&rows) {
        return rows.iter().try_for_each(|row| {
            let [term, text] = row.as_slice() else { return Ok(()) };
            content.block(&format!("{}: {text}", term.trim_end_matches(':')))
        });
    }
    let mut grid = Grid::default();
    rows.into_iter().enumerate().try_for_each(|(number, row)| {
        let cells = row.into_iter().map(|text| Cell { text, ..Cell::default() }).collect();
        grid.write(cells, RowKind::of(has_header && number == 0), content)
    })?;
    grid.end(content)
}

/// Whether rows are terms, each beside a text that explains it.
fn explain_terms(rows: &[Vec<String>]) -> bool {
    let texts =
        rows.iter().filter_map(|row| if let [_, text] = row.as_slice() { Some(text.chars().count()) } else { None });
    let (count, length) = texts.fold((0, 0), |(count, length), text| (count + 1, length + text));
    count == rows.len() && length >= count * EXPLANATION
}

/// How headings are told from text.
struct Headings {
    sizes: HeadingSizes,
    outline: Outline,
}

impl Headings {
    /// The level of a paragraph, if it is a heading.
    fn level_of(&self, paragraph: &[Line]) -> Option<u8> {
        let first = paragraph.first()?;
        if let Some(Kind::Heading(level)) = first.tag.map(|tag| tag.kind) {
            return Some(level);
        }
        let by_title = self.outline.level_of(&text_of_heading(paragraph));
        by_title.or_else(|| self.sizes.level_of(first, paragraph.len()))
    }
}

fn text_of_heading(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.trim()).collect::<Vec<_>>().join(" ")
}

/// Writes lines as paragraphs and headings.
fn write_lines(lines: &[Line], headings: &Headings, content: &mut Content) -> Result<(), ExtractError> {
    let is_title = |line: &Line| headings.outline.level_of(&line.text).is_some();
    let edge = joining::edge(lines);
    for paragraph in lines.chunk_by(lines::belong_together) {
        if let Some(level) = headings.level_of(paragraph) {
            content.heading(level, &text_of_heading(paragraph))?;
            continue;
        }
        // A title of the size of the text, directly above it.
        for part in paragraph.chunk_by(|above, below| !is_title(above) && !is_title(below)) {
            match headings.level_of(part).filter(|_| part.iter().all(is_title)) {
                Some(level) => content.heading(level, &text_of_heading(part))?,
                None => write_paragraph(&joining::joined_within(part, edge), content)?,
            }
        }
    }
    Ok(())
}

/// Writes a paragraph, or the rest of the one above.
fn write_paragraph(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    match content.last_line().filter(|above| joining::goes_on(above, text)) {
        Some(above) => {
            let is_word_cut = joining::is_hyphenated(above);
            content.go_on(text, is_word_cut)
        }
        None => content.block(text),
    }
}

fn no_text(pages: usize, unmapped: usize) -> ExtractError {
    let message = if unmapped > 0 {
        format!(
            "none of the PDF's {pages} page(s) says which characters its fonts draw; recognise its text (OCR) and send that"
        )
    } else {
        format!(
            "none of the PDF's {pages} page(s) has text, it is probably a scan; recognise its text (OCR) and send that"
        )
    };
    ExtractError::new(Cause::NoTextLayer, message)
}

fn failure(error: LoadPdfError) -> ExtractError {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            ExtractError::new(Cause::Encrypted, "the PDF needs a password; save it without one and send it again")
        }
        LoadPdfError::Decryption(other) => ExtractError::new(
            Cause::Encrypted,
            format!("the PDF is encrypted in a way that is not read ({other:?}); save it without protection"),
        ),
        LoadPdfError::Invalid => ExtractError::malformed("PDF", "it has no pages that can be found"),
    }
}

/// A text string (ISO 32000-2, 7.9.2.2).
fn text_of(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => {
            let (pairs, _) = rest.as_chunks::<2>();
            char::decode_utf16(pairs.iter().map(|pair| u16::from_be_bytes(*pair))).collect::<Result<_, _>>().ok()
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest).ok().map(str::to_owned),
        // PDFDocEncoding differs from Latin-1 in characters that titles rarely have.
        _ => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// The title in the document's properties, unless it is a generated one.
fn title_of(bytes: &[u8]) -> Option<String> {
    let title = text_of(bytes)?;
    let title = title.trim().trim_end_matches('\0');
    let lower = title.to_lowercase();
    let is_made_up = lower.is_empty()
        || ["untitled", "microsoft word - ", "microsoft powerpoint - "]
            .iter()
            .any(|made_up| lower.starts_with(made_up))
        || [".doc", ".docx", ".pdf", ".tex", ".dvi", ".indd", ".qxd"].iter().any(|end| lower.ends_with(end));
    (!is_made_up).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PDF with these lines on each of its pages, in Courier.
    fn pages(pages: &[&[&str]]) -> Vec<u8> {
        let numbers = (0..pages.len()).map(|page| 4 + 2 * page);
        let kids: String = numbers.clone().map(|number| format!("{number} 0 R ")).collect();
        let mut objects = vec![
            "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
            format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len()),
            "<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_owned(),
        ];
        for (number, lines) in numbers.zip(pages) {
            let drawn: Vec<String> = lines.iter().map(|line| format!("({line}) Tj 0 -12 Td ")).collect();
            objects.push(format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents {} 0 R>>",
                number + 1
            ));
            objects.push(test_file::stream(&format!("BT /F 10 Tf 50 700 Td {}ET", drawn.concat())));
        }
        test_file::of_objects(objects)
    }

    #[test]
    fn a_sentence_goes_on_over_the_end_of_a_page() {
        let mut content = Content::default();
        let document = pages(&[
            &["Every gear box that leaves the plant is filled with the oil"],
            &["that its plate names. It is never mixed with an-"],
            &["other one."],
            &["Spare plates are in the drawer."],
        ]);
        super::document(&document, None, &mut content).expect("a PDF");
        assert_eq!(
            content.text,
            "Every gear box that leaves the plant is filled with the oil\nthat its plate names. It is never mixed with another one.\n\nSpare plates are in the drawer."
        );
        let page = |words: &str| content.pages.page_at(content.text.find(words).expect("there"));
        assert_eq!((page("the oil"), page("that its"), page("Spare")), (Some(1), Some(2), Some(4)));
    }

    #[test]
    fn terms_beside_their_explanations_are_no_table() {
        let text = "It is used on walls that are dry, and kept in the shed. ".repeat(2);
        let rows =
            |text: &str| vec![vec!["Oil".to_owned(), text.to_owned()], vec!["Chalk:".to_owned(), text.to_owned()]];
        let write = |rows: Vec<Vec<String>>| {
            let mut content = Content::default();
            write_rows(rows, false, &mut content).expect("rows");
            content.text
        };
        assert_eq!(write(rows(text.trim())), format!("Oil: {0}\n\nChalk: {0}", text.trim()));
        assert_eq!(write(rows("On walls.")), "| Oil | On walls. |\n| Chalk: | On walls. |");
    }

    #[test]
    fn titles_are_decoded_and_weighed() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"Annual report", Some("Annual report")),
            (b"\xFE\xFF\0G\0r\0\xF6", Some("Grö")),
            (b"\xEF\xBB\xBFGr\xC3\xB6", Some("Grö")),
            (b"Microsoft Word - report", None),
            (b"report.INDD", None),
            (b" ", None),
        ];
        for (bytes, title) in cases {
            assert_eq!(title_of(bytes).as_deref(), title);
        }
    }
}
