//! Reads one PDF file by one of several readers, and prints what came of it as a line of JSON: text, headings, seconds
//! (the best of several runs), peak of memory, error or panic.

use std::{env, fs, panic, process::ExitCode, time::Instant};

use pdf_inspector::{MarkdownOptions, PdfOptions, process_pdf_mem_with_options};
use serde_json::json;

const RUNS: usize = 3;

/// Text, and headings where the reader tells them apart from it.
type Reading = Result<(String, Option<Vec<String>>), String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [reader, path] = arguments.as_slice() else {
        eprintln!("usage: pdf-readers own|pdf-inspector|pdf-extract FILE");
        return ExitCode::FAILURE;
    };
    let read: fn(&[u8]) -> Reading = match reader.as_str() {
        "own" => own,
        "pdf-inspector" => inspector,
        "pdf-extract" => plain,
        _ => return ExitCode::FAILURE,
    };
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    };
    panic::set_hook(Box::new(|_| {}));
    let mut seconds = f64::INFINITY;
    let mut last = Ok(Err("not run".to_owned()));
    for _ in 0..RUNS {
        let start = Instant::now();
        last = panic::catch_unwind(|| read(&bytes));
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    let (text, headings, error) = match last {
        Ok(Ok((text, headings))) => (text, headings, None),
        Ok(Err(error)) => (String::new(), None, Some(error)),
        Err(_) => (String::new(), None, Some("panic".to_owned())),
    };
    println!("{}", json!({"text": text, "headings": headings, "seconds": seconds, "kilobytes": peak(), "error": error}));
    ExitCode::SUCCESS
}

fn own(bytes: &[u8]) -> Reading {
    let read = extract::extract(bytes, "application/pdf", None).map_err(|error| format!("{error:?}"))?;
    Ok((read.text, Some(read.headings.into_iter().map(|heading| heading.text).collect())))
}

fn inspector(bytes: &[u8]) -> Reading {
    let options = PdfOptions::new().markdown(MarkdownOptions {
        detect_bold: false,
        detect_italic: false,
        detect_underline: false,
        format_urls: false,
        include_links: false,
        strip_headers_footers: true,
        ..MarkdownOptions::default()
    });
    let read = process_pdf_mem_with_options(bytes, options).map_err(|error| error.to_string())?;
    Ok((read.markdown.unwrap_or_default(), None))
}

fn plain(bytes: &[u8]) -> Reading {
    pdf_extract::extract_text_from_mem(bytes).map(|text| (text, Some(Vec::new()))).map_err(|error| error.to_string())
}

/// Most memory that was in use, in kilobytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
