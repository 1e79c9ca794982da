use proptest::prelude::*;

use super::*;

/// The sense of the reply on its one item: `+` assent, `~` hedge, `-` dissent, `.` none.
fn sense(reply: &str) -> char {
    sign(read(reply, 1).first().cloned().flatten())
}

fn sign(read: Option<Read>) -> char {
    match read.map(|read| read.stance) {
        Some(Stance::Assent) => '+',
        Some(Stance::Hedge) => '~',
        Some(Stance::Dissent) => '-',
        None => '.',
    }
}

fn signs(reply: &str, count: usize) -> String {
    read(reply, count).into_iter().map(sign).collect()
}

#[test]
fn assent_is_plain() {
    let replies = [
        "1: supported",
        "1: supported - the source says so in other words",
        "1: Supported.",
        "1. SUPPORTED",
        "**1**: **supported**",
        "- Statement 1: supported (same words)",
        "1: correct - states the opening date",
        "1: correct - no fee is charged",
        "1: relevant",
        "1: yes",
        "1: Yes, it is relevant.",
        "Yes.",
        "Yes, the source supports the statement.",
        "The statement is supported by the source.",
        "supported",
        "Verdict: supported",
        "```\n1: supported\n```",
        "```json\n{\"verdicts\": [{\"statement\": 1, \"verdict\": \"supported\", \"reason\": \"\"}]}\n```",
        r#"{"supported": true}"#,
        r#"{"is_supported": true}"#,
        r#"{"relevant": "yes"}"#,
        r#"{"unsupported": false, "supported": true}"#,
        r#"[{"statement": 1, "supported": true}]"#,
        r#"{"1": "supported"}"#,
        r#"{"1": true}"#,
        r#"["supported"]"#,
        "[true]",
        r#"{"result": {"statement 1": {"verdict": "Supported"}}}"#,
        r#"{"verdict": true, "reason": "not a word is missing"}"#,
        "1: fully supported",
        "1: clearly correct",
        "1: entailed",
        "1: true",
        "1: ja",
        "1: Ja, belegt",
        "1: oui",
        "1: sí",
        "1: sì",
        "1: sim",
        "1: tak",
        "1: да",
        "1: はい",
        "1: 正确",
        "1: 支持",
        "| 1 | supported |",
        "Source 1:\ncorrect",
        "1 – correct – gives the number",
        "<think>1: hmm, hardly supported? No.</think>\n1: supported",
        "1: supported ✅",
        "1: ✓",
        "Source 1: correct",
        "Quelle 1: ja",
        "第1条：支持",
        r#"{"1": 1}"#,
        r#"{"supported": 1}"#,
        r#"{"isSupported": true}"#,
        r#"{"correct": [1]}"#,
        r#"[[1, "correct"]]"#,
        r#"[{"statement": "Statement 1", "verdict": "SUPPORTED"}]"#,
        "1: supported - but in other words",
        "1: explicitly supported",
        "1: l'énoncé: soutenu",
        "1: supported - the source says that the fee is not refundable",
        "1: correct - tells what to do when the address is wrong",
        "1: correct - lists what is not covered by the warranty",
        "1: supported - the same is said of leave that was not taken",
        "1: correct - nothing is charged below 50 EUR",
        r#"{"verdict": "supported", "reason": "the fee is never refunded"}"#,
        // What the source says with "not", "but" and "except".
        "1: correct - On 12 March the seal was not yet ordered",
        "1: correct - Version 16 works, but not yet covered by tests",
        "1: correct - the fix covers the lease, but not half-finished batches",
        "1: correct - Swaps need no approval except in the last week of December",
        "1: correct - Hotel up to 110 EUR, except three listed cities.",
        "1: correct - Opposite signs score 0; a refund never matches a payment.",
        "1: correct - The control unit costs 890 and is not included",
        "1: correct - Restart needed except for variables with a mark",
        "1: correct - an earlier view: it looked good but too young",
        "1: correct - Not refundable after May",
    ];
    for reply in replies {
        let sense = sense(reply);
        // A field that denies what another affirms says both.
        let expected = if reply.contains("\"unsupported\"") { '~' } else { '+' };
        assert_eq!(sense, expected, "{reply}");
    }
}

/// Replies that deny.
const DENIALS: &[&str] = &[
    r#"{"supported": false}"#,
    r#"[{"statement":1,"supported":false}]"#,
    r#"{"relevant": false}"#,
    r#"{"relevant": "no"}"#,
    r#"{"is_relevant": false, "reason": "correct subject"}"#,
    r#"{"1": false}"#,
    "[false]",
    r#"{"verdict": "not supported"}"#,
    r#"{"verdict": false}"#,
    r#"{"unsupported": true}"#,
    r#"{"contradicted": true}"#,
    r#"{"grade": "incorrect", "correct": true}"#,
    "1: isn't supported",
    "1: isn’t supported",
    "1: is not supported",
    "1: cannot be supported",
    "1: can't be supported",
    "1: not entirely supported",
    "1: not fully supported",
    "1: not completely supported by the source",
    "1: insufficiently supported",
    "1: insufficient support",
    "1: no support",
    "1: without support",
    "1: lacks support",
    "1: fails to be supported",
    "1: never supported",
    "1: hardly supported",
    "1: barely supported",
    "1: scarcely relevant",
    "1: supported? No.",
    "1: supported? no",
    "1: supported: false",
    "supported: no",
    "Supported - no",
    "1: supported - not really",
    "1: supported - not by this source",
    "1: supported, but not in full",
    "1: supported by source 1, contradicted by source 2",
    "1: supported or unsupported",
    "1: supported. Actually unsupported.",
    "1: unsupported",
    "1: un-supported? not supported",
    "1: contradicted",
    "1: refuted",
    "1: false",
    "1: no",
    "No.",
    "No, the source does not support it.",
    "The source does not support the statement.",
    "The statement isn't supported by the source.",
    "1: not directly relevant",
    "1: hardly relevant",
    "1: isn't relevant",
    "1: not relevant",
    "1: irrelevant",
    "1: not correct",
    "1: not incorrect",
    "1: not irrelevant",
    "1: far from correct",
    "1: anything but correct",
    "1: neither correct nor relevant",
    "1: nothing relevant",
    "1: doesn't look correct",
    "1: I do not think this is correct",
    "1: too vague to be relevant",
    "1: wrong",
    "1: unrelated",
    "1: supported\n1: unsupported",
    r#"{"1": "unsupported", "1": "supported"}"#,
    r#"{"supported": false, "supported": true}"#,
    "{\"1\": \"supported\"}\nNo: 1 is unsupported.",
    "1: supported\nActually, it is not.\nNot supported.",
    "1: correct - though the date is incorrect",
    "1: supported - but the year is not",
    "1: correct - but it is unclear when",
    "1: correct - but no date is given",
    "1: correct - but the date is not mentioned",
    "1: correct - except that it does not say when",
    "1: supported - the fee is not included in the source",
    "1: supported - not in this passage",
    "1: supported, although only partially",
    "1: supported - except that the date is wrong",
    "1: supported - the source does not say this",
    "1: supported - the source doesn't state the year",
    "1: supported - source 1 says so. It is not said by source 2",
    "1: correct - it does not answer the question",
    "1: correct - the question is not actually answered",
    "1: supported - the year 2020 is not supported by the source",
    "1: supported - the year is not in the source",
    "1: supported - there is no evidence for it",
    "1: supported - no mention of the year",
    "1: supported - the year is wrong",
    "1: supported because the source never mentions it",
    "1: belegt - die Quelle sagt das nicht",
    "1: pertinent - la source ne mentionne pas la date",
    r#"{"verdict": "supported", "reason": "the source does not say this"}"#,
    r#"[{"statement": 1, "supported": true, "reason": "Not mentioned in the source."}]"#,
    "1: wrongly supported",
    "1: allegedly supported",
    "1: the office supported the move",
    "1: whether it is supported is open",
    "1: supported if the year is 2020",
    "1: n'est pas étayé",
    "1: n’est guère pertinent",
    "1: nicht vollständig belegt",
    "1: aber kaum belegt",
    "1: ❌",
    "1: non-relevant",
    r#"{"1": 0}"#,
    r#"{"supported": 0}"#,
    r#"{"incorrect": [1]}"#,
    r#"{"notSupported": true}"#,
    r#"[[1, "unsupported"]]"#,
    r#"{"verdict": "supported", "supported": false}"#,
    "1: correct\n\nOn reflection:\n1: incorrect",
    "1: nein",
    "1: nicht belegt",
    "1: kaum relevant",
    "1: keine relevante",
    "1: non",
    "1: pas pertinent",
    "1: no es correcto",
    "1: non è corretto",
    "1: não",
    "1: niet juist",
    "1: нет",
    "1: не верно",
    "1: いいえ",
    "1: 不支持",
    "1: 不相关",
    "1: 没有支持",
];

#[test]
fn denial_in_any_form_is_no_assent() {
    for reply in DENIALS {
        assert!(matches!(sense(reply), '-' | '~'), "{reply} is read as {}", sense(reply));
    }
}

#[test]
fn hedges_are_neither() {
    let replies = [
        "1: ambiguous",
        "1: partially supported",
        "1: partly correct",
        "1: supported in part",
        "1: somewhat relevant",
        "1: maybe",
        "1: maybe supported",
        "1: possibly correct",
        "1: probably supported",
        "1: likely correct",
        "1: mostly supported",
        "1: largely correct",
        "1: could be relevant",
        "1: would be correct if the year were 2020",
        "1: unclear",
        "1: unsure",
        "1: vielleicht",
        "1: teilweise belegt",
        "1: partiellement pertinent",
        "1: 部分支持",
    ];
    for reply in replies {
        assert_eq!(sense(reply), '~', "{reply}");
    }
}

#[test]
fn nothing_is_read_into_other_words() {
    for reply in [
        "",
        "1:",
        "1: ???",
        "I would rather not say.",
        "{}",
        "[]",
        "{\"1\": 0.4}",
        "[1]",
        "{\"1\": null}",
        "1: 7",
        r#"{"unsupported": {"1": true}}"#,
        "1.5 hours",
        "2nd",
    ] {
        assert_eq!(sense(reply), '.', "{reply}");
    }
}

#[test]
fn several_items_are_told_apart() {
    let rows = [
        (r#"[{"statement":1,"supported":true},{"statement":2,"supported":false}]"#, "+-"),
        (r#"{"verdicts":[{"id":2,"supported":false},{"id":1,"verdict":"supported"}]}"#, "+-"),
        (r#"{"1": {"relevant": true}, "2": {"relevant": "partially"}}"#, "+~"),
        ("[true, false]", "+-"),
        ("1: supported\n2: supported? No.", "+~"),
        ("Supported.\nNot supported.", "+-"),
        ("1: yes; 2: no", "+-"),
        ("Statement 1 is supported.\nStatement 2 isn't.", "+-"),
        ("Here are the verdicts:\n\n1. supported\n2. contradicted", "+-"),
        ("1: supported - as source 2 says\n2: unsupported", "+-"),
        (r#"{"supported": true}"#, ".."),
        ("Unsupported.", "--"),
        (r#"{"relevant": false}"#, "--"),
        ("Supported.", ".."),
        (r#"{"correct": [2], "incorrect": [1]}"#, "-+"),
        ("[1, 0]", "+-"),
        ("[1, 2]", ".."),
        (r#"["supported"]"#, ".."),
        (r#"[[2, "supported"], [1, "unsupported"]]"#, "-+"),
        (r#"[[1, "correct"]]"#, "+."),
        (r#"[1, "supported"]"#, ".."),
        (r#"[{"statement": "In 2 days", "verdict": "supported"}]"#, ".."),
        ("{\"supported\": true}\n{\"supported\": false}", "+-"),
        // Of what is said of an item and cannot be read, the item has no plain verdict.
        ("1: supported\n2: as the office says", "+~"),
        ("1: as the town says\n2: as the office says", ".."),
        ("1:\nsupported\n2:\nunsupported", "+-"),
    ];
    for (reply, expected) in rows {
        assert_eq!(signs(reply, 2), expected, "{reply}");
    }
}

/// Words that deny or qualify, to be put before a verdict.
const QUALIFIERS: [&str; 16] = [
    "not",
    "not directly",
    "hardly",
    "isn't",
    "never",
    "cannot be",
    "barely",
    "partially",
    "maybe",
    "insufficiently",
    "no longer",
    "not yet",
    "nicht",
    "pas",
    "neither",
    "probably",
];

proptest! {
    #[test]
    fn a_qualified_verdict_is_never_assent(
        qualifier in prop::sample::select(QUALIFIERS.to_vec()),
        word in prop::sample::select(vec!["supported", "correct", "relevant", "true", "supported by the source", "pertinent"]),
        reason in "( - [a-z ]{0,20})?",
    ) {
        let reply = format!("1: {qualifier} {word}{reason}");
        prop_assert_ne!(sense(&reply), '+', "{}", reply);
    }

    #[test]
    fn any_reply_is_read(reply in any::<String>(), count in 0usize..9) {
        prop_assert_eq!(read(&reply, count).len(), count);
    }

    #[test]
    fn a_false_in_a_field_is_never_assent(name in prop::sample::select(vec!["supported", "relevant", "correct", "verdict", "is_correct"]), noise in "[a-z]{1,8}") {
        let reply = json!({name: false, noise: "fine"}).to_string();
        prop_assert_ne!(sense(&reply), '+', "{}", reply);
    }
}
