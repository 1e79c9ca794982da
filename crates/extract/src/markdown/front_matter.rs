//! YAML front matter: lines of settings above a text, between lines of hyphens. Those that tell of the document are its title
//! and text; the others are left out.

/// Most lines of front matter.
const MOST_LINES: usize = 200;

/// Keys of a text that says in short what the document is about.
const SUMMARIES: [&str; 6] = ["abstract", "description", "excerpt", "subtitle", "summary", "synopsis"];

/// Keys of facts about the document: who answers for it, when it holds.
const FACTS: [&str; 32] = [
    "approved",
    "approved_by",
    "audience",
    "author",
    "authors",
    "contact",
    "created",
    "date",
    "department",
    "deprecated",
    "effective",
    "effective_date",
    "expires",
    "last_modified",
    "last_reviewed",
    "last_updated",
    "lastmod",
    "maintainer",
    "modified",
    "owner",
    "published",
    "replaces",
    "review",
    "review_date",
    "reviewed",
    "status",
    "superseded_by",
    "team",
    "updated",
    "valid_from",
    "valid_until",
    "version",
];

/// What front matter tells of a document.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    summary: Option<String>,
    /// Lines of other facts: the owner, a date.
    facts: Vec<String>,
}

/// The front matter of a text, and the text below it.
pub(super) fn parted(text: &str) -> (FrontMatter, &str) {
    let none = || (FrontMatter::default(), text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return none() };
    let (mut end, mut matter, mut is_ended) = (first.len(), Vec::new(), false);
    for line in lines.take(MOST_LINES) {
        end += line.len();
        let line = line.trim_end();
        if matches!(line, "---" | "...") {
            is_ended = true;
            break;
        }
        matter.push(line);
    }
    let body = text.get(end..).unwrap_or_default();
    if !is_ended || !are_settings(&matter) || body.trim().is_empty() {
        return none();
    }
    (FrontMatter::of(&matter), body)
}

/// Whether lines are YAML as front matter has it: keys, and what is indented or listed below them.
fn are_settings(lines: &[&str]) -> bool {
    let is_below = |line: &&str| line.starts_with([' ', '\t', '#', '-']) || line.is_empty();
    lines.iter().any(|line| entry(line).is_some()) && lines.iter().all(|line| entry(line).is_some() || is_below(line))
}

/// The key and the value of a line.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(char::is_alphabetic)
        && key.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '-' | '.'));
    (is_key && (value.is_empty() || value.starts_with(' '))).then(|| (key, value.trim()))
}

impl FrontMatter {
    fn of(lines: &[&str]) -> Self {
        let mut front = Self::default();
        for (number, line) in lines.iter().enumerate() {
            let Some((key, value)) = entry(line) else { continue };
            let below = lines.iter().skip(number + 1).take_while(|line| line.starts_with([' ', '\t']));
            // A text in the lines below its key.
            let value = if value.starts_with(['>', '|']) {
                below.map(|line| line.trim()).collect::<Vec<_>>().join(" ")
            } else {
                unquoted(value)
            };
            let lower = key.to_lowercase().replace('-', "_");
            if lower == "title" {
                front.title = Some(value).filter(|title| is_text(title));
            } else if SUMMARIES.contains(&lower.as_str()) {
                front.summary = front.summary.or(Some(value).filter(|summary| is_text(summary)));
            } else if is_fact(&lower, &value) {
                front.facts.push(format!("{}: {value}", capitalised(&lower.replace(['_', '.'], " "))));
            }
        }
        front
    }

    /// The text with what the front matter says of it at its beginning, below a title.
    pub(super) fn above(self, body: String) -> String {
        let summary = self.summary.filter(|summary| !body.contains(summary.as_str()));
        let said: Vec<String> =
            summary.into_iter().chain((!self.facts.is_empty()).then(|| self.facts.join("\n"))).collect();
        let said: String = said.into_iter().map(|said| format!("{said}\n\n")).collect();
        let text = body.trim_start_matches(['\n', '\r']);
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        match self.title {
            _ if first.starts_with("# ") => {
                let rest = rest.trim_start_matches(['\n', '\r']);
                if said.is_empty() { text.to_owned() } else { format!("{}\n\n{said}{rest}", first.trim_end()) }
            }
            Some(title) => format!("# {title}\n\n{said}{text}"),
            None if said.is_empty() => body,
            None => format!("{said}{text}"),
        }
    }
}

/// The text of a value between quotation marks, or before a remark.
fn unquoted(value: &str) -> String {
    let between = |sign: char| value.strip_prefix(sign).and_then(|rest| rest.strip_suffix(sign));
    match (between('"'), between('\'')) {
        (Some(text), _) => text.replace("\\\"", "\""),
        (None, Some(text)) => text.replace("''", "'"),
        (None, None) => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
    }
}

fn is_text(value: &str) -> bool {
    value.contains(char::is_alphabetic) && !value.starts_with(['[', '{', '&', '*', '!'])
}

/// Whether a value tells something: words or a number, no list and no switch.
fn is_fact(key: &str, value: &str) -> bool {
    let is_switch = matches!(value.to_lowercase().as_str(), "true" | "false" | "yes" | "no" | "null" | "none");
    let is_number = value.starts_with(|sign: char| sign.is_ascii_digit());
    FACTS.contains(&key) && !is_switch && (is_text(value) || is_number)
}

fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}
