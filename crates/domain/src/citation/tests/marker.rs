use proptest::prelude::*;

use crate::citation::marker::{MarkerFault, Markers, markers};
use crate::markdown::blocks;
use crate::span::{IndexedText, Span};

fn parse(text: &str) -> Markers {
    markers(&IndexedText::new(text), &blocks(text))
}

fn numbers(text: &str) -> Vec<u32> {
    parse(text).valid.iter().map(|marker| marker.number).collect()
}

fn faults(text: &str) -> Vec<(MarkerFault, &str)> {
    let malformed = parse(text).malformed;
    malformed.iter().map(|marker| (marker.fault, marker.span.slice(text).unwrap())).collect()
}

#[test]
fn finds_markers() {
    let cases: [(&str, &[u32]); 12] = [
        ("", &[]),
        ("a [^1] b[^2][^1]", &[1, 2, 1]),
        ("[^4294967295]", &[4_294_967_295]),
        (r"\[^1] \\[^2] \\\[^3]", &[2]),
        ("`[^1]` and ``[^2]``", &[1, 2]),
        ("[[^1]] ([^2])", &[1, 2]),
        ("```\n[^1]\n```\n[^2]", &[2]),
        ("~~~\n[^1]\n```\n[^2]", &[]),
        ("   ```\n[^1]", &[]),
        ("    ```\n[^1]", &[1]),
        ("- ```\n  [^1]\n  ```\n[^2]", &[2]),
        ("- item\n  ```\n[^2]", &[2]),
    ];
    for (text, expected) in cases {
        assert_eq!(numbers(text), expected, "{text:?}");
        assert_eq!(faults(text), [], "{text:?}");
    }
}

#[test]
fn tells_what_is_wrong() {
    let cases = [
        ("a [^]", MarkerFault::Empty, "[^]"),
        ("é [^abc] b", MarkerFault::NotANumber, "[^abc]"),
        ("[^1 a]", MarkerFault::NotANumber, "[^1 a]"),
        ("[^+1]", MarkerFault::NotANumber, "[^+1]"),
        ("[^１]", MarkerFault::NotANumber, "[^１]"),
        ("[^1,2]", MarkerFault::NotANumber, "[^1,2]"),
        ("[^-1]", MarkerFault::Negative, "[^-1]"),
        ("[^0]", MarkerFault::Zero, "[^0]"),
        ("[^01]", MarkerFault::LeadingZero, "[^01]"),
        ("[^4294967296]", MarkerFault::Overflow, "[^4294967296]"),
        ("[^1", MarkerFault::Unterminated, "[^1"),
        ("[^", MarkerFault::Unterminated, "[^"),
        ("so [^1 it is\n]", MarkerFault::Unterminated, "[^1"),
        ("`[^x]`", MarkerFault::NotANumber, "[^x]"),
    ];
    for (text, fault, words) in cases {
        assert_eq!(faults(text), [(fault, words)], "{text:?}");
    }
    let digits = format!("[^{}]", "9".repeat(500));
    assert_eq!(faults(&digits), [(MarkerFault::Overflow, digits.as_str())]);
}

#[test]
fn an_unclosed_marker_swallows_no_other() {
    let found = parse("[^1 and [^2] and [^3");
    assert_eq!(found.valid[0].number, 2);
    assert_eq!(found.malformed.len(), 2);
    assert_eq!(found.malformed[1].span, Span::new(17, 20));
}

#[test]
fn stays_linear() {
    for unit in ["[^1]", "[^", "\\", "\\[^1]", "[^a", "[^ ", "[^1", "```\n[^1]\n"] {
        let text = unit.repeat(1_000_000 / unit.len());
        let started = std::time::Instant::now();
        let _ = parse(&text);
        assert!(started.elapsed().as_secs() < 10, "{unit:?} took {:?}", started.elapsed());
    }
}

proptest! {
    #[test]
    fn survives_any_text(text in "([\\[\\]^\\\\0-9a`~ \n\\-]|\\[\\^|\\[\\^1\\]|```\n|é){0,80}|\\PC*") {
        let found = parse(&text);
        let mut spans: Vec<_> = found.valid.iter().map(|marker| marker.span).collect();
        for marker in &found.valid {
            let written = format!("[^{}]", marker.number);
            prop_assert_eq!(marker.span.slice(&text), Some(written.as_str()));
            prop_assert_eq!(text.get(marker.bytes.clone()), Some(written.as_str()));
        }
        for marker in &found.malformed {
            prop_assert!(marker.span.slice(&text).is_some_and(|words| words.starts_with("[^")));
            spans.push(marker.span);
        }
        spans.sort_unstable();
        prop_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}
