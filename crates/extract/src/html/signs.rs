//! Signs that stand for something else than text: bullets, links to a place of the page, icons.

/// Signs of links that lead to the place where they stand, and of those from a note back to its mark. Icon fonts have theirs in a private use area.
const PERMALINKS: [char; 9] = ['¶', '#', '§', '🔗', '⚓', '∞', '^', '↑', '↩'];

/// Terms that are bullets.
const BULLETS: [&str; 14] = ["o", "*", "-", "•", "·", "–", "—", "+", "◦", "▪", "○", "●", "■", "‣"];

/// The mark of an entry whose term is a bullet or a number: manual pages write lists so.
pub(super) fn mark_of(term: &str) -> Option<String> {
    let number = term.trim_start_matches('(').trim_end_matches(['.', ')']);
    let is_number = number.len() < term.len() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        return Some(format!("{number}. "));
    }
    BULLETS.contains(&term).then(|| "- ".to_owned())
}

pub(super) fn is_permalink_sign(sign: char) -> bool {
    PERMALINKS.contains(&sign) || is_private(sign)
}

/// Whether the character is in a private use area: only an icon font says what it looks like.
fn is_private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}')
}

/// Whether the character only says how its neighbours are shown: a variation selector, a joiner.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character, '\u{fe0e}' | '\u{fe0f}' | '\u{200b}'..='\u{200d}')
}

/// Whether the character is a permalink's sign at the end of a heading that is no link. `#` and `§` may be meant: `C#`.
pub(super) fn is_heading_end(character: char) -> bool {
    matches!(character, '¶' | '🔗') || is_private(character) || is_invisible(character) || character.is_whitespace()
}
