//! Codes that models reply with instead of a sentence. They are the same in every language.

/// How a text begins with a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun<'t> {
    /// With all of it.
    Whole {
        /// The text behind it.
        rest: &'t str,
    },
    /// The text is the beginning of it.
    Partly,
}

/// Whether a text begins with a code, and no longer word. The case of letters does not matter, nor do the backslashes that
/// Markdown puts before underscores.
pub(crate) fn begins<'t>(code: &str, text: &'t str) -> Option<Begun<'t>> {
    let mut signs = text.char_indices().filter(|(_, sign)| *sign != '\\');
    let mut end = 0;
    for expected in code.chars() {
        match signs.next() {
            None => return (!text.is_empty()).then_some(Begun::Partly),
            Some((at, sign)) if sign.eq_ignore_ascii_case(&expected) => end = at + sign.len_utf8(),
            Some(_) => return None,
        }
    }
    let is_whole = !signs.next().is_some_and(|(_, sign)| is_word(sign));
    is_whole.then(|| Begun::Whole { rest: text.get(end..).unwrap_or_default() })
}

/// Whether a sign may stand in a code or in a word.
pub(crate) fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_begins_with_a_code_or_may() {
        let rows = [
            ("A_CODE", Some(Begun::Whole { rest: "" })),
            ("a\\_code: the year", Some(Begun::Whole { rest: ": the year" })),
            ("A_CO", Some(Begun::Partly)),
            ("A_CODES", None),
            ("A_CODE_2", None),
            ("The A_CODE", None),
            ("", None),
        ];
        for (text, expected) in rows {
            assert_eq!(begins("A_CODE", text), expected, "{text:?}");
        }
    }
}
