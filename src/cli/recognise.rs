//! Text recognition (OCR) by `tesseract`, for the process that reads one document. The program has the same limits of
//! memory and processor time, writes no files, and gets a picture and nothing else.

use std::{
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use crate::extract::{MAX_TEXT_BYTES, Recognise};

/// Delay between two looks at whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// The recognition of text in pictures, from the parent process.
#[derive(Debug, clap::Args)]
pub(super) struct RecognitionArguments {
    /// The program; nothing is recognised without one.
    #[arg(long = "ocr-program")]
    program: Option<PathBuf>,
    /// Languages.
    #[arg(long = "ocr-languages", default_value = "eng")]
    languages: String,
    /// Time limit for all pictures.
    #[arg(long = "ocr-seconds", default_value_t = 0)]
    time: u64,
}

impl RecognitionArguments {
    pub(super) fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    pub(super) fn tesseract(&self) -> Option<Tesseract> {
        let until = Instant::now() + Duration::from_secs(self.time);
        let program = self.program.clone()?;
        Some(Tesseract { program, languages: self.languages.clone(), until })
    }
}

/// The program, started for each picture.
pub(super) struct Tesseract {
    program: PathBuf,
    languages: String,
    /// End of the time for all pictures.
    until: Instant,
}

impl Recognise for Tesseract {
    fn recognise(&self, picture: &[u8]) -> Option<String> {
        let mut child = Command::new(&self.program)
            .args(["stdin", "stdout", "-l", &self.languages])
            .env_clear()
            // One document is one worker's share of the processors.
            .env("OMP_THREAD_LIMIT", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        let mut text = Vec::new();
        let status = std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut input = input;
                // A program that does not want all of it says so by its end.
                let _ = input.write_all(picture);
            });
            let text = &mut text;
            scope.spawn(move || output.take(u64::try_from(MAX_TEXT_BYTES).unwrap_or(u64::MAX)).read_to_end(text));
            loop {
                match child.try_wait() {
                    Ok(None) if self.has_time() => std::thread::sleep(LOOK),
                    Ok(None) | Err(_) => {
                        // It may have ended at this moment.
                        let _ = child.kill();
                        return child.wait().ok();
                    }
                    Ok(Some(status)) => return Some(status),
                }
            }
        });
        status.filter(ExitStatus::success)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn has_time(&self) -> bool {
        Instant::now() < self.until
    }
}
