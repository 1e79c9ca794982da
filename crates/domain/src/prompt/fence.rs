//! The delimiters around untrusted text, and the escaping that keeps the text from forging them.
//!
//! Three things inside content are defused: the opening of anything that a model may read as one
//! of the tags used here, special tokens of chat templates (`<|…|>`, `[INST]`, `<s>`, which some model servers parse
//! in user text), and the opening of a citation marker. Each loses one character to an HTML entity
//! (`&lt;`, `&#94;`), which a model reads as the same character quoted. Angle brackets that start
//! none of these stay as they are, so that source code in documents survives.
//!
//! A model reads invisible characters that people do not see, so they are dropped. It confuses look-alikes, so the search does
//! too: blanks, slashes, hyphens and combining marks may stand between the characters, and letters are compared by their
//! skeletons (UTS 39).

use std::{fmt::Write as _, sync::LazyLock};

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_security::confusable_detection::skeleton;

use super::Source;
use crate::unseen::is_joiner;

/// Starts of tags that are defused, in lower case: first those of the prompts, then those that delimit turns, thoughts and
/// calls in chat templates. A slash before them is passed over.
const TAG_NAMES: [&str; 22] = [
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
    "s>",
    "bos>",
    "eos>",
    "sop>",
    "think",
    "tool_call",
    "tool_response",
    "function_call",
    "system>",
    "assistant>",
    "user>",
    "human>",
];
/// The same for tokens in square brackets.
const BRACKETED: [&str; 4] = ["inst]", "gmask]", "system_prompt]", "tool_calls]"];

/// `content` with everything defused that could end its container, open another or cite.
#[must_use]
pub fn neutralise(content: &str) -> String {
    defused(content, plain_length)
}

/// The same, with the length of what is copied at once at the beginning of a text.
pub(super) fn defused(content: &str, plain_length: impl Fn(&str) -> usize) -> String {
    let mut safe = String::with_capacity(content.len() + 16);
    let mut last_visible = ' ';
    let mut rest = content.chars();
    loop {
        let (plain, after) = rest.as_str().split_at(plain_length(rest.as_str()));
        safe.push_str(plain);
        last_visible = plain.chars().rev().find(|character| !is_filler(*character)).unwrap_or(last_visible);
        rest = after.chars();
        let Some(character) = rest.next() else { return safe };
        if is_smuggled(character) || (is_joiner(character) && !joins(last_visible, rest.clone().next())) {
            continue;
        }
        let opens_marker = is_caret(character) && is_opening_bracket(last_visible);
        let opens_token = is_opening_bracket(character) && TOKENS.begin(rest.clone());
        if opens_marker || opens_token || (is_opening_angle(character) && opens_tag(rest.clone())) {
            push_entity(&mut safe, character);
            last_visible = ';';
            continue;
        }
        safe.push(character);
        if !is_filler(character) {
            last_visible = character;
        }
    }
}

/// Length of the beginning of a text that stays as it is, nearly all of most texts: ASCII that opens and hides nothing.
fn plain_length(text: &str) -> usize {
    let is_plain = |byte: &u8| match byte {
        b'\t' | b'\n' | b'\r' => true,
        byte => matches!(byte, b' '..=b'~') && !matches!(byte, b'<' | b'[' | b'^'),
    };
    text.bytes().position(|byte| !is_plain(&byte)).unwrap_or(text.len())
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
    let Source { urn, title, file, table_header, context, .. } = source;
    // Writing to a String cannot fail.
    let _ = write!(prompt, "<source id=\"{number}\" urn=\"{}\"", attribute(urn));
    let section = section_of(source);
    let told = [("title", title), ("file", file), ("section", &section), ("table", table_header), ("context", context)];
    for (name, value) in
        told.map(|(name, value)| (name, value.trim())).into_iter().filter(|(_, value)| !value.is_empty())
    {
        let _ = write!(prompt, " {name}=\"{}\"", attribute(value));
    }
    let _ = write!(prompt, ">\n{}\n</source>\n", neutralise(source.text.trim()));
}

/// The headings above a passage that neither its title nor its own first line says.
fn section_of(source: Source<'_>) -> String {
    let first_line = source.text.trim_start().lines().next().unwrap_or_default();
    let is_new = |heading: &&String| heading.as_str() != source.title && !first_line.ends_with(heading.as_str());
    source.headings.iter().filter(is_new).map(String::as_str).collect::<Vec<_>>().join(" / ")
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

/// Names as they look.
struct Names(Vec<Vec<char>>);

static TAGS: LazyLock<Names> = LazyLock::new(|| Names::of(&TAG_NAMES));
static TOKENS: LazyLock<Names> = LazyLock::new(|| Names::of(&BRACKETED));

impl Names {
    fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| name.chars().flat_map(skeleton_of).collect()).collect())
    }

    /// Whether a text begins with what looks like one of the names.
    fn begin(&self, text: impl Iterator<Item = char>) -> bool {
        let longest = self.0.iter().map(Vec::len).max().unwrap_or_default();
        let visible = text.filter(|character| !is_filler(*character));
        let shown: Vec<char> = visible.flat_map(skeleton_of).take(longest).collect();
        self.0.iter().any(|name| shown.starts_with(name))
    }
}

/// Whether the text after an opening bracket makes it a tag or a special token to be defused.
fn opens_tag(following: impl Iterator<Item = char> + Clone) -> bool {
    let first = following.clone().find(|character| !is_filler(*character));
    first.is_some_and(is_bar) || TAGS.begin(following)
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
    if character.is_ascii() {
        // Nearly all of most texts: nothing is looked up for it.
        return character == ' ' || character.is_ascii_control() || matches!(character, '/' | '\\' | '-');
    }
    character.is_whitespace()
        || character.is_control()
        || is_combining_mark(character)
        || matches!(
            character,
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2044}' | '\u{2215}' | '\u{29f8}' | '\u{ff0f}' | '\u{ff3c}' | '\u{ad}' | '\u{180e}'
                | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' | '\u{61c}'
                | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffc}' | '\u{e0000}'..='\u{e01ef}'
        )
}

/// Characters that are invisible to readers but that a model may obey or be misled by: those that Unicode lets a program
/// ignore (tags, variation selectors, zero-width and bidirectional marks, soft hyphens), but for the joiners, and control
/// characters, but for tab and line ends.
pub(crate) fn is_smuggled(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\t' | '\n' | '\r');
    is_control || (is_ignorable(character) && !is_joiner(character))
}

/// Characters with the property `Default_Ignorable_Code_Point`, which skeletons leave out.
fn is_ignorable(character: char) -> bool {
    !character.is_ascii() && skeleton(character.encode_utf8(&mut [0; 4])).next().is_none()
}

/// Whether a joiner stands between characters of a script that joins, once.
fn joins(before: char, after: Option<char>) -> bool {
    let is_of_script = |character: char| !character.is_ascii() && !is_filler(character);
    is_of_script(before) && after.is_some_and(is_of_script)
}

/// Characters read as `|`.
fn is_bar(character: char) -> bool {
    // The prototype of the bar is the letter l.
    !character.is_alphanumeric() && skeleton(character.encode_utf8(&mut [0; 4])).eq(['l'])
}

/// The shape of a character: its prototype by UTS 39, in lower case, of its compatible form. Digits that stand for letters
/// count as these.
fn skeleton_of(character: char) -> impl Iterator<Item = char> + Clone {
    let lower = |character: char| character.to_lowercase().next().unwrap_or(character);
    let base = std::iter::once(character).nfkd().next().map_or(character, lower);
    let letter = match base {
        // Digits for letters, and letters that are read as another than UTS 39 has for them, or have none there.
        '0' | 'ᴏ' => 'o',
        '1' | 'ɪ' => 'i',
        '3' | 'ᴇ' | 'ε' => 'e',
        '4' => 'a',
        '5' | 'ꜱ' => 's',
        '7' | 'ᴛ' => 't',
        'г' | 'ʀ' | 'ᴦ' => 'r',
        'ц' | 'ᴜ' => 'u',
        'п' | 'ɴ' => 'n',
        'ʏ' => 'y',
        'ᴄ' => 'c',
        'ɋ' => 'q',
        '\u{203a}' | '\u{3009}' | '\u{27e9}' => '>',
        other => other,
    };
    let prototypes: Vec<char> = skeleton(letter.encode_utf8(&mut [0; 4])).map(lower).collect();
    prototypes.into_iter().filter(|prototype| !is_combining_mark(*prototype))
}
