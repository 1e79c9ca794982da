//! The text embedded in front of a piece: its document's title, its heading path and the header of its table.
//!
//! A paragraph rarely names its subject; its title and headings do. On long filings, putting them in front is worth 0.2
//! nDCG@10. A row of a table means little without the names of its columns. They take room in the embedder's window, and callers may send titles of any length, so they get at most
//! half of it.

use unicode_segmentation::UnicodeSegmentation;

use super::TokenCounter;

/// The amount of text that an embedder reads at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Longest input in tokens, special tokens included (256 for all-MiniLM-L6-v2).
    pub tokens: usize,
    /// Tokens that the model adds to every input (2 for BERT: `[CLS]` and `[SEP]`).
    pub special_tokens: usize,
}

impl Window {
    /// Most tokens that may stand in front of a piece: half of the window.
    #[must_use]
    pub const fn front_limit(self) -> usize {
        self.usable() / 2
    }

    /// Most tokens of a piece with `front_tokens` in front of it; at least 1.
    #[must_use]
    pub fn piece_budget(self, front_tokens: usize, max_tokens: usize) -> usize {
        self.usable().saturating_sub(front_tokens).min(max_tokens).max(1)
    }

    const fn usable(self) -> usize {
        self.tokens.saturating_sub(self.special_tokens)
    }
}

/// Text that goes in front of a piece, already cut to the window's limit. May be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Front {
    /// Title on the first line, heading path on the second, then the header of a table; each is left out if empty.
    pub text: String,
    /// Tokens of `text`.
    pub tokens: usize,
}

/// The text to embed, or to index lexically, for a piece: its front, the sentence that relates it to its document, if
/// there is one, and the piece.
#[must_use]
pub fn embedding_text(front: &str, sentence: Option<&str>, piece_text: &str) -> String {
    let lines = [Some(front).filter(|front| !front.is_empty()), sentence, Some(piece_text)];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// Longest prefix of a title or path that is examined, in characters per token of the limit.
const CHARACTERS_PER_TOKEN: usize = 16;

/// Separator between the headings of a path.
const PATH_SEPARATOR: &str = " > ";

/// Makes the [`Front`] of each piece of one document.
pub struct FrontComposer<'document> {
    title: &'document str,
    limit: usize,
    counter: &'document dyn TokenCounter,
}

impl<'document> FrontComposer<'document> {
    /// Prepares the title of one document for an embedder.
    #[must_use]
    pub fn new(title: &'document str, window: Window, counter: &'document dyn TokenCounter) -> Self {
        let limit = window.front_limit();
        Self { title: first_words(title.trim(), limit, counter), limit, counter }
    }

    /// The front for a piece under `heading_path` that begins below `table_header`, at most [`Window::front_limit`]
    /// tokens.
    ///
    /// A heading that repeats the title is left out. If all does not fit, a header is cut to half of the limit, the
    /// title to half of what remains, then the outermost headings go, then the innermost is cut at a word.
    #[must_use]
    pub fn compose(&self, heading_path: &[String], table_header: Option<&str>) -> Front {
        let header = table_header.map(|header| first_words(header.trim(), self.limit / 2, self.counter));
        let header = header.filter(|header| !header.is_empty());
        let taken = header.map_or(0, |header| self.counter.count(header));
        let subject = self.subject(heading_path, self.limit.saturating_sub(taken));
        let joined = join_lines(&subject, header.unwrap_or_default());
        // The parts fit one by one; a counter need not be additive, so the whole is cut as well.
        let text = first_words(&joined, self.limit, self.counter).to_owned();
        let tokens = self.counter.count(&text);
        Front { text, tokens }
    }

    /// Title and heading path within `limit` tokens.
    fn subject(&self, heading_path: &[String], limit: usize) -> String {
        let headings: Vec<&str> = heading_path
            .iter()
            .map(|heading| heading.trim())
            .filter(|heading| !heading.is_empty() && heading.to_lowercase() != self.title.to_lowercase())
            .collect();
        let whole = join_lines(self.title, &headings.join(PATH_SEPARATOR));
        if self.counter.count(&whole) <= limit {
            return whole;
        }
        let room = if headings.is_empty() { limit } else { limit / 2 };
        let title = first_words(self.title, room, self.counter);
        let path = self.shorten_path(&headings, limit.saturating_sub(self.counter.count(title)));
        join_lines(title, &path)
    }

    fn shorten_path(&self, headings: &[&str], limit: usize) -> String {
        (1..headings.len())
            .filter_map(|outermost| headings.get(outermost..))
            .map(|inner| inner.join(PATH_SEPARATOR))
            .find(|path| self.counter.count(path) <= limit)
            .or_else(|| headings.last().map(|last| first_words(last, limit, self.counter).to_owned()))
            .unwrap_or_default()
    }
}

fn join_lines(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first.to_owned(),
        (true, false) => second.to_owned(),
        (false, false) => format!("{first}\n{second}"),
    }
}

/// The longest prefix of `text` that ends at a word and has at most `limit` tokens.
#[must_use]
pub fn first_words<'text>(text: &'text str, limit: usize, counter: &dyn TokenCounter) -> &'text str {
    let readable = limit * CHARACTERS_PER_TOKEN;
    let text = text.char_indices().nth(readable).and_then(|(end, _)| text.get(..end)).unwrap_or(text).trim_end();
    if counter.count(text) <= limit {
        return text;
    }
    let ends: Vec<usize> = text.split_word_bound_indices().map(|(start, _)| start).collect();
    let prefix = |end: &usize| text.get(..*end).unwrap_or_default().trim_end();
    let fitting = ends.partition_point(|end| counter.count(prefix(end)) <= limit);
    // A longer prefix may have fewer tokens, so that the search by halves can end on a misfit.
    ends.iter().take(fitting).rev().map(prefix).find(|prefix| counter.count(prefix) <= limit).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { tokens: 22, special_tokens: 2 };

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn compose(title: &str, path: &[&str]) -> Front {
        let path: Vec<String> = path.iter().map(|heading| (*heading).to_owned()).collect();
        FrontComposer::new(title, WINDOW, &words).compose(&path, None)
    }

    #[test]
    fn the_header_of_a_table_comes_last_and_takes_half_of_the_room_at_most() {
        let composer = FrontComposer::new("Rates of the year", WINDOW, &words);
        let path = ["Tea and rum".to_owned()];
        assert_eq!(composer.compose(&path, Some("Name Rate")).text, "Rates of the year\nTea and rum\nName Rate");
        let long = composer.compose(&path, Some("a b c d e f g h i j"));
        assert_eq!((long.text.as_str(), long.tokens), ("Rates of\nTea and rum\na b c d e", 10));
        assert_eq!(composer.compose(&[], Some(" ")).text, "Rates of the year");
    }

    #[test]
    fn title_and_path_come_before_the_text() {
        let front = compose("Handbook", &["Leave", "Sick leave"]);
        assert_eq!(front.text, "Handbook\nLeave > Sick leave");
        assert_eq!(embedding_text(&front.text, None, "Stay home."), "Handbook\nLeave > Sick leave\nStay home.");
        assert_eq!(WINDOW.piece_budget(front.tokens, 512), 20 - 5);
        assert_eq!(WINDOW.piece_budget(front.tokens, 10), 10);
        assert_eq!(embedding_text(&compose(" ", &[]).text, None, "Text."), "Text.");
        assert_eq!(compose("", &["A"]).text, "A");
    }

    #[test]
    fn a_heading_that_repeats_the_title_is_left_out() {
        assert_eq!(compose("Handbook", &["handbook ", "Leave"]).text, "Handbook\nLeave");
    }

    #[test]
    fn the_text_keeps_half_of_the_window_whatever_the_title() {
        let absurd = "word ".repeat(100_000);
        let titled = compose(&absurd, &[]);
        assert_eq!(titled.tokens, 10);
        let both = compose(&absurd, &["one", "two three four five", "six seven"]);
        assert_eq!(both.text, "word word word word word\nsix seven");
        assert_eq!(compose(&absurd, &[&absurd]).tokens, 10);
        assert!(compose(&"x".repeat(1_000_000), &[]).text.len() <= 160);
        assert_eq!(WINDOW.piece_budget(WINDOW.front_limit(), 512), 10);
    }

    #[test]
    fn windows_too_small_for_anything_still_work() {
        let window = Window { tokens: 1, special_tokens: 2 };
        assert_eq!(window.piece_budget(0, 0), 1);
        assert_eq!(FrontComposer::new("Title", window, &words).compose(&["A".to_owned()], None), Front::default());
    }
}
