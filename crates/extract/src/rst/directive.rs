//! Explicit markup: directives, footnotes, targets and comments.

use super::{block::Blocks, dedented, field::field, indented, table::Table};

/// Directives that show nothing of their own, or nothing that is in the text.
const SILENT: [&str; 41] = [
    "autoclass",
    "autodata",
    "autoenum",
    "autoexception",
    "autofunction",
    "automethod",
    "automodule",
    "autosummary",
    "bibliography",
    "contents",
    "currentmodule",
    "default-domain",
    "default-role",
    "doctest-requires",
    "footer",
    "graphviz",
    "header",
    "highlight",
    "highlightlang",
    "include",
    "index",
    "inheritance-diagram",
    "literalinclude",
    "meta",
    "minigallery",
    "mermaid",
    "module",
    "plot",
    "program",
    "raw",
    "role",
    "sectionauthor",
    "codeauthor",
    "sectnum",
    "tabularcolumns",
    "target-notes",
    "testcleanup",
    "testsetup",
    "title",
    "toctree",
    "uml",
];

/// Directives whose content is code, with what looks like it.
const CODE: [&str; 16] = [
    "code",
    "code-block",
    "code-cell",
    "command-output",
    "console",
    "doctest",
    "ipython",
    "literal-block",
    "math",
    "parsed-literal",
    "productionlist",
    "prompt",
    "sourcecode",
    "terminal",
    "testcode",
    "testoutput",
];

/// Directives whose content belongs to the text, and whose argument is for programs.
const TRANSPARENT: [&str; 17] = [
    "centered",
    "class",
    "compound",
    "container",
    "cssclass",
    "epigraph",
    "glossary",
    "grid",
    "highlights",
    "hlist",
    "ifconfig",
    "line-block",
    "only",
    "pull-quote",
    "rst-class",
    "tab-set",
    "tabs",
];

/// Directives whose argument is a title over their content.
const TITLED: [&str; 11] = [
    "admonition",
    "card",
    "collapse",
    "dropdown",
    "grid-item-card",
    "rubric",
    "sidebar",
    "tab",
    "tab-item",
    "topic",
    "group-tab",
];

/// Boxes, and the label that stands before their text.
const BOXES: [(&str, &str); 11] = [
    ("attention", "Attention:"),
    ("caution", "Caution:"),
    ("danger", "Danger:"),
    ("error", "Error:"),
    ("hint", "Hint:"),
    ("important", "Important:"),
    ("note", "Note:"),
    ("seealso", "See also:"),
    ("tip", "Tip:"),
    ("todo", "To do:"),
    ("warning", "Warning:"),
];

/// Boxes that say in which version something changed.
const VERSIONS: [(&str, &str); 6] = [
    ("deprecated", "Deprecated since version"),
    ("deprecated-removed", "Deprecated since version"),
    ("versionadded", "Added in version"),
    ("versionchanged", "Changed in version"),
    ("versionextended", "Extended in version"),
    ("versionremoved", "Removed in version"),
];

/// Options of an object that readers see.
const SHOWN: [&str; 4] = ["default", "required", "type", "value"];

/// A directive as it is written.
struct Directive<'t> {
    argument: String,
    /// Its options, `:name: value`.
    options: Vec<(&'t str, &'t str)>,
    content: Vec<&'t str>,
}

/// The name of the directive that explicit markup begins: that of `name:: argument`.
pub(super) fn name_of(markup: &str) -> Option<&str> {
    let (name, after) = markup.split_once("::")?;
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | ':' | '.' | '+');
    let is_directive = name.starts_with(|sign: char| sign.is_ascii_alphabetic()) && name.chars().all(is_name);
    (is_directive && (after.is_empty() || after.starts_with(' '))).then_some(name)
}

/// Reads explicit markup with what is indented below it.
pub(super) fn explicit(blocks: &mut Blocks<'_>, lines: &[&str]) {
    let Some((first, below)) = lines.split_first() else { return };
    let markup = first.strip_prefix("..").unwrap_or_default().trim_start();
    let below = dedented(below);
    if let Some((label, text)) = markup.strip_prefix('[').and_then(|note| note.split_once(']')) {
        // `[[[cog …]]]` is a comment for a program that writes a part of the text.
        if label.starts_with('[') {
            return;
        }
        // The text says to what it is a note.
        let is_citation = !label.starts_with(['#', '*']) && !label.bytes().all(|byte| byte.is_ascii_digit());
        let text = if is_citation { format!("[{label}]{text}") } else { text.trim().to_owned() };
        let note: Vec<&str> = std::iter::once(text.as_str()).chain(below).collect();
        return blocks.read(&note);
    }
    let Some(name) = name_of(markup) else { return };
    let argument = markup.get(name.len() + 2..).unwrap_or_default().trim();
    read(blocks, name, &Directive::of(argument, &below));
}

impl<'t> Directive<'t> {
    fn of(argument: &str, below: &[&'t str]) -> Self {
        let is_argument = |line: &&&str| !line.is_empty() && field(line).is_none();
        // Without a blank line between, what follows goes on with the argument.
        let goes_on = if argument.is_empty() { 0 } else { below.iter().take_while(is_argument).count() };
        let rest = below.get(goes_on..).unwrap_or_default();
        let options: Vec<(&str, &str)> = rest.iter().map_while(|line| field(line)).collect();
        let argued = below.get(..goes_on).unwrap_or_default().iter().map(|line| line.trim_start());
        let argument = std::iter::once(argument).chain(argued).collect::<Vec<_>>().join("\n");
        Self { argument, content: rest.get(options.len()..).unwrap_or_default().to_vec(), options }
    }

    /// Its argument and its content as the lines of one text.
    fn text(&self) -> Vec<&str> {
        self.argument.lines().chain(self.content.iter().copied()).collect()
    }

    fn option(&self, name: &str) -> Option<&'t str> {
        self.options.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }
}

fn read(blocks: &mut Blocks<'_>, name: &str, directive: &Directive<'_>) {
    let label = |table: &[(&str, &'static str)]| table.iter().find(|(own, _)| *own == name).map(|(_, label)| *label);
    match name {
        _ if SILENT.contains(&name) => {}
        _ if CODE.contains(&name) => {
            if let Some(caption) = directive.option("caption") {
                blocks.element("p", caption);
            }
            // The argument of code is its language, that of a formula a part of it.
            let argued = directive.argument.lines().skip(usize::from(name != "math"));
            let all: Vec<&str> = argued.chain(directive.content.iter().copied()).collect();
            let start = all.iter().position(|line| !line.is_empty()).unwrap_or(all.len());
            let code = all.get(start..).unwrap_or_default();
            if !code.is_empty() {
                blocks.code(code);
            }
        }
        _ if TRANSPARENT.contains(&name) => {
            if name == "centered" {
                blocks.element("p", &directive.argument);
            }
            blocks.read(&directive.content);
        }
        _ if TITLED.contains(&name) => {
            blocks.element("p", &directive.argument);
            blocks.read(&directive.content);
        }
        "image" => image(blocks, directive),
        "figure" => {
            image(blocks, directive);
            blocks.read(&directive.content);
        }
        "table" | "list-table" | "csv-table" => table(blocks, name, directive),
        _ => {
            if let Some(label) = label(&BOXES) {
                labelled(blocks, label, &directive.text());
            } else if let Some(label) = label(&VERSIONS) {
                version(blocks, label, directive);
            } else {
                object(blocks, directive);
            }
        }
    }
}

/// The text of a picture.
fn image(blocks: &mut Blocks<'_>, directive: &Directive<'_>) {
    if let Some(text) = directive.option("alt") {
        blocks.element("p", text);
    }
}

/// A text with a label before its first paragraph.
fn labelled(blocks: &mut Blocks<'_>, label: &str, text: &[&str]) {
    let start = text.iter().position(|line| !line.is_empty()).unwrap_or(text.len());
    let text = text.get(start..).unwrap_or_default();
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '`';
    match text.split_first() {
        Some((line, rest)) if line.starts_with(is_word) && rest.first().is_none_or(|below| !below.starts_with(' ')) => {
            let opening = format!("{label} {line}");
            let all: Vec<&str> = std::iter::once(opening.as_str()).chain(rest.iter().copied()).collect();
            blocks.read(&all);
        }
        _ => {
            blocks.element("p", label);
            blocks.read(text);
        }
    }
}

/// "Added in version 1.4: …"
fn version(blocks: &mut Blocks<'_>, label: &str, directive: &Directive<'_>) {
    let mut lines = directive.argument.lines();
    let first = lines.next().unwrap_or_default();
    let (version, text) = first.split_once(' ').unwrap_or((first, ""));
    let rest = lines.chain(directive.content.iter().copied());
    let text: Vec<&str> = std::iter::once(text).chain(rest).collect();
    if text.iter().all(|line| line.is_empty()) {
        return blocks.element("p", &format!("{label} {version}."));
    }
    labelled(blocks, &format!("{label} {version}:"), &text);
}

/// An object that is described: a function, an option, a setting. Several may share their description.
fn object(blocks: &mut Blocks<'_>, directive: &Directive<'_>) {
    if directive.argument.is_empty() {
        return blocks.read(&directive.content);
    }
    let shown = directive.options.iter().filter(|(name, value)| SHOWN.contains(name) && !value.is_empty());
    let shown: Vec<String> = shown.map(|(name, value)| format!("{name}: {value}")).collect();
    let shown = shown.join(", ");
    let lines: Vec<&str> = std::iter::once(shown.as_str()).chain(directive.content.iter().copied()).collect();
    if lines.iter().any(|line| !line.is_empty()) {
        blocks.definition(&directive.argument.lines().collect::<Vec<_>>(), &lines);
    }
}

fn table(blocks: &mut Blocks<'_>, name: &str, directive: &Directive<'_>) {
    if !directive.argument.is_empty() {
        blocks.element("p", &directive.argument.replace('\n', " "));
    }
    let headers = directive.option("header-rows").and_then(|rows| rows.parse().ok()).unwrap_or(0);
    match name {
        "list-table" => blocks.table(&Table::of_list(&directive.content, headers)),
        "csv-table" => {
            let header = directive.option("header");
            let delimiter = directive.option("delim");
            blocks.table(&Table::of_csv(&directive.content, header, delimiter, headers));
        }
        _ => blocks.read(&directive.content),
    }
}

/// The lines of the items of a list, without their bullets.
pub(super) fn items<'t>(lines: &[&'t str], bullet: char) -> Vec<Vec<&'t str>> {
    let mut found: Vec<Vec<&str>> = Vec::new();
    let mut rest = lines;
    while let Some(line) = rest.first() {
        let Some(text) = line.strip_prefix(bullet).filter(|text| text.is_empty() || text.starts_with(' ')) else {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        };
        let length = 1 + indented(rest.get(1..).unwrap_or_default(), 1);
        let mut item = vec![text.trim_start()];
        item.extend(dedented(rest.get(1..length).unwrap_or_default()));
        found.push(item);
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}
