//! Initials: the first letter of a text, as high as several of its lines.

use super::lines::Line;

/// Least size of an initial, in sizes of the text beside it.
const LARGER: f64 = 1.7;

/// Largest gap between an initial and its word, in sizes of the text.
const GAP: f64 = 2.0;

/// Puts initials before the lines that they begin.
pub(super) fn join(lines: &mut Vec<Line>) {
    let mut joined: Vec<Line> = Vec::with_capacity(lines.len());
    for mut line in lines.drain(..) {
        if let Some(initial) = joined.pop_if(|above| is_initial_of(above, &line)) {
            line.text.insert_str(0, &initial.text);
            if let Some(cell) = line.cells.first_mut() {
                cell.text.insert_str(0, &initial.text);
            }
        }
        joined.push(line);
    }
    *lines = joined;
}

fn is_initial_of(initial: &Line, line: &Line) -> bool {
    let letter = initial.text.trim_start_matches(['“', '„', '«', '"', '‘']);
    let is_letter = letter.chars().count() == 1 && letter.chars().all(char::is_uppercase);
    let ([own], Some(first)) = (initial.cells.as_slice(), line.cells.first()) else { return false };
    let gap = first.start - own.end;
    let is_beside = (-line.size..=GAP * line.size).contains(&gap);
    let is_at_top = (initial.origin.y - initial.size..initial.origin.y).contains(&line.origin.y);
    is_letter
        && initial.size >= LARGER * line.size
        && initial.is_upright()
        && line.is_upright()
        && line.text.starts_with(|sign: char| sign.is_alphabetic() || sign.is_whitespace())
        && is_beside
        && is_at_top
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::{LineBuilder, tests::drawn};

    fn texts(draw: impl FnOnce(&mut LineBuilder)) -> Vec<String> {
        let mut builder = LineBuilder::default();
        draw(&mut builder);
        let mut lines = builder.finish(None);
        join(&mut lines);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn an_initial_begins_its_word() {
        let read = texts(|builder| {
            drawn(builder, "I", 0.0, 30.0, 30.0);
            drawn(builder, "n the shed the oil", 18.0, 12.0, 10.0);
            drawn(builder, "dries for a day.", 18.0, 24.0, 10.0);
        });
        assert_eq!(read, ["In the shed the oil", "dries for a day."]);
    }

    #[test]
    fn another_large_letter_is_none() {
        let read = texts(|builder| {
            drawn(builder, "A", 0.0, 30.0, 30.0);
            drawn(builder, "apples are red", 0.0, 60.0, 10.0);
        });
        assert_eq!(read, ["A", "apples are red"]);
    }
}
