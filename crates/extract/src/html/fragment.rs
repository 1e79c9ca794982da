//! Parts of pages that stand in other documents.

use ego_tree::iter::Edge;

use super::{
    kinds::{SKIPPED, is_block},
    tree::{Node, parse},
};

/// Elements that are kept beside blocks and headings.
const KEPT: [&str; 11] = ["b", "br", "code", "del", "s", "strike", "strong", "sub", "sup", "td", "th"];

/// Attributes that are kept.
const ATTRIBUTES: [&str; 6] = ["colspan", "hidden", "rowspan", "start", "style", "type"];

/// Part of a page with each element closed, so that text around it stays what it is: nothing in it hides or ends what comes
/// after it. Elements that are never read are left out, and of those that say nothing of what is in them, the tags.
pub(in super::super) fn closed(html: &str) -> String {
    let tree = parse(&format!("<body>{html}"));
    let mut written = String::with_capacity(html.len());
    let mut skipped = None;
    for edge in tree.root().traverse() {
        match edge {
            Edge::Open(_) if skipped.is_some() => {}
            Edge::Open(node) => match node.value() {
                Node::Element(element) if SKIPPED.contains(&element.name()) => skipped = Some(node.id()),
                Node::Element(element) if is_kept(element.name()) => {
                    written.push('<');
                    written.push_str(element.name());
                    for name in ATTRIBUTES {
                        if let Some(value) = element.attribute(name) {
                            written.extend([" ", name, "=\"", &escaped(value), "\""]);
                        }
                    }
                    written.push('>');
                }
                Node::Element(_) | Node::Other => {}
                Node::Text(text) => written.push_str(&escaped(text)),
            },
            Edge::Close(node) => match (skipped, node.value()) {
                (Some(id), _) if id == node.id() => skipped = None,
                (None, Node::Element(element)) if is_kept(element.name()) && element.name() != "br" => {
                    written.extend(["</", element.name(), ">"]);
                }
                (Some(_) | None, _) => {}
            },
        }
    }
    written
}

/// Whether an element says how its text is read, and is none of the page itself.
fn is_kept(name: &str) -> bool {
    (is_block(name) || KEPT.contains(&name)) && !matches!(name, "body" | "form" | "html" | "main")
}

/// Text as HTML, in which none of its signs has a meaning.
pub(in super::super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_closed() {
        let cases = [
            (" a <u>b <b>c", " a b <b>c</b>"),
            ("<script>x</script><textarea>y", ""),
            ("a<!-- b", "a"),
            ("a</main></body></html><main>b", "ab"),
            ("<plaintext>a<b>", "a&lt;b>"),
            ("<p>a<p hidden>&lt;b&amp;", "<p>a</p><p hidden=\"\">&lt;b&amp;</p>"),
            ("<table><tr><td colspan=2>a", "<table><tbody><tr><td colspan=\"2\">a</td></tr></tbody></table>"),
        ];
        for (html, expected) in cases {
            assert_eq!(closed(html), expected, "{html}");
            assert_eq!(closed(expected), expected, "{html}");
        }
    }
}
