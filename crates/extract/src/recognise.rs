//! Text in pictures: it is recognised by a program outside of this crate, which does no I/O.

use super::{Cause, ExtractError, content::Content};

/// Recognises text in pictures (OCR).
pub trait Recognise {
    /// The text of a picture (PNG, JPEG, TIFF, WebP or PGM), a form feed after each page; `None` if it could not be
    /// recognised.
    fn recognise(&self, picture: &[u8]) -> Option<String>;

    /// Whether there is time for another picture of the document.
    fn has_time(&self) -> bool;
}

/// Adds a picture; each of its pages is a page.
pub(super) fn picture(
    bytes: &[u8],
    recogniser: Option<&dyn Recognise>,
    content: &mut Content,
) -> Result<(), ExtractError> {
    let Some(recogniser) = recogniser else {
        let message = "the document is a picture, and this service recognises no text; recognise its text (OCR) and \
                       send that, or install tesseract where the service runs";
        return Err(ExtractError::new(Cause::NoTextLayer, message));
    };
    let text = recogniser.recognise(bytes).unwrap_or_default();
    if !is_text(&text) {
        let message = "no text was recognised in the picture; if it has some, send a sharper or larger one";
        return Err(ExtractError::new(Cause::NoTextLayer, message));
    }
    for (number, page) in (1..).zip(text.trim_end_matches(['\u{c}', '\n']).split('\u{c}')) {
        content.page();
        if is_text(page) {
            add(number, page, content)?;
        } else {
            content.notes.pages_without_text.push(number);
        }
    }
    Ok(())
}

/// Adds the recognised text of a page.
pub(super) fn add(page: u32, text: &str, content: &mut Content) -> Result<(), ExtractError> {
    content.notes.recognised_pages.push(page);
    let text = text.replace('\u{c}', "");
    text.split("\n\n").try_for_each(|paragraph| content.block(paragraph))
}

pub(super) fn is_text(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds this text in every picture.
    struct Found(Option<&'static str>);

    impl Recognise for Found {
        fn recognise(&self, _: &[u8]) -> Option<String> {
            self.0.map(str::to_owned)
        }

        fn has_time(&self) -> bool {
            true
        }
    }

    #[test]
    fn pages_are_told_apart() {
        let mut content = Content::default();
        let found = Found(Some("Annual leave\n\n28 days\na year.\n\u{c} \n\u{c}Third.\n\u{c}"));
        picture(b"", Some(&found), &mut content).expect("text");
        assert_eq!(content.text, "Annual leave\n\n28 days\na year.\n\nThird.");
        assert_eq!(content.pages.page_at(content.text.len() - 1), Some(3));
        assert_eq!((content.notes.recognised_pages, content.notes.pages_without_text), (vec![1, 3], vec![2]));
    }

    #[test]
    fn pictures_without_text_have_none() {
        for recogniser in [None, Some(Found(None)), Some(Found(Some(" \n\u{c}")))] {
            let recogniser = recogniser.as_ref().map(|found| found as &dyn Recognise);
            let error = picture(b"", recogniser, &mut Content::default()).expect_err("nothing");
            assert_eq!(error.cause, Cause::NoTextLayer);
        }
    }
}
