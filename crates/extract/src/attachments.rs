//! Documents that are attached to a message, and those that are attached to them: each becomes a document of its own.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use serde::{Deserialize, Serialize};

use super::{
    Cause, Format, MediaType,
    detect::{Detected, begins_like_text, detect},
    mail, msg,
};

/// Levels of messages in messages whose attachments are found.
const MAX_NESTING: usize = 3;
/// Most attachments of one document.
const MAX_ATTACHMENTS: usize = 1_000;
/// Most bytes of all attachments of one document. Messages in messages count with all that is attached to them.
const MAX_BYTES: usize = 128 * 1024 * 1024;
/// Most attachments that are named as not read; the others are counted.
const MAX_NAMED: usize = 100;
/// Longest file name, in bytes.
const MAX_NAME: usize = 120;
/// Longest name with those of the messages above, in bytes: it becomes part of a source, which has an end.
const MAX_PATH: usize = 512;

/// A document that is attached to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its file name; for one that is attached to an attached message, below the name of that. Unique in its document.
    pub name: String,
    /// Media type, as declared by the message or the file name.
    pub media_type: String,
    /// Its bytes.
    #[serde(with = "base64_text")]
    pub content: Vec<u8>,
}

/// A file in a message.
pub(super) struct AttachedFile<'a> {
    pub(super) name: &'a str,
    pub(super) declared: Option<String>,
    pub(super) content: Cow<'a, [u8]>,
}

/// The message that files are attached to.
#[derive(Default)]
pub(super) struct Place {
    /// Beginning of the names of its attachments.
    folder: String,
    /// Number of messages that it is attached to, one in the other.
    nesting: usize,
}

impl Place {
    /// One of several messages of a mailbox, by its number from 1.
    pub(super) fn numbered(&self, number: usize) -> Self {
        Self { folder: format!("{}{number}/", self.folder), nesting: self.nesting }
    }

    /// Whether what is attached to the message is looked for.
    pub(super) const fn is_within_limit(&self) -> bool {
        self.nesting <= MAX_NESTING
    }
}

/// The attachments of a document, as they are found.
#[derive(Debug, Default)]
pub(super) struct Attachments {
    /// Whether pictures are read.
    has_recogniser: bool,
    found: Vec<Attachment>,
    names: HashSet<String>,
    /// The last number that was given to a name. Counted from the first each time, a message of as many attachments of one
    /// name as it can hold would take hours.
    numbers: HashMap<String, usize>,
    bytes: usize,
    /// Names of those that are not read, each with the reason.
    unread: Vec<String>,
    /// Number of those that are not read and not named.
    unnamed: usize,
}

impl Attachments {
    pub(super) fn new(has_recogniser: bool) -> Self {
        Self { has_recogniser, ..Self::default() }
    }

    /// Adds a file, and what is attached to it if it is a message. Returns its own place, unless it is in a format that
    /// is not read.
    pub(super) fn add(&mut self, file: AttachedFile<'_>, place: &Place) -> Option<Place> {
        let AttachedFile { name, declared, content } = file;
        let content = &*content;
        let name = self.unique(&place.folder, &file_name(name));
        let media_type = MediaType::choose(&name, declared);
        let format = match detect(content, &media_type) {
            // Bytes of no known format count as text until they are decoded.
            Ok(detected) if detected.format == Format::Plain && !begins_like_text(content) => {
                return self.leave_out(&name, Cause::Binary.as_str());
            }
            Ok(Detected { format: Format::Picture, .. }) if !self.has_recogniser => {
                return self.leave_out(&name, Cause::NoTextLayer.as_str());
            }
            Ok(detected) if !content.is_empty() => detected.format,
            Ok(_) => return self.leave_out(&name, "empty"),
            Err(error) => return self.leave_out(&name, error.cause.as_str()),
        };
        if self.found.len() == MAX_ATTACHMENTS {
            return self.leave_out(&name, "too many attachments");
        }
        if self.bytes + content.len() > MAX_BYTES {
            return self.leave_out(&name, "too_large");
        }
        if name.len() > MAX_PATH {
            return self.leave_out(&name, "its name is too long");
        }
        self.bytes += content.len();
        let inner = Place { folder: format!("{name}/"), nesting: place.nesting + 1 };
        self.found.push(Attachment { name, media_type, content: content.to_vec() });
        self.add_inner(format, content, &inner);
        Some(inner)
    }

    /// Adds what is attached to an attachment.
    fn add_inner(&mut self, format: Format, content: &[u8], place: &Place) {
        let messages = match format {
            Format::Mail => mail::attachments_of_message,
            Format::Mailbox => mail::attachments_of_mailbox,
            Format::Outlook => msg::attachments_of_message,
            _ => return,
        };
        if place.is_within_limit() {
            messages(content, place, self);
        } else {
            self.leave_out(place.folder.trim_end_matches('/'), "attachments in it are nested too deeply");
        }
    }

    fn leave_out(&mut self, name: &str, reason: &str) -> Option<Place> {
        if self.unread.len() < MAX_NAMED {
            self.unread.push(format!("{name} ({reason})"));
        } else {
            self.unnamed += 1;
        }
        None
    }

    /// The name below the folder, with a number if another attachment has it already.
    fn unique(&mut self, folder: &str, name: &str) -> String {
        let (stem, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or((name, ""));
        let dot = if extension.is_empty() { "" } else { "." };
        let first = format!("{folder}{name}");
        if self.names.insert(first.clone()) {
            return first;
        }
        let last = self.numbers.entry(first).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{folder}{stem} ({last}){dot}{extension}");
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The attachments that are read, and the names of the others, each with the reason.
    pub(super) fn finish(self) -> (Vec<Attachment>, Vec<String>) {
        let Self { found, mut unread, unnamed, .. } = self;
        if unnamed > 0 {
            unread.push(format!("{unnamed} more"));
        }
        (found, unread)
    }
}

/// A name that is one segment of a path, and not too long.
fn file_name(name: &str) -> String {
    let is_plain = |character: char| !character.is_control() && !matches!(character, '/' | '\\');
    let name: String = name.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    let name = name.trim();
    if matches!(name, "" | "." | "..") {
        return "attachment".to_owned();
    }
    // The end tells the format.
    let start = (name.len().saturating_sub(MAX_NAME)..name.len()).find(|start| name.is_char_boundary(*start));
    name.get(start.unwrap_or_default()..).unwrap_or_default().to_owned()
}

/// Bytes in JSON: a list of numbers would be three times as long.
mod base64_text {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<'a>(name: &'a str, content: &'a [u8]) -> AttachedFile<'a> {
        AttachedFile { name, declared: None, content: content.into() }
    }

    #[test]
    fn names_are_unique_and_plain() {
        let mut attachments = Attachments::default();
        let (long, wide) = (format!("{}.csv", "x".repeat(300)), format!("{}.csv", "漢".repeat(300)));
        for name in ["a.txt", "a.txt", "a (2).txt", "../b.md", "", ".", "LICENSE", "LICENSE", &long, &wide] {
            assert!(attachments.add(text(name, b"Words."), &Place::default()).is_some(), "{name}");
        }
        attachments.add(text("a.txt", b"Words."), &Place::default().numbered(7));
        let (found, unread) = attachments.finish();
        let names: Vec<&str> = found.iter().map(|attachment| attachment.name.as_str()).collect();
        let (long, wide) = (format!("{}.csv", "x".repeat(MAX_NAME - 4)), format!("{}.csv", "漢".repeat(38)));
        assert_eq!(
            names,
            [
                "a.txt",
                "a (2).txt",
                "a (2) (2).txt",
                ".._b.md",
                "attachment",
                "attachment (2)",
                "LICENSE",
                "LICENSE (2)",
                &long,
                &wide,
                "7/a.txt"
            ]
        );
        assert!(unread.is_empty());
    }

    #[test]
    fn there_is_an_end_to_them() {
        let mut attachments = Attachments::default();
        for _ in 0..MAX_ATTACHMENTS + MAX_NAMED + 5 {
            attachments.add(text("a.txt", b"Words."), &Place::default());
        }
        let (found, unread) = attachments.finish();
        assert_eq!((found.len(), unread.len()), (MAX_ATTACHMENTS, MAX_NAMED + 1));
        assert_eq!(unread.last().map(String::as_str), Some("5 more"));
        let half = vec![b'x'; MAX_BYTES / 2];
        let mut attachments = Attachments::default();
        for is_read in [true, true, false] {
            assert_eq!(attachments.add(text("large.txt", &half), &Place::default()).is_some(), is_read);
        }
        assert_eq!(attachments.finish().1, ["large (3).txt (too_large)"]);
    }

    #[test]
    fn bytes_survive_json() {
        let content = (0..=255).collect();
        let attachment = Attachment { name: "a".to_owned(), media_type: "text/plain".to_owned(), content };
        let json = serde_json::to_string(&attachment).expect("JSON");
        assert_eq!(serde_json::from_str::<Attachment>(&json).expect("the same"), attachment);
    }
}
