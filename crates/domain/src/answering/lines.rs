//! The lines of a paragraph that its writer broke on purpose, as in an address, the head of a letter or a list of commands.

use std::ops::Range;

use crate::wording::{MOST_OF_NAME, start_of_line};

/// Longest line of a command, in bytes: running text fills its lines.
const LONGEST_COMMAND: usize = 60;

/// The sentences of a paragraph by its lines, which are one where it runs on.
///
/// A paragraph has lines where none of its sentences goes on over the end of one; of a text that is wrapped at some width
/// most do. A sentence has lines where they begin like an entry ("To: …") or like a command ("$ …").
pub(super) fn lines_of<'t>(text: &'t str, sentences: &[Range<usize>]) -> Vec<Vec<&'t str>> {
    let words: Vec<&str> = sentences.iter().filter_map(|range| text.get(range.clone())).map(str::trim).collect();
    let runs_on = words.iter().any(|sentence| entries(sentence).iter().any(|entry| entry.contains('\n')));
    let ends = sentences.iter().skip(1).map(|next| next.start).chain([usize::MAX]);
    if let (Some(first), Some(last)) = (sentences.first(), sentences.last())
        && let Some(commands) = commands(text, first.start..last.end)
    {
        return commands.into_iter().map(|line| vec![line]).collect();
    }
    let mut lines: Vec<Vec<&str>> = vec![Vec::new()];
    for ((sentence, range), next) in words.into_iter().zip(sentences).zip(ends) {
        for (number, entry) in entries(sentence).into_iter().enumerate() {
            if number > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push(entry);
            }
        }
        let is_at_end = text.get(range.end..next).is_some_and(|between| between.contains('\n'));
        if is_at_end && !runs_on {
            lines.push(Vec::new());
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// The lines of a paragraph of commands or settings in plain text: it is indented below a line that leads it in, and no line of it
/// ends like one of running text, or is as long.
fn commands(text: &str, range: Range<usize>) -> Option<Vec<&str>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let start = start_of_line(text, range.start);
    let own: Vec<&str> = text.get(start..range.end)?.lines().collect();
    let above = text.get(..start)?.lines().rfind(|line| !line.trim().is_empty())?;
    let is_led_in = above.trim_end().ends_with(':') && own.iter().all(|line| indent(line) > indent(above));
    let is_command = |line: &&str| {
        let words = line.trim();
        words.len() <= LONGEST_COMMAND
            && !words.ends_with(['.', ',', ':', ';', '?', '!'])
            && !words.starts_with(['-', '*', '•'])
    };
    let begins = own.iter().filter(|line| !line.trim().starts_with(char::is_uppercase)).count();
    let are_commands = is_led_in && own.len() > 1 && own.iter().all(is_command) && begins > 0;
    are_commands.then(|| own.into_iter().map(str::trim).collect())
}

/// The entries or commands of a sentence, each with the lines that go on with it.
fn entries(sentence: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in sentence.split_inclusive('\n') {
        if at > 0 && begins_anew(line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([sentence.len()]);
    let entry = |(start, end): (&usize, usize)| sentence.get(*start..end).map(str::trim);
    starts.iter().zip(ends).filter_map(entry).collect()
}

fn begins_anew(line: &str) -> bool {
    let line = line.trim_start();
    let is_entry = line.split_once(": ").is_some_and(|(name, _)| {
        name.starts_with(char::is_uppercase) && name.split_whitespace().count() <= MOST_OF_NAME
    });
    is_entry || line.starts_with("$ ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentence::sentences;

    fn lines(text: &str) -> Vec<String> {
        let mut blocks: Vec<(usize, Vec<Range<usize>>)> = Vec::new();
        for sentence in sentences(text) {
            match blocks.last_mut().filter(|(block, _)| *block == sentence.block) {
                Some((_, own)) => own.push(sentence.words()),
                None => blocks.push((sentence.block, vec![sentence.words()])),
            }
        }
        let of = |(_, ranges): &(usize, Vec<Range<usize>>)| lines_of(text, ranges);
        blocks.iter().flat_map(of).map(|line| line.join(" | ")).collect()
    }

    #[test]
    fn lines_that_end_with_sentences_are_lines() {
        let address = "Address: 12 Mill Lane. Before it was 3.\nOpening: with a badge.\nBins: Tuesday.";
        let expected = ["Address: 12 Mill Lane. | Before it was 3.", "Opening: with a badge.", "Bins: Tuesday."];
        assert_eq!(lines(address), expected);
    }

    #[test]
    fn entries_and_commands_stand_on_lines_of_their_own() {
        let head = "From: Ada Lind\nTo: everybody\nDate: 2 March 2026";
        assert_eq!(lines(head), ["From: Ada Lind", "To: everybody", "Date: 2 March 2026"]);
        let commands = "$ ip netns add net0\n$ ip link set dev eth0\n  netns net0";
        assert_eq!(lines(commands), ["$ ip netns add net0", "$ ip link set dev eth0\n  netns net0"]);
    }

    #[test]
    fn indented_commands_stand_on_lines_of_their_own() {
        let led_in = "To turn the pump on, run:\n\n    pump enable north\n    pump start north\n\nIt runs then.";
        assert_eq!(
            lines(led_in),
            ["To turn the pump on, run:", "pump enable north", "pump start north", "It runs then."]
        );
        let text = "    The pump is north of\n    the well and red";
        assert_eq!(lines(text).len(), 1);
    }

    #[test]
    fn wrapped_text_is_one_line() {
        let wrapped = "The lamp is green when all is\nwell. It is red after a fault.\nCall the desk then, which is\nopen at night.";
        assert_eq!(lines(wrapped).len(), 1);
        assert_eq!(lines("One sentence."), ["One sentence."]);
        assert_eq!(lines("").len(), 0);
    }
}
