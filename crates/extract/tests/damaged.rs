//! The files of the corpus, damaged: each is read as far as it goes or refused with a cause, and nothing panics.
//!
//! The fuzz targets of `tools/fuzz` look deeper, and need a nightly compiler; this needs nothing.

#![expect(clippy::indexing_slicing, reason = "a test may stop on what it did not expect")]

use std::{
    fs,
    io::{Cursor, Read, Write},
    path::Path,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use cfb::CompoundFile;
use extract::{MediaType, extract};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

use self::properties::assert_sound;

mod properties;

/// Seconds that each file is damaged again and again; without it, each is damaged [`ROUNDS`] times.
const SECONDS: &str = "CITED_TEST_DAMAGE_SECONDS";
/// Ends of the names of the files that are damaged, parted by commas; without it, all are.
const FILES: &str = "CITED_TEST_DAMAGE_FILES";
const ROUNDS: u64 = 12;

/// Files above this size, in bytes, say nothing that smaller ones do not.
const LARGEST: usize = 50_000;
/// Longest time that one file may take. The processor may be shared with other tests.
const PATIENCE: Duration = Duration::from_mins(2);

/// Stack of the thread that reads, in bytes: as large as that of the service.
const STACK: usize = 32 * 1024 * 1024;

/// A sequence of numbers that look random (xorshift), the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).expect("fits")).expect("fits")
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }
}

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/files");
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable"));
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("readable")))
        .collect();
    files.sort();
    files
}

/// Reads a file and checks what comes of it.
fn check(name: &str, bytes: &[u8]) {
    let (sender, receiver) = mpsc::channel();
    let (copy, media_type) = (bytes.to_vec(), MediaType::choose(name, None));
    // It is left behind if it does not end.
    let read = move || drop(sender.send(extract(&copy, &media_type, None)));
    thread::Builder::new().stack_size(STACK).spawn(read).expect("a thread");
    let outcome = receiver.recv_timeout(PATIENCE).unwrap_or_else(|reason| {
        let kept = std::env::temp_dir().join(format!("damaged-{name}"));
        fs::write(&kept, bytes).expect("written");
        panic!("{} panics its reader, or does not end ({reason})", kept.display());
    });
    if let Ok(extracted) = outcome {
        assert_sound(&extracted);
    }
}

/// Damages bytes in a few places.
fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    const TELLING: [&[u8]; 8] =
        [&[0xFF; 4], &[0xFF, 0xFF, 0xFF, 0x7F], &[0; 4], &[0x80], b"<", b"{", b"\\", b"999999999"];
    for _ in 0..=numbers.below(4) {
        let (from, length) = (numbers.below(bytes.len()), numbers.below(64));
        let to = (from + length).min(bytes.len());
        match numbers.below(6) {
            0 => bytes.truncate(from),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let piece = bytes[from..to].to_vec();
                let place = numbers.below(bytes.len());
                bytes.splice(place..place, piece);
            }
            3 => {
                let telling = TELLING[numbers.below(TELLING.len())];
                let to = (from + telling.len()).min(bytes.len());
                bytes.splice(from..to, telling.iter().copied());
            }
            _ => {
                let byte = numbers.byte();
                bytes.get_mut(from).into_iter().for_each(|place| *place ^= byte);
            }
        }
    }
}

/// Parts of an archive or streams of a compound file, each with its name; none of another file.
fn parts(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let streams = streams(bytes);
    if streams.is_empty() { archived(bytes) } else { streams }
}

fn streams(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let Ok(mut file) = CompoundFile::open(Cursor::new(bytes)) else { return Vec::new() };
    let names: Vec<_> = file.walk().filter(cfb::Entry::is_stream).map(|entry| entry.path().to_path_buf()).collect();
    let mut read = |name: &Path| {
        let mut content = Vec::new();
        file.open_stream(name).expect("a stream").read_to_end(&mut content).expect("in memory");
        (name.to_string_lossy().into_owned(), content)
    };
    names.iter().map(|name| read(name)).collect()
}

fn archived(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return Vec::new() };
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let Ok(mut part) = archive.by_index(index) else { continue };
        let mut content = Vec::new();
        part.read_to_end(&mut content).expect("in memory");
        parts.push((part.name().expect("a name").into_owned(), content));
    }
    parts
}

/// The compound file with these streams, where names are paths, or the archive of these parts.
fn packed(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    if parts.iter().all(|(name, _)| name.starts_with('/')) {
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).expect("in memory");
        for (name, content) in parts {
            file.create_storage_all(Path::new(name).parent().expect("a path")).expect("a storage");
            file.create_stream(name).expect("new").write_all(content).expect("in memory");
        }
        return file.into_inner().into_inner();
    }
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        archive
            .start_file(name, SimpleFileOptions::default().compression_method(CompressionMethod::Stored))
            .expect("new");
        archive.write_all(content).expect("in memory");
    }
    archive.finish().expect("in memory").into_inner()
}

#[test]
fn damaged_files_are_read_or_refused() {
    let setting = |name: &str| std::env::var_os(name).and_then(|text| text.into_string().ok());
    let seconds: Option<u64> = setting(SECONDS).map(|seconds| seconds.parse().expect("a number of seconds"));
    let chosen = setting(FILES);
    for (name, bytes) in corpus() {
        let is_chosen = chosen.as_ref().is_none_or(|ends| ends.split(',').any(|end| name.ends_with(end)));
        if bytes.len() > LARGEST || bytes.is_empty() || !is_chosen {
            continue;
        }
        let parts = parts(&bytes);
        let started = Instant::now();
        let (mut round, mut slowest) = (0, Duration::ZERO);
        while seconds.map_or(round < ROUNDS, |seconds| started.elapsed() < Duration::from_secs(seconds)) {
            round += 1;
            let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ round);
            let mut damaged = bytes.clone();
            if parts.is_empty() || numbers.below(4) == 0 {
                damage(&mut damaged, &mut numbers);
            } else {
                let mut parts = parts.clone();
                let chosen = numbers.below(parts.len());
                damage(&mut parts[chosen].1, &mut numbers);
                damaged = packed(&parts);
            }
            let begun = Instant::now();
            check(&name, &damaged);
            slowest = slowest.max(begun.elapsed());
        }
        if seconds.is_some() {
            eprintln!("{name}: {round} times, the slowest in {slowest:?}");
        }
    }
}

#[test]
fn sizes_in_compound_files_may_be_wrong() {
    for (name, bytes) in corpus() {
        if !["doc", "ppt", "xls", "msg"].iter().any(|extension| name.ends_with(&format!(".{extension}"))) {
            continue;
        }
        let words = bytes.chunks_exact(4).enumerate().filter(|(_, word)| word.iter().any(|byte| *byte != 0));
        for (number, _) in words {
            for wrong in [u32::MAX - 6, 0x7FFF_FFFF] {
                let mut damaged = bytes.clone();
                damaged[number * 4..][..4].copy_from_slice(&wrong.to_le_bytes());
                check(&name, &damaged);
            }
        }
    }
}
