//! Files that are meant to break the service, which are made here because they would be large: each fails alone, with the
//! cause that it should.

use std::{io::Write, time::Duration};

use serde_json::json;
use zip::{ZipWriter, write::SimpleFileOptions};

use super::corpus::{app, document, file, upload};
use crate::scripted::ModelServer;

/// A document whose text is one part of an archive.
fn packed(part: &str, fill: impl FnOnce(&mut dyn Write)) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file(part, SimpleFileOptions::default().large_file(true)).expect("a part");
    fill(&mut writer);
    writer.finish().expect("in memory").into_inner()
}

/// A PDF of these objects, from number 1 on; the first is the catalogue.
fn pdf(objects: &[String]) -> Vec<u8> {
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        write!(file, "{} 0 obj\n{object}\nendobj\n", number + 1).expect("in memory");
    }
    let table = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).expect("in memory");
    for place in places {
        writeln!(file, "{place:010} 00000 n ").expect("in memory");
    }
    write!(file, "trailer <</Size {} /Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1)
        .expect("in memory");
    file
}

fn stream(dictionary: &str, content: &str) -> String {
    format!("<<{dictionary} /Length {}>>\nstream\n{content}\nendstream", content.len())
}

fn many_pages(count: usize) -> Vec<u8> {
    let kids: Vec<String> = (0..count).map(|page| format!("{} 0 R", page + 5)).collect();
    let mut objects = vec![
        "<</Type /Catalog /Pages 2 0 R>>".to_owned(),
        format!("<</Type /Pages /Count {count} /Kids [{}]>>", kids.join(" ")),
        "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>".to_owned(),
        stream("", "BT /F 12 Tf 72 720 Td (Words on a page.) Tj ET"),
    ];
    objects.extend((0..count).map(|_| {
        "<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources <</Font <</F 3 0 R>>>>>>"
            .to_owned()
    }));
    pdf(&objects)
}

/// A page that draws a form that draws the next one eight times, and so on: billions of letters in a few lines.
fn endless() -> Vec<u8> {
    let mut objects = vec![
        "<</Type /Catalog /Pages 2 0 R>>".to_owned(),
        "<</Type /Pages /Count 1 /Kids [3 0 R]>>".to_owned(),
        "<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources <</XObject <</X 6 0 R>>>>>>"
            .to_owned(),
        stream("", &"/X Do ".repeat(8)),
        "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>".to_owned(),
    ];
    for next in 7..17 {
        objects.push(stream(
            &format!("/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources <</XObject <</X {next} 0 R>>>>"),
            &"/X Do ".repeat(8),
        ));
    }
    objects.push(stream("/Type /XObject /Subtype /Form /BBox [0 0 595 842]", &"0 0 m 1 1 l S ".repeat(100)));
    pdf(&objects)
}

#[tokio::test]
async fn what_is_meant_to_break_the_service_fails_alone() {
    let server = ModelServer::start().await;
    let app = app(&server, &[("CITED_EXTRACT_TIMEOUT_S", "3")]).await;
    let bomb = packed("word/document.xml", |part| {
        let spaces = vec![b' '; 1024 * 1024];
        (0..300).for_each(|_| part.write_all(&spaces).expect("in memory"));
    });
    assert!(bomb.len() < 1024 * 1024);
    let spaces = vec![b' '; 65 * 1024 * 1024];
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    compressed.write_all(&spaces).expect("in memory");
    let compressed = compressed.finish().expect("in memory");
    let deep =
        packed("word/document.xml", |part| (0..2_000_000).for_each(|_| part.write_all(b"<w:p>").expect("in memory")));
    let endless_line = "words and no end ".repeat(34 * 1024 * 1024 / 16).into_bytes();
    let hostile = [
        ("bomb.docx", bomb, "too_large"),
        ("bomb.txt.gz", compressed, "too_large"),
        ("deep.docx", deep, "malformed"),
        ("pages.pdf", many_pages(10_000), "too_large"),
        ("endless.pdf", endless(), "timed_out"),
        ("line.txt", endless_line, "too_large"),
    ];
    let mut files: Vec<(String, Vec<u8>)> =
        hostile.iter().map(|(name, bytes, _)| ((*name).to_owned(), bytes.clone())).collect();
    files.push(("leave.docx".to_owned(), file("leave.docx")));
    let started = std::time::Instant::now();
    let items = upload(&app, files).await;
    assert!(started.elapsed() < Duration::from_mins(2));
    for (name, _, cause) in hostile {
        assert_eq!(
            (&items[name]["state"], &items[name]["cause"]),
            (&json!("failed"), &json!(cause)),
            "{}",
            items[name]
        );
    }
    assert_eq!(items["leave.docx"]["state"], "succeeded");
    app.get("/readyz").await;
    app.stop().await;
}

/// An `OpenDocument` file whose body is written piece by piece.
fn open_document(kind: &str, element: &str, fill: impl FnOnce(&mut dyn Write)) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.start_file("mimetype", SimpleFileOptions::default()).expect("a part");
    write!(writer, "application/vnd.oasis.opendocument.{kind}").expect("in memory");
    writer.start_file("META-INF/manifest.xml", SimpleFileOptions::default()).expect("a part");
    writer.write_all(b"<manifest/>").expect("in memory");
    writer.start_file("content.xml", SimpleFileOptions::default()).expect("a part");
    let spaces = ["office:office", "text:text", "table:table"].map(|name| {
        let (prefix, name) = name.split_once(':').expect("two names");
        format!("xmlns:{prefix}='urn:oasis:names:tc:opendocument:xmlns:{name}:1.0'")
    });
    let spaces = spaces.join(" ");
    write!(writer, "<office:document-content {spaces}><office:body><office:{element}>").expect("in memory");
    fill(&mut writer);
    write!(writer, "</office:{element}></office:body></office:document-content>").expect("in memory");
    writer.finish().expect("in memory").into_inner()
}

/// A table of one cell, repeated over a whole sheet.
fn repeated_cell(part: &mut dyn Write) {
    let cell = "<table:table-cell table:number-columns-repeated='16384' office:value-type='string'><text:p>Words</text:p></table:table-cell>";
    write!(part, "<table:table table:name='Sheet'><table:table-row table:number-rows-repeated='1048576'>{cell}</table:table-row></table:table>")
        .expect("in memory");
}

/// Lists in lists.
fn nested_lists(part: &mut dyn Write) {
    const DEPTH: usize = 100_000;
    (0..DEPTH).for_each(|_| part.write_all(b"<text:list><text:list-item>").expect("in memory"));
    part.write_all(b"<text:p>Words</text:p>").expect("in memory");
    (0..DEPTH).for_each(|_| part.write_all(b"</text:list-item></text:list>").expect("in memory"));
}

#[tokio::test]
async fn bombs_in_formats_of_offices_and_mail_fail_alone() {
    let server = ModelServer::start().await;
    let app = app(&server, &[]).await;
    let zeros = vec![0; 1024 * 1024];
    let sheets = packed("xl/workbook.bin", |part| {
        (0..300).for_each(|_| part.write_all(&zeros).expect("in memory"));
    });
    let braces = format!("{{\\rtf1 {}Words", "{".repeat(100_000)).into_bytes();
    let hostile = [
        ("cells.odt", open_document("text", "text", repeated_cell), "too_large"),
        ("cells.ods", open_document("spreadsheet", "spreadsheet", repeated_cell), "too_large"),
        ("lists.odt", open_document("text", "text", nested_lists), "too_large"),
        ("sheets.xlsb", sheets, "too_large"),
    ];
    let files = hostile.iter().map(|(name, bytes, _)| ((*name).to_owned(), bytes.clone()));
    let items = upload(
        &app,
        files.chain([("leave.docx".to_owned(), file("leave.docx")), ("braces.rtf".to_owned(), braces)]).collect(),
    )
    .await;
    for (name, bytes, cause) in &hostile {
        assert!(bytes.len() < 1024 * 1024, "{name}");
        assert_eq!(items[*name]["cause"], json!(cause), "{}", items[*name]);
    }
    for name in ["leave.docx", "braces.rtf"] {
        assert_eq!(items[name]["state"], "succeeded", "{}", items[name]);
    }
    app.stop().await;
}

/// A message whose parts lie within each other this deep.
fn nested_parts(depth: usize) -> String {
    let parts: String =
        (0..depth).map(|part| format!("Content-Type: multipart/mixed; boundary=\"{part}\"\n\n--{part}\n")).collect();
    format!("{MAIL}{parts}Content-Type: text/plain\n\nWords within.\n")
}

/// A message with so many attachments.
fn attachments(count: usize) -> String {
    let attached: String = (0..count)
        .map(|number| format!("--b\nContent-Disposition: attachment; filename=a{number}.txt\n\nw\n"))
        .collect();
    format!(
        "{MAIL}Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nWords.\n{attached}--b--\n"
    )
}

const MAIL: &str = "From: a@example.org\nSubject: Leave\nMIME-Version: 1.0\n";

#[tokio::test]
async fn mail_without_end_is_read_in_bounds() {
    let server = ModelServer::start().await;
    let app = app(&server, &[]).await;
    let letter = "From a Tue Nov 24 11:00:00 2026\nSubject: Leave\n\nWords.\n\n";
    let headers: String = (0..100_000).map(|number| format!("X-{number}: v\n")).collect();
    let files = [
        ("parts.eml", nested_parts(20_000)),
        (
            "messages.eml",
            format!("{}{MAIL}\nInnermost.\n", format!("{MAIL}Content-Type: message/rfc822\n\n").repeat(5_000)),
        ),
        ("headers.eml", format!("{MAIL}{headers}\nWords.\n")),
        ("letters.mbox", letter.repeat(5_000)),
        ("attachments.eml", attachments(1_200)),
    ];
    let files: Vec<_> = files.map(|(name, text)| (name.to_owned(), text.into_bytes())).into();
    let items = upload(&app, files.clone()).await;
    for (name, _) in &files {
        assert_eq!(items[name]["state"], "succeeded", "{}", items[name]);
    }
    let found = |message: &str| items.keys().filter(|name| name.starts_with(message)).count() - 1;
    assert_eq!((found("messages.eml"), found("attachments.eml")), (4, 1_000), "within each other; at once");
    let text = document(&app, &items["attachments.eml"]).await.1;
    assert!(text.contains("a1199.txt"), "those that are left out are named: {text}");
    app.stop().await;
}

#[tokio::test]
async fn lists_in_lists_of_markdown_are_read() {
    let server = ModelServer::start().await;
    let app = app(&server, &[]).await;
    let files = [
        ("lists.md", format!("{}words\n", "- ".repeat(60_000))),
        ("quotes.md", format!("{}words\n", ">".repeat(60_000))),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.into_bytes()));
    let items = upload(&app, files.to_vec()).await;
    for (name, _) in &files {
        assert_eq!(items[name]["state"], "succeeded", "{}", items[name]);
    }
    app.stop().await;
}

#[tokio::test]
async fn the_deepest_page_is_read_as_a_browser_does() {
    let server = ModelServer::start().await;
    let app = app(&server, &[]).await;
    let page = format!("<html>{}words", "<table><tr><td><b>".repeat(60_000)).into_bytes();
    let items = upload(&app, vec![("deep.html".to_owned(), page)]).await;
    assert_eq!(items["deep.html"]["state"], "succeeded", "{items:?}");
    assert_eq!(document(&app, &items["deep.html"]).await.1, "words");
    app.stop().await;
}

#[tokio::test]
async fn a_child_keeps_within_its_memory() {
    let server = ModelServer::start().await;
    let app = app(&server, &[("CITED_EXTRACT_MEMORY_MIB", "256")]).await;
    // A page of millions of elements takes far more memory than bytes.
    let page = format!("<html>{}", "<i>a</i>".repeat(2_000_000)).into_bytes();
    let items = upload(&app, vec![("elements.html".to_owned(), page)]).await;
    assert_eq!(items["elements.html"]["cause"], "too_large", "{items:?}");
    assert!(items["elements.html"]["message"].as_str().is_some_and(|message| message.contains("256 MiB")), "{items:?}");
    app.stop().await;
}
