//! What the parser leaves in text because only a site or a project knows it.

use std::borrow::Cow;

use crate::html::escaped;

/// Longest text, and longest address, of a link whose address is not known, in bytes.
const LONGEST_LINK_TEXT: usize = 500;

/// Text as HTML, without the indent that its lines share.
pub(super) fn unindented(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = text.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines = text.lines().map(|line| line.get(shared..).unwrap_or_default());
    escaped(&lines.collect::<Vec<_>>().join("\n"))
}

/// Text without the macros that only a site or a project knows. Links whose address begins with an attribute that the
/// document does not define, as in `{url-docs}/a[text]`, are their text; manual pages, `linkgit:git-log[1]`, are named as
/// usual.
pub(super) fn without_macros(rendered: &str) -> Cow<'_, str> {
    let (mut text, mut copied, mut is_code) = (String::new(), 0, false);
    for (at, _) in rendered.match_indices(['{', '<', ':']) {
        let rest = rendered.get(at..).unwrap_or_default();
        if rest.starts_with("<code>") || rest.starts_with("</code>") {
            is_code = !rest.starts_with("</");
        }
        let before = rendered.get(copied..at).filter(|_| !is_code).unwrap_or_default();
        let name_length = before.bytes().rev().take_while(u8::is_ascii_lowercase).count();
        let (before_name, name) = before.split_at(before.len() - name_length);
        if at < copied || is_code {
            continue;
        }
        if let Some((link_text, length)) = link_at(rest) {
            text.extend([before, link_text.trim_end_matches('^')]);
            copied = at + length;
        } else if let Some((page, section, length)) = page_at(name, rest) {
            text.extend([before_name, page, "(", section, ")"]);
            copied = at + length;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(rendered);
    }
    text.push_str(rendered.get(copied..).unwrap_or_default());
    Cow::Owned(text)
}

/// The text of such a link that a text begins with, and the length of the link.
fn link_at(text: &str) -> Option<(&str, usize)> {
    let (name, rest) = text.strip_prefix('{').map(|rest| split_at(rest, |sign| !is_of_name(sign)))?;
    let address = rest.strip_prefix('}').filter(|_| !name.is_empty())?;
    let end = address
        .bytes()
        .take(LONGEST_LINK_TEXT)
        .position(|byte| byte.is_ascii_whitespace() || b"<>[]".contains(&byte))?;
    let rest = address.get(end..)?.strip_prefix('[')?;
    let length = rest.bytes().take(LONGEST_LINK_TEXT).position(|byte| byte == b']')?;
    Some((rest.get(..length)?, text.len() - rest.len() + length + 1))
}

/// The name and the section of a manual page behind the name of a macro, and the length of both.
fn page_at<'t>(name: &str, text: &'t str) -> Option<(&'t str, &'t str, usize)> {
    let (page, rest) = split_at(text.strip_prefix(':')?, |sign| !is_of_name(sign) && !".&#;".contains(sign));
    let section = rest.strip_prefix('[')?.get(..1)?;
    let is_macro = name == "man" || name.starts_with("link");
    let is_page = is_macro
        && !page.is_empty()
        && rest.get(2..)?.starts_with(']')
        && section.starts_with(|sign: char| sign.is_ascii_digit());
    is_page.then_some((page, section, page.len() + 4))
}

const fn is_of_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_')
}

fn split_at(text: &str, ends: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(ends).unwrap_or(text.len()))
}
