//! Converts the arguments of the command line to files and URLs.

use std::{
    collections::{BTreeMap, HashMap, HashSet, hash_map::Entry},
    ffi::OsString,
    fs::{self, File},
    io::Read,
    path::{Component, Path, PathBuf},
};

use anyhow::{anyhow, bail};
use ignore::{
    WalkBuilder,
    overrides::{Override, OverrideBuilder},
};

use super::{super::wording::counted, hidden::left_out, report::Failure};
use crate::extract::{Format, MediaType, looks_like_document};

/// Number of bytes at the start of a file that are enough to detect its format.
const BEGINNING: u64 = 8 * 1024;

/// Selects the files of a folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection<'a> {
    /// Patterns in the form of .gitignore.
    pub(super) exclude: &'a [String],
    /// Include hidden and ignored files too.
    pub(super) all: bool,
}

/// The files and URLs found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) targets: Vec<Target>,
    /// Files that cannot be read on this machine.
    pub(super) failed: Vec<Failure>,
    /// Number of files in folders whose format cannot be read, by file extension.
    pub(super) skipped: BTreeMap<String, usize>,
    /// Number of symbolic links in folders; they are skipped, so that a folder only gives access to its own content.
    pub(super) links: usize,
    /// Number of hidden or ignored files and folders, those within such folders not counted.
    pub(super) hidden: usize,
    /// Those of the skipped files and links that are files with a source, with the extension that they are counted under.
    passed_over: Vec<(Target, Option<String>)>,
    /// The path that each source was named for.
    seen: HashMap<String, PathBuf>,
}

/// A document to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File { path: PathBuf, source: String, size: u64 },
    Url(String),
}

impl Target {
    pub(super) fn source(&self) -> &str {
        match self {
            Self::File { source, .. } => source,
            Self::Url(url) => url,
        }
    }
}

impl Selection<'_> {
    /// Finds all documents for the arguments, each of them once, in the order of the arguments.
    ///
    /// # Errors
    /// If a named file or folder does not exist, or a pattern is invalid.
    pub(super) fn gather(self, named: &[OsString]) -> anyhow::Result<Found> {
        let mut found = Found::default();
        for argument in named {
            // A name that is not UTF-8 may be one of a file.
            let name = &*argument.to_string_lossy();
            if name.starts_with("http://") || name.starts_with("https://") {
                found.url(name);
                continue;
            }
            let path = Path::new(argument);
            if path.is_dir() {
                self.walk(path, None, &mut found)?;
            } else if path.exists() {
                found.file(path, true);
            } else if name.contains(['*', '?', '[', '{']) {
                let (folder, pattern) = split_pattern(name);
                let mut wanted = OverrideBuilder::new(&folder);
                wanted.add(&pattern).map_err(|error| no_pattern(name, error))?;
                // Not part of the rules of the walk: a file that matches is included even if it is hidden.
                if self.walk(&folder, Some(&wanted.build()?), &mut found)? == 0 {
                    bail!("nothing matches {name}");
                }
            } else if name.contains("://") {
                bail!("{name} is no URL that can be read; name one with http:// or https://");
            } else {
                bail!("there is no file or folder {name}");
            }
        }
        Ok(found)
    }

    /// Adds the files of a folder, or those that match a pattern within it; returns how many were seen, regardless of
    /// whether they were added.
    fn walk(self, folder: &Path, pattern: Option<&Override>, found: &mut Found) -> anyhow::Result<usize> {
        let is_unwanted = |path: &Path| pattern.is_some_and(|wanted| wanted.matched(path, false).is_ignore());
        let mut rules = OverrideBuilder::new(folder);
        for exclude in self.exclude {
            rules.add(&format!("!{exclude}")).map_err(|error| no_pattern(exclude, error))?;
        }
        let rules = rules.build()?;
        let walk = WalkBuilder::new(folder)
            .standard_filters(!self.all)
            .overrides(rules.clone())
            .sort_by_file_name(Ord::cmp)
            .build();
        let mut matches = 0;
        let mut visited = HashSet::new();
        for entry in walk {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    found.failed.push(Failure::here(folder.display().to_string(), error.to_string()));
                    matches += 1;
                    continue;
                }
            };
            let (path, kind) = (entry.path(), entry.file_type());
            visited.insert(path.to_owned());
            let is_link = kind.is_some_and(|kind| kind.is_symlink());
            if !(is_link || kind.is_some_and(|kind| kind.is_file())) || is_unwanted(path) {
                continue;
            }
            // A pattern names a link to a file like any file; a link in a folder was not named explicitly.
            if is_link && !(pattern.is_some() && path.is_file()) {
                found.link(path);
            } else {
                found.file(path, pattern.is_some());
                matches += 1;
            }
        }
        if pattern.is_none() && !self.all {
            found.hidden += left_out(folder, rules, visited);
        }
        Ok(matches)
    }
}

impl Found {
    /// Whether there is nothing to send and nothing to report.
    pub(super) fn is_empty(&self) -> bool {
        self.targets.is_empty() && self.failed.is_empty()
    }

    /// Number of files and folders of which it is not known what they hold.
    pub(super) fn unreadable(&self) -> usize {
        self.failed.iter().filter(|failure| failure.is_here()).count()
    }

    /// Number of files that were skipped.
    fn skipped_files(&self) -> usize {
        self.skipped.values().sum::<usize>() + self.links
    }

    /// Takes files that were skipped all the same, if their source is wanted: each was named once.
    pub(super) fn take_passed_over(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let passed_over = std::mem::take(&mut self.passed_over);
        for (target, ending) in passed_over.into_iter().filter(|(target, _)| is_wanted(target.source())) {
            let count = match ending {
                Some(ending) => self.skipped.entry(ending).or_default(),
                None => &mut self.links,
            };
            *count = count.saturating_sub(1);
            self.targets.push(target);
        }
        self.skipped.retain(|_, count| *count > 0);
    }

    /// Says why there is nothing to send.
    pub(super) fn nothing(&self) -> String {
        let mut reasons = Vec::new();
        if self.skipped_files() > 0 {
            let files = counted(self.skipped_files(), "file");
            reasons.push(format!("{files} passed over, of no format that is read, or links"));
        }
        if self.hidden > 0 {
            reasons.push(format!("{} hidden or ignored left out, which --all takes", self.hidden));
        }
        if reasons.is_empty() {
            reasons.push("no file was found".to_owned());
        }
        format!("there is nothing to ingest: {}", reasons.join("; "))
    }

    fn url(&mut self, url: &str) {
        if self.seen.insert(url.to_owned(), PathBuf::new()).is_none() {
            self.targets.push(Target::Url(url.to_owned()));
        }
    }

    /// Adds a file. If the same file comes again, it is one document; another file with the same source would replace
    /// the first.
    fn add(&mut self, path: &Path, source: String, size: u64) {
        match self.seen.entry(source.clone()) {
            Entry::Vacant(place) => {
                place.insert(path.to_owned());
                self.targets.push(Target::File { path: path.to_owned(), source, size });
            }
            Entry::Occupied(first) if is_same_file(first.get(), path) => {}
            Entry::Occupied(first) => {
                let message = format!(
                    "{} would be called {source} like {}, and one would replace the other; name it by its whole path, \
                     from the root, or send it to another collection",
                    path.display(),
                    first.get().display(),
                );
                self.failed.push(Failure { source, cause: "same_source".to_owned(), message });
            }
        }
    }

    fn pass_over(&mut self, path: &Path, source: String, ending: Option<String>) {
        let size = path.metadata().map_or(0, |metadata| metadata.len());
        self.passed_over.push((Target::File { path: path.to_owned(), source, size }, ending));
    }

    /// Skips a link.
    fn link(&mut self, path: &Path) {
        self.links += 1;
        if let (true, Ok(source)) = (path.is_file(), checked_source(path)) {
            self.pass_over(path, source, None);
        }
    }

    /// Adds a file. A file that was not named explicitly is skipped unless it can be read as a document.
    fn file(&mut self, path: &Path, is_named: bool) {
        let source = match checked_source(path) {
            Ok(source) => source,
            Err(message) => {
                let source = path.display().to_string();
                self.failed.push(Failure { source, cause: "unfit_name".to_owned(), message: message.to_owned() });
                return;
            }
        };
        match examine(path, &source, is_named) {
            Ok(Some(size)) => self.add(path, source, size),
            Ok(None) => {
                let ending = path.extension().map_or_else(
                    || "without extension".to_owned(),
                    |ending| format!(".{}", ending.to_string_lossy().to_lowercase()),
                );
                *self.skipped.entry(ending.clone()).or_default() += 1;
                self.pass_over(path, source, Some(ending));
            }
            Err(error) => self.failed.push(Failure::here(path.display().to_string(), format!("{error:#}"))),
        }
    }
}

/// The error for a pattern, as it was typed, that cannot be read.
fn no_pattern(typed: &str, error: ignore::Error) -> anyhow::Error {
    let fault = match error {
        ignore::Error::Glob { err, .. } => err,
        other => other.to_string(),
    };
    anyhow!("{typed} is not a pattern: {fault}")
}

/// Source of a file, or the reason why its name is of no use as one.
fn checked_source(path: &Path) -> Result<String, &'static str> {
    let source = source_of(path).ok_or("its name is not UTF-8; rename it")?;
    if source.contains(char::is_control) {
        return Err("its name holds a line break or another control character; rename it");
    }
    Ok(source)
}

/// Size of a file; `None` if its format cannot be read.
fn examine(path: &Path, source: &str, is_named: bool) -> anyhow::Result<Option<u64>> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    // Few pictures in folders are pages.
    let is_document = MediaType::of_name(source).is_some_and(|known| known.format != Format::Picture);
    if !is_named && !is_document {
        let mut beginning = Vec::new();
        file.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
        if !looks_like_document(&beginning) {
            return Ok(None);
        }
    }
    Ok(Some(size))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let place = |path| fs::canonicalize(path).ok();
    one == other || (place(one).is_some() && place(one) == place(other))
}

/// Source of a file: its path as it was named, without the leading components that only lead to its location.
pub(super) fn source_of(path: &Path) -> Option<String> {
    let mut source = PathBuf::new();
    for step in path.components() {
        match step {
            Component::CurDir => {}
            // There is no component to go back from: the path leads above its starting folder, or above the root.
            Component::ParentDir => {
                source.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => source.push(step),
        }
    }
    source.to_str().map(str::to_owned)
}

/// Splits a pattern into the folder that it begins with, and the rest, which is matched in that folder.
fn split_pattern(name: &str) -> (PathBuf, String) {
    let steps: Vec<&str> = name.split('/').collect();
    let is_pattern = |step: &&str| step.contains(['*', '?', '[', '{']);
    let first = steps.iter().position(is_pattern).unwrap_or(steps.len());
    let (folder, pattern) = steps.split_at(first);
    let folder = match folder {
        [] => ".".to_owned(),
        [""] => "/".to_owned(),
        steps => steps.join("/"),
    };
    // A leading slash anchors the pattern to the folder: 'docs/*.md' does not match 'docs/old/a.md'.
    (PathBuf::from(folder), format!("/{}", pattern.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(found: &Found) -> Vec<&str> {
        found.targets.iter().map(Target::source).collect()
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in [
            ("docs/a.md", "# A".as_bytes()),
            ("docs/deep/b.txt", b"B"),
            ("docs/deep/c.log", b"C"),
            ("docs/Makefile", b"all:\n"),
            ("docs/picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
            ("docs/program", b"\x7fELF\x02\x01\x01\0\0"),
            ("docs/.hidden.md", b"# Hidden"),
            ("docs/.ignore", b"ignored.md\n"),
            ("docs/ignored.md", b"# Ignored"),
        ] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, content).expect("written");
        }
        folder
    }

    fn gather(folder: &tempfile::TempDir, selection: Selection<'_>, names: &[&str]) -> Found {
        let names: Vec<OsString> = names.iter().map(|name| folder.path().join(name).into_os_string()).collect();
        selection.gather(&names).expect("found")
    }

    #[test]
    fn a_folder_gives_what_can_be_read_in_it() {
        let folder = tree();
        let root = folder.path().display().to_string();
        let plain = Selection { exclude: &[], all: false };
        let expect = |names: &[&str]| names.iter().map(|name| format!("{root}/docs/{name}")).collect::<Vec<_>>();
        let found = gather(&folder, plain, &["docs"]);
        assert_eq!(sources(&found), expect(&["Makefile", "a.md", "deep/b.txt", "deep/c.log"]));
        assert_eq!(found.hidden, 2, "the hidden and the ignored one");
        let skipped = [(".png".to_owned(), 1), ("without extension".to_owned(), 1)];
        assert_eq!(found.skipped, BTreeMap::from(skipped));
        let found = gather(&folder, Selection { all: true, ..plain }, &["docs"]);
        assert!(sources(&found).contains(&format!("{root}/docs/.hidden.md").as_str()));
        assert!(sources(&found).contains(&format!("{root}/docs/ignored.md").as_str()));
        let exclude = ["*.log".to_owned(), "/Makefile".to_owned()];
        let found = gather(&folder, Selection { exclude: &exclude, all: false }, &["docs", "docs/a.md"]);
        assert_eq!(sources(&found), expect(&["a.md", "deep/b.txt"]), "each file once");
        assert_eq!(found.failed, []);
    }

    #[test]
    fn what_matches_need_not_be_new() {
        let folder = tree();
        let plain = Selection { exclude: &[], all: false };
        let found = gather(&folder, plain, &["docs/a.md", "docs/*.md"]);
        assert_eq!((found.targets.len(), found.failed.len()), (1, 0));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_taken_when_they_are_named_and_counted_when_not() {
        use std::os::unix::fs::symlink;
        let folder = tree();
        let link = |to: &str, name: &str| symlink(folder.path().join(to), folder.path().join(name)).expect("a link");
        link("docs/a.md", "docs/linked.md");
        link("docs/deep", "docs/linked");
        link("docs/nowhere.md", "docs/broken.md");
        let plain = Selection { exclude: &[], all: false };
        let found = gather(&folder, plain, &["docs"]);
        assert_eq!((found.targets.len(), found.links, found.skipped_files()), (4, 3, 5), "{:?}", found.targets);
        assert_eq!(gather(&folder, plain, &["docs/linked.md"]).targets.len(), 1);
        let found = gather(&folder, plain, &["docs/*.md"]);
        let names: Vec<&str> = sources(&found).iter().filter_map(|source| source.rsplit('/').next()).collect();
        assert_eq!((names, found.links), (vec!["a.md", "linked.md"], 1));
        // The target of a link has a name of its own, and is another document.
        assert_eq!(gather(&folder, plain, &["docs/a.md", "docs/linked.md"]).targets.len(), 2);
    }

    #[test]
    fn what_is_wanted_is_not_passed_over() {
        let folder = tree();
        let mut found = gather(&folder, Selection { exclude: &[], all: false }, &["docs"]);
        found.take_passed_over(|source| source.ends_with("/picture.png"));
        assert!(sources(&found).iter().any(|source| source.ends_with("/docs/picture.png")), "{:?}", found.targets);
        assert_eq!((found.targets.len(), found.skipped.len()), (5, 1), "{:?}", found.skipped);
    }

    #[test]
    fn patterns_and_single_files_are_taken_as_they_are_named() {
        let folder = tree();
        let root = folder.path().display().to_string();
        let plain = Selection { exclude: &[], all: false };
        let expect = |names: &[&str]| names.iter().map(|name| format!("{root}/docs/{name}")).collect::<Vec<_>>();
        assert_eq!(sources(&gather(&folder, plain, &["docs/**/*.{txt,log}"])), expect(&["deep/b.txt", "deep/c.log"]));
        assert_eq!(sources(&gather(&folder, plain, &["docs/*.md"])), expect(&["a.md"]));
        assert_eq!(sources(&gather(&folder, plain, &["docs/picture.png"])), expect(&["picture.png"]));
        for nothing in ["docs/*.rtf", "docs/missing.md"] {
            let name = folder.path().join(nothing).display().to_string();
            let error = plain.gather(&[OsString::from(&name)]).expect_err(nothing);
            assert!(error.to_string().contains(&name), "{error}");
        }
    }

    #[test]
    fn a_file_is_called_by_its_path() {
        for (path, source) in [
            ("./docs/a.md", "docs/a.md"),
            ("../docs/a.md", "docs/a.md"),
            ("../../a/../b/./a.md", "b/a.md"),
            ("/srv/../../a.md", "/a.md"),
            ("/srv/a.md", "/srv/a.md"),
            ("a.md", "a.md"),
        ] {
            assert_eq!(source_of(Path::new(path)).as_deref(), Some(source));
        }
        assert_eq!(split_pattern("**/*.md"), (PathBuf::from("."), "/**/*.md".to_owned()));
        assert_eq!(split_pattern("/srv/*.md"), (PathBuf::from("/srv"), "/*.md".to_owned()));
        assert_eq!(split_pattern("/*.md"), (PathBuf::from("/"), "/*.md".to_owned()));
    }
}
