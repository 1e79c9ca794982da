//! Characters that nobody sees, or that change the order in which others are read: two names that differ by one look the
//! same, and a name with one looks like another. Names that the service gives out as its own have none; texts of others keep
//! theirs, and are shown without.

/// Whether a reader does not see the character: controls; what Unicode lets a program ignore (`Default_Ignorable_Code_Point`:
/// joiners, zero-width and bidirectional marks, tags, variation selectors, fillers); separators of lines, annotations, and the
/// blank of Braille.
#[must_use]
pub const fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether it is the zero-width joiner or non-joiner: spelling in some scripts, and the glue of emoji.
#[must_use]
pub const fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200c}' | '\u{200d}')
}

/// The first character that a name may not hold, if it holds one: an unseen one, but for a joiner between characters that
/// are neither ASCII nor blank, and a blank that is told from a space by its width alone. The ideographic space is one of its
/// own script.
#[must_use]
pub fn unfit_in_a_name(name: &str) -> Option<char> {
    let can_be_joined = |character: char| !character.is_ascii() && !is_unseen(character) && !character.is_whitespace();
    let mut before = None;
    let mut characters = name.chars().peekable();
    while let Some(character) = characters.next() {
        let is_fit = if is_joiner(character) {
            before.is_some_and(can_be_joined) && characters.peek().copied().is_some_and(can_be_joined)
        } else {
            !is_unseen(character) && (!character.is_whitespace() || matches!(character, ' ' | '\u{3000}'))
        };
        if !is_fit {
            return Some(character);
        }
        before = Some(character);
    }
    None
}

/// A text of others in one line, as it is shown beside the service's own: without unseen characters, with spaces for ends of
/// lines. Joiners stay.
#[must_use]
pub fn seen(text: &str) -> String {
    let shown = |character: char| match character {
        '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
        _ if is_unseen(character) && !is_joiner(character) => None,
        _ => Some(character),
    };
    text.chars().filter_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use unicode_security::confusable_detection::skeleton;

    use super::*;

    #[test]
    fn names_that_look_the_same_are_the_same() {
        for fit in [
            "handbook",
            "a b/c",
            "名前\u{3000}二",
            "Łódź №5",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "👩\u{200d}🚀",
            "כלים",
            "",
        ] {
            assert_eq!(unfit_in_a_name(fit), None, "{fit:?}");
        }
        let unfit = [
            ("hand\u{200b}book", '\u{200b}'),
            ("hand\u{200c}book", '\u{200c}'),
            ("می\u{200c}\u{200c}خواهم", '\u{200c}'),
            ("ی\u{200d}", '\u{200d}'),
            ("\u{202e}koobdnah", '\u{202e}'),
            ("a\u{2066}b", '\u{2066}'),
            ("a\u{e0041}", '\u{e0041}'),
            ("a\u{a0}b", '\u{a0}'),
            ("\u{3164}", '\u{3164}'),
            ("a\u{2800}", '\u{2800}'),
            ("❤\u{fe0f}", '\u{fe0f}'),
            ("a\nb", '\n'),
        ];
        for (name, character) in unfit {
            assert_eq!(unfit_in_a_name(name), Some(character), "{name:?}");
        }
    }

    #[test]
    fn what_unicode_lets_a_program_ignore_is_unseen() {
        for character in ('\u{80}'..='\u{10ffff}').filter(|character| !is_unseen(*character)) {
            assert!(skeleton(character.encode_utf8(&mut [0; 4])).next().is_some(), "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn texts_of_others_are_shown_in_the_order_that_they_have() {
        assert_eq!(seen("gnp.\u{202e}fdp\u{202c}\u{e0041}\r\nmi\u{ad}ne\u{1b}[2J"), "gnp.fdp  mine[2J");
        assert_eq!(seen("می\u{200c}خواهم 👩\u{200d}🚀"), "می\u{200c}خواهم 👩\u{200d}🚀");
    }
}
