//! The title of a document that has none: the name of its file.

/// The part of a title that is embedded. A title that is only the file name is indexed lexically but not embedded, so
/// that the same bytes under another name are split at the same positions and have the same vectors.
pub(super) fn embedded_title<'t>(title: &'t str, source: &str) -> &'t str {
    if title == name_of(source) { "" } else { title }
}

/// Names of files that many folders have, in lower case: the folder tells what they are about.
const NAMES_OF_MANY: [&str; 30] = [
    "about",
    "authors",
    "changelog",
    "changes",
    "contributing",
    "copying",
    "copyright",
    "default",
    "faq",
    "help",
    "history",
    "home",
    "index",
    "init",
    "install",
    "introduction",
    "licence",
    "license",
    "main",
    "manual",
    "mod",
    "news",
    "notes",
    "notice",
    "overview",
    "page",
    "readme",
    "releases",
    "thanks",
    "todo",
];

/// Folders that hold what is about the folder above them.
const FOLDERS_OF_MANY: [&str; 8] = ["doc", "docs", "documentation", "en", "html", "man", "src", "text"];

/// Derives a title from a path or URL: its last segment without the extension, after the folder where the segment is
/// the name of many files (`README`, `index`).
pub(super) fn name_of(source: &str) -> String {
    let mut segments = source.trim_end_matches('/').rsplit('/');
    let last = segments.next().unwrap_or(source);
    let last = last.strip_suffix(".gz").unwrap_or(last);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let words = if stem.is_empty() { last } else { stem }.replace(['_', '-'], " ");
    let words = if words.trim().is_empty() { last } else { words.trim() };
    let is_of_many = |names: &[&str], name: &str| names.contains(&name.to_lowercase().as_str());
    if !is_of_many(&NAMES_OF_MANY, words) {
        return words.to_owned();
    }
    let folder = segments.find(|folder| !is_of_many(&FOLDERS_OF_MANY, folder));
    match folder.filter(|folder| !matches!(*folder, "" | "." | "..") && !folder.ends_with(':')) {
        Some(folder) => format!("{folder} {words}"),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_title() {
        for (source, title) in [
            ("hr/annual-leave.md", "annual leave"),
            ("readme", "readme"),
            (".env", ".env"),
            ("a/b/", "b"),
            ("tools/gear-box/README.md", "gear-box README"),
            ("tools/gear-box/docs/index.html", "gear-box index"),
            ("docs/index.html", "index"),
            ("gear/__init__.py", "gear init"),
            ("tools/gear-box/changelog.gz", "gear-box changelog"),
            ("https://gear.example/index.html", "gear.example index"),
            ("/README", "README"),
            ("../README", "README"),
        ] {
            assert_eq!(name_of(source), title);
        }
    }
}
