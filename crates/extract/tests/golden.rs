//! The whole reading of every file of the corpus: text, headings, pages, tables and attachments, each compared with the
//! file of its name in `tests/corpus/golden`.

use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use domain::{
    job::ReadingNotes,
    split::{Outline, SplitterKind, headings_of_markdown},
};
use extract::{Attachment, Extracted, MediaType, extract};

/// Set to anything, it has the golden files written anew; their differences are to be read before they are committed.
const REWRITE: &str = "CITED_TEST_REWRITE_GOLDEN";

/// Longest line that is kept whole, in bytes. Of longer ones the beginning is kept, their length, and a checksum.
const LONGEST_LINE: usize = 1_000;
const BEGINNING: usize = 100;

/// Name of the file with the causes of all files that are not read.
const UNREADABLE: &str = "unreadable.txt";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// The files of a folder.
fn files(folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(corpus().join(folder)).expect("a folder").map(|entry| entry.expect("readable"));
    let file = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("readable"))
    };
    entries.map(file).collect()
}

/// The reading of every file, and the causes of those that are not read, by the name of the golden file.
fn readings() -> BTreeMap<String, String> {
    let mut readings = BTreeMap::new();
    let mut unreadable = String::new();
    for (name, bytes) in files("files") {
        match extract(&bytes, &MediaType::choose(&name, None), None) {
            Ok(extracted) => {
                readings.insert(format!("{name}.txt"), reading(&extracted));
            }
            Err(error) => writeln!(unreadable, "{name}\n  {}: {}", error.cause.as_str(), error.message).expect("text"),
        }
    }
    readings.insert(UNREADABLE.to_owned(), unreadable);
    readings
}

/// All that is read of a document. Lines that begin with `@` say what the lines of text below them are.
fn reading(extracted: &Extracted) -> String {
    let Extracted { text, title, media_type, splitter, headings, pages, notes, attachments } = extracted;
    let mut reading = format!("@media type: {media_type}\n@title: {}\n", title.as_deref().unwrap_or("none"));
    writeln!(reading, "@splitter: {splitter:?}").expect("text");
    let headings = if *splitter == SplitterKind::Markdown { headings_of_markdown(text) } else { headings.clone() };
    for heading in &headings {
        writeln!(reading, "@heading of level {}: {}", heading.level, heading.text).expect("text");
    }
    if pages.count() > 0 {
        writeln!(reading, "@pages: {}", pages.count()).expect("text");
    }
    if *notes != ReadingNotes::default() {
        writeln!(reading, "@notes: {notes:?}").expect("text");
    }
    let outline = match splitter {
        SplitterKind::Markdown | SplitterKind::Code => Outline::of(*splitter, text),
        _ => Outline::from_headings(text, headings),
    };
    let (mut page, mut path) = (None, Vec::new());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            let begin = start + line.len() - line.trim_start().len();
            let (new_page, new_path) = (pages.page_at(begin), outline.path_at(begin));
            if new_page != page {
                writeln!(reading, "@page {}", new_page.unwrap_or_default()).expect("text");
            }
            if new_path != path {
                writeln!(reading, "@below: {}", new_path.join(" › ")).expect("text");
            }
            (page, path) = (new_page, new_path);
        }
        writeln!(reading, "{}", shown(line.strip_suffix('\n').unwrap_or(line))).expect("text");
        start += line.len();
    }
    for attachment in attachments {
        attach(attachment, &mut reading);
    }
    reading
}

fn shown(line: &str) -> String {
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let beginning: String = line.chars().take(BEGINNING).collect();
    let mut sum = flate2::Crc::new();
    sum.update(line.as_bytes());
    format!("{beginning}… ({} bytes, CRC-32 {:08x})", line.len(), sum.sum())
}

/// Adds an attachment and its own reading.
fn attach(attachment: &Attachment, reading: &mut String) {
    let Attachment { name, media_type, content } = attachment;
    writeln!(reading, "\n@attachment {name} ({media_type}, {} bytes)", content.len()).expect("text");
    match extract(content, media_type, None) {
        Ok(extracted) => reading.push_str(&self::reading(&extracted)),
        Err(error) => writeln!(reading, "@not read: {}", error.cause.as_str()).expect("text"),
    }
}

/// The first line that two texts differ in, with its number.
fn difference(golden: &str, now: &str) -> Option<String> {
    if golden == now {
        return None;
    }
    let lines = golden.lines().count().max(now.lines().count()) + 1;
    let (mut golden, mut now) = (golden.lines(), now.lines());
    let mut compared = (1..=lines).map(|number: usize| (number, golden.next(), now.next()));
    let differing = compared.find(|(_, was, is)| was != is || was.is_none());
    differing.map(|(number, was, is)| {
        format!("line {number}\n    was: {}\n    is:  {}", was.unwrap_or("(no line)"), is.unwrap_or("(no line)"))
    })
}

#[test]
fn every_file_is_read_as_its_golden_file_says() {
    let readings = readings();
    let golden = corpus().join("golden");
    if std::env::var_os(REWRITE).is_some() {
        for name in files("golden").into_keys().filter(|name| !readings.contains_key(name)) {
            fs::remove_file(golden.join(name)).expect("removable");
        }
        for (name, reading) in &readings {
            fs::write(golden.join(name), reading).expect("writable");
        }
        return;
    }
    let stored = files("golden");
    let mut different = String::new();
    for (name, reading) in &readings {
        let stored = stored.get(name).map(|bytes| String::from_utf8_lossy(bytes)).unwrap_or_default();
        if let Some(difference) = difference(&stored, reading) {
            writeln!(different, "  {name}: {difference}").expect("text");
        }
    }
    for name in stored.keys().filter(|name| !readings.contains_key(*name)) {
        writeln!(different, "  {name}: its file is not in the corpus, or is not read").expect("text");
    }
    assert!(
        different.is_empty(),
        "files are read otherwise than tests/corpus/golden says:\n{different}if that is meant, run this test with \
         {REWRITE}=1 and read what has changed"
    );
}
