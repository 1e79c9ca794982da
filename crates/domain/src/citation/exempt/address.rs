//! Addresses in an answer: targets of links and images, URLs, e-mail addresses, and HTML that does more than format.

use std::ops::Range;

use linkify::{LinkFinder, LinkKind};

use crate::markdown::{ReferenceKind, references};

/// Elements that only format their text, without attributes. Sorted, for the binary search.
const FORMATTING: [&str; 35] = [
    "b",
    "blockquote",
    "br",
    "caption",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "small",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// An address in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) kind: AddressKind,
    /// As a source would hold it.
    pub(super) text: String,
    /// Where it stands: for a link, with its words.
    pub(super) bytes: Range<usize>,
    /// The part of it that is no words of the answer.
    pub(super) target: Range<usize>,
}

/// Kinds of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressKind {
    /// A link, an image, a URL or an e-mail address: programs that show an answer make it a link.
    Live,
    /// Words that look like a host, without a scheme ("example.org/login").
    Bare,
    /// HTML.
    Html,
}

/// The addresses of a text, in order.
pub(super) fn addresses(text: &str) -> Vec<Address> {
    let mut found = Vec::new();
    for reference in references(text) {
        match reference.kind {
            ReferenceKind::Link if !reference.target.starts_with('#') => found.push(Address {
                kind: AddressKind::Live,
                target: reference.address(text),
                text: reference.target,
                bytes: reference.bytes,
            }),
            ReferenceKind::Html if !only_formats(&reference.target) => found.push(Address {
                kind: AddressKind::Html,
                text: reference.target.trim().to_owned(),
                target: reference.bytes.clone(),
                bytes: reference.bytes,
            }),
            ReferenceKind::Link | ReferenceKind::Html => {}
        }
    }
    let written: Vec<Address> = written(text).collect();
    found.extend(written.into_iter().filter(|address| !address.text.is_empty()));
    found.sort_by_key(|address| (address.bytes.start, address.bytes.end));
    found.dedup_by(|later, first| first.target.contains(&later.target.start) && later.kind != AddressKind::Html);
    found
}

/// URLs, hosts and e-mail addresses among the words.
fn written(text: &str) -> impl Iterator<Item = Address> {
    let mut finder = LinkFinder::new();
    finder.url_must_have_scheme(false);
    let links: Vec<_> = finder
        .links(text)
        .map(|link| (link.start(), link.as_str().to_owned(), *link.kind() == LinkKind::Email))
        .collect();
    links.into_iter().map(|(start, link, is_email)| {
        let end = link.find("[^").into_iter().chain(link.find(['*', '`', '|', '<', '>'])).min();
        let address = link.get(..end.unwrap_or(link.len())).unwrap_or_default();
        let is_live = is_email || address.contains("://") || address.to_lowercase().starts_with("www.");
        let bytes = start..start + address.len();
        Address {
            kind: if is_live { AddressKind::Live } else { AddressKind::Bare },
            text: address.to_owned(),
            target: bytes.clone(),
            bytes,
        }
    })
}

/// Whether a piece of HTML is only tags that format, without attributes, and words.
fn only_formats(html: &str) -> bool {
    html.split('<').skip(1).all(|tag| {
        let Some((inside, _)) = tag.split_once('>') else { return false };
        let name = inside.trim_matches(|sign: char| sign == '/' || sign.is_whitespace()).to_lowercase();
        FORMATTING.binary_search(&name.as_str()).is_ok()
    }) && html.contains('<')
}

/// An address in the form in which two are compared: without scheme, "www." and a slash at its end.
pub(super) fn plain(address: &str) -> String {
    let lower = address.trim().to_lowercase();
    let mut plain = lower.as_str();
    for start in ["https://", "http://", "mailto:", "tel:", "//", "www."] {
        plain = plain.strip_prefix(start).unwrap_or(plain);
    }
    plain.trim_end_matches('/').to_owned()
}

/// Whether a text holds an address as a whole: it may go on with a path, and not with more of the host's name.
pub(super) fn holds(text: &str, address: &str) -> bool {
    let continues = |rest: &str| {
        let mut signs = rest.chars();
        match signs.next() {
            Some('.') => signs.next().is_some_and(char::is_alphanumeric),
            next => next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '-' | '_' | '@')),
        }
    };
    let is_inside = |before: &str| {
        before
            .chars()
            .next_back()
            .is_some_and(|last| last.is_alphanumeric() || matches!(last, '-' | '_' | '.' | '@' | '+'))
            && !before.ends_with("www.")
    };
    let text = text.to_lowercase();
    !address.is_empty()
        && text.match_indices(address).any(|(at, _)| {
            let (before, rest) =
                (text.get(..at).unwrap_or_default(), text.get(at + address.len()..).unwrap_or_default());
            !is_inside(before) && !continues(rest)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_addresses_of_every_form() {
        let found = |text: &str| addresses(text).into_iter().map(|one| (one.kind, one.text)).collect::<Vec<_>>();
        let cases = [
            ("Write to help@a.example [^1].", AddressKind::Live, "help@a.example"),
            ("See https://a.example/b[^1].", AddressKind::Live, "https://a.example/b"),
            ("See **www.a.example**.", AddressKind::Live, "www.a.example"),
            ("See a-host.com/login now.", AddressKind::Bare, "a-host.com/login"),
            ("[https://a.example](https://b.example)", AddressKind::Live, "https://b.example"),
            ("[x](data:text/html,y)", AddressKind::Live, "data:text/html,y"),
            ("<img src=x onerror=run()>", AddressKind::Html, "<img src=x onerror=run()>"),
            ("a <b onclick=run()>c</b>", AddressKind::Html, "<b onclick=run()>"),
        ];
        for (text, kind, address) in cases {
            assert!(found(text).contains(&(kind, address.to_owned())), "{text}: {:?}", found(text));
        }
        for text in ["It is <b>so</b>, e.g. here, i.e. at 5 p.m.<br>", "See [above](#leave).", "It is 2.5 million."] {
            assert_eq!(found(text), [], "{text}");
        }
        assert!(FORMATTING.is_sorted());
    }

    #[test]
    fn an_address_is_held_as_a_whole() {
        let cases = [
            ("See https://www.a.example/b.", "a.example", true),
            ("See a.example.", "a.example", true),
            ("See a.example.org", "a.example", false),
            ("See not-a.example", "a.example", false),
            ("Write to me@a.example", "a.example", false),
            ("See a.example/b", "a.example/bc", false),
        ];
        for (text, address, expected) in cases {
            assert_eq!(holds(text, address), expected, "{address} in {text}");
        }
        assert_eq!(plain("https://www.A.example/b/"), "a.example/b");
    }
}
