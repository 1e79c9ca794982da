//! The files and folders that a walk leaves out without being told to.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ignore::{DirEntry, WalkBuilder, overrides::Override};

/// Names in which nobody looks for a document.
const OF_TOOLS: [&str; 4] = [".git", ".gitignore", ".ignore", ".DS_Store"];

/// Number of files and folders that a walk by the same rules left out because they are hidden or ignored.
pub(super) fn left_out(folder: &Path, rules: Override, visited: HashSet<PathBuf>) -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let is_visited = move |entry: &DirEntry| {
        let is_visited = visited.contains(entry.path());
        if !is_visited && !OF_TOOLS.iter().any(|name| entry.file_name() == *name) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        is_visited
    };
    let everything = WalkBuilder::new(folder).standard_filters(false).overrides(rules).filter_entry(is_visited).build();
    everything.for_each(drop);
    count.load(Ordering::Relaxed)
}
