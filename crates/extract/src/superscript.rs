//! Text above and below the line, written so that it stays apart from what it stands at: 10⁶, not 106.

/// Where a text stands, seen from the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Above,
    Below,
}

/// Longest text that is written as an exponent or an index, in characters; a longer one is small print.
const LONGEST: usize = 24;

/// Characters that Unicode has above and below the line.
const SIGNS: [(char, char, char); 17] = [
    ('0', '⁰', '₀'),
    ('1', '¹', '₁'),
    ('2', '²', '₂'),
    ('3', '³', '₃'),
    ('4', '⁴', '₄'),
    ('5', '⁵', '₅'),
    ('6', '⁶', '₆'),
    ('7', '⁷', '₇'),
    ('8', '⁸', '₈'),
    ('9', '⁹', '₉'),
    ('+', '⁺', '₊'),
    ('-', '⁻', '₋'),
    ('−', '⁻', '₋'),
    ('–', '⁻', '₋'),
    ('=', '⁼', '₌'),
    ('n', 'ⁿ', 'ₙ'),
    ('i', 'ⁱ', 'ᵢ'),
];

/// Endings of ordinals and titles, which are read without a sign: "1st", "2e", "Mlle".
const ENDINGS: [&str; 14] = ["st", "nd", "rd", "th", "er", "re", "ère", "e", "ème", "o", "a", "me", "lle", "TM"];

/// A text above or below the line, as it is written in one.
pub(super) fn written(text: &str, place: Place) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shifted = |sign: char| {
        let found = SIGNS.iter().find(|(plain, above, below)| [*plain, *above, *below].contains(&sign));
        found.map(|(_, above, below)| if place == Place::Above { *above } else { *below })
    };
    if let Some(signs) = text.chars().map(shifted).collect::<Option<String>>() {
        return signs;
    }
    let is_ending = place == Place::Above && ENDINGS.contains(&text.as_str());
    // A trade mark, a degree, an asterisk.
    let is_sign = !text.contains(char::is_alphanumeric);
    if is_ending || is_sign || text.chars().count() > LONGEST {
        return text;
    }
    let inner = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(&text);
    format!("{}({inner})", if place == Place::Above { '^' } else { '_' })
}

/// Text above the line, with the white space around it.
pub(super) fn raised(text: &str) -> String {
    let core = text.trim();
    let start = text.len() - text.trim_start().len();
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(start + core.len()..).unwrap_or_default());
    format!("{before}{}{after}", written(core, Place::Above))
}

/// The sign above the line for one on it, if there is one.
pub(super) fn sign(sign: char) -> Option<char> {
    SIGNS.iter().find(|(plain, ..)| *plain == sign).map(|(_, above, _)| *above)
}

/// The mark of a note, in brackets.
pub(super) fn note_mark(text: &str) -> String {
    let text = text.trim();
    let inner = text.trim_matches(['(', ')']);
    if text.starts_with('[') || inner.is_empty() { text.to_owned() } else { format!("[{inner}]") }
}

/// Whether a text above the line is the number of a note in brackets.
pub(super) fn is_bracketed(text: &str) -> bool {
    let text = text.trim();
    let number = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or_default();
    text.starts_with('[') || !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_and_indices_stay_apart_from_their_base() {
        let cases = [
            ("6", "⁶", "₆"),
            (" -3", "⁻³", "₋₃"),
            ("n", "ⁿ", "ₙ"),
            ("²", "²", "₂"),
            ("max", "^(max)", "_(max)"),
            ("(k)", "^(k)", "_(k)"),
            ("a, b", "^(a, b)", "_(a, b)"),
            ("*", "*", "*"),
            ("th", "th", "_(th)"),
            ("", "", ""),
        ];
        for (text, above, below) in cases {
            assert_eq!((written(text, Place::Above).as_str(), written(text, Place::Below).as_str()), (above, below));
        }
        let print = "and this is the small print of the page";
        assert_eq!(written(print, Place::Above), print);
    }

    #[test]
    fn space_around_raised_text_stays() {
        assert_eq!([" 2 ", "n+1", "2x", "™", " ", ""].map(raised), [" ² ", "ⁿ⁺¹", "^(2x)", "™", " ", ""]);
    }

    #[test]
    fn marks_of_notes_are_bracketed_once() {
        assert_eq!(["1", "[2]", "(3)", "*", "()"].map(note_mark), ["[1]", "[2]", "[3]", "[*]", "()"]);
        assert_eq!(["[1]", "(3)", "(k)", "3", ""].map(is_bracketed), [true, true, false, false, false]);
    }
}
