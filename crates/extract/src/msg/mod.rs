//! Outlook messages (MS-OXMSG): compound files whose streams are the properties of a message (MS-OXPROPS).
//!
//! A message is written as mail (RFC 5322) without its attachments and read as that, so that mail has one reader. Its
//! attachments are found here; a message among them is a storage of this file and no file of its own.

use std::io::{Cursor, Read};

use cfb::CompoundFile;
use encoding_rs::{Encoding, WINDOWS_1252};
use mail_parser::DateTime;

use super::{
    ExtractError,
    attachments::{AttachedFile, Attachments, Place},
    content::{Content, MAX_TEXT_BYTES},
    converted, mail,
};

/// Properties, by the upper half of their tags.
mod property {
    pub(super) const SUBJECT: u16 = 0x0037;
    pub(super) const CLIENT_SUBMIT_TIME: u16 = 0x0039;
    pub(super) const RECIPIENT_TYPE: u16 = 0x0C15;
    pub(super) const SENDER_NAME: u16 = 0x0C1A;
    pub(super) const SENDER_EMAIL_ADDRESS: u16 = 0x0C1F;
    pub(super) const MESSAGE_DELIVERY_TIME: u16 = 0x0E06;
    pub(super) const BODY: u16 = 0x1000;
    pub(super) const RTF_COMPRESSED: u16 = 0x1009;
    pub(super) const HTML: u16 = 0x1013;
    pub(super) const DISPLAY_NAME: u16 = 0x3001;
    pub(super) const EMAIL_ADDRESS: u16 = 0x3003;
    pub(super) const ATTACH_DATA: u16 = 0x3701;
    pub(super) const ATTACH_FILENAME: u16 = 0x3704;
    pub(super) const ATTACH_METHOD: u16 = 0x3705;
    pub(super) const ATTACH_LONG_FILENAME: u16 = 0x3707;
    pub(super) const ATTACH_MIME_TAG: u16 = 0x370E;
    pub(super) const SMTP_ADDRESS: u16 = 0x39FE;
    pub(super) const INTERNET_CODEPAGE: u16 = 0x3FDE;
    pub(super) const MESSAGE_CODEPAGE: u16 = 0x3FFD;
    pub(super) const SENDER_SMTP_ADDRESS: u16 = 0x5D01;
    pub(super) const ATTACHMENT_HIDDEN: u16 = 0x7FFE;
}

/// The stream of a storage's properties of fixed length.
pub(super) const PROPERTIES: &str = "__properties_version1.0";
/// Beginning of the names of storages that hold attachments and recipients.
const ATTACHMENT: &str = "__attach_version1.0_";
const RECIPIENT: &str = "__recip_version1.0_";
/// Most bytes of one property, and of text in compressed RTF: each byte unpacks to nine at most, and each of these
/// takes three while it is decoded.
const MOST_BYTES: u64 = 8 * MAX_TEXT_BYTES as u64;
const MOST_COMPRESSED: usize = MAX_TEXT_BYTES / 4;
/// Types of properties, the lower half of their tags: text in a code page, text in UTF-16, bytes.
const STRING8: u16 = 0x001E;
const STRING: u16 = 0x001F;
const BINARY: u16 = 0x0102;
/// A message in `ATTACH_DATA`.
const EMBEDDED_MESSAGE: u64 = 5;
/// Bytes before the properties in the stream of a storage: of the message that the file is, of one within it, of others.
const TOP_HEADER: usize = 32;
const MESSAGE_HEADER: usize = 24;
const OTHER_HEADER: usize = 8;
/// Bytes before compressed RTF: two sizes, the kind of compression, a checksum.
const RTF_HEADER: usize = 16;
/// Seconds from the year 1601, which times count from, to 1970.
const SECONDS_TO_1970: i64 = 11_644_473_600;

/// Adds a message.
pub(super) fn message(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut file = open(bytes)?;
    let top = Storage::top();
    if !file.is_stream(format!("/{PROPERTIES}")) {
        return Err(ExtractError::malformed("Outlook message", "it has no properties"));
    }
    mail::message(&as_mail(&mut file, &top), content)?;
    for storage in children(&file, &top, ATTACHMENT) {
        let Some(attached) = Attached::read(&mut file, &storage) else { continue };
        let inner = mail::attach(attached.as_file(), &Place::default(), content)?;
        attached.add_inner(&mut file, inner, &mut content.attachments);
    }
    Ok(())
}

/// Adds what is attached to a message that is attached itself.
pub(super) fn attachments_of_message(bytes: &[u8], place: &Place, attachments: &mut Attachments) {
    if let Ok(mut file) = open(bytes) {
        add_attachments(&mut file, &Storage::top(), place, attachments);
    }
}

fn add_attachments(file: &mut File<'_>, message: &Storage, place: &Place, attachments: &mut Attachments) {
    for storage in children(file, message, ATTACHMENT) {
        let Some(attached) = Attached::read(file, &storage) else { continue };
        let inner = attachments.add(attached.as_file(), place);
        attached.add_inner(file, inner, attachments);
    }
}

type File<'a> = CompoundFile<Cursor<&'a [u8]>>;

fn open(bytes: &[u8]) -> Result<File<'_>, ExtractError> {
    CompoundFile::open(Cursor::new(bytes)).map_err(|error| ExtractError::malformed("Outlook message", error))
}

/// A part of the file that has properties: a message, a recipient, an attachment.
struct Storage {
    path: String,
    header: usize,
}

impl Storage {
    const fn top() -> Self {
        Self { path: String::new(), header: TOP_HEADER }
    }

    /// A property that has a stream of its own.
    fn bytes(&self, file: &mut File<'_>, property: u16, kind: u16) -> Option<Vec<u8>> {
        let path = format!("{}/__substg1.0_{property:04X}{kind:04X}", self.path);
        let mut bytes = Vec::new();
        file.open_stream(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn text(&self, file: &mut File<'_>, property: u16) -> Option<String> {
        let text = if let Some(bytes) = self.bytes(file, property, STRING) {
            let units: Vec<u16> = bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
            String::from_utf16_lossy(&units)
        } else {
            let bytes = self.bytes(file, property, STRING8)?;
            self.encoding(file, property::MESSAGE_CODEPAGE).decode(&bytes).0.into_owned()
        };
        Some(text.trim_matches(['\0', ' ']).to_owned()).filter(|text| !text.is_empty())
    }

    /// A property of fixed length.
    fn number(&self, file: &mut File<'_>, property: u16) -> Option<u64> {
        let mut bytes = Vec::new();
        file.open_stream(format!("{}/{PROPERTIES}", self.path)).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
        // Each is the type, the property, flags and the value.
        let entries = bytes.get(self.header..)?.as_chunks::<16>().0;
        let entry = entries.iter().find(|entry| entry[2..4] == property.to_le_bytes())?;
        let (_, value) = entry.split_last_chunk()?;
        Some(u64::from_le_bytes(*value))
    }

    fn encoding(&self, file: &mut File<'_>, property: u16) -> &'static Encoding {
        let page = self.number(file, property).map(|value| value & 0xFFFF_FFFF);
        let label = match page {
            Some(65001) => "utf-8".to_owned(),
            Some(932) => "shift_jis".to_owned(),
            Some(936) => "gbk".to_owned(),
            Some(949) => "euc-kr".to_owned(),
            Some(950) => "big5".to_owned(),
            Some(20866) => "koi8-r".to_owned(),
            Some(page @ 28591..=28606) => format!("iso-8859-{}", page - 28590),
            Some(page) => format!("windows-{page}"),
            None => return WINDOWS_1252,
        };
        Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
    }
}

/// The storages in a message whose names begin so, in order.
fn children(file: &File<'_>, message: &Storage, beginning: &str) -> Vec<Storage> {
    let path = if message.path.is_empty() { "/" } else { &message.path };
    let Ok(entries) = file.read_storage(path) else { return Vec::new() };
    let names = entries.filter(|entry| entry.is_storage() && entry.name().starts_with(beginning));
    let mut paths: Vec<String> = names.map(|entry| format!("{}/{}", message.path, entry.name())).collect();
    paths.sort();
    paths.into_iter().map(|path| Storage { path, header: OTHER_HEADER }).collect()
}

/// An attachment: a file, or a message written as mail.
struct Attached {
    name: String,
    declared: Option<String>,
    content: Vec<u8>,
    /// The message, where it is one.
    message: Option<Storage>,
}

impl Attached {
    /// Reads an attachment; `None` for pictures in the text.
    fn read(file: &mut File<'_>, storage: &Storage) -> Option<Self> {
        if storage.number(file, property::ATTACHMENT_HIDDEN).is_some_and(|hidden| hidden & 1 == 1) {
            return None;
        }
        let names = [property::ATTACH_LONG_FILENAME, property::ATTACH_FILENAME, property::DISPLAY_NAME];
        let name = names.into_iter().find_map(|name| storage.text(file, name));
        let method = storage.number(file, property::ATTACH_METHOD).map(|method| method & 0xFFFF_FFFF);
        if method == Some(EMBEDDED_MESSAGE) {
            let path = format!("{}/__substg1.0_{:04X}000D", storage.path, property::ATTACH_DATA);
            let message = Storage { path, header: MESSAGE_HEADER };
            let name = message.text(file, property::SUBJECT).or(name).unwrap_or_else(|| "message".to_owned());
            let content = as_mail(file, &message);
            return Some(Self { name, declared: Some("message/rfc822".to_owned()), content, message: Some(message) });
        }
        let content = storage.bytes(file, property::ATTACH_DATA, BINARY).unwrap_or_default();
        let declared = storage.text(file, property::ATTACH_MIME_TAG);
        Some(Self { name: name.unwrap_or_default(), declared, content, message: None })
    }

    fn as_file(&self) -> AttachedFile<'_> {
        AttachedFile { name: &self.name, declared: self.declared.clone(), content: (&*self.content).into() }
    }

    /// Adds what is attached to it; `place` is its own, if it was added.
    fn add_inner(&self, file: &mut File<'_>, place: Option<Place>, attachments: &mut Attachments) {
        if let (Some(message), Some(place)) = (&self.message, place)
            && place.is_within_limit()
        {
            add_attachments(file, message, &place, attachments);
        }
    }
}

/// A message as mail, without its attachments.
fn as_mail(file: &mut File<'_>, message: &Storage) -> Vec<u8> {
    let mut lines = vec!["MIME-Version: 1.0".to_owned(), "Content-Transfer-Encoding: 8bit".to_owned()];
    let mut header = |name: &str, value: Option<String>| {
        let value = value.map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.extend(value.filter(|value| !value.is_empty()).map(|value| format!("{name}: {value}")));
    };
    header("Subject", message.text(file, property::SUBJECT));
    let address = [property::SENDER_SMTP_ADDRESS, property::SENDER_EMAIL_ADDRESS];
    header("From", person(file, message, property::SENDER_NAME, &address));
    let recipients = children(file, message, RECIPIENT);
    for (name, kind) in [("To", 1), ("Cc", 2)] {
        let mut people = Vec::new();
        for recipient in &recipients {
            if recipient.number(file, property::RECIPIENT_TYPE).is_some_and(|value| value & 0xF == kind) {
                let address = [property::SMTP_ADDRESS, property::EMAIL_ADDRESS];
                people.extend(person(file, recipient, property::DISPLAY_NAME, &address));
            }
        }
        header(name, Some(people.join(", ")));
    }
    let times = [property::MESSAGE_DELIVERY_TIME, property::CLIENT_SUBMIT_TIME];
    header("Date", times.into_iter().find_map(|time| message.number(file, time)).and_then(date));
    let (kind, body) = body(file, message);
    lines.push(format!("Content-Type: {kind}; charset=utf-8"));
    format!("{}\r\n\r\n{body}", lines.join("\r\n")).into_bytes()
}

/// A name and an address, as mail has them.
fn person(file: &mut File<'_>, storage: &Storage, name: u16, addresses: &[u16]) -> Option<String> {
    let plain = |text: String| text.replace(['"', '<', '>', '\\'], "");
    let name = storage.text(file, name).map(plain);
    // Others are names in the sender's own directory.
    let address = addresses.iter().find_map(|address| storage.text(file, *address).filter(|text| text.contains('@')));
    match (name, address.map(plain)) {
        (Some(name), Some(address)) if name != address => Some(format!("\"{name}\" <{address}>")),
        (_, Some(address)) => Some(format!("<{address}>")),
        (name, None) => name.map(|name| format!("\"{name}\"")),
    }
}

/// A time in tenths of a microsecond since 1601 as mail has it.
fn date(time: u64) -> Option<String> {
    let seconds = i64::try_from(time / 10_000_000).ok()? - SECONDS_TO_1970;
    (seconds > 0).then(|| DateTime::from_timestamp(seconds).to_rfc822())
}

/// The body of a message with its media type: the web page where there is one, for its headings and tables.
fn body(file: &mut File<'_>, message: &Storage) -> (&'static str, String) {
    if let Some(page) = message.bytes(file, property::HTML, BINARY) {
        let encoding = message.encoding(file, property::INTERNET_CODEPAGE);
        return ("text/html", encoding.decode(&page).0.into_owned());
    }
    if let Some(page) = message.text(file, property::HTML) {
        return ("text/html", page);
    }
    if let Some(text) = message.text(file, property::BODY) {
        return ("text/plain", text);
    }
    let rich = message.bytes(file, property::RTF_COMPRESSED, BINARY);
    ("text/plain", rich.and_then(|rich| text_of_rtf(&rich)).unwrap_or_default())
}

/// The text of compressed RTF (MS-OXRTFCP).
fn text_of_rtf(compressed: &[u8]) -> Option<String> {
    let (head, stored) = compressed.split_at_checked(RTF_HEADER)?;
    let size = usize::try_from(head.get(4..8)?.first_chunk().map(|size| u32::from_le_bytes(*size))?).ok()?;
    // The library trusts the size that the header names.
    let is_sound = if head.get(8..12) == Some(b"MELA") { size <= stored.len() } else { size <= MAX_TEXT_BYTES };
    if !is_sound || compressed.len() > MOST_COMPRESSED {
        return None;
    }
    let rich = compressed_rtf::decompress_rtf(compressed).ok()?;
    // It returns a character for each byte.
    let rich: Vec<u8> = rich.chars().filter_map(|byte| u8::try_from(byte).ok()).collect();
    let mut content = Content::default();
    converted::document(&rich, anydoc::Format::Rtf, &mut content).ok()?;
    Some(content.text)
}

#[cfg(test)]
mod tests;
