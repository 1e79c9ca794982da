//! Options of commands, as questions name them and manuals list them: `-z`, `--gzip`.

/// The options that a text names.
pub(crate) fn options(text: &str) -> Vec<&str> {
    text.split_whitespace().filter_map(option).collect()
}

/// The options that an entry describes: those at its beginning, "-z, --gzip, --ungzip Filter the archive …",
/// "• --raw-output / -r: …", "-p or --strip".
pub(crate) fn entry_options(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split_whitespace() {
        match option(word) {
            Some(option) => found.push(option),
            // A value of the option before: "-c, --bytes=NUM", "-o FILE, --output=FILE".
            None if !found.is_empty() && (word.ends_with(',') || word == "or") => {}
            // A bullet before them, a stroke between them.
            None if !word.contains(char::is_alphanumeric) => {}
            None => break,
        }
    }
    found
}

/// Whether a line of a text is the entry of one of these options.
pub(crate) fn holds_entry(text: &str, options: &[&str]) -> bool {
    let begins =
        |line: &str| line.trim_start_matches(|sign: char| !sign.is_alphanumeric() && sign != '-').starts_with('-');
    !options.is_empty()
        && text.lines().any(|line| begins(line) && entry_options(line).iter().any(|own| options.contains(own)))
}

/// A word without what is no part of an option, if it is one.
fn option(word: &str) -> Option<&str> {
    let word = word.trim_matches(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '-' | '='));
    let word = word.split(['=', '[']).next().unwrap_or(word).trim_end_matches('-');
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    let is_name = name.starts_with(char::is_alphanumeric)
        && name.chars().all(|sign| sign.is_alphanumeric() || matches!(sign, '-' | '_' | '.'));
    // "Error -64" is no option, "ls -1" is one.
    let is_number = name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_digit());
    (is_name && !is_number).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_that_of_the_options_at_its_beginning() {
        let page = "Filters:\n\n  -z, --gzip[=LEVEL], --ungzip\n      Filter through -Z.\n\n  -o FILE, --output=FILE\n";
        for (option, expected) in
            [("-z", true), ("--ungzip", true), ("--output", true), ("-Z", false), ("--gz", false), ("-o", true)]
        {
            assert_eq!(holds_entry(page, &[option]), expected, "{option}");
        }
        assert_eq!(options("What does `-z` (or --gzip) do - if at all?"), ["-z", "--gzip"]);
        assert!(!holds_entry(page, &[]));
        assert_eq!(options("What does error -64 of ls -1 mean?"), ["-1"]);
        for (entry, expected) in [
            ("\u{25cb}   --raw-output / -r: Write strings as they are.", &["--raw-output", "-r"][..]),
            ("-pnum or --strip=num Strip the smallest prefix.", &["-pnum", "--strip"]),
            ("-v or more of them", &["-v"]),
            ("See -x", &[]),
        ] {
            assert_eq!(entry_options(entry), expected, "{entry}");
        }
        assert!(holds_entry("\u{25cb}   --raw-output / -r:\n", &["-r"]));
    }
}
