//! Abbreviations of a question that no chunk holds, and what the passages write in full. English only.

use unicode_segmentation::UnicodeSegmentation;

use crate::lexical::analyzer::Analyzer;

/// Fewest letters of an abbreviation that is recognised by the initials of capitalised words: two are there by chance.
const FEWEST_INITIALS: usize = 3;

/// Longest abbreviation, in letters.
const LONGEST: usize = 6;

/// Abbreviations of offices and of software, with the words that documents have in their place, the usual ones first.
const COMMON: [(&str, &[&str]); 48] = [
    ("2fa", &["two-factor authentication", "second factor", "multi-factor authentication"]),
    ("api", &["interface"]),
    ("auth", &["authentication", "authorization", "login"]),
    ("bau", &["business as usual"]),
    ("ceo", &["chief executive", "managing director"]),
    ("cfo", &["chief financial officer", "finance director"]),
    ("ci", &["continuous integration", "build pipeline"]),
    ("coo", &["chief operating officer"]),
    ("creds", &["credentials", "password"]),
    ("cto", &["chief technology officer", "chief technical officer"]),
    ("db", &["database"]),
    ("dns", &["domain name"]),
    ("docs", &["documentation", "documents"]),
    ("dpo", &["data protection officer"]),
    ("dr", &["disaster recovery"]),
    ("env", &["environment"]),
    ("eod", &["end of the day"]),
    ("fte", &["full-time", "employees"]),
    ("gdpr", &["data protection", "personal data", "privacy"]),
    ("hq", &["headquarters", "head office"]),
    ("hr", &["human resources", "people team", "personnel"]),
    ("k8s", &["Kubernetes"]),
    ("kpi", &["key performance indicator", "metrics"]),
    ("loa", &["leave of absence", "unpaid leave"]),
    ("mfa", &["multi-factor authentication", "second factor", "two-factor authentication"]),
    ("mr", &["merge request"]),
    ("nda", &["non-disclosure agreement", "confidentiality"]),
    ("okr", &["objectives and key results", "objectives"]),
    ("ooo", &["out of office", "absence"]),
    ("os", &["operating system"]),
    ("perms", &["permissions"]),
    ("pii", &["personal data", "personal information"]),
    ("pr", &["pull request"]),
    ("prod", &["production"]),
    ("pto", &["paid time off", "annual leave", "vacation", "paid leave", "holiday"]),
    ("qa", &["quality assurance", "testing"]),
    ("repo", &["repository"]),
    ("rpo", &["recovery point"]),
    ("rto", &["recovery time"]),
    ("sev", &["severity"]),
    ("sla", &["service level", "availability", "uptime"]),
    ("slo", &["service level objective", "availability"]),
    ("sso", &["single sign-on", "single sign on"]),
    ("tos", &["terms of service", "terms of use"]),
    ("ui", &["user interface"]),
    ("vm", &["virtual machine"]),
    ("vpn", &["virtual private network"]),
    ("wfh", &["working from home", "work from home", "remote work", "work remotely", "home office"]),
];

/// Whether a word may be an abbreviation.
pub(super) fn may_be(word: &str) -> bool {
    let is_short = word.chars().count() <= LONGEST && word.chars().all(char::is_alphanumeric);
    is_short && (are_initials(word) || common(word).is_some())
}

fn are_initials(word: &str) -> bool {
    word.chars().count() >= FEWEST_INITIALS && word.chars().all(char::is_uppercase)
}

/// The usual words for an abbreviation, of one or of several.
fn common(word: &str) -> Option<&'static [&'static str]> {
    let lower = word.to_lowercase();
    let is_it = |short: &str| short == lower || lower.strip_suffix('s') == Some(short);
    COMMON.iter().find(|(short, _)| is_it(short)).map(|(_, forms)| *forms)
}

/// The words in the passages that an abbreviation stands for, if there are any.
pub(super) fn spelled_out(analyzer: &Analyzer, asked: &str, passages: &[&str]) -> Option<String> {
    if !may_be(asked) {
        return None;
    }
    by_initials(asked, passages).or_else(|| usual(analyzer, asked, passages))
}

/// The first run of capitalised words with these initials.
fn by_initials(asked: &str, passages: &[&str]) -> Option<String> {
    if !are_initials(asked) {
        return None;
    }
    let initials: Vec<char> = asked.chars().collect();
    passages.iter().find_map(|passage| {
        let words: Vec<&str> = passage.unicode_words().collect();
        let spells =
            |run: &&[&str]| run.iter().zip(&initials).all(|(word, letter)| word.starts_with(*letter) && word.len() > 1);
        words.windows(initials.len()).find(spells).map(|run| run.join(" "))
    })
}

/// The first of the usual words for it that a passage holds, one after the other.
fn usual(analyzer: &Analyzer, asked: &str, passages: &[&str]) -> Option<String> {
    let forms = common(asked)?;
    let held: Vec<Vec<String>> = passages.iter().map(|passage| analyzer.terms(passage)).collect();
    let is_held = |form: &&&str| {
        let terms = analyzer.terms(form);
        held.iter().any(|passage| passage.windows(terms.len().max(1)).any(|run| run == terms))
    };
    forms.iter().find(is_held).map(|form| (*form).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_are_what_the_passages_write_in_full() {
        let passages = [
            "Everybody has 28 days of annual leave.",
            "The Service Level Agreement of River promises 99.9 %.",
            "A virtual tour of the machine hall.",
        ];
        for (asked, expected) in [
            ("PTO", Some("annual leave")),
            ("pto", Some("annual leave")),
            ("SLA", Some("Service Level Agreement")),
            ("SLAs", Some("service level")),
            ("WFH", None),
            ("VM", None),
            ("MRI", None),
            ("AI", None),
            ("Spain", None),
            ("", None),
        ] {
            assert_eq!(spelled_out(Analyzer::english(), asked, &passages).as_deref(), expected, "{asked}");
        }
    }

    #[test]
    fn each_abbreviation_stands_once_in_order() {
        assert!(COMMON.windows(2).all(|pair| matches!(pair, [one, two] if one.0 < two.0)));
    }
}
