//! Right-to-left scripts: many files store glyphs from left to right, regardless of the direction of reading.

use super::glyphs::PlacedGlyph;

/// The direction of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Left,
    Right,
    Neutral,
}

fn run_of(text: &str) -> Run {
    match text.chars().find(|character| character.is_alphanumeric()) {
        // Hebrew, Arabic, Syriac, Thaana, N'Ko, Samaritan, Mandaic, and the forms of presentation.
        Some('\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}') => Run::Left,
        Some(_) => Run::Right,
        None => Run::Neutral,
    }
}

/// Whether a glyph is of a script that runs from right to left.
pub(super) fn runs_left(text: &str) -> bool {
    run_of(text) == Run::Left
}

/// The text of a line's glyphs.
///
/// If glyphs of a right-to-left script were drawn from left to right, they are converted to reading order: the reverse
/// of the line, in which numbers and words of other scripts stay as they are. This inverts the last step of the Unicode
/// bidirectional algorithm, for one level of embedding.
pub(super) fn in_reading_order(mut glyphs: Vec<PlacedGlyph>) -> String {
    let left = glyphs.iter().filter(|glyph| runs_left(&glyph.text)).count();
    if left > 0 && is_visual(&glyphs) {
        let right = glyphs.iter().filter(|glyph| run_of(&glyph.text) == Run::Right).count();
        if left >= right {
            glyphs.reverse();
            reverse_runs(&mut glyphs, Run::Right);
        } else {
            reverse_runs(&mut glyphs, Run::Left);
        }
    }
    glyphs.into_iter().map(|glyph| glyph.text).collect()
}

/// Whether most neighbours of a right-to-left script follow each other to the right.
fn is_visual(glyphs: &[PlacedGlyph]) -> bool {
    let steps = glyphs.windows(2).filter_map(|pair| match pair {
        [first, second] if runs_left(&first.text) && runs_left(&second.text) => {
            Some((second.origin - first.origin).dot(first.advance))
        }
        _ => None,
    });
    steps.fold((0, 0), |(right, left), step| if step > 0.0 { (right + 1, left) } else { (right, left + 1) }).0 > 0
        && glyphs
            .first()
            .zip(glyphs.last())
            .is_some_and(|(first, last)| (last.origin - first.origin).dot(first.advance) > 0.0)
}

/// Reverses each stretch that begins and ends with a glyph of this direction and contains none of the other.
fn reverse_runs(glyphs: &mut [PlacedGlyph], run: Run) {
    let mut start = None;
    let mut end = 0;
    for index in 0..=glyphs.len() {
        let here = glyphs.get(index).map(|glyph| run_of(&glyph.text));
        if here == Some(run) {
            start.get_or_insert(index);
            end = index + 1;
        } else if here != Some(Run::Neutral)
            && let Some(start) = start.take()
            && let Some(stretch) = glyphs.get_mut(start..end)
        {
            stretch.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::{LineBuilder, tests::drawn};

    fn read(visual: &str) -> String {
        let mut builder = LineBuilder::default();
        drawn(&mut builder, visual, 0.0, 0.0, 10.0);
        builder.finish(None).remove(0).text
    }

    #[test]
    fn lines_are_turned_round() {
        assert_eq!(read("םלוע םולש"), "שלום עולם");
        assert_eq!(read("םימי 28 שי"), "יש 28 ימים");
        assert_eq!(read("the word םולש here"), "the word שלום here");
        assert_eq!(read("plain words 12"), "plain words 12");
    }

    #[test]
    fn what_is_drawn_in_reading_order_stays() {
        let mut builder = LineBuilder::default();
        for (place, character) in "שלום".chars().enumerate() {
            let x = 100.0 - 5.0 * f64::from(u32::try_from(place).expect("short"));
            drawn(&mut builder, &character.to_string(), x, 0.0, 10.0);
        }
        assert_eq!(builder.finish(None)[0].text, "שלום");
    }
}
