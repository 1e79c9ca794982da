//! Files of settings that are explained in comments: more of their lines are comments than settings.
//!
//! Comments are read as text, without the signs before their lines, which in Markdown would make each a heading. Settings,
//! also those that are switched off by the sign of a comment, stand between fences as they are written.

use super::{ExtractError, content::Content, html::between_fences};

/// Fewest lines of a file that is read so.
const FEWEST_LINES: usize = 20;

/// Share of its lines that are comments, in per cent, and of these, of those directly below another comment.
const COMMENTS_SHARE: usize = 50;
const RUNS_SHARE: usize = 50;

/// Fewest signs on both sides of a title, and of a line of nothing else.
const SHORTEST_RULE: usize = 3;

/// Longest title, in characters.
const LONGEST_TITLE: usize = 60;

/// Most words of a setting.
const MOST_WORDS: usize = 6;

/// Fewest columns of a line that is no sentence.
const FEWEST_COLUMNS: usize = 3;

/// Level of a title: the name of the file is above it.
const LEVEL: u8 = 2;

/// Whether a text is a file of settings with its explanations.
pub(super) fn explain(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_comment = |line: &str| line.starts_with('#');
    let comments = lines.iter().filter(|line| is_comment(line)).count();
    let runs = text.lines().zip(text.lines().skip(1)).filter(|(above, line)| is_comment(above) && is_comment(line));
    let is_program = lines.first().is_some_and(|first| first.starts_with("#!"));
    !is_program
        && lines.len() >= FEWEST_LINES
        && comments * 100 >= lines.len() * COMMENTS_SHARE
        && runs.count() * 100 >= comments * RUNS_SHARE
}

/// Adds such a file.
pub(super) fn document(text: &str, content: &mut Content) -> Result<(), ExtractError> {
    let (apart, touching): (Vec<&str>, Vec<&str>) = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with('#') && line.contains(char::is_alphabetic))
        .partition(|line| !touches(line));
    let signs_stand_apart = apart.len() > touching.len();
    let mut reader = Reader { content, comments: Vec::new(), settings: Vec::new(), is_below_rule: false };
    for line in text.lines() {
        match Line::of(line) {
            Line::Blank => reader.end()?,
            Line::Rule => reader.rule()?,
            Line::Title(title) => {
                reader.end()?;
                reader.content.heading(LEVEL, title)?;
            }
            Line::Setting => {
                reader.end_comments()?;
                reader.settings.push(line);
            }
            // Among comments with a space behind their sign, one without is a setting that is switched off.
            Line::Comment(words)
                if (signs_stand_apart && touches(line) || assigns(words)) && is_setting(line, words) =>
            {
                reader.end_comments()?;
                reader.settings.push(line);
            }
            Line::Comment(words) => reader.comments.push((line, words)),
        }
    }
    reader.end()
}

/// A line of such a file.
enum Line<'t> {
    /// Nothing, or the sign of a comment alone.
    Blank,
    /// Signs across the page.
    Rule,
    /// Words between such signs.
    Title(&'t str),
    Setting,
    /// A comment and its words.
    Comment(&'t str),
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Self {
        let line = line.trim();
        if line.is_empty() {
            return Self::Blank;
        }
        let Some(comment) = line.strip_prefix('#') else { return Self::Setting };
        let is_of_rule = |sign: char| matches!(sign, '#' | '=' | '-' | '*' | '~' | '_' | '+') || sign.is_whitespace();
        if line.chars().all(is_of_rule) {
            return if comment.trim().len() < SHORTEST_RULE { Self::Blank } else { Self::Rule };
        }
        let title = line.trim_matches(is_of_rule);
        let rule = "#".repeat(SHORTEST_RULE);
        let is_title = line.starts_with(&rule) && line.ends_with(&rule) && title.chars().count() <= LONGEST_TITLE;
        let words = comment.trim_start_matches('#').trim();
        // The right edge of a box.
        let words = words.strip_suffix('#').filter(|words| words.ends_with(char::is_whitespace)).unwrap_or(words);
        if is_title { Self::Title(title) } else { Self::Comment(words.trim_end()) }
    }
}

struct Reader<'c, 't> {
    content: &'c mut Content,
    /// The lines of the comment under way, and their words.
    comments: Vec<(&'t str, &'t str)>,
    settings: Vec<&'t str>,
    /// Whether the comment began below a rule.
    is_below_rule: bool,
}

impl Reader<'_, '_> {
    fn rule(&mut self) -> Result<(), ExtractError> {
        if let ([(_, title)], true) = (self.comments.as_slice(), self.is_below_rule)
            && title.chars().count() <= LONGEST_TITLE
        {
            let title = (*title).to_owned();
            self.comments.clear();
            self.content.heading(LEVEL, &title)?;
        }
        self.end()?;
        self.is_below_rule = true;
        Ok(())
    }

    /// Ends the comment or the settings under way.
    fn end(&mut self) -> Result<(), ExtractError> {
        self.end_comments()?;
        let settings = std::mem::take(&mut self.settings);
        if settings.is_empty() { Ok(()) } else { self.content.block(&between_fences("", &settings.join("\n"))) }
    }

    /// Writes the comment under way, unless it is made of settings.
    fn end_comments(&mut self) -> Result<(), ExtractError> {
        self.is_below_rule = false;
        let comments = std::mem::take(&mut self.comments);
        if comments.iter().all(|(line, words)| is_setting(line, words)) {
            self.settings.extend(comments.into_iter().map(|(line, _)| line));
            return Ok(());
        }
        self.end()?;
        let words: Vec<&str> = comments.into_iter().map(|(_, words)| words).collect();
        self.content.block(&words.join("\n"))
    }
}

/// Whether a comment begins directly behind its sign.
fn touches(line: &str) -> bool {
    line.trim_start().trim_start_matches('#').starts_with(|first: char| !first.is_whitespace())
}

/// Whether a comment gives a value to one word: `limit = 500`.
fn assigns(words: &str) -> bool {
    words.split_once('=').is_some_and(|(name, _)| !name.trim().contains(char::is_whitespace))
}

/// Whether a comment is a setting: a name and its value, or columns.
fn is_setting(line: &str, words: &str) -> bool {
    if words.ends_with(['.', ',', ';', ':', '!', '?']) {
        return false;
    }
    let name = words.split([' ', '\t', '=']).next().unwrap_or_default();
    let begins = |first: char| first.is_ascii_lowercase() || touches(line) && first.is_ascii_uppercase();
    let is_of_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    let is_name = name.len() > 1 && name.starts_with(begins) && name.chars().all(is_of_name);
    let has_value = words.len() > name.len() && words.split_whitespace().count() <= MOST_WORDS;
    let columns = words.split("  ").filter(|column| !column.trim().is_empty()).count();
    is_name && has_value || columns >= FEWEST_COLUMNS
}

#[cfg(test)]
mod tests {
    use crate::{Extracted, extract};

    const PUMP: &str = "# Settings of the pump.\n# They are read when it starts.\n#\n# See its manual\n# for units.\n\n\
        ################ LIMITS ################\n\n# The pump stops after so many litres. By default it\n# stops after 500.\n# limit.all = 500\n#\n\
        # limit 500\n# every 2 hours\nbasin north\n\n#---------------\n# Of the basin\n#---------------\n\
        # Its depth in metres:\n#Depth 3\n#Wall=\n\n# A basin is as deep as its wall is\n# high, or less.\n#\n#   o  in metres\n#   o  without the wall\n\n\
        wall = 4\n\n#####\n# Two lines are   #\n# no title.       #\n#####\n\n\
        # *      soft  core\n# root   hard  core\n";

    fn read(text: &str, media_type: &str) -> Extracted {
        extract(text.as_bytes(), media_type, None).expect("readable")
    }

    #[test]
    fn comments_are_text_and_settings_are_code() {
        for media_type in ["text/plain", "application/toml"] {
            let pump = read(PUMP, media_type);
            let headings: Vec<&str> = pump.headings.iter().map(|heading| heading.text.as_str()).collect();
            assert_eq!(headings, ["LIMITS", "Of the basin"]);
            assert_eq!(
                pump.text,
                "Settings of the pump.\nThey are read when it starts.\n\nSee its manual\nfor units.\n\nLIMITS\n\n\
                The pump stops after so many litres. By default it\nstops after 500.\n\n\
                ```\n# limit.all = 500\n```\n\n```\n# limit 500\n# every 2 hours\nbasin north\n```\n\nOf the basin\n\nIts depth in metres:\n\n```\n#Depth 3\n#Wall=\n```\n\n\
                A basin is as deep as its wall is\nhigh, or less.\n\no  in metres\no  without the wall\n\n```\nwall = 4\n```\n\n\
                Two lines are\nno title.\n\n```\n# *      soft  core\n# root   hard  core\n```"
            );
        }
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let markdown = "# Paint\n\nText.\n\n## Oil\n\nText.\n\n".repeat(20);
        let script = format!("#!/bin/sh\n{PUMP}");
        for text in [markdown, script, PUMP.replace("# ", "; ").replace('#', ";"), "# One.\n# Two.\n".to_owned()] {
            let extracted = read(&text, "text/plain");
            assert_eq!((extracted.text, extracted.headings.len()), (text.clone(), 0), "{text}");
        }
    }
}
