//! The child process that reads one document (`service/ingest/extraction.rs` starts it): confines itself,
//! receives bytes, returns text.

use std::io::{Read, Write};

use anyhow::{Context as _, bail};
use nix::sys::resource::{Resource, setrlimit};

use super::recognise::RecognitionArguments;
use crate::extract;

/// Stack size of the thread that reads. Parsers recurse; a document that overflows even this stack is hostile.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// Limits and hints from the parent process.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Media type that the document is said to have.
    #[arg(long)]
    media_type: String,
    /// Memory limit.
    #[arg(long)]
    memory_mib: u64,
    /// CPU time limit.
    #[arg(long)]
    seconds: u64,
    /// Refuse to read when the system lacks a lock.
    #[arg(long)]
    locks_required: bool,
    /// Read nothing; write as JSON which locks hold.
    #[arg(long)]
    locks_only: bool,
    #[command(flatten)]
    recognition: RecognitionArguments,
}

/// Reads a document from standard input and writes the outcome to standard output as JSON.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    limit(arguments)?;
    let locks = confine::confine(arguments.recognition.program());
    if arguments.locks_only {
        println!("{}", serde_json::to_string(&locks)?);
        return Ok(());
    }
    if arguments.locks_required
        && let Some((lock, missing)) = locks.iter().find_map(|lock| Some((&lock.name, lock.missing.as_ref()?)))
    {
        bail!("the lock {lock} is missing: {missing}");
    }
    let mut content = Vec::new();
    std::io::stdin().read_to_end(&mut content).context("the document did not arrive")?;
    let media_type = arguments.media_type.clone();
    let tesseract = arguments.recognition.tesseract();
    let read = move || {
        let recogniser = tesseract.as_ref().map(|tesseract| tesseract as &dyn extract::Recognise);
        extract::extract(&content, &media_type, recogniser)
    };
    let reader = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(read)?;
    let outcome = reader.join().map_err(|_| anyhow::anyhow!("the reader panicked"))?;
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    serde_json::to_writer(&mut output, &outcome)?;
    output.flush()?;
    Ok(())
}

/// Limits this process permanently. Memory is limited by address space, which not every system supports.
fn limit(arguments: &Arguments) -> anyhow::Result<()> {
    let memory = arguments.memory_mib.saturating_mul(1024 * 1024).saturating_add(mapped_bytes());
    let limited = setrlimit(Resource::RLIMIT_AS, memory, memory);
    if cfg!(target_os = "linux") {
        limited.context("memory could not be limited")?;
    }
    setrlimit(Resource::RLIMIT_CPU, arguments.seconds, arguments.seconds.saturating_add(1))
        .context("time could not be limited")?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0).context("core dumps could not be switched off")?;
    // Nothing may be written to a file, regardless of what a library attempts.
    setrlimit(Resource::RLIMIT_FSIZE, 0, 0).context("files could not be forbidden")
}

/// Address space in use, where the system tells (Linux, proc(5)); 0 elsewhere.
fn mapped_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB"));
    size.and_then(|kibibytes| kibibytes.trim().parse::<u64>().ok())
        .map_or(0, |kibibytes| kibibytes.saturating_mul(1024))
}
