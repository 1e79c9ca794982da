//! PDF: extracts the text of each page in the order in which it was written, with the page's number.
//!
//! `hayro` reads the file and places the glyphs; words and lines are built from their positions here. Invisible text
//! under a scanned image (the layer that OCR adds) counts like any other.

mod direction;
mod glyphs;
mod headings;
mod lines;

use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use self::{headings::HeadingSizes, lines::Line};
use super::{
    Cause, ExtractError,
    content::{Content, MAX_TEXT_BYTES},
};

/// Largest number of pages of a document.
pub const MAX_PAGES: usize = 5_000;

/// Adds a PDF document.
pub(super) fn document(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(failure)?;
    let pages = pdf.pages();
    if pages.len() > MAX_PAGES {
        return Err(ExtractError::new(
            Cause::TooLarge,
            format!("the PDF has {} pages, more than {MAX_PAGES}; split it into several", pages.len()),
        ));
    }
    let extracted = glyphs::read(&pdf, MAX_TEXT_BYTES)?;
    let is_empty = |page: &[Line]| !page.iter().any(|line| line.text.chars().any(char::is_alphanumeric));
    if extracted.pages.iter().all(|page| is_empty(page)) {
        return Err(no_text(pages.len(), extracted.unmapped));
    }
    let empty = (1..).zip(&extracted.pages).filter(|(_, page)| is_empty(page));
    content.notes.pages_without_text = empty.map(|(number, _)| number).collect();
    if let Some(title) = pdf.metadata().title.as_deref().and_then(title_of) {
        content.name(&title);
    }
    let sizes = HeadingSizes::of(extracted.pages.iter().flatten());
    for page in &extracted.pages {
        content.page();
        write_page(page, &sizes, content)?;
    }
    Ok(())
}

/// Writes a page's lines as paragraphs and headings.
fn write_page(lines: &[Line], sizes: &HeadingSizes, content: &mut Content) -> Result<(), ExtractError> {
    for paragraph in lines.chunk_by(lines::belong_together) {
        match paragraph.first().and_then(|first| sizes.level_of(first, paragraph.len())) {
            Some(level) => {
                let words: Vec<&str> = paragraph.iter().map(|line| line.text.trim()).collect();
                content.heading(level, &words.join(" "))?;
            }
            None => content.block(&lines::joined(paragraph))?,
        }
    }
    Ok(())
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

/// The title in the document's properties (ISO 32000-2, 7.9.2.2), unless it is a generated one.
fn title_of(bytes: &[u8]) -> Option<String> {
    let title = match bytes {
        [0xFE, 0xFF, rest @ ..] => {
            let (pairs, _) = rest.as_chunks::<2>();
            char::decode_utf16(pairs.iter().map(|pair| u16::from_be_bytes(*pair)))
                .collect::<Result<String, _>>()
                .ok()?
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => std::str::from_utf8(rest).ok()?.to_owned(),
        // PDFDocEncoding differs from Latin-1 in characters that titles rarely have.
        _ => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
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
