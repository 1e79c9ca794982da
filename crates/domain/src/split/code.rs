//! Finds the definitions in source code, line by line.
//!
//! A function, a type or a module is to code as a section is to prose: text is cut before it, and its name stands in
//! front of its pieces. Definitions are recognised by their keywords and by the shape of their first line, and nested
//! by indentation, in all languages that are written this way. Grammars (tree-sitter) were rejected: some megabytes of
//! C for each language, in the process that holds everything, for a gain only in files without indentation.

use std::ops::Range;

use super::outline::Heading;

/// Words that may stand before the keyword of a definition.
const MODIFIERS: [&str; 34] = [
    "pub",
    "export",
    "default",
    "async",
    "static",
    "public",
    "private",
    "protected",
    "internal",
    "abstract",
    "final",
    "override",
    "virtual",
    "inline",
    "unsafe",
    "extern",
    "open",
    "data",
    "sealed",
    "partial",
    "readonly",
    "suspend",
    "declare",
    "local",
    "case",
    "const",
    "constexpr",
    "mutating",
    "fileprivate",
    "create",
    "or",
    "replace",
    "lazy",
    "implicit",
];

/// Words that begin a definition when a name follows.
const KEYWORDS: [&str; 34] = [
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "impl<",
    "mod",
    "module",
    "interface",
    "func",
    "function",
    "fun",
    "namespace",
    "object",
    "protocol",
    "extension",
    "sub",
    "procedure",
    "record",
    "union",
    "macro_rules!",
    "defmodule",
    "defp",
    "defmacro",
    "table",
    "view",
    "trigger",
    "package",
    "actor",
    "service",
    "message",
    "template",
];

/// Words that begin a statement, even if it looks like a definition.
const STATEMENTS: [&str; 20] = [
    "if", "for", "while", "switch", "else", "return", "do", "try", "catch", "with", "match", "foreach", "using",
    "lock", "elif", "except", "unless", "until", "new", "await",
];

/// Beginnings of lines that continue a definition of the same indentation.
const CONTINUATIONS: [&str; 22] = [
    "{", "}", ")", "]", ">", "#", "@", "//", "/*", "*", "--", "where", "end", "else", "elif", "except", "finally",
    "catch", "rescue", "ensure", "public:", "private:",
];

/// Beginnings of lines that belong to the definition below them: comments, attributes, decorators.
const PREFACES: [&str; 8] = ["//", "/*", "*", "#", "@", "--", "[", "\"\"\""];

/// Longest line that is examined, in bytes. Longer ones are data, or were not written by hand.
const LONGEST_LINE: usize = 400;

/// Columns of a tab.
const TAB: usize = 4;

/// Definitions of `text` in order. One without a name ends the one before: the text after it belongs to none.
pub(super) fn scan(text: &str) -> Vec<Heading> {
    let mut scanner = Scanner::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        scanner.read(line.trim_end(), start..end);
        start = end;
    }
    scanner.headings
}

#[derive(Debug, Default)]
struct Scanner {
    headings: Vec<Heading>,
    /// Indentation of the definitions around the line.
    open: Vec<usize>,
    /// Start of the comments and attributes directly above, and their indentation.
    preface: Option<(usize, usize)>,
}

impl Scanner {
    /// Processes one line: `line` without its end, `bytes` with it.
    fn read(&mut self, line: &str, bytes: Range<usize>) {
        let content = line.trim_start();
        if content.is_empty() {
            self.preface = None;
            return;
        }
        let indent: usize =
            line.bytes().take(line.len() - content.len()).map(|byte| if byte == b'\t' { TAB } else { 1 }).sum();
        if let Some(name) = definition(content, indent) {
            let start =
                self.preface.take().filter(|(_, column)| *column == indent).map_or(bytes.start, |(start, _)| start);
            self.push(indent, name, start..bytes.end);
            self.open.push(indent);
        } else if PREFACES.iter().any(|preface| content.starts_with(preface)) {
            if self.preface.is_none_or(|(_, column)| column != indent) {
                self.preface = Some((bytes.start, indent));
            }
        } else {
            self.preface = None;
            let ends = self.open.last().is_some_and(|open| indent <= *open);
            if ends && !CONTINUATIONS.iter().any(|start| content.starts_with(start)) {
                self.push(indent, String::new(), bytes);
            }
        }
    }

    fn push(&mut self, indent: usize, text: String, bytes: Range<usize>) {
        while self.open.last().is_some_and(|open| *open >= indent) {
            self.open.pop();
        }
        let level = u8::try_from(self.open.len() + 1).unwrap_or(u8::MAX);
        self.headings.push(Heading { bytes, level, text });
    }
}

/// The signature of the definition that a line begins, if it begins one.
fn definition(content: &str, indent: usize) -> Option<String> {
    if content.len() > LONGEST_LINE {
        return None;
    }
    let is_definition = has_keyword(content) || is_method(content) || (indent == 0 && is_arrow(content));
    is_definition.then(|| content.trim_end_matches(['{', ':', ' ', ';', '(']).to_owned())
}

fn has_keyword(content: &str) -> bool {
    let mut words = content.split_whitespace();
    let keyword = words.find(|word| {
        let lower = word.to_ascii_lowercase();
        // Visibility may be qualified, as in `pub(crate)`, and a language named, as in `extern "C"`.
        let bare = lower.split('(').next().unwrap_or_default();
        !MODIFIERS.contains(&bare) && !lower.starts_with('"')
    });
    let Some(keyword) = keyword else { return false };
    let bare = keyword.to_ascii_lowercase();
    let is_keyword = KEYWORDS.contains(&bare.as_str()) || bare.starts_with("impl<") || bare.starts_with("function*");
    is_keyword
        && words.next().is_some_and(|name| {
            name.starts_with(|first: char| {
                is_name(first) || first == '(' || first == '<' || first == '*' || first == '&'
            })
        })
}

/// A method or function of the C family: a type, a name, arguments and an open body.
fn is_method(content: &str) -> bool {
    let Some((before, _)) = content.split_once('(') else { return false };
    let words = before.split_whitespace().count();
    let first = before.split(|character: char| !is_name(character)).next().unwrap_or_default();
    content.ends_with('{')
        && words >= 2
        && !before.contains(['=', '"', '\'', '.', ';', '!'])
        && before.ends_with(is_name)
        && !STATEMENTS.contains(&first)
        && !content.starts_with(['}', ')'])
}

/// A function assigned as a value, as in JavaScript.
fn is_arrow(content: &str) -> bool {
    let content = content.strip_prefix("export ").unwrap_or(content);
    ["const ", "let ", "var "].iter().any(|keyword| content.starts_with(keyword))
        && content.contains('=')
        && (content.ends_with("=> {") || content.contains("= function") || content.contains("= async function"))
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$' || character == '`'
}

#[cfg(test)]
#[expect(clippy::string_slice, reason = "a test may stop on what it did not expect")]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(u8, String)> {
        scan(text).into_iter().map(|heading| (heading.level, heading.text)).collect()
    }

    fn named(definitions: &[(u8, &str)]) -> Vec<(u8, String)> {
        definitions.iter().map(|(level, name)| (*level, (*name).to_owned())).collect()
    }

    #[test]
    fn definitions_nest_by_indentation() {
        let rust = "use a::b;\n\n/// Leave.\n#[derive(Debug)]\npub(crate) struct Leave {\n    days: u8,\n}\n\nimpl<'a> Leave<'a> {\n    /// Days.\n    pub const fn days(&self) -> u8 {\n        match self.days { 0 => 1, n => n }\n    }\n}\n";
        let expected =
            named(&[(1, "pub(crate) struct Leave"), (1, "impl<'a> Leave<'a>"), (2, "pub const fn days(&self) -> u8")]);
        assert_eq!(found(rust), expected);
        let headings = scan(rust);
        assert!(rust[headings[0].bytes.clone()].starts_with("/// Leave.\n#[derive"));
        assert!(rust[headings[2].bytes.clone()].starts_with("    /// Days."));
    }

    #[test]
    fn languages_are_told_by_their_shape() {
        let cases = [
            (
                "class A(B):\n    @property\n    async def f(self):\n        if x:\n            pass\n\nmain()\n",
                vec![(1, "class A(B)"), (2, "async def f(self)"), (1, "")],
            ),
            (
                "func (s *Server) Run(ctx context.Context) error {\n\treturn nil\n}\n",
                vec![(1, "func (s *Server) Run(ctx context.Context) error")],
            ),
            (
                "public class A {\n    private final int x = f(1);\n    public int get(int a) {\n        for (int i = 0;;) {\n        }\n    }\n}\n",
                vec![(1, "public class A"), (2, "public int get(int a)")],
            ),
            ("int main(int argc, char **argv) {\n  return run(argc) {\n", vec![(1, "int main(int argc, char **argv)")]),
            (
                "export const add = (a, b) => {\n};\nexport default function* walk() {\n}\n",
                vec![(1, "export const add = (a, b) =>"), (1, "export default function* walk()")],
            ),
            (
                "CREATE OR REPLACE FUNCTION f(a int) RETURNS int AS $$\nBEGIN\n",
                vec![(1, "CREATE OR REPLACE FUNCTION f(a int) RETURNS int AS $$"), (1, "")],
            ),
            (
                "module A\n  class B < C\n    def run\n    end\n  end\nend\n",
                vec![(1, "module A"), (2, "class B < C"), (3, "def run")],
            ),
            ("classify(x)\ndefault = 1\nfunctional {\n", vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), named(&expected), "{text}");
        }
    }

    #[test]
    fn what_follows_a_definition_is_not_of_it() {
        let text = "def f():\n    return 1\n\nX = f()\nY = 2\n";
        assert_eq!(found(text), named(&[(1, "def f()"), (1, "")]));
    }
}
