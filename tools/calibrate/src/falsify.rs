//! Falsehoods made from true claims.

use domain::wording::opposites;

/// A claim turned false.
pub struct Falsehood {
    pub kind: &'static str,
    pub text: String,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const VERBS: [&str; 20] = [
    "is", "was", "are", "were", "has", "have", "had", "can", "could", "will", "would", "should", "may", "might",
    "must", "did", "does", "do", "be", "became",
];
const QUANTITIES: [(&str, &str); 10] = [
    ("all", "some"),
    ("every", "no"),
    ("most", "all"),
    ("many", "all"),
    ("some", "all"),
    ("several", "all"),
    ("only", "also"),
    ("always", "sometimes"),
    ("often", "always"),
    ("usually", "always"),
];
const UNITS: [(&str, &str); 16] = [
    ("years", "months"),
    ("year", "day"),
    ("months", "years"),
    ("weeks", "days"),
    ("days", "hours"),
    ("hours", "minutes"),
    ("minutes", "hours"),
    ("km", "miles"),
    ("kilometres", "miles"),
    ("kilometers", "miles"),
    ("miles", "kilometers"),
    ("feet", "metres"),
    ("percent", "dollars"),
    ("%", " dollars"),
    ("metres", "feet"),
    ("kg", "tons"),
];

/// Each kind of falsehood that can be made of `claim`, at most once. `passage` is its evidence,
/// `foreign` another text to take names from; `seed` makes the choice.
pub fn falsehoods(claim: &str, passage: &str, foreign: &str, seed: usize) -> Vec<Falsehood> {
    let mut found = Vec::new();
    let mut push = |kind, text: Option<String>| {
        found.extend(text.filter(|text| text != claim).map(|text| Falsehood { kind, text }));
    };
    let is_number = |word: &str| is_numeric(word) && !is_year(word);
    push("number", first(claim, is_number).map(|word| replaced(claim, word, &other_number(word, passage, seed))));
    push("number in passage", swapped(claim, passage, seed, is_number));
    push("date", date_changed(claim, passage, seed));
    push("date in passage", swapped(claim, passage, seed, is_year));
    push("name", name_swapped(claim, foreign, passage, seed, false));
    push("name in passage", name_swapped(claim, passage, "", seed, true));
    push("negation put in", negated(claim));
    push("negation taken out", affirmed(claim));
    push("quantifier", replaced_by_table(claim, &QUANTITIES));
    push("opposite", opposed(claim));
    push("unit", unit_changed(claim));
    found
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "()[]\"“”–—/;:".contains(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

fn is_numeric(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || ".,".contains(c))
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u32>().is_ok_and(|year| (1000..2100).contains(&year))
}

fn first(claim: &str, is_kind: impl Fn(&str) -> bool) -> Option<&str> {
    words(claim).find(|word| is_kind(word))
}

/// The whole word, once.
fn replaced(claim: &str, word: &str, by: &str) -> String {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let at = claim
        .match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !is_part(claim[..*at].chars().next_back()) && !is_part(claim[at + word.len()..].chars().next()));
    at.map_or_else(|| claim.to_owned(), |at| format!("{}{by}{}", &claim[..at], &claim[at + word.len()..]))
}

fn pick(mut from: Vec<&str>, seed: usize) -> Option<&str> {
    from.sort_unstable();
    from.dedup();
    (!from.is_empty()).then(|| from[seed % from.len()])
}

/// Another word of the kind from the passage, which the claim does not hold.
fn swapped(claim: &str, passage: &str, seed: usize, is_kind: impl Fn(&str) -> bool) -> Option<String> {
    let word = first(claim, &is_kind)?;
    let others = words(passage).filter(|other| is_kind(other) && words(claim).all(|own| own != *other)).collect();
    pick(others, seed).map(|other| replaced(claim, word, other))
}

fn other_number(word: &str, passage: &str, seed: usize) -> String {
    let plain: f64 = word.replace(',', "").parse().unwrap_or(1.0);
    (1..)
        .map(|step| plain + (step * (1 + seed % 7)) as f64)
        .map(|number| if word.contains('.') { format!("{number:.1}") } else { format!("{number}") })
        .find(|number| !passage.contains(number.as_str()))
        .expect("a number that the passage does not hold")
}

fn date_changed(claim: &str, passage: &str, seed: usize) -> Option<String> {
    if let Some(year) = first(claim, is_year) {
        let value: usize = year.parse().ok()?;
        let mut other = (1..).map(|step| (value - step * (1 + seed % 9)).to_string());
        return other.find(|year| !passage.contains(year.as_str())).map(|other| replaced(claim, year, &other));
    }
    let month = words(claim).find(|word| MONTHS.contains(word))?;
    let other = (0..12).map(|step| MONTHS[(seed + step) % 12]).find(|month| !passage.contains(month))?;
    Some(replaced(claim, month, other))
}

/// Runs of capitalised words that do not open the text or a sentence.
fn names(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut run: Option<(usize, usize)> = None;
    let mut begins = true;
    let mut at = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let start = at + piece.find(word).unwrap_or(0);
        at += piece.len();
        let is_name = !word.is_empty()
            && word.starts_with(char::is_uppercase)
            && !begins
            && !MONTHS.contains(&word)
            && word.len() > 2;
        let ends = piece.trim_end().ends_with([',', '.', ';', ':', ')', '"', '?', '!']);
        if is_name {
            run = Some((run.map_or(start, |(from, _)| from), start + word.len()));
        }
        if !is_name || ends {
            found.extend(run.take().map(|(from, to)| &text[from..to]));
        }
        begins = word.is_empty() || piece.trim_end().ends_with(['.', '?', '!', ':', '"']);
    }
    found.extend(run.map(|(from, to)| &text[from..to]));
    found
}

/// A name of the claim replaced by one of `from` of which no word stands in `not_in` (or, within the
/// passage, in the claim).
fn name_swapped(claim: &str, from: &str, not_in: &str, seed: usize, within: bool) -> Option<String> {
    let own = names(claim);
    let name = own.iter().copied().max_by_key(|name| name.len())?;
    let clashes = |other: &str| {
        words(other)
            .any(|word| if within { claim.contains(word) } else { not_in.contains(word) || claim.contains(word) })
    };
    let others = names(from).into_iter().filter(|other| !clashes(other)).collect();
    pick(others, seed).map(|other| replaced(claim, name, other))
}

/// A claim without denial, denied.
fn negated(claim: &str) -> Option<String> {
    if denials(claim).next().is_some() {
        return None;
    }
    let verb = words(claim).find(|word| VERBS.contains(word))?;
    Some(replaced(claim, verb, &format!("{verb} not")))
}

/// The claim without its first denial.
fn affirmed(claim: &str) -> Option<String> {
    let denial = denials(claim).next()?;
    if denial == "no" && claim.contains("no longer ") && !claim.contains("no longer than") {
        return Some(replaced(claim, "no longer", "still"));
    }
    let by = match denial {
        "not" | "never" => String::new(),
        "no" => "a".to_owned(),
        "No" => "A".to_owned(),
        "cannot" | "can't" => "can".to_owned(),
        "won't" => "will".to_owned(),
        "without" => "with".to_owned(),
        "neither" => "both".to_owned(),
        "nor" => "and".to_owned(),
        "None" => "All".to_owned(),
        "none" => "all".to_owned(),
        contracted => contracted.strip_suffix("n't").unwrap_or_default().to_owned(),
    };
    Some(replaced(claim, denial, &by).replace("  ", " "))
}

/// Words of the claim that deny; "not only" and "No. 5" do not.
pub fn denials(claim: &str) -> impl Iterator<Item = &str> {
    let list: Vec<&str> = words(claim).collect();
    let is_denial = |word: &str| {
        matches!(word, "not" | "never" | "no" | "No" | "cannot" | "without" | "neither" | "nor" | "None" | "none")
            || word.ends_with("n't")
    };
    let is_other = |next: Option<&&str>| {
        next.is_none_or(|next| {
            matches!(*next, "only" | "just" | "merely" | "necessarily" | "until") || is_numeric(next)
        })
    };
    let is_choice = |at: usize| at > 0 && list[at - 1] == "or";
    let found: Vec<&str> = (0..list.len())
        .filter(|at| is_denial(list[*at]) && !is_other(list.get(at + 1)) && !is_choice(*at))
        .map(|at| list[at])
        .collect();
    found.into_iter()
}

fn replaced_by_table(claim: &str, table: &[(&str, &str)]) -> Option<String> {
    let (word, by) = table.iter().find(|(word, _)| words(claim).any(|own| own == *word))?;
    Some(replaced(claim, word, by))
}

fn opposed(claim: &str) -> Option<String> {
    let word = words(claim).find(|word| opposites(word).next().is_some())?;
    opposites(word).next().map(|other| replaced(claim, word, other))
}

fn unit_changed(claim: &str) -> Option<String> {
    let list: Vec<&str> = words(claim).collect();
    let counts = |unit: &str| list.windows(2).any(|pair| is_numeric(pair[0]) && pair[1] == unit);
    let (unit, by) = UNITS.iter().find(|(unit, _)| counts(unit))?;
    Some(replaced(claim, unit, by))
}
