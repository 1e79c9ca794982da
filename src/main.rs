//! The `cited` command.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return_large_buffers();
    match cited::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cited: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Has the allocator give buffers of 256 KiB and more back to the system when they are freed. By default glibc raises this
/// size to that of the largest buffer freed so far, and keeps the memory of later ones.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a function of the C library is called")]
fn return_large_buffers() {
    // SAFETY: it takes two numbers and changes one of the allocator's, which holds its own lock meanwhile.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, 256 * 1024) };
}
