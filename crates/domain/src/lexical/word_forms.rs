//! Other forms of a word that no stemmer brings together with it: irregular verbs and plurals, nouns of verbs, British and American
//! spelling, and short forms. English only.
//!
//! Left out is what is as often another word: `leave` and `left`, `rise` and `rose`, `see` and `saw`.

use std::borrow::Cow;

/// Words that are forms of each other.
const FORMS: [&[&str]; 140] = [
    // Verbs.
    &["become", "became"],
    &["begin", "began", "begun"],
    &["bend", "bent"],
    &["break", "broke", "broken"],
    &["bring", "brought"],
    &["build", "built"],
    &["burn", "burnt"],
    &["buy", "bought"],
    &["catch", "caught"],
    &["choose", "chose", "chosen", "choice"],
    &["come", "came"],
    &["drink", "drank", "drunk"],
    &["drive", "drove", "driven"],
    &["eat", "ate", "eaten"],
    &["feed", "fed"],
    &["fight", "fought"],
    &["find", "found"],
    &["fly", "flew", "flown"],
    &["forget", "forgot", "forgotten"],
    &["freeze", "froze", "frozen"],
    &["get", "got", "gotten"],
    &["give", "gave", "given"],
    &["grow", "grew", "grown", "growth"],
    &["hang", "hung"],
    &["hide", "hid", "hidden"],
    &["hold", "held"],
    &["keep", "kept"],
    &["know", "knew", "known"],
    &["learn", "learnt"],
    &["lend", "lent"],
    &["lose", "lost", "loss"],
    &["meet", "met"],
    &["overcome", "overcame"],
    &["pay", "paid", "payment"],
    &["ring", "rang", "rung"],
    &["run", "ran"],
    &["sell", "sold", "sale"],
    &["send", "sent"],
    &["shake", "shook", "shaken"],
    &["sink", "sank", "sunk"],
    &["sleep", "slept"],
    &["speak", "spoke", "spoken", "speech"],
    &["spend", "spent"],
    &["spill", "spilt"],
    &["spoil", "spoilt"],
    &["stand", "stood"],
    &["steal", "stole", "stolen"],
    &["strike", "struck"],
    &["sweep", "swept"],
    &["take", "took", "taken"],
    &["teach", "taught"],
    &["tell", "told"],
    &["throw", "threw", "thrown"],
    &["understand", "understood"],
    &["wake", "woke", "woken"],
    &["wear", "wore", "worn"],
    &["win", "won"],
    &["withdraw", "withdrew", "withdrawn"],
    &["write", "wrote", "written"],
    // Verbs and nouns.
    &["advise", "advice"],
    &["believe", "belief"],
    &["certify", "certification"],
    &["classify", "classification"],
    &["compare", "comparison"],
    &["cost", "price"],
    &["decide", "decision"],
    &["deliver", "delivery"],
    &["depart", "departure"],
    &["describe", "description"],
    &["die", "death"],
    &["discover", "discovery"],
    &["divide", "division"],
    &["expand", "expansion"],
    &["explain", "explanation"],
    &["fail", "failure"],
    &["identify", "identification"],
    &["introduce", "introduction"],
    &["maintain", "maintenance"],
    &["modify", "modification"],
    &["notify", "notification"],
    &["permit", "permission"],
    &["prescribe", "prescription"],
    &["qualify", "qualification"],
    &["receive", "receipt"],
    &["recover", "recovery"],
    &["reduce", "reduction"],
    &["resolve", "resolution"],
    &["respond", "response"],
    &["retain", "retention"],
    &["specify", "specification"],
    &["submit", "submission"],
    &["subscribe", "subscription"],
    &["succeed", "success"],
    &["supply", "supplier"],
    &["verify", "verification"],
    &["weigh", "weight"],
    // Nouns.
    &["analysis", "analyses"],
    &["appendix", "appendices"],
    &["child", "children"],
    &["crisis", "crises"],
    &["criterion", "criteria"],
    &["foot", "feet"],
    &["half", "halves"],
    &["index", "indices"],
    &["knife", "knives"],
    &["man", "men"],
    &["matrix", "matrices"],
    &["mouse", "mice"],
    &["person", "people"],
    &["shelf", "shelves"],
    &["tooth", "teeth"],
    &["vertex", "vertices"],
    &["wife", "wives"],
    &["woman", "women"],
    // Short forms.
    &["admin", "administrator"],
    &["app", "application"],
    &["auth", "authentication"],
    &["bike", "bicycle"],
    &["config", "configuration"],
    &["db", "database"],
    &["dev", "development"],
    &["dir", "directory"],
    &["docs", "documentation"],
    &["email", "mail"],
    &["env", "environment"],
    &["fridge", "refrigerator"],
    &["info", "information"],
    &["lab", "laboratory"],
    &["mins", "minutes"],
    &["param", "parameter"],
    &["params", "parameters"],
    &["phone", "telephone"],
    &["photo", "photograph"],
    &["prod", "production"],
    &["repo", "repository"],
    &["secs", "seconds"],
    &["temp", "temperature"],
    &["vuln", "vulnerability"],
    &["vulns", "vulnerabilities"],
    &["yrs", "years"],
];

/// Beginnings of words in British and in American spelling.
const SPELLINGS: [(&str, &str); 36] = [
    ("aluminium", "aluminum"),
    ("analog", "analogue"),
    ("armour", "armor"),
    ("behaviour", "behavior"),
    ("cancelled", "canceled"),
    ("cancelling", "canceling"),
    ("catalogue", "catalog"),
    ("centre", "center"),
    ("colour", "color"),
    ("defence", "defense"),
    ("dialogue", "dialog"),
    ("endeavour", "endeavor"),
    ("enrolment", "enrollment"),
    ("favour", "favor"),
    ("fibre", "fiber"),
    ("flavour", "flavor"),
    ("fulfil", "fulfill"),
    ("grey", "gray"),
    ("harbour", "harbor"),
    ("honour", "honor"),
    ("instalment", "installment"),
    ("jewellery", "jewelry"),
    ("labelled", "labeled"),
    ("labelling", "labeling"),
    ("labour", "labor"),
    ("licence", "license"),
    ("litre", "liter"),
    ("metre", "meter"),
    ("modelled", "modeled"),
    ("modelling", "modeling"),
    ("neighbour", "neighbor"),
    ("offence", "offense"),
    ("practise", "practice"),
    ("programme", "program"),
    ("rumour", "rumor"),
    ("travelling", "traveling"),
];

/// Endings of verbs, and of nouns made of them, that are spelled with an S or a Z.
const ENDINGS: [(&str, &str); 8] = [
    ("isation", "ization"),
    ("isations", "izations"),
    ("ise", "ize"),
    ("ised", "ized"),
    ("ises", "izes"),
    ("ising", "izing"),
    ("yse", "yze"),
    ("ysed", "yzed"),
];

/// Fewest letters before such an ending: `size` and `rise` have fewer.
const STEM: usize = 4;

/// Other forms of a word in lower case, whether or not there are such words: none for most.
pub(crate) fn other_forms(word: &str) -> Vec<Cow<'static, str>> {
    let group = FORMS.iter().find(|forms| forms.contains(&word)).into_iter().copied().flatten();
    let mut forms: Vec<Cow<'static, str>> =
        group.filter(|form| **form != word).map(|form| Cow::Borrowed(*form)).collect();
    let spelled = |(one, other): &(&str, &str)| Some(format!("{other}{}", word.strip_prefix(one)?));
    let turned = SPELLINGS.iter().find_map(|(one, other)| spelled(&(one, other)).or_else(|| spelled(&(other, one))));
    forms.extend(turned.or_else(|| with_other_ending(word)).map(Cow::Owned));
    forms
}

fn with_other_ending(word: &str) -> Option<String> {
    let turned = |one: &str, other: &str| {
        let stem = word.strip_suffix(one).filter(|stem| stem.len() >= STEM)?;
        Some(format!("{stem}{other}"))
    };
    ENDINGS.iter().find_map(|(one, other)| turned(one, other).or_else(|| turned(other, one)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::lexical::analyzer::Analyzer;

    #[test]
    fn words_have_other_forms() {
        let table: [(&str, &[&str]); 17] = [
            ("weigh", &["weight"]),
            ("price", &["cost"]),
            ("keep", &["kept"]),
            ("kept", &["keep"]),
            ("took", &["take", "taken"]),
            ("children", &["child"]),
            ("db", &["database"]),
            ("database", &["db"]),
            ("colours", &["colors"]),
            ("licensed", &["licenced"]),
            ("metres", &["meters"]),
            ("organised", &["organized"]),
            ("authorization", &["authorisation"]),
            ("analyse", &["analyze"]),
            ("size", &[]),
            ("leave", &[]),
            ("", &[]),
        ];
        for (word, expected) in table {
            assert_eq!(other_forms(word), expected, "{word}");
        }
    }

    #[test]
    fn a_stemmer_does_not_bring_the_forms_of_a_group_together() {
        let joined = FORMS.into_iter().filter(|forms| {
            let stems: HashSet<String> = forms.iter().flat_map(|form| Analyzer::english().terms(form)).collect();
            stems.len() < forms.len()
        });
        assert_eq!(joined.collect::<Vec<_>>(), Vec::<&[&str]>::new());
    }

    #[test]
    fn a_form_stands_in_one_group() {
        let mut all: Vec<&str> = FORMS.iter().flat_map(|forms| forms.iter().copied()).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
