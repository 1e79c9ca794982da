//! Blocks of a text: sections, paragraphs, lists, and what directives hold.

use super::{dedented, directive, field, indent, indented, inline, names::Names, table};
use crate::html::escaped;

/// Deepest nesting that is read as such; what is deeper is read as one paragraph.
const DEEPEST: usize = 32;

/// Fewest signs of a line under a title that is longer than it.
const SHORTEST_RULE: usize = 4;

/// Deepest heading of HTML.
const LAST_LEVEL: usize = 6;

/// Signs before the items of a list.
const BULLETS: [char; 5] = ['*', '+', '-', '•', '‣'];

/// The HTML of a text as it is written.
pub(super) struct Blocks<'t> {
    out: String,
    names: Names<'t>,
    /// Styles of titles in the order in which they appear: the sign of the rule, and whether one stands above too.
    styles: Vec<(char, bool)>,
    depth: usize,
}

impl<'t> Blocks<'t> {
    pub(super) const fn new(names: Names<'t>) -> Self {
        Self { out: String::new(), names, styles: Vec::new(), depth: 0 }
    }

    pub(super) fn into_html(self) -> String {
        self.out
    }

    /// Reads lines of one indent.
    pub(super) fn read(&mut self, lines: &[&str]) {
        if self.depth == DEEPEST {
            self.paragraph(&lines.iter().map(|line| line.trim()).collect::<Vec<_>>());
            return;
        }
        self.depth += 1;
        let mut rest = lines;
        while let Some(line) = rest.first() {
            let read = if line.is_empty() { 1 } else { self.block(line, rest) };
            rest = rest.get(read.max(1)..).unwrap_or_default();
        }
        self.depth -= 1;
    }

    /// Reads the block that lines begin with; returns how many of them are its.
    fn block(&mut self, line: &str, lines: &[&str]) -> usize {
        if line.starts_with(' ') {
            let length = indented(lines, 1);
            self.nested("blockquote", lines.get(..length).unwrap_or_default());
            return length;
        }
        if line == ".." || line.starts_with(".. ") {
            let length = 1 + indented(lines.get(1..).unwrap_or_default(), 1);
            directive::explicit(self, lines.get(..length).unwrap_or_default());
            return length;
        }
        if line.starts_with("__ ") {
            return 1;
        }
        if let Some(length) = title_length(lines).filter(|_| self.depth == 1) {
            self.title(lines.get(..length).unwrap_or_default());
            return length;
        }
        let tables = || table::grid(lines).or_else(|| table::simple(lines));
        if let Some((table, length)) = tables() {
            table.write(&self.names, &mut self.out);
            return length;
        }
        if rule(line).is_some_and(|_| line.len() >= SHORTEST_RULE) {
            return 1;
        }
        let read = [Self::list, Self::fields, Self::options, Self::line_block, Self::doctest, Self::definitions];
        read.iter().find_map(|read| read(self, lines)).unwrap_or_else(|| self.text(lines))
    }

    fn title(&mut self, lines: &[&str]) {
        let Some(sign) = lines.last().and_then(|line| rule(line)) else { return };
        let style = (sign, lines.len() == 3);
        let level = self.styles.iter().position(|known| *known == style).unwrap_or_else(|| {
            self.styles.push(style);
            self.styles.len() - 1
        });
        let level = (level + 1).min(LAST_LEVEL);
        let title = lines.get(lines.len() - 2).map_or("", |title| title.trim());
        self.element(&format!("h{level}"), title);
    }

    /// A list of bullets or numbers.
    fn list(&mut self, lines: &[&str]) -> Option<usize> {
        let (first, _) = marker(lines)?;
        let (open, close) = match first {
            Marker::Bullet(_) => ("<ul>".to_owned(), "</ul>"),
            Marker::Number(start) => (format!("<ol start=\"{start}\">"), "</ol>"),
        };
        self.out.push_str(&open);
        let mut read = 0;
        loop {
            let rest = lines.get(read..).unwrap_or_default();
            let blank = rest.iter().take_while(|line| line.is_empty()).count();
            let Some((own, width)) = marker(rest.get(blank..).unwrap_or_default()) else { break };
            if !own.goes_on(first) {
                break;
            }
            let item = rest.get(blank..).unwrap_or_default();
            let length = 1 + indented(item.get(1..).unwrap_or_default(), width.min(2));
            let mut body = vec![item.first().and_then(|line| line.get(width..)).unwrap_or_default().trim_start()];
            body.extend(dedented(item.get(1..length).unwrap_or_default()));
            self.item("li", &body);
            read += blank + length;
        }
        self.out.push_str(close);
        Some(read)
    }

    /// Fields of a document or of an object, as a list of definitions.
    fn fields(&mut self, lines: &[&str]) -> Option<usize> {
        field::field(lines.first()?)?;
        self.out.push_str("<dl>");
        let mut read = 0;
        while let Some(rest) = lines.get(read..)
            && let Some((name, text)) = rest.first().and_then(|line| field::field(line))
        {
            let length = 1 + indented(rest.get(1..).unwrap_or_default(), 1);
            if let Some(name) = field::shown(name) {
                let mut body = vec![text];
                body.extend(dedented(rest.get(1..length).unwrap_or_default()));
                if body.iter().any(|line| !line.is_empty()) {
                    self.element("dt", &name);
                    // "P. Hask" is a name, not item 16 of a list.
                    if length == 1 { self.element("dd", text) } else { self.item("dd", &body) }
                }
            }
            read += length;
        }
        self.out.push_str("</dl>");
        Some(read)
    }

    /// Options of a command with their descriptions two spaces away, or below.
    fn options(&mut self, lines: &[&str]) -> Option<usize> {
        let option = |line: &str| {
            let is_option = line.len() > 1 && line.starts_with('-') && !line.starts_with("- ") && rule(line).is_none();
            let (option, text) = line.split_once("  ").unwrap_or((line, ""));
            is_option.then(|| (option.to_owned(), text.trim_start().to_owned()))
        };
        let is_described =
            |rest: &[&str], text: &str| !text.is_empty() || rest.get(1).is_some_and(|next| next.starts_with(' '));
        option(lines.first()?).filter(|(_, text)| is_described(lines, text))?;
        self.out.push_str("<dl>");
        let mut read = 0;
        while let Some(rest) = lines.get(read..)
            && let Some((name, text)) = rest.first().and_then(|line| option(line))
            && is_described(rest, &text)
        {
            let length = 1 + indented(rest.get(1..).unwrap_or_default(), 1);
            let below = dedented(rest.get(1..length).unwrap_or_default());
            let mut body = vec![text.as_str()];
            body.extend(below);
            self.out.push_str("<dt>");
            self.out.push_str(&escaped(&name));
            self.out.push_str("</dt>");
            self.item("dd", &body);
            let after = lines.get(read + length..).unwrap_or_default();
            let blank = after.iter().take_while(|line| line.is_empty()).count();
            let goes_on = after.get(blank).is_some_and(|line| option(line).is_some());
            read += length + if goes_on { blank } else { 0 };
        }
        self.out.push_str("</dl>");
        Some(read)
    }

    /// Lines that are kept: those of an address or a poem.
    fn line_block(&mut self, lines: &[&str]) -> Option<usize> {
        let words = |line: &&str| {
            let text = line.strip_prefix('|')?;
            (text.is_empty() || text.starts_with(' ')).then(|| text.trim().to_owned())
        };
        let own: Vec<String> = lines.iter().map_while(words).collect();
        if own.is_empty() {
            return None;
        }
        let written: Vec<String> = own.iter().map(|line| inline::html(line, &self.names)).collect();
        self.out.push_str("<p>");
        self.out.push_str(&written.join("<br>"));
        self.out.push_str("</p>");
        Some(own.len())
    }

    fn doctest(&mut self, lines: &[&str]) -> Option<usize> {
        lines.first().filter(|line| line.starts_with(">>> "))?;
        let length = lines.iter().take_while(|line| !line.is_empty()).count();
        self.code(lines.get(..length).unwrap_or_default());
        Some(length)
    }

    /// Terms with their definitions indented below.
    fn definitions(&mut self, lines: &[&str]) -> Option<usize> {
        let is_term = |lines: &[&str]| {
            let [term, below, ..] = lines else { return false };
            !term.is_empty() && !term.starts_with(' ') && below.starts_with(' ') && !term.ends_with("::")
        };
        if !is_term(lines) {
            return None;
        }
        self.out.push_str("<dl>");
        let mut read = 0;
        loop {
            let rest = lines.get(read..).unwrap_or_default();
            let blank = rest.iter().take_while(|line| line.is_empty()).count();
            let item = rest.get(blank..).unwrap_or_default();
            if !is_term(item) || item.first().is_some_and(|line| line.starts_with("..")) {
                break;
            }
            let length = 1 + indented(item.get(1..).unwrap_or_default(), 1);
            self.element("dt", item.first().unwrap_or(&""));
            self.item("dd", &dedented(item.get(1..length).unwrap_or_default()));
            read += blank + length;
        }
        self.out.push_str("</dl>");
        (read > 0).then_some(read)
    }

    /// A paragraph, and the literal block that it announces.
    fn text(&mut self, lines: &[&str]) -> usize {
        let length = lines.iter().take_while(|line| !line.is_empty()).count();
        let own = lines.get(..length).unwrap_or_default();
        let Some((said, before)) = own.split_last().and_then(|(last, before)| Some((last.strip_suffix("::")?, before)))
        else {
            self.paragraph(own);
            return length;
        };
        // "Run::" is shown as "Run:", and "Run ::" as "Run".
        let said = if said.is_empty() || said.ends_with(' ') { said.to_owned() } else { format!("{said}:") };
        let announcement: Vec<&str> = before.iter().copied().chain([said.as_str()]).collect();
        self.paragraph(&announcement);
        let after = lines.get(length..).unwrap_or_default();
        let blank = after.iter().take_while(|line| line.is_empty()).count();
        let block = after.get(blank..).unwrap_or_default();
        match indented(block, 1) {
            0 => length,
            code => {
                self.code(&dedented(block.get(..code).unwrap_or_default()));
                length + blank + code
            }
        }
    }

    pub(super) fn paragraph(&mut self, lines: &[&str]) {
        self.element("p", lines.join(" ").trim());
    }

    /// An element with text.
    pub(super) fn element(&mut self, name: &str, text: &str) {
        let html = inline::html(text, &self.names);
        if !html.trim().is_empty() {
            self.out.extend(["<", name, ">", &html, "</", name, ">\n"]);
        }
    }

    /// An element with blocks.
    pub(super) fn nested(&mut self, name: &str, lines: &[&str]) {
        self.item(name, &dedented(lines));
    }

    /// The same of lines without indent.
    pub(super) fn item(&mut self, name: &str, lines: &[&str]) {
        self.out.extend(["<", name, ">"]);
        self.read(lines);
        self.out.extend(["</", name, ">\n"]);
    }

    /// Lines of code.
    pub(super) fn code(&mut self, lines: &[&str]) {
        self.out.push_str("<pre>");
        self.out.push_str(&escaped(&lines.join("\n")));
        self.out.push_str("</pre>\n");
    }

    /// Terms that share a definition.
    pub(super) fn definition(&mut self, terms: &[&str], lines: &[&str]) {
        self.out.push_str("<dl>");
        for term in terms {
            self.out.push_str("<dt>");
            self.out.push_str(&escaped(term));
            self.out.push_str("</dt>");
        }
        self.item("dd", lines);
        self.out.push_str("</dl>");
    }

    /// A table that is written otherwise than by lines.
    pub(super) fn table(&mut self, table: &table::Table) {
        table.write(&self.names, &mut self.out);
    }
}

/// The sign before an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Bullet(char),
    Number(u32),
}

impl Marker {
    fn goes_on(self, first: Self) -> bool {
        match (self, first) {
            (Self::Bullet(own), Self::Bullet(other)) => own == other,
            (Self::Number(_), Self::Number(_)) => true,
            _ => false,
        }
    }
}

/// The marker of the item that lines begin with, and the columns up to its text.
fn marker(lines: &[&str]) -> Option<(Marker, usize)> {
    let line = lines.first()?;
    let first = line.chars().next()?;
    if BULLETS.contains(&first) {
        let rest = line.get(first.len_utf8()..)?;
        return (rest.is_empty() || rest.starts_with(' '))
            .then(|| (Marker::Bullet(first), first.len_utf8() + indent(rest)));
    }
    let inside = line.strip_prefix('(').unwrap_or(line);
    let end = inside.find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '#')?;
    let (number, rest) = inside.split_at_checked(end)?;
    let rest = rest.strip_prefix(['.', ')'])?;
    let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
    let start = match number {
        "#" => 1,
        _ if is_letter => u32::from(number.to_ascii_lowercase().bytes().next()? - b'a') + 1,
        _ => number.parse().ok()?,
    };
    // "A. Smith wrote it" goes on below at the same indent.
    let next = lines.get(1).copied().unwrap_or_default();
    let is_number = |line: &str| line.starts_with(|sign: char| sign.is_ascii_digit() || matches!(sign, '#' | '('));
    let is_alone = next.is_empty() || next.starts_with(' ') || !is_letter && is_number(next);
    let width = line.len() - rest.len() + indent(rest);
    (rest.starts_with(' ') && is_alone).then_some((Marker::Number(start), width))
}

/// The sign that a line consists of.
fn rule(line: &str) -> Option<char> {
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() > 1 && line.chars().all(|sign| sign == first)).then_some(first)
}

/// How many lines the title takes that lines begin with: two, or three with a rule above.
pub(super) fn title_length(lines: &[&str]) -> Option<usize> {
    let is_under = |title: &str, line: &str| {
        let width = title.trim().chars().count();
        rule(line).is_some() && (line.len() >= width || line.len() >= SHORTEST_RULE)
    };
    let is_title = |title: &str| title.chars().any(char::is_alphanumeric);
    match lines {
        [above, title, under, ..]
            if rule(above).is_some() && above == under && is_title(title) && is_under(title, under) =>
        {
            Some(3)
        }
        [title, under, ..] if !title.starts_with(' ') && is_title(title) && is_under(title, under) => Some(2),
        _ => None,
    }
}
