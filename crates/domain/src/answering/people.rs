//! Questions for people by what they may do, their office or their work, and sentences that name them. English only.

use crate::wording::lower_case_words;

/// Verbs of a question for those who may or must do something.
const MAY: [&str; 13] = [
    "can",
    "may",
    "must",
    "should",
    "do",
    "has",
    "needs",
    "approves",
    "decides",
    "signs",
    "pays",
    "authorises",
    "authorizes",
];

/// Words at the beginning of a sentence that name nobody.
const NAMING_NOBODY: [&str; 9] = ["i", "it", "that", "there", "these", "this", "those", "we", "you"];

/// Offices and groups of people.
const HOLDERS: [&str; 38] = [
    "administrator",
    "administrators",
    "adults",
    "anybody",
    "anyone",
    "apprentices",
    "captain",
    "chair",
    "children",
    "clerk",
    "contractors",
    "customers",
    "desk",
    "director",
    "editor",
    "employees",
    "everybody",
    "everyone",
    "guests",
    "head",
    "manager",
    "managers",
    "master",
    "members",
    "nobody",
    "officer",
    "officers",
    "operator",
    "owner",
    "parents",
    "people",
    "residents",
    "secretary",
    "staff",
    "students",
    "supervisor",
    "team",
    "users",
];

/// Offices that one person has.
const OFFICES: [&str; 16] = [
    "captain",
    "ceo",
    "chair",
    "chairman",
    "chairperson",
    "chief",
    "clerk",
    "director",
    "editor",
    "head",
    "manager",
    "mayor",
    "officer",
    "president",
    "secretary",
    "treasurer",
];

/// Words of a question for the author of something, and of a sentence that tells one.
const AUTHORED: [&str; 14] = [
    "maintains",
    "maintainer",
    "maintainers",
    "maintained",
    "author",
    "authors",
    "authored",
    "wrote",
    "written",
    "invented",
    "inventor",
    "discovered",
    "founded",
    "founder",
];

/// Whether a question is for those who may or must do something, whom documents name by their office.
pub(super) fn asks_who_may(asked: &str) -> bool {
    let mut words = lower_case_words(asked);
    let is_who = words.next().is_some_and(|word| matches!(word.as_str(), "who" | "whom"));
    is_who && words.next().is_some_and(|word| MAY.contains(&word.as_str()))
}

/// Whether a question is for the person who has an office: "who is the treasurer".
pub(super) fn asks_who_has_office(asked: &str) -> bool {
    let words: Vec<String> = lower_case_words(asked).collect();
    let is_of_office = |name: &String| OFFICES.contains(&name.as_str());
    matches!(words.as_slice(), [who, is, the, rest @ ..]
        if who == "who" && matches!(is.as_str(), "is" | "was") && matches!(the.as_str(), "the" | "our" | "your" | "their")
            && rest.iter().any(is_of_office))
}

/// Whether a sentence names an office or a group of people that the question does not, or begins with whoever may or must do
/// something: "Ada may …", not "Jars may be …".
pub(super) fn names_holder(asked: &str, sentence: &str) -> bool {
    let asked: Vec<String> = lower_case_words(asked).collect();
    let words: Vec<String> = lower_case_words(sentence).collect();
    let begins = matches!(words.as_slice(), [first, verb, next, ..]
        if !NAMING_NOBODY.contains(&first.as_str()) && MAY.contains(&verb.as_str()) && next != "be");
    begins || words.iter().any(|word| HOLDERS.contains(&word.as_str()) && !asked.contains(word))
}

/// Whether a question for a person is for the author of something.
pub(super) fn asks_for_author(question: &str) -> bool {
    // "Who was it written for?" is not.
    lower_case_words(question).any(|word| AUTHORED.contains(&word.as_str()) && word != "written")
}

/// Groups that make or keep something together, beside those that are named by what they do: "the makers".
const GROUPS: [&str; 12] = [
    "agency",
    "association",
    "committee",
    "community",
    "company",
    "foundation",
    "group",
    "institute",
    "organisation",
    "organization",
    "team",
    "university",
];

/// Most words up to the name of such a group, with its article: "the open source community".
const MOST_OF_GROUP: usize = 5;

/// Whether a sentence says by whom something is: by a name, or by "the community". Not "separated by commas".
pub(super) fn is_made_by(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("by")).skip(1).peekable();
    let is_group_name =
        |word: String| GROUPS.contains(&word.as_str()) || word.ends_with("ers") || word.ends_with("ors");
    let is_group = |word: &str| lower_case_words(word).any(is_group_name);
    let Some(first) = words.peek() else { return false };
    let is_name = first.trim_start_matches(|sign: char| !sign.is_alphanumeric()).starts_with(char::is_uppercase);
    is_name || first.starts_with(['@', '[']) || words.take(MOST_OF_GROUP).any(is_group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maker_is_a_name_or_a_group() {
        for made in [
            "Jar is maintained by Ada.",
            "It is kept alive by the community.",
            "Written by [@ada](a.md).",
            "Maintained by a small open source team.",
        ] {
            assert!(is_made_by(made), "{made}");
        }
        for other in [
            "`jar-pump`, which is maintained by the author of Pump.",
            "Jars are separated by commas.",
            "It is maintained by hand in Rust.",
            "Jar maintains a list of lids.",
        ] {
            assert!(!is_made_by(other), "{other}");
        }
    }
}
