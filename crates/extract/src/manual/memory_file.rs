//! Temporary files in memory, for a process without a file system.
//!
//! mandoc writes its warnings to `tmpfile()` of the C library (POSIX.1-2024) while it reads a page. The process that reads
//! documents opens no files, so there this function would fail, and every page with it. The definition here takes its place
//! in programs that link this crate.

/// Largest size of such a file, in bytes; what is written beyond it is lost.
const MOST_BYTES: usize = 256 * 1024;

/// Opens a new empty file in memory for reading and writing. Null if there is no memory left.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "a function of the C library is defined and another one called")]
extern "C" fn tmpfile() -> *mut libc::FILE {
    // SAFETY: without a buffer of the caller, `fmemopen` allocates one of that size, and frees it when the file is closed;
    // the mode is a C string.
    unsafe { libc::fmemopen(std::ptr::null_mut(), MOST_BYTES, c"w+".as_ptr()) }
}
