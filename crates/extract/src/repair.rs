//! Restores characters that a wrong decoding damaged before the document came here, and drops control characters.
//!
//! Two wrong decodings leave plain traces. Windows-1252 read as Latin-1 leaves control characters of the range U+0080 to
//! U+009F, which no text holds by intention. UTF-8 read as Windows-1252 or Latin-1 leaves sequences such as `Ã¤` and
//! `â€™`. Everything that is restored or dropped is counted; text with too many control characters is not text.

use domain::job::ReadingNotes;
use encoding_rs::WINDOWS_1252;

use super::{Cause, ExtractError};

/// A text has at most one control character per this many characters, and [`STRAY_CONTROLS`] more.
const CHARACTERS_PER_CONTROL: usize = 50;
/// Control characters that a text of any length may hold.
const STRAY_CONTROLS: usize = 8;
/// A short text has at most one control character per this many characters.
const CHARACTERS_PER_CONTROL_IF_SHORT: usize = 10;

/// Sequences of twice decoded UTF-8 that prove each other where none of them is proof by itself.
const SEQUENCES_THAT_PROVE: usize = 8;
/// Sequences per character beyond ASCII that belongs to none, in a text that was decoded twice as a whole.
const SEQUENCES_PER_OTHER: usize = 20;

/// Restores what was damaged and drops control characters.
///
/// # Errors
/// `binary` with too many control characters.
pub(super) fn restored(text: String, notes: &mut ReadingNotes) -> Result<String, ExtractError> {
    let text = match read_twice(&text) {
        Some((restored, count)) => {
            notes.repaired_characters += count;
            restored
        }
        None => text,
    };
    let (mut all, mut nul, mut dropped, mut windows) = (0, 0, 0, 0);
    for character in text.chars() {
        all += 1;
        nul += usize::from(character == '\0');
        match Control::of(character) {
            None => {}
            Some(Control::Windows(_)) => windows += 1,
            Some(Control::Foreign) => dropped += 1,
        }
    }
    if is_binary(dropped, all) {
        return Err(binary(if nul * 2 > dropped { "NUL characters" } else { "many control characters" }));
    }
    if windows + dropped == 0 {
        return Ok(text);
    }
    notes.repaired_characters += count(windows);
    notes.dropped_characters += count(dropped);
    let cleaned = text.chars().filter_map(|character| match Control::of(character) {
        // In Windows-1252 it is an ellipsis; alone it is the control character for a next line.
        None if character == '\u{85}' && windows > 0 => windows_character(character),
        None => Some(character),
        Some(Control::Windows(meant)) => Some(meant),
        Some(Control::Foreign) => None,
    });
    Ok(cleaned.collect())
}

/// Whether text or bytes with this many control characters are not text.
pub(super) const fn is_binary(controls: usize, all: usize) -> bool {
    controls * CHARACTERS_PER_CONTROL_IF_SHORT > all || controls > all / CHARACTERS_PER_CONTROL + STRAY_CONTROLS
}

/// A control character that does not occur in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    /// It stands for this character, whose Windows-1252 byte was read as Latin-1.
    Windows(char),
    /// It stands for nothing.
    Foreign,
}

impl Control {
    /// `None` for a character that occurs in text, control characters for lines, tabs and terminals among them.
    pub(super) fn of(character: char) -> Option<Self> {
        let is_usual = matches!(character, '\t' | '\n' | '\r' | '\u{8}' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}');
        if is_usual || !character.is_control() {
            return None;
        }
        Some(windows_character(character).map_or(Self::Foreign, Self::Windows))
    }
}

/// The character whose byte in Windows-1252 has the value of this control character.
fn windows_character(character: char) -> Option<char> {
    let byte = u8::try_from(character).ok().filter(|byte| *byte >= 0x80)?;
    let bytes = [byte];
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(&bytes);
    text.chars().next().filter(|meant| !meant.is_control())
}

fn binary(what: &str) -> ExtractError {
    ExtractError::new(Cause::Binary, format!("the document holds {what}, so it is not text; send the text itself"))
}

fn count(characters: usize) -> u32 {
    u32::try_from(characters).unwrap_or(u32::MAX)
}

/// The text before it was decoded a second time, and how many characters that restores. `None` unless nearly all
/// characters beyond ASCII belong to such sequences, and they are proof.
fn read_twice(text: &str) -> Option<(String, u32)> {
    if text.is_ascii() {
        return None;
    }
    let mut restored = String::with_capacity(text.len());
    let (mut sequences, mut proofs, mut others) = (0_usize, 0, 0);
    let mut rest = text.chars();
    while let Some(character) = rest.clone().next() {
        let sequence = if character.is_ascii() { None } else { Sequence::at(rest.clone()) };
        let length = if let Some(sequence) = sequence {
            sequences += 1;
            proofs += usize::from(sequence.is_proof);
            restored.push(sequence.meant);
            sequence.length
        } else {
            others += usize::from(!character.is_ascii() && !character.is_control());
            restored.push(character);
            1
        };
        rest.nth(length - 1);
    }
    let is_plain = others * SEQUENCES_PER_OTHER <= sequences && (proofs > 0 || sequences >= SEQUENCES_THAT_PROVE);
    is_plain.then(|| (restored, count(sequences)))
}

/// Characters that are the bytes of one character in UTF-8.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    meant: char,
    length: usize,
    /// Whether no language writes these characters one after the other.
    is_proof: bool,
}

impl Sequence {
    fn at(characters: std::str::Chars<'_>) -> Option<Self> {
        let lead = u8::try_from(characters.clone().next()?).ok()?;
        let length = match lead {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => return None,
        };
        let bytes: Option<Vec<u8>> = characters.clone().take(length).map(latin_byte).collect();
        let bytes = bytes?;
        let meant = std::str::from_utf8(&bytes).ok()?.chars().next()?;
        let is_proof = match bytes.as_slice() {
            // A capital Â or Ã before a sign, a euro sign after â: of the quotation marks that may follow a letter
            // those of the range above are left out, they are their own bytes in neither encoding.
            [0xC2 | 0xC3, 0xA1..=0xBF] | [0xE2, 0x80 | 0x82, _] => true,
            _ => characters.take(length).any(char::is_control),
        };
        Some(Self { meant, length, is_proof })
    }
}

/// The byte that a character was made of, in Latin-1 or Windows-1252.
fn latin_byte(character: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(character) {
        return Some(byte);
    }
    let mut buffer = [0; 4];
    let (bytes, _, is_foreign) = WINDOWS_1252.encode(character.encode_utf8(&mut buffer));
    bytes.first().copied().filter(|_| !is_foreign)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (String, u32, u32) {
        let mut notes = ReadingNotes::default();
        let text = restored(text.to_owned(), &mut notes).expect("text");
        (text, notes.repaired_characters, notes.dropped_characters)
    }

    /// UTF-8 read as Windows-1252, and as Latin-1.
    fn twice(text: &str) -> [String; 2] {
        let windows = WINDOWS_1252.decode_without_bom_handling(text.as_bytes()).0.into_owned();
        [windows, text.bytes().map(char::from).collect()]
    }

    #[test]
    fn utf8_that_was_read_twice_is_restored() {
        for text in ["Die Größe der Tür – “genau” 20 °C, 5 €", "It’s free.", "Кто платит за обучение?", "漢字とかな"]
        {
            let beyond = text.chars().filter(|character| !character.is_ascii()).count();
            for damaged in twice(text) {
                assert_eq!(read(&damaged), (text.to_owned(), count(beyond), 0), "{damaged}");
            }
        }
    }

    #[test]
    fn windows_1252_that_was_read_as_latin_1_is_restored() {
        assert_eq!(read("It\u{92}s \u{93}free\u{94} \u{96} really\u{85}"), ("It’s “free” – really…".to_owned(), 4, 0));
        assert_eq!(read("One\u{85}two"), ("One\u{85}two".to_owned(), 0, 0));
        assert_eq!(read("no such byte: \u{81}, \u{9d}!!"), ("no such byte: , !!".to_owned(), 0, 2));
    }

    #[test]
    fn what_people_write_is_left_alone() {
        for text in [
            "O Senhor disse «AMANHû e “NÃO”.",
            "CAFÉ » MÜNCHEN",
            "A width of 5 Å – no more",
            "5 Å wide",
            "NESTLɮ",
            "Maß²",
            "Ã© is how é looks when UTF-8 is read as Latin-1.",
            "漢字 Größe “quoted” 😀",
            "\x1b[1mbold\x1b[0m\tand\r\n\u{c}a page",
        ] {
            assert_eq!(read(text), (text.to_owned(), 0, 0));
        }
    }

    #[test]
    fn stray_controls_are_dropped_and_many_are_no_text() {
        assert_eq!(read("words\0and more words\u{7f}"), ("wordsand more words".to_owned(), 0, 2));
        let binary = |text: &str| restored(text.to_owned(), &mut ReadingNotes::default()).map_err(|error| error.cause);
        assert_eq!(binary("a\0b"), Err(Cause::Binary));
        assert_eq!(binary(&"text\u{1}ure, and so on; ".repeat(100)), Err(Cause::Binary));
        assert!(binary(&format!("{}{}", "words and words ".repeat(100), "\u{1}".repeat(30))).is_ok());
    }

    proptest! {
        #[test]
        fn nothing_but_controls_is_lost(text in "[a-zÀ-ÿ’“€\\x00-\\x1f\\u{80}-\\u{9f}]{0,60}") {
            let mut notes = ReadingNotes::default();
            if let Ok(restored) = restored(text.clone(), &mut notes) {
                prop_assert!(restored.chars().all(|character| Control::of(character).is_none()));
                if notes.repaired_characters == 0 {
                    prop_assert_eq!(restored.chars().count() + notes.dropped_characters as usize, text.chars().count());
                }
            }
        }
    }
}
