//! Mail (RFC 5322, MIME) and mailboxes of it: headers, body, and the names of the attachments, which are documents of
//! their own.

mod body;
mod calendar;

use std::{borrow::Cow, fmt::Write};

use mail_parser::{
    Address, Encoding, Message, MessageParser, MessagePart, MimeHeaders,
    decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode},
    mailbox::mbox::MessageIterator,
};

use super::{
    ExtractError,
    attachments::{AttachedFile, Attachments, Place},
    content::Content,
    decode::characters,
};

/// Names of headers; a text that begins with several of them, among them one of [`TELLING`], is a message.
const KNOWN: [&str; 13] = [
    "from",
    "to",
    "cc",
    "date",
    "subject",
    "message-id",
    "received",
    "return-path",
    "delivered-to",
    "mime-version",
    "content-type",
    "reply-to",
    "dkim-signature",
];
/// Headers that nothing but mail has.
const TELLING: [&str; 5] = ["message-id", "received", "return-path", "delivered-to", "mime-version"];
/// Number of header lines that must be known.
const KNOWN_LINES: usize = 3;
/// Bytes at the beginning that are looked at.
const BEGINNING: usize = 8 * 1024;

/// Whether a text begins like a message.
pub(super) fn looks_like_message(bytes: &[u8]) -> bool {
    let beginning = bytes.get(..BEGINNING).unwrap_or(bytes);
    let (mut known, mut is_telling) = (0, false);
    for line in beginning.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            break;
        }
        // The line before goes on.
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            continue;
        }
        let name = line.split(|byte| *byte == b':').next().filter(|name| name.len() < line.len());
        let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) else { return false };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        known += usize::from(KNOWN.contains(&name.as_str()));
        is_telling |= TELLING.contains(&name.as_str());
    }
    known >= KNOWN_LINES && is_telling
}

/// Whether a text begins like a mailbox (RFC 4155): a line that separates messages, and a message.
pub(super) fn looks_like_mailbox(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    bytes.starts_with(b"From ") && end.and_then(|end| bytes.get(end + 1..)).is_some_and(looks_like_message)
}

/// Adds a message.
pub(super) fn message(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let message = MessageParser::default().parse(bytes);
    let message = message.ok_or_else(|| ExtractError::malformed("message", "it has no headers"))?;
    content.name(message.subject().unwrap_or_default());
    write(&message, &Place::default(), content)
}

/// Adds the messages of a mailbox.
pub(super) fn mailbox(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let parser = MessageParser::default();
    for (number, entry) in (1..).zip(MessageIterator::new(bytes)) {
        let entry = entry.map_err(|error| ExtractError::malformed("mailbox", error))?;
        if let Some(message) = parser.parse(entry.contents()) {
            write(&message, &Place::default().numbered(number), content)?;
        }
    }
    Ok(())
}

/// Adds what is attached to a message that is attached itself.
pub(super) fn attachments_of_message(bytes: &[u8], place: &Place, attachments: &mut Attachments) {
    if let Some(message) = MessageParser::default().parse(bytes) {
        for file in message.attachments().filter_map(|part| file(&message, part)) {
            attachments.add(file, place);
        }
    }
}

/// Adds what is attached to the messages of a mailbox that is attached itself.
pub(super) fn attachments_of_mailbox(bytes: &[u8], place: &Place, attachments: &mut Attachments) {
    for (number, entry) in (1..).zip(MessageIterator::new(bytes)) {
        let Ok(entry) = entry else { return };
        attachments_of_message(entry.contents(), &place.numbered(number), attachments);
    }
}

fn write(message: &Message<'_>, place: &Place, content: &mut Content) -> Result<(), ExtractError> {
    content.heading(1, message.subject().filter(|subject| !subject.trim().is_empty()).unwrap_or("(no subject)"))?;
    content.block(&headers(message))?;
    body::write(message, content)?;
    for file in message.attachments().filter_map(|part| file(message, part)) {
        attach(file, place, content)?;
    }
    Ok(())
}

/// Adds an attachment, and its name to the text. Returns its own place if it is read.
pub(super) fn attach(
    file: AttachedFile<'_>,
    place: &Place,
    content: &mut Content,
) -> Result<Option<Place>, ExtractError> {
    let name = file.name.to_owned();
    let inner = content.attachments.add(file, place);
    let label = if inner.is_some() { "Attachment" } else { "Attachment that is not read" };
    content.block(&format!("{label}: {name}"))?;
    Ok(inner)
}

/// The headers that people read.
fn headers(message: &Message<'_>) -> String {
    let mut lines = String::new();
    for (name, addresses) in [("From", message.from()), ("To", message.to()), ("Cc", message.cc())] {
        if let Some(addresses) = addresses {
            let _ = writeln!(lines, "{name}: {}", people(addresses));
        }
    }
    if let Some(date) = message.date() {
        let _ = writeln!(lines, "Date: {}", date.to_rfc3339());
    }
    if let Some(subject) = answered(message) {
        let _ = writeln!(lines, "In reply to: {subject}");
    }
    lines
}

/// The subject of the message that one answers, as its headers say: the same without the sign before it.
fn answered<'a>(message: &'a Message<'_>) -> Option<&'a str> {
    let is_reply = [message.in_reply_to(), message.references()].iter().any(|header| !header.is_empty());
    message.thread_name().map(str::trim).filter(|subject| is_reply && !subject.is_empty())
}

fn people(addresses: &Address<'_>) -> String {
    let person = |address: &mail_parser::Addr<'_>| match (address.name(), address.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => String::new(),
    };
    addresses.iter().map(person).filter(|person| !person.is_empty()).collect::<Vec<_>>().join(", ")
}

/// An attachment that has a name. Others are pictures in the text.
fn file<'a>(message: &'a Message<'_>, part: &'a MessagePart<'_>) -> Option<AttachedFile<'a>> {
    let declared = part.content_type().map(|kind| match kind.subtype() {
        Some(subtype) => format!("{}/{subtype}", kind.ctype()),
        None => kind.ctype().to_owned(),
    });
    let name = match (part.attachment_name(), part.message()) {
        (Some(name), _) => name,
        (None, Some(message)) => message.subject().unwrap_or("message"),
        (None, None) => return None,
    };
    let content = misread(message, part).map_or(Cow::Borrowed(part.contents()), Cow::Owned);
    Some(AttachedFile { name, declared, content })
}

/// The text of a part, which may be in an encoding that it does not name.
fn decoded<'a>(message: &Message<'_>, part: &MessagePart<'_>, text: &'a str) -> Cow<'a, str> {
    let bytes = misread(message, part);
    bytes.and_then(|bytes| characters(&bytes, None).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The bytes of a part of text that names no encoding and was read as UTF-8, which it is not.
fn misread(message: &Message<'_>, part: &MessagePart<'_>) -> Option<Vec<u8>> {
    let text = part.text_contents()?;
    let names_encoding = part.content_type().is_some_and(|kind| kind.has_attribute("charset"));
    if names_encoding || !text.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    let place = usize::try_from(part.offset_body).ok()?..usize::try_from(part.offset_end).ok()?;
    let bytes = message.raw_message.get(place)?;
    match part.encoding {
        Encoding::None => Some(bytes.to_vec()),
        Encoding::QuotedPrintable => quoted_printable_decode(bytes),
        Encoding::Base64 => base64_decode(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: &str = "Received: by a\r\n\tb\r\nFrom: =?utf-8?q?J=C3=BCrg?= <j@example.org>\r\nTo: ann@example.org, Bob <bob@example.org>\r\nDate: Tue, 24 Nov 2026 10:00:00 +0100\r\nSubject: Leave\r\nMIME-Version: 1.0\r\n";

    fn read(rest: &str) -> Content {
        let mut content = Content::default();
        message(format!("{HEADERS}{rest}").as_bytes(), &mut content).expect("a message");
        content
    }

    const ABOVE: &str = "Leave\n\nFrom: Jürg <j@example.org>\nTo: ann@example.org, Bob <bob@example.org>\nDate: 2026-11-24T10:00:00+01:00\n\n";

    #[test]
    fn headers_and_body() {
        let content = read(
            "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=F6=DFe.\r\n",
        );
        assert_eq!(content.text, format!("{ABOVE}Größe."));
        assert_eq!((content.title.as_deref(), content.headings.len()), (Some("Leave"), 1));
        let content = read("Content-Type: text/html\r\n\r\n<title>x</title><h2>Rules</h2><p>28 days.</p>");
        assert_eq!(content.text, format!("{ABOVE}Rules\n\n28 days."));
        assert_eq!(content.title.as_deref(), Some("Leave"));
        let levels: Vec<u8> = content.headings.iter().map(|heading| heading.level).collect();
        assert_eq!(levels, [1, 3], "the headings of the page stand below the subject");
    }

    #[test]
    fn a_reply_names_what_it_answers() {
        let reply = "From: a@example.org\r\nDate: Wed, 25 Nov 2026 10:00:00 +0100\r\nSubject: AW: Re: Leave\r\nIn-Reply-To: <1@a>\r\n\r\n26 days.";
        let mut content = Content::default();
        message(reply.as_bytes(), &mut content).expect("a message");
        let expected =
            "AW: Re: Leave\n\nFrom: a@example.org\nDate: 2026-11-25T10:00:00+01:00\nIn reply to: Leave\n\n26 days.";
        assert_eq!(content.text, expected);
    }

    #[test]
    fn attachments_are_documents_of_their_own() {
        let content = read(
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n--c\r\nContent-Type: text/html\r\n\r\n<p>See below.</p>\r\n--c--\r\n\
             --b\r\nContent-Type: text/csv; name=staff.csv\r\nContent-Disposition: attachment; filename=staff.csv\r\n\r\nname,days\r\nAnn,28\r\n\
             --b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=page.html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGgxPlJ1bGVzPC9oMT48cD5Xb3Jkcy48L3A+\r\n\
             --b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=plan.png\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgoAAAANSUhEUg==\r\n\
             --b\r\nContent-Type: message/rfc822\r\n\r\nFrom: ann@example.org\r\nSubject: Earlier\r\n\r\nBefore.\r\n--b--\r\n",
        );
        let expected = "See below.\n\nAttachment: staff.csv\n\nAttachment: page.html\n\nAttachment that is not read: plan.png\n\nAttachment: Earlier";
        assert_eq!(content.text, format!("{ABOVE}{expected}"));
        let (found, unread) = content.attachments.finish();
        let found: Vec<(&str, &str, &str)> = found
            .iter()
            .map(|file| (&*file.name, &*file.media_type, std::str::from_utf8(&file.content).expect("text")))
            .collect();
        let earlier = "From: ann@example.org\r\nSubject: Earlier\r\n\r\nBefore.";
        let expected = [
            ("staff.csv", "text/csv", "name,days\r\nAnn,28"),
            ("page.html", "text/html", "<h1>Rules</h1><p>Words.</p>"),
            ("Earlier", "message/rfc822", earlier),
        ];
        assert_eq!(found, expected);
        assert_eq!(unread, ["plan.png (no_text_layer)"]);
    }

    /// The text of a message in two forms.
    fn read_both(plain: &str, page: &str) -> String {
        let part = |kind: &str, text: &str| format!("--c\r\nContent-Type: text/{kind}\r\n\r\n{text}\r\n");
        let parts = format!("{}{}--c--\r\n", part("plain", plain), part("html", page));
        let content = read(&format!("Content-Type: multipart/alternative; boundary=c\r\n\r\n{parts}"));
        content.text.strip_prefix(ABOVE).expect("headers").to_owned()
    }

    #[test]
    fn a_page_that_says_more_than_the_plain_part_is_read() {
        let page =
            "<p>Hello all,</p><table><tr><td>Oil</td><td>Ann</td></tr><tr><td>Chalk</td><td>Bob</td></tr></table>";
        let table = "Hello all,\n\n| Oil | Ann |\n| Chalk | Bob |";
        assert_eq!(read_both("Your program cannot show HTML.", page), table);
        assert_eq!(read_both("Hello all, (see the table in the page)", page), table);
        let plain = "Hello all, Ann has the oil, Bob the chalk.";
        assert_eq!(read_both(plain, page), plain);
        let quotes = "<p>Hello <b>all</b>.</p><p>Ann, Bob. View it online.</p>";
        assert_eq!(read_both("Hello all.\r\nAnn, Bob.", quotes), "Hello all.\nAnn, Bob.");
    }

    #[test]
    fn an_invitation_names_its_event() {
        let content = read(
            "Content-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain\r\n\r\nCome.\r\n--c\r\nContent-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VEVENT\r\nSUMMARY:Paint\r\nEND:VEVENT\r\n--c--\r\n",
        );
        assert_eq!(content.text, format!("{ABOVE}Come.\n\nEvent: Paint"));
    }

    #[test]
    fn text_that_names_no_encoding_is_decoded() {
        let part = "Content-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\nContent-Transfer-Encoding: base64\r\n\r\nUmF1bTttsy9oCkhhbGxlOzEyMAo=\r\n";
        let text =
            "Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=F6=DFe der T=FCr\r\n";
        let content =
            read(&format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n{text}--b\r\n{part}--b--\r\n"));
        assert!(content.text.contains("Größe der Tür"), "{}", content.text);
        let (found, _) = content.attachments.finish();
        assert_eq!(found.first().map(|file| file.content.as_slice()), Some(b"Raum;m\xb3/h\nHalle;120\n".as_slice()));
    }

    #[test]
    fn messages_in_messages_have_an_end() {
        let mut inner = "From: a@example.org\r\nSubject: 0\r\n\r\nWords.".to_owned();
        for level in 1..12 {
            inner = format!(
                "From: a@example.org\r\nSubject: {level}\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment; filename=m.eml\r\n\r\n{inner}"
            );
        }
        let mut content = Content::default();
        message(inner.as_bytes(), &mut content).expect("a message");
        assert_eq!(content.text, "11\n\nFrom: a@example.org\n\nAttachment: m.eml");
        let (found, unread) = content.attachments.finish();
        let names: Vec<&str> = found.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["m.eml", "m.eml/m.eml", "m.eml/m.eml/m.eml", "m.eml/m.eml/m.eml/m.eml"]);
        assert_eq!(unread, ["m.eml/m.eml/m.eml/m.eml (attachments in it are nested too deeply)"]);
    }

    #[test]
    fn a_message_of_nothing_but_attachments_has_an_end() {
        let part = "--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nWords.\r\n";
        let started = std::time::Instant::now();
        let content =
            read(&format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b--\r\n", part.repeat(20_000)));
        assert!(content.text.ends_with("Attachment that is not read: a.txt"));
        let (found, unread) = content.attachments.finish();
        assert_eq!((found.len(), unread.len()), (1_000, 101));
        assert_eq!(unread.last().map(String::as_str), Some("18900 more"));
        assert!(started.elapsed() < std::time::Duration::from_mins(1), "{:?}", started.elapsed());
    }

    #[test]
    fn a_mailbox_is_its_messages() {
        let bytes = "From a@example.org Tue Nov 24 10:00:00 2026\nFrom: a@example.org\nMessage-ID: <1@a>\nSubject: One\n\nFirst.\n>From here on.\n\nFrom b@example.org Tue Nov 24 11:00:00 2026\nFrom: b@example.org\nSubject: Two\n\nSecond.\n";
        let mut content = Content::default();
        mailbox(bytes.as_bytes(), &mut content).expect("a mailbox");
        assert_eq!(
            content.text,
            "One\n\nFrom: a@example.org\n\nFirst.\nFrom here on.\n\nTwo\n\nFrom: b@example.org\n\nSecond."
        );
        assert_eq!((content.title, content.headings.len()), (None, 2));
    }

    #[test]
    fn mail_is_known_by_its_headers() {
        assert!(looks_like_message(HEADERS.as_bytes()));
        assert!(looks_like_mailbox(format!("From a Tue\n{HEADERS}\nx").as_bytes()));
        for text in [
            "",
            "From: me\nTo: you\nSubject: a letter\n\nDear you",
            "key: value\nother: value\n",
            "From here on all is text.",
        ] {
            assert!(!looks_like_message(text.as_bytes()) && !looks_like_mailbox(text.as_bytes()), "{text}");
        }
    }
}
