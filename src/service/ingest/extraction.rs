//! Extracts text from files in such a way that a failure cannot take the service down.
//!
//! A panic is contained in this process. An endless loop or a document that unpacks to gigabytes is not: formats that
//! large libraries read are read by a child process, `cited extract`, which limits its own memory and processor time
//! and is killed, with all that it started, when it takes too long. It gets the document and nothing else: no environment, no
//! connections, and before it reads a byte it takes the rest away from itself (the crate `confine`).

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::Context as _;
use confine::Lock;
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};

use crate::extract::{Cause, ExtractError, Extracted, MAX_TEXT_BYTES, extract};

/// Longest output of a child: its text, each byte of which may be an escape of six, and as much again for the rest.
const MAX_REPLY_BYTES: u64 = 12 * MAX_TEXT_BYTES as u64;
/// Longest part of a child's error output that is examined.
const MAX_COMPLAINT_BYTES: u64 = 64 * 1024;
/// Attempts to start a child before the document fails, and the delay between them.
const STARTS: u32 = 5;
const REST_BETWEEN_STARTS: Duration = Duration::from_secs(1);

/// Limits on the resources that one document may use.
#[derive(Clone, Debug)]
pub(crate) struct ExtractionSettings {
    /// The program that is started as `PROGRAM extract`: this one.
    pub(crate) program: PathBuf,
    /// Time limit, of wall-clock time and of processor time, without the recognition of text.
    pub(crate) timeout: Duration,
    /// Most memory, in MiB of address space.
    pub(crate) memory_mib: u64,
    /// Whether no document is read where the system lacks a lock.
    pub(crate) needs_locks: bool,
    /// The recognition of text in pictures, if there is one.
    pub(crate) recognition: Option<RecognitionSettings>,
}

/// The recognition of text in pictures (OCR).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecognitionSettings {
    /// The program: tesseract, or one that is started like it.
    pub(crate) program: PathBuf,
    /// Languages, in the program's own names.
    pub(crate) languages: String,
    /// Time for all pictures of a document; those that are left then have no text.
    pub(crate) timeout: Duration,
}

impl Default for ExtractionSettings {
    fn default() -> Self {
        Self {
            program: own_program(),
            timeout: Duration::from_mins(1),
            memory_mib: 1024,
            needs_locks: false,
            recognition: None,
        }
    }
}

/// Path of this program that stays valid after a newer version has replaced it in the file system.
fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe().unwrap_or_else(|_| PathBuf::from("cited"))
    }
}

/// Extracts the text of a document in this process, for formats that need no isolation.
pub(super) fn extract_here(content: &[u8], declared: &str) -> Result<Extracted, ExtractError> {
    catch_unwind(AssertUnwindSafe(|| extract(content, declared, None))).unwrap_or_else(|_| Err(crashed()))
}

impl RecognitionSettings {
    /// The arguments of a child that recognises text.
    fn arguments(&self) -> [OsString; 3] {
        let mut program = OsString::from("--ocr-program=");
        program.push(&self.program);
        let languages = format!("--ocr-languages={}", self.languages);
        [program, languages.into(), format!("--ocr-seconds={}", self.timeout.as_secs()).into()]
    }
}

impl ExtractionSettings {
    /// Extracts the text of a document in a child process.
    ///
    /// # Errors
    /// [`ExtractError`], about this document alone.
    ///
    /// # Cancel safety
    /// The child is killed when its future is dropped.
    pub(super) async fn extract_apart(&self, content: &[u8], declared: &str) -> Result<Extracted, ExtractError> {
        let mut child = self.start(declared).await?;
        let _group = Group::of(&child);
        let talk = talk(&mut child, content);
        let Ok(heard) = tokio::time::timeout(self.time(), talk).await else {
            // The child may have exited at this moment.
            let _ = child.kill().await;
            return Err(self.timed_out());
        };
        let (reply, complaint, status) = heard.map_err(|error| {
            tracing::warn!(error = %error, "the connection to a text extraction process broke; its document fails as crashed");
            crashed()
        })?;
        if status.success()
            && let Ok(result) = serde_json::from_slice(&reply)
        {
            return result;
        }
        Err(self.failure(status, &complaint))
    }

    /// Time limit of a child.
    fn time(&self) -> Duration {
        self.recognition.iter().fold(self.timeout, |time, recognition| time.saturating_add(recognition.timeout))
    }

    /// Starts a child; retries when the machine is short of processes for a moment.
    async fn start(&self, declared: &str) -> Result<Child, ExtractError> {
        let mut tries = 0;
        loop {
            let started = self.command(declared).spawn();
            tries += 1;
            match started {
                Ok(child) => return Ok(child),
                Err(error) if tries == STARTS => {
                    tracing::error!(error = %error, program = %self.program.display(), "the text extraction process cannot be started; check that CITED_EXTRACT_PROGRAM can be run, and the limit of processes");
                    return Err(ExtractError::new(
                        Cause::Crashed,
                        "the service could not start the process that reads this format; tell its operator, and send the document again",
                    ));
                }
                Err(_) => tokio::time::sleep(REST_BETWEEN_STARTS).await,
            }
        }
    }

    /// The command that starts a child, in a process group of its own.
    fn command(&self, declared: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("extract")
            .arg(format!("--media-type={declared}"))
            .arg(format!("--memory-mib={}", self.memory_mib))
            .arg(format!("--seconds={}", self.time().as_secs().max(1)))
            .args(self.needs_locks.then_some("--locks-required"))
            .args(self.recognition.iter().flat_map(RecognitionSettings::arguments))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }

    /// Starts a child that reads nothing, and returns which locks hold in it.
    ///
    /// # Errors
    /// If it cannot be started, or does not say.
    pub(crate) async fn locks(&self) -> anyhow::Result<Vec<Lock>> {
        let output = self.command("text/plain").arg("--locks-only").stdin(Stdio::null()).output();
        let output = output
            .await
            .with_context(|| format!("{} cannot be run; correct CITED_EXTRACT_PROGRAM", self.program.display()))?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            let complaint = String::from_utf8_lossy(&output.stderr);
            format!("the process that reads documents does not say which locks hold: {}", complaint.trim())
        })
    }

    /// Maps the exit of a child without a result to an error.
    fn failure(&self, status: ExitStatus, complaint: &[u8]) -> ExtractError {
        let complaint = String::from_utf8_lossy(complaint);
        let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
        if complaint.contains("memory allocation of") || signal == Some(Signal::SIGKILL) {
            return ExtractError::new(
                Cause::TooLarge,
                format!(
                    "reading the document takes more than {} MiB of memory; split it, or save it without its media",
                    self.memory_mib
                ),
            );
        }
        if signal == Some(Signal::SIGXCPU) {
            return self.timed_out();
        }
        if complaint.contains("overflowed its stack") {
            return ExtractError::new(
                Cause::Malformed,
                "the document is nested too deeply to be read; save it anew with the program that it came from",
            );
        }
        // The child's own output is never included: it may quote the document.
        tracing::error!(%status, "a text extraction process crashed; its document fails as crashed. This is a defect, please report it");
        crashed()
    }

    fn timed_out(&self) -> ExtractError {
        ExtractError::new(
            Cause::TimedOut,
            format!(
                "reading the document takes longer than {} s; split it, or save it in a simpler format",
                self.time().as_secs()
            ),
        )
    }
}

/// The processes that a child started, and the child: they end when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // There is none left, usually.
            let _ = killpg(leader, Signal::SIGKILL);
        }
    }
}

fn crashed() -> ExtractError {
    ExtractError::new(
        Cause::Crashed,
        "this document broke the extraction; it is a defect of the service, please report it",
    )
}

/// Writes the document and reads the output concurrently.
async fn talk(child: &mut Child, content: &[u8]) -> std::io::Result<(Vec<u8>, Vec<u8>, ExitStatus)> {
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let send = async {
        if let Some(mut input) = input {
            // A child that exits early reports the reason in another way.
            let _ = input.write_all(content).await;
        }
    };
    let reply = async {
        let mut reply = Vec::new();
        if let Some(output) = output {
            output.take(MAX_REPLY_BYTES).read_to_end(&mut reply).await?;
        }
        std::io::Result::Ok(reply)
    };
    let complaint = async {
        let mut complaint = Vec::new();
        if let Some(errors) = errors {
            errors.take(MAX_COMPLAINT_BYTES).read_to_end(&mut complaint).await?;
        }
        std::io::Result::Ok(complaint)
    };
    let ((), reply, complaint) = tokio::join!(send, reply, complaint);
    let status = child.wait().await?;
    Ok((reply?, complaint?, status))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Extracts a web page with a child that does what `script` says.
    async fn outcome(script: &str) -> Result<Extracted, ExtractError> {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("child");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("allowed");
        let settings =
            ExtractionSettings { program, timeout: Duration::from_secs(20), memory_mib: 7, ..Default::default() };
        settings.extract_apart(b"<html>words", "text/html").await
    }

    #[tokio::test]
    async fn each_end_of_a_child_has_its_cause() {
        let cases = [
            ("echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$", Cause::TooLarge),
            ("kill -KILL $$", Cause::TooLarge),
            ("kill -XCPU $$", Cause::TimedOut),
            ("echo 'thread has overflowed its stack' >&2; kill -ABRT $$", Cause::Malformed),
            ("kill -SEGV $$", Cause::Crashed),
            ("exit 1", Cause::Crashed),
            ("echo 'not JSON'", Cause::Crashed),
            ("cat >/dev/null; echo '{\"Err\":{\"cause\":\"encrypted\",\"message\":\"m\"}}'", Cause::Encrypted),
        ];
        for (script, cause) in cases {
            assert_eq!(outcome(script).await.expect_err(script).cause, cause, "{script}");
        }
    }

    #[tokio::test]
    async fn a_child_that_does_not_end_is_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("child");
        std::fs::write(&program, "#!/bin/sh\nexec sleep 600\n").expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("allowed");
        let settings =
            ExtractionSettings { program, timeout: Duration::from_millis(200), memory_mib: 7, ..Default::default() };
        let result = settings.extract_apart(b"<html>words", "text/html").await;
        assert_eq!(result.expect_err("late").cause, Cause::TimedOut);
    }

    /// The child leaves a process behind that holds none of its pipes; it is ended whether the child ends or is ended.
    #[tokio::test]
    async fn what_a_child_started_ends_with_it() {
        for end in ["exit 1", "exec sleep 600"] {
            let folder = tempfile::tempdir().expect("a folder");
            let (program, name) = (folder.path().join("child"), folder.path().join("left"));
            let script = format!("#!/bin/sh\nsleep 600 <&- >&- 2>&- &\necho $! > {}\n{end}\n", name.display());
            std::fs::write(&program, script).expect("written");
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("allowed");
            let timeout = Duration::from_secs(2);
            let settings = ExtractionSettings { program, timeout, memory_mib: 7, ..Default::default() };
            settings.extract_apart(b"<html>words", "text/html").await.expect_err(end);
            let left = std::fs::read_to_string(&name).expect("its name");
            let state = format!("/proc/{}/stat", left.trim());
            // A process that only waits to be collected has ended.
            let is_over = || std::fs::read_to_string(&state).map_or(true, |stat| stat.contains(") Z "));
            while !is_over() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}
