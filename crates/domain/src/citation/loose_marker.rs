//! Rewrites `[1]` as `[^1]` in the replies of models that are known to write markers without the caret.
//!
//! The grammar of markers stays strict: this is applied to a reply before it becomes a draft, and only where the
//! deployment says so of its model.

use crate::markdown::is_fence;

/// A reply with markers in the grammar, or `None` if there was nothing to rewrite: `[N]` and `[N, M]`, whose numbers are
/// those of sources, outside code, and not as the text of a link.
#[must_use]
pub fn normalised(reply: &str, sources: usize) -> Option<String> {
    let mut text = String::with_capacity(reply.len() + 16);
    let mut is_fenced = false;
    for line in reply.split_inclusive('\n') {
        let is_fence = is_fence(line);
        if is_fence || is_fenced {
            is_fenced ^= is_fence;
            text.push_str(line);
        } else {
            push_line(&mut text, line, sources);
        }
    }
    (text != reply).then_some(text)
}

fn push_line(text: &mut String, line: &str, sources: usize) {
    let mut rest = line;
    let mut is_code = false;
    while let Some(at) = rest.find(['[', '`', '\\']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let numbers = Some(from).filter(|_| !is_code).and_then(|from| numbers_in_brackets(from, sources));
        if let Some((numbers, after)) = numbers {
            text.extend(numbers.iter().map(|number| format!("[^{number}]")));
            rest = after;
            continue;
        }
        is_code ^= from.starts_with('`');
        // An escaped sign is literal.
        let taken = if from.starts_with('\\') { 2 } else { 1 };
        let end = from.char_indices().nth(taken).map_or(from.len(), |(end, _)| end);
        let (literal, after) = from.split_at(end);
        text.push_str(literal);
        rest = after;
    }
    text.push_str(rest);
}

/// The numbers of `[1, 2]` at the beginning of a text, and what follows. `None` if one is not that of a source, or if it
/// is the text of a link or of a definition.
fn numbers_in_brackets(text: &str, sources: usize) -> Option<(Vec<u32>, &str)> {
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    if after.starts_with(['(', ':']) {
        return None;
    }
    let is_source = |number: &u32| usize::try_from(*number).is_ok_and(|number| (1..=sources).contains(&number));
    let number = |part: &str| part.trim().parse().ok().filter(is_source);
    let numbers: Vec<u32> = inside.split(',').map(number).collect::<Option<_>>()?;
    Some((numbers, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::citation::{Draft, PreparedSource};

    #[test]
    fn numbers_of_sources_become_markers() {
        let rows = [
            ("It opens in May [1].", "It opens in May [^1]."),
            ("It opens in May.[1][2]", "It opens in May.[^1][^2]"),
            ("Both say so [1, 2].", "Both say so [^1][^2]."),
            ("One [^1], two [2].", "One [^1], two [^2]."),
            ("[2] It opens.\n\n- [1] In May.", "[^2] It opens.\n\n- [^1] In May."),
        ];
        for (reply, expected) in rows {
            assert_eq!(normalised(reply, 2).as_deref(), Some(expected), "{reply}");
        }
    }

    #[test]
    fn everything_else_stays() {
        for reply in [
            "It opens in May [^1].",
            "Source three [3] does not exist, nor does [0].",
            "See [1](https://example.org).",
            "[1]: https://example.org",
            "A literal \\[1].",
            "`x[1]` is code.",
            "```\nx[1] = y[2]\n```",
            "[a] [1a] [] [1.5] [-1] [1,]",
            "[1",
        ] {
            assert_eq!(normalised(reply, 2), None, "{reply}");
        }
    }

    proptest! {
        #[test]
        fn what_is_rewritten_is_only_markers(reply in "[a-z0-9\\[\\]\\^, `\\\\(:\n]{0,60}", sources in 0usize..4) {
            let rewritten = normalised(&reply, sources).unwrap_or_else(|| reply.clone());
            let prepared: Vec<PreparedSource> = (0..sources).map(|_| PreparedSource::new("text")).collect();
            let before = Draft::new(reply.as_str(), &prepared).markers().len();
            prop_assert!(Draft::new(rewritten.as_str(), &prepared).markers().len() >= before);
            prop_assert_eq!(normalised(&rewritten, sources), None, "once is enough");
        }
    }
}
