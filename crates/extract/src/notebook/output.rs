//! What the code of a cell has printed.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};

use super::{
    super::{
        content::Content,
        html::{self, between_fences},
    },
    model::Text,
};

/// Longest text of an output, in bytes. What a program prints is there to be looked at, rarely to be read.
const LONGEST: usize = 2_048;

/// Most outputs of a cell.
const MOST_OUTPUTS: usize = 32;

/// Longest HTML that is read, in bytes. Longer ones are programs that draw pictures.
const LONGEST_HTML: usize = 1024 * 1024;

/// Shortest picture in a text that is left out, in letters of its encoding.
const SHORTEST_PICTURE: usize = 64;

/// The outputs of a cell, as Markdown.
#[derive(Debug, Default)]
pub(super) struct Outputs(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Outputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OutputsVisitor)
    }
}

struct OutputsVisitor;

impl<'de> Visitor<'de> for OutputsVisitor {
    type Value = Outputs;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of outputs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Outputs, A::Error> {
        let (mut written, mut printed) = (Vec::new(), String::new());
        while written.len() < MOST_OUTPUTS {
            let Some(output) = list.next_element::<Output>()? else { break };
            // What is printed in several steps is one text.
            if &*output.kind.0 == "stream" {
                printed.push_str(&output.text.0);
                continue;
            }
            written.extend(fenced(&std::mem::take(&mut printed)));
            written.extend(output.markdown());
        }
        written.extend(fenced(&printed));
        let mut more = 0_usize;
        while list.next_element::<IgnoredAny>()?.is_some() {
            more += 1;
        }
        if more > 0 {
            written.push(format!("(More outputs: {more})"));
        }
        Ok(Outputs(written))
    }

    fn visit_unit<E>(self) -> Result<Outputs, E> {
        Ok(Outputs::default())
    }
}

/// An output. Those of nbformat 3 have their texts beside their type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Output {
    #[serde(rename = "output_type")]
    kind: Text,
    text: Text,
    html: Text,
    ename: Text,
    evalue: Text,
    data: Option<Data>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Data {
    #[serde(rename = "text/plain")]
    plain: Text,
    #[serde(rename = "text/markdown")]
    markdown: Text,
    #[serde(rename = "text/html")]
    html: Text,
}

impl Output {
    /// The output in the form that says most: Markdown, a table of a page, or plain text.
    fn markdown(self) -> Option<String> {
        if !self.ename.0.is_empty() {
            return fenced(&format!("{}: {}", self.ename.0, self.evalue.0));
        }
        let data = self.data.unwrap_or_default();
        let plain = if data.plain.0.is_empty() { self.text.0 } else { data.plain.0 };
        let html = if data.html.0.is_empty() { self.html.0 } else { data.html.0 };
        let markdown = without_pictures(&data.markdown.0);
        if !markdown.trim().is_empty() {
            return Some(cut(&markdown).into_owned());
        }
        read(&html).or_else(|| fenced(&plain))
    }
}

/// The text of a page, if it has some.
fn read(page: &str) -> Option<String> {
    if page.is_empty() || page.len() > LONGEST_HTML {
        return None;
    }
    let mut content = Content::default();
    html::page(page, &mut content).ok()?;
    (!content.text.trim().is_empty()).then(|| cut(&content.text).into_owned())
}

/// Text that a program printed, between fences.
fn fenced(printed: &str) -> Option<String> {
    let printed = shown(printed);
    let printed = printed.trim_matches('\n').trim_end();
    (!printed.is_empty()).then(|| between_fences("", &cut(printed)))
}

/// Printed text as a terminal shows it: without its colours, and of a line that is written over, what is written last.
fn shown(printed: &str) -> String {
    let mut text = String::with_capacity(printed.len());
    let mut parts = printed.split("\u{1b}[");
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        // An instruction ends with a letter.
        let end = part.find(|sign: char| ('@'..='~').contains(&sign)).map_or(part.len(), |end| end + 1);
        text.push_str(part.get(end..).unwrap_or_default());
    }
    let lines = text.split('\n').map(|line| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Text that is not too long, or its first lines and how much there is more.
fn cut(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(LONGEST);
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once('\n').map_or(kept, |(lines, _)| lines);
    Cow::Owned(format!("{kept}\n[… {} more bytes]", text.len() - kept.len()))
}

/// Text without the pictures that are written into it in letters: `data:image/png;base64,…`.
pub(super) fn without_pictures(text: &str) -> Cow<'_, str> {
    const SIGN: &str = ";base64,";
    if !text.contains(SIGN) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(SIGN);
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_picture = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '+' | '/' | '=');
        let end = part.find(|sign| !is_of_picture(sign)).unwrap_or(part.len());
        kept.push_str(SIGN);
        kept.push_str(part.get(if end < SHORTEST_PICTURE { 0 } else { end }..).unwrap_or_default());
    }
    Cow::Owned(kept)
}
