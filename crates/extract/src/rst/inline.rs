//! Inline markup: emphasis, literals, references and roles.

use super::names::Names;
use crate::html::escaped;

/// Roles whose text is a number of a series, with the name of the series.
const SERIES: [(&str, &str); 3] = [("pep", "PEP "), ("rfc", "RFC "), ("cve", "CVE-")];

/// Longest text between two marks, in bytes: beyond it the first one means itself.
const LONGEST: usize = 1024;

/// Longest name of a role or of a target that is no phrase, in bytes.
const LONGEST_NAME: usize = 128;

/// A text as HTML, without its markup.
pub(super) fn html(text: &str, names: &Names<'_>) -> String {
    let mut out = Inline { out: String::with_capacity(text.len() + 16), names };
    out.read(text, 0);
    out.out
}

struct Inline<'n> {
    out: String,
    names: &'n Names<'n>,
}

impl Inline<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(&escaped(text));
    }

    /// Replacements may hold markup, but no others: `depth` is 1 in them.
    fn read(&mut self, text: &str, depth: usize) {
        let mut rest = text;
        let mut before = ' ';
        while let Some(sign) = rest.chars().next() {
            if let Some((after, last)) = self.construct(rest, before, depth) {
                rest = after;
                before = last;
                continue;
            }
            rest = rest.get(sign.len_utf8()..).unwrap_or_default();
            if sign == '\\' {
                // An escaped space vanishes, any other sign means itself.
                let Some(literal) = rest.chars().next() else { break };
                if !literal.is_whitespace() {
                    self.text(literal.encode_utf8(&mut [0; 4]));
                }
                rest = rest.get(literal.len_utf8()..).unwrap_or_default();
                before = literal;
                continue;
            }
            // Most signs mean nothing in HTML.
            match sign {
                '&' | '<' | '"' => self.text(sign.encode_utf8(&mut [0; 4])),
                _ => self.out.push(sign),
            }
            before = sign;
        }
    }

    /// Writes the construct that the text begins with, and returns what follows it with the sign before that.
    fn construct<'r>(&mut self, rest: &'r str, before: char, depth: usize) -> Option<(&'r str, char)> {
        if !opens_after(before) {
            return None;
        }
        if let Some((literal, after)) = delimited(rest, "``", "``") {
            self.out.push_str("<code>");
            self.text(literal);
            self.out.push_str("</code>");
            return Some((after, '`'));
        }
        if let Some((role, after)) = role_before(rest) {
            let (text, after) = interpreted(after)?;
            self.role(role, text);
            return Some((after, '`'));
        }
        if let Some((text, after)) = interpreted(rest) {
            let (text, after) = match after.strip_prefix("__").or_else(|| after.strip_prefix('_')) {
                Some(after) => (shown(text), after),
                None => (text, after),
            };
            // The role of a text may also stand behind it.
            let (role, after) = role_before(after).unwrap_or(("", after));
            self.role(role, text);
            return Some((after, '`'));
        }
        if let Some((text, after)) = rest.strip_prefix("_`").and_then(|_| interpreted(rest.get(1..)?)) {
            self.text(text);
            return Some((after, '`'));
        }
        for (mark, element) in [("**", "b"), ("*", "i")] {
            if let Some((text, after)) = delimited(rest, mark, mark) {
                self.out.push('<');
                self.out.push_str(element);
                self.out.push('>');
                self.text(&unescaped(text));
                self.out.push_str("</");
                self.out.push_str(element);
                self.out.push('>');
                return Some((after, '*'));
            }
        }
        if let Some((name, after)) = delimited(rest, "|", "|") {
            let replaced = self.names.substitution(name).filter(|_| depth == 0)?;
            self.read(replaced, depth + 1);
            let after = after.strip_prefix("__").or_else(|| after.strip_prefix('_')).unwrap_or(after);
            return Some((after, '|'));
        }
        if let Some((label, after)) = delimited(rest, "[", "]_") {
            let is_note = label.starts_with(['#', '*']) || label.bytes().all(|byte| byte.is_ascii_digit());
            if is_note {
                let end = self.out.trim_end().len();
                self.out.truncate(end);
            } else {
                self.text(&format!("[{label}]"));
            }
            return Some((after, ']'));
        }
        self.reference(rest)
    }

    /// A word that refers to a target of the text: `Python_`.
    fn reference<'r>(&mut self, rest: &'r str) -> Option<(&'r str, char)> {
        let is_word = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '.' | '+' | '_');
        let near = rest.get(..rest.floor_char_boundary(LONGEST_NAME))?;
        let (word, after) = rest.split_at_checked(near.find(|sign: char| !is_word(sign)).unwrap_or(near.len()))?;
        let name = word.strip_suffix("__").or_else(|| word.strip_suffix('_'))?;
        if name.is_empty() || !self.names.has_target(name) {
            return None;
        }
        self.text(name);
        Some((after, '_'))
    }

    fn role(&mut self, role: &str, text: &str) {
        let name = role.rsplit(':').next().unwrap_or(role);
        let series = SERIES.iter().find(|(known, _)| *known == name).map_or("", |(_, series)| series);
        let own = shown(text);
        let is_titled = own.len() != text.len();
        let said = match name {
            "ref" | "numref" if !is_titled => {
                self.names.title(text).map_or_else(|| text.replace(['_', '-'], " "), str::to_owned)
            }
            "raw-html" | "index" => String::new(),
            _ if is_titled => own.to_owned(),
            // "~a.b.C" is shown as "C", and "!C" refers to nothing.
            _ => match own.strip_prefix('~') {
                Some(path) => path.rsplit('.').next().unwrap_or(path).to_owned(),
                None => own.strip_prefix('!').unwrap_or(own).to_owned(),
            },
        };
        self.text(series);
        self.text(&unescaped(&said));
    }
}

/// Whether markup may begin behind a sign.
fn opens_after(before: char) -> bool {
    before.is_whitespace() || !before.is_alphanumeric() && !matches!(before, '`' | '\\' | '_' | '@' | '~' | '=')
}

/// The text between two marks at the beginning of `rest`, and what follows.
fn delimited<'r>(rest: &'r str, open: &str, close: &str) -> Option<(&'r str, &'r str)> {
    let inside = rest.strip_prefix(open)?;
    if inside.starts_with(|sign: char| sign.is_whitespace()) {
        return None;
    }
    let near = inside.get(..inside.floor_char_boundary(LONGEST))?;
    let ends = |at: &usize| {
        let text = inside.get(..*at).unwrap_or_default();
        let after = inside.get(at + close.len()..).unwrap_or_default();
        let closes = after.chars().next().is_none_or(|next| !next.is_alphanumeric() && !close.starts_with(next));
        !text.is_empty() && !text.ends_with(|sign: char| sign.is_whitespace() || sign == '\\') && closes
    };
    let at = near.match_indices(close).map(|(at, _)| at).find(ends)?;
    Some((inside.get(..at)?, inside.get(at + close.len()..)?))
}

/// The text between two backquotes at the beginning of `rest`, and what follows.
fn interpreted(rest: &str) -> Option<(&str, &str)> {
    let inside = rest.strip_prefix('`').filter(|inside| !inside.starts_with(['`', ' ']))?;
    let at = inside.get(..inside.floor_char_boundary(LONGEST))?.find('`').filter(|at| *at > 0)?;
    Some((inside.get(..at)?, inside.get(at + 1..)?))
}

/// The role at the beginning of `rest`, and what follows: `:py:class:`.
fn role_before(rest: &str) -> Option<(&str, &str)> {
    let inside = rest.strip_prefix(':')?;
    let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, ':' | '-' | '_' | '.' | '+');
    let near = inside.get(..inside.floor_char_boundary(LONGEST_NAME))?;
    let (name, after) = inside.split_at_checked(near.find(|sign: char| !is_name(sign))?)?;
    let name = name.strip_suffix(':').filter(|name| !name.is_empty())?;
    // Before a text only: "::" and "a:b: c" are none.
    (after.starts_with('`') || name.chars().all(char::is_alphanumeric)).then_some((name, after))
}

/// The text of a reference without its target: of `text <target>`.
fn shown(text: &str) -> &str {
    let Some((shown, target)) = text.rsplit_once('<') else { return text };
    let shown = shown.trim_end();
    if target.ends_with('>') && !shown.is_empty() { shown } else { text }
}

fn unescaped(text: &str) -> String {
    text.replace("\\ ", "").replace('\\', "")
}
