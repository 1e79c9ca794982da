//! Splits a stream into lines, in bounded memory.

/// A line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The bytes of the line, without the line break.
    Whole(Vec<u8>),
    /// The line exceeds the size limit; its bytes were skipped.
    TooLong,
}

/// Splits the parts of a stream into lines at `\n`; a `\r` before it belongs to the line break.
#[derive(Debug)]
pub(super) struct Lines {
    rest: Vec<u8>,
    is_passing_over: bool,
    max_bytes: usize,
}

impl Lines {
    pub(super) const fn new(max_bytes: usize) -> Self {
        Self { rest: Vec::new(), is_passing_over: false, max_bytes }
    }

    /// Takes the next line from `input`; `None` if the rest of the line has not arrived yet.
    pub(super) fn next(&mut self, input: &mut &[u8]) -> Option<Line> {
        let (line, rest) = match input.iter().position(|byte| *byte == b'\n') {
            Some(end) => (input.get(..end)?, input.get(end + 1..)),
            None => (*input, None),
        };
        self.keep(line);
        *input = rest.unwrap_or_default();
        rest.is_some().then(|| self.take())
    }

    /// Bytes of the line that would be held with the beginning of `input`; those of a line that is too long are not held.
    pub(super) fn held_with(&self, input: &[u8]) -> usize {
        let more = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
        let length = self.rest.len() + more;
        if self.is_passing_over || length > self.max_bytes { 0 } else { length }
    }

    /// The last line, if the stream does not end with a line break.
    pub(super) fn last(&mut self) -> Option<Line> {
        (self.is_passing_over || !self.rest.is_empty()).then(|| self.take())
    }

    fn keep(&mut self, part: &[u8]) {
        if self.is_passing_over || self.rest.len() + part.len() > self.max_bytes {
            self.is_passing_over = true;
            self.rest = Vec::new();
        } else {
            self.rest.extend_from_slice(part);
        }
    }

    fn take(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.rest);
        if std::mem::take(&mut self.is_passing_over) {
            return Line::TooLong;
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Line::Whole(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(parts: &[&[u8]], max_bytes: usize) -> Vec<Line> {
        let mut lines = Lines::new(max_bytes);
        let mut found = Vec::new();
        for part in parts {
            let mut input = *part;
            while !input.is_empty() {
                found.extend(lines.next(&mut input));
            }
        }
        found.extend(lines.last());
        found
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_end_at_breaks_wherever_the_stream_is_cut() {
        assert_eq!(lines(&[b"a\nb", b"c\r", b"\n\n", b"d"], 10), [whole("a"), whole("bc"), whole(""), whole("d")]);
        assert_eq!(lines(&[b"a\n"], 10), [whole("a")]);
        assert_eq!(lines(&[], 10), []);
    }

    #[test]
    fn a_long_line_is_passed_over_and_the_next_one_is_read() {
        assert_eq!(lines(&[b"1234", b"5678", b"9\nab\n"], 5), [Line::TooLong, whole("ab")]);
        assert_eq!(lines(&[b"123456"], 5), [Line::TooLong]);
    }

    proptest! {
        #[test]
        fn cuts_do_not_matter(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut parts = Vec::new();
            let mut start = 0;
            for cut in cuts {
                parts.push(&bytes[start..cut]);
                start = cut;
            }
            parts.push(&bytes[start..]);
            prop_assert_eq!(lines(&parts, 8), lines(&[bytes], 8));
        }
    }
}
