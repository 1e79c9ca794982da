//! Sentences that say where something is told, and nothing of it: "For more information, see the manual." English only.

use std::borrow::Cow;

use crate::evidence::Question;
use crate::markdown::references;
use crate::wording::lower_case_words;

/// Openings of a sentence that leads elsewhere by themselves.
const LEADS: [&str; 14] = [
    "see",
    "see also",
    "refer to",
    "learn more",
    "to learn more",
    "to find out more",
    "find out more",
    "read more",
    "more information",
    "more details",
    "further details",
    "further information",
    "full documentation",
    "for more",
];

/// Openings of one that does if a verb of reading follows.
const AIMS: [&str; 3] = ["for", "to", "if"];

/// Words for information of no particular kind.
const INFORMATION: [&str; 10] = [
    "details",
    "detail",
    "information",
    "discussion",
    "documentation",
    "explanation",
    "more",
    "instructions",
    "description",
    "reference",
];

/// Openings of one that does if it has a link to something that is read.
const INVITATIONS: [&str; 9] =
    ["read", "visit", "browse", "consult", "check out", "view", "head over to", "take a look at", "have a look at"];

/// Words of links to something that is read.
const READ: [&str; 14] = [
    "here",
    "docs",
    "documentation",
    "guide",
    "guides",
    "manual",
    "readme",
    "website",
    "site",
    "page",
    "article",
    "post",
    "changelog",
    "reference",
];

/// Headings of such places.
const ELSEWHERE: [&str; 8] = [
    "see also",
    "further reading",
    "external links",
    "related links",
    "related pages",
    "related topics",
    "more information",
    "learn more",
];

/// Verbs of reading.
const READING: [&str; 8] = ["see", "refer", "review", "check", "read", "visit", "consult", "browse"];

/// Most words of a sentence that leads elsewhere: a longer one says something besides.
const LONGEST: usize = 40;

/// Words of a question that asks where something is told.
const WHERE: [&str; 9] =
    ["where", "documentation", "documented", "information", "details", "link", "url", "reference", "read"];

/// Sentences that only lead elsewhere, as answers to a question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointers {
    /// The question is for the place where something is told.
    Answer,
    /// They say nothing of what is asked.
    SayNothing,
}

impl Pointers {
    pub(super) fn of(question: &Question) -> Self {
        let asks_where = lower_case_words(&question.asked).any(|word| WHERE.contains(&word.as_str()));
        if asks_where { Self::Answer } else { Self::SayNothing }
    }

    /// Whether a sentence below a heading is one, and no answer.
    pub(super) fn rule_out(self, heading: &str, sentence: &str) -> bool {
        let leads = || leads_elsewhere(heading) || leads_elsewhere(sentence);
        self == Self::SayNothing && (is_link(sentence) || is_pointer(sentence) || leads())
    }
}

/// Whether a heading is that of places where more is told.
pub(super) fn leads_elsewhere(heading: &str) -> bool {
    let heading = heading.trim_matches(|sign: char| !sign.is_alphanumeric());
    ELSEWHERE.iter().any(|title| heading.eq_ignore_ascii_case(title))
}

/// Whether a text is one link or image and nothing else.
fn is_link(text: &str) -> bool {
    let linked = text.trim_end_matches(['.', ' ']);
    let inner = linked.strip_prefix("![").or_else(|| linked.strip_prefix('[')).and_then(|rest| rest.strip_suffix(')'));
    inner.is_some_and(|inner| inner.matches("](").count() == 1 && !inner.contains(") "))
}

fn is_pointer(sentence: &str) -> bool {
    let Some(first) = lower_case_words(sentence).next() else { return false };
    let is_aimed = AIMS.contains(&first.as_str());
    // Most sentences begin otherwise, and are done here.
    if !is_aimed && !LEADS.iter().chain(&INVITATIONS).any(|opening| opening.starts_with(&first)) {
        return false;
    }
    let words: Vec<String> = lower_case_words(&without_addresses(sentence)).take(LONGEST + 1).collect();
    if words.len() > LONGEST {
        return false;
    }
    let begins = |opening: &&str| {
        let opening: Vec<&str> = opening.split(' ').collect();
        words.len() > opening.len() && words.iter().zip(&opening).all(|(word, wanted)| word == wanted)
    };
    let holds = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    let has_link = || !references(sentence).is_empty() || sentence.contains("://");
    LEADS.iter().any(begins)
        || is_aimed && holds(&INFORMATION) && holds(&READING)
        || INVITATIONS.iter().any(begins) && holds(&READ) && has_link()
}

/// A text without the addresses of its links: those of one fill a line.
fn without_addresses(text: &str) -> Cow<'_, str> {
    if !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let mut left = text.to_owned();
    for reference in references(text).iter().rev() {
        let address = reference.address(text);
        if text.get(address.clone()).is_some_and(|address| address.starts_with('(')) {
            left.replace_range(address, "");
        }
    }
    Cow::Owned(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::analyzer::Analyzer;

    fn leads(question: &str, sentence: &str) -> bool {
        let question = Question::new(Analyzer::english(), question, 100, |_| 5);
        Pointers::of(&question).rule_out("Names", sentence)
    }

    #[test]
    fn sentences_that_lead_elsewhere_answer_nothing() {
        for sentence in [
            "For a detailed discussion, including examples, refer to the GNU Tar Manual available in texinfo format.",
            "For more details about the project, review the release notes.",
            "See the manual.",
            "More details in [this post](https://example.org/2019/01/24/a-tar-of-many-words-in-its-address-that-is-a-post/) and this \
             [entry](https://example.org/when-you-try-to-read-a-tar-of-more-than-5000-files-you-get-an-error-of-this-tar).",
            "See also head(1) and tail(1).",
            "Full documentation <https://example.org/stat>",
            "To learn more about leases, see Leases.",
            "[Assigning namespaces to groups](https://example.org/groups)",
            "![Diagram of the parts.](parts.png)",
            "Read full docs **[here](https://example.org/tar)**.",
            "Check out the [guide](https://example.org/guide) of the project.",
            "Visit our website at https://example.org.",
        ] {
            assert!(leads("Who wrote tar?", sentence), "{sentence}");
        }
    }

    #[test]
    fn other_sentences_say_something() {
        for sentence in [
            "Tar was written by John Gilmore.",
            "See",
            "Seeds are kept for 10 days.",
            "For each lease there is a row.",
            "If you need 4 GB, check the quota.",
            "[Tar](https://example.org/tar) was written by John Gilmore (see [the list](a)).",
            "For 30 days.",
            "Read the archive from standard input.",
            "Visit each page of the archive once.",
            "Check out [the branch](https://example.org/branch) first.",
        ] {
            assert!(!leads("Who wrote tar?", sentence), "{sentence}");
        }
        assert!(!leads("Where is it documented?", "For more information, see the manual."));
    }

    #[test]
    fn a_list_of_other_pages_says_nothing() {
        let rules_out = |question: &str, heading: &str, sentence: &str| {
            let question = Question::new(Analyzer::english(), question, 100, |_| 5);
            Pointers::of(&question).rule_out(heading, sentence)
        };
        assert!(rules_out("Which command packs jars?", "See Also", "jar-pack, which packs jars"));
        assert!(rules_out("Which command packs jars?", "", "See also:"));
        assert!(!rules_out("Which command packs jars?", "Seals", "jar-pack packs jars."));
        assert!(!rules_out("Where is jar-pack documented?", "See Also", "jar-pack, which packs jars"));
    }
}
