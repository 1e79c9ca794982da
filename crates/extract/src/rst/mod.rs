//! reStructuredText, with the directives and roles of Sphinx: written as HTML, and read as a web page.
//!
//! The syntax is that of the docutils project (<https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html>). Files
//! that a text includes are not read. Whatever is not understood is read as the text that it is: nothing is an error.

mod block;
mod directive;
mod field;
mod footnotes;
mod inline;
mod names;
mod table;

use domain::wording::next_column;

use self::{block::Blocks, names::Names};
use super::{ExtractError, content::Content, html};

/// Adds a text.
pub(super) fn page(source: &str, content: &mut Content) -> Result<(), ExtractError> {
    let source = untabbed(source);
    let lines: Vec<&str> = source.lines().map(str::trim_end).collect();
    let lines = footnotes::in_their_sections(&lines);
    let mut blocks = Blocks::new(Names::of(&lines));
    blocks.read(&lines);
    html::page(&blocks.into_html(), content)
}

/// Whether plain text is reStructuredText, by what nothing else looks like: a directive, or a target.
pub(super) fn looks_like_rst(bytes: &[u8]) -> bool {
    let is_sign = |line: &[u8]| {
        let line = std::str::from_utf8(line.trim_ascii_end()).unwrap_or_default();
        let Some(markup) = line.strip_prefix(".. ") else { return false };
        markup.starts_with('_') && markup.ends_with(':') || directive::name_of(markup).is_some()
    };
    bytes.split(|byte| *byte == b'\n').any(is_sign)
}

fn untabbed(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    for line in source.lines() {
        let mut column = 0;
        for sign in line.chars() {
            let next = next_column(sign, column);
            text.extend(std::iter::repeat_n(if sign == '\t' { ' ' } else { sign }, next - column));
            column = next;
        }
        text.push('\n');
    }
    text
}

/// Columns before the text of a line.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The lines without the indent that they share.
fn dedented<'t>(lines: &[&'t str]) -> Vec<&'t str> {
    let shared = lines.iter().filter(|line| !line.is_empty()).map(|line| indent(line)).min().unwrap_or(0);
    lines.iter().map(|line| line.get(shared..).unwrap_or_default()).collect()
}

/// Number of the first lines that are blank or indented by at least `columns`, blank ones at the end left out.
fn indented(lines: &[&str], columns: usize) -> usize {
    let belongs = |line: &&&str| line.is_empty() || indent(line) >= columns;
    let all = lines.iter().take_while(belongs).count();
    let own = lines.get(..all).unwrap_or_default();
    own.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests;
