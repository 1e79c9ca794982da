//! Pages that only lead to another one, which generators of documentation write where a page has moved.

use ego_tree::Tree;

use super::{main_content::elements, tree::Node};

/// Number of words up to which the text of such a page can be no more than a note on where it leads.
const MOST_WORDS: usize = 40;

/// Longest time in seconds after which the browser goes on by itself; a page that is left later is there to be read.
const LONGEST_DELAY: u32 = 5;

/// The address that a page with this text leads to by `<meta http-equiv="refresh">` (HTML Standard, 4.2.5.3).
pub(super) fn target_of(tree: &Tree<Node>, text: &str) -> Option<String> {
    if text.split_whitespace().nth(MOST_WORDS).is_some() {
        return None;
    }
    let is_refresh = |value: &str| value.trim().eq_ignore_ascii_case("refresh");
    elements(tree)
        .filter(|(_, element)| element.name() == "meta" && element.attribute("http-equiv").is_some_and(is_refresh))
        .find_map(|(_, element)| address(element.attribute("content")?))
}

/// The address of a refresh in the form `0; url=page.html`; `None` without one, or if the page stays for a while.
fn address(content: &str) -> Option<String> {
    let (delay, rest) = content.split_once([';', ','])?;
    let seconds: u32 = delay.trim().split('.').next()?.parse().ok()?;
    let (name, address) = rest.split_once('=')?;
    let address = address.trim().trim_matches(['"', '\'']);
    let leads = seconds <= LONGEST_DELAY && name.trim().eq_ignore_ascii_case("url") && !address.is_empty();
    leads.then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::{Cause, Content, page};

    #[test]
    fn a_page_that_only_leads_to_another_one_is_empty() {
        for (refresh, leads_to) in [
            ("0;URL=new/pumps.html", Some("new/pumps.html")),
            ("1.5; url='../index.html'", Some("../index.html")),
            ("0, Url = \"a?b=c\"", Some("a?b=c")),
            // A page that is loaded anew, one that stays for a while, and what is no refresh.
            ("300", None),
            ("0", None),
            ("30; url=next.html", None),
            ("soon; url=next.html", None),
            ("0; url=", None),
        ] {
            let refresh = refresh.replace('"', "&quot;");
            let html =
                format!("<meta http-equiv=Refresh content=\"{refresh}\"><title>Moved</title><p>Redirecting to it.");
            match (page(&html, &mut Content::default()), leads_to) {
                (Err(error), Some(leads_to)) => {
                    let message = format!("the page only leads to {leads_to}; send that one");
                    assert_eq!((error.cause, error.message), (Cause::Empty, message));
                }
                (result, leads_to) => assert_eq!(result.is_ok(), leads_to.is_none(), "{refresh}"),
            }
        }
    }

    #[test]
    fn a_page_with_content_of_its_own_is_read() {
        let html = "<meta http-equiv=refresh content='0; url=b.html'><p>".to_owned() + &"A word. ".repeat(40);
        let mut content = Content::default();
        page(&html, &mut content).expect("a page");
        assert!(content.text.starts_with("A word."), "{}", content.text);
    }
}
