//! Lists of terms in manual pages as a terminal shows them: a name, and what it is indented below it or beside it.
//!
//! Read as running text the name is cut from what is said of it. Each is written as a paragraph that begins with its name and
//! a colon, as the lists of web pages and of Markdown are. Options stay: what they are called shows where they begin.

use std::borrow::Cow;

use domain::wording::next_column;

/// Longest name, in columns, and longest one that begins with signs: `[<branch>]@{upstream}, e.g. master@{upstream}`.
const LONGEST_NAME: usize = 60;
const LONGEST_WITH_SIGNS: usize = 76;

/// Fewest blanks between a name and what stands beside it on a single line.
const FEWEST_BLANKS: usize = 2;

/// Signs at the end of a line that is no name: of a sentence, of what leads on, of a command.
const NOT_AT_END: [char; 11] = ['.', ',', ';', ':', '!', '?', '{', '(', '\\', '|', '='];

/// The text of a manual page with its lists of terms as paragraphs.
pub(crate) fn written_out(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_page = text.lines().find(|line| !line.trim().is_empty()).is_some_and(super::is_name_of_page);
    if !is_page {
        return text;
    }
    let mut written = String::with_capacity(text.len());
    let mut is_synopsis = false;
    let lines: Vec<Row<'_>> = text.split_inclusive('\n').map(Row::of).collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if line.indent == 0 && !line.words.is_empty() {
            is_synopsis = line.words == "SYNOPSIS";
        }
        // A heading stands right above its text.
        let is_text = |line: &&Row<'_>| !line.words.is_empty() && line.indent > super::SUBSECTION_INDENT;
        let length = lines.iter().skip(at).take_while(is_text).count().max(1);
        let block = lines.get(at..at + length).unwrap_or_default();
        match entries(block).filter(|_| !is_synopsis && line.indent > super::SUBSECTION_INDENT) {
            Some(entries) => write(line.indent, &entries, &mut written),
            None => block.iter().for_each(|line| written.push_str(line.whole)),
        }
        at += length;
    }
    Cow::Owned(written)
}

/// A line of a page.
struct Row<'t> {
    whole: &'t str,
    /// Its words, without white space at its ends.
    words: &'t str,
    /// Columns before them.
    indent: usize,
}

/// A term, and the lines that say what it is.
struct Entry<'t> {
    names: Vec<&'t str>,
    said: Vec<&'t str>,
}

impl<'t> Row<'t> {
    fn of(whole: &'t str) -> Self {
        let words = whole.trim();
        let before = whole.get(..whole.len() - whole.trim_start().len()).unwrap_or_default();
        Self { whole, words, indent: columns(before) }
    }

    /// Its name and what stands beside it from a column on.
    fn parted_at(&self, column: usize) -> Option<(&'t str, &'t str)> {
        let mut at = self.indent;
        for (byte, sign) in self.words.char_indices() {
            if at == column {
                let (name, beside) = self.words.split_at(byte);
                let is_apart = name.ends_with([' ', '\t']) && !beside.starts_with([' ', '\t']);
                return is_apart.then(|| (name.trim_end(), beside));
            }
            at = next_column(sign, at);
        }
        None
    }

    /// Its name and what stands far enough beside it.
    fn parted_by_blanks(&self) -> Option<(&'t str, &'t str)> {
        let end = self.words.find([' ', '\t'])?;
        let (name, rest) = self.words.split_at(end);
        let beside = rest.trim_start_matches([' ', '\t']);
        let is_apart = rest.len() - beside.len() >= FEWEST_BLANKS || rest.starts_with('\t');
        is_apart.then_some((name, beside))
    }
}

/// The entries that a paragraph is made of; `None` if it is something else.
fn entries<'t>(block: &[Row<'t>]) -> Option<Vec<Entry<'t>>> {
    let first = block.first()?;
    let below = block.iter().map(|line| line.indent).find(|indent| *indent != first.indent);
    if below.is_some_and(|below| below < first.indent) {
        return None;
    }
    let mut entries: Vec<Entry<'t>> = Vec::new();
    for line in block {
        let is_below = Some(line.indent) == below;
        if !is_below && line.indent != first.indent {
            // A listing within what is said.
            return None;
        }
        if is_below {
            entries.last_mut()?.said.push(line.words);
            continue;
        }
        // Beside it the text begins at the column of the lines below, or, where there are none, at any.
        let beside = match below {
            Some(column) => line.parted_at(column).filter(|(name, _)| line.is_wide_enough(name)),
            None => line.parted_by_blanks(),
        };
        let (name, said) = beside.map_or((line.words, None), |(name, said)| (name, Some(said)));
        if !is_name(name) {
            return None;
        }
        // Names above each other share what is said below them.
        match entries.last_mut().filter(|last| last.said.is_empty()) {
            Some(last) => {
                last.names.push(name);
                last.said.extend(said);
            }
            None => entries.push(Entry { names: vec![name], said: said.into_iter().collect() }),
        }
    }
    let is_single = block.len() == 1 || below.is_some();
    (is_single && entries.iter().all(|entry| !entry.said.is_empty())).then_some(entries)
}

impl Row<'_> {
    /// Whether a name of several words has more than one blank behind it: else it begins a sentence.
    fn is_wide_enough(&self, name: &str) -> bool {
        let rest = self.words.get(name.len()..).unwrap_or_default();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        !name.contains(' ') || blanks >= FEWEST_BLANKS || rest.starts_with('\t')
    }
}

/// Whether words can be a name: no option, item of a list, sentence or command.
fn is_name(words: &str) -> bool {
    let first = words.split_whitespace().next().unwrap_or_default();
    let is_mark = matches!(first, "•" | "·" | "*" | "o" | "+" | "-" | "—" | "–" | "$" | "#");
    let is_number =
        first.strip_suffix(['.', ')']).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let longest = if first.contains(['[', '<', '{', '(', '@']) { LONGEST_WITH_SIGNS } else { LONGEST_NAME };
    !words.is_empty()
        && columns(words) <= longest
        && !words.starts_with(['-', '}'])
        && !is_mark
        && !is_number
        && !words.ends_with(NOT_AT_END)
}

/// Writes entries as paragraphs that begin with their names.
fn write(indent: usize, entries: &[Entry<'_>], written: &mut String) {
    let margin = " ".repeat(indent);
    for (number, entry) in entries.iter().enumerate() {
        if number > 0 {
            written.push('\n');
        }
        written.push_str(&margin);
        written.push_str(&entry.names.join(", "));
        written.push_str(": ");
        written.push_str(&entry.said.join(&format!("\n{margin}")));
        written.push('\n');
    }
}

/// Columns of a text at the beginning of a line.
fn columns(text: &str) -> usize {
    text.chars().fold(0, |column, sign| next_column(sign, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_signs_and_stand_below_a_heading() {
        let signs = "   Signs\n       @\n           @ is the tin.\n\n       [<tin>]@{<date>}, e.g. red@{May}\n           A tin with a date.\n\n   Codes:\n       0      if dry\n\n       1      if wet\n";
        let expected = "   Signs\n       @: @ is the tin.\n\n       [<tin>]@{<date>}, e.g. red@{May}: A tin with a date.\n\n   Codes:\n       0: if dry\n\n       1: if wet\n";
        assert_eq!(written(signs), expected);
    }

    const TOP: &str = "PAINT(5)        Formats        PAINT(5)\n\nDESCRIPTION\n";

    fn written(text: &str) -> String {
        let whole = format!("{TOP}{text}");
        written_out(Cow::Borrowed(&whole)).strip_prefix(TOP).map(str::to_owned).expect("the same above")
    }

    #[test]
    fn terms_stand_before_what_they_are() {
        let list = "       The names  are:\n\n       KEEP_LID\n\t      Keeps the lid\n\t      shut.  Defaults to 0.\n\n       BACKUP If  a\tlid is kept, so\n\t      is the tin.\n\n       \
            DRY\n       WET    The paint.\n\n       %j     day of year\n";
        let expected = "       The names  are:\n\n       KEEP_LID: Keeps the lid\n       shut.  Defaults to 0.\n\n       BACKUP: If  a\tlid is kept, so\n       is the tin.\n\n       \
            DRY\n       WET    The paint.\n\n       %j: day of year\n";
        assert_eq!(written(list), expected);
        let close = "       dry\n              The paint is dry.\n       wet\n       damp\n              It is not.\n";
        let expected = "       dry: The paint is dry.\n\n       wet, damp: It is not.\n";
        assert_eq!(written(close), expected);
    }

    #[test]
    fn what_is_no_list_of_terms_stays() {
        for text in [
            "       -k, --keep\n              Keeps it.\n",
            "       A sentence that goes on for more than one line and\n       is no term.\n",
            "       •  An item of\n          two lines.\n",
            "       if dry; then\n           paint\n       fi\n",
            "       It leads on:\n           paint wall\n",
            "       paint wall\n",
            "       tin    lid    pot\n       red    old    new\n",
            "paint\n       wall\n",
            "   Kinds of paint\n       Oil and lime.\n",
        ] {
            assert_eq!(written(text), text);
        }
        let other = "Tins\n\n       KEEP_LID\n              Keeps it.\n";
        assert_eq!(written_out(Cow::Borrowed(other)), other);
    }
}
