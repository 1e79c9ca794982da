//! The glyphs of pages, as the interpreter of `hayro` places them.

use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, TransformExt,
    font::{Glyph, GlyphRun},
    hayro_cmap::BfString,
    hayro_syntax::{
        Pdf,
        object::{Dict, ObjectIdentifier},
    },
    interpret_page,
    kurbo::{BezPath, Point, Rect, Vec2},
};

use super::{
    super::{Cause, ExtractError},
    lines::Line,
    marked::{self, Mark, MarkedGlyph},
    tags::Tags,
};

/// Units of glyph space per font size (ISO 32000-2, 9.2.4).
const UNITS_PER_EM: f64 = 1000.0;

/// The glyphs found on the pages.
#[derive(Debug, Default)]
pub(super) struct Extracted {
    /// The pages in order.
    pub(super) pages: Vec<Page>,
    /// Number of glyphs that the fonts do not map to characters.
    pub(super) unmapped: usize,
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    /// Its lines, in the order of its tags, else in that in which they are drawn.
    pub(super) lines: Vec<Line>,
    /// Its height, in points.
    pub(super) height: f64,
}

/// A glyph on a page.
#[derive(Clone, Debug)]
pub(super) struct PlacedGlyph {
    pub(super) text: String,
    /// Start of the glyph, in points from the top left corner of the upright page.
    pub(super) origin: Point,
    /// Vector from the start of this glyph to the start of the next one.
    pub(super) advance: Vec2,
    /// Size of its font, in points.
    pub(super) size: f64,
}

/// Reads all pages.
///
/// # Errors
/// `too_large` with more than `most_bytes` of text.
pub(super) fn read(pdf: &Pdf, tags: &Tags, most_bytes: usize) -> Result<Extracted, ExtractError> {
    let cache = InterpreterCache::new();
    let mut extracted = Extracted::default();
    let mut bytes = 0;
    for page in pdf.pages().iter() {
        let (width, height) = page.render_dimensions();
        let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let transform = page.initial_transform(true).to_kurbo();
        let mut context = Context::new(transform, bounds, &cache, pdf.xref(), InterpreterSettings::default());
        let mut collector = Collector {
            glyphs: Vec::new(),
            unmapped: 0,
            left: most_bytes.saturating_sub(bytes),
            tags,
            page: page.raw().obj_id(),
            marks: Vec::new(),
        };
        interpret_page(page, &mut context, &mut collector);
        let lines = marked::lines(collector.glyphs);
        bytes += lines.iter().map(|line| line.text.len() + 1).sum::<usize>();
        if bytes > most_bytes {
            return Err(ExtractError::new(
                Cause::TooLarge,
                format!("the PDF has more than {} MiB of text; split it into several", most_bytes / 1024 / 1024),
            ));
        }
        extracted.unmapped += collector.unmapped;
        extracted.pages.push(Page { lines, height: f64::from(height) });
    }
    Ok(extracted)
}

/// The letters of a ligature, which only changes their appearance.
const fn letters_of(ligature: char) -> Option<&'static str> {
    match ligature {
        '\u{fb00}' => Some("ff"),
        '\u{fb01}' => Some("fi"),
        '\u{fb02}' => Some("fl"),
        '\u{fb03}' => Some("ffi"),
        '\u{fb04}' => Some("ffl"),
        '\u{fb05}' | '\u{fb06}' => Some("st"),
        _ => None,
    }
}

/// Receives the drawing operations and keeps the text.
struct Collector<'t> {
    glyphs: Vec<MarkedGlyph>,
    unmapped: usize,
    /// Bytes of text that may still be added; one page can draw the same form repeatedly.
    left: usize,
    tags: &'t Tags,
    page: Option<ObjectIdentifier>,
    /// How the marked content is marked that is open, the innermost last.
    marks: Vec<Mark>,
}

impl Collector<'_> {
    fn mark(&self) -> Mark {
        self.marks.last().copied().unwrap_or(Mark::None)
    }
}

impl Device<'_> for Collector<'_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        for glyph in run.glyphs() {
            let text = match glyph.as_unicode() {
                Some(BfString::Char(character)) => {
                    letters_of(character).map_or_else(|| character.to_string(), str::to_owned)
                }
                Some(BfString::String(text)) => text,
                None => {
                    self.unmapped += 1;
                    continue;
                }
            };
            let transform = props.transform * glyph.transform();
            let [along_x, along_y, up_x, up_y, x, y] = transform.as_coeffs();
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let size = up_x.hypot(up_y) * UNITS_PER_EM;
            let advance = Vec2::new(along_x, along_y) * f64::from(advance.unwrap_or(500.0));
            if ![x, y, size, advance.x, advance.y].iter().all(|number| number.is_finite()) || self.left < text.len() {
                continue;
            }
            self.left -= text.len();
            let glyph = PlacedGlyph { text, origin: Point::new(x, y), advance, size };
            self.glyphs.push(MarkedGlyph { mark: self.mark(), glyph });
        }
    }

    fn begin_marked_content(&mut self, kind: &[u8], properties: Option<&Dict<'_>>) {
        let number = properties.and_then(|properties| properties.get::<i32>("MCID"));
        let piece = number.and_then(|number| self.tags.get(self.page?, number));
        self.marks.push(match piece {
            Some(piece) => Mark::Piece(piece),
            None if kind == b"Artifact" => Mark::Artifact,
            None => self.mark(),
        });
    }

    fn end_marked_content(&mut self) {
        self.marks.pop();
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
