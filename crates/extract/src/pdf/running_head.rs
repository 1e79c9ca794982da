//! The running header above the title of a document.
//!
//! On a page or two nothing is repeated that would prove it, and on the first of many it stays. Above the title it would be
//! a text by itself; it is read below it, without what it repeats of it.

use super::{
    furniture::{SMALLER, is_at_top},
    glyphs::Page,
    headings::{LARGER, body_size},
    lines::{Line, belong_together},
    outline::letters,
};

/// Puts the lines in small print above the title of the first page below it.
pub(super) fn put_below_title(pages: &mut [Page]) {
    let body = body_size(pages.iter().flat_map(|page| &page.lines));
    let Some(page) = pages.first_mut() else { return };
    let is_running = |line: &Line| line.tag.is_none() && line.size < body * SMALLER && is_at_top(line, page.height);
    let Some(first) = page.lines.iter().find(|line| !is_running(line)).filter(|first| first.size >= body * LARGER)
    else {
        return;
    };
    let top = first.origin.y;
    let (head, mut rest): (Vec<Line>, Vec<Line>) =
        std::mem::take(&mut page.lines).into_iter().partition(|line| is_running(line) && line.origin.y < top);
    let length = rest.chunk_by(belong_together).next().map_or(0, <[Line]>::len);
    let title: Vec<String> = rest.iter().take(length).map(|line| letters(&line.text)).collect();
    let title = title.concat();
    let head: Vec<Line> = head.into_iter().filter_map(|line| without(line, &title)).collect();
    rest.splice(length..length, head);
    page.lines = rest;
}

/// The line without the cells that say the title; `None` if it has no others.
fn without(mut line: Line, title: &str) -> Option<Line> {
    let count = line.cells.len();
    line.cells.retain(|cell| letters(&cell.text) != title);
    if line.cells.len() < count {
        line.text = line.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("\t");
    }
    (!line.text.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::lines::{LineBuilder, tests::drawn};

    fn read(lines: &[(&str, f64, f64, f64)]) -> Vec<String> {
        let mut builder = LineBuilder::default();
        for (text, x, y, size) in lines {
            drawn(&mut builder, text, *x, *y, *size);
        }
        let mut pages = [Page { lines: builder.finish(None), height: 800.0 }];
        put_below_title(&mut pages);
        pages.into_iter().flat_map(|page| page.lines).map(|line| line.text).collect()
    }

    #[test]
    fn a_running_header_stands_below_the_title() {
        let text = ("The oil is in the shed, and the chalk is beside it.", 50.0, 140.0, 10.0);
        let title = [("Paints of the year", 50.0, 80.0, 16.0), ("and their uses", 50.0, 98.0, 16.0)];
        let head = ("Example Works", 50.0, 30.0, 8.0);
        let expected = ["Paints of the year", "and their uses", "Example Works", text.0];
        assert_eq!(read(&[head, title[0], title[1], text]), expected);
        // It may be drawn last, and repeat the title.
        assert_eq!(read(&[title[0], title[1], text, head]), expected);
        let again = ("Paints of the year and their uses", 300.0, 30.0, 8.0);
        assert_eq!(read(&[head, again, title[0], title[1], text]), expected);
        assert_eq!(read(&[again, title[0], title[1], text]), [expected[0], expected[1], expected[3]]);
    }

    #[test]
    fn other_lines_stay_above() {
        let text = ("The oil is in the shed, and the chalk is beside it.", 50.0, 140.0, 10.0);
        let title = ("Paints of the year", 50.0, 100.0, 16.0);
        for lines in [
            // Of the size of the text, in its midst, and above text without a title.
            [("Example Works", 50.0, 30.0, 10.0), title, text],
            [("Example Works", 50.0, 130.0, 8.0), ("Paints", 50.0, 160.0, 16.0), text],
            [("Example Works", 50.0, 30.0, 8.0), text, ("Paints", 50.0, 160.0, 16.0)],
        ] {
            assert_eq!(read(&lines), lines.map(|line| line.0));
        }
    }
}
