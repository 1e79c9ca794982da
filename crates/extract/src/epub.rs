//! Electronic books: the chapters in reading order.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::{
    Cause, ExtractError,
    archive::Archive,
    content::Content,
    html,
    office::resolve,
    xml::{Token, walk},
};

/// Adds a book.
pub(super) fn book(bytes: &[u8], content: &mut Content) -> Result<(), ExtractError> {
    let mut archive = Archive::open(bytes)?;
    let missing = |what: &str| ExtractError::malformed("book", format!("it has no {what}"));
    let container = archive.text("META-INF/container.xml")?.ok_or_else(|| missing("container"))?;
    let package_path = root_file(&container)?.ok_or_else(|| missing("package"))?;
    let package = Package::read(&archive.text(&package_path)?.ok_or_else(|| missing("package"))?)?;
    content.name(&package.title);
    let folder = package_path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let locked = archive.text("META-INF/encryption.xml")?.unwrap_or_default();
    for chapter in package.chapters() {
        let path = resolve(folder, &percent_decode_str(chapter).decode_utf8_lossy());
        if locked.contains(&format!("\"{path}\"")) {
            return Err(ExtractError::new(
                Cause::Encrypted,
                "the book is copy-protected (DRM); send a copy without protection",
            ));
        }
        // Books list covers and fonts that do not exist; a missing chapter is no reason to reject the others.
        if let Some(page) = archive.text(&path)? {
            html::chapter(&page, content)?;
        }
    }
    Ok(())
}

fn root_file(container: &str) -> Result<Option<String>, ExtractError> {
    let mut path = None;
    walk(container, |token| {
        if let Token::Open(element) = token
            && element.name() == "rootfile"
            && path.is_none()
        {
            path = element.attribute("full-path");
        }
        Ok(())
    })?;
    Ok(path)
}

/// The package document: the files of the book, and their reading order.
#[derive(Debug, Default)]
struct Package {
    title: String,
    /// Paths of the chapters' files by id.
    items: HashMap<String, String>,
    spine: Vec<String>,
}

impl Package {
    fn read(xml: &str) -> Result<Self, ExtractError> {
        let mut package = Self::default();
        let mut titles = 0;
        let mut in_title = false;
        walk(xml, |token| {
            match token {
                Token::Open(element) => match element.name() {
                    "title" => {
                        titles += 1;
                        in_title = titles == 1;
                    }
                    "item" => {
                        let kind = element.attribute("media-type").unwrap_or_default();
                        if let (Some(id), Some(place)) = (element.attribute("id"), element.attribute("href"))
                            && kind.contains("html")
                        {
                            package.items.insert(id, place);
                        }
                    }
                    "itemref" => package.spine.extend(element.attribute("idref")),
                    _ => {}
                },
                Token::Close(_) => in_title = false,
                Token::Text(text) if in_title => package.title.push_str(&text),
                Token::Text(_) => {}
            }
            Ok(())
        })?;
        Ok(package)
    }

    fn chapters(&self) -> impl Iterator<Item = &str> {
        self.spine.iter().filter_map(|id| self.items.get(id)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::tests::packed;

    fn read(encryption: &str) -> Result<Content, ExtractError> {
        let package = "<package><metadata><dc:title>A book</dc:title><dc:title>Its subtitle</dc:title></metadata>
            <manifest><item id='one' href='text/one%201.xhtml' media-type='application/xhtml+xml'/>
            <item id='two' href='text/two.xhtml' media-type='application/xhtml+xml'/>
            <item id='gone' href='gone.xhtml' media-type='application/xhtml+xml'/>
            <item id='css' href='a.css' media-type='text/css'/></manifest>
            <spine><itemref idref='two'/><itemref idref='gone'/><itemref idref='css'/><itemref idref='one'/></spine></package>";
        let chapter = |number: u8| {
            format!("<html><head><title>x</title></head><body><h1>Chapter {number}</h1><p>Words.</p></body></html>")
        };
        let parts: [(&str, &str); 5] = [
            (
                "META-INF/container.xml",
                "<container><rootfiles><rootfile full-path='OEBPS/p.opf'/></rootfiles></container>",
            ),
            ("META-INF/encryption.xml", encryption),
            ("OEBPS/p.opf", package),
            ("OEBPS/text/one 1.xhtml", &chapter(1)),
            ("OEBPS/text/two.xhtml", &chapter(2)),
        ];
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        let mut content = Content::default();
        book(&packed(&parts), &mut content).map(|()| content)
    }

    #[test]
    fn chapters_come_in_reading_order() {
        let content = read("<encryption/>").expect("a book");
        assert_eq!(content.text, "Chapter 2\n\nWords.\n\nChapter 1\n\nWords.");
        assert_eq!(content.title.as_deref(), Some("A book"));
        assert_eq!(content.headings.len(), 2);
    }

    #[test]
    fn locked_chapters_are_not_passed_over() {
        let locked = "<encryption><CipherReference URI=\"OEBPS/text/two.xhtml\"/></encryption>";
        assert_eq!(read(locked).expect_err("locked").cause, Cause::Encrypted);
    }
}
