//! The delimiters around untrusted text, and the escaping that keeps the text from forging them.
//!
//! Three things inside content are defused: the opening of anything that a model may read as one
//! of the tags used here, special tokens of chat templates (`<|…|>`, which some model servers parse
//! in user text), and the opening of a citation marker. Each loses one character to an HTML entity
//! (`&lt;`, `&#94;`), which a model reads as the same character quoted. Angle brackets that start
//! none of these stay as they are, so that source code in documents survives.
//!
//! A model ignores invisible characters and confuses look-alikes, so the search does too: zero-width and bidirectional
//! marks, blanks, slashes and combining marks may stand between the characters, brackets and letters may be full-width
//! or borrowed from another script.

use std::fmt::Write as _;

use unicode_normalization::char::is_combining_mark;

use super::Source;

/// Names whose tags are defused, in lower case. The first seven are used by the prompts, the others
/// delimit turns in chat templates.
const TAG_NAMES: [&str; 10] = [
    "source",
    "question",
    "query>",
    "missing>",
    "statement",
    "instructions",
    "turn",
    "start_of_turn",
    "end_of_turn",
    "sys>",
];

/// `content` with everything defused that could end its container, open another or cite.
#[must_use]
pub fn neutralise(content: &str) -> String {
    let mut safe = String::with_capacity(content.len() + 16);
    let mut last_visible = ' ';
    let mut rest = content.chars();
    while let Some(character) = rest.next() {
        if is_smuggled(character) {
            continue;
        }
        let opens_marker = is_caret(character) && is_opening_bracket(last_visible);
        if opens_marker || (is_opening_angle(character) && opens_tag(rest.clone())) {
            push_entity(&mut safe, character);
            last_visible = ';';
            continue;
        }
        safe.push(character);
        if !is_filler(character) {
            last_visible = character;
        }
    }
    safe
}

fn push_entity(text: &mut String, character: char) {
    match character {
        '<' => text.push_str("&lt;"),
        // Writing to a String cannot fail.
        other => _ = write!(text, "&#{};", u32::from(other)),
    }
}

/// `content` made fit for a double-quoted attribute: neutralised, on one line, without `"<>`.
#[must_use]
pub fn attribute(content: &str) -> String {
    let mut safe = String::with_capacity(content.len());
    for character in neutralise(content).chars() {
        match character {
            '"' => safe.push_str("&quot;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            _ if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') => {
                safe.push(' ');
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Appends a source under its number, counted from 1.
pub fn push_source(prompt: &mut String, number: u32, source: Source<'_>) {
    let urn = attribute(source.urn);
    // Writing to a String cannot fail.
    let _ = write!(prompt, "<source id=\"{number}\" urn=\"{urn}\"");
    if !source.title.trim().is_empty() {
        let _ = write!(prompt, " title=\"{}\"", attribute(source.title.trim()));
    }
    if !source.context.trim().is_empty() {
        let _ = write!(prompt, " context=\"{}\"", attribute(source.context.trim()));
    }
    let _ = write!(prompt, ">\n{}\n</source>\n", neutralise(source.text.trim()));
}

/// The question in its fence.
#[must_use]
pub fn question(question: &str) -> String {
    format!("<question>\n{}\n</question>\n", neutralise(question.trim()))
}

/// An earlier turn of a conversation in its fence.
#[must_use]
pub fn turn(speaker: &str, text: &str) -> String {
    format!("<turn speaker=\"{}\">\n{}\n</turn>\n", attribute(speaker), neutralise(text.trim()))
}

/// A former query in its fence, on one line.
#[must_use]
pub fn query(query: &str) -> String {
    format!("<query>{}</query>\n", neutralise(query.trim()))
}

/// The aspects of a question that were not found, in their fence, on one line.
#[must_use]
pub fn missing(aspects: &str) -> String {
    format!("<missing>{}</missing>\n", neutralise(aspects.trim()))
}

/// Whether the text after an opening bracket makes it a tag or a special token to be defused.
fn opens_tag(following: impl Iterator<Item = char> + Clone) -> bool {
    let mut visible = following.filter(|character| !is_filler(*character)).map(plain_letter).peekable();
    if visible.peek() == Some(&'|') {
        return true;
    }
    TAG_NAMES.iter().any(|name| visible.clone().take(name.len()).eq(name.chars()))
}

/// Characters read as `<`: ASCII, full-width, small, mathematical, quotation and CJK forms.
const fn is_opening_angle(character: char) -> bool {
    matches!(
        character,
        '<' | '\u{ff1c}'
            | '\u{fe64}'
            | '\u{2039}'
            | '\u{2329}'
            | '\u{27e8}'
            | '\u{3008}'
            | '\u{276c}'
            | '\u{276e}'
            | '\u{2770}'
            | '\u{29fc}'
            | '\u{02c2}'
            | '\u{1438}'
            | '\u{16b2}'
            | '\u{227a}'
            | '\u{226a}'
            | '\u{ab}'
            | '\u{300a}'
            | '\u{27ea}'
    )
}

/// Characters read as `[`.
const fn is_opening_bracket(character: char) -> bool {
    matches!(
        character,
        '[' | '\u{ff3b}'
            | '\u{3010}'
            | '\u{3014}'
            | '\u{301a}'
            | '\u{2045}'
            | '\u{27e6}'
            | '\u{fe47}'
            | '\u{2772}'
            | '\u{2e22}'
            | '\u{fe5d}'
            | '\u{23a1}'
    )
}

/// Characters read as `^`, combining forms included (`[` with a circumflex above).
const fn is_caret(character: char) -> bool {
    matches!(
        character,
        '^' | '\u{ff3e}'
            | '\u{02c6}'
            | '\u{0302}'
            | '\u{032d}'
            | '\u{2303}'
            | '\u{2038}'
            | '\u{2227}'
            | '\u{22c0}'
            | '\u{02c4}'
            | '\u{a788}'
            | '\u{1dcd}'
    )
}

/// Characters that a reader skips between the characters of a tag or marker.
fn is_filler(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || is_combining_mark(character)
        || matches!(
            character,
            '/' | '\\' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{ff3c}' | '\u{ad}' | '\u{180e}'
                | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' | '\u{61c}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}' | '\u{e0000}'..='\u{e01ef}'
        )
}

/// Characters that are invisible to readers but that a model may obey: the Unicode tag block spells ASCII invisibly.
/// Control characters are included, except for tab and line ends.
fn is_smuggled(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e007f}')
        || (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
}

/// The ASCII lower-case letter or sign that `character` is or looks like; itself otherwise.
fn plain_letter(character: char) -> char {
    let mut compatible = unicode_normalization::UnicodeNormalization::nfkd(std::iter::once(character));
    let base = compatible.next().unwrap_or(character);
    match base {
        'ѕ' | 'Ѕ' | 'ꜱ' | 'ſ' => 's',
        'о' | 'О' | 'ο' | 'Ο' | 'օ' | 'ᴏ' | '0' => 'o',
        'υ' | 'ս' | 'ᴜ' | 'ц' => 'u',
        'г' | 'ʀ' | 'ᴦ' => 'r',
        'с' | 'С' | 'ϲ' | 'ᴄ' => 'c',
        'е' | 'Е' | 'Ε' | 'ε' | 'ᴇ' | '3' => 'e',
        'ԛ' | 'ɋ' => 'q',
        'т' | 'Т' | 'Τ' | 'τ' | 'ᴛ' => 't',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' | 'ɪ' | '1' => 'i',
        'п' | 'ɴ' | 'Ν' => 'n',
        'у' | 'У' | 'Υ' | 'ʏ' => 'y',
        'а' | 'А' | 'Α' => 'a',
        '\u{2223}' | '\u{ffe8}' | '\u{1c0}' | '\u{2502}' => '|',
        '\u{203a}' | '\u{3009}' | '\u{27e9}' => '>',
        _ => base.to_ascii_lowercase(),
    }
}
