//! Pages without text: they are drawn, and their text is recognised in the picture (OCR).

use std::collections::BTreeMap;

use hayro::{
    PixmapSettings, RenderCache, RenderSettings, render,
    vello_cpu::{Pixmap, color::palette::css::WHITE},
};
use hayro_interpret::{
    InterpreterSettings,
    hayro_syntax::{Pdf, page::Page},
};

use super::super::recognise::{Recognise, is_text};

/// Points per inch (ISO 32000-2, 8.3.2.3), and pixels per inch of the picture: what recognition is trained on.
const POINTS_PER_INCH: f32 = 72.0;
const PIXELS_PER_INCH: f32 = 300.0;
/// Most pixels of a picture; larger pages are drawn smaller.
const MAX_PIXELS: f32 = 25_000_000.0;

/// Recognises the text of pages, given by number from 1, while there is time. Those without any are left out.
pub(super) fn recognise(pdf: &Pdf, pages: &[u32], recogniser: &dyn Recognise) -> BTreeMap<u32, String> {
    let cache = RenderCache::new();
    let numbered = (1..).zip(pdf.pages().iter()).filter(|(number, _)| pages.contains(number));
    let texts = numbered.take_while(|_| recogniser.has_time()).filter_map(|(number, page)| {
        let text = recogniser.recognise(&as_pgm(&draw(page, &cache)?))?;
        is_text(&text).then_some((number, text))
    });
    texts.collect()
}

/// Draws a page; `None` if it has no extent.
fn draw<'a>(page: &'a Page<'a>, cache: &RenderCache<'a>) -> Option<Pixmap> {
    let (width, height) = page.render_dimensions();
    let scale = (PIXELS_PER_INCH / POINTS_PER_INCH).min((MAX_PIXELS / (width * height)).sqrt());
    let settings = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let has_extent = width * scale >= 1.0 && height * scale >= 1.0;
    has_extent.then(|| render(page, cache, &InterpreterSettings::default(), &RenderSettings::default(), &settings))
}

/// The shades of a picture as a file (portable graymap, Netpbm).
fn as_pgm(picture: &Pixmap) -> Vec<u8> {
    let mut file = format!("P5 {} {} 255\n", picture.width(), picture.height()).into_bytes();
    let shade = |[red, green, blue, _]: &[u8; 4]| {
        // Luma (ITU-R BT.601).
        let sum = 299 * u32::from(*red) + 587 * u32::from(*green) + 114 * u32::from(*blue);
        u8::try_from(sum / 1000).unwrap_or(u8::MAX)
    };
    file.extend(picture.data_as_u8_slice().as_chunks().0.iter().map(shade));
    file
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::{super::test_file, *};

    /// Keeps the pictures, and has time for this many.
    struct Seen {
        most: usize,
        pictures: RefCell<Vec<Vec<u8>>>,
    }

    impl Recognise for Seen {
        fn recognise(&self, picture: &[u8]) -> Option<String> {
            self.pictures.borrow_mut().push(picture.to_owned());
            Some("Words".to_owned())
        }

        fn has_time(&self) -> bool {
            self.pictures.borrow().len() < self.most
        }
    }

    /// Recognises a document of three pages, each as high as wide, whose left halves are black.
    fn seen(side: u32, most: usize) -> (BTreeMap<u32, String>, Vec<Vec<u8>>) {
        let half = format!("0 0 {} {side} re f", side / 2);
        let stream = test_file::stream(&half);
        let page = format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 {side} {side}]/Contents 3 0 R>>");
        let tree = "<</Type/Pages/Kids[4 0 R 5 0 R 6 0 R]/Count 3>>";
        let file = test_file::of_objects(["<</Type/Catalog/Pages 2 0 R>>", tree, &stream, &page, &page, &page]);
        let pdf = Pdf::new(file).expect("a PDF");
        let seen = Seen { most, pictures: RefCell::default() };
        let recognised = recognise(&pdf, &[2, 3], &seen);
        (recognised, seen.pictures.into_inner())
    }

    #[test]
    fn pages_are_drawn_while_there_is_time() {
        let (recognised, pictures) = seen(72, 1);
        assert_eq!(recognised.into_keys().collect::<Vec<_>>(), [2]);
        let [picture] = pictures.as_slice() else { panic!("{} pictures", pictures.len()) };
        let shades = picture.strip_prefix(b"P5 300 300 255\n").expect("300 pixels an inch");
        assert_eq!((shades.len(), shades.first(), shades.last()), (90_000, Some(&0), Some(&255)));
        assert_eq!(seen(72, 9).0.into_keys().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn large_pages_are_drawn_smaller() {
        let (_, pictures) = seen(14_400, 1);
        assert!(pictures.first().is_some_and(|picture| picture.starts_with(b"P5 5000 5000 255\n")));
    }
}
