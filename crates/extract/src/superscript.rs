//! Raised text, which must not read as if it stood on the line: 10⁶ is not 106.

use std::borrow::Cow;

/// Ends of ordinal numbers, which programs raise: `21st`.
const ORDINALS: [&str; 4] = ["nd", "rd", "st", "th"];

/// Raised text as it is written in plain text: with the signs that Unicode has for it, else as `^(…)`. White space around
/// it, signs such as `*`, and ends of ordinal numbers stay as they are.
pub(super) fn raised(text: &str) -> Cow<'_, str> {
    let core = text.trim();
    if !core.contains(char::is_alphanumeric) && !core.contains(['+', '-', '−', '–']) || ORDINALS.contains(&core) {
        return Cow::Borrowed(text);
    }
    let start = text.len() - text.trim_start().len();
    let (before, after) = (text.get(..start).unwrap_or_default(), text.get(start + core.len()..).unwrap_or_default());
    let signs: Option<String> = core.chars().map(sign).collect();
    let signs =
        signs.unwrap_or_else(|| if core.chars().any(is_raised) { core.to_owned() } else { format!("^({core})") });
    Cow::Owned(format!("{before}{signs}{after}"))
}

/// The raised form of a sign, if there is one.
const fn sign(sign: char) -> Option<char> {
    Some(match sign {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        '+' => '⁺',
        '-' | '−' | '–' => '⁻',
        '=' => '⁼',
        '(' => '⁽',
        ')' => '⁾',
        'i' => 'ⁱ',
        'n' => 'ⁿ',
        _ => return None,
    })
}

/// Whether a sign is a raised one itself.
const fn is_raised(sign: char) -> bool {
    matches!(sign, '¹' | '²' | '³' | '⁰' | 'ⁱ' | '⁴'..='ⁿ' | '™' | '℠' | '®' | 'ª' | 'º')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_text_stands_apart_from_the_line() {
        let cases = [
            ("6", "⁶"),
            ("-3", "⁻³"),
            ("−3", "⁻³"),
            (" 2 ", " ² "),
            ("n+1", "ⁿ⁺¹"),
            ("2x", "^(2x)"),
            ("a, b", "^(a, b)"),
            ("²", "²"),
            ("™", "™"),
            ("th", "th"),
            ("*", "*"),
            (" ", " "),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(raised(text), expected, "{text:?}");
        }
    }
}
