use std::io::Write;

use super::*;
use crate::Cause;

/// A message under construction.
struct Draft(CompoundFile<Cursor<Vec<u8>>>);

impl Draft {
    fn new() -> Self {
        let mut draft = Self(CompoundFile::create(Cursor::new(Vec::new())).expect("in memory"));
        draft.numbers("", TOP_HEADER, &[(property::CLIENT_SUBMIT_TIME, 134_087_616_000_000_000)]);
        draft
    }

    fn stream(&mut self, path: &str, bytes: &[u8]) {
        let mut stream = self.0.create_stream(path).expect("a place");
        stream.write_all(bytes).expect("in memory");
    }

    fn text(&mut self, storage: &str, property: u16, text: &str) {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.stream(&format!("{storage}/__substg1.0_{property:04X}001F"), &bytes);
    }

    fn numbers(&mut self, storage: &str, header: usize, numbers: &[(u16, u64)]) {
        let mut bytes = vec![0; header];
        for (property, value) in numbers {
            bytes.extend([3, 0]);
            bytes.extend(property.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(value.to_le_bytes());
        }
        self.stream(&format!("{storage}/{PROPERTIES}"), &bytes);
    }

    fn recipient(&mut self, number: u8, kind: u64, name: &str, address: &str) {
        let storage = format!("/__recip_version1.0_#{number:08X}");
        self.0.create_storage(&storage).expect("a place");
        self.numbers(&storage, OTHER_HEADER, &[(property::RECIPIENT_TYPE, kind)]);
        self.text(&storage, property::DISPLAY_NAME, name);
        self.text(&storage, property::SMTP_ADDRESS, address);
    }

    fn attachment(&mut self, message: &str, number: u8, numbers: &[(u16, u64)]) -> String {
        let storage = format!("{message}/__attach_version1.0_#{number:08X}");
        self.0.create_storage(&storage).expect("a place");
        self.numbers(&storage, OTHER_HEADER, numbers);
        storage
    }

    fn file(&mut self, message: &str, number: u8, name: &str, content: &[u8]) {
        let storage = self.attachment(message, number, &[(property::ATTACH_METHOD, 1)]);
        self.text(&storage, property::ATTACH_LONG_FILENAME, name);
        self.stream(&format!("{storage}/__substg1.0_37010102"), content);
    }

    fn read(self) -> Content {
        let bytes = self.0.into_inner().into_inner();
        let mut content = Content::default();
        message(&bytes, &mut content).expect("a message");
        content
    }
}

#[test]
fn headers_and_body() {
    let mut draft = Draft::new();
    draft.text("", property::SUBJECT, "Urlaub für alle");
    draft.text("", property::SENDER_NAME, "Jürg \"J.\" Meier");
    draft.text("", property::SENDER_SMTP_ADDRESS, "j@example.org");
    draft.recipient(0, 1, "Ann", "ann@example.org");
    draft.recipient(1, 2, "Bob", "bob@example.org");
    draft.recipient(2, 1, "Mira", "mira@example.org");
    draft.text("", property::BODY, "Grüße.\r\n28 days.");
    let content = draft.read();
    assert_eq!(
        content.text,
        "Urlaub für alle\n\nFrom: Jürg J. Meier <j@example.org>\nTo: Ann <ann@example.org>, Mira <mira@example.org>\nCc: Bob <bob@example.org>\nDate: 2025-11-28T00:00:00Z\n\nGrüße.\n28 days."
    );
    assert_eq!(content.title.as_deref(), Some("Urlaub für alle"));
}

#[test]
fn bodies_in_other_forms() {
    let mut draft = Draft::new();
    draft.stream("/__substg1.0_1000001E", b"Gr\xFC\xDFe");
    assert!(draft.read().text.ends_with("Grüße"));
    let mut draft = Draft::new();
    draft.stream("/__substg1.0_10130102", b"<h2>Rules</h2><p>28 days.</p>");
    assert!(draft.read().text.ends_with("Rules\n\n28 days."));
    let rich = compressed_rtf::compress_rtf("{\\rtf1\\ansi 28 days of leave.\\par}").expect("compressed");
    let mut draft = Draft::new();
    draft.stream("/__substg1.0_10090102", &rich);
    assert!(draft.read().text.ends_with("28 days of leave."));
    let sizes = [b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFLZFu\0\0\0\0", b"\x0C\0\0\0\xFF\0\0\0MELA\0\0\0\0"];
    for damaged in [&rich[..10], &rich[..20], sizes[0], sizes[1]] {
        let mut draft = Draft::new();
        draft.text("", property::SUBJECT, "Leave");
        draft.stream("/__substg1.0_10090102", damaged);
        assert!(draft.read().text.starts_with("Leave"));
    }
}

/// Compressed RTF (MS-OXRTFCP) that says it is of `size` bytes, of a brace and `references` to it, each for 17 more.
fn nested_braces(references: usize, size: u32) -> Vec<u8> {
    // The dictionary that every message has ends at 207. A reference to where the next byte is written ends the text.
    let places = (0..references).map(|number| 207 + 17 * number).chain([208 + 17 * references]);
    let mut content = vec![0b1111_1110, b'{'];
    for (number, place) in (1..).zip(places) {
        if number % 8 == 0 {
            content.push(0xFF);
        }
        content.extend((u16::try_from(place % 4096).expect("below 4096") << 4 | 15).to_be_bytes());
    }
    let turn = |sum: u32, _: u32| if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
    let sum = content.iter().fold(0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), turn));
    let length = u32::try_from(content.len() + 12).expect("fits");
    [length.to_le_bytes().as_slice(), &size.to_le_bytes(), b"LZFu", &sum.to_le_bytes(), &content].concat()
}

#[test]
fn compressed_rtf_that_unpacks_hugely_is_left_out() {
    let few = compressed_rtf::decompress_rtf(&nested_braces(20, 341)).expect("sound");
    assert_eq!(few, "{".repeat(341));
    for (references, size) in [(1_000_000, 17_000_001), (3_000_000, 17)] {
        let mut draft = Draft::new();
        draft.text("", property::SUBJECT, "Leave");
        draft.stream("/__substg1.0_10090102", &nested_braces(references, size));
        assert_eq!(draft.read().text, "Leave\n\nDate: 2025-11-28T00:00:00Z");
    }
}

#[test]
fn damaged_files_are_malformed() {
    let mut draft = Draft::new();
    draft.text("", property::SUBJECT, "Leave");
    let bytes = draft.0.into_inner().into_inner();
    let mut other = CompoundFile::create(Cursor::new(Vec::new())).expect("in memory");
    other.create_stream("/Other").expect("a place");
    for (bytes, word) in [(&bytes[..600], "damaged"), (&other.into_inner().into_inner(), "no properties")] {
        let error = message(bytes, &mut Content::default()).expect_err("no message");
        assert!(error.cause == Cause::Malformed && error.message.contains(word), "{error:?}");
    }
}

#[test]
fn attachments_are_files_and_messages() {
    let mut draft = Draft::new();
    draft.text("", property::SUBJECT, "Leave");
    draft.file("", 0, "staff.csv", b"name,days\nAnn,28\n");
    draft.file("", 1, "plan.bin", b"\0\x01\x02");
    let hidden = draft.attachment("", 2, &[(property::ATTACH_METHOD, 1), (property::ATTACHMENT_HIDDEN, 1)]);
    draft.text(&hidden, property::ATTACH_LONG_FILENAME, "logo.png");
    let attached = draft.attachment("", 3, &[(property::ATTACH_METHOD, EMBEDDED_MESSAGE)]);
    let inner = format!("{attached}/__substg1.0_3701000D");
    draft.0.create_storage(&inner).expect("a place");
    draft.numbers(&inner, MESSAGE_HEADER, &[]);
    draft.text(&inner, property::SUBJECT, "Earlier");
    draft.text(&inner, property::BODY, "Before.");
    draft.file(&inner, 0, "rules.md", b"# Rules");
    let content = draft.read();
    assert!(
        content.text.ends_with("Attachment: staff.csv\n\nAttachment that is not read: plan.bin\n\nAttachment: Earlier"),
        "{}",
        content.text
    );
    let (found, unread) = content.attachments.finish();
    let names: Vec<(&str, &str)> = found.iter().map(|file| (&*file.name, &*file.media_type)).collect();
    let expected = [("staff.csv", "text/csv"), ("Earlier", "message/rfc822"), ("Earlier/rules.md", "text/markdown")];
    assert_eq!(names, expected);
    assert_eq!(unread, ["plan.bin (binary)"]);
    let earlier = found.iter().find(|file| file.name == "Earlier").expect("the message");
    let mut content = Content::default();
    mail::message(&earlier.content, &mut content).expect("mail");
    assert_eq!(content.text, "Earlier\n\nBefore.");
}
