//! Manual pages in the macros of man(7) and mdoc(7): rendered to HTML by mandoc, and read as a web page.

mod memory_file;

use std::borrow::Cow;

use libmandoc_rs::{Compression, IncludePolicy, ParseOptions, Parser, RenderErrorKind, RenderFormat, Renderer};

use super::{
    Cause, ExtractError,
    content::{Content, MAX_TEXT_BYTES},
    html,
};

/// Number of bytes at the start that may come before the macro that names the page: converters define macros first.
const PREAMBLE: usize = 64 * 1024;

/// Whether a text is the source of a manual page: its first line is a request, and one of the first names the page. A page
/// may also be no more than a reference to another one.
pub(super) fn looks_like_manual(bytes: &[u8]) -> bool {
    let beginning = bytes.get(..PREAMBLE).unwrap_or(bytes).trim_ascii_start();
    if !beginning.starts_with(b".") && !beginning.starts_with(b"'") {
        return false;
    }
    let mut lines = beginning.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(b".TH ") || line.starts_with(b".TH\t") || line.starts_with(b".Dd"))
        || referred(bytes).is_some()
}

/// The page that a page refers to which has nothing else.
fn referred(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_comment = |line: &str| line.starts_with(".\\\"") || line.starts_with("'\\\"");
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !is_comment(line));
    let page = lines.next()?.strip_prefix(".so ")?;
    lines.next().is_none().then_some(page.trim())
}

/// Adds a manual page. Its title is its name with its section, as in `tar(1)`.
///
/// # Errors
/// `malformed`, `too_large`, or `empty` if it refers to another page, since other files are not read.
pub(super) fn page(source: &str, content: &mut Content) -> Result<(), ExtractError> {
    if let Some(page) = referred(source.as_bytes()) {
        let message = format!("the manual page only refers to {page}; send that one");
        return Err(ExtractError::new(Cause::Empty, message));
    }
    let options = ParseOptions { includes: IncludePolicy::Deny, compression: Compression::Plain };
    let renderer = Renderer::new(RenderFormat::Html)
        .with_parser(Parser::new(options))
        // Tags are about as long as the text between them.
        .with_max_output_bytes(2 * MAX_TEXT_BYTES);
    let page = renderer.render_bytes("page", with_items(source).as_bytes()).map_err(|error| match error.kind {
        RenderErrorKind::OutputLimit => ExtractError::new(Cause::TooLarge, "the manual page is too long; split it"),
        _ => ExtractError::malformed("manual page", error.message),
    })?;
    html::page(&page.output, content)?;
    content.title = content.title.take().map(|title| as_called(&title, &content.text));
    Ok(())
}

/// The source with the items of lists as such: `DocBook`'s stylesheets draw their bullets and numbers by moving to the left
/// (`\h'-04'\(bu\h'+03'\c`).
fn with_items(source: &str) -> Cow<'_, str> {
    const TO_THE_LEFT: &str = "\\h'-04'";
    if !source.contains(TO_THE_LEFT) {
        return Cow::Borrowed(source);
    }
    let item = |line: &str| {
        let (mark, _) = line.strip_prefix(TO_THE_LEFT)?.split_once("\\h'")?;
        Some(format!(".IP \"{}\" 4", mark.trim()))
    };
    let lines = source.lines().map(|line| item(line).map_or(Cow::Borrowed(line), Cow::Owned));
    Cow::Owned(lines.flat_map(|line| [line, Cow::Borrowed("\n")]).collect::<String>())
}

/// The title of a page, `TAR(1)`, in the letters in which its first paragraph has the name: `tar - an archiving utility`.
fn as_called(title: &str, text: &str) -> String {
    let Some((name, section)) = title.split_once('(') else { return title.to_owned() };
    let name = name.trim_end_matches(':');
    let called =
        text.split(|sign: char| sign.is_whitespace() || sign == ',').find(|word| word.eq_ignore_ascii_case(name));
    format!("{}({section}", called.unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extracted, extract, needs_isolation};

    const PUMP: &str = r#".\" A pump.
.de Sp
.if t .sp .5v
..
.TH PUMP 8 "May 2026" "pump 2.1" "Harbour tools"
.SH NAME
pump \- move water
.SH SYNOPSIS
.B pump
[\fB\-q\fR] \fIbasin\fR
.SH OPTIONS
.TP
.BR \-q ", " \-\-quiet
Print nothing but errors.
.TP
.BI \-\-limit= litres
Stop after
.I litres
litres; 500 if nothing is said.
.SS "Exit status"
It is 0 if the basin is dry.
.PP
Text goes on\(em\|here.
.nf
  pump \-q north
.fi
.TS
l l.
Basin	Litres
north	900
.TE
"#;

    fn read(source: &str) -> Extracted {
        extract(source.as_bytes(), "application/octet-stream", None).expect("readable")
    }

    #[test]
    fn a_page_is_read_as_it_is_shown() {
        let page = read(PUMP);
        assert_eq!((page.title.as_deref(), page.media_type.as_str()), (Some("pump(8)"), "text/troff"));
        let headings: Vec<(&str, u8)> = page.headings.iter().map(|heading| (&*heading.text, heading.level)).collect();
        assert_eq!(headings, [("NAME", 2), ("SYNOPSIS", 2), ("OPTIONS", 2), ("Exit status", 3)]);
        for part in [
            "pump - move water",
            "pump [-q] basin",
            "-q, --quiet: Print nothing but errors.",
            "--limit=litres: Stop after litres litres; 500 if nothing is said.",
            "Text goes on—here.",
            "pump -q north",
            "900",
        ] {
            assert!(page.text.contains(part), "{part}: {}", page.text);
        }
        assert_eq!(read(&PUMP.replace("TH PUMP", "TH PUMP:")).title.as_deref(), Some("pump(8)"));
        assert!(!page.text.contains("\\f") && !page.text.contains("Harbour tools"), "{}", page.text);
    }

    #[test]
    fn macros_of_mdoc_are_read_too() {
        let page = read(
            ".Dd May 1, 2026\n.Dt GATE 1\n.Os\n.Sh NAME\n.Nm gate\n.Nd open a sluice\n.Sh DESCRIPTION\nThe options are:\n\
             .Bl -tag -width Ds\n.It Fl n Ar count\nOpen it\n.Ar count\ntimes.\n.El\n",
        );
        assert_eq!(page.title.as_deref(), Some("gate(1)"));
        assert!(page.text.contains("gate — open a sluice"), "{}", page.text);
        assert!(page.text.contains("-n count: Open it count times."), "{}", page.text);
    }

    #[test]
    fn names_over_indented_blocks_are_entries() {
        let page = read(
            ".TH GATE 1\n.SH OPTIONS\n.PP\n\\-n <count>\n.RS 4\nOpen it.\n.sp\nMore than once.\n.RE\n.PP\n\\-q\n.RS 4\n.nf\ngate \\-q\n\
             .fi\n.RE\n.PP\nIt is called so:\n.RS 4\nfrom afar\n.RE\n",
        );
        let expected = "OPTIONS\n\n-n <count>: Open it.\n\nMore than once.\n\n-q:\n\n```\ngate -q\n```\n\nIt is called so:\n\nfrom afar";
        assert_eq!(page.text, expected);
    }

    #[test]
    fn a_value_over_an_indented_list_is_no_name() {
        let page = read(
            ".TH GATE 1\n.SH OPTIONS\n.RS 0\n.TP\n.B \\-n\nOpen it so often.\n.sp\nDefault: 1\n.RE\n.RS 0\n.TP\n.B \\-q\nBe quiet.\n.RE\n",
        );
        assert_eq!(page.text, "OPTIONS\n\n-n: Open it so often.\n\nDefault: 1\n\n-q: Be quiet.");
    }

    #[test]
    fn drawn_items_are_items() {
        let item = |mark: &str, text: &str| {
            format!(
                ".sp\n.RS 4\n.ie n \\{{\\\n\\h'-04'{mark}\\h'+03'\\c\n.\\}}\n.el \\{{\\\n.sp -1\n.IP \\(bu 2.3\n.\\}}\n{text}\n.RE\n"
            )
        };
        let items = [item("\\(bu", "Open the gate."), item("\\(bu", "Close it."), item(" 1.", "Wait.")].concat();
        let page = read(&format!(".TH GATE 1\n.SH NOTES\nYou can do two things:\n{items}"));
        let expected = "NOTES\n\nYou can do two things:\n- Open the gate.\n- Close it.\n\n1. Wait.";
        assert_eq!(page.text, expected);
    }

    #[test]
    fn other_text_is_no_manual_page() {
        for text in ["The macro .TH names a page.\n.TH A 1\n", ".env\nis a file", "'tis\nthe season", ".\n"] {
            assert!(!looks_like_manual(text.as_bytes()), "{text}");
            assert_eq!(read(text).media_type, "text/plain");
        }
        let markdown = extract(PUMP.as_bytes(), "text/markdown", None).expect("readable");
        assert_eq!(markdown.media_type, "text/markdown");
        assert!(needs_isolation(PUMP.as_bytes(), "text/plain"));
    }

    #[test]
    fn a_page_that_is_another_one_says_which() {
        for source in [".so man8/pump.8\n", ".\\\" Made by a tool.\n.so man8/pump.8"] {
            let error = extract(source.as_bytes(), "text/plain", None).expect_err("nothing in it");
            assert!(error.cause == Cause::Empty && error.message.contains("man8/pump.8"), "{error:?}");
        }
        // Nothing of another file is read.
        let page = read(".TH A 1\n.SH NAME\na\n.so /etc/hostname\nThe end.\n");
        assert!(page.text.contains("The end."), "{}", page.text);
    }
}
