//! Texts of documents and models, made fit for a terminal: they may hold sequences that move its cursor, change its title or
//! answer for its user, marks that show words in another order than they have, and characters that nobody sees.

use std::fmt::Write as _;

use crate::domain::unseen::{is_joiner, is_unseen};

/// A text without unseen characters; lines, tabs and joiners stay.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|character| !is_active(*character)).collect()
}

/// JSON in which these characters are escaped; its own lines stay.
pub(super) fn shown_json(json: &str) -> String {
    json.chars().fold(String::with_capacity(json.len()), |mut shown, character| {
        if is_active(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(character);
        }
        shown
    })
}

const fn is_active(character: char) -> bool {
    is_unseen(character) && !is_joiner(character) && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const HOSTILE: &str =
        "28 days\u{1b}]0;title\u{7} \u{9b}2J\r\u{202e}syad\u{202c}\u{8}\u{e0061}\u{200b}.\n\tNext – ключ 你好";

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(shown(HOSTILE), "28 days]0;title 2Jsyad.\n\tNext – ключ 你好");
    }

    #[test]
    fn json_says_the_same_with_escapes() {
        let value = json!({"answer": HOSTILE});
        let shown = shown_json(&serde_json::to_string_pretty(&value).expect("JSON"));
        assert!(!shown.chars().any(is_active), "{shown:?}");
        assert_eq!(serde_json::from_str::<Value>(&shown).expect("JSON"), value);
    }
}
