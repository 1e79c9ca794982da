//! The pieces of a line that two blanks or more divide.

use std::ops::Range;

/// A piece of a line: the columns that it fills, and its words.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) columns: Range<usize>,
    pub(super) words: String,
}

/// The pieces of a line.
pub(super) fn pieces(line: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut blanks = 0;
    for (place, sign) in line.trim_end().chars().enumerate() {
        match (sign, pieces.last_mut()) {
            (' ', _) => blanks += 1,
            (_, Some(piece)) if blanks < 2 => {
                piece.words.extend(std::iter::repeat_n(' ', blanks));
                piece.words.push(sign);
                piece.columns.end = place + 1;
                blanks = 0;
            }
            (_, _) => {
                pieces.push(Piece { columns: place..place + 1, words: sign.to_string() });
                blanks = 0;
            }
        }
    }
    pieces
}
