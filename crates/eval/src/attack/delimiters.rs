//! What a careless reader takes for the delimiters of a prompt, and whether a text adds some.
//!
//! This is not how prompts are made safe (`domain::prompt::fence`), but a reading of what was made.

use std::collections::BTreeMap;

use domain::{
    conversation::{Speaker, Turn},
    prompt::{Message, Nonce, Role, Source, answer, condense, context, grade, plan, rewrite, verify},
};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_security::confusable_detection::skeleton;

/// Beginnings of the delimiters: tags of the prompts and of chat templates, their tokens, and markers.
const DELIMITERS: [&str; 29] = [
    "<source",
    "<question",
    "<query>",
    "<missing>",
    "<statement",
    "<instructions",
    "<turn",
    "<start_of_turn",
    "<end_of_turn",
    "<sys>",
    "<s>",
    "<bos>",
    "<eos>",
    "<sop>",
    "<think",
    "<tool_call",
    "<tool_response",
    "<function_call",
    "<system>",
    "<assistant>",
    "<user>",
    "<human>",
    "<|",
    "[inst]",
    "[gmask]",
    "[system_prompt]",
    "[tool_calls]",
    "[^",
    "nonce=",
];
/// Signs read as each of these.
const ALIKE: [(char, &str); 4] = [
    (
        '<',
        "<\u{2c2}\u{ab}\u{1438}\u{16b2}\u{2039}\u{226a}\u{227a}\u{2329}\u{276c}\u{276e}\u{2770}\u{27e8}\u{27ea}\u{29fc}\u{3008}\u{300a}\u{fe64}\u{ff1c}",
    ),
    ('>', ">\u{203a}\u{3009}\u{27e9}\u{ff1e}"),
    ('[', "[\u{2045}\u{23a1}\u{2772}\u{27e6}\u{2e22}\u{3010}\u{3014}\u{301a}\u{fe47}\u{fe5d}\u{ff3b}"),
    ('^', "^\u{2c4}\u{2c6}\u{302}\u{32d}\u{1dcd}\u{2038}\u{2227}\u{22c0}\u{2303}\u{a788}\u{ff3e}"),
];
/// Letters that UTS 39 does not hold to be alike, and digits that stand for letters.
const LETTERS: [(char, &str); 13] = [
    ('a', "4"),
    ('c', "ᴄ"),
    ('e', "3ᴇε"),
    ('i', "1ɪ"),
    ('n', "пɴ"),
    ('o', "0ᴏ"),
    ('q', "ɋ"),
    ('r', "гʀᴦ"),
    ('s', "5ꜱ"),
    ('t', "7ᴛ"),
    ('u', "цᴜ"),
    ('y', "ʏ"),
    ('-', "\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}"),
];

/// What a model reads of a conversation as its frame.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    /// The system message.
    system: String,
    /// How often each delimiter is read in the other messages.
    delimiters: BTreeMap<&'static str, usize>,
    /// Signs that nobody sees.
    unseen: usize,
}

/// The prompt whose frame a text changes when it stands in every place of it that holds data, if there is one.
pub(super) fn forged(text: &str) -> Option<&'static str> {
    let honest = prompts("Leave is 28 days.");
    let attacked = prompts(text);
    let changed = honest.into_iter().zip(attacked).find(|(honest, attacked)| frame(&honest.1) != frame(&attacked.1));
    changed.map(|(_, (name, _))| name)
}

/// Each prompt of the service with this text in every place that holds data, as it is sent.
fn prompts(text: &str) -> Vec<(&'static str, Vec<Message>)> {
    let headings = [text.to_owned()];
    let source = Source {
        urn: "cited:c/d@1#0",
        title: text,
        file: text,
        headings: &headings,
        table_header: text,
        text,
        context: text,
    };
    let turns = [Turn { speaker: Speaker::Assistant, text: text.to_owned() }];
    let statements = [verify::Statement { text, sources: &[1] }];
    let mut all = vec![
        ("answer", answer::messages(text, &[source, source])),
        ("grade", grade::messages(text, &[text], &[source])),
        ("verify", verify::messages(None, &statements, &[source])),
        ("rewrite", rewrite::messages(text, &[text.to_owned()], &[text.to_owned()])),
        ("plan", plan::messages(text)),
        ("condense", condense::messages(text, &turns)),
    ];
    for (_, messages) in &mut all {
        Nonce::new([0x5a; 8]).mark(messages);
    }
    // Passages are put into context without a word of an ask.
    let document = format!("{text}\n\n{text}");
    let parts = [0..text.len(), text.len() + 2..document.len()];
    all.push(("context", context::Shared::new(text, &document, &parts).messages(text)));
    all
}

fn frame(messages: &[Message]) -> Frame {
    let of = |is_system: bool| {
        let messages = messages.iter().filter(move |message| (message.role == Role::System) == is_system);
        messages.map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n")
    };
    let user = of(false);
    Frame {
        system: of(true),
        delimiters: delimiters(&user),
        unseen: user.chars().filter(|sign| is_unseen(*sign)).count(),
    }
}

/// How often each delimiter is read in a text. Slashes are passed over, so that what closes counts with what opens.
fn delimiters(text: &str) -> BTreeMap<&'static str, usize> {
    let read = as_read(text);
    DELIMITERS.into_iter().map(|delimiter| (delimiter, read.matches(&as_read(delimiter)).count())).collect()
}

/// A text as somebody reads it who passes over blanks, slashes, hyphens and marks, and takes signs for those that look alike.
fn as_read(text: &str) -> String {
    let alike = |sign: char| ALIKE.iter().find(|(_, signs)| signs.contains(sign)).map(|(read, _)| *read);
    let mut read = String::with_capacity(text.len());
    for sign in text.chars() {
        match alike(sign) {
            Some(delimiter) => read.push(delimiter),
            None if is_passed_over(sign) => {}
            None => read.extend(sign.nfkd().filter(|part| !is_combining_mark(*part)).flat_map(shape)),
        }
    }
    read
}

/// The shape of a letter: its prototype by UTS 39, in lower case.
fn shape(letter: char) -> Vec<char> {
    let lower = |letter: char| letter.to_lowercase().next().unwrap_or(letter);
    let letter = lower(letter);
    let letter = LETTERS.iter().find(|(_, signs)| signs.contains(letter)).map_or(letter, |(read, _)| *read);
    let shapes: Vec<char> = skeleton(letter.encode_utf8(&mut [0; 4])).map(lower).collect();
    // The prototype of a bar is a letter.
    if !letter.is_alphanumeric() && shapes == ['l'] { vec!['|'] } else { shapes }
}

fn is_passed_over(sign: char) -> bool {
    sign.is_whitespace()
        || sign.is_control()
        || is_combining_mark(sign)
        || is_unseen(sign)
        || "/\\-／＼⁄∕⧸".contains(sign)
}

/// Signs that programs may leave out when they show a text, the joiners of scripts not among them.
fn is_unseen(sign: char) -> bool {
    !sign.is_ascii()
        && !matches!(sign, '\u{200c}' | '\u{200d}')
        && skeleton(sign.encode_utf8(&mut [0; 4])).next().is_none()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Whether a text that nobody made safe changes the frame of a prompt.
    pub(crate) fn forges_unfenced(text: &str) -> bool {
        let user = |text: &str| [Message::user(format!("<source id=\"1\">\n{text}\n</source>\n"))];
        frame(&user(text)) != frame(&user("Leave is 28 days."))
    }

    #[test]
    fn honest_texts_forge_nothing() {
        for text in ["Vec<T> where 1 < 2, x^2, [1], naïve, <em>old</em>, <table>", "می‌خواهم", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
        {
            assert_eq!(forged(text), None, "{text}");
        }
        assert!(!forges_unfenced("Vec<T> where 1 < 2, x^2, [1], <em>old</em>"));
    }
}
