//! The names of a document's file and of its folder: its title where it has none, and what tells it apart where many documents
//! have the same.

/// The part of a title that is embedded. What comes from the name of the file or of its folder is indexed lexically but not
/// embedded, so that the same bytes under another name are split at the same positions and have the same vectors.
#[must_use]
pub fn embedded_title<'t>(title: &'t str, source: &str) -> &'t str {
    if title == name_of(source) {
        return "";
    }
    let before = [own_words_of(source), folder_of(source).map(str::to_owned)];
    let mut owns = before.iter().flatten().filter_map(|before| title.strip_prefix(before.as_str())?.strip_prefix(' '));
    owns.find(|own| is_of_many(own)).unwrap_or(title)
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

/// Titles that many documents have beside these, in lower case.
const TITLES_OF_MANY: [&str; 6] = [
    "all notable changes",
    "change log",
    "frequently asked questions",
    "release history",
    "release notes",
    "what's new",
];

/// Words of the names of such files that tell none from another, in lower case.
const WORDS_OF_MANY: [&str; 12] =
    ["all", "asked", "frequently", "full", "general", "new", "notable", "old", "questions", "release", "the", "user"];

/// Fewest letters of a word that tells a file from others.
const SHORTEST_WORD: usize = 3;

/// Folders that hold what is about the folder above them.
const FOLDERS_OF_MANY: [&str; 8] = ["doc", "docs", "documentation", "en", "html", "man", "src", "text"];

/// The title that a document names itself. Where many documents have that title, it comes after the words of the file's name
/// that say more, or else after its folder.
#[must_use]
pub fn title_of(own: String, source: &str) -> String {
    if !is_of_many(&own) {
        return own;
    }
    match own_words_of(source).or_else(|| folder_of(source).map(str::to_owned)) {
        Some(before) => format!("{before} {own}"),
        None => own,
    }
}

/// The words of a file's name that tell it from others of its kind: `black` of `black-faq.md`.
fn own_words_of(source: &str) -> Option<String> {
    let words = words_of(source);
    if is_of_many(&words) {
        return None;
    }
    let is_own = |word: &&str| !is_among(&NAMES_OF_MANY, word) && !is_among(&WORDS_OF_MANY, word);
    let own: Vec<&str> = words.split_whitespace().filter(is_own).collect();
    let is_telling = |word: &&str| word.chars().filter(|sign| sign.is_alphabetic()).count() >= SHORTEST_WORD;
    (own.len() < words.split_whitespace().count() && own.iter().any(is_telling)).then(|| own.join(" "))
}

/// The subject of a document by the name of its file: its folder where many folders have such a file, else the words of the name
/// that tell it from others of its kind.
pub(crate) fn subject_of(source: &str) -> Option<String> {
    let is_of_folder = is_of_many(&words_of(source));
    if is_of_folder { folder_of(source).map(str::to_owned) } else { own_words_of(source) }
}

/// Whether a file holds data, whose name is no title.
pub(crate) fn is_of_data(source: &str) -> bool {
    const ENDINGS: [&str; 9] = ["csv", "json", "ods", "tsv", "xls", "xlsx", "xml", "yaml", "yml"];
    source.rsplit_once('.').is_some_and(|(_, ending)| is_among(&ENDINGS, ending))
}

/// Whether many documents have this title.
fn is_of_many(title: &str) -> bool {
    is_among(&NAMES_OF_MANY, title) || is_among(&TITLES_OF_MANY, title)
}

/// The folder that tells what a file is about.
#[must_use]
pub fn folder_of(source: &str) -> Option<&str> {
    let mut folders = source.trim_end_matches('/').rsplit('/').skip(1);
    let folder = folders.find(|folder| !is_among(&FOLDERS_OF_MANY, folder))?;
    (!matches!(folder, "" | "." | "..") && !folder.ends_with(':')).then_some(folder)
}

fn is_among(names: &[&str], name: &str) -> bool {
    names.contains(&name.to_lowercase().as_str())
}

/// Derives a title from a path or URL: its last segment without the extension, after the folder where the segment is
/// the name of many files (`README`, `index`).
#[must_use]
pub fn name_of(source: &str) -> String {
    let words = words_of(source);
    match folder_of(source).filter(|_| is_among(&NAMES_OF_MANY, &words)) {
        Some(folder) => format!("{folder} {words}"),
        None => words,
    }
}

/// The words of the last segment of a path or URL, without the extension.
fn words_of(source: &str) -> String {
    let last = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
    let last = last.strip_suffix(".gz").unwrap_or(last);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let words = if stem.is_empty() { last } else { stem }.replace(['_', '-'], " ");
    if words.trim().is_empty() { last.to_owned() } else { words.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_of_many_is_told_apart_by_its_folder() {
        for (own, source, title) in [
            ("Changelog", "npm/gear-box/CHANGELOG.md", "gear-box Changelog"),
            ("Release Notes", "gear/docs/news.md", "gear Release Notes"),
            ("Gear box", "npm/gear-box/README.md", "Gear box"),
            ("Changelog", "CHANGELOG.md", "Changelog"),
            ("Frequently Asked Questions", "gear/box-faq.md", "box Frequently Asked Questions"),
            ("FAQ", "gear/faq-of_boxes.rst", "of boxes FAQ"),
            ("FAQ", "gear/user-faq.md", "gear FAQ"),
            ("Changelog", "gear/changelog-v2.md", "gear Changelog"),
            ("Release Notes", "gear/RELEASE_NOTES.md", "gear Release Notes"),
            ("Frequently Asked Questions", "gear/box.md", "gear Frequently Asked Questions"),
        ] {
            assert_eq!(title_of(own.to_owned(), source), title);
            assert_eq!(embedded_title(title, source), own);
        }
    }

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
